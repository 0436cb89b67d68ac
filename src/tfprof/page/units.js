// Numbers as text: the twins of foundation/units.py and of results/summary_numbers.py.

/** A whole number: BigInt where it may exceed 2^53. @typedef {number | bigint} Whole */

/** The text of a number of each kind, with its unit, as a report prints it. @type {{[kind: string]: (number: Whole) => string}} */
export const UNITS = {
  count: (number) => scaled(number, ["", "k", "m", "b"]),
  micros: (number) => scaled(number, ["us", "ms", "sec"]),
  memory: (number) => scaled(number, ["B", "KB", "MB"]),
};
const SHORT_UNITS = {
  count: ["", "k", "M", "G", "T", "P"],
  micros: [" us", " ms", " s"],
  memory: [" B", " kB", " MB", " GB", " TB", " PB"],
};

/** @param {Whole} number @param {string[]} units @returns {string} */
function scaled(number, units) {
  let [scale, at] = [1, 0];
  for (; at + 1 < units.length && number >= scale * 1000; at++) scale *= 1000;
  return at ? `${fixed(Number(number) / scale, 2)}${units[at]}` : `${number}${units[0]}`;
}

/** A number with so many digits after the point; ties to even, as C and Python round. @param {number} number @param {number} digits */
function fixed(number, digits) {
  const last = 10 ** digits;
  // Only multiples of an eighth can be half way between two texts of at most two digits.
  const tie = Number.isInteger(number * 8) && Math.abs(number * last * 2) % 2 === 1;
  return (tie ? (2 * Math.round((number * last) / 2)) / last : number).toFixed(digits);
}

/** A number with three digits or so, as a summary prints it: 4.10k, 1.28 kB, 3.07 ms.
 * @param {Whole} number @param {"count" | "micros" | "memory"} [kind] @returns {string} */
export function short(number, kind = "count") {
  const units = SHORT_UNITS[kind];
  const size = BigInt(number) < 0n ? -BigInt(number) : BigInt(number);
  let [scale, at] = [1n, 0];
  for (; at + 1 < units.length && size >= scale * 1000n; at++) scale *= 1000n;
  if (!at) return `${exact(number)}${units[0]}`;
  const digits = 2 - Number(size >= scale * 10n) - Number(size >= scale * 100n);
  let text = fixed(quotient(size, scale), digits);
  if (text === "1000" && at + 1 < units.length) [text, at] = ["1.00", at + 1];
  return `${number < 0 ? "-" : ""}${text}${units[at]}`;
}

/** The double nearest to size / scale. @param {bigint} size @param {bigint} scale */
function quotient(size, scale) {
  if (size <= 2n ** 53n) return Number(size) / Number(scale);
  // More bits than a double has; a last one says whether any were lost.
  const more = (size << 54n) / scale;
  return Number((size << 54n) % scale ? more | 1n : more) / 2 ** 54;
}

/** All digits of a number, in groups of three. @param {Whole} number @returns {string} */
export function exact(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count of things: 1 row, 2 rows. @param {Whole} number @param {string} noun @param {string} [nouns] */
export function plural(number, noun, nouns = `${noun}s`) {
  return `${exact(number)} ${BigInt(number) === 1n ? noun : nouns}`;
}

/** The text of a number that is a lower bound; an unknown one stays unknown. @param {string} text */
export function atLeast(text) {
  return text === "?" ? text : `≥ ${text}`;
}

/** A share of a whole as people read it. @param {Whole} part @param {Whole} whole @returns {string} */
export function percent(part, whole) {
  const share = Number(part) / Number(whole);
  return 0 < share && share < 0.0005 ? "<0.1%" : `${fixed(share * 100, 1)}%`;
}
