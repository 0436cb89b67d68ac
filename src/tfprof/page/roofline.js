/**
 * Where the points of a roofline are: work per byte against speed, both on logarithmic axes.
 *
 *   FLOP/s │        ___________ peak FLOP/s      A point below the slope waits for memory,
 *          │      ／  •                          one below the flat roof for arithmetic.
 *          └──────────────────── FLOP per byte
 * @module
 */

/** @typedef {{path: string, work: number, bytes: number, micros: number, lower: {work: boolean, bytes: boolean}}} Layer lower: which are lower bounds */
/** @typedef {{layer: Layer, x: number, y: number, width: number, height: number}} Dot */
/** @typedef {{flops: number, bandwidth: number}} Peaks of the machine; 0: unknown */

const EDGE = { left: 52, right: 16, top: 26, bottom: 38 };
const LEAST = 0.001; // of the time of all layers: the speed of shorter ones is noise
const [SMALLEST, LARGEST] = [4, 18]; // radius of the shortest and the longest layer

/** The layers that have work, bytes and time, without those that hold others or take next to no time. @param {any[]} rows of the summary @returns {Layer[]} */
export function layersOf(rows) {
  const holds = new Set(rows.map((row) => row.parent));
  const number = (/** @type {any} */ value) => Number(value ?? 0); // of BigInts, too; a formula of open sizes is none
  const leaves = rows.filter((row) => !holds.has(row.row)).map((row) => ({
    path: row.path, work: number(row.float_ops), micros: number(row.micros), bytes: number(row.parameter_bytes) + number(row.activation_bytes),
    lower: { work: row.incomplete.includes("float_ops"), bytes: row.incomplete.some((/** @type {string} */ name) => name.endsWith("_bytes")) },
  }));
  const time = leaves.reduce((sum, { micros }) => sum + (micros || 0), 0);
  return leaves.filter(({ work, bytes, micros }) => work > 0 && bytes > 0 && micros > LEAST * time);
}

/** FLOP per byte and FLOP/s. @param {Layer} layer @returns {{intensity: number, speed: number}} */
export function rates({ work, bytes, micros }) {
  return { intensity: work / bytes, speed: (work / micros) * 1e6 };
}

/** What the machine allows at some work per byte, and what limits it. @param {Peaks} peaks @param {number} intensity */
export function limit({ flops, bandwidth }, intensity) {
  const speed = Math.min(flops || Infinity, bandwidth ? bandwidth * intensity : Infinity);
  return { speed, by: flops && bandwidth ? (bandwidth * intensity < flops ? "memory" : "arithmetic") : "" };
}

/** Places in a picture of this size; the small dots on top. @param {Layer[]} layers @param {Peaks} peaks @param {number} width @param {number} height */
export function roofline(layers, peaks, width, height) {
  const all = layers.map(rates);
  const ridge = peaks.bandwidth ? peaks.flops / peaks.bandwidth : 0;
  const across = axis([...all.map(({ intensity }) => intensity), ridge], EDGE.left, width - EDGE.right);
  const up = axis([...all.map(({ speed }) => speed), peaks.flops], height - EDGE.bottom, EDGE.top);
  const longest = layers.reduce((most, { micros }) => Math.max(most, micros), 0);
  const dots = layers.map((layer, at) => {
    const radius = SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(layer.micros / longest);
    return { layer, x: across.place(all[at].intensity) - radius, y: up.place(all[at].speed) - radius, width: 2 * radius, height: 2 * radius };
  });
  dots.sort((a, b) => b.width - a.width);
  const [left, right] = [across.ticks[0].value, across.ticks[across.ticks.length - 1].value];
  const corners = peaks.flops || peaks.bandwidth ? [left, ridge || left, right] : [];
  const roof = corners.map((one) => ({ x: across.place(one), y: up.place(limit(peaks, one).speed) }));
  return { dots, roof, across: across.ticks, up: up.ticks };
}

/** A logarithmic axis over whole powers of ten. @param {number[]} values @param {number} from @param {number} to */
function axis(values, from, to) {
  const known = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(known.reduce((least, value) => Math.min(least, value))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(known.reduce((most, value) => Math.max(most, value)))));
  const place = (/** @type {number} */ value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  return { place, ticks: Array.from({ length: high - low + 1 }, (_, at) => ({ value: 10 ** (low + at), at: place(10 ** (low + at)) })) };
}

/** The number of a text such as 312T, 1.5e12 or 900 GB/s; 0 where it is none. @param {string} text */
export function magnitude(text) {
  const parts = /^\s*(\d+\.?\d*(?:e[+-]?\d+)?)\s*([KMGTPE]?)\s*(?:FLOPS?|FLOP\/s|B|B\/s)?\s*$/i.exec(text);
  const number = parts ? Number(parts[1]) * 1000 ** " KMGTPE".indexOf(parts[2].toUpperCase() || " ") : 0;
  return number < 1e30 ? number : 0; // no machine can do more
}
