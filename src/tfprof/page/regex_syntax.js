// The syntax of RE2 as a tree. A regex has to match a whole text, so captures and greed are no part
// of it: the tree says only which texts match. Errors have RE2's sentences.
import { LAST_CODE_POINT, namedClass, negated, normalized, withCases } from "./code_points.js";
import { quoted } from "./nearest.js";
import { UsageError } from "./query.js";

/**
 * @typedef {{op: "class", ranges: number[]} | {op: "byte"} | {op: "assert", when: number}
 *   | {op: "cat" | "alt", parts: Regex[], weight: number}
 *   | {op: "repeat", part: Regex, min: number, max: number, weight: number}} Regex
 */

/** What an assertion asks for. */
export const WHEN = { BEGIN: 1, END: 2, BEGIN_LINE: 4, END_LINE: 8, BOUNDARY: 16, NO_BOUNDARY: 32 };

const MOST_REPEATS = 1000;
const DEEPEST = 1000;
const NEWLINE = 10;
const [CASELESS, DOT_NEWLINE, MULTILINE] = [1, 2, 4];
/** @type {{[letter: string]: number}} */ const FLAGS = { i: CASELESS, s: DOT_NEWLINE, m: MULTILINE, U: 0 };
/** @type {{[letter: string]: number}} */ const ESCAPES = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** Ranges of characters. @param {string} text such as "09az" */
const chars = (text) => [...text].map((char) => char.charCodeAt(0));
const WORD = chars("09AZ__az");
/** @type {{[name: string]: number[]}} */ const PERL = { d: chars("09"), s: chars("\t\n\f\r  "), w: WORD };
/** @type {{[name: string]: number[]}} */ const POSIX = {
  alnum: chars("09AZaz"), alpha: chars("AZaz"), ascii: [0, 127], blank: chars("\t\t  "),
  cntrl: [0, 31, 127, 127], digit: chars("09"), graph: chars("!~"), lower: chars("az"),
  print: chars(" ~"), punct: chars("!/:@[`{~"), space: chars("\t\r  "), upper: chars("AZ"),
  word: WORD, xdigit: chars("09AFaf"),
};
const CAPTURE_NAME = /^[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]+$/u;

/** The tree of a regex; throws UsageError. @param {string} pattern @returns {Regex} */
export function parse(pattern) {
  const parser = new Parser(pattern);
  if (/[\uD800-\uDFFF]/u.test(pattern)) parser.fail("not UTF-8");
  const tree = parser.alternatives();
  return parser.at < parser.chars.length ? parser.fail("unexpected )", pattern) : tree;
}

/** @param {"cat" | "alt"} op @param {Regex[]} parts @returns {Regex} */
function joined(op, parts) {
  if (parts.length === 1) return parts[0];
  return { op, parts, weight: parts.reduce((most, part) => Math.max(most, weightOf(part)), 1) };
}

/** How often nested counts repeat the innermost part. @param {Regex} regex */
function weightOf(regex) {
  return "weight" in regex ? regex.weight : 1;
}

class Parser {
  /** @param {string} pattern */
  constructor(pattern) {
    this.pattern = pattern;
    this.chars = Array.from(pattern);
    this.at = 0;
    this.flags = 0;
    this.depth = 0;
  }

  /** @param {string} what RE2's sentence @param {string} [where] @returns {never} */
  fail(what, where = "") {
    throw new UsageError(`${quoted(this.pattern)} is not a valid regex: ${what}${where && ": "}${where}`);
  }

  /** The pattern from a place up to the next character. @param {number} from @param {number} [to] */
  from(from, to = this.at) {
    return this.chars.slice(from, to).join("");
  }

  /** Whether a text comes next. @param {string} text */
  sees(text) {
    for (let at = 0; at < text.length; at++) if (this.chars[this.at + at] !== text[at]) return false;
    return true;
  }

  /** Alternatives up to a closing parenthesis or the end. @returns {Regex} */
  alternatives() {
    if (++this.depth > DEEPEST) this.fail("pattern too large - compile failed");
    const alternatives = [];
    for (;;) {
      alternatives.push(this.sequence());
      if (!this.sees("|")) break;
      this.at++;
    }
    this.depth--;
    return joined("alt", alternatives);
  }

  /** @returns {Regex} */
  sequence() {
    /** @type {Regex[]} */ const parts = [];
    let lastRepeat = -1; // where the repetition begins that the last character ended
    while (this.at < this.chars.length && !this.sees("|") && !this.sees(")")) {
      const begin = this.at;
      const count = this.repetition();
      if (!count) {
        lastRepeat = -1;
        this.item(parts);
        continue;
      }
      if (this.sees("?")) this.at++; // greed is no matter
      if (lastRepeat >= 0) this.fail("bad repetition operator", this.from(lastRepeat));
      const [min, max, counted] = count;
      const operator = this.from(begin);
      const tooMany = max > MOST_REPEATS && max < Infinity;
      if (counted && (max < min || min > MOST_REPEATS || tooMany)) this.fail("invalid repetition size", operator);
      const part = parts.pop() ?? this.fail("no argument for repetition operator", operator);
      const times = counted ? (max < Infinity ? max : min) || 1 : 1;
      const weight = weightOf(part) * times;
      if (times > 1 && weight > MOST_REPEATS) this.fail("invalid repetition size", operator);
      parts.push({ op: "repeat", part, min, max, weight });
      lastRepeat = begin;
    }
    return joined("cat", parts);
  }

  /** The least and the most that a repetition here asks for, if one is here. @returns {[number, number, boolean] | null} */
  repetition() {
    const char = this.chars[this.at];
    if (char === "{") {
      const found = /^\{(0|[1-9]\d{0,8})(,(0|[1-9]\d{0,8})?)?\}/.exec(this.from(this.at, this.at + 24));
      if (!found) return null;
      this.at += found[0].length;
      const min = Number(found[1]);
      return [min, found[3] ? Number(found[3]) : found[2] ? Infinity : min, true];
    }
    if (char !== "*" && char !== "+" && char !== "?") return null;
    this.at++;
    return [char === "+" ? 1 : 0, char === "?" ? 1 : Infinity, false];
  }

  /** Adds what comes next, which is no repetition. @param {Regex[]} parts */
  item(parts) {
    const char = this.chars[this.at];
    if (char === "(") this.group(parts);
    else if (char === "[") parts.push({ op: "class", ranges: this.bracket() });
    else if (char === "\\") this.escaped(parts);
    else {
      this.at++;
      if (char === "^") parts.push({ op: "assert", when: this.flags & MULTILINE ? WHEN.BEGIN_LINE : WHEN.BEGIN });
      else if (char === "$") parts.push({ op: "assert", when: this.flags & MULTILINE ? WHEN.END_LINE : WHEN.END });
      else if (char !== ".") parts.push(this.literal(/** @type {number} */ (char.codePointAt(0))));
      else parts.push({ op: "class", ranges: this.flags & DOT_NEWLINE ? negated([]) : negated([NEWLINE, NEWLINE]) });
    }
  }

  /** @param {number} point @returns {Regex} */
  literal(point) {
    return { op: "class", ranges: this.cased([point, point]) };
  }

  /** @param {number[]} ranges */
  cased(ranges) {
    return this.flags & CASELESS ? withCases(ranges) : ranges;
  }

  /** A parenthesis: a group, or flags for what follows. @param {Regex[]} parts */
  group(parts) {
    const begin = this.at;
    const outer = this.flags;
    this.at++;
    if (this.sees("?") && !this.opensGroup(begin)) return;
    const inner = this.alternatives();
    if (!this.sees(")")) this.fail("missing )", this.pattern);
    this.at++;
    this.flags = outer;
    parts.push(inner);
  }

  /** Reads what follows "(?"; whether it opens a group. @param {number} begin */
  opensGroup(begin) {
    for (const look of ["?=", "?!", "?<=", "?<!"]) {
      if (this.sees(look)) this.fail("invalid perl operator", `(${look}`);
    }
    const capture = ["?P<", "?<"].find((start) => this.sees(start));
    if (capture && this.at + capture.length < this.chars.length) {
      const end = this.chars.indexOf(">", this.at);
      const name = this.from(this.at + capture.length, end);
      if (end < 0) this.fail("invalid named capture group", this.from(begin, this.chars.length));
      if (!CAPTURE_NAME.test(name)) this.fail("invalid named capture group", this.from(begin, end + 1));
      this.at = end + 1;
      return true;
    }
    this.at++;
    let flags = this.flags;
    let negative = false;
    let missing = false; // a minus without a flag behind it
    for (;;) {
      const char = this.chars[this.at++];
      const ends = char === ":" || char === ")";
      if (ends && !missing) {
        this.flags = flags;
        return char === ":";
      }
      if (char === "-" && !negative) negative = missing = true;
      else if (char in FLAGS) {
        flags = negative ? flags & ~FLAGS[char] : flags | FLAGS[char];
        missing = false;
      } else this.fail("invalid perl operator", this.from(begin));
    }
  }

  /** Adds what a backslash begins. @param {Regex[]} parts */
  escaped(parts) {
    const next = this.chars[this.at + 1];
    /** @type {{[letter: string]: number}} */ const asserted = { A: WHEN.BEGIN, z: WHEN.END, b: WHEN.BOUNDARY, B: WHEN.NO_BOUNDARY };
    if (next in asserted) {
      this.at += 2;
      parts.push({ op: "assert", when: asserted[next] });
    } else if (next === "C") {
      this.at += 2;
      parts.push({ op: "byte" });
    } else if (next === "Q") {
      for (this.at += 2; this.at < this.chars.length && !this.sees("\\E"); this.at++) {
        parts.push(this.literal(/** @type {number} */ (this.chars[this.at].codePointAt(0))));
      }
      this.at = Math.min(this.at + 2, this.chars.length);
    } else {
      const ranges = this.classEscape();
      parts.push(ranges ? { op: "class", ranges } : this.literal(this.escape()));
    }
  }

  /** The class that \d, \pL and the like name, if one is here. */
  classEscape() {
    const begin = this.at;
    const letter = this.chars[begin + 1] ?? "";
    if (!this.sees("\\") || !"dswpDSWP".includes(letter) || !letter) return null;
    let sign = letter === letter.toLowerCase();
    this.at += 2;
    /** @type {number[] | null} */ let ranges = PERL[letter.toLowerCase()] ?? null;
    if (!ranges) {
      let name = this.chars[this.at++] ?? "";
      if (name === "{") {
        const end = this.chars.indexOf("}", this.at);
        if (end < 0) this.fail("invalid character class range", this.from(begin, this.chars.length));
        name = this.from(this.at, end);
        this.at = end + 1;
      }
      if (name.startsWith("^")) [sign, name] = [!sign, name.slice(1)];
      ranges = namedClass(name);
    }
    if (!ranges) this.fail("invalid character class range", this.from(begin));
    return sign ? this.cased(ranges) : negated(this.cased(ranges));
  }

  /** The code points of a class in brackets. @returns {number[]} */
  bracket() {
    const begin = this.at++;
    const isNegated = this.sees("^");
    if (isNegated) this.at++;
    /** @type {number[]} */ const ranges = [];
    for (let first = true; this.at < this.chars.length && (first || !this.sees("]")); first = false) {
      for (const range of this.posix() ?? this.classEscape() ?? this.cased(this.charRange())) ranges.push(range);
    }
    if (this.at >= this.chars.length) this.fail("missing ]", this.from(begin, this.chars.length));
    this.at++;
    return isNegated ? negated(ranges) : normalized(ranges);
  }

  /** The class that [:name:] names, if one is here. */
  posix() {
    const end = this.sees("[:") ? this.from(this.at + 2, this.chars.length).indexOf(":]") : -1;
    if (end < 0) return null;
    const whole = Array.from(this.from(this.at, this.chars.length).slice(0, end + 4));
    const [, caret, name] = /** @type {RegExpExecArray} */ (/^\[:(\^?)(.*):\]$/s.exec(whole.join("")));
    if (!Object.hasOwn(POSIX, name)) this.fail("invalid character class range", whole.join(""));
    this.at += whole.length;
    return caret ? negated(this.cased(POSIX[name])) : this.cased(POSIX[name]);
  }

  /** One character of a class, or a range of them. @returns {number[]} */
  charRange() {
    const begin = this.at;
    const first = this.classChar();
    if (!this.sees("-") || this.at + 1 >= this.chars.length || this.chars[this.at + 1] === "]") return [first, first];
    this.at++;
    const last = this.classChar();
    return last < first ? this.fail("invalid character class range", this.from(begin)) : [first, last];
  }

  /** @returns {number} */
  classChar() {
    return this.sees("\\") ? this.escape() : /** @type {number} */ (this.chars[this.at++].codePointAt(0));
  }

  /** The character that a backslash and what follows mean. @returns {number} */
  escape() {
    const begin = this.at++;
    if (this.at >= this.chars.length) this.fail("trailing \\");
    const char = this.chars[this.at++];
    if (char in ESCAPES) return ESCAPES[char];
    if (/^[!-/:-@[-`{-~\0-\x20\x7f]$/.test(char)) return char.charCodeAt(0);
    const octal = /^(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(this.from(this.at - 1, this.at + 2));
    if (octal) {
      this.at += octal[0].length - 1;
      return parseInt(octal[0], 8);
    }
    if (char === "x") return this.hexadecimal(begin);
    return this.fail("invalid escape sequence", this.from(begin));
  }

  /** @param {number} begin @returns {number} */
  hexadecimal(begin) {
    const hex = /^[\da-f]$/i;
    const braced = this.sees("{");
    if (braced) this.at++;
    if (braced && this.at >= this.chars.length) this.fail("invalid UTF-8");
    let value = 0;
    for (let digits = 0; braced || digits < 2; digits++) {
      const char = this.chars[this.at++] ?? "";
      if (braced && char === "}" && digits) return value;
      if (!hex.test(char) && (braced || digits)) this.fail("invalid escape sequence", this.from(begin));
      value = value * 16 + parseInt(char, 16);
      if (value > LAST_CODE_POINT) this.fail("invalid escape sequence", this.from(begin));
    }
    return Number.isNaN(value) ? this.fail("invalid escape sequence", this.from(begin)) : value;
  }
}
