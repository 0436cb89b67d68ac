/**
 * Numbers as the cards and tables of the page write them: short with a unit, marked where they do
 * not count everything.
 *
 *   53.8G   3.80 s   56.6 MB   22.0 GFLOP/s   464,154   ≥ 1.20M   ?
 * @module
 */
import { atLeast, short } from "./units.js";

/** @typedef {number | bigint | string | null | undefined} Amount a text is a formula of open sizes */

const UNITS = {
  count: ["", "k", "M", "G", "T", "P"],
  rate: [" FLOP/s", " kFLOP/s", " MFLOP/s", " GFLOP/s", " TFLOP/s", " PFLOP/s"],
  micros: [" us", " ms", " s"],
  memory: [" B", " kB", " MB", " GB", " TB", " PB"],
};

/**
 * A number for people; a lower bound has its mark, and one of 0 is unknown.
 * @param {Amount} number
 * @param {string} kind grouped, or a key of UNITS
 * @param {boolean} [isLower]
 * @returns {string}
 */
export function amount(number, kind, isLower = false) {
  if (number === null || number === undefined || (isLower && Number(number) === 0)) return "?";
  if (typeof number === "string") return isLower ? atLeast(number) : number;
  const units = UNITS[/** @type {keyof typeof UNITS} */ (kind)];
  const text = units === undefined ? grouped(number) : short(number, units);
  return isLower ? atLeast(text) : text;
}

/**
 * All digits, in groups of three.
 * @param {number | bigint} number
 * @returns {string}
 */
export function grouped(number) {
  return number.toLocaleString("en-US");
}

/**
 * A share from 0 to 1.
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  return share > 0 && share < 0.0005 ? "<0.1%" : `${(share * 100).toFixed(1)}%`;
}
