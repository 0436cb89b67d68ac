// Sets of code points as sorted, separate ranges: the classes of regular expressions.

/** Flat pairs: first, last, first, last, … @typedef {number[]} Ranges */

export const LAST_CODE_POINT = 0x10ffff;
const SURROGATES = [0xd800, 0xdfff];
const BLOCK = 0x10000;
// Where there are characters; surrogates would pair up.
const WITH_CASES = [[0, 0xd7ff], [0xe000, 0x1ffff]];
const ASSIGNED = [...WITH_CASES, [0x20000, 0x3ffff], [0xe0000, LAST_CODE_POINT]];

/** @type {Map<string, Ranges>} */ const known = new Map();
/** @type {Map<number, number[]> | null} */ let folded = null;

/** Sorted ranges without overlaps. @param {Ranges} ranges @returns {Ranges} */
export function normalized(ranges) {
  /** @type {[number, number][]} */ const pairs = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at], ranges[at + 1]]);
  pairs.sort((one, other) => one[0] - other[0]);
  /** @type {Ranges} */ const merged = [];
  for (const [first, last] of pairs) {
    const end = merged.length - 1;
    if (end > 0 && first <= merged[end] + 1) merged[end] = Math.max(merged[end], last);
    else merged.push(first, last);
  }
  return merged;
}

/** All other code points. @param {Ranges} ranges @returns {Ranges} */
export function negated(ranges) {
  /** @type {Ranges} */ const others = [];
  let next = 0;
  const sorted = normalized(ranges);
  for (let at = 0; at < sorted.length; at += 2) {
    if (sorted[at] > next) others.push(next, sorted[at] - 1);
    next = sorted[at + 1] + 1;
  }
  if (next <= LAST_CODE_POINT) others.push(next, LAST_CODE_POINT);
  return others;
}

/** The ranges and all code points that differ from theirs by case only. @param {Ranges} ranges */
export function withCases(ranges) {
  const all = ranges.slice();
  for (const [point, others] of cases()) {
    for (let at = 0; at < ranges.length; at += 2) {
      if (point >= ranges[at] && point <= ranges[at + 1]) for (const other of others) all.push(other, other);
    }
  }
  return normalized(all);
}

/** By code point, those that are the same but for case, itself among them. */
function cases() {
  if (folded) return folded;
  /** @type {Map<number, number[]>} */ const groups = new Map();
  const changing = scan("\\p{Changes_When_Casemapped}", WITH_CASES);
  for (let at = 0; at < changing.length; at += 2) {
    for (let point = changing[at]; point <= changing[at + 1]; point++) {
      // Turkish: the dotless i is no i, as in the tables of RE2.
      const text = String.fromCodePoint(point);
      for (const other of point === 0x131 ? [] : [text.toLowerCase(), text.toUpperCase()]) {
        const twin = /** @type {number} */ (other.codePointAt(0));
        if (String.fromCodePoint(twin) === other) join(groups, point, twin);
      }
    }
  }
  return (folded = groups);
}

/** @param {Map<number, number[]>} groups @param {number} point @param {number} twin */
function join(groups, point, twin) {
  const all = [...new Set([...(groups.get(point) ?? [point]), ...(groups.get(twin) ?? [twin])])];
  for (const each of all) groups.set(each, all);
}

const CATEGORY = /^(L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfo])$/;
// Scripts of four letters that are names; the others are codes, which RE2 does not know.
const SCRIPT = /^(?!Unknown$|(?!Cham|Kawi|Lisu|Thai|Toto)[A-Z][a-z]{3}$)[A-Z][A-Za-z_]+$/;

/** The code points of a category or script as RE2 names them; null: there is none. @param {string} name */
export function namedClass(name) {
  if (name === "Any") return [0, LAST_CODE_POINT];
  if (name === "Cs") return SURROGATES;
  if (name === "C") return normalized([...scan("[\\p{Cc}\\p{Cf}\\p{Co}]"), ...SURROGATES]);
  if (CATEGORY.test(name)) return scan(`\\p{${name}}`);
  if (!SCRIPT.test(name)) return null;
  try {
    return scan(`\\p{Script=${name}}`);
  } catch {
    return null;
  }
}

/** The code points that JavaScript's class matches, surrogates apart. @param {string} source */
function scan(source, blocks = ASSIGNED) {
  const ready = known.get(source);
  if (ready) return ready;
  const runs = new RegExp(`${source}+`, "gu");
  /** @type {Ranges} */ const ranges = [];
  for (const [first, last] of blocks) {
    const text = textOf(first, last);
    for (const { 0: run, index } of text.matchAll(runs)) {
      const begin = /** @type {number} */ (text.codePointAt(index));
      ranges.push(begin, begin + (begin < BLOCK ? run.length : run.length / 2) - 1);
    }
  }
  const found = normalized(ranges);
  known.set(source, found);
  return found;
}

/** Consecutive code points as a text. @param {number} first @param {number} last */
function textOf(first, last) {
  const units = [];
  for (let point = first; point <= last; point++) {
    if (point < BLOCK) units.push(point);
    else units.push(0xd800 + ((point - BLOCK) >> 10), 0xdc00 + (point & 0x3ff));
  }
  return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(Uint16Array.from(units));
}
