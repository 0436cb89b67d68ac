/**
 * Where the boxes of an icicle are: a row is as wide as its total, below its parent.
 *
 *   width of the picture = total of the zoomed row
 *   ┌────────────────────────────────┐
 *   │ root                           │   level 0
 *   ├───────────────────┬────────┬───┘   what is left on the right is the row's own, or hidden
 *   │ a                 │ b      │       level 1
 *   ├────────┬──┬┬┬─────┘────────┘
 *   │ c      │d │▒▒                      level 2; what is narrower than a pixel is one box
 *
 * Rows of one depth are in the order of their left edges, so that those in sight are found by
 * bisection: a picture costs as much as what is in it, not as what the profile holds.
 * @module
 */

/**
 * @typedef {object} Layout
 * @property {Float64Array} x left edge of each row, in units of the metric
 * @property {Float64Array} width
 * @property {ArrayLike<number>} parent
 * @property {ArrayLike<number>} depth 1 for the root
 * @property {ArrayLike<number>} end the row after the last one below each row
 * @property {Int32Array} ordered rows that are wider than nothing, by depth, then in drawing order
 * @property {Int32Array} start the rows of depth d are ordered[start[d]:start[d + 1]]
 * @property {(row: number, count: number) => Int32Array} rowsOf the rows of a box
 */

/**
 * @typedef {object} Box
 * @property {number} row the first of its rows
 * @property {number} count how many rows it stands for
 * @property {number} level 0 for the zoomed row
 * @property {number} x in pixels
 * @property {number} width in pixels
 */

/**
 * @param {{parent: ArrayLike<number>, depth: ArrayLike<number>, end: ArrayLike<number>}} tree
 * @param {Float64Array | BigInt64Array} total of each row
 * @returns {Layout}
 */
export function icicle({ parent, depth, end }, total) {
  const count = total.length;
  const width = new Float64Array(count);
  const below = new Float64Array(count);
  let deepest = 0;
  for (let row = 0; row < count; row++) {
    width[row] = Math.max(0, Number(total[row]));
    if (row > 0) below[parent[row]] += width[row];
    deepest = Math.max(deepest, depth[row]);
  }
  const x = new Float64Array(count);
  const next = new Float64Array(count); // where the next child of each row begins
  const start = new Int32Array(deepest + 2);
  for (let row = 0; row < count; row++) {
    const above = parent[row];
    if (row > 0) {
      // Where an option counts more below a row than in it, its children share its width.
      if (below[above] > width[above]) width[row] *= width[above] / below[above];
      x[row] = next[above];
      next[above] += width[row];
    }
    next[row] = x[row];
    if (width[row] > 0) start[depth[row] + 1]++;
  }
  for (let at = 1; at < start.length; at++) start[at] += start[at - 1];
  const ordered = new Int32Array(start[deepest + 1]);
  const place = start.slice();
  for (let row = 0; row < count; row++) if (width[row] > 0) ordered[place[depth[row]]++] = row;
  const rowsOf = (/** @type {number} */ row, /** @type {number} */ many) => {
    const at = bisect(start[depth[row]], start[depth[row] + 1], (i) => ordered[i] >= row);
    return ordered.subarray(at, at + many);
  };
  return { x, width, parent, depth, end, ordered, start, rowsOf };
}

/**
 * How many levels the picture of a row has.
 * @param {Layout} layout
 * @param {number} row
 */
export function levels({ depth, end, width }, row) {
  let deepest = depth[row];
  for (let at = row; at < end[row]; at++) if (width[at] > 0 && depth[at] > deepest) deepest = depth[at];
  return deepest - depth[row] + 1;
}

/**
 * The boxes of some levels below the zoomed row, level by level, from left to right.
 * @param {Layout} layout
 * @param {number} zoomed
 * @param {number} pixels the width of the picture
 * @param {number} first the first level
 * @param {number} last the level after the last
 * @returns {Box[]}
 */
export function boxes(layout, zoomed, pixels, first, last) {
  const { x, width, depth, end, start, ordered } = layout;
  if (!(width[zoomed] > 0)) return [];
  /** @type {Box[]} */
  const found = [];
  for (let level = first; level < last; level++) {
    const at = depth[zoomed] + level;
    if (at + 1 >= start.length) break;
    const from = bisect(start[at], start[at + 1], (i) => ordered[i] >= zoomed);
    const to = bisect(from, start[at + 1], (i) => ordered[i] >= end[zoomed]);
    addLevel(found, layout, { from, to, level, left: x[zoomed], scale: pixels / width[zoomed] });
  }
  return found;
}

/**
 * @param {Box[]} found
 * @param {Layout} layout
 * @param {{from: number, to: number, level: number, left: number, scale: number}} range
 */
function addLevel(found, { x, width, ordered, parent }, { from, to, level, left, scale }) {
  let at = from;
  while (at < to) {
    const row = ordered[at];
    let after = at + 1;
    if (width[row] * scale < 1) {
      // Of the rows that begin within a pixel, only the last can be wider than one.
      const limit = x[row] + 1 / scale;
      after = bisect(at + 1, to, (i) => x[ordered[i]] >= limit);
      if (after > at + 1 && width[ordered[after - 1]] * scale >= 1) after--;
    }
    const last = ordered[after - 1];
    const box = { row, count: after - at, level, x: (x[row] - left) * scale, width: (x[last] + width[last] - x[row]) * scale };
    const before = found[found.length - 1];
    const joins = before?.level === level && before.width < before.count && box.width < box.count;
    if (joins && parent[before.row] === parent[row]) {
      before.count += box.count;
      before.width = box.x + box.width - before.x;
    } else found.push(box);
    at = after;
  }
}

/**
 * The first number from *low* on, below *high*, that passes; *high* where none does.
 * @param {number} low
 * @param {number} high
 * @param {(at: number) => boolean} passes false, then true
 */
function bisect(low, high, passes) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * What matches, and what is below a match.
 * @param {Layout} layout
 * @param {Uint8Array} matches whether each row matches
 * @param {number} zoomed
 * @returns {{covered: Uint8Array, share: number, count: number}} the share of the zoomed row, in which
 *   a match below another does not count again; how many rows match in it
 */
export function matched({ parent, width, end }, matches, zoomed) {
  const covered = matches.slice();
  let sum = 0;
  let count = 0;
  for (let row = 0; row < end[zoomed]; row++) {
    const above = row > 0 && covered[parent[row]] === 1;
    if (above) covered[row] = 1;
    if (row < zoomed) continue;
    if (matches[row]) count++;
    if (covered[row] && (row === zoomed || !above)) sum += width[row];
  }
  return { covered, share: width[zoomed] > 0 ? sum / width[zoomed] : 0, count };
}
