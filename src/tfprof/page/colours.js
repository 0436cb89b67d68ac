// Colours of pictures: categories and ground from the tokens of page.css, scales that change in
// lightness, so that colour-blind readers can tell them apart, and text that is readable on them.
import { colour } from "./dom.js";

/** @typedef {[number, number, number]} Rgb red, green and blue from 0 to 255 */
/** @typedef {{dark: boolean, categories: Rgb[], ground: Rgb, text: Rgb, muted: Rgb, line: Rgb, match: Rgb}} Theme of the page now */

const RAMP = ["#e0edf6", "#a9d0e8", "#62abd6", "#2879b3", "#0d4c7d"].map(rgb);
const DARK_RAMP = ["#1c3549", "#235a82", "#3c8dbf", "#83c2e6", "#d6effc"].map(rgb);
const SIDES = ["#e8804f", "#f3c9b0", "#e4e6e8", "#a9cbe8", "#4b93cd"].map(rgb);
const DARK_SIDES = ["#e0733f", "#8f5a42", "#3a4048", "#3f6a92", "#5aa5e0"].map(rgb);
const [BLACK, WHITE] = ["#000000", "#ffffff"].map(rgb);

/** @returns {Theme} */
export function theme() {
  const token = (/** @type {string} */ name) => rgb(colour(`--${name}`));
  const [ground, text, muted, line, match] = ["surface", "text", "muted", "line", "match"].map(token);
  const categories = Array.from({ length: 9 }, (_, index) => token(`c${index}`)); // the last is grey
  return { dark: luminance(ground) < 0.2, categories, ground, text, muted, line, match };
}

/** @param {string} text as in "#1f74ad" or "rgb(31, 116, 173)" @returns {Rgb} */
export function rgb(text) {
  const hex = /^#(..)(..)(..)$/.exec(text);
  const parts = hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (text.match(/[\d.]+/g) ?? []).map(Number);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

/** @param {Rgb} colour @returns {string} */
export function css(colour) {
  return `rgb(${colour.map(Math.round).join(" ")})`;
}

/** @param {Rgb} from @param {Rgb} to @param {number} share 0: from, 1: to @returns {Rgb} */
export function mix(from, to, share) {
  const part = (/** @type {0 | 1 | 2} */ i) => from[i] + (to[i] - from[i]) * share;
  return [part(0), part(1), part(2)];
}

/** The relative luminance of WCAG 2. @param {Rgb} colour @returns {number} */
function luminance(colour) {
  const linear = (/** @type {number} */ value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colour.map((part) => linear(part / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of WCAG 2: 1 to 21. @param {Rgb} one @param {Rgb} other @returns {number} */
export function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Black or white, whichever is easier to read on *ground*. @param {Rgb} ground @returns {Rgb} */
export function textOn(ground) {
  return contrast(ground, BLACK) >= contrast(ground, WHITE) ? BLACK : WHITE;
}

/** Little to much. @param {number} share 0 to 1 @param {boolean} dark @returns {Rgb} */
export function sequential(share, dark) {
  return along(dark ? DARK_RAMP : RAMP, share);
}

/** One side to the other: orange, grey, blue. @param {number} share 0 to 1 @param {boolean} dark @returns {Rgb} */
export function diverging(share, dark) {
  return along(dark ? DARK_SIDES : SIDES, share);
}

/** @param {Rgb[]} stops @param {number} share @returns {Rgb} */
function along(stops, share) {
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const before = Math.min(Math.floor(place), stops.length - 2);
  return mix(stops[before], stops[before + 1], place - before);
}
