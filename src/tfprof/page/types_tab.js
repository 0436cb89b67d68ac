/**
 * Operation types as bars: a table, so that it can be read, sorted and copied.
 * @module
 */
import { amount } from "./amounts.js";
import { DEFINED } from "./counted.js";
import { fill, h } from "./dom.js";
import { withoutFilters } from "./filter_line.js";
import { ALL_DEPTHS, choice, metricChoices, metricOf, pictureTab } from "./picture_controls.js";
import { literal } from "./regex.js";
import { shown } from "./strings.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./picture_controls.js").Metric} Metric */
/** @typedef {{type: string, kind: number, value: number | bigint, lower: boolean, part: number, shares: number[], count: number | bigint}} TypeRow part: of the known whole; shares: the same, and that of the larger ones with it; none of a lower bound */

/** What rows can be sorted by, and how two compare; by the metric without a name. @type {{name: string, title: string, compare: (a: TypeRow, b: TypeRow) => number}[]} */
const SORTS = [
  { name: "type", title: "Type", compare: (a, b) => (a.type < b.type ? -1 : 1) },
  { name: "kind", title: "Kind", compare: (a, b) => a.kind - b.kind },
  { name: "count", title: "Nodes", compare: (a, b) => Number(b.count) - Number(a.count) },
  { name: "", title: "", compare: () => 0 },
];

export const typesTab = pictureTab({
  id: "types",
  title: "Types",
  missing: (page) => (page.profile.nodes.count ? "" : "These files have no operations: add a graph, a SavedModel or a trace."),
  filters: (page) => page.profile.view("op").options,
  make(page) {
    const bars = choice("Bars", (metric) => page.go({ metric }));
    const table = h("div", { class: "scroll grow", tabindex: "0", role: "region", "aria-label": "Operation types" });
    const draw = () => {
      const metric = metricOf(page, "op");
      bars.show(metricChoices(page), metric.name);
      fill(table, tableOf(page, metric));
    };
    return { parts: [h("div", { class: "toolbar" }, bars.element), table], draw };
  },
});

/** The types, the largest first. @param {Page} page @param {string} metric @returns {TypeRow[]} */
function rowsOf(page, metric) {
  const answer = page.answer("op", { max_depth: ALL_DEPTHS, order_by: metric });
  const { meta, types } = page.profile;
  const [own, count, lower] = [answer.own(metric), answer.own(DEFINED), answer.lower(metric)];
  const order = Array.from({ length: answer.tree.length - 1 }, (_, at) => at + 1).sort((a, b) => (own[a] < own[b] ? 1 : own[a] > own[b] ? -1 : a - b));
  const sum = order.reduce((total, row) => total + Number(own[row]), 0) || 1;
  let upTo = 0;
  return order.map((row) => {
    const type = answer.label(row);
    upTo += Number(own[row]);
    return { type, kind: meta.kinds.of_type[types.indexOf(type)], value: own[row], lower: Boolean(lower?.own[row]), part: Number(own[row]) / sum, shares: lower?.total[0] ? [] : [Number(own[row]) / sum, upTo / sum], count: count[row] };
  });
}

/** @param {Page} page @param {Metric} metric */
function tableOf(page, metric) {
  const rows = rowsOf(page, metric.name);
  const largest = rows[0]?.part || 1;
  const sort = SORTS.find(({ name }) => name === page.state.sort_types) ?? SORTS[3];
  rows.sort(sort.compare);
  const heading = (/** @type {typeof sort} */ { name, title }, /** @type {number} */ at) =>
    h("th", { scope: "col", class: at > 1 && "num", "aria-sort": name === sort.name && (at > 1 ? "descending" : "ascending") },
      h("button", { type: "button", class: "sort", onclick: () => page.go({ sort_types: name }) }, title || metric.title));
  const others = ["Share", "Up to here"].slice(0, rows[0]?.shares.length).map((title) => h("th", { scope: "col", class: "num" }, title));
  const head = h("tr", null, ...SORTS.map(heading), ...others, h("th", { scope: "col", class: "bar" }, h("span", { class: "only-read" }, "Bar")));
  return h("table", { class: "grid types" }, h("thead", null, head), h("tbody", null, rows.map((row) => rowOf(page, metric, row, largest))));
}

/** @param {Page} page @param {Metric} metric @param {TypeRow} row @param {number} largest */
function rowOf(page, metric, row, largest) {
  const bar = h("i", { "aria-hidden": "true" });
  bar.style.width = `${(100 * row.part) / largest}%`;
  bar.style.background = `var(--c${row.kind})`;
  const link = h("a", { href: page.href({ ...withoutFilters(page, "step"), tab: "icicle", zoom: "", account_type_regexes: literal(row.type) }), title: "Show where these operations are" }, shown(row.type.slice(0, 2000)));
  const numbers = [amount(row.count, "grouped"), amount(row.value, metric.unit, row.lower), ...row.shares.map((share) => percent(share, 1))];
  return h("tr", null, h("th", { scope: "row", class: "cut" }, link), h("td", { class: "muted" }, page.profile.meta.kinds.names[row.kind]),
    ...numbers.map((text) => h("td", { class: "num" }, text)), h("td", { class: "bar" }, bar));
}
