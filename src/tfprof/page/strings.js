// Columns of byte strings: slices of one blob. Bytes that are not UTF-8 become lone surrogates
// U+DC80 to U+DCFF, as Python's surrogateescape makes them, so that no two names look the same to
// a program. `shown` makes them visible for people.

// Longer blobs are decoded row by row: engines limit the length of a text.
const LONGEST_TEXT = 1 << 28;
const FIRST_ESCAPE = 0xdc00;
const HIGH_BIT = 0x80;
const OBEYED =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/** @param {Uint8Array} blob */
function isAscii(blob) {
  for (let i = 0; i < blob.length; i++) if (blob[i] >= HIGH_BIT) return false;
  return true;
}

/** How many bytes at `at` are one character of UTF-8; 0: they are none.
 * @param {Uint8Array} bytes @param {number} at */
function characterLength(bytes, at) {
  const first = bytes[at];
  if (first < HIGH_BIT) return 1;
  const length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3
    : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if ((bytes[at + i] & 0xc0) !== HIGH_BIT) return 0;
  const second = bytes[at + 1];
  const isOverlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const isBeyond = (first === 0xed && second >= 0xa0) || (first === 0xf4 && second >= 0x90);
  return isOverlong || isBeyond ? 0 : length;
}

/** The text of some bytes, as Python's surrogateescape decodes them.
 * @param {Uint8Array} bytes @returns {string} */
export function decodeText(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const parts = [];
    for (let at = 0, valid = 0; at <= bytes.length;) {
      const length = at < bytes.length ? characterLength(bytes, at) : 0;
      if (length > 0) {
        at += length;
        continue;
      }
      parts.push(decoder.decode(bytes.subarray(valid, at)));
      if (at < bytes.length) parts.push(String.fromCharCode(FIRST_ESCAPE + bytes[at]));
      valid = ++at;
    }
    return parts.join("");
  }
}

/** The bytes of a text that `decodeText` made.
 * @param {string} text @returns {Uint8Array} */
export function encodeText(text) {
  const encoder = new TextEncoder();
  const pieces = text.split(/([\udc80-\udcff])/u).map((piece, number) =>
    number % 2 ? Uint8Array.of(piece.charCodeAt(0) - FIRST_ESCAPE) : encoder.encode(piece));
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** A text on one line, with control characters, marks of direction and stray bytes made visible.
 * @param {string} text @returns {string} */
export function shown(text) {
  return text.replace(OBEYED, (found) => {
    const code = found.charCodeAt(0);
    const value = code >= FIRST_ESCAPE ? code - FIRST_ESCAPE : code;
    const digits = value.toString(16);
    return value <= 0xff ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
  }).replaceAll("\n", "\\n");
}

/** The blob of several columns; it is decoded once if it is ASCII, as most names are. */
export class Blob8 {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    /** @type {string | null | undefined} */
    this._text = undefined;
  }

  /** The whole blob as a text whose indices are those of the bytes; null if it is not ASCII.
   * @returns {string | null} */
  get text() {
    if (this._text === undefined) {
      const fits = this.bytes.length <= LONGEST_TEXT && isAscii(this.bytes);
      this._text = fits ? new TextDecoder().decode(this.bytes) : null;
    }
    return this._text;
  }
}

/** Rows of bytes; columns cut from one another share a blob. */
export class Strings {
  /** @param {Blob8} blob @param {ArrayLike<number>} start @param {ArrayLike<number>} size */
  constructor(blob, start, size) {
    this.blob = blob;
    this.start = start;
    this.size = size;
  }

  /** The number of rows. @returns {number} */
  get length() {
    return this.start.length;
  }

  /** @param {number} row @returns {string} */
  text(row) {
    const begin = this.start[row];
    const text = this.blob.text;
    if (text !== null) return text.slice(begin, begin + this.size[row]);
    return decodeText(this.bytes(row));
  }

  /** @param {number} row @returns {Uint8Array} */
  bytes(row) {
    const begin = this.start[row];
    return this.blob.bytes.subarray(begin, begin + this.size[row]);
  }

  /** The first row with this text; -1 if there is none. @param {string} text @returns {number} */
  indexOf(text) {
    const wanted = encodeText(text);
    const { bytes } = this.blob;
    for (let row = 0; row < this.length; row++) {
      if (this.size[row] !== wanted.length) continue;
      let at = this.start[row] + wanted.length;
      let left = wanted.length;
      while (left > 0 && bytes[--at] === wanted[left - 1]) left--;
      if (left === 0) return row;
    }
    return -1;
  }

  /** The rows in ascending order of their bytes; equal ones keep their order.
   * @param {number} first @param {number} second */
  compare(first, second) {
    const { bytes } = this.blob;
    const a = this.start[first];
    const b = this.start[second];
    const common = Math.min(this.size[first], this.size[second]);
    for (let i = 0; i < common; i++) {
      if (bytes[a + i] !== bytes[b + i]) return bytes[a + i] - bytes[b + i];
    }
    return this.size[first] - this.size[second];
  }

  /** These rows, on the same blob. @param {ArrayLike<number>} rows @returns {Strings} */
  take(rows) {
    const start = new Float64Array(rows.length);
    const size = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      start[i] = this.start[rows[i]];
      size[i] = this.size[rows[i]];
    }
    return new Strings(this.blob, start, size);
  }
}
