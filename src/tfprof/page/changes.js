// What changed since another profile, as writers/page_changes.py writes it: the scopes of both
// profiles in one tree, the totals of both, and what their differences are in words and colours.
import { amount } from "./amounts.js";
import { marksOf } from "./arrays.js";
import { Cache } from "./cache.js";
import { css, diverging } from "./colours.js";
import { Tree, endsOf } from "./tree.js";
import { percent } from "./units.js";

/** @typedef {(row: number) => string} Text of a row */
/** @typedef {ReturnType<typeof changeOf>} Change of one metric */

const [BASE, NEW] = [1, 2]; // bits: the sides that have a row, or whose number is a lower bound
const STRONGEST = 2; // times as much: where the scale of colours ends
const MOST_PERCENT = 10; // times as much: where percents end

export class Changes extends Cache {
  /** @param {import("./columns.js").Columns} columns @param {any} meta */
  constructor(columns, meta) {
    super();
    this.meta = meta;
    this.columns = columns;
    this.tree = new Tree(endsOf(columns.ints("changes.depth")));
    this.label = columns.strings("changes.label");
    this.node = columns.ints("changes.node"); // of this profile; -1: none
    this.sides = columns.ints("changes.sides");
  }

  /** "+" for a row that only this profile has, "-" for one that only the base has. @param {number} row */
  mark(row) {
    return row === 0 ? "" : ({ [BASE]: "-", [NEW]: "+" }[this.sides[row]] ?? "");
  }

  /** @param {import("./picture_controls.js").Metric} metric @returns {Change} */
  of({ name, unit }) {
    return this.cached(name, () => changeOf(this.columns, this.tree, name, unit));
  }
}

/** The totals of a metric on both sides, and what is said of them. @param {import("./columns.js").Columns} columns @param {Tree} tree @param {string} name @param {string} unit */
function changeOf(columns, tree, name, unit) {
  const [base, now] = ["base", "new"].map((side) => columns.column(`changes.${side}.${name}`));
  const [lower, low, high, standsOut] = ["lower", "low", "high", "stands_out"].map((kind) => `changes.${kind}.${name}`).map((at) => (columns.has(at) ? columns.column(at) : null));
  /** How much more it is than in the base; exact. @param {number} row @returns {number | bigint} */
  const more = (row) => {
    const [before, after] = [base[row], now[row]];
    return typeof before === "number" && typeof after === "number" ? after - before : BigInt(after) - BigInt(before) || 0;
  };
  const isLower = (/** @type {number} */ row, /** @type {number} */ sides) => (Number(lower?.[row] ?? 0) & sides) > 0;
  const isNoise = (/** @type {number} */ row) => standsOut !== null && !standsOut[row];
  const unsure = (/** @type {number} */ row, /** @type {string} */ text) => (isLower(row, BASE | NEW) ? `${text} ?` : text);
  /** @type {Text} */ const baseText = (row) => amount(base[row], unit, isLower(row, BASE));
  /** @type {Text} */ const newText = (row) => amount(now[row], unit, isLower(row, NEW));
  /** @type {Text} */ const moreText = (row) => unsure(row, `${isNoise(row) && more(row) !== 0 ? "~" : ""}${signed(more(row), unit)}`);
  /** @type {Text} */ const ratioText = (row) => {
    const times = Number(now[row]) / Number(base[row]); // as a share of the base
    if (more(row) === 0 || !Number.isFinite(times)) return more(row) === 0 ? "" : "new";
    return unsure(row, times >= MOST_PERCENT ? `${amount(Math.round(times), "count")}×` : `${times < 1 ? "-" : "+"}${percent(Math.abs(times - 1), 1)}`);
  };
  /** @type {Text} */ const noiseText = (row) => (low && high && more(row) !== 0 ? `95% interval: ${signed(low[row], unit)} to ${signed(high[row], unit)}` : "");
  /** @type {Text} */ const sentence = (row) => {
    if (more(row) === 0) return `${newText(row)}, no change`;
    return `${baseText(row)} → ${newText(row)} (${[moreText(row).replace("~", ""), Number(base[row]) ? ratioText(row) : "", isNoise(row) ? "may be noise" : ""].filter(Boolean).join(", ")})`;
  };
  const strength = (/** @type {number} */ row) => (isNoise(row) || more(row) === 0 ? 0 : strengthOf(Number(now[row]) / Number(base[row])));
  const cache = new Cache();
  const differs = () => cache.cached("differs", () => tree.holds(marksOf(tree.length, (row) => more(row) !== 0))); // or holds a row that does
  return { base, now, more, differs, cache, hasNoise: standsOut !== null, isNoise, isLower: (/** @type {number} */ row) => isLower(row, BASE | NEW), baseText, newText, moreText, ratioText, noiseText, sentence, strength };
}

/** @param {number | bigint} number @param {string} unit */
function signed(number, unit) {
  return `${number > 0 ? "+" : ""}${amount(number, unit)}`;
}

/** From less to more, -1 to 1, so that some percent are seen, too. @param {number} times as much */
function strengthOf(times) {
  const powers = Math.log2(Math.max(times, 1 / STRONGEST)) / Math.log2(STRONGEST);
  return Math.sign(powers) * Math.sqrt(Math.min(1, Math.abs(powers)));
}

/** Orange for more, blue for less, as in the heat map of workers. @param {number} strength @param {boolean} dark */
export function changeColour(strength, dark) {
  return diverging(0.5 - strength / 2, dark);
}

/** What the colours mean. @param {boolean} dark @param {boolean} hasNoise @returns {{colour: string, text: string}[]} */
export function changeLegend(dark, hasNoise) {
  const entry = (/** @type {number} */ times, /** @type {string} */ text) => ({ colour: css(changeColour(strengthOf(times), dark)), text });
  return [
    entry(1 / STRONGEST, "half or less, or removed (-)"), entry(0.9, "-10%"), entry(1, hasNoise ? "no change, or may be noise (~)" : "no change"),
    entry(1.1, "+10%"), entry(STRONGEST, "twice or more, or added (+)"),
  ];
}
