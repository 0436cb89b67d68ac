// Elements, made so that text from files stays text: strings become text nodes, never HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * A new element: `h("a", { href: "#", class: "link", onclick: go }, "text", other)`.
 * A function named on… becomes a listener; true is an attribute without a value; false, null and
 * undefined leave the attribute out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Object<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** Replaces everything in *root*. @param {Element} root @param {...(Child | Child[])} children */
export function fill(root, ...children) {
  root.replaceChildren(...nodes(children));
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  const kept = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    kept.push(typeof child === "number" ? String(child) : child);
  }
  return kept;
}

/** What stands where a picture would be, if a file were there. @param {string} sentence */
export function emptyState(sentence) {
  return h("div", { class: "empty" }, h("p", null, sentence));
}

/** A table of the page's style; text in a row is a cell, a number's class is `num`. @param {Child[]} heads cells of the head
 * @param {Child[]} rows @param {Child} [foot] @returns {HTMLTableElement} */
export function grid(heads, rows, foot = null) {
  return h("table", { class: "grid" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows), foot && h("tfoot", null, foot));
}

/** A cell of a head. @param {string} text @param {string} [names] its classes @param {string | null} [columns] @returns {HTMLElement} */
export function head(text, names = "num", columns = null) {
  return h("th", { scope: "col", class: names, colspan: columns }, text);
}

/** A cell with a number. @param {string} text @param {Object<string, any>} [attributes] @returns {HTMLElement} */
export function number(text, attributes = {}) {
  return h("td", { class: "num", ...attributes }, text);
}

/** A bar that shows a share from 0 to 1. @param {number} share @returns {HTMLElement} */
export function shareBar(share) {
  const bar = h("i", null);
  bar.style.width = `${Math.max(share * 100, 0.5)}%`;
  return h("td", { class: "bar" }, h("span", { class: "share" }, bar));
}

/** What a canvas paints with: the colour that a token of page.css has in the theme of now.
 * @param {string} token a custom property, as in "--text" @returns {string} as in "rgb(27, 31, 36)" */
export function colour(token) {
  const probe = document.body.appendChild(h("i", { hidden: true }));
  probe.style.color = `var(${token})`;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** A button that copies a text, and says so. @param {string} label what is copied, as in "Copy name" @param {() => string} text
 * @returns {HTMLButtonElement} */
export function copyButton(label, text) {
  const button = h("button", { type: "button", class: "button copy" }, label);
  button.addEventListener("click", async () => {
    const done = await copied(text());
    button.textContent = done ? "Copied" : "Could not copy";
    setTimeout(() => (button.textContent = label), 1200);
  });
  return button;
}

/** @param {string} text @returns {Promise<boolean>} */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page in a frame may not have the right to the clipboard; the old way needs none.
    const area = document.body.appendChild(h("textarea", { class: "unseen", "aria-hidden": "true" }));
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
