// Columns of byte strings: slices of one blob. Bytes that are not UTF-8 become lone surrogates
// U+DC80 to U+DCFF, as Python's surrogateescape makes them; `shown` makes them visible for people.
import { take } from "./arrays.js";

const LONGEST_TEXT = 1 << 28; // longer blobs are decoded row by row: engines limit a text's length
const ESCAPE = 0xdc00;
const OBEYED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** How many bytes at `at` are one character of UTF-8; 0: they are none. @param {Uint8Array} bytes @param {number} at */
function characterLength(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const second = bytes[at + 1];
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
  const isOverlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const isBeyond = (first === 0xed && second >= 0xa0) || (first === 0xf4 && second >= 0x90);
  return isOverlong || isBeyond ? 0 : length;
}

/** The text of some bytes, as Python's surrogateescape decodes them. @param {Uint8Array} bytes @returns {string} */
function decodeText(bytes) {
  try {
    return STRICT.decode(bytes);
  } catch {
    let [text, valid] = ["", 0]; // valid: where the valid bytes before `at` begin
    for (let at = 0; at < bytes.length;) {
      const length = characterLength(bytes, at);
      if (length === 0) {
        text += DECODER.decode(bytes.subarray(valid, at)) + String.fromCharCode(ESCAPE + bytes[at]);
        valid = at + 1;
      }
      at += length || 1;
    }
    return text + DECODER.decode(bytes.subarray(valid));
  }
}

/** The bytes of a text that `decodeText` made. @param {string} text @returns {Uint8Array} */
export function encodeText(text) {
  const encoder = new TextEncoder();
  if (!/[\udc80-\udcff]/u.test(text)) return encoder.encode(text);
  return Uint8Array.from(text.split(/([\udc80-\udcff])/u).flatMap((piece, number) =>
    number % 2 ? [piece.charCodeAt(0) - ESCAPE] : [...encoder.encode(piece)]));
}

/** A text on one line, with control characters, marks of direction and stray bytes made visible. @param {string} text @returns {string} */
export function shown(text) {
  return text.replace(OBEYED, (found) => {
    const code = found.charCodeAt(0) - (found >= "\udc00" ? ESCAPE : 0);
    const digits = code.toString(16);
    return code <= 0xff ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
  }).replaceAll("\n", "\\n");
}

/** The bytes that columns share. */
export class Texts {
  /** @type {string | null | undefined} */
  _text = undefined;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** All bytes as a text with the same indices; null if they are not ASCII, as most names are. @returns {string | null} */
  get text() {
    if (this._text === undefined) {
      const { bytes } = this;
      let ascii = bytes.length <= LONGEST_TEXT ? 0 : -1; // how many bytes are, as far as known
      while (ascii >= 0 && bytes[ascii] < 0x80) ascii++;
      this._text = ascii === bytes.length ? DECODER.decode(bytes) : null;
    }
    return this._text;
  }
}

/** Rows of bytes; columns cut from one another share their texts. */
export class Strings {
  /** @param {Texts} texts @param {Float64Array} start @param {Int32Array} size */
  constructor(texts, start, size) {
    this.texts = texts;
    this.start = start;
    this.size = size;
  }

  /** The number of rows. @returns {number} */
  get length() {
    return this.start.length;
  }

  /** @param {number} row @returns {string} */
  text(row) {
    const whole = this.texts.text;
    if (whole === null) return decodeText(this.bytes(row));
    return whole.slice(this.start[row], this.start[row] + this.size[row]);
  }

  /** @param {number} row @returns {Uint8Array} */
  bytes(row) {
    return this.texts.bytes.subarray(this.start[row], this.start[row] + this.size[row]);
  }

  /** The first row with this text; -1 if there is none. @param {string} text @returns {number} */
  indexOf(text) {
    const wanted = encodeText(text);
    const { bytes } = this.texts;
    for (let row = 0; row < this.length; row++) {
      if (this.size[row] !== wanted.length) continue;
      let left = wanted.length; // names differ at their ends
      while (left > 0 && bytes[this.start[row] + left - 1] === wanted[left - 1]) left--;
      if (left === 0) return row;
    }
    return -1;
  }

  /** Below 0 where the bytes of a row come before those of another. @param {number} row @param {number} other @returns {number} */
  compare(row, other) {
    const { bytes } = this.texts;
    const [first, second] = [this.start[row], this.start[other]];
    const common = Math.min(this.size[row], this.size[other]);
    for (let i = 0; i < common; i++) {
      if (bytes[first + i] !== bytes[second + i]) return bytes[first + i] - bytes[second + i];
    }
    return this.size[row] - this.size[other];
  }

  /** These rows, of the same texts. @param {ArrayLike<number>} rows @returns {Strings} */
  take(rows) {
    return new Strings(this.texts, take(this.start, rows), take(this.size, rows));
  }
}
