// The columns of the table of an answer, as results/report_table.py has them: own and total of each
// number that is selected, shares of the whole, and what is known in words.
import { grouped } from "./arrays.js";
import { shown } from "./strings.js";
import { UNITS, atLeast, exact, percent } from "./units.js";

/** @typedef {import("./treegrid.js").GridColumn} GridColumn */
/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {{name: string, legend: string, unit: string | null, shows: string[]}} Field a row of meta.fields */
/** @typedef {{column: GridColumn, holds: () => boolean, values: ArrayLike<number | bigint> | null}} Candidate */

const WIDTH = { number: 116, share: 130, text: 200 };
const NOT_ACCOUNTED = "--";
const IN_FULL = /** @type {Object<string, string>} */ ({ micros: " microseconds", memory: " bytes" });

/** The columns that hold something new, and a sentence on the others. @param {Answer} answer
 * @returns {{columns: GridColumn[], leftOut: string}} */
export function tableColumns(answer) {
  /** @type {GridColumn[]} */ const columns = [];
  /** @type {Map<string, string[]>} */ const reasons = new Map();
  /** @type {Candidate[]} */ const kept = [];
  for (const candidate of candidates(answer)) {
    const { column } = candidate;
    const twin = kept.find((other) => sameValues(other, candidate));
    const reason = candidate.holds() ? (twin ? `the same as ${twin.column.title}` : "") : "nothing in any row";
    if (reason !== "") {
      reasons.set(reason, [...(reasons.get(reason) ?? []), column.title]);
      continue;
    }
    kept.push(candidate);
    columns.push({ ...column, share: null });
    if (column.share) columns.push(shareColumn(column, column.share));
  }
  const texts = [...reasons].map(([reason, titles]) => `${titles.join(", ")} (${reason})`);
  return { columns, leftOut: texts.length > 0 ? `Left out: ${texts.join("; ")}.` : "" };
}

/** @param {Candidate} one @param {Candidate} other */
function sameValues(one, other) {
  const prefix = (/** @type {Candidate} */ { column }) => column.name.split("_")[0];
  if (one.values === null || other.values === null || prefix(one) !== prefix(other)) return false;
  for (let i = 0; i < one.values.length; i++) if (one.values[i] !== other.values[i]) return false;
  return true;
}

/** @param {GridColumn} column @param {(i: number) => number | null} share @returns {GridColumn} */
function shareColumn(column, share) {
  const text = (/** @type {number} */ i) => {
    const part = share(i);
    return part === null ? "" : percent(part, 1);
  };
  return { ...column, name: `share_of_${column.name}`, title: "share", text, tip: () => "", share, order: "", right: false, width: WIDTH.share };
}

/** The fields with a column, in order: the selected ones and those that they imply. @param {Answer} answer @returns {Field[]} */
function shownFields(answer) {
  /** @type {Field[]} */ const fields = answer.profile.meta.fields;
  const names = new Set(fields.filter(({ name }) => answer.query.select.includes(name)).flatMap(({ shows }) => shows));
  const ordered = fields.filter(({ name, legend }) => names.has(name) && legend !== "");
  if (!answer.view.groups) return ordered;
  const last = (/** @type {Field} */ { name, unit }) => Number(unit === null || name === "occurrence") * 2;
  const count = (/** @type {Field} */ { name }) => Number(name === "params" || name === "float_ops");
  return ordered.sort((one, other) => last(one) + count(one) - last(other) - count(other)); // counts after measurements
}

/** @param {Answer} answer @returns {Candidate[]} */
function candidates(answer) {
  return shownFields(answer).flatMap(({ name, unit }) => {
    if (unit === null) return words(answer, name);
    if (name !== "occurrence") return numbers(answer, name, name, unit);
    if (answer.view.groups && !answer.view.chain) return [];
    return [...numbers(answer, name, "runs", unit), ...numbers(answer, "defined", "defined", unit)];
  });
}

/** @param {Answer} answer @param {string} metric @param {string} name @param {string} unit @returns {Candidate[]} */
function numbers(answer, metric, name, unit) {
  const { chain, groups } = answer.view;
  const lower = answer.lower(metric);
  const own = answer.own(metric);
  const total = answer.total(metric);
  const isCount = name === "runs" || name === "defined";
  const whole = isCount || lower?.total[0] ? 0 : Number(total[0]); // a share of a bound would be a guess
  const byOccurrence = name === "defined" && groups ? "occurrence" : "";
  const order = isCount ? byOccurrence : name;
  const sortsOwn = chain || isCount;
  const accounted = (/** @type {number} */ i) => answer.accounted[i] !== 0;
  return [
    number(`own_${name}`, `own ${spaced(name)}`, own, lower?.own ?? null, unit, sortsOwn ? order : "", chain ? whole : 0, accounted),
    number(`total_${name}`, `${chain ? "running " : ""}total ${spaced(name)}`, total, lower?.total ?? null, unit, sortsOwn ? "" : order, chain ? 0 : whole, () => true),
  ];
}

/** @param {string} name @param {string} title @param {ArrayLike<number | bigint>} values @param {ArrayLike<number> | null} lower
 * @param {string} unit @param {string} order @param {number} whole @param {(i: number) => boolean} accounted @returns {Candidate} */
function number(name, title, values, lower, unit, order, whole, accounted) {
  const isUnknown = (/** @type {number} */ i) => lower !== null && lower[i] !== 0 && Number(values[i]) === 0;
  const marked = (/** @type {number} */ i, /** @type {string} */ text) => (isUnknown(i) ? "?" : lower?.[i] ? atLeast(text) : text);
  const column = {
    name, title, order, right: true, width: WIDTH.number,
    text: (/** @type {number} */ i) => (accounted(i) ? marked(i, UNITS[unit](values[i])) : NOT_ACCOUNTED),
    tip: (/** @type {number} */ i) => marked(i, `${exact(values[i])}${IN_FULL[unit] ?? ""}`),
    share: whole === 0 ? null : (/** @type {number} */ i) => (accounted(i) ? Number(values[i]) / whole : null),
  };
  return { column, values, holds: () => some(values, (value) => Number(value) !== 0) || some(lower ?? [], (mark) => mark !== 0) };
}

/** @template T @param {ArrayLike<T>} values @param {(value: T, i: number) => boolean} test */
function some(values, test) {
  for (let i = 0; i < values.length; i++) if (test(values[i], i)) return true;
  return false;
}

/** @param {Answer} answer @param {string} field @returns {Candidate[]} */
function words(answer, field) {
  const { profile, view } = answer;
  if (!(field in WORDS) || (field === "input_shapes" && view.groups)) return [];
  /** @type {string[]} */ const texts = [];
  const text = (/** @type {number} */ i) => (texts[i] ??= shown(WORDS[field](profile, members(answer, answer.row[i])).join(", ")));
  const name = field === "device" ? "devices" : field;
  const holds = () => some(answer.row, (_, i) => text(i) !== "");
  return [{ column: { name, title: spaced(name), order: "", right: false, width: WIDTH.text, text, tip: text, share: null }, values: null, holds }];
}

/** The nodes that a row of the drawing counts. @param {Answer} answer @param {number} row */
function members(answer, row) {
  const { drawing: { owner, end }, counted: { picked } } = answer;
  const counts = () => (picked ? owner.map((own, node) => (picked[node] ? own : -1)) : owner);
  const { first, order } = answer.cached("members", () => grouped(counts(), end.length));
  return order.subarray(first[row], first[row + 1]);
}

/** What is known of the nodes of a row. @type {Object<string, (profile: Profile, nodes: ArrayLike<number>) => string[]>} */
const WORDS = {
  device: (profile, nodes) => typeNames(profile, Array.from(nodes, (node) => profile.nodes.device[node])),
  op_types: (profile, nodes) => typeNames(profile, Array.from(nodes, (node) => [...profile.typesOf(node)]).flat()),
  input_shapes: (profile, nodes) => Array.from(nodes, (node) => profile.inputShapes(node)).flat().map((dims) => dims?.join("x") ?? "?"),
};

/** @param {Profile} profile @param {number[]} types @returns {string[]} */
function typeNames(profile, types) {
  const known = [...new Set(types)].filter((type) => type >= 0);
  return known.sort((one, other) => profile.types.compare(one, other)).map((type) => profile.types.text(type));
}

/** @param {string} name */
function spaced(name) {
  return name.replaceAll("_", " ");
}
