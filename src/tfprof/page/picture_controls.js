// What stands around pictures: choices, metrics, the way back from a zoom, legends.
import { once } from "./cache.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {{name: string, legend: string, unit: string, title: string, missing: string}} Metric a row of meta.fields */
/** @typedef {{value: string, text: string, missing?: string}} Choice */

const CRUMBS = 4; // of a deep zoom are shown besides the first

/** An option that lets a picture show rows of any depth. */
export const ALL_DEPTHS = "1000000000";

/** A tab whose parts are made once, and stay. @param {{id: string, title: string, missing: (page: Page) => string, filters?: (page: Page) => string[], make: (page: Page) => {parts: HTMLElement[], draw: () => void}}} how @returns {import("./tabs.js").Tab} */
export function pictureTab({ make, ...how }) {
  /** @type {WeakMap<HTMLElement, ReturnType<typeof make>>} */ const made = new WeakMap();
  const draw = (/** @type {HTMLElement} */ root, /** @type {Page} */ page) => {
    const tab = once(made, root, () => make(page));
    if (tab.parts[0].parentElement !== root) fill(root, tab.parts);
    tab.draw();
  };
  return { ...how, draw };
}

/** A list to choose from, with its label. @param {string} label @param {(value: string) => void} change */
export function choice(label, change) {
  const select = h("select", { onchange: () => change(select.value) });
  let listed = "";
  const show = (/** @type {Choice[]} */ choices, /** @type {string} */ value) => {
    const key = JSON.stringify(choices);
    if (key !== listed) fill(select, choices.map((one) => h("option", { value: one.value, disabled: Boolean(one.missing), title: one.missing }, one.text)));
    listed = key;
    select.value = value;
  };
  return { element: h("label", { class: "field" }, label, select), show };
}

/** @type {WeakMap<object, Metric[]>} */ const known = new WeakMap();

/** The metrics that pictures can show; one without a number in these files says so. @param {Page} page @returns {Metric[]} */
export function metrics({ profile }) {
  return once(known, profile, () => profile.meta.fields.filter((/** @type {any} */ { unit }) => unit).map((/** @type {Metric} */ field) => {
    const title = field.legend.replace("# ", "").replace("_", " ");
    return { ...field, title, missing: profile.values(field.name, null).some(Boolean) ? "" : `These files have no ${title}.` };
  }));
}

/** The metric that the state names, or the one that fits the files. @param {Page} page @param {string} view @returns {Metric} */
export function metricOf(page, view) {
  const able = metrics(page).filter(({ missing }) => !missing);
  const named = (/** @type {string | undefined} */ name) => able.find((metric) => metric.name === name);
  return named(page.state.metric) ?? page.profile.meta.defaults[view].select.map(named).find(Boolean) ?? able[0] ?? metrics(page)[0];
}

/** @param {Page} page @returns {Choice[]} */
export function metricChoices(page) {
  return metrics(page).map(({ name, title, missing }) => ({ value: name, text: title, missing }));
}

/** The rows above the zoomed one, as buttons. @param {HTMLElement} root @param {ArrayLike<number>} parent @param {number} zoomed @param {(row: number) => string} name @param {(row: number) => void} zoom */
export function showCrumbs(root, parent, zoomed, name, zoom) {
  /** @type {number[]} */ const rows = [];
  for (let row = zoomed; row >= 0; row = parent[row]) rows.push(row);
  rows.reverse();
  const hidden = rows.length - 1 - CRUMBS;
  const crumb = (/** @type {number} */ row) => {
    if (row < 0) return h("span", { class: "muted" }, `… ${-row} more`);
    return h("button", { type: "button", class: "crumb", "aria-current": row === zoomed && "location", onclick: () => zoom(row) }, name(row));
  };
  fill(root, (hidden > 1 ? [rows[0], -hidden, ...rows.slice(-CRUMBS)] : rows).map(crumb));
}

/** Coloured squares with words. @param {HTMLElement} root @param {{colour: string, text: string}[]} entries */
export function showLegend(root, entries) {
  fill(root, entries.map(({ colour, text }) => {
    const square = h("i", { "aria-hidden": "true" });
    square.style.background = colour;
    return h("li", null, square, text);
  }));
}
