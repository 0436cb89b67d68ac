// Keys that work everywhere on the page, and the dialog that lists them.
import { h } from "./dom.js";

/** @type {[string, string][]} */ const KEYS = [
  ["1 … 9", "the tab of that number"],
  ["← →", "in the tab bar: the next tab; in a tree: close, open"],
  ["↑ ↓", "in a tree: the row above, below"],
  ["Enter", "details of the row or box in focus"],
  ["Backspace", "in a picture: zoom out, as Esc does"],
  ["+ - 0", "in the timeline: zoom in, out, fit"],
  ["/", "search"],
  ["Esc", "close details or this list"],
  ["?", "this list"],
];

/** The list of keys. @param {import("./tabs.js").Tab[]} tabs @returns {HTMLDialogElement} */
export function keysDialog(tabs) {
  const rows = KEYS.map(([key, what]) => h("tr", null, h("th", { scope: "row" }, h("kbd", null, key)), h("td", null, what)));
  const names = tabs.map((tab, index) => `${index + 1} ${tab.title}`).join(" · ");
  const table = h("table", null, h("tbody", null, rows));
  const dialog = h("dialog", { id: "keys", "aria-label": "Keys" }, h("h2", null, "Keys"), table, h("p", { class: "muted" }, names));
  // Not by a form: the frame of a notebook submits none.
  dialog.append(h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close"));
  return dialog;
}

/** @param {import("./app.js").Page} page @param {import("./tabs.js").Tab[]} tabs */
export function listenToKeys(page, tabs) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || page.dialog.open) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Escape") return page.selectNode(null);
    if (target.matches("input, select, textarea")) return;
    if (event.key === "?") return page.dialog.showModal();
    const tab = tabs[Number(event.key) - 1];
    if (tab !== undefined) {
      page.go({ tab: tab.id });
      document.getElementById(`tab-${tab.id}`)?.focus();
    } else if (event.key === "/") {
      event.preventDefault();
      focusSearch(page);
    }
  });
}

/** Focuses the search of the tab, or of the table where the tab has none. @param {import("./app.js").Page} page */
function focusSearch(page) {
  const search = () => page.panel.querySelector("input[type=search]");
  if (search() === null) page.go({ tab: "table" });
  const input = search();
  if (input instanceof HTMLInputElement) {
    input.focus();
    input.select();
  }
}
