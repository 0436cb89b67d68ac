/**
 * The panel about the selected node: what it is, what it costs, and what is next to it.
 * @module
 */
import { copyButton, fill, grid, h, head, number } from "./dom.js";
import { amount } from "./amounts.js";
import { fragmentOf } from "./state.js";
import { shown } from "./strings.js";
import { exact } from "./units.js";

/** @typedef {import("./app.js").Page} Page */

const MOST_LINKS = 12;
const FIRST_STEPS = 6;

/**
 * Draws the details of the page's selected node; nothing if none is selected.
 * @param {HTMLElement} root
 * @param {Page} page
 */
export function drawDetails(root, page) {
  const { node, profile } = page;
  const drawn = node === null ? "" : page.href({});
  if (root.dataset["drawn"] === drawn) return;
  const [same, before, focused] = [root.dataset["node"] === String(node), root.scrollTop, root.contains(document.activeElement)];
  root.dataset["drawn"] = drawn;
  root.dataset["node"] = String(node);
  if (node === null) return fill(root);
  const name = profile.nodes.name.text(node);
  const close = h("button", { type: "button", class: "button plain", "aria-label": "Close details", title: "Close (Esc)", onclick: () => page.selectNode(null) }, "✕");
  fill(
    root,
    h("div", { class: "details-head" }, h("h2", { class: "wrap" }, shown(cut(name))), close),
    h("div", { class: "toolbar" }, copyButton("Copy name", () => name), places(page, node)),
    facts(page, node),
    numbers(page, node),
    formula(profile, node),
    links("Inputs", inputsOf(profile, node), page),
    links("Outputs", profile.consumers(node).map((/** @type {number} */ to) => ({ node: to, text: "" })), page),
    code(profile, node),
  );
  root.scrollTop = same ? before : 0;
  if (focused) root.focus(); // a link that was followed is gone
}

/** A name of a million characters is one row long, too. @param {string} name */
function cut(name) {
  return name.length > 400 ? `${name.slice(0, 400)}…` : name;
}

/** Links to where the node is in the tree table and in the icicle. @param {Page} page @param {number} node */
function places(page, node) {
  const views = page.profile.meta.views.filter((/** @type {any} */ view) => !view.groups && !view.missing);
  const view = (views.find((/** @type {any} */ { name }) => name === page.view) ?? views[0])?.name;
  if (view === undefined) return null;
  const { end, owner } = page.profile.drawing(view);
  let scope = Math.max(owner[node] - 1, 0); // the row that the node's row is below
  while (scope > 0 && end[scope] <= owner[node]) scope--;
  const link = (/** @type {string} */ tab, /** @type {import("./state.js").State} */ more) => h("a", { class: "button", href: fragmentOf({ tab, view, node: page.nodeKey(node), ...more }) }, `Show in ${tab}`);
  return [link("table", { max_depth: String(end.length) }), link("icicle", { zoom: String(scope) })];
}

/** @param {Page} page @param {number} node */
function facts(page, node) {
  const { profile } = page;
  const op = profile.types.text(profile.nodes.op[node]);
  const device = profile.nodes.device[node] >= 0 ? profile.types.text(profile.nodes.device[node]) : "";
  const others = Array.from(profile.typesOf(node), (type) => profile.types.text(type)).filter((type) => type !== op && type !== device);
  const rows = [
    ["Type", op],
    ["Other types", others.join(", ")],
    ["Output", profile.outputShapes(node).map(shapeText).join(", ")],
    ["Inputs", profile.inputShapes(node).map(shapeText).join(", ")],
    ["Dtype", profile.dtype(node)],
    ["Device", device],
  ];
  const known = rows.filter(([, text]) => text);
  return h("dl", null, known.flatMap(([term, text]) => [h("dt", null, term), h("dd", { class: "mono" }, shown(cut(text ?? "")))]));
}

/** @param {import("./profile.js").Dims} shape */
function shapeText(shape) {
  return shape === null ? "?" : `(${shape.map((size) => (size < 0 ? "?" : size)).join(", ")})`;
}

/** What the node counts, by step. @param {Page} page @param {number} node */
function numbers(page, node) {
  const { profile } = page;
  const more = profile.meta.steps.length - FIRST_STEPS;
  const steps = profile.meta.steps.length > 1 ? [null, ...profile.meta.steps.slice(0, FIRST_STEPS)] : [null];
  const fields = profile.meta.fields.filter((/** @type {any} */ field) => field.unit !== null);
  const rows = [];
  for (const field of fields) {
    const values = steps.map((step) => profile.values(field.name, step)[node]);
    const lower = steps.map((step) => profile.lower(field.name, step)?.[node] === 1);
    if (!lower.includes(true) && values.every((value) => Number(value) === 0)) continue;
    const cells = values.map((value, at) => number(amount(value, field.unit, lower[at]), { title: amount(value, "grouped", lower[at]) }));
    rows.push(h("tr", null, h("th", { scope: "row" }, field.legend.replace(/^# |\(.*\)/g, "").replaceAll("_", " ")), cells));
  }
  if (rows.length === 0) return h("p", { class: "muted" }, "It counts nothing: no parameters, no float operations, no recorded run.");
  const heads = steps.length > 1 ? steps.map((step) => head(step === null ? "average" : `step ${step}`)) : [h("td", null)];
  const others = more > 0 && h("p", { class: "muted" }, `${more} more steps: filter the table by one of them.`);
  return h("div", { class: "scroll" }, grid([head("Own numbers", ""), ...heads], rows), others);
}

/** @param {any} profile @param {number} node */
function formula(profile, node) {
  const text = profile.formula(node);
  return text ? [h("h3", null, "Float operations"), h("pre", { class: "mono", tabindex: "0" }, text.split("\n").map((/** @type {string} */ line) => `${shown(line)}\n`))] : null;
}

/** @param {any} profile @param {number} node */
function inputsOf(profile, node) {
  const { start, source, slot } = profile.edges;
  const inputs = [];
  for (let at = start[node]; at < start[node + 1]; at++) {
    const mark = slot[at] < 0 ? "^" : slot[at] > 0 ? `:${slot[at]}` : "";
    if (source[at] >= 0) inputs.push({ node: source[at], text: mark });
    else inputs.push({ node: -1, text: `${profile.unknown.text(-1 - source[at])} (not in the graph)` });
  }
  return inputs;
}

/** @param {string} title @param {{node: number, text: string}[]} ends @param {Page} page */
function links(title, ends, page) {
  if (ends.length === 0) return null;
  const item = (/** @type {{node: number, text: string}} */ end) => {
    if (end.node < 0) return h("li", { class: "wrap muted" }, shown(cut(end.text)));
    const name = shown(cut(page.profile.nodes.name.text(end.node)));
    const op = shown(page.profile.types.text(page.profile.nodes.op[end.node]));
    const text = end.text === "^" ? `^${name}` : name + end.text;
    return h("li", { class: "wrap" }, h("a", { href: page.href({ node: page.nodeKey(end.node) }) }, text), h("span", { class: "muted" }, ` ${op}`));
  };
  const list = h("ul", { class: "links" }, ends.slice(0, MOST_LINKS).map(item));
  const rest = ends.slice(MOST_LINKS);
  const more = rest.length > 0 && h("button", { type: "button", class: "button", onclick: () => (list.append(...rest.slice(0, 1000).map(item)), more && more.remove()) }, `Show ${exact(rest.length)} more`);
  return [h("h3", null, `${title} (${exact(ends.length)})`), list, more];
}

/** The line of the user that made the node; the stack around it is folded. @param {any} profile @param {number} node */
function code(profile, node) {
  /** @type {import("./profile.js").Frame[]} */
  const frames = profile.frames(node);
  const own = frames.findLast((frame) => !frame.library) ?? frames.at(-1);
  if (own === undefined) return null;
  const line = (/** @type {import("./profile.js").Frame} */ frame) =>
    h("li", { class: frame === own ? "wrap" : "wrap muted" }, shown(`${frame.file}:${frame.line} ${frame.function}`), frame.source ? h("code", null, shown(frame.source)) : null);
  const stack = frames.length > 1 && h("details", null, h("summary", null, `all ${exact(frames.length)} lines of the call stack`), h("ul", { class: "frames" }, frames.map(line)));
  return [h("h3", null, "Line of code"), h("ul", { class: "frames" }, line(own)), stack];
}
