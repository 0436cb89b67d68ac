// Regexes of RE2's syntax on whole texts, in linear time: a pattern becomes an automaton over bytes
// whose states are made as texts need them. JavaScript's own engine tries again from every place, so
// that a regex could freeze the page, and it reads bytes that are not UTF-8 otherwise.
import { quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { WHEN, parse } from "./regex_syntax.js";
import { encodeText } from "./strings.js";

/** @typedef {import("./regex_syntax.js").Regex} Regex */

const [NONE, DEAD] = [-1, -2];
const MOST_INSTRUCTIONS = 150_000;
const MOST_STATES = 4_000; // then all are forgotten
const MOST_PLACES = 2_000_000; // of all states
const [AT_BEGIN, AFTER_OTHER, AFTER_WORD, AFTER_NEWLINE] = [0, 1, 2, 3];
const NEWLINE = 10;

/** Instructions of a nondeterministic automaton; 0 is the match. One goes on at two places, or where
 * an assertion holds, or by the next byte, in ranges: first, last, target, first, last, target … */
class Program {
  /** @param {string[]} patterns of which any has to match */
  constructor(patterns) {
    /** @type {number[][]} ranges of bytes */ this.bytes = [[]];
    /** @type {number[]} what is asserted */ this.when = [0];
    /** @type {number[]} */ this.next = [NONE];
    /** @type {number[]} */ this.other = [NONE];
    this.asserts = false;
    this.pattern = "";
    this.start = this.either(patterns.map((pattern) => this.compile(parse((this.pattern = pattern)), 0)));
  }

  /** @param {number} next @param {number} other @param {number} when @param {number[]} bytes */
  add(next, other = NONE, when = 0, bytes = []) {
    if (this.next.length > MOST_INSTRUCTIONS) {
      throw new UsageError(`${quoted(this.pattern)} is not a valid regex: pattern too large - compile failed`);
    }
    this.bytes.push(bytes);
    this.when.push(when);
    this.next.push(next);
    return this.other.push(other) - 1;
  }

  /** Where to begin so that a regex matches before what begins at *next*. @param {Regex} regex @param {number} next @returns {number} */
  compile(regex, next) {
    if (regex.op === "class") return this.add(NONE, NONE, 0, this.encoded(regex.ranges, next));
    if (regex.op === "byte") return this.add(NONE, NONE, 0, [0, 255, next]);
    if (regex.op === "cat") return regex.parts.reduceRight((after, part) => this.compile(part, after), next);
    if (regex.op === "repeat") return this.repeated(regex.part, regex.min, regex.max, next);
    if (regex.op !== "assert") return this.either(regex.parts.map((part) => this.compile(part, next)));
    this.asserts = true;
    return this.add(next, NONE, regex.when);
  }

  /** @param {number[]} starts */
  either(starts) {
    return starts.length ? starts.reduceRight((others, start) => this.add(start, others)) : this.add(NONE);
  }

  /** @param {Regex} part @param {number} min @param {number} max @param {number} next */
  repeated(part, min, max, next) {
    let [after, left] = [next, min];
    if (max === Infinity) {
      const again = this.add(NONE, next);
      this.next[again] = this.compile(part, again);
      [after, left] = min ? [this.next[again], min - 1] : [again, 0];
    } else for (let at = min; at < max; at++) after = this.add(this.compile(part, after), next);
    for (; left > 0; left--) after = this.compile(part, after);
    return after;
  }

  /** The bytes of ranges of code points in UTF-8, as RE2 compiles them. @param {number[]} ranges @param {number} next */
  encoded(ranges, next) {
    /** @type {number[]} */ const bytes = [];
    /** @type {Map<string, number>} */ const shared = new Map();
    /** One more byte before a place. @param {number} first @param {number} last @param {number} target */
    const before = (first, last, target) => {
      const key = `${first} ${last} ${target}`;
      const made = shared.get(key) ?? this.add(NONE, NONE, 0, [first, last, target]);
      shared.set(key, made);
      return made;
    };
    /** @param {number} first @param {number} last @returns {void} */
    const add = (first, last) => {
      if (first === 0x80 && last === 0x10ffff) {
        // RE2 accepts overlong and too large sequences here, and so does this.
        const one = before(0x80, 0xbf, next);
        const two = before(0x80, 0xbf, one);
        bytes.push(0xc2, 0xdf, one, 0xe0, 0xef, two, 0xf0, 0xf4, before(0x80, 0xbf, two));
        return;
      }
      /** @param {number} end of the first part */
      const split = (end) => (add(first, end), add(end + 1, last));
      const limit = [0x7f, 0x7ff, 0xffff].find((most) => first <= most && most < last);
      if (limit !== undefined) return split(limit);
      const [low, high] = [utf8(first), utf8(last)];
      // Where the last bytes do not take all values, the range falls into parts.
      for (let size = 1; size < low.length; size++) {
        const mask = (1 << (6 * size)) - 1;
        if ((first & ~mask) === (last & ~mask)) continue;
        if (first & mask) return split(first | mask);
        if ((last & mask) !== mask) return split((last & ~mask) - 1);
      }
      let target = next;
      for (let at = low.length - 1; at > 0; at--) target = before(low[at], high[at], target);
      bytes.push(low[0], high[0], target);
    };
    for (let at = 0; at < ranges.length; at += 2) add(ranges[at], ranges[at + 1]);
    return bytes;
  }
}

/** The bytes of a code point, also of a surrogate. @param {number} point @returns {number[]} */
function utf8(point) {
  const tail = (/** @type {number} */ shift) => 0x80 | ((point >> shift) & 63);
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), tail(6), tail(0)];
  return [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
}

/** @param {number} byte */
function isWord(byte) {
  return byte >= 0 && /\w/.test(String.fromCharCode(byte));
}

/** A deterministic automaton, made as it is used. */
class Automaton {
  /** @param {Program} program */
  constructor(program) {
    this.program = program;
    this.seen = new Int32Array(program.next.length);
    this.round = 0;
    /** @type {Map<string, number>} */ this.numbers = new Map();
    /** @type {{places: Int32Array, before: number, ends: boolean | null}[]} */ this.states = [];
    this.moves = new Int32Array(0); // by state and byte
    this.size = 0;
    this.first = DEAD;
    this.forget();
  }

  forget() {
    this.numbers = new Map();
    this.states = [];
    this.moves = new Int32Array(256 * 16).fill(NONE);
    this.size = 0;
    this.first = this.state(this.closure([this.program.start], NONE), AT_BEGIN);
  }

  /** The places that can be reached without a byte; assertions stay where nothing is known of what holds. @param {Iterable<number>} from @param {number} holds */
  closure(from, holds) {
    const { when, next, other, bytes } = this.program;
    const round = ++this.round;
    const found = [];
    const waiting = [...from];
    while (waiting.length) {
      const place = /** @type {number} */ (waiting.pop());
      if (place < 0 || this.seen[place] === round) continue;
      this.seen[place] = round;
      if (when[place] ? holds < 0 : !place || bytes[place].length) found.push(place);
      else if (!when[place] || when[place] & holds) waiting.push(other[place], next[place]);
    }
    return Int32Array.from(found).sort();
  }

  /** The number of a state. @param {Int32Array} places @param {number} before what is before it @returns {number} */
  state(places, before) {
    if (!places.length) return DEAD;
    const key = `${before}:${places.join()}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    if (this.states.length >= MOST_STATES || this.size > MOST_PLACES) {
      this.forget();
      return this.state(places, before);
    }
    const number = this.states.push({ places, before, ends: null }) - 1;
    this.size += places.length;
    this.numbers.set(key, number);
    if (this.states.length * 256 > this.moves.length) {
      const moves = new Int32Array(2 * this.moves.length).fill(NONE);
      moves.set(this.moves);
      this.moves = moves;
    }
    return number;
  }

  /** The places of a state when the next byte is known; NONE: the text ends. @param {number} state @param {number} byte */
  resolved(state, byte) {
    const { places, before } = this.states[state];
    if (!this.program.asserts) return places;
    let holds = (before === AFTER_WORD) === isWord(byte) ? WHEN.NO_BOUNDARY : WHEN.BOUNDARY;
    if (before === AT_BEGIN) holds |= WHEN.BEGIN | WHEN.BEGIN_LINE;
    if (before === AFTER_NEWLINE) holds |= WHEN.BEGIN_LINE;
    if (byte === NONE) holds |= WHEN.END | WHEN.END_LINE;
    if (byte === NEWLINE) holds |= WHEN.END_LINE;
    return this.closure(places, holds);
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
    const { states } = this;
    const next = this.state(this.closure(targets, NONE), this.program.asserts ? after : AT_BEGIN);
    if (states === this.states) this.moves[(state << 8) | byte] = next;
    return next;
  }

  /** The state after some bytes. @param {number} state @param {Uint8Array} blob @param {number} start @param {number} stop */
  run(state, blob, start, stop) {
    let { moves } = this;
    for (let at = start; at < stop && state >= 0; at++) {
      const next = moves[(state << 8) | blob[at]];
      if (next !== NONE) state = next;
      else [state, moves] = [this.move(state, blob[at]), this.moves];
    }
    return state;
  }

  /** Whether a text may end in a state. @param {number} state @returns {boolean} */
  ends(state) {
    return state >= 0 && (this.states[state].ends ??= this.resolved(state, NONE).includes(0));
  }
}

/** Tests whether any of the patterns matches a whole text, or each of a column; throws UsageError. @param {string[]} patterns */
export function matcher(patterns) {
  const machine = new Automaton(new Program(patterns));
  return {
    /** @param {string} text */
    text(text) {
      const bytes = encodeText(text);
      return machine.ends(machine.run(machine.first, bytes, 0, bytes.length));
    },
    /** @param {import("./strings.js").Strings} strings
     * @param {Int32Array | null} [parent] the row, above 0, whose text begins that of each row @returns {Uint8Array} */
    rows({ texts: { bytes }, start, size, length }, parent = null) {
      const [found, after] = [new Uint8Array(length), new Int32Array(length)];
      let { states } = machine;
      for (let row = 0, oldest = 1; row < length; row++) {
        const first = start[row] | 0; // an integer, not a number that happens to be one: it is faster
        const above = parent && parent[row] >= oldest ? parent[row] : 0;
        const [state, known] = above ? [after[above], size[above]] : [machine.first, 0];
        after[row] = machine.run(state, bytes, first + known, first + size[row]);
        if (machine.states !== states) [states, oldest] = [machine.states, Math.max(row, 1)]; // states were forgotten
        if (machine.ends(after[row])) found[row] = 1;
      }
      return found;
    },
  };
}

/** A regex that matches a text alone; its commas are written so that no list ends at them. @param {string} text @returns {string} */
export function literal(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll(",", "\\x2c");
}
