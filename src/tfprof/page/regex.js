// Regexes of RE2's syntax on whole texts, in linear time: a pattern becomes an automaton over bytes
// whose states are made as texts need them. JavaScript's own engine tries again from every place, so
// that a regex could freeze the page, and it reads bytes that are not UTF-8 otherwise.
import { BEGIN, BEGIN_LINE, BOUNDARY, END, END_LINE, NO_BOUNDARY, parse } from "./regex_syntax.js";
import { quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { encodeText } from "./strings.js";

/** @typedef {import("./regex_syntax.js").Regex} Regex */

const UNKNOWN = -1;
const DEAD = -2;
const MOST_INSTRUCTIONS = 60_000;
const MOST_STATES = 4_000; // then all are forgotten
const MOST_PLACES = 2_000_000;
const [AT_BEGIN, AFTER_OTHER, AFTER_WORD, AFTER_NEWLINE] = [0, 1, 2, 3];
const NEWLINE = 10;

/** Instructions of a nondeterministic automaton: 0 is the match. A split goes on in two places, an
 * assertion where it holds, and bytes lead on by ranges: first, last, target, first, last, target … */
class Program {
  /** @param {string[]} patterns of which any has to match */
  constructor(patterns) {
    /** @type {Int32Array[]} the ranges of bytes */ this.bytes = [new Int32Array(0)];
    /** @type {number[]} -1: no assertion */ this.when = [0];
    /** @type {number[]} */ this.next = [UNKNOWN];
    /** @type {number[]} */ this.other = [UNKNOWN];
    this.asserts = false;
    this.pattern = "";
    this.start = this.either(patterns.map((pattern) => this.compile(parse((this.pattern = pattern)), 0)));
  }

  /** @param {number} when @param {number} next @param {number} [other] @param {number[]} [bytes] */
  add(when, next, other = UNKNOWN, bytes = []) {
    if (this.next.length > MOST_INSTRUCTIONS) {
      throw new UsageError(`${quoted(this.pattern)} is not a valid regex: pattern too large - compile failed`);
    }
    this.bytes.push(Int32Array.from(bytes));
    this.when.push(when);
    this.next.push(next);
    return this.other.push(other) - 1;
  }

  /** Where to begin so that a regex matches before what begins at next. @param {Regex} regex @param {number} next @returns {number} */
  compile(regex, next) {
    if (regex.op === "class") return this.add(0, UNKNOWN, UNKNOWN, this.encoded(regex.ranges, next));
    if (regex.op === "byte") return this.add(0, UNKNOWN, UNKNOWN, [0, 255, next]);
    if (regex.op === "assert") {
      this.asserts = true;
      return this.add(regex.when, next);
    }
    if (regex.op === "cat") return regex.parts.reduceRight((after, part) => this.compile(part, after), next);
    if (regex.op === "repeat") return this.repeated(regex.part, regex.min, regex.max, next);
    return this.either(regex.parts.map((part) => this.compile(part, next)));
  }

  /** @param {number[]} starts */
  either(starts) {
    return starts.length ? starts.reduceRight((others, start) => this.add(0, start, others)) : this.add(0, UNKNOWN);
  }

  /** @param {Regex} part @param {number} min @param {number} max @param {number} next */
  repeated(part, min, max, next) {
    let after = next;
    if (max === Infinity) {
      const again = this.add(0, UNKNOWN, next);
      this.next[again] = this.compile(part, again);
      after = min ? this.next[again] : again;
    }
    for (let at = min; at < max && max < Infinity; at++) after = this.add(0, this.compile(part, after), next);
    for (let at = max < Infinity ? 0 : 1; at < min; at++) after = this.compile(part, after);
    return after;
  }

  /** The bytes of ranges of code points in UTF-8, as RE2 compiles them. @param {number[]} ranges @param {number} next */
  encoded(ranges, next) {
    /** @type {number[]} */
    const bytes = [];
    /** @type {Map<string, number>} */
    const shared = new Map();
    /** One more byte before a place. @param {number} first @param {number} last @param {number} target */
    const before = (first, last, target) => {
      const key = `${first} ${last} ${target}`;
      const made = shared.get(key) ?? this.add(0, UNKNOWN, UNKNOWN, [first, last, target]);
      shared.set(key, made);
      return made;
    };
    /** @param {number} first @param {number} last */
    const add = (first, last) => {
      if (first === 0x80 && last === 0x10ffff) {
        // RE2 accepts overlong and too large sequences here, and so does this.
        const one = before(0x80, 0xbf, next);
        const two = before(0x80, 0xbf, one);
        bytes.push(0xc2, 0xdf, one, 0xe0, 0xef, two, 0xf0, 0xf4, before(0x80, 0xbf, two));
        return;
      }
      const limit = [0x7f, 0x7ff, 0xffff].find((most) => first <= most && most < last);
      if (limit !== undefined) return void (add(first, limit), add(limit + 1, last));
      const low = utf8(first);
      const high = utf8(last);
      // Where the last bytes do not take all values, the range falls into parts.
      for (let size = 1; size < low.length; size++) {
        const mask = (1 << (6 * size)) - 1;
        if ((first & ~mask) === (last & ~mask)) continue;
        if (first & mask) return void (add(first, first | mask), add((first | mask) + 1, last));
        if ((last & mask) !== mask) return void (add(first, (last & ~mask) - 1), add(last & ~mask, last));
      }
      let target = next;
      for (let at = low.length - 1; at > 0; at--) target = before(low[at], high[at], target);
      bytes.push(low[0], high[0], target);
    };
    for (let at = 0; at < ranges.length; at += 2) add(ranges[at], ranges[at + 1]);
    return bytes;
  }
}

/** @param {number} point @returns {number[]} */
function utf8(point) {
  if (point < 0x80) return [point];
  const tail = [0x80 | (point & 63)];
  if (point < 0x800) return [0xc0 | (point >> 6), ...tail];
  tail.unshift(0x80 | ((point >> 6) & 63));
  if (point < 0x10000) return [0xe0 | (point >> 12), ...tail];
  return [0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), ...tail];
}

/** @param {number} byte */
function isWord(byte) {
  return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || byte === 95 || (byte >= 97 && byte <= 122);
}

/** A deterministic automaton, made as it is used. */
class Automaton {
  /** @param {Program} program */
  constructor(program) {
    this.program = program;
    this.seen = new Int32Array(program.next.length);
    this.round = 0;
    this.kinds = byteKinds(program);
    /** @type {number[]} a byte of each kind */ this.sample = [];
    this.kinds.forEach((kind, byte) => (this.sample[kind] = byte));
    this.width = this.sample.length;
    this.size = 0; // of all places
    this.first = DEAD;
    this.moves = new Int32Array(0);
    /** @type {Map<string, number>} */ this.numbers = new Map();
    /** @type {Int32Array[]} */ this.places = [];
    /** @type {number[]} what is before each state */ this.before = [];
    /** @type {number[]} whether a text may end in it */ this.ends = [];
    this.forget();
  }

  forget() {
    this.numbers = new Map();
    [this.places, this.before, this.ends] = [[], [], []];
    this.moves = new Int32Array(this.width * 16).fill(UNKNOWN);
    this.size = 0;
    this.first = this.state(this.closure([this.program.start], -1), AT_BEGIN);
  }

  /** The places that can be reached without a byte; assertions that need to know more stay. @param {Iterable<number>} from @param {number} holds -1: nothing is known */
  closure(from, holds) {
    const { when, next, other, bytes } = this.program;
    const round = ++this.round;
    const found = [];
    const waiting = [...from];
    while (waiting.length) {
      const place = /** @type {number} */ (waiting.pop());
      if (this.seen[place] === round) continue;
      this.seen[place] = round;
      if (when[place] ? holds < 0 : !place || bytes[place].length) found.push(place);
      else if (!when[place] || when[place] & holds) {
        if (other[place] >= 0) waiting.push(other[place]);
        if (next[place] >= 0) waiting.push(next[place]);
      }
    }
    return Int32Array.from(found).sort();
  }

  /** The number of a state. @param {Int32Array} places @param {number} before @returns {number} */
  state(places, before) {
    if (!places.length) return DEAD;
    const key = `${before}:${places.join()}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    if (this.places.length >= MOST_STATES || this.size > MOST_PLACES) {
      this.forget();
      return this.state(places, before);
    }
    const number = this.places.length;
    this.places.push(places);
    this.size += places.length;
    this.before.push(before);
    this.ends.push(UNKNOWN);
    this.numbers.set(key, number);
    if ((number + 1) * this.width > this.moves.length) {
      const moves = new Int32Array(2 * this.moves.length).fill(UNKNOWN);
      moves.set(this.moves);
      this.moves = moves;
    }
    return number;
  }

  /** The places of a state when the next byte is known; -1: the text ends. @param {number} state @param {number} byte */
  resolved(state, byte) {
    if (!this.program.asserts) return this.places[state];
    const before = this.before[state];
    const boundary = (before === AFTER_WORD) !== isWord(byte);
    let holds = boundary ? BOUNDARY : NO_BOUNDARY;
    if (before === AT_BEGIN) holds |= BEGIN | BEGIN_LINE;
    if (before === AFTER_NEWLINE) holds |= BEGIN_LINE;
    if (byte < 0) holds |= END | END_LINE;
    if (byte === NEWLINE) holds |= END_LINE;
    return this.closure(this.places[state], holds);
  }

  /** The state after a byte. @param {number} state @param {number} byte @returns {number} */
  move(state, byte) {
    const targets = [];
    for (const place of this.resolved(state, byte)) {
      const bytes = this.program.bytes[place];
      for (let at = 0; at < bytes.length; at += 3) {
        if (byte >= bytes[at] && byte <= bytes[at + 1]) targets.push(bytes[at + 2]);
      }
    }
    const after = isWord(byte) ? AFTER_WORD : byte === NEWLINE ? AFTER_NEWLINE : AFTER_OTHER;
    const states = this.places;
    const next = this.state(this.closure(targets, -1), this.program.asserts ? after : AT_BEGIN);
    if (states === this.places) this.moves[state * this.width + this.kinds[byte]] = next;
    return next;
  }

  /** @param {Uint8Array} blob @param {number} start @param {number} stop @returns {boolean} */
  matches(blob, start, stop) {
    const { kinds, width } = this;
    let [state, moves] = [this.first, this.moves];
    for (let at = start; at < stop && state >= 0; at++) {
      const kind = kinds[blob[at]];
      const next = moves[state * width + kind];
      if (next === UNKNOWN) [state, moves] = [this.move(state, this.sample[kind]), this.moves];
      else state = next;
    }
    if (state < 0) return false;
    if (this.ends[state] === UNKNOWN) this.ends[state] = this.resolved(state, -1).includes(0) ? 1 : 0;
    return this.ends[state] === 1;
  }
}

/** Bytes of the same kind lead from every state to the same state. @param {Program} program */
function byteKinds(program) {
  const heads = new Uint8Array(257);
  for (const bytes of program.bytes) {
    for (let at = 0; at < bytes.length; at += 3) heads[bytes[at]] = heads[bytes[at + 1] + 1] = 1;
  }
  const apart = program.asserts ? [10, 11, 48, 58, 65, 91, 95, 96, 97, 123] : [];
  for (const byte of apart) heads[byte] = 1;
  const kinds = new Uint8Array(256);
  for (let byte = 1; byte < 256; byte++) kinds[byte] = kinds[byte - 1] + heads[byte];
  return kinds;
}

/**
 * A test whether a pattern matches a whole text; throws UsageError with RE2's sentence.
 * @param {string} pattern
 * @returns {(text: string) => boolean}
 */
export function compile(pattern) {
  return matcher([pattern]).text;
}

/** Tests whether any of the patterns matches a whole text, or each of a column; throws UsageError.
 * @param {string[]} patterns */
export function matcher(patterns) {
  const machine = new Automaton(new Program(patterns));
  return {
    /** @param {string} text */
    text(text) {
      const bytes = encodeText(text);
      return machine.matches(bytes, 0, bytes.length);
    },
    /** @param {import("./strings.js").Strings} strings @returns {Uint8Array} */
    rows({ texts, start, size, length }) {
      const found = new Uint8Array(length);
      const { bytes } = texts;
      for (let row = 0; row < length; row++) {
        const first = start[row] | 0; // an integer, not a number that happens to be one: it is faster
        found[row] = machine.matches(bytes, first, first + size[row]) ? 1 : 0;
      }
      return found;
    },
  };
}
