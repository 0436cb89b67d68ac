/**
 * The layers of a model, as `tfprof summary` lists them.
 * @module
 */
import { fill, h } from "./dom.js";
import { amount } from "./amounts.js";
import { shown } from "./strings.js";
import { exact, percent } from "./units.js";

const FIRST_ROWS = 60;

/** Key of a summary row, heading, and kind of number. @type {[string, string, string][]} */
const COLUMNS = [
  ["parameters", "Parameters", "grouped"],
  ["float_ops", "Float ops", "count"],
  ["micros", "Time", "micros"],
  ["flops_per_second", "FLOP/s", "count"],
  ["multiply_adds", "Mult-adds", "count"],
  ["parameter_bytes", "Weights", "memory"],
  ["activation_bytes", "Activations", "memory"],
];

/**
 * The card with the table, or null where the files hold no model.
 * @param {any} summary
 * @param {boolean} areVariables of a checkpoint, which has no layers
 * @returns {HTMLElement | null}
 */
export function layersTable(summary, areVariables) {
  if (!summary?.rows?.length) return null;
  const columns = COLUMNS.filter(([key]) => summary.total[key] !== null && summary.total[key] !== undefined);
  const timed = columns.some(([key]) => key === "micros");
  const row = (/** @type {any} */ layer) => layerRow(layer, columns, timed ? summary.total.micros : 0);
  const body = h("tbody", null, summary.rows.slice(0, FIRST_ROWS).map(row));
  const heads = columns.map(([, head]) => h("th", { scope: "col", class: "num" }, head));
  const table = h(
    "table",
    { class: "grid" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, areVariables ? "Variable" : "Layer"), h("th", { scope: "col" }, areVariables ? "Shape" : "Output shape"), timed && h("th", { scope: "col", class: "num" }, "Share"), heads)),
    body,
    h("tfoot", null, totalRow(summary, columns, timed)),
  );
  const more = summary.rows.length - FIRST_ROWS;
  const button = more > 0 && h("button", { type: "button", class: "button", onclick: () => (fill(body, summary.rows.map(row)), button instanceof HTMLElement && button.remove()) }, `Show ${exact(more)} more layers`);
  const title = areVariables ? "Variables" : summary.model ? `Layers of ${shown(summary.model)}` : "Layers of the model";
  return h("section", { class: "card layers" }, h("h2", null, title), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table), button);
}

/** @param {any} layer @param {[string, string, string][]} columns @param {number} micros of all layers */
function layerRow(layer, columns, micros) {
  const name = h("th", { scope: "row" }, shown(layer.name), layer.type ? h("span", { class: "muted" }, ` ${shown(layer.type)}`) : null);
  name.style.setProperty("--depth", layer.depth);
  const cells = columns.map(([key, , kind]) => h("td", { class: "num", title: exactly(layer[key]) }, amount(layer[key], kind, layer.incomplete.includes(key))));
  const share = micros > 0 && layer.micros !== null ? h("td", { class: "num" }, percent(layer.micros, micros)) : null;
  return h("tr", null, name, h("td", { class: "mono" }, shapeOf(layer.output_shape)), share, cells);
}

/** @param {any} summary @param {[string, string, string][]} columns @param {boolean} timed */
function totalRow(summary, columns, timed) {
  const cells = columns.map(([key, , kind]) => h("td", { class: "num", title: exactly(summary.total[key]) }, amount(summary.total[key], kind, summary.total_incomplete.includes(key))));
  return h("tr", null, h("th", { scope: "row" }, "Total"), h("td", null), timed && h("td", null), cells);
}

/** @param {any} number */
function exactly(number) {
  return typeof number === "number" ? exact(number) : null;
}

/** @param {any} shape a list of sizes and of names of open ones, or null */
function shapeOf(shape) {
  if (shape === null || shape === undefined) return "?";
  if (!Array.isArray(shape)) return shown(String(shape));
  return `(${shape.map((size) => (size === null || size === -1 ? "?" : shown(String(size)))).join(", ")}${shape.length === 1 ? "," : ""})`;
}
