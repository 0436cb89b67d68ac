// The layers of a model, as `tfprof summary` lists them.
import { amount } from "./amounts.js";
import { fill, grid, h, head, number } from "./dom.js";
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

/** The card with the table, or null where the files hold no model. @param {any} summary
 * @param {any} over what the overview says; a checkpoint has variables and no layers @returns {HTMLElement | null} */
export function layersTable(summary, { of_variables: areVariables, training }) {
  if (!summary?.rows?.length) return null;
  const columns = COLUMNS.filter(([key]) => (summary.total[key] ?? null) !== null);
  const whole = summary.total.micros;
  const cells = (/** @type {any} */ of, /** @type {string[]} */ lower) =>
    columns.map(([key, , kind]) => number(amount(of[key], kind, lower.includes(key)), { title: typeof of[key] === "string" ? null : amount(of[key], "grouped", lower.includes(key)) }));
  const row = (/** @type {any} */ layer) => {
    const name = h("th", { scope: "row" }, shown(layer.name), layer.type && h("span", { class: "muted" }, ` ${shown(layer.type)}`));
    name.style.setProperty("--depth", layer.depth);
    return h("tr", null, name, h("td", { class: "mono" }, shapeText(layer.output_shape)), whole && number(percent(layer.micros ?? 0, whole)), cells(layer, layer.incomplete));
  };
  const heads = [head(areVariables ? "Variable" : "Layer", ""), head(areVariables ? "Shape" : "Output shape", ""), whole && head("Share"), columns.map(([, text]) => head(text))];
  const total = h("tr", null, h("th", { scope: "row" }, "Total"), h("td", null), whole && h("td", null), cells(summary.total, summary.total_incomplete));
  const table = grid(heads.flat(), summary.rows.slice(0, FIRST_ROWS).map(row), total);
  const more = summary.rows.length - FIRST_ROWS;
  const showAll = (/** @type {any} */ event) => (fill(table.tBodies[0], summary.rows.map(row)), event.target.remove());
  const title = areVariables ? "Variables" : `Layers of ${shown(summary.model || "the model")}${training ? ", without gradients and updates" : ""}`;
  return h("section", { class: "card layers" },
    h("h2", null, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table),
    more > 0 && h("button", { type: "button", class: "button", onclick: showAll }, `Show ${exact(more)} more`));
}

/** @param {any} shape a list of sizes and of names of open ones; null: unknown */
function shapeText(shape) {
  if (!Array.isArray(shape)) return shown(String(shape ?? "?"));
  return `(${shape.map((size) => (size === null || size === -1 ? "?" : shown(String(size)))).join(", ")})`;
}
