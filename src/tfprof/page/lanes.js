/**
 * What ran when: the executions of one step, in lanes, one group of lanes per device.
 *
 *     gpu:0   lane 0  |MatMul   |   |Relu|       an execution goes to the lowest lane that is free
 *             lane 1      |Add|                  when it starts
 *     cpu:0   lane 2  |w|
 *
 * Columns are sorted by lane, then start. In a lane nothing overlaps, so ends ascend as well and
 * whatever is visible is found by binary search.
 */

/** @typedef {import("./columns.js").Column} Column */
/**
 * @typedef {object} Lanes
 * @property {number | bigint} origin the first start
 * @property {number} span microseconds from the first start to the last end
 * @property {Int32Array} row the row of the step
 * @property {Float64Array} start microseconds since the origin
 * @property {Float64Array} us
 * @property {Float64Array} busy sum of the durations before each execution
 * @property {Int32Array} first the first execution of each lane, and the end of the last lane
 * @property {{ device: number, lane: number, lanes: number }[]} groups
 * @property {number} untimed how many executions are in no lane
 */

/** The lowest of many lanes that is free: a tree of the earliest end in each half. */
class FreeLanes {
  /** @param {number} most */
  constructor(most) {
    this.size = 1;
    while (this.size < most) this.size *= 2;
    this.ends = new Float64Array(2 * this.size).fill(-Infinity);
  }

  /** @param {number} start @param {number} end @returns {number} the lane, taken until *end* */
  take(start, end) {
    let at = 1;
    while (at < this.size) {
      at *= 2;
      if (this.ends[at] > start) at += 1;
    }
    const lane = at - this.size;
    this.ends[at] = end;
    while (at > 1) {
      at >>= 1;
      this.ends[at] = Math.min(this.ends[2 * at], this.ends[2 * at + 1]);
    }
    return lane;
  }
}

/** @param {Column} column @param {number | bigint} origin @returns {Float64Array} */
export function since(column, origin) {
  const base = BigInt(origin);
  if (column instanceof BigInt64Array) return Float64Array.from(column, (value) => Number(value - base));
  return Float64Array.from(column, (value) => value - Number(origin));
}

/** @param {import("./profile.js").Step} step @returns {Lanes} */
export function laneLayout(step) {
  const { device, devices } = step;
  const timed = Int32Array.from(step.counts_as.keys()).filter((row) => step.counts_as[row] !== 0);
  /** @type {number | bigint} */
  let origin = timed.length ? step.start_us[timed[0]] : 0;
  for (const row of timed) if (step.start_us[row] < origin) origin = step.start_us[row];
  const start = since(step.start_us, origin);
  const us = since(step.us, 0).map((value) => Math.max(0, value));
  const inOrder = [...Array(devices.length).keys()].map((row) => ({ row, name: devices.text(row) }));
  inOrder.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const rank = new Int32Array(devices.length);
  inOrder.forEach(({ row }, place) => (rank[row] = place));
  const rankOf = (/** @type {number} */ row) => rank[device[row]];
  const order = timed.slice().sort((a, b) => rankOf(a) - rankOf(b) || start[a] - start[b] || a - b);

  const laneOf = new Int32Array(order.length);
  const groups = [];
  let lane = 0;
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && rankOf(order[to]) === rankOf(order[from])) to += 1;
    const free = new FreeLanes(to - from);
    let lanes = 0;
    for (let at = from; at < to; at += 1) {
      const taken = free.take(start[order[at]], start[order[at]] + us[order[at]]);
      lanes = Math.max(lanes, taken + 1);
      laneOf[at] = lane + taken;
    }
    groups.push({ device: device[order[from]], lane, lanes });
    lane += lanes;
  }
  return { origin, groups, untimed: step.node.length - order.length, ...byLane(order, laneOf, lane, start, us) };
}

/**
 * @param {Int32Array} order @param {Int32Array} laneOf @param {number} lanes
 * @param {Float64Array} start @param {Float64Array} us of all rows of the step
 */
function byLane(order, laneOf, lanes, start, us) {
  const first = new Int32Array(lanes + 1);
  for (const lane of laneOf) first[lane + 1] += 1;
  for (let lane = 0; lane < lanes; lane += 1) first[lane + 1] += first[lane];
  const next = first.slice();
  const row = new Int32Array(order.length);
  for (let at = 0; at < order.length; at += 1) row[next[laneOf[at]]++] = order[at];
  const sorted = { start: Float64Array.from(row, (at) => start[at]), us: Float64Array.from(row, (at) => us[at]) };
  const busy = new Float64Array(row.length + 1);
  let span = 0;
  for (let at = 0; at < row.length; at += 1) {
    busy[at + 1] = busy[at] + sorted.us[at];
    span = Math.max(span, sorted.start[at] + sorted.us[at]);
  }
  return { row, first, busy, span, ...sorted };
}

/**
 * The first of from..to where *reached* holds; it must hold for all that follow.
 * @param {number} from @param {number} to @param {(at: number) => boolean} reached
 */
export function search(from, to, reached) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (reached(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/**
 * What to draw of a lane: an execution each, or several that start in the same pixel.
 * @param {Lanes} lanes @param {number} lane @param {number} from @param {number} to microseconds
 * @param {number} pixel microseconds
 * @param {(first: number, last: number) => void} draw executions first..last-1
 */
export function blocks(lanes, lane, from, to, pixel, draw) {
  const { start, us } = lanes;
  const last = lanes.first[lane + 1];
  let at = search(lanes.first[lane], last, (one) => start[one] + us[one] >= from);
  while (at < last && start[at] <= to) {
    let next = at + 1;
    if (us[at] < pixel) {
      const edge = (Math.floor(start[at] / pixel) + 1) * pixel;
      next = search(next, last, (one) => start[one] >= edge);
      // Only the last one can reach beyond the pixel: if it is wide, it is drawn by itself.
      if (next - 1 > at && us[next - 1] >= pixel) next -= 1;
    }
    draw(at, next);
    at = next;
  }
}

/**
 * Round times to label on an axis, with their texts.
 * @param {number} from @param {number} to microseconds @param {number} most
 * @returns {{ time: number, text: string }[]}
 */
export function ticks(from, to, most) {
  const rough = Math.max((to - from) / Math.max(most, 1), 1e-3);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.9999) ?? 10);
  const [unit, name] = to >= 1e6 ? [1e6, "s"] : to >= 1e3 ? [1e3, "ms"] : [1, "us"];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  const texts = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to; at += 1) {
    texts.push({ time: at * step, text: `${((at * step) / unit).toFixed(decimals)} ${name}` });
  }
  return texts;
}
