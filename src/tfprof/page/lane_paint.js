// Paints the timeline: the axis on top, lanes that scroll below it, memory at the bottom.
import { once } from "./cache.js";
import { fitted } from "./canvas.js";
import { css, mix, textOn } from "./colours.js";
import { ticks } from "./lanes.js";
import { perPixel } from "./memory_curve.js";

/** @typedef {import("./colours.js").Theme} Theme */
/** @typedef {import("./time_range.js").TimeRange} TimeRange */
/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {{category: number, busy: number, matches: boolean | null, selected: boolean, text: () => string}} Look busy: how much of its width is, 0 to 1; matches: null where nothing is searched */

const LEVELS = 6; // of shares
const LABELLED = 30; // pixels that hold a few letters
const TICK = 90; // pixels between two labels of the axis, at least

/** @param {Context} context @param {TimeRange} range @param {Theme} colours @param {number} axis its height @param {number} height */
export function paintAxis(context, range, colours, axis, height) {
  context.fillStyle = css(colours.ground);
  context.fillRect(0, 0, range.width, axis);
  for (const { time, text } of ticks(range.from, range.to, range.width / TICK)) {
    const x = Math.round(range.x(time));
    context.fillStyle = css(colours.line);
    context.fillRect(x, 0, 1, height);
    context.fillStyle = css(colours.muted);
    context.fillText(fitted(context, text, range.width - x - 4), x + 4, axis / 2);
  }
}

/** @type {WeakMap<Theme, Map<number, {fill: string, ink: string}>>} */ const INKS = new WeakMap();

/** The colours of a bar: of several executions in one pixel, how much of it they fill. @param {Theme} colours @param {Look} look */
function inks(colours, { category, busy, matches }) {
  const level = Math.ceil(busy * LEVELS);
  const key = (category * 3 + (matches === null ? 2 : Number(matches))) * (LEVELS + 1) + level;
  return once(once(INKS, colours, () => new Map()), key, () => {
    const own = matches ? colours.match : colours.categories[category];
    const fill = mix(colours.ground, own, (matches === false ? 0.25 : 1) * (0.6 + (0.4 * level) / LEVELS));
    return { fill: css(fill), ink: css(textOn(fill)) };
  });
}

/** @param {Context} context @param {Theme} colours @param {import("./canvas.js").Shape} box @param {Look} look */
export function paintBar(context, colours, { x, y, width, height }, look) {
  const { fill, ink } = inks(colours, look);
  const left = Math.max(x, -1);
  const shown = Math.min(x + width, context.canvas.width) - left;
  context.fillStyle = fill;
  context.fillRect(left, y, shown > 2 ? shown - 0.5 : shown, height);
  if (look.selected) {
    context.fillStyle = css(colours.text);
    context.fillRect(left, y + height - 3, shown, 3);
  }
  if (shown < LABELLED) return;
  context.fillStyle = ink;
  const name = look.text();
  const whole = fitted(context, name, shown - 8);
  // Names of a scope begin alike, so their ends say more.
  context.fillText(whole === name ? name : fitted(context, name.slice(name.lastIndexOf("/") + 1), shown - 8), left + 4, y + height / 2 + 0.5);
}

/** @param {Context} context @param {TimeRange} range @param {Theme} colours @param {import("./memory_curve.js").Curve} curve
 * @param {number} top @param {number} height @param {string} text */
export function paintMemory(context, range, colours, curve, top, height, text) {
  const [head, most] = [18, curve.bytes[curve.peak]];
  const room = height - head - 4;
  const isLevel = curve.kind === "in use";
  const up = (/** @type {number} */ bytes) => (Math.max(0, bytes) / most) * room;
  context.fillStyle = css(colours.line);
  context.fillRect(0, top, range.width, 1);
  context.fillRect(0, top + height - 4, range.width, 1);
  context.fillStyle = css(mix(colours.ground, colours.categories[0], isLevel ? 0.7 : 1));
  perPixel(curve, isLevel, range).forEach((bytes, x) => {
    if (bytes > 0) context.fillRect(x, top + height - 4 - Math.max(1, up(bytes)), isLevel ? 1 : 2, Math.max(1, up(bytes)));
  });
  context.fillStyle = css(colours.categories[1]);
  perPixel(curve.held, true, range).forEach((bytes, x) => {
    if (bytes > 0) context.fillRect(x, top + height - 5 - Math.min(up(bytes), room), 1, 2);
  });
  context.fillStyle = css(colours.text);
  const peak = range.x(curve.time[curve.peak]);
  context.fillRect(peak - 2, top + head - 3, 4, 4);
  context.fillText(fitted(context, text, range.width - 8), 4, top + 9);
}
