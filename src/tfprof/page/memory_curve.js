// What a step records of memory, per device:
//
//     in use      bytes that the allocator had in use after an execution; GPU allocators report it
//     held        running sum of the allocation records of the step
//     operation   otherwise: the peak bytes of each operation, at its end; what stays allocated
//                 between operations is not recorded
import { bisect, take } from "./arrays.js";
import { since } from "./lanes.js";

/** @typedef {{ time: Float64Array, bytes: Float64Array }} Points time: microseconds since the origin, ascending */
/** @typedef {Points & { kind: "in use" | "operation", device: number, row: Int32Array, peak: number, held: Points }} Curve device: a row of types, -1 unknown; row: of the memory columns; peak: the point with the most bytes */

/** The curves by device; none where nothing is recorded. @param {{ device: Int32Array }} nodes @param {import("./profile.js").Step} step @param {number | bigint} origin @returns {Curve[]} */
export function memoryCurves(nodes, step, origin) {
  const byDevice = (/** @type {Int32Array} */ node, /** @type {import("./columns.js").Column} */ us) => {
    /** @type {Map<number, number[]>} */ const rows = new Map();
    for (let row = 0; row < us.length; row += 1) {
      const device = nodes.device[node[row]];
      if (us[row] > 0) rows.set(device, rows.get(device) ?? []).get(device)?.push(row);
    }
    return rows;
  };
  const records = byDevice(step.allocation_node, step.allocation_us);
  const [time, allocated] = [since(step.memory_us, origin), { time: since(step.allocation_us, origin), bytes: since(step.allocation_bytes, 0) }];
  /** @type {Curve[]} */ const curves = [];
  for (const [device, rows] of [...byDevice(step.memory_node, step.memory_us)].sort(([a], [b]) => a - b)) {
    const reported = rows.filter((row) => step.in_use[row] > 0);
    const kind = reported.length ? "in use" : "operation";
    const bytes = since(kind === "in use" ? step.in_use : step.peak, 0);
    const order = (reported.length ? reported : rows).sort((a, b) => time[a] - time[b] || bytes[b] - bytes[a]);
    // Of equal times, the one with the most bytes.
    const row = Int32Array.from(order.filter((one, place) => place === 0 || time[order[place - 1]] !== time[one]));
    const peak = row.reduce((most, one, place) => (bytes[one] > bytes[row[most]] ? place : most), 0);
    if (bytes[row[peak]] > 0) curves.push({ kind, device, row, time: take(time, row), bytes: take(bytes, row), peak, held: running(records.get(device) ?? [], allocated) });
  }
  return curves;
}

/** @param {number[]} rows @param {Points} changes @returns {Points} */
function running(rows, changes) {
  const order = rows.sort((a, b) => changes.time[a] - changes.time[b] || a - b);
  let sum = 0;
  return { time: take(changes.time, order), bytes: Float64Array.from(order, (row) => (sum += changes.bytes[row])) };
}

/** The most bytes in each pixel. @param {Points} curve @param {boolean} holds until the next point @param {{from: number, to: number, width: number}} range in sight */
export function perPixel(curve, holds, { from, to, width }) {
  const most = new Float64Array(width);
  let at = bisect(0, curve.time.length, (point) => curve.time[point] >= from);
  let held = holds && at > 0 ? curve.bytes[at - 1] : 0;
  for (let x = 0; x < width; x += 1) {
    most[x] = held;
    for (; at < curve.time.length && curve.time[at] < from + ((x + 1) * (to - from)) / width; at += 1) {
      most[x] = Math.max(most[x], curve.bytes[at]);
      if (holds) held = curve.bytes[at];
    }
  }
  return most;
}
