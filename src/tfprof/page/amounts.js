// Numbers on cards and in tables, marked where they do not count everything: 53.8G  ≥ 1.20 s  ?
import { atLeast, exact, short } from "./units.js";

/** @typedef {number | bigint | string | null | undefined} Amount a text is a formula of open sizes */

/** A number for people; a lower bound has its mark, and one of 0 is unknown. @param {Amount} number
 * @param {string} kind grouped, rate, or a kind of units.js @param {boolean} [isLower] @returns {string} */
export function amount(number, kind, isLower = false) {
  if (number === null || number === undefined || (isLower && Number(number) === 0)) return "?";
  const text = typeof number === "string" ? formula(number, kind) : written(number, kind);
  return isLower ? atLeast(text) : text;
}

/** "12544*batch + 160" as people read it: 12.5 kB·batch + 160 B. @param {string} text @param {string} kind */
function formula(text, kind) {
  const terms = text.replace(/(^-?|[+-] )(\d+)(?![\d/])/g, (_, before, digits) => before + written(BigInt(digits), kind));
  const raised = (/** @type {string} */ _, /** @type {string} */ power) => power.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit)));
  return terms.replace(/\*\*(\d+)/g, raised).replaceAll("*", "·");
}

/** @param {number | bigint} number @param {string} kind */
function written(number, kind) {
  if (kind === "grouped") return exact(number);
  if (kind === "rate") return `${short(number).replace(/(\D?)$/, " $1")}FLOP/s`;
  return short(number, /** @type {"count" | "micros" | "memory"} */ (kind));
}
