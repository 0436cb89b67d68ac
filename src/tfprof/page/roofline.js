/**
 * Where the points of a roofline are: work per byte against speed, both on logarithmic axes.
 *
 *   FLOP/s │        ___________ peak FLOP/s      A point below the slope waits for memory,
 *          │      ／  •                          one below the flat roof for arithmetic.
 *          │    ／ •     ◉
 *          └──────────────────── FLOP per byte
 * @module
 */

/** @typedef {{name: string, path: string, work: number, bytes: number, micros: number}} Layer */
/** @typedef {{layer: Layer, x: number, y: number, width: number, height: number}} Dot */
/** @typedef {{flops: number, bandwidth: number}} Peaks of the machine; 0: unknown */
/** @typedef {{at: number, value: number}} Tick */

const EDGE = { left: 52, right: 16, top: 26, bottom: 38 };
const LEAST = 0.001; // of the time of all layers: the speed of shorter ones is noise
const RADIUS = [4, 18]; // of the shortest and the longest layer, in pixels

/** The layers that have work, bytes and time, without those that hold others or take next to no time. @param {any[]} rows of the summary @returns {Layer[]} */
export function layersOf(rows) {
  const holds = new Set(rows.map((row) => row.parent));
  const number = (/** @type {any} */ value) => Number(value ?? 0); // of BigInts, too
  const time = rows.reduce((sum, row) => sum + (holds.has(row.row) ? 0 : number(row.micros)), 0);
  return rows.filter((row) => !holds.has(row.row)).map((row) => ({
    name: row.name, path: row.path, work: number(row.float_ops), micros: number(row.micros),
    bytes: number(row.parameter_bytes) + number(row.activation_bytes),
  })).filter(({ work, bytes, micros }) => work > 0 && bytes > 0 && micros > LEAST * time);
}

/** @param {Layer} layer @returns {{intensity: number, speed: number}} FLOP per byte and FLOP/s */
export function rates({ work, bytes, micros }) {
  return { intensity: work / bytes, speed: (work / micros) * 1e6 };
}

/**
 * @param {Layer[]} layers
 * @param {Peaks} peaks
 * @param {number} width
 * @param {number} height
 * @returns {{dots: Dot[], roof: [number, number][], across: Tick[], up: Tick[], left: number, bottom: number}}
 */
export function roofline(layers, peaks, width, height) {
  const { flops, bandwidth } = peaks;
  const all = layers.map(rates);
  const across = axis([...all.map(({ intensity }) => intensity), flops && bandwidth ? flops / bandwidth : 0], EDGE.left, width - EDGE.right);
  const up = axis([...all.map(({ speed }) => speed), flops], height - EDGE.bottom, EDGE.top);
  const longest = Math.max(...layers.map(({ micros }) => micros));
  const dots = layers.map((layer, at) => {
    const radius = RADIUS[0] + (RADIUS[1] - RADIUS[0]) * Math.sqrt(layer.micros / longest);
    const [x, y] = [across.place(all[at].intensity), up.place(all[at].speed)];
    return { layer, x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
  });
  dots.sort((a, b) => b.width - a.width); // the small ones on top
  const corners = [across.least, flops && bandwidth ? flops / bandwidth : across.least, across.most].sort((a, b) => a - b);
  /** @type {[number, number][]} */
  const roof = flops || bandwidth ? corners.map((one) => [across.place(one), up.place(limit(peaks, one).speed)]) : [];
  return { dots, roof, across: across.ticks, up: up.ticks, left: EDGE.left, bottom: height - EDGE.bottom };
}

/** A logarithmic axis over whole powers of ten. @param {number[]} values @param {number} from @param {number} to */
function axis(values, from, to) {
  const known = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...known)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known))));
  const place = (/** @type {number} */ value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const ticks = Array.from({ length: high - low + 1 }, (_, at) => ({ value: 10 ** (low + at), at: place(10 ** (low + at)) }));
  return { least: 10 ** low, most: 10 ** high, place, ticks };
}

/** What the machine allows at some work per byte, and what limits it. @param {Peaks} peaks @param {number} intensity */
export function limit({ flops, bandwidth }, intensity) {
  const speed = Math.min(flops || Infinity, bandwidth ? bandwidth * intensity : Infinity);
  return { speed, by: flops && bandwidth ? (bandwidth * intensity < flops ? "memory" : "arithmetic") : "" };
}

/** The number of a text such as 312T, 1.5e12 or 900 GB/s; 0 where it is none. @param {string} text */
export function magnitude(text) {
  const parts = /^\s*(\d+\.?\d*(?:e[+-]?\d+)?)\s*([kMGTPE]?)\s*(?:FLOPS?|FLOP\/s|B|B\/s)?\s*$/i.exec(text);
  return parts ? Number(parts[1]) * 1000 ** " kMGTPE".toUpperCase().indexOf(parts[2].toUpperCase() || " ") : 0;
}
