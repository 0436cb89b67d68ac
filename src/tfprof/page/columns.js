// The container of a page's data: see src/tfprof/writers/page_columns.py, which writes it.

import { Blob8, Strings } from "./strings.js";

/** @typedef {Int32Array | Float64Array | BigInt64Array} Column */
/** @typedef {[string, string, number | bigint, number, number]} Entry */

const HEAD = 4;

/** Integers that JSON would round. @param {string} _ @param {any} value */
function exact(_, value) {
  return value !== null && typeof value === "object" && "$int" in value
    ? BigInt(value.$int) : value;
}

/** The columns of a container, each decoded when it is first asked for. */
export class Columns {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length));
    const { meta, columns } = JSON.parse(head, exact);
    /** @type {any} */
    this.meta = meta;
    /** @type {Map<string, Entry>} */
    this._entries = new Map(Object.entries(columns));
    this._bytes = bytes.subarray(HEAD + length);
    /** @type {Map<string, any>} */
    this._decoded = new Map();
  }

  /** @param {string} name @returns {boolean} */
  has(name) {
    return this._entries.has(name);
  }

  /** @template T @param {string} name @param {() => T} make @returns {T} */
  _once(name, make) {
    if (!this._decoded.has(name)) this._decoded.set(name, make());
    return this._decoded.get(name);
  }

  /** The stored numbers of a column. @param {string} name */
  _stored(name) {
    const entry = this._entries.get(name);
    if (entry === undefined) throw new Error(`there is no column ${name}`);
    const [kind, array, base, rows, at] = entry;
    const Stored = STORED[kind.slice(-2)];
    const end = at + rows * Stored.BYTES_PER_ELEMENT;
    // A copy, because a view must begin at a multiple of its width.
    const { buffer } = this._bytes.slice(at, end);
    return { rises: kind[0] === "+", array, base, numbers: new Stored(buffer) };
  }

  /** A column of integers: a BigInt64Array only where a number is beyond 2^53.
   * @param {string} name @returns {Column} */
  column(name) {
    return this._once(name, () => {
      const { rises, array, base, numbers } = this._stored(name);
      if (array === "b") return bigColumn(numbers, BigInt(base), rises);
      const column = new (array === "i" ? Int32Array : Float64Array)(numbers.length);
      let last = Number(base);
      for (let i = 0; i < column.length; i++) {
        const number = Number(numbers[i]);
        column[i] = rises ? (last += number) : last + number;
      }
      return column;
    });
  }

  /** A column whose numbers all fit 32 bits. @param {string} name @returns {Int32Array} */
  ints(name) {
    const column = this.column(name);
    if (!(column instanceof Int32Array)) throw new Error(`${name} has numbers beyond 32 bits`);
    return column;
  }

  /** A column of strings, which are stored without what they share with the row before; `more`
   * bytes of spare room follow the blob.
   * @param {string} name @param {number} [more] @returns {Strings} */
  strings(name, more = 0) {
    return this._once(`strings ${name}`, () => {
      const shared = this.ints(`${name}.shared`);
      const rest = this.ints(`${name}.rest`);
      const text = this._stored(`${name}.text`).numbers;
      const start = new Float64Array(rest.length);
      const size = new Int32Array(rest.length);
      let total = 0;
      for (let row = 0; row < rest.length; row++) total += size[row] = shared[row] + rest[row];
      const bytes = new Uint8Array(total + more);
      let at = 0;
      let from = 0;
      for (let row = 0; row < rest.length; row++) {
        const before = row > 0 ? start[row - 1] : 0;
        start[row] = at;
        for (let i = 0; i < shared[row]; i++) bytes[at++] = bytes[before + i];
        for (let i = 0; i < rest[row]; i++) bytes[at++] = Number(text[from++]);
      }
      return new Strings(new Blob8(bytes), start, size);
    });
  }
}

/** @type {Record<string, any>} */
const STORED = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i8: BigInt64Array,
  i1: Int8Array, i2: Int16Array, i4: Int32Array,
};

/** Sums wrap as those of 64 bits. @param {any} numbers @param {bigint} base @param {boolean} rises */
function bigColumn(numbers, base, rises) {
  const column = new BigInt64Array(numbers.length);
  let last = base;
  for (let i = 0; i < column.length; i++) {
    const number = last + BigInt(numbers[i]);
    column[i] = number;
    if (rises) last = column[i];
  }
  return column;
}

/** Unpack a container. @param {Uint8Array} bytes @returns {Promise<Columns>} */
export async function decode(bytes) {
  const packed = new Response(/** @type {any} */ (bytes)).body;
  if (packed === null) throw new Error("there is no data");
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  return new Columns(new Uint8Array(await new Response(unpacked).arrayBuffer()));
}
