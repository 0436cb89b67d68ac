/**
 * What a step records of memory, per device:
 *
 *     in use      bytes that the allocator had in use after an execution; GPU allocators report it
 *     held        running sum of the allocation records of the step
 *     operation   otherwise: the peak bytes of each operation, at its end; what stays allocated
 *                 between operations is not recorded
 */
import { search, since } from "./lanes.js";

/** @typedef {import("./columns.js").Column} Column */
/** @typedef {import("./profile.js").Step} Step */
/**
 * @typedef {object} Curve
 * @property {"in use" | "operation"} kind
 * @property {number} device a row of types, -1 unknown
 * @property {Float64Array} time microseconds since the origin, ascending
 * @property {Int32Array} row the row of the step's memory columns
 * @property {Float64Array} bytes
 * @property {number} peak the point with the most bytes
 * @property {{ time: Float64Array, bytes: Float64Array }} held
 */

/**
 * @param {{ device: Int32Array }} nodes @param {Step} step
 * @param {number | bigint} origin
 * @returns {Curve[]} by device; none where nothing is recorded
 */
export function memoryCurves(nodes, step, origin) {
  const deviceOf = (/** @type {number} */ row) => nodes.device[step.memory_node[row]];
  const curves = [];
  const rows = [...step.memory_us.keys()].filter((row) => step.memory_us[row] > 0);
  for (const device of [...new Set(rows.map(deviceOf))].sort((a, b) => a - b)) {
    const here = rows.filter((row) => deviceOf(row) === device);
    const reported = here.filter((row) => step.in_use[row] > 0);
    const kind = reported.length ? "in use" : "operation";
    const curve = points(reported.length ? reported : here, step.memory_us, kind === "in use" ? step.in_use : step.peak, origin);
    const records = [...step.allocation_us.keys()].filter((row) => nodes.device[step.allocation_node[row]] === device);
    if (curve.bytes[curve.peak] > 0) curves.push({ kind, device, ...curve, held: running(records, step, origin) });
  }
  return /** @type {Curve[]} */ (curves);
}

/**
 * The points in order of time; of equal times the one with the most bytes.
 * @param {number[]} rows @param {Column} us @param {Column} column @param {number | bigint} origin
 */
function points(rows, us, column, origin) {
  const [at, amount] = [since(us, origin), since(column, 0)];
  const order = rows.slice().sort((a, b) => at[a] - at[b] || amount[b] - amount[a]);
  const row = Int32Array.from(order.filter((one, place) => place === 0 || at[order[place - 1]] !== at[one]));
  const bytes = Float64Array.from(row, (one) => amount[one]);
  const peak = bytes.reduce((most, value, place) => (value > bytes[most] ? place : most), 0);
  return { time: Float64Array.from(row, (one) => at[one]), row, bytes, peak };
}

/**
 * @param {number[]} rows @param {Step} step
 * @param {number | bigint} origin
 */
function running(rows, step, origin) {
  const [at, amount] = [since(step.allocation_us, origin), since(step.allocation_bytes, 0)];
  const order = rows.slice().sort((a, b) => at[a] - at[b] || a - b);
  let sum = 0;
  const bytes = Float64Array.from(order, (row) => (sum += amount[row]));
  return { time: Float64Array.from(order, (row) => at[row]), bytes };
}

/**
 * The most bytes in each pixel of from..to. A level holds until the next point; a moment does not.
 * @param {{ time: Float64Array, bytes: Float64Array }} curve @param {boolean} level
 * @param {number} from @param {number} to microseconds @param {number} width pixels
 */
export function perPixel(curve, level, from, to, width) {
  const most = new Float64Array(width);
  const pixel = (to - from) / width;
  const first = search(0, curve.time.length, (at) => curve.time[at] >= from);
  let held = level && first > 0 ? curve.bytes[first - 1] : 0;
  for (let x = 0, at = first; x < width; x += 1) {
    most[x] = held;
    for (; at < curve.time.length && curve.time[at] < from + (x + 1) * pixel; at += 1) {
      most[x] = Math.max(most[x], curve.bytes[at]);
      if (level) held = curve.bytes[at];
    }
  }
  return most;
}
