// The container of a page's data: writers/page_columns.py writes it and describes it.
import { Cache } from "./cache.js";
import { Strings, Texts } from "./strings.js";

/** @typedef {Int32Array | Float64Array | BigInt64Array} Column */
/** @typedef {[kind: string, array: string, base: number | bigint, rows: number, at: number]} Entry */

const HEAD = 4;
/** @type {Record<string, any>} */ const STORED = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i8: BigInt64Array,
  i1: Int8Array, i2: Int16Array, i4: Int32Array,
};
/** @type {Record<string, any>} */ const ARRAYS = { i: Int32Array, f: Float64Array, b: BigInt64Array };

/** An integer of a column: a number where that is exact. @param {number | bigint} value @returns {number | bigint} */
export function plain(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The columns of a container, each decoded when it is first asked for. */
export class Columns extends Cache {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    super();
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length));
    const { meta, columns } = JSON.parse(head, (_, value) => (/^-?\d+$/.test(value?.$int) ? BigInt(value.$int) : value));
    /** @type {any} */ this.meta = meta;
    /** @type {Map<string, Entry>} */ this._entries = new Map(Object.entries(columns));
    this._bytes = bytes.subarray(HEAD + length);
  }

  /** @param {string} name @returns {boolean} */
  has(name) {
    return this._entries.has(name);
  }

  /** The columns of numbers whose names begin so, by the rest of the name. @param {string} start */
  under(start) {
    const names = [...this._entries.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
    return names.filter((name) => !name.includes(".")).map((name) => [name, this.column(start + name)]);
  }

  /** What is stored of a column. @param {string} name */
  _stored(name) {
    const [kind, array, base, rows, at] = this._entries.get(name) ?? missing(name);
    const Stored = STORED[kind.slice(-2)];
    // A copy, because a view must begin at a multiple of its width.
    const copy = this._bytes.slice(at, at + rows * Stored.BYTES_PER_ELEMENT);
    return { rises: kind[0] === "+", array, base, numbers: new Stored(copy.buffer) };
  }

  /** A column of integers: a BigInt64Array only where a number is beyond 2^53. @param {string} name @returns {Column} */
  column(name) {
    return this.cached(name, () => {
      const { rises, array, base, numbers } = this._stored(name);
      if (array !== "b" && !(numbers instanceof BigInt64Array)) return shifted(new ARRAYS[array](numbers), Number(base), rises);
      const number = array === "b" ? BigInt : Number;
      const column = new ARRAYS[array](numbers.length);
      let last = /** @type {any} */ (number(base));
      for (let i = 0; i < column.length; i++) {
        column[i] = last + number(numbers[i]); // beyond 64 bits, it wraps as in Python
        if (rises) last = column[i];
      }
      return column;
    });
  }

  /** A column whose numbers all fit 32 bits. @param {string} name @returns {Int32Array} */
  ints(name) {
    const column = this.column(name);
    return column instanceof Int32Array ? column : missing(name);
  }

  /** A column of strings; `end` follows their bytes. @param {string} name @param {ArrayLike<number>} [end] @returns {Strings} */
  strings(name, end = []) {
    return this.cached(`strings ${name}`, () => {
      const [shared, rest] = [this.ints(`${name}.shared`), this.ints(`${name}.rest`)];
      const text = this._stored(`${name}.text`).numbers;
      const start = new Float64Array(rest.length);
      const size = shared.map((length, row) => length + rest[row]);
      const bytes = new Uint8Array(size.reduce((sum, length) => sum + length, end.length));
      let [at, from] = [0, 0];
      for (let row = 0; row < rest.length; row++) {
        let before = row > 0 ? start[row - 1] : 0;
        start[row] = at;
        for (let left = shared[row]; left > 0; left--) bytes[at++] = bytes[before++];
        for (let left = rest[row]; left > 0; left--) bytes[at++] = text[from++];
      }
      bytes.set(end, at);
      return new Strings(new Texts(bytes), start, size);
    });
  }
}

/** What a column of numbers stands for, in its place; a wider integer has wrapped, and wraps back.
 * @param {Int32Array | Float64Array} column @param {number} base @param {boolean} rises */
function shifted(column, base, rises) {
  if (rises) for (let i = 0, last = base; i < column.length; i++) last = column[i] = column[i] + last;
  else if (base !== 0) for (let i = 0; i < column.length; i++) column[i] += base;
  return column;
}

/** @param {string} name @returns {never} */
function missing(name) {
  throw new Error(`there is no column ${name}`);
}

/** Unpack a container. @param {Uint8Array} bytes @returns {Promise<Columns>} */
export async function decode(bytes) {
  const gzip = new DecompressionStream("gzip");
  const writer = gzip.writable.getWriter();
  writer.write(/** @type {any} */ (bytes)).then(() => writer.close()).catch(() => {}); // the reader fails, too
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);
  const unpacked = new Uint8Array(size); // a Response takes three times as long to join the pieces
  const reader = gzip.readable.getReader();
  for (let at = 0, piece = await reader.read(); !piece.done; piece = await reader.read()) {
    unpacked.set(piece.value, at);
    at += piece.value.length;
  }
  return new Columns(unpacked);
}
