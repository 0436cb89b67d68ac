// What ran when: the executions of one step, in lanes, one group of lanes per device.
//
//     gpu:0   lane 0  |MatMul   |   |Relu|       an execution goes to the lowest lane that is free
//             lane 1      |Add|                  when it starts
//     cpu:0   lane 2  |w|
//
// Columns are sorted by lane, then start. In a lane nothing overlaps, so ends ascend as well and
// whatever is in sight is found by bisection.
import { bisect, grouped, range, take } from "./arrays.js";

/**
 * @typedef {object} Lanes times are microseconds; starts are since the origin
 * @property {number | bigint} origin the first start
 * @property {number} span from the first start to the last end
 * @property {Int32Array} row of the step
 * @property {Float64Array} start
 * @property {Float64Array} us
 * @property {Float64Array} busy sum of the durations before each execution
 * @property {Int32Array} first the first execution of each lane, and the end of the last lane
 * @property {{ device: number, lane: number, lanes: number }[]} groups
 * @property {number} untimed how many executions are in no lane
 */

/** @param {import("./columns.js").Column} column @param {number | bigint} origin @returns {Float64Array} */
export function since(column, origin) {
  const times = new Float64Array(column.length); // loops, because from() is slow
  if (column instanceof BigInt64Array) for (let at = 0; at < times.length; at += 1) times[at] = Number(column[at] - BigInt(origin));
  else for (let at = 0; at < times.length; at += 1) times[at] = column[at] - Number(origin);
  return times;
}

/** Takes the lowest lane that is free at *start*, until *end*. @param {number} most lanes @returns {(start: number, end: number) => number} */
function lowestFree(most) {
  const size = 2 ** Math.ceil(Math.log2(most));
  const ends = new Float64Array(2 * size).fill(-Infinity); // a tree: the earliest end below each place
  return (start, end) => {
    let at = 1;
    while (at < size) at = ends[2 * at] > start ? 2 * at + 1 : 2 * at;
    const lane = at - size;
    ends[at] = end;
    for (at >>= 1; at > 0; at >>= 1) ends[at] = Math.min(ends[2 * at], ends[2 * at + 1]);
    return lane;
  };
}

/** @param {import("./profile.js").Step} step @returns {Lanes} */
export function laneLayout(step) {
  const { device, devices, counts_as, start_us } = step;
  const timed = range(counts_as.length).filter((row) => counts_as[row] !== 0);
  /** @type {number | bigint} */ let origin = timed.length ? start_us[timed[0]] : 0;
  for (const row of timed) if (start_us[row] < origin) origin = start_us[row];
  const start = since(start_us, origin);
  const us = since(step.us, 0).map((value) => Math.max(0, value));
  const rank = new Int32Array(devices.length); // by name
  [...rank.keys()].sort((a, b) => devices.compare(a, b)).forEach((row, place) => (rank[row] = place));
  const order = timed.slice().sort((a, b) => rank[device[a]] - rank[device[b]] || start[a] - start[b] || a - b);

  const laneOf = new Int32Array(order.length);
  const groups = [];
  let lane = 0;
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && device[order[to]] === device[order[from]]) to += 1;
    const laneAt = lowestFree(to - from);
    let lanes = 0;
    for (let at = from; at < to; at += 1) {
      laneOf[at] = lane + laneAt(start[order[at]], start[order[at]] + us[order[at]]);
      lanes = Math.max(lanes, laneOf[at] - lane + 1);
    }
    groups.push({ device: device[order[from]], lane, lanes });
    lane += lanes;
  }
  return { origin, groups, untimed: counts_as.length - order.length, ...byLane(order, laneOf, lane, start, us) };
}

/** The executions by lane. @param {Int32Array} order @param {Int32Array} laneOf @param {number} lanes @param {Float64Array} start @param {Float64Array} us of the step's rows */
function byLane(order, laneOf, lanes, start, us) {
  const { first, order: places } = grouped(laneOf, lanes);
  const row = take(order, places);
  const busy = new Float64Array(row.length + 1);
  let span = 0;
  row.forEach((one, at) => {
    busy[at + 1] = busy[at] + us[one];
    span = Math.max(span, start[one] + us[one]);
  });
  return { row, first, busy, span, start: take(start, row), us: take(us, row) };
}

/** What to draw of a lane: each execution, or together those that start in the same pixel. @param {Lanes} lanes @param {number} lane
 * @param {{from: number, to: number, pixel: number}} range in microseconds
 * @param {(first: number, last: number) => void} draw executions first..last-1 */
export function blocks({ start, us, first }, lane, { from, to, pixel }, draw) {
  const end = first[lane + 1];
  let at = bisect(first[lane], end, (one) => start[one] + us[one] >= from);
  while (at < end && start[at] <= to) {
    let next = at + 1;
    if (us[at] < pixel) {
      const edge = (Math.floor(start[at] / pixel) + 1) * pixel;
      next = bisect(next, end, (one) => start[one] >= edge);
      // Only the last one can reach beyond the pixel: if it is wide, it is drawn by itself.
      if (next - 1 > at && us[next - 1] >= pixel) next -= 1;
    }
    draw(at, next);
    at = next;
  }
}

/** Round times to label on an axis. @param {number} from @param {number} to microseconds @param {number} most @returns {{ time: number, text: string }[]} */
export function ticks(from, to, most) {
  const rough = Math.max((to - from) / Math.max(most, 1), 1e-3);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.9999) ?? 10);
  const [unit, name] = to >= 1e6 ? [1e6, "s"] : to >= 1e3 ? [1e3, "ms"] : [1, "us"];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, at) => {
    const time = (first + at) * step;
    return { time, text: `${(time / unit).toFixed(decimals)} ${name}` };
  });
}
