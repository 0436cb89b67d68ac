// The twin of query/counted.py: the rows that totals are taken over, with the own and total value of
// any metric, and which of them are lower bounds.
import { marksOf, take, takeRows } from "./tree.js";

/** @typedef {import("./tree.js").Numbers} Numbers */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {import("./profile.js").Drawing} Drawing */
/** @typedef {{own: Uint8Array, total: Uint8Array}} Bounds */

/** A metric of the rows themselves: how many graph nodes each represents. */
export const DEFINED = "defined";
/** Float operations as the op log alone has them. */
export const LOG_FLOAT_OPS = "float_ops of the op log";
const LARGEST = 2 ** 53;

/** Rows are hidden from an answer without leaving this tree, so totals still include them. */
export class Counted {
  /**
   * @param {Profile} profile
   * @param {Drawing} drawing
   * @param {Tree} tree
   * @param {Int32Array} row the row of the drawing
   * @param {Uint8Array} accountedRow per row of the drawing: whether the row itself is accounted
   * @param {number | null} step
   * @param {Int32Array | null} picked how often each node counts in its row; null: once
   * @param {number} rootDefined 1 if the root counts as a node
   */
  constructor(profile, drawing, tree, row, accountedRow, step, picked, rootDefined = 0) {
    this.profile = profile;
    this.drawing = drawing;
    this.tree = tree;
    this.row = row;
    this.accountedRow = accountedRow;
    this.step = step;
    this.picked = picked;
    this.rootDefined = rootDefined;
    /** @type {Map<string, any>} */
    this.cache = new Map();
  }

  /** Each row and the rows of these alone, with totals over them alone. @param {Uint8Array} kept @param {Int32Array} rows @param {number} rootDefined */
  keepRows(kept, rows, rootDefined = this.rootDefined) {
    const { profile, drawing, accountedRow, step, picked } = this;
    const row = takeRows(this.row, rows);
    return new Counted(profile, drawing, this.tree.keepRows(kept), row, accountedRow, step, picked, rootDefined);
  }

  /** The rows in another order; only for a chain, whose totals run along it. @param {Int32Array} order */
  reordered(order) {
    const { profile, drawing, tree, accountedRow, step, picked } = this;
    return new Counted(profile, drawing, tree, takeRows(this.row, order), accountedRow, step, picked);
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  cached(key, make) {
    if (!this.cache.has(key)) this.cache.set(key, make());
    return this.cache.get(key);
  }

  /** The metric of each row alone. @param {string} metric @returns {Numbers} */
  own(metric) {
    return this.cached(`own ${metric}`, () => take(this.sums(metric), this.row));
  }

  /** The metric of each row and everything below it. @param {string} metric @returns {Numbers} */
  total(metric) {
    return this.cached(`total ${metric}`, () => this.tree.totals(this.own(metric)));
  }

  /** Which rows count a node whose number of the metric is a lower bound, themselves or below them; null: none can. @param {string} metric @returns {Bounds | null} */
  lower(metric) {
    return this.cached(`lower ${metric}`, () => {
      /** @type {Uint8Array | null} */
      const nodes = this.profile.lower(metric, this.step);
      if (!nodes) return null;
      const { owner } = this.drawing;
      const marks = new Uint8Array(this.drawing.end.length);
      nodes.forEach((is, node) => {
        if (is && owner[node] >= 0 && this.picked?.[node] !== 0) marks[owner[node]] = 1;
      });
      const own = marksOf(this.row.length, (row) => marks[this.row[row]]);
      return { own, total: this.tree.holds(own) };
    });
  }

  /** The sums of a metric by row of the drawing. @param {string} metric @returns {Numbers} */
  sums(metric) {
    const { owner, end } = this.drawing;
    const { picked } = this;
    if (metric === DEFINED && !picked) {
      const ones = new Float64Array(end.length).fill(1);
      ones[0] = this.rootDefined;
      return ones;
    }
    const once = metric === DEFINED || metric === "occurrence"; // parity Q4
    /** @type {Numbers} */
    const values = metric === DEFINED ? new Float64Array(owner.length).fill(1)
      : metric === LOG_FLOAT_OPS ? this.profile.values("float_ops", this.step, false)
        : this.profile.values(metric, this.step);
    const times = once && picked ? picked.map((count) => Math.min(count, 1)) : picked;
    if (values instanceof Float64Array && isSafe(values, times)) {
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
    return sums;
  }
}

/** Whether all sums of these values are exact. @param {Float64Array} values @param {Int32Array | null} times */
function isSafe(values, times) {
  let sum = 0;
  for (let node = 0; node < values.length; node++) sum += Math.abs(values[node]) * (times ? times[node] : 1);
  return sum <= LARGEST;
}
