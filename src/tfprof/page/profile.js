// A profile as the page holds it: the columns of model.py and the drawings of views/.
import { bisect, grouped, starts } from "./arrays.js";
import { Changes } from "./changes.js";
import { decode, plain } from "./columns.js";
import { Fleet } from "./fleet.js";
import { NodeNumbers } from "./numbers.js";
import { Strings, encodeText } from "./strings.js";
import { endsOf } from "./tree.js";

/** @typedef {import("./columns.js").Column} Column */
/** @typedef {{file: string, line: number | bigint, function: string, source: string, library: boolean}} Frame */
/** @typedef {(number | bigint)[] | null} Dims */
/** @typedef {{number: number, devices: Strings, node: Int32Array, device: Int32Array,
 *   start_us: Column, us: Column, counts_as: Int32Array, memory_node: Int32Array,
 *   memory_us: Column, requested: Column, peak: Column, residual: Column, output: Column,
 *   in_use: Column, allocation_node: Int32Array, allocation_us: Column,
 *   allocation_bytes: Column}} Step */
/** @typedef {{end: Int32Array, owner: Int32Array, label: Strings, filler: string, inNameOrder: boolean}} Drawing */

const ROOT = encodeText("_TFProfRoot");
const SLASH = 0x2f;

/** The length of the first parts of a name. @param {Uint8Array} name @param {number} parts */
function scopeLength(name, parts) {
  let at = -1;
  for (let i = 0; i < parts; i++) at = name.indexOf(SLASH, at + 1);
  return at;
}

/** Everything known about a model and its runs. */
export class Profile extends NodeNumbers {
  /** @param {Uint8Array} bytes what writers/page_data.py writes @returns {Promise<Profile>} */
  static async read(bytes) {
    return new Profile(await decode(bytes));
  }

  /** @param {import("./columns.js").Columns} columns */
  constructor(columns) {
    const name = columns.strings("name", ROOT);
    /** @type {any} */ const meta = columns.meta;
    super(columns, meta.steps.map((/** @type {number} */ number, /** @type {number} */ at) => ({
      number, devices: columns.strings(`step.${at}.devices`), ...Object.fromEntries(columns.under(`step.${at}.`)),
    })), name.length);
    this.meta = meta;
    this.fleet = meta.fleet ? new Fleet(columns, meta.fleet) : null; // whose graph this is
    this.changes = meta.changes ? new Changes(columns, meta.changes) : null; // since another profile
    const [op, device, stack] = ["op", "device", "stack"].map((column) => columns.ints(column));
    this.nodes = { count: name.length, name, op, device, stack };
    this.types = columns.strings("types", ROOT);
    this.unknown = columns.strings("unknown");
  }

  /** (node, type) of every type of every node, each pair once, by node and type. @returns {{node: Int32Array, type: Int32Array}} */
  get typePairs() {
    return this._columns.cached("type pairs", () => {
      const { op, device } = this.nodes;
      const [typed, as] = [this._columns.ints("typed.node"), this._columns.ints("typed.as")];
      const next = new Int32Array(op.length + 1); // where the next of a node's types goes
      for (let i = 0; i < typed.length; i++) next[typed[i] + 1]++;
      for (let i = 0; i < op.length; i++) next[i + 1] += next[i] + 2;
      const all = new Int32Array(2 * op.length + typed.length);
      for (let i = 0; i < op.length; i++) {
        const other = device[i] >= 0 ? device[i] : op[i]; // an unknown device: the op again
        all[next[i]++] = Math.min(op[i], other);
        all[next[i]++] = Math.max(op[i], other);
      }
      for (let i = 0; i < typed.length; i++) all[next[typed[i]]++] = as[i];
      const [node, type] = [new Int32Array(all.length), new Int32Array(all.length)];
      let count = 0;
      for (let i = 0, first = 0; i < op.length; first = next[i++]) {
        if (next[i] - first > 2) all.subarray(first, next[i]).sort();
        for (let at = first; at < next[i]; at++) {
          if (at > first && all[at] === all[at - 1]) continue;
          node[count] = i;
          type[count++] = all[at];
        }
      }
      return { node: node.subarray(0, count), type: type.subarray(0, count) };
    });
  }

  /** All types of a node, ascending. @param {number} node @returns {Int32Array} */
  typesOf(node) {
    const { node: of, type } = this.typePairs;
    const first = bisect(0, of.length, (pair) => of[pair] >= node);
    return type.subarray(first, bisect(first, of.length, (pair) => of[pair] > node));
  }

  /** A row of meta.views. @param {string} name @returns {any} */
  view(name) {
    return this.meta.views.find((/** @type {any} */ view) => view.name === name);
  }

  /** The inputs of node i are start[i] to start[i + 1]: nodes, or -1-k for the k-th unknown name.
   * The slot is the number of the source's output; -1 for a control input. */
  get edges() {
    return this._columns.cached("edges", () => {
      const start = starts(this._columns.ints("inputs"));
      const [stored, unknown] = [this._columns.ints("source"), this._columns.ints("is_unknown")];
      const source = stored.slice();
      for (let node = 0; node < this.nodes.count; node++) {
        for (let i = start[node]; i < start[node + 1]; i++) {
          if (!unknown[i]) source[i] = node - stored[i];
        }
      }
      return { start, source, slot: this._columns.ints("slot") };
    });
  }

  /** The nodes that take an output of a node, each once. @param {number} node */
  consumers(node) {
    const { start, source } = this.edges;
    const { first, order } = this._columns.cached("consumers", () => grouped(source, this.nodes.count));
    const taker = (/** @type {number} */ edge) => bisect(0, this.nodes.count, (to) => start[to + 1] > edge);
    return [...new Set(order.subarray(first[node], first[node + 1]).map(taker))];
  }

  /** @param {string} name of a column of counts */
  _starts(name) {
    return this._columns.cached(`starts ${name}`, () => starts(this._columns.ints(name)));
  }

  /** The shapes of a node's outputs; -1: an unknown dimension, null: unknown rank. @param {number} node @returns {Dims[]} */
  outputShapes(node) {
    const [first, dims] = [this._starts("outputs"), this._starts("rank")];
    const dim = this._columns.column("dim");
    return Array.from(this._columns.ints("output.shape").subarray(first[node], first[node + 1]),
      (at) => dims[at] < dims[at + 1] ? Array.from(dim.subarray(dims[at], dims[at + 1]), plain) : null);
  }

  /** The shapes of a node's data inputs, as `outputShapes`. @param {number} node */
  inputShapes(node) {
    const { start, source, slot } = this.edges;
    /** @type {Dims[]} */ const shapes = [];
    for (let i = start[node]; i < start[node + 1]; i++) {
      const known = source[i] >= 0 ? this.outputShapes(source[i]) : [];
      if (slot[i] >= 0) shapes.push(known[slot[i]] ?? null);
    }
    return shapes;
  }

  /** The type of a node's elements, "" where unknown. @param {number} node @returns {string} */
  dtype(node) {
    return this._columns.strings("dtypes").text(this._columns.ints("dtype")[node]);
  }

  /** How a node's float operations are counted, in lines; "" where that is unknown. @param {number} node @returns {string} */
  formula(node) {
    return this._columns.strings("formulas").text(this._columns.ints("formula")[node]);
  }

  /** The call stack that made a node, outermost frame first. @param {number} node @returns {Frame[]} */
  frames(node) {
    const [first, stack] = [this._starts("frames"), this.nodes.stack[node]];
    const length = stack < 0 ? 0 : first[stack + 1] - first[stack];
    return Array.from({ length }, (_, at) => this.frame(first[stack] + at));
  }

  /** One of all frames, such as that of a row of code view. @param {number} at @returns {Frame} */
  frame(at) {
    const [file, name, source] = ["file", "function", "source"].map((part) =>
      this._columns.strings("texts").text(this._columns.ints(`frame.${part}`)[at]));
    const line = plain(this._columns.column("frame.line")[at]);
    const library = this._columns.ints("frame.library")[at] === 1;
    return { file, line, function: name, source: source === "none" ? "" : source, library };
  }

  /** The tree of a view, and the row that each node is counted under; throws where meta.views
   * says what is missing. @param {string} view @returns {Drawing} */
  drawing(view) {
    return this._columns.cached(`drawing ${view}`, () => {
      const [depth, owner] = ["depth", "owner"].map((name) => this._columns.ints(`${view}.${name}`));
      const row = this.view(view);
      const hasLabels = this._columns.has(`${view}.label.text`);
      const label = hasLabels ? this._columns.strings(`${view}.label`) : this._labels(row, depth, owner);
      return { end: endsOf(depth), owner, label, filler: row.filler, inNameOrder: row.in_name_order };
    });
  }

  /** The root, then the type or the name of each row's node.
   * @param {any} view @param {Int32Array} depth @param {Int32Array} owner @returns {Strings} */
  _labels(view, depth, owner) {
    const [names, { op }] = [view.groups ? this.types : this.nodes.name, this.nodes];
    const name = new Int32Array(depth.length).fill(-1);
    owner.forEach((row, node) => {
      if (row >= 0) name[row] = view.groups ? op[node] : node;
    });
    const [start, size] = [new Float64Array(depth.length), new Int32Array(depth.length)];
    // A row that is no node is a scope of the next one that is.
    for (let row = depth.length - 1, next = -1; row > 0; row--) {
      const isNode = name[row] >= 0;
      if (isNode) next = name[row];
      start[row] = names.start[next];
      size[row] = isNode ? names.size[next] : scopeLength(names.bytes(next), depth[row] - 1);
    }
    start[0] = names.texts.bytes.length - ROOT.length;
    size[0] = ROOT.length;
    return new Strings(names.texts, start, size);
  }
}
