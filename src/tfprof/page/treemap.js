/**
 * Where the boxes of a treemap are: nested, each as large as its number, as square as can be.
 *
 *   ┌ unit_1 ─────────┐ ┌ unit_2 ──┐     Squarified after Bruls, Huizing and van Wijk: rows of
 *   │ ┌─────┐┌───────┐│ │┌────────┐│     boxes are laid along the shorter side for as long as
 *   │ │ sub1││ sub2  ││ ││        ││     that makes their worst side ratio better.
 *   │ └─────┘└───────┘│ │└────────┘│
 *   └─────────────────┘ └──────────┘     A box with a heading gives its children what is below it.
 * @module
 */

/** @typedef {{x: number, y: number, width: number, height: number}} Rect */
/**
 * @typedef {Rect & {row: number, above: number, value: number, level: number, open: boolean}} TreemapBox
 *   above: the row of the box that it is in, itself where the box is what a row has of its own; open: its children are inside
 */

const HEADING = 18;
const EDGE = 2;
const SMALLEST = 3; // of the sides of a box, in pixels

/**
 * Rectangles inside *space*, with areas in proportion to *values*, which are sorted, largest first.
 * @param {number[]} values above 0
 * @param {Rect} space
 * @returns {Rect[]}
 */
export function squarified(values, space) {
  const sum = values.reduce((total, value) => total + value, 0);
  const scale = sum > 0 ? (space.width * space.height) / sum : 0;
  let { x, y, width, height } = space;
  /** @type {Rect[]} */
  const placed = [];
  let first = 0;
  while (first < values.length) {
    const side = Math.min(width, height);
    let area = values[first] * scale;
    let after = first + 1;
    let worst = worstRatio(area, area, area, side);
    while (after < values.length) {
      const next = area + values[after] * scale;
      const ratio = worstRatio(values[first] * scale, values[after] * scale, next, side);
      if (ratio > worst) break;
      [area, worst] = [next, ratio];
      after++;
    }
    const thick = side > 0 ? area / side : 0;
    let offset = 0;
    for (let at = first; at < after; at++) {
      const long = thick > 0 ? (values[at] * scale) / thick : 0;
      if (width >= height) placed.push({ x, y: y + offset, width: thick, height: long });
      else placed.push({ x: x + offset, y, width: long, height: thick });
      offset += long;
    }
    if (width >= height) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    first = after;
  }
  return placed;
}

/**
 * The worst ratio of sides in a row of boxes along *side*.
 * @param {number} largest
 * @param {number} smallest
 * @param {number} sum
 * @param {number} side
 */
function worstRatio(largest, smallest, sum, side) {
  const square = sum * sum;
  return Math.max((side * side * largest) / square, square / (side * side * smallest));
}

/**
 * The boxes of everything below *root*, a parent before its children.
 * @param {ArrayLike<number>} parent of each row; a parent is before its children
 * @param {ArrayLike<number>} total of each row
 * @param {number} root
 * @param {Rect} space
 * @returns {TreemapBox[]}
 */
export function treemap(parent, total, root, space) {
  const children = byParent(parent, total);
  /** @type {TreemapBox[]} */
  const boxes = [];
  /** @type {{row: number, level: number, space: Rect}[]} */
  const open = [{ row: root, level: 0, space }];
  for (let at = 0; at < open.length; at++) {
    const { row, level, space: inside } = open[at];
    const rows = children.get(row) ?? [];
    const own = total[row] - rows.reduce((sum, child) => sum + total[child], 0);
    const parts = rows.map((child) => ({ child, value: total[child] }));
    if (own > 0 && rows.length) parts.push({ child: row, value: own });
    parts.sort((a, b) => b.value - a.value);
    const rects = squarified(parts.map((part) => part.value), inside);
    for (const [index, rect] of rects.entries()) {
      if (Math.min(rect.width, rect.height) < SMALLEST) continue;
      const { child: only, value } = parts[index];
      const child = only === row ? row : throughOnly(only, children, total);
      const room = { x: rect.x + EDGE, y: rect.y + HEADING, width: rect.width - 2 * EDGE, height: rect.height - HEADING - EDGE };
      const opens = child !== row && children.has(child) && room.width > 4 * SMALLEST && room.height > 4 * SMALLEST;
      boxes.push({ ...rect, row: child, above: row, value, level, open: opens });
      if (opens) open.push({ row: child, level: level + 1, space: room });
    }
  }
  return boxes;
}

/**
 * The row that stands for a row: a row whose only child is all of it gives way to that child.
 * @param {number} row
 * @param {Map<number, number[]>} children
 * @param {ArrayLike<number>} total
 */
function throughOnly(row, children, total) {
  let below = children.get(row);
  while (below?.length === 1 && total[below[0]] === total[row]) {
    row = below[0];
    below = children.get(row);
  }
  return row;
}

/**
 * The rows below each row, the largest first, without those that have nothing.
 * @param {ArrayLike<number>} parent
 * @param {ArrayLike<number>} total
 * @returns {Map<number, number[]>}
 */
function byParent(parent, total) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (let row = 0; row < parent.length; row++) {
    if (!(total[row] > 0) || parent[row] === row) continue;
    const rows = children.get(parent[row]);
    if (rows) rows.push(row);
    else children.set(parent[row], [row]);
  }
  for (const rows of children.values()) rows.sort((a, b) => total[b] - total[a]);
  return children;
}
