/**
 * Operation types as bars: a table, so that it can be read, sorted and copied.
 * @module
 */
import { amount } from "./amounts.js";
import { DEFINED } from "./counted.js";
import { fill, h } from "./dom.js";
import { ALL_DEPTHS, choice, metricChoices, metricOf } from "./picture_controls.js";
import { shown } from "./strings.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {{type: string, kind: number, value: number | bigint, lower: boolean, share: number, upTo: number, count: number | bigint}} TypeRow */

/** What rows can be sorted by, and how two compare. @type {{name: string, title: string, compare: (a: TypeRow, b: TypeRow) => number}[]} */
const SORTS = [
  { name: "type", title: "Type", compare: (a, b) => (a.type < b.type ? -1 : 1) },
  { name: "kind", title: "Kind", compare: (a, b) => a.kind - b.kind },
  { name: "count", title: "Nodes", compare: (a, b) => Number(b.count) - Number(a.count) },
  { name: "value", title: "", compare: (a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0) },
];

/** @type {WeakMap<HTMLElement, {metric: ReturnType<typeof choice>, table: HTMLElement}>} */
const drawn = new WeakMap();

/** @type {import("./tabs.js").Tab} */
export const typesTab = {
  id: "types",
  title: "Types",
  missing: (page) => (page.profile.nodes.count ? "" : "These files have no operations: add a graph, a SavedModel or a trace."),
  draw(root, page) {
    const parts = drawn.get(root) ?? { metric: choice("Bars", (metric) => page.go({ metric })), table: h("div", { class: "scroll grow", tabindex: "0", role: "region", "aria-label": "Operation types" }) };
    drawn.set(root, parts);
    if (parts.table.parentElement !== root) fill(root, h("div", { class: "toolbar" }, parts.metric.element), parts.table);
    const metric = metricOf(page, "op");
    parts.metric.show(metricChoices(page), metric.name);
    fill(parts.table, tableOf(page, metric));
  },
};

/**
 * The rows of the table, the largest first, with shares of the sum and the sum so far.
 * @param {{type: string, kind: number, value: number | bigint, lower: boolean, count: number | bigint}[]} types
 * @returns {TypeRow[]}
 */
export function typeRows(types) {
  const sorted = [...types].sort((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0));
  const sum = sorted.reduce((total, { value }) => total + Number(value), 0);
  let upTo = 0;
  return sorted.map((row) => {
    upTo += Number(row.value);
    return { ...row, share: sum > 0 ? Number(row.value) / sum : 0, upTo: sum > 0 ? upTo / sum : 0 };
  });
}

/** @param {Page} page @param {import("./picture_controls.js").Metric} metric */
function tableOf(page, metric) {
  const answer = page.answer("op", { max_depth: ALL_DEPTHS, order_by: metric.name });
  const { meta, types } = page.profile;
  const [own, count, lower] = [answer.own(metric.name), answer.own(DEFINED), answer.lower(metric.name)];
  const rows = typeRows(Array.from({ length: answer.tree.length - 1 }, (_, at) => ({
    type: answer.label(at + 1), kind: meta.kinds.of_type[types.indexOf(answer.label(at + 1))],
    value: own[at + 1], lower: Boolean(lower?.own[at + 1]), count: count[at + 1],
  })));
  const sort = SORTS.find(({ name }) => name === page.state.sort_types) ?? SORTS[3];
  const largest = rows[0]?.share ?? 0;
  if (sort.name !== "value") rows.sort(sort.compare);
  const heading = (/** @type {typeof SORTS[number]} */ { name, title }) =>
    h("th", { scope: "col", class: name === "count" || name === "value" ? "num" : "", "aria-sort": name === sort.name ? (name === "type" || name === "kind" ? "ascending" : "descending") : null },
      h("button", { type: "button", class: "sort", onclick: () => page.go({ sort_types: name === "value" ? "" : name }) }, title || metric.title));
  const others = ["Share", "Up to here"].map((title) => h("th", { scope: "col", class: "num" }, title));
  const head = h("thead", null, h("tr", null, ...SORTS.map(heading), ...others, h("th", { scope: "col", class: "bar" }, h("span", { class: "only-read" }, "Bar"))));
  return h("table", { class: "grid types" }, head, h("tbody", null, rows.map((row) => rowOf(page, metric, row, largest))));
}

/** @param {Page} page @param {import("./picture_controls.js").Metric} metric @param {TypeRow} row @param {number} largest */
function rowOf(page, metric, row, largest) {
  const bar = h("i", { "aria-hidden": "true" });
  bar.style.width = `${largest > 0 ? (100 * row.share) / largest : 0}%`;
  bar.style.background = `var(--c${row.kind})`;
  const pattern = row.type.replace(/[\\^$.*+?()[\]{}|,]/g, "\\$&");
  const link = h("a", { href: page.href({ tab: "icicle", account_type_regexes: pattern }), title: "Show where these operations are" }, shown(row.type.slice(0, 2000)));
  const number = (/** @type {string} */ text) => h("td", { class: "num" }, text);
  return h("tr", null, h("th", { scope: "row", class: "cut" }, link), h("td", { class: "muted" }, page.profile.meta.kinds.names[row.kind]), number(amount(row.count, "grouped")),
    number(amount(row.value, metric.unit, row.lower)), number(percent(row.share, 1)), number(percent(row.upTo, 1)), h("td", { class: "bar" }, bar));
}
