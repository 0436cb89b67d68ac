// The twin of Counted in query/counted.py: the rows that totals are taken over, with the own and
// total value of any metric, and which of them are lower bounds.
import { marksOf, take } from "./arrays.js";
import { Cache } from "./cache.js";

/** @typedef {import("./arrays.js").Numbers} Numbers */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {import("./profile.js").Drawing} Drawing */
/** @typedef {{own: Uint8Array, total: Uint8Array}} Bounds */

/** A metric of the rows themselves: how many graph nodes each represents. */
export const DEFINED = "defined";
/** Float operations as the op log alone has them. */
export const LOG_FLOAT_OPS = "float_ops of the op log";

/** Rows are hidden from an answer without leaving this tree, so totals still include them. */
export class Counted extends Cache {
  /** @param {Profile} profile @param {Drawing} drawing @param {Tree} tree @param {Int32Array} row the row of the drawing
   * @param {number | null} step @param {Int32Array | null} picked how often each node counts in its row; null: once
   * @param {number} rootDefined 1 if the root counts as a node */
  constructor(profile, drawing, tree, row, step, picked, rootDefined = 0) {
    super();
    this.profile = profile;
    this.drawing = drawing;
    this.tree = tree;
    this.row = row;
    this.step = step;
    this.picked = picked;
    this.rootDefined = rootDefined;
  }

  /** Some of these rows as another tree. @param {Tree} tree @param {Int32Array} rows @param {number} rootDefined */
  with(tree, rows, rootDefined = 0) {
    return new Counted(this.profile, this.drawing, tree, take(this.row, rows), this.step, this.picked, rootDefined);
  }

  /** The metric of each row alone. @param {string} metric @returns {Numbers} */
  own(metric) {
    return this.cached(`own ${metric}`, () => take(this._sums(metric), this.row));
  }

  /** The metric of each row and everything below it. @param {string} metric @returns {Numbers} */
  total(metric) {
    return this.cached(`total ${metric}`, () => this.tree.totals(this.own(metric)));
  }

  /** Which rows count a node whose number is a lower bound, themselves or below them; null: none can.
   * @param {string} metric @returns {Bounds | null} */
  lower(metric) {
    return this.cached(`lower ${metric}`, () => {
      const nodes = this.profile.lower(metric, this.step);
      if (!nodes) return null;
      const { owner, end } = this.drawing;
      const rows = new Uint8Array(end.length);
      for (let node = 0; node < nodes.length; node++) {
        if (nodes[node] && owner[node] >= 0 && this.picked?.[node] !== 0) rows[owner[node]] = 1;
      }
      const own = take(rows, this.row);
      return { own, total: this.tree.holds(own) };
    });
  }

  /** The sums of a metric by row of the drawing. @param {string} metric @returns {Numbers} */
  _sums(metric) {
    const { owner, end } = this.drawing;
    const { profile, picked, step } = this;
    if (metric === DEFINED && !picked) return new Float64Array(end.length).fill(1).fill(this.rootDefined, 0, 1);
    const values = metric === LOG_FLOAT_OPS ? profile.values("float_ops", step, false) : profile.values(metric, step);
    // parity Q4: a node that two regexes pick counts twice, but occurs once.
    const occurs = metric === DEFINED || metric === "occurrence";
    const times = picked && occurs ? picked.map((count) => Math.min(count, 1)) : picked;
    if (values instanceof Float64Array && areSafe(values, times)) {
      const sums = new Float64Array(end.length);
      for (let node = 0; node < owner.length; node++) {
        if (owner[node] >= 0) sums[owner[node]] += times ? values[node] * times[node] : values[node];
      }
      return sums;
    }
    const sums = new BigInt64Array(end.length); // storing wraps at 64 bits, as NumPy does
    for (let node = 0; node < owner.length; node++) {
      if (owner[node] >= 0) sums[owner[node]] += BigInt(values[node]) * BigInt(times ? times[node] : 1);
    }
    return areSafe(sums, null) ? new Float64Array(end.length).map((_, row) => Number(sums[row])) : sums;
  }
}

/** Whether all sums of these numbers are exact in doubles. @param {Numbers} numbers @param {Int32Array | null} times */
function areSafe(numbers, times) {
  let sum = 0;
  for (let at = 0; at < numbers.length; at++) sum += Math.abs(Number(numbers[at])) * (times ? times[at] : 1);
  return sum < 2 ** 53; // a sum beyond may be rounded to just that
}

/** Whether each number is at least so large. @param {Numbers} numbers @param {bigint} least @returns {Uint8Array} */
export function reaching(numbers, least) {
  if (numbers instanceof BigInt64Array) return marksOf(numbers.length, (row) => numbers[row] >= least);
  const bound = least > 2n ** 53n ? Infinity : Number(least); // doubles here are exact
  return marksOf(numbers.length, (row) => numbers[row] >= bound);
}
