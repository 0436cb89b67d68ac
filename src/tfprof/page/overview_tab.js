// The first tab: totals and what they leave out, the most expensive parts, steps and devices,
// advice, and the layers of the model.
import { fill, grid, h, head, number, shareBar } from "./dom.js";
import { layersTable } from "./layers_table.js";
import { amount } from "./amounts.js";
import { literal } from "./regex.js";
import { fragmentOf } from "./state.js";
import { stepsCard } from "./steps_card.js";
import { shown } from "./strings.js";
import { exact, percent, plural } from "./units.js";


/** @type {import("./tabs.js").Tab} */
export const overviewTab = {
  id: "overview",
  title: "Overview",
  missing: () => "",
  draw(root, page) {
    if (root.childElementCount > 0) return; // nothing on it depends on the state
    const { meta } = page.profile;
    const over = meta.overview;
    const [left, right] = [over.error ? null : ranking(over), [notesCard(meta.notes), stepsCard(page.profile), adviceCard(meta.advice)]];
    fill(root, h("div", { class: "overview" },
      h("p", { class: "lead" }, shown(over.error ?? over.what)),
      h("div", { class: "totals" }, over.error ? null : totals(over, page.profile.fleet)),
      h("div", { class: "columns" }, h("div", null, left), h("div", null, right)),
      layersTable(meta.summary, over)));
  },
};

const NO_RUN = "Not recorded: add a run (RunMetadata) or a trace.";
const NOT_IN_RUN = "Not recorded in this run or trace.";
const NO_GRAPH = "Unknown: add a graph or a model.";

/** @param {any} over @param {import("./fleet.js").Fleet | null} fleet */
function totals(over, fleet) {
  const { total } = over;
  const lower = new Set(over.total_incomplete);
  const perStep = over.steps.length > 0 ? "in a step" : "of one run";
  const trained = total.trainable === null ? "" : total.trainable === total.parameters ? "all trainable" : `${exact(total.trainable)} trainable`;
  const rate = total.float_ops_per_second ? `${perStep}, ${amount(total.float_ops_per_second, "rate", lower.has("float_ops_per_second"))} achieved` : perStep;
  const wall = total.wall_micros ? `in a step, ${amount(total.wall_micros, "micros")} from start to end` : "";
  const bytes = total.bytes_in_use ?? total.largest_operation_bytes;
  const by = total.bytes_in_use ? "in use at the peak" : "by one operation";
  const requested = total.requested_bytes ? `${by}, ${amount(total.requested_bytes, "memory")} requested` : by;
  return [
    totalCard("Parameters", total.parameters, "grouped", lower.has("parameters"), trained, NO_GRAPH),
    totalCard("Float operations", total.float_ops, "count", lower.has("float_ops"), rate, NO_GRAPH),
    fleet ? totalCard("Time of operations", Math.round(fleet.meta.kinds[0].p[0]), "micros", false, `in a step: the median of ${plural(fleet.meta.samples, "worker step")}`, "")
      : totalCard("Time of operations", total.micros, "micros", false, wall || perStep, NO_RUN),
    totalCard("Peak memory", bytes, "memory", false, requested, fleet ? "Not on the page of a fleet." : over.steps.length ? NOT_IN_RUN : NO_RUN),
  ];
}

/** @param {string} title @param {number | null} number @param {string} kind of the number @param {boolean} isLower @param {string} below
 * @param {string} without what to say if there is no number */
function totalCard(title, number, kind, isLower, below, without) {
  const known = number !== null && number !== undefined;
  const value = known || isLower ? amount(number, kind, isLower) : "–";
  return h("div", { class: "card total" },
    h("h2", null, title),
    h("div", { class: "value", title: known ? amount(number, "grouped", isLower) : "" }, value),
    h("div", { class: "muted" }, known || isLower ? below : without));
}

const TITLES = { layer: "Layers", "operation type": "Operation types", "line of code": "Lines of code" };
const SHARES_OF = { micros: "time", float_ops: "float operations", parameters: "parameters" };
const PLACES = ["num", "num second", "num extra"]; // narrow cards leave out columns from the right
/** Key of a row, heading, and kind of number. @type {[string, string, string][]} */
const COLUMNS = [
  ["micros", "Time", "micros"],
  ["float_ops", "Float ops", "count"],
  ["float_ops_per_second", "FLOP/s", "count"],
  ["parameters", "Parameters", "grouped"],
];

/** The most expensive layers, types and lines, each a link to what is inside. @param {any} over */
function ranking(over) {
  return Object.entries(TITLES).map(([list, title]) => {
    const rows = over.rows.filter((/** @type {any} */ row) => row.list === list);
    if (rows.length === 0) return null;
    const columns = COLUMNS.filter(([key]) => rows.some((/** @type {any} */ row) => cellText(row, key, "count")));
    const heads = columns.map(([, text], at) => head(text, PLACES[Math.min(at, 2)]));
    const what = SHARES_OF[/** @type {keyof typeof SHARES_OF} */ (over.shares_of)];
    const scope = list === "layer" && over.training && over.steps.length ? ", gradients included" : "";
    const table = grid([head("Name", "name"), head("Share", "", "2"), ...heads], rows.map((/** @type {any} */ row) => rankedRow(row, columns, over.total_incomplete.includes(over.shares_of))));
    return h("section", { class: "card" }, h("h2", null, over.of_variables ? "Variables" : title, h("span", { class: "muted" }, ` by ${what}${scope}`)), table);
  });
}

/** @param {any} row @param {[string, string, string][]} columns @param {boolean} isGuess whether shares are of a lower bound */
function rankedRow(row, columns, isGuess) {
  const name = shown(row.name);
  const isPlace = !name.startsWith("("); // as in (other)
  const link = isPlace ? h("a", { href: linkTo(row), title: name }, name) : name;
  const cells = columns.map(([key, , kind], at) => number(cellText(row, key, kind), { class: PLACES[Math.min(at, 2)] }));
  return h("tr", null, h("th", { scope: "row", class: "name" }, link), shareBar(row.share), number(isGuess ? "" : percent(row.share, 1)), cells);
}

/** The text of a cell, with ≥ or ? where something is not counted. Beside times there are no parameters, as in the terminal. @param {any} row @param {string} key @param {string} kind */
function cellText(row, key, kind) {
  const lower = row.incomplete.includes(key);
  if (key === "parameters" && (row.micros || !(row[key] || lower))) return "";
  return (row[key] ?? null) === null && !lower ? "" : amount(row[key], kind, lower);
}

/** Where a row of a list leads: the rows of a view that make it up. @param {any} row */
function linkTo(row) {
  const name = literal(row.name);
  const places = {
    layer: { tab: "table", view: "scope", start_name_regexes: `(.*/)?${name}`, max_depth: "20" },
    // `fusion of dot` is a part of the type fusion.
    "operation type": { tab: "table", view: "op", show_name_regexes: name.replace(/^fusion of .*/, "fusion") },
    "line of code": { tab: "table", view: "code", show_name_regexes: `.*${name}.*`, max_depth: "100" },
  };
  return fragmentOf(places[/** @type {keyof typeof places} */ (row.list)] ?? { tab: "table" });
}

/** What the totals leave out, assume, or do not know; and what reading the files had to say. @param {string[]} sentences */
function notesCard(sentences) {
  if (sentences.length === 0) return null;
  const items = sentences.map((sentence) => h("li", null, shown(sentence)));
  const rest = items.length > 5 ? h("details", null, h("summary", null, `${items.length - 4} more`), h("ul", null, items.slice(4))) : null;
  return h("section", { class: "card notes" }, h("h2", null, "Notes"), h("ul", null, rest ? items.slice(0, 4) : items), rest);
}

/** @param {any} advice */
function adviceCard(advice) {
  if (!advice?.rows?.length) return null;
  const card = h("section", { class: "card" }, h("h2", null, "Advice"));
  let checker = "";
  for (const row of advice.rows) {
    if (row.checker !== checker) card.append(h("h3", null, (checker = row.checker)));
    card.append(h("pre", { class: "mono" }, row.report.split("\n").map(shown).join("\n")));
  }
  return card;
}
