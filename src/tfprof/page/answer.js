// answer(profile, view, query): the displayed rows of a view, with the own and total value of any
// metric. The twin of query/answer.py and of the Answer in query/counted.py.
import { account, order, sessionOf, show, start } from "./stages.js";
import { quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { markedRows, marksOf, range, take, takeRows } from "./tree.js";
import { plural } from "./units.js";
import { repaired, unmatched } from "./unmatched.js";

/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {import("./query.js").Query} Query */
/** @typedef {import("./counted.js").Counted} Counted */
/** @typedef {import("./counted.js").Bounds} Bounds */
/** @typedef {import("./stages.js").Session} Session */
/** @typedef {import("./stages.js").View} View */
/** @typedef {import("./tree.js").Numbers} Numbers */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {{rows: number, reasons: {[option: string]: number}}} Hidden */

/** The displayed rows of a view, in drawing order, with the own and total value of any metric. */
export class Answer {
  /**
   * @param {View} view @param {Query} query @param {Tree} tree @param {Counted} counted
   * @param {Int32Array} countedRow
   * @param {{[option: string]: number}} hides how many rows each option hides
   * @param {() => string[]} makeNotes
   */
  constructor(view, query, tree, counted, countedRow, hides, makeNotes) {
    this.profile = counted.profile;
    this.view = view;
    this.drawing = counted.drawing;
    this.query = query;
    this.counted = counted;
    this.tree = tree;
    this.countedRow = countedRow;
    this.makeNotes = makeNotes;
    /** The row of the drawing for each displayed row. */
    this.row = takeRows(counted.row, countedRow);
    /** Whether each row is itself accounted. */
    this.accounted = marksOf(this.row.length, (row) => counted.accountedRow[this.row[row]]);
    const reasons = this.profile.meta.options.map((/** @type {any} */ option) => [option.name, hides[option.name]]);
    /** How many rows are not displayed, and how many each option hides. @type {Hidden} */
    this.hidden = {
      rows: this.drawing.end.length - tree.length,
      reasons: Object.fromEntries(reasons.filter((/** @type {[string, number]} */ reason) => reason[1])),
    };
    /** @type {Map<string, any>} */
    this.columns = new Map();
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
      const { owner } = this.drawing;
      for (let node = 0; node < owner.length; node++) if (owner[node] >= 0 && !this.view.groups) nodes[owner[node]] = node;
      return takeRows(nodes, this.row);
    });
  }

  /** The graph nodes of a row; of a row without any, those of the rows below it. @param {number} row @returns {number[]} */
  nodesOf(row) {
    const { owner } = this.drawing;
    const first = this.row[row];
    /** @param {number} last */
    const until = (last) => Array.from(markedRows(marksOf(owner.length, (node) => owner[node] >= first && owner[node] < last)));
    const own = until(first + 1);
    return own.length ? own : until(this.drawing.end[first]);
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
    return this.cached(`lower ${metric}`, () => {
      const all = this.counted.lower(metric);
      const pick = (/** @type {Uint8Array} */ column) => marksOf(this.length, (row) => column[this.countedRow[row]]);
      return all && { own: pick(all.own), total: pick(all.total) };
    });
  }

  /** How many counted rows are hidden between each row and its parent. @returns {Int32Array} */
  hiddenAbove() {
    const depth = takeRows(this.counted.tree.depth, this.countedRow);
    return depth.map((deep, row) => (row ? deep - depth[this.tree.parent[row]] - 1 : 0));
  }

  /** What the answer leaves out, and what its options should perhaps be. @returns {string[]} */
  get notes() {
    return this.cached("notes", this.makeNotes);
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  cached(key, make) {
    if (!this.columns.has(key)) this.columns.set(key, make());
    return this.columns.get(key);
  }
}

/**
 * The rows that a query asks for; throws UsageError where that is impossible.
 * @param {Profile} profile @param {string} viewName @param {Query} query
 * @returns {Answer}
 */
export function answer(profile, viewName, query) {
  const step = check(profile, viewName, query);
  const session = sessionOf(profile, viewName);
  const { view, drawing } = session;
  const key = JSON.stringify(["counted", query.accountTypes, step, view.chain && query.orderBy]);
  let counted = session.cached(key, () => account(profile, session, query, step));
  let [tree, at] = start(counted, session, query);
  /** @type {{[option: string]: number}} */
  const hides = {
    account_type_regexes: drawing.end.length - counted.tree.length,
    start_name_regexes: counted.tree.length - tree.length,
  };
  const shown = show(session, counted, tree, at, query, hides);
  [tree, at] = shown;
  if (query.displayedOnly && view.recounts) {
    const kept = new Uint8Array(counted.tree.length);
    for (const row of at) kept[row] = 1;
    counted = counted.keepRows(kept, at, 1);
    at = range(at.length);
  }
  if (!view.chain) [tree, at] = order(session, counted, tree, at, query);
  const rows = tree.length;
  return new Answer(view, query, tree, counted, at, hides, () => notes(profile, session, query, shown[2], rows));
}

/** The step of the query; throws UsageError where the query is impossible. @param {Profile} profile @param {string} name @param {Query} query @returns {number | null} */
function check(profile, name, query) {
  const steps = profile.meta.steps;
  const step = steps.find((/** @type {number} */ number) => BigInt(number) === query.step) ?? null;
  if (query.step !== null && step === null) {
    throw new UsageError(`there is no step ${query.step} (steps: ${steps.join(", ") || "none, as there is no run"})`);
  }
  /** @type {View} */
  const view = profile.meta.views.find((/** @type {View} */ row) => row.name === name);
  if (query.orderBy === "occurrence" && !view.groups) {
    throw new UsageError(`${name} view has one node per row and cannot order by occurrence; op and code view can`);
  }
  if (view.missing) throw new UsageError(view.missing);
  return step;
}

/** What params does not count. @param {Profile} profile @param {import("./profile.js").Drawing} drawing */
function unknownSizes(profile, drawing) {
  const nodes = markedRows(profile.lower("params")?.map((is, node) => is && Number(drawing.owner[node] >= 0)) ?? new Uint8Array(0));
  if (!nodes.length) return [];
  const name = repaired(profile.nodes.name.take(nodes.subarray(0, 1)))[0] ?? "";
  return [`params does not count ${plural(nodes.length, "variable")} of unknown shape, such as ${quoted(name)}`];
}

/** What an answer leaves out, and remarks on its options.
 * @param {Profile} profile @param {Session} session @param {Query} query
 * @param {[number, number]} deeper @param {number} count of displayed rows @returns {string[]} */
function notes(profile, session, query, [rows, depth], count) {
  const { drawing, view } = session;
  const { remarks } = profile.meta;
  const wants = (/** @type {string} */ name) => query.select.includes(name);
  const counted = remarks.float_ops[String(query.step)] ?? remarks.float_ops.None;
  const [coverage, ...others] = query.concernsFloatOps ? counted : [];
  const lines = [...(coverage ? [coverage] : []), ...(wants("params") ? unknownSizes(profile, drawing) : []), ...others, ...view.notes];
  if (query.displayedOnly && !view.recounts) lines.push(`Note: ${view.name} view ignores account_displayed_op_only`);
  if (wants("tensor_value") && view.name === "code") {
    lines.push(`code view has no tensor value to show${count === 1 ? "" : ` (${count} times)`}`);
  }
  if (query.leftOpen.has("max_depth") && rows) {
    lines.push(`${plural(rows, "more row")}: --max_depth=${depth} shows ${rows === 1 ? "it" : "them"}`);
  }
  lines.push(...unmatched(profile, drawing, query, (patterns) => session.labelsMatch(patterns)));
  if (query.leftOpen.has("select") && wants("params")) lines.push(...remarks.params);
  lines.push(...remarks.all);
  for (const name of view.groups && !view.chain ? ["occurrence", "input_shapes"] : []) {
    if (wants(name)) lines.push(`${name} N/A in ${view.name} view`);
  }
  if (wants("tensor_value")) lines.push("tensor_value is in the text and in proto only");
  return lines;
}
