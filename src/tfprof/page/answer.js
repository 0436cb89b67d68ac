// answer(profile, view, query): the displayed rows of a view, with the own and total value of any
// metric. The twin of query/answer.py and of the Answer in query/counted.py.
import { markedRows, marksOf, take } from "./arrays.js";
import { Cache, once } from "./cache.js";
import { quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { Stages, ViewCache } from "./stages.js";
import { plural } from "./units.js";
import { repaired, unmatched } from "./unmatched.js";

/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {import("./query.js").Query} Query */
/** @typedef {import("./counted.js").Bounds} Bounds */
/** @typedef {import("./arrays.js").Numbers} Numbers */

/** @type {WeakMap<Profile, Map<string, ViewCache>>} */ const views = new WeakMap();

/** The displayed rows of a view, in drawing order. */
export class Answer extends Cache {
  /** @param {Stages} stages all of which are done */
  constructor(stages) {
    super();
    const { of: { profile, view, drawing, tree: all }, query, counted, tree, at, hides } = stages;
    this._stages = stages;
    this.profile = profile;
    this.view = view;
    this.drawing = drawing;
    this.query = query;
    this.counted = counted;
    this.tree = tree;
    this.countedRow = at;
    /** The row of the drawing for each displayed row. */
    this.row = take(counted.row, at);
    /** Whether each row is itself accounted. */
    this.accounted = take(stages.accounted, this.row);
    /** @type {{name: string}[]} */ const options = this.profile.meta.options;
    const reasons = Object.fromEntries(options.map(({ name }) => [name, hides[name] ?? 0]).filter(([, rows]) => rows));
    /** How many rows are not displayed, and how many each option hides. */
    this.hidden = { rows: all.length - tree.length, reasons };
  }

  get length() {
    return this.tree.length;
  }

  /** The name of a row. @param {number} row @returns {string} */
  label(row) {
    return this.drawing.label.text(this.row[row]);
  }

  /** The graph node of each row; -1 for a row that is none. @returns {Int32Array} */
  get node() {
    return this.cached("node", () => {
      const nodes = new Int32Array(this.drawing.end.length).fill(-1);
      if (!this.view.groups) this.drawing.owner.forEach((row, node) => row >= 0 && (nodes[row] = node));
      return take(nodes, this.row);
    });
  }

  /** The metric of each row alone. @param {string} metric @returns {Numbers} */
  own(metric) {
    return this.cached(`own ${metric}`, () => take(this.counted.own(metric), this.countedRow));
  }

  /** The metric of each row and everything counted below it. @param {string} metric @returns {Numbers} */
  total(metric) {
    return this.cached(`total ${metric}`, () => take(this.counted.total(metric), this.countedRow));
  }

  /** Which numbers of the metric are lower bounds; null: none can be. @param {string} metric @returns {Bounds | null} */
  lower(metric) {
    const all = this.counted.lower(metric);
    const pick = () => all && { own: take(all.own, this.countedRow), total: take(all.total, this.countedRow) };
    return this.cached(`lower ${metric}`, pick);
  }

  /** What the answer leaves out, and what its options should perhaps be. @returns {string[]} */
  get notes() {
    return this.cached("notes", () => [...this._notes()]);
  }

  *_notes() {
    const { query, view, profile: { meta } } = this;
    const { of, deeper: { rows, depth } } = this._stages;
    const wants = (/** @type {string} */ name) => query.select.includes(name);
    const [coverage, ...others] = meta.remarks.float_ops[String(query.step)] ?? meta.remarks.float_ops.None;
    if (query.concernsFloatOps) yield coverage;
    if (wants("params")) yield* this._unknownSizes();
    if (query.concernsFloatOps) yield* others;
    yield* view.notes;
    if (query.displayedOnly && !view.recounts) yield `Note: ${view.name} view ignores account_displayed_op_only`;
    if (wants("tensor_value") && view.name === "code") {
      yield `code view has no tensor value to show${this.length === 1 ? "" : ` (${this.length} times)`}`;
    }
    if (query.leftOpen.has("max_depth") && rows) {
      yield `${plural(rows, "more row")}: --max_depth=${depth} shows ${rows === 1 ? "it" : "them"}`;
    }
    yield* unmatched(of, query);
    if (query.leftOpen.has("select") && wants("params")) yield* meta.remarks.params;
    yield* meta.remarks.all;
    for (const name of view.groups && !view.chain ? ["occurrence", "input_shapes"] : []) {
      if (wants(name)) yield `${name} N/A in ${view.name} view`;
    }
    if (wants("tensor_value")) yield "tensor_value is in the text and in proto only";
  }

  /** What params does not count. */
  *_unknownSizes() {
    const [lacks, { owner }] = [this.profile.lower("params"), this.drawing];
    const nodes = markedRows(marksOf(owner.length, (node) => lacks?.[node] && owner[node] >= 0));
    if (!nodes.length) return;
    const name = quoted(repaired(this.profile.nodes.name, nodes[0]));
    yield `params does not count ${plural(nodes.length, "variable")} of unknown shape, such as ${name}`;
  }
}

/** The rows that a query asks for; throws UsageError where that is impossible. @param {Profile} profile @param {string} name of the view
 * @param {Query} query @returns {Answer} */
export function answer(profile, name, query) {
  const view = profile.view(name);
  const step = stepOf(profile, query);
  if (query.orderBy === "occurrence" && !view.groups) {
    throw new UsageError(`${name} view has one node per row and cannot order by occurrence; op and code view can`);
  }
  if (view.missing) throw new UsageError(view.missing);
  const known = once(views, profile, () => new Map());
  const stages = new Stages(once(known, name, () => new ViewCache(profile, view)), query, step);
  stages.start();
  stages.show();
  stages.only();
  stages.order();
  return new Answer(stages);
}

/** The step of a query; throws UsageError where there is none. @param {Profile} profile @param {Query} query @returns {number | null} */
function stepOf(profile, query) {
  const { steps } = profile.meta;
  const step = steps.find((/** @type {number} */ number) => BigInt(number) === query.step) ?? null;
  if (query.step === null || step !== null) return step;
  throw new UsageError(`there is no step ${query.step} (steps: ${steps.join(", ") || "none, as there is no run"})`);
}
