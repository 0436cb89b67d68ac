// Where the boxes of an icicle are: a row is as wide as its total, below its parent.
//
//   ┌────────────────────────────────┐   The zoomed row, level 0, is as wide as the picture.
//   ├───────────────────┬────────┬───┘   What is left on the right is the row's own, or hidden.
//   ├────────┬──┬▒▒─────┘────────┘       What is narrower than a pixel is one box.
//
// Rows of one depth are in the order of their left edges, so that those in sight are found by
// bisection: a picture costs as much as what is in it, not as what the profile holds.
import { bisect, grouped } from "./arrays.js";

/** @typedef {{parent: ArrayLike<number>, depth: ArrayLike<number>, end: ArrayLike<number>}} Rows columns of tree.js */
/**
 * The left edge and width of each row, in units of the metric; the rows wider than nothing, by depth and
 * then in drawing order: those of depth d are ordered[start[d]:start[d + 1]]; the rows of a box.
 * @typedef {Rows & {x: Float64Array, width: Float64Array, ordered: Int32Array, start: Int32Array,
 *   rowsOf: (row: number, count: number) => Int32Array}} Layout
 */
/** @typedef {{row: number, count: number, level: number, x: number, width: number}} Box of count rows, row being the first; in pixels */

/** @param {Rows} tree @param {Float64Array | BigInt64Array} total of each row @returns {Layout} */
export function icicle({ parent, depth, end }, total) {
  const count = total.length;
  const [x, width, below, next] = Array.from({ length: 4 }, () => new Float64Array(count));
  let deepest = 0;
  for (let row = 0; row < count; row++) {
    width[row] = Math.max(0, Number(total[row]));
    if (row > 0) below[parent[row]] += width[row];
    deepest = Math.max(deepest, depth[row]);
  }
  const level = new Int32Array(count).fill(-1);
  for (let row = 0; row < count; row++) {
    const above = parent[row];
    if (row > 0) {
      // Where an option counts more below a row than in it, its children share its width.
      if (below[above] > width[above]) width[row] *= width[above] / below[above];
      x[row] = next[above];
      next[above] += width[row];
    }
    next[row] = x[row]; // where its first child begins
    if (width[row] > 0) level[row] = depth[row];
  }
  const { first: start, order: ordered } = grouped(level, deepest + 1);
  const rowsOf = (/** @type {number} */ row, /** @type {number} */ many) => {
    const at = bisect(start[depth[row]], start[depth[row] + 1], (i) => ordered[i] >= row);
    return ordered.subarray(at, at + many);
  };
  return { parent, depth, end, x, width, ordered, start, rowsOf };
}

/** How many levels the picture of a row has. @param {Layout} layout @param {number} row @returns {number} */
export function levels({ depth, end, width }, row) {
  let deepest = depth[row];
  for (let at = row; at < end[row]; at++) if (width[at] > 0 && depth[at] > deepest) deepest = depth[at];
  return deepest - depth[row] + 1;
}

/** The boxes below the zoomed row from level *first* to before *last*, from left to right in a picture of so many pixels.
 * @param {Layout} layout @param {number} zoomed @param {number} pixels @param {number} first @param {number} last @returns {Box[]} */
export function boxes(layout, zoomed, pixels, first, last) {
  const { x, width, depth, end, start, ordered, parent } = layout;
  const scale = pixels / width[zoomed];
  /** @type {Box[]} */ const found = [];
  for (let level = first; width[zoomed] > 0 && level < last && depth[zoomed] + level + 1 < start.length; level++) {
    const at = depth[zoomed] + level;
    const from = bisect(start[at], start[at + 1], (i) => ordered[i] >= zoomed);
    const to = bisect(from, start[at + 1], (i) => ordered[i] >= end[zoomed]);
    for (let place = from; place < to; ) {
      const row = ordered[place];
      const after = narrowUntil(layout, place, to, scale);
      const edge = ordered[after - 1];
      const box = { row, count: after - place, level, x: (x[row] - x[zoomed]) * scale, width: (x[edge] + width[edge] - x[row]) * scale };
      const before = found[found.length - 1];
      // Boxes of several rows, or less than a pixel, become one where they have the same parent.
      const joins = before?.level === level && before.width < before.count && box.width < box.count && parent[before.row] === parent[row];
      if (joins) [before.count, before.width] = [before.count + box.count, box.x + box.width - before.x];
      else found.push(box);
      place = after;
    }
  }
  return found;
}

/** The place after a row, or after all that begin within a pixel of a narrow one. @param {Layout} layout @param {number} place @param {number} to @param {number} scale */
function narrowUntil({ x, width, ordered }, place, to, scale) {
  const row = ordered[place];
  if (width[row] * scale >= 1) return place + 1;
  const after = bisect(place + 1, to, (i) => x[ordered[i]] >= x[row] + 1 / scale);
  // Only the last of them can be wider than a pixel.
  return after > place + 1 && width[ordered[after - 1]] * scale >= 1 ? after - 1 : after;
}

/** What is or is below a match, the share of the zoomed row that is, and how many rows in it match. @param {Layout} layout
 * @param {Uint8Array} matches whether each row matches @param {number} zoomed
 * @returns {{covered: Uint8Array, share: number, count: number}} a match below another adds nothing to the share */
export function matched({ parent, width, end }, matches, zoomed) {
  const covered = matches.slice();
  let [sum, count] = [0, 0];
  for (let row = 0; row < end[zoomed]; row++) {
    const above = row > 0 && covered[parent[row]] === 1;
    if (above) covered[row] = 1;
    if (row < zoomed) continue;
    if (matches[row]) count++;
    if (covered[row] && (row === zoomed || !above)) sum += width[row];
  }
  return { covered, share: width[zoomed] > 0 ? sum / width[zoomed] : 0, count };
}
