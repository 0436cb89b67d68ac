// A profile as the page holds it: columns, as in src/tfprof/model.py, decoded when they are needed.

import { Blob8, Strings, encodeText } from "./strings.js";
import { decode } from "./columns.js";

/** @typedef {import("./columns.js").Columns} Columns */
/** @typedef {import("./columns.js").Column} Column */
/** @typedef {Float64Array | BigInt64Array} Values */
/** @typedef {{file: string, line: number, function: string, source: string}} Frame */
/** @typedef {{number: number, devices: Strings, node: Int32Array, device: Int32Array,
 *   start_us: Column, us: Column, counts_as: Int32Array, memory_node: Int32Array,
 *   memory_us: Column, requested: Column, peak: Column, residual: Column, output: Column,
 *   in_use: Column}} Step */
/** @typedef {{end: Int32Array, owner: Int32Array, label: Strings, filler: string,
 *   inNameOrder: boolean, accounting: null, frame: Int32Array | null,
 *   gradient: Int32Array | null}} Drawing */

const ROOT = encodeText("_TFProfRoot");
const SLASH = 0x2f;
const [ACCELERATOR, CPU] = [1, 2]; // what an execution counts as, by its device
/** @type {Record<string, string>} */
const MEMORY = {
  bytes: "requested", peak_bytes: "peak", residual_bytes: "residual", output_bytes: "output",
};
/** @type {Record<string, number[]>} */
const COUNTED = {
  micros: [ACCELERATOR, CPU], accelerator_micros: [ACCELERATOR], cpu_micros: [CPU],
  occurrence: [CPU],
};
const SAFE_SUM = 2 ** 62;
const OF_STEP = ["node", "device", "start_us", "us", "counts_as", "memory_node", "memory_us",
  "requested", "peak", "residual", "output", "in_use"];

/** Where the rows of each owner begin, given how many each has; one more entry than owners.
 * @param {Int32Array} counts */
function starts(counts) {
  const start = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) start[i + 1] = start[i] + counts[i];
  return start;
}

/** Where each subtree ends, from the depths of rows in drawing order. @param {Int32Array} depth */
function endsOf(depth) {
  const end = new Int32Array(depth.length);
  /** @type {number[]} */
  const open = [];
  for (let row = 0; row < depth.length; row++) {
    while (open.length >= depth[row]) end[/** @type {number} */ (open.pop())] = row;
    open.push(row);
  }
  for (const row of open) end[row] = depth.length;
  return end;
}

/** The largest and the smallest number of a column, and the sum of all as a double.
 * @param {Column} column */
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

/** Everything known about a model and its runs. */
export class Profile {
  /** @param {Uint8Array} bytes what writers/page_data.py writes @returns {Promise<Profile>} */
  static async of(bytes) {
    return new Profile(await decode(bytes));
  }

  /** @param {Columns} columns */
  constructor(columns) {
    this._columns = columns;
    this.meta = columns.meta;
    /** @type {Map<string, any>} */
    this._cache = new Map();
    const name = columns.strings("name", ROOT.length);
    name.blob.bytes.set(ROOT, name.blob.bytes.length - ROOT.length);
    this.nodes = {
      count: name.length, name, op: columns.ints("op"), device: columns.ints("device"),
      stack: columns.ints("stack"),
    };
    this.types = columns.strings("types");
    this.unknown = columns.strings("unknown");
    /** @type {Step[]} */
    this.steps = this.meta.steps.map((/** @type {number} */ number, /** @type {number} */ at) =>
      this._step(number, `step.${at}.`));
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  _once(key, make) {
    if (!this._cache.has(key)) this._cache.set(key, make());
    return this._cache.get(key);
  }

  /** @param {number} number @param {string} prefix @returns {Step} */
  _step(number, prefix) {
    /** @type {any} */
    const step = { number, devices: this._columns.strings(`${prefix}devices`) };
    for (const name of OF_STEP) step[name] = this._columns.column(prefix + name);
    return step;
  }

  /** (node, type) of every type of every node, each pair once, by node and type.
   * @returns {{node: Int32Array, type: Int32Array}} */
  get typePairs() {
    return this._once("type pairs", () => {
      const { op, device, count } = this.nodes;
      const [of, as] = [this._columns.ints("typed.node"), this._columns.ints("typed.as")];
      /** @type {Map<number, number[]>} */
      const others = new Map();
      of.forEach((node, i) => others.set(node, [...(others.get(node) ?? []), as[i]]));
      /** @type {number[]} */
      const [nodes, types] = [[], []];
      for (let node = 0; node < count; node++) {
        const own = new Set([op[node], ...(device[node] >= 0 ? [device[node]] : []),
          ...(others.get(node) ?? [])]);
        for (const type of [...own].sort((a, b) => a - b)) {
          nodes.push(node);
          types.push(type);
        }
      }
      return { node: Int32Array.from(nodes), type: Int32Array.from(types) };
    });
  }

  /** The inputs of node i are start[i] to start[i + 1]: nodes, or -1-k for the k-th unknown name.
   * The slot is the number of the source's output; -1 for a control input. */
  get edges() {
    return this._once("edges", () => {
      const start = starts(this._columns.ints("inputs"));
      const [stored, unknown] = [this._columns.ints("source"), this._columns.ints("is_unknown")];
      const source = new Int32Array(stored.length);
      for (let node = 0; node < this.nodes.count; node++) {
        for (let i = start[node]; i < start[node + 1]; i++) {
          source[i] = unknown[i] ? stored[i] : node - stored[i];
        }
      }
      return { start, source, slot: this._columns.ints("slot") };
    });
  }

  /** The nodes that take an output of a node, each once. @param {number} node */
  consumers(node) {
    const { start, source } = this.edges;
    const { first, consumer } = this._once("consumers", () => {
      const counts = new Int32Array(this.nodes.count);
      for (const from of source) if (from >= 0) counts[from]++;
      const begin = starts(counts);
      const at = begin.slice();
      const by = new Int32Array(begin[begin.length - 1]);
      for (let to = 0; to < this.nodes.count; to++) {
        for (let i = start[to]; i < start[to + 1]; i++) {
          if (source[i] >= 0) by[at[source[i]]++] = to;
        }
      }
      return { first: begin, consumer: by };
    });
    return [...new Set(consumer.subarray(first[node], first[node + 1]))];
  }

  /** The shapes of a node's outputs; -1: an unknown dimension, null: unknown rank.
   * @param {number} node @returns {(number[] | null)[]} */
  outputShapes(node) {
    const { first, dims } = this._once("shapes", () => ({
      first: starts(this._columns.ints("outputs")), dims: starts(this._columns.ints("rank")),
    }));
    const shape = this._columns.ints("output.shape");
    const dim = this._columns.column("dim");
    return Array.from({ length: first[node + 1] - first[node] }, (_, slot) => {
      const at = shape[first[node] + slot];
      const own = Array.from(dim.subarray(dims[at], dims[at + 1]), Number);
      return own.length > 0 ? own : null;
    });
  }

  /** The shapes of a node's data inputs, as `outputShapes`. @param {number} node */
  inputShapes(node) {
    const { start, source, slot } = this.edges;
    /** @type {(number[] | null)[]} */
    const shapes = [];
    for (let i = start[node]; i < start[node + 1]; i++) {
      if (slot[i] >= 0) shapes.push((source[i] >= 0 && this.outputShapes(source[i])[slot[i]]) || null);
    }
    return shapes;
  }

  /** The type of a node's elements, "" where unknown. @param {number} node @returns {string} */
  dtype(node) {
    return this._columns.strings("dtypes").text(this._columns.ints("dtype")[node]);
  }

  /** How a node's float operations are counted, in lines; "" where that is unknown.
   * @param {number} node @returns {string} */
  formula(node) {
    return this._columns.strings("formulas").text(this._columns.ints("formula")[node]);
  }

  /** The call stack that made a node, outermost frame first. @param {number} node */
  frames(node) {
    const stack = this.nodes.stack[node];
    if (stack < 0) return [];
    const first = this._once("stacks", () => starts(this._columns.ints("frames")));
    return Array.from({ length: first[stack + 1] - first[stack] },
      (_, at) => this.frame(first[stack] + at));
  }

  /** A frame of all stacks, such as that of a row of code view.
   * @param {number} at @returns {Frame} */
  frame(at) {
    const texts = this._columns.strings("texts");
    const text = (/** @type {string} */ name) => texts.text(this._columns.ints(`frame.${name}`)[at]);
    const source = text("source");
    return {
      file: text("file"), line: Number(this._columns.column("frame.line")[at]),
      function: text("function"), source: source === "none" ? "" : source,
    };
  }

  // --- numbers ---

  /** A metric of every node in one step, or averaged over the steps that have the node; float
   * operations by all rules, or with `rules` false as the op log has them.
   * @param {string} metric @param {number | null} step @param {boolean} [rules]
   * @returns {Values} */
  values(metric, step, rules = true) {
    return this._once(`values ${metric} ${step} ${rules}`, () => {
      if (metric === "params") return this._asValues(this._columns.column("params"));
      if (metric === "float_ops") return this._floatOps(step, rules);
      return this._recorded(metric, step);
    });
  }

  /** @param {Column} column @returns {Values} */
  _asValues(column) {
    return column instanceof Int32Array ? Float64Array.from(column) : column;
  }

  /** The columns that a step adds up: rows of nodes, and amounts; null: one each.
   * @param {Step} step @param {string} metric */
  _amounts(step, metric) {
    if (metric in MEMORY) {
      return { node: step.memory_node, amount: /** @type {any} */ (step)[MEMORY[metric]] };
    }
    return { node: step.node, amount: metric === "occurrence" ? null : step.us };
  }

  /** @param {string} metric @param {number | null} number @returns {Values} */
  _recorded(metric, number) {
    const steps = this.steps.filter((step) => number === null || step.number === number);
    const kinds = metric in MEMORY ? null : COUNTED[metric];
    let [least, sum] = [0, 0];
    for (const step of steps) {
      const { amount } = this._amounts(step, metric);
      const own = amount === null ? { least: 0, sum: step.node.length } : extent(amount);
      least = Math.min(least, own.least);
      sum += own.sum;
    }
    const isSmall = least >= 0 && sum <= Number.MAX_SAFE_INTEGER;
    const total = isSmall ? new Float64Array(this.nodes.count) : new BigInt64Array(this.nodes.count);
    for (const step of steps) {
      const { node, amount } = this._amounts(step, metric);
      for (let i = 0; i < node.length; i++) {
        if (kinds !== null && !kinds.includes(step.counts_as[i])) continue;
        if (total instanceof Float64Array) total[node[i]] += amount === null ? 1 : Number(amount[i]);
        else total[node[i]] += amount === null ? 1n : BigInt(amount[i]);
      }
    }
    return number === null ? this._averaged(total) : total;
  }

  /** Divided by the steps that have the node; unsigned, as in Python. @param {Values} total */
  _averaged(total) {
    const records = this._records;
    for (let i = 0; i < total.length; i++) {
      if (records[i] < 2) continue;
      if (total instanceof Float64Array) total[i] = Math.floor(total[i] / records[i]);
      else total[i] = BigInt.asUintN(64, total[i]) / BigInt(records[i]);
    }
    return total;
  }

  /** In how many steps each node has a record. @returns {Int32Array} */
  get _records() {
    return this._once("records", () => {
      const count = new Int32Array(this.nodes.count);
      const last = new Int32Array(this.nodes.count);
      this.steps.forEach((step, at) => {
        for (const node of step.node) {
          if (last[node] !== at + 1) count[node]++;
          last[node] = at + 1;
        }
      });
      return count;
    });
  }

  /** The name of the columns of a step: its place where it has its own, else "all".
   * @param {string} column @param {number | null} step */
  _nameFor(column, step) {
    const at = this.steps.findIndex((other) => other.number === step);
    return `${column}.${at >= 0 && this._columns.has(`${column}.${at}`) ? at : "all"}`;
  }

  /** How often each node runs. Nodes without a record run as often as their region, if that is
   * known, else `times`.
   * @param {number | null} step @param {Column} times none: once @returns {Values} */
  _runs(step, times) {
    const runs = this.values("occurrence", step);
    const records = this._records;
    const result = times instanceof BigInt64Array || runs instanceof BigInt64Array
      ? new BigInt64Array(runs.length) : new Float64Array(runs.length);
    const set = (/** @type {number} */ i, /** @type {number | bigint} */ value) => {
      if (result instanceof Float64Array) result[i] = Number(value);
      else result[i] = BigInt(value);
    };
    const has = this._columns.has("region");
    const region = has ? this._columns.ints("region") : null;
    const often = has ? this._columns.column(this._nameFor("region.runs", step)) : [];
    for (let i = 0; i < runs.length; i++) {
      const known = region !== null && region[i] >= 0 && often[region[i]] >= 0;
      if (records[i] > 0) set(i, runs[i]);
      else if (known) set(i, often[region[i]]);
      else set(i, times.length > 0 ? times[i] : 1);
    }
    return result;
  }

  /** @param {number | null} step @param {boolean} rules @returns {Values} */
  _floatOps(step, rules) {
    const column = (/** @type {string} */ name) =>
      this._columns.column(rules ? this._nameFor(name, step) : `${name}.log`);
    const once = column("float_ops");
    const runs = this._runs(step, column("times"));
    const [one, many] = [extent(once), extent(runs)];
    const largest = Math.max(one.most, -one.least) * Math.max(many.most, -many.least);
    if (largest <= Number.MAX_SAFE_INTEGER) {
      return Float64Array.from(once, (number, i) => Number(number) * Number(runs[i]));
    }
    const result = new BigInt64Array(once.length);
    for (let i = 0; i < result.length; i++) result[i] = BigInt(once[i]) * BigInt(runs[i]);
    return result;
  }

  /** Which nodes lack a number of their own, so that what counts them is a lower bound; null:
   * the metric has none such.
   * @param {string} metric @param {number | null} [step] @returns {Uint8Array | null} */
  lower(metric, step = null) {
    if (metric === "params") {
      return this._once("lower params", () => Uint8Array.from(this._columns.ints("params.lower")));
    }
    if (metric !== "float_ops") return null;
    return this._once(`lower ${step}`, () => {
      const gap = this._columns.ints(this._nameFor("gap", step));
      const once = this._columns.ints(this._nameFor("once", step));
      const own = this._columns.column(this._nameFor("float_ops", step));
      const runs = this._runs(step, new Int32Array(0));
      return Uint8Array.from(gap, (isGap, i) =>
        (isGap && Number(runs[i]) !== 0) || (once[i] && Number(own[i]) !== 0) ? 1 : 0);
    });
  }

  /** Whether a sum of a metric that counts each node `times` times can be negative.
   * @param {string} metric @param {number} [times] @param {boolean} [rules] */
  mayBeNegative(metric, times = 1, rules = true) {
    const largest = this._once(`largest ${metric} ${rules}`, () => this._largestSum(metric, rules));
    return largest * times > SAFE_SUM;
  }

  /** @param {string} metric @param {boolean} rules */
  _largestSum(metric, rules) {
    const which = rules ? "all" : "log";
    const columns = metric === "params" ? [this._columns.column("params")]
      : metric === "float_ops" ? [this._columns.column(`float_ops.${which}`)]
        : this.steps.map((step) => this._amounts(step, metric).amount ?? new Int32Array(0));
    const extents = columns.map(extent);
    if (extents.some(({ least }) => least < 0)) return Infinity;
    const sum = extents.reduce((total, own) => total + own.sum, 0);
    if (metric !== "float_ops") return sum;
    const executions = this.steps.reduce((total, step) => total + step.node.length, 1);
    return sum * Math.max(executions, extent(this._columns.column(`times.${which}`)).most, 1);
  }

  // --- views ---

  /** The tree of a view, and the row that each node is counted under; throws where meta.views
   * says what is missing. @param {string} view @returns {Drawing} */
  drawing(view) {
    return this._once(`drawing ${view}`, () => {
      const owner = this._columns.ints(`${view}.owner`);
      const depth = this._columns.ints(`${view}.depth`);
      const row = this.meta.views.find((/** @type {any} */ other) => other.name === view);
      const isCode = this._columns.has(`${view}.frame`);
      return {
        end: endsOf(depth), owner, label: this._labels(view, depth, owner),
        filler: row.filler, inNameOrder: row.in_name_order,
        accounting: null,
        frame: isCode ? this._columns.ints("code.frame") : null,
        gradient: isCode ? this._columns.ints("code.gradient") : null,
      };
    });
  }

  /** The label of each row. @param {string} view @param {Int32Array} depth
   * @param {Int32Array} owner */
  _labels(view, depth, owner) {
    if (view === "code") return this._columns.strings("code.label");
    const { name, op } = this.nodes;
    const node = new Int32Array(depth.length).fill(-1);
    for (let i = 0; i < owner.length; i++) if (owner[i] >= 0) node[owner[i]] = i;
    const start = new Float64Array(depth.length);
    const size = new Int32Array(depth.length);
    if (view === "op") {
      const bytes = [ROOT];
      for (let row = 1; row < depth.length; row++) bytes.push(this.types.bytes(op[node[row]]));
      return stringsOf(bytes);
    }
    start[0] = name.blob.bytes.length - ROOT.length;
    size[0] = ROOT.length;
    // A row that is no node is a scope of the next one that is.
    for (let row = depth.length - 1, next = -1; row > 0; row--) {
      if (node[row] >= 0) next = node[row];
      start[row] = name.start[next];
      size[row] = node[row] >= 0 ? name.size[next] : scopeLength(name.bytes(next), depth[row] - 1);
    }
    return new Strings(name.blob, start, size);
  }
}

/** The length of the first parts of a name. @param {Uint8Array} name @param {number} parts */
function scopeLength(name, parts) {
  let at = -1;
  for (let i = 0; i < parts; i++) at = name.indexOf(SLASH, at + 1);
  return at;
}

/** @param {Uint8Array[]} rows */
function stringsOf(rows) {
  const size = Int32Array.from(rows, (row) => row.length);
  const start = starts(size);
  const bytes = new Uint8Array(start[rows.length]);
  rows.forEach((row, i) => bytes.set(row, start[i]));
  return new Strings(new Blob8(bytes), start.subarray(0, rows.length), size);
}
