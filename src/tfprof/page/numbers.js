// The numbers of nodes, as `Profile.values` in model.py has them, wrap-around included: doubles
// while all are exact, else BigInt64Array.
import { marksOf } from "./arrays.js";

/** @typedef {import("./columns.js").Column} Column */
/** @typedef {import("./profile.js").Step} Step */
/** @typedef {import("./arrays.js").Numbers} Numbers */

export const UNTIMED = 0; // what an execution without a time counts as; others, by their device
const [ACCELERATOR, CPU, ACCELERATOR_RUN] = [1, 2, 3];
/** @type {Record<string, "requested" | "peak" | "residual" | "output">} */ const MEMORY = {
  bytes: "requested", peak_bytes: "peak", residual_bytes: "residual", output_bytes: "output",
};
/** @type {Record<string, number[]>} */ const COUNTED = {
  micros: [ACCELERATOR, CPU, ACCELERATOR_RUN], accelerator_micros: [ACCELERATOR, ACCELERATOR_RUN],
  cpu_micros: [CPU], occurrence: [CPU, ACCELERATOR_RUN],
};
const SAFE_SUM = 2 ** 62;

/** @param {Column} column */
function extent(column) {
  let [least, most, sum] = [0, 0, 0];
  for (let i = 0; i < column.length; i++) {
    const value = Number(column[i]);
    if (value < least) least = value;
    if (value > most) most = value;
    sum += value;
  }
  return { least, most, sum };
}

/** An array for exact numbers, and what converts a number for it.
 * @param {boolean} isSmall @param {number} length @returns {[any, (value: any) => any]} */
function exactArray(isSmall, length) {
  return isSmall ? [new Float64Array(length), Number] : [new BigInt64Array(length), BigInt];
}

/** What a profile says in numbers of its nodes. */
export class NodeNumbers {
  /** @param {import("./columns.js").Columns} columns @param {Step[]} steps @param {number} count of nodes */
  constructor(columns, steps, count) {
    this._columns = columns;
    this.steps = steps;
    this._count = count;
  }

  /** A metric of every node in one step, or averaged over the steps that have the node; float
   * operations by all rules, or with `rules` false as the op log has them. "defined": how many
   * nodes it stands for, as nodes of small scopes may be folded.
   * @param {string} metric @param {number | null} step @param {boolean} [rules] @returns {Numbers} */
  values(metric, step, rules = true) {
    return this._columns.cached(`values ${metric} ${step} ${rules}`, () => {
      const isKnown = metric === "params" || this._columns.has(`values.${metric}.all`);
      if (!isKnown && metric === "defined") return new Float64Array(this._count).fill(1);
      if (!isKnown) return metric === "float_ops" ? this._floatOps(step, rules) : this._recorded(metric, step);
      const known = metric === "params" ? this._columns.column("params") : this._of(`values.${metric}`, step);
      return known instanceof Int32Array ? new Float64Array(known) : known;
    });
  }

  /** The rows of nodes that a step adds to, and the amounts; null: one each.
   * @param {Step} step @param {string} metric @returns {[Int32Array, Column | null]} */
  _amounts(step, metric) {
    if (metric in MEMORY) return [step.memory_node, step[MEMORY[metric]]];
    return [step.node, metric === "occurrence" ? null : step.us];
  }

  /** @param {string} metric @param {number | null} number @returns {Numbers} */
  _recorded(metric, number) {
    const steps = this.steps.filter((step) => number === null || step.number === number);
    const ends = steps.map((step) => extent(this._amounts(step, metric)[1] ?? step.node));
    const isSmall = ends.every(({ least }) => least >= 0) && ends.reduce((sum, end) => sum + end.sum, 0) <= Number.MAX_SAFE_INTEGER;
    const [total, exact] = exactArray(isSmall || metric === "occurrence", this._count);
    const counts = [UNTIMED, ACCELERATOR, CPU, ACCELERATOR_RUN].map((kind) => COUNTED[metric]?.includes(kind));
    for (const step of steps) {
      const [node, amount] = this._amounts(step, metric);
      for (let i = 0; i < node.length; i++) {
        if (!(metric in MEMORY || counts[step.counts_as[i]])) continue;
        total[node[i]] += amount === null ? 1 : exact(amount[i]);
      }
    }
    return number === null ? this._averaged(total) : total;
  }

  /** Divided by the number of steps that have the node; unsigned, as in Python. @param {Numbers} total */
  _averaged(total) {
    const records = this.records;
    for (let i = 0; i < total.length; i++) {
      if (records[i] < 2) continue;
      if (total instanceof Float64Array) total[i] = Math.floor(total[i] / records[i]);
      else total[i] = BigInt.asUintN(64, total[i]) / BigInt(records[i]);
    }
    return total;
  }

  /** In how many steps each node has a record. @returns {Int32Array} */
  get records() {
    return this._columns.cached("records", () => {
      const [count, last] = [new Int32Array(this._count), new Int32Array(this._count)];
      this.steps.forEach((step, at) => {
        for (const node of step.node) {
          if (last[node] !== at + 1) count[node]++;
          last[node] = at + 1;
        }
      });
      return count;
    });
  }

  /** A column of a step: its own if it has one, else that of all steps. @param {string} name @param {number | null} step */
  _of(name, step) {
    const own = `${name}.${this.steps.findIndex((other) => other.number === step)}`;
    return this._columns.column(this._columns.has(own) ? own : `${name}.all`);
  }

  /** How often each node runs; without a record as often as its region, if that is known, else
   * `times`. @param {number | null} step @param {Column} times empty: once @returns {Numbers} */
  _runs(step, times) {
    const [runs, records] = [this.values("occurrence", step), this.records];
    const [result, exact] = exactArray(!(times instanceof BigInt64Array), this._count);
    const hasRegions = this._columns.has("region");
    const region = hasRegions ? this._columns.ints("region") : new Int32Array(this._count).fill(-1);
    const often = hasRegions ? this._of("region.runs", step) : new Int32Array(0);
    for (let i = 0; i < this._count; i++) {
      if (records[i] > 0) result[i] = exact(runs[i]);
      else if (region[i] >= 0 && often[region[i]] >= 0) result[i] = exact(often[region[i]]);
      else result[i] = exact(times.length > 0 ? times[i] : 1);
    }
    return result;
  }

  /** @param {number | null} step @param {boolean} rules @returns {Numbers} */
  _floatOps(step, rules) {
    const [once, times] = ["float_ops", "times"].map((name) => rules ? this._of(name, step) : this._columns.column(`${name}.log`));
    const runs = this._runs(step, times);
    const [one, many] = [extent(once), extent(runs)];
    const largest = Math.max(one.most, -one.least) * Math.max(many.most, -many.least);
    const [result, exact] = exactArray(largest <= Number.MAX_SAFE_INTEGER, this._count);
    for (let i = 0; i < this._count; i++) result[i] = exact(once[i]) * exact(runs[i]);
    return result;
  }

  /** Which nodes lack a number, so that what counts them is a lower bound; null: none can.
   * @param {string} metric @param {number | null} [step] @returns {Uint8Array | null} */
  lower(metric, step = null) {
    if (metric === "params") return new Uint8Array(this._columns.ints("params.lower"));
    if (metric !== "float_ops") return null;
    return this._columns.cached(`lower ${step}`, () => {
      const known = this._columns.has("lower.all") ? this._of("lower", step) : null;
      if (known) return marksOf(this._count, (i) => known[i]);
      const [gap, once, own] = ["gap", "once", "float_ops"].map((name) => this._of(name, step));
      const runs = this._runs(step, new Int32Array(0));
      return marksOf(this._count, (i) => (gap[i] && Number(runs[i])) || (once[i] && Number(own[i])));
    });
  }

  /** No sum over nodes is larger; infinite if some node is negative. @param {string} metric @param {boolean} rules @returns {number} */
  _largestSum(metric, rules) {
    const which = rules ? "all" : "log";
    const columns = metric === "params" ? [this._columns.column("params")]
      : metric === "float_ops" ? [this._columns.column(`float_ops.${which}`)]
        : this.steps.map((step) => this._amounts(step, metric)[1] ?? new Int32Array(0));
    const ends = columns.map(extent);
    if (ends.some(({ least }) => least < 0)) return Infinity;
    const sum = ends.reduce((total, end) => total + end.sum, 0);
    if (metric !== "float_ops") return sum;
    const executions = this.steps.reduce((total, step) => total + step.node.length, 1);
    return sum * Math.max(executions, extent(this._columns.column(`times.${which}`)).most, 1);
  }

  /** Whether a sum of a metric that counts each node `times` times can be negative.
   * @param {string} metric @param {number} [times] @param {boolean} [rules] @returns {boolean} */
  mayBeNegative(metric, times = 1, rules = true) {
    const key = `largest ${metric} ${rules}`;
    return this._columns.cached(key, () => this._largestSum(metric, rules)) * times > SAFE_SUM;
  }
}
