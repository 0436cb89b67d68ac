// The picture of a step: boxes in lanes, memory below; the pointer and the keyboard find them.
//
//     0 ms     10 ms     20 ms
//     gpu:0 ▐MatMul▌▐Add▌ ▐▌▌        a box narrower than a pixel stands for several executions
//     bytes ▁▂▅▅▅▅▂▂▁▁▁
import { bisect } from "./arrays.js";
import { Picture } from "./canvas.js";
import { css, theme } from "./colours.js";
import { paintAxis, paintBar, paintMemory } from "./lane_paint.js";
import { blocks, laneLayout } from "./lanes.js";
import { memoryCurves } from "./memory_curve.js";
import { shown } from "./strings.js";
import { plural, short } from "./units.js";

/** @typedef {import("./memory_curve.js").Curve} Curve */
/** @typedef {import("./canvas.js").Shape & {lane: number, first: number, last: number, curve?: Curve}} Box lane -1: memory */

const [AXIS, HEAD, GAP] = [22, 20, 4]; // heights in pixels
const [LANE, FEW_LANES, TALL_LANE] = [18, 8, 26];
const [MEMORY, TALL_MEMORY, MEMORY_SHARE] = [58, 240, 0.45]; // the share of the height, at most
const NEAR = 2; // pixels beside a narrow box that still point at it
const LONGEST = 300; // letters of a name that are shown
/** The category of all types but the first ones. */
export const OTHERS = 8;

/** What a step looks like, whatever is in sight. @param {import("./profile.js").Profile} profile
 * @param {import("./profile.js").Step} step */
export function sceneOf(profile, step) {
  const { op } = profile.nodes;
  const lanes = laneLayout(step);
  const node = lanes.row.map((row) => step.node[row]);
  const curves = memoryCurves(profile.nodes, step, lanes.origin).sort((a, b) => b.bytes[b.peak] - a.bytes[a.peak]);
  const top = new Float64Array(lanes.first.length - 1); // of each lane
  const tall = top.length > FEW_LANES ? LANE : TALL_LANE;
  let height = AXIS;
  for (const { lane, lanes: count } of lanes.groups) {
    for (let at = 0; at < count; at += 1) top[lane + at] = height + HEAD + at * tall;
    height += HEAD + count * tall + GAP;
  }
  const time = new Float64Array(profile.types.length).fill(-1); // of each operation type that ran
  node.forEach((one, at) => (time[op[one]] = Math.max(time[op[one]], 0) + lanes.us[at]));
  const types = [...time.entries()].filter(([, us]) => us >= 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const rank = new Uint8Array(time.length).fill(OTHERS); // the category of each type
  types.slice(0, OTHERS).forEach(([type], at) => (rank[type] = at));
  const devices = shortNames(lanes.groups.map(({ device }) => step.devices.text(device)));
  const holders = shortNames(curves.map(({ device }) => (device < 0 ? "unknown device" : profile.types.text(device))));
  return { profile, step, lanes, node, curves, top, tall, height, types, rank, devices, holders };
}

/** Names of devices without what all of them share. @param {string[]} names @returns {string[]} */
export function shortNames(names) {
  const parts = names.map((name) => name.split("/"));
  const differs = (/** @type {string} */ part) => parts.some((other) => !other.includes(part));
  return parts.map((own) => shown((own.filter(differs).join("/") || own[own.length - 1]).replace("device:", "").slice(0, LONGEST)));
}

/** The highest point of a curve in words, and its node. @param {ReturnType<typeof sceneOf>} scene @param {number} at the curve */
export function peakOf({ step, curves, holders }, at) {
  const { kind, row, time, peak } = curves[at];
  const bytes = kind === "in use" ? `peak in use ${short(step.in_use[row[peak]], "memory")}` : `largest operation ${short(step.peak[row[peak]], "memory")}`;
  return { text: `${holders[at]} memory: ${bytes} at ${short(time[peak], "micros")}, `, node: step.memory_node[row[peak]] };
}

export class TimelinePicture {
  /** @param {ReturnType<typeof sceneOf>} scene @param {import("./time_range.js").TimeRange} range @param {HTMLElement} scroller
   * @param {(node: number) => void} select */
  constructor(scene, range, scroller, select) {
    this.scene = scene;
    this.range = range;
    this.scroller = scroller;
    this.colours = theme();
    this.byDevice = false;
    /** @type {Int32Array | null} how many executions before each one match */ this.matching = null;
    /** @type {number | null} */ this.selected = null;
    this.picture = new Picture({
      label: "Executions over time, in lanes per device. Arrows: next execution. Enter: select. Shift and arrows: pan. Plus, minus, 0: zoom.",
      lines: (/** @type {Box} */ box) => this.lines(box),
      choose: (/** @type {Box} */ box) => this.choose(box, select),
      key: (key) => range.key(key, false) || this.neighbour(key),
    });
    this.picture.at = (x, y) => this.boxAt(x, y);
    range.listen(this.picture.canvas, scroller);
  }

  /** How many curves of memory there is room for, how tall each is, where they begin; the height of all. */
  get room() {
    const { scroller: { clientHeight }, scene: { curves, height } } = this;
    const count = Math.min(curves.length, Math.max(1, Math.floor((clientHeight * MEMORY_SHARE) / MEMORY)));
    const memory = Math.min(Math.max(Math.floor((clientHeight - height) / Math.max(1, count)), MEMORY), TALL_MEMORY);
    return { count, memory, bottom: clientHeight - count * memory, height: height + count * memory };
  }

  paint() {
    const { range, picture, scroller, colours, room: { count: curvesShown, memory, bottom }, scene: { lanes, curves, top, tall, devices, profile: { nodes } } } = this;
    range.width = Math.max(scroller.clientWidth, 1);
    const context = picture.clear(range.width, Math.max(scroller.clientHeight, 1));
    paintAxis(context, range, colours, AXIS, scroller.clientHeight);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, range.width, bottom - AXIS);
    context.clip();
    picture.shapes = [];
    lanes.groups.forEach(({ lane, lanes: count }, group) => {
      const head = top[lane] - HEAD - scroller.scrollTop;
      if (head > bottom || head + HEAD + count * tall < 0) return;
      const [from, to] = [lanes.first[lane], lanes.first[lane + count]];
      context.fillStyle = css(colours.muted);
      context.fillText(`${devices[group]}   ${plural(to - from, "execution")}, ${short(lanes.busy[to] - lanes.busy[from], "micros")}`, 4, head + HEAD / 2 + 2);
      const hidden = Math.max(0, Math.floor((AXIS - head - HEAD) / tall));
      for (let at = lane + hidden; at < lane + count && top[at] - scroller.scrollTop < bottom; at += 1) this.paintLane(context, colours, at, group);
    });
    context.restore();
    curves.slice(0, curvesShown).forEach((curve, at) => {
      const { text, node } = peakOf(this.scene, at);
      paintMemory(context, range, colours, curve, bottom + at * memory, memory, text + shown(nodes.name.text(node).slice(0, LONGEST)));
    });
    const { focused } = picture;
    if (focused !== null) picture.focusOn(picture.shapes.find((box) => box.first <= focused.first && focused.first < box.last) ?? null);
  }

  /** @param {CanvasRenderingContext2D} context @param {import("./colours.js").Theme} colours @param {number} lane @param {number} group */
  paintLane(context, colours, lane, group) {
    const { range, matching, scene: { lanes, node, rank, profile: { nodes } } } = this;
    for (const box of this.boxes(lane)) {
      const { first, last } = box;
      paintBar(context, colours, box, {
        category: this.byDevice ? group % OTHERS : rank[nodes.op[node[first]]],
        busy: Math.min(1, (lanes.busy[last] - lanes.busy[first]) / range.pixel / box.width),
        matches: matching && matching[last] > matching[first],
        selected: last - first === 1 && node[first] === this.selected,
        text: () => shown(nodes.name.text(node[first]).slice(-LONGEST)),
      });
      this.picture.shapes.push(box);
    }
  }

  /** The boxes of a lane in sight. @param {number} lane @returns {Box[]} */
  boxes(lane) {
    const { range, scene: { lanes, top, tall } } = this;
    /** @type {Box[]} */ const boxes = [];
    blocks(lanes, lane, range, (first, last) => {
      const x = range.x(lanes.start[first]);
      const end = range.x(lanes.start[last - 1] + lanes.us[last - 1]);
      boxes.push({ x, width: Math.max(end - x, 1), y: top[lane] - this.scroller.scrollTop, height: tall - 1, lane, first, last });
    });
    return boxes;
  }

  /** @param {number} x @param {number} y @returns {Box | null} */
  boxAt(x, y) {
    const { room: { bottom, memory }, scroller, scene: { top, tall } } = this;
    if (y < AXIS) return null;
    if (y >= bottom) return this.memoryAt(x, Math.floor((y - bottom) / memory));
    const lane = bisect(0, top.length, (at) => top[at] + tall > y + scroller.scrollTop);
    const box = lane < top.length && top[lane] <= y + scroller.scrollTop ? closest(this.boxes(lane), x) : null;
    return box !== null && distance(box, x) <= NEAR ? box : null;
  }

  /** @param {number} x @param {number} at @returns {Box | null} */
  memoryAt(x, at) {
    const { range, room: { count, bottom, memory } } = this;
    if (at >= count) return null;
    const curve = this.scene.curves[at];
    const near = (/** @type {number} */ side) => range.from + (x + side * NEAR) * range.pixel;
    const last = bisect(0, curve.time.length, (point) => curve.time[point] > near(1));
    const from = bisect(0, last, (point) => curve.time[point] >= near(-1));
    if (!last || (from === last && curve.kind === "operation")) return null;
    let first = last - 1; // what holds here; of moments the highest nearby
    if (curve.kind === "operation") for (let point = from; point < last; point += 1) if (curve.bytes[point] > curve.bytes[first]) first = point;
    return { x: x - 1, y: bottom + at * memory, width: 2, height: memory - 4, lane: -1, first, last: first + 1, curve };
  }

  /** What a box is called, and its numbers. @param {Box} box @returns {string[]} */
  lines({ lane, first, last, curve }) {
    const { lanes, node, step, devices, profile: { nodes, types } } = this.scene;
    const name = (/** @type {number} */ one) => shown(nodes.name.text(one).slice(0, LONGEST));
    if (curve) {
      const row = curve.row[first];
      const bytes = curve.kind === "in use" ? `${short(step.in_use[row], "memory")} in use` : `${short(step.peak[row], "memory")} at most`;
      return [bytes, name(step.memory_node[row]), `at ${short(curve.time[first], "micros")}`];
    }
    const device = devices[lanes.groups.findLastIndex((group) => group.lane <= lane)];
    const start = `start ${short(lanes.start[first], "micros")}`;
    if (last - first > 1) return [plural(last - first, "execution"), `${short(lanes.busy[last] - lanes.busy[first], "micros")} in all`, start, device, "Click or Enter zooms in"];
    return [name(node[first]), shown(types.text(nodes.op[node[first]]).slice(0, LONGEST)), start, `time ${short(lanes.us[first], "micros")}`, device];
  }

  /** @param {Box} box @param {(node: number) => void} select */
  choose({ first, last, curve }, select) {
    const { lanes, node, step } = this.scene;
    if (curve) return select(step.memory_node[curve.row[first]]);
    const [from, to] = [lanes.start[first], lanes.start[last - 1] + lanes.us[last - 1]];
    if (last - first === 1 || from === to) return select(node[first]); // zooming in would not separate them
    return this.range.move(from - (to - from) / 2, to + (to - from) / 2);
  }

  /** The box that an arrow key moves to. @param {string} key @returns {Box | null} */
  neighbour(key) {
    const side = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[key];
    if (side === undefined) return null;
    const { range, picture: { focused: at }, scene: { lanes: { first, start, us } } } = this;
    if (at === null) return this.inLane(0, 1, 0);
    if (key === "ArrowUp" || key === "ArrowDown") return this.inLane(at.lane + side, side, at.x + at.width / 2) ?? at;
    const next = side > 0 ? at.last : at.first - 1;
    if (next < first[at.lane] || next >= first[at.lane + 1]) return at;
    if (start[next] + us[next] < range.from || start[next] > range.to) {
      const half = (range.to - range.from) / 2;
      range.move(start[next] - half, start[next] + half);
    }
    return this.boxes(at.lane).find((box) => box.first <= next && next < box.last) ?? at;
  }

  /** The box closest to *x* in the first lane from *lane* on that has any; scrolls to it. @param {number} lane @param {number} side
   * @param {number} x @returns {Box | null} */
  inLane(lane, side, x) {
    const { scroller, room: { bottom }, scene: { top, tall } } = this;
    for (let at = lane; at >= 0 && at < top.length; at += side) {
      if (!this.boxes(at).length) continue;
      scroller.scrollTop = Math.min(Math.max(scroller.scrollTop, top[at] + tall - bottom), top[at] - AXIS - HEAD);
      this.paint();
      return closest(this.boxes(at), x);
    }
    return null;
  }
}

/** @param {Box} box @param {number} x */
function distance(box, x) {
  return Math.max(box.x - x, x - box.x - box.width, 0);
}

/** @param {Box[]} boxes @param {number} x @returns {Box | null} */
function closest(boxes, x) {
  return boxes.reduce((/** @type {Box | null} */ best, box) => (best && distance(best, x) <= distance(box, x) ? best : box), null);
}
