// Where the boxes of a treemap are: nested, each as large as its number, as square as can be.
//
//   ┌ unit_1 ─────────┐ ┌ unit_2 ──┐     Squarified after Bruls, Huizing and van Wijk: rows of
//   │ ┌─────┐┌───────┐│ │┌────────┐│     boxes are laid along the shorter side for as long as
//   │ │ sub1││ sub2  ││ ││        ││     that makes their worst side ratio better.
//   └─────────────────┘ └──────────┘     A box with a heading gives its children what is below it.

/** @typedef {{x: number, y: number, width: number, height: number}} Rect */
/** A box of a row in that of the row above, itself where the box is what a row has of its own; open: its children are inside.
 * @typedef {Rect & {row: number, above: number, value: number | bigint, level: number, open: boolean}} TreemapBox */

const [HEADING, EDGE, SMALLEST] = [18, 2, 3]; // pixels; the last is the least side of a box

/** Rectangles in *space* with areas in proportion to *values*, which are sorted, the largest first. @param {number[]} values above 0 @param {Rect} space @returns {Rect[]} */
export function squarified(values, space) {
  const scale = (space.width * space.height) / values.reduce((sum, value) => sum + value, 0);
  const areas = values.map((value) => value * scale);
  let { x, y, width, height } = space;
  /** @type {Rect[]} */ const placed = [];
  while (placed.length < areas.length) {
    const [first, side, isWide] = [placed.length, Math.min(width, height), width >= height];
    let [after, sum, worst] = [first, 0, Infinity];
    for (; after < areas.length; after++) {
      const more = sum + areas[after];
      const ratio = Math.max((side * side * areas[first]) / more ** 2, more ** 2 / (side * side * areas[after]));
      if (ratio > worst) break;
      [sum, worst] = [more, ratio];
    }
    const thick = side > 0 ? sum / side : 0;
    let offset = 0;
    for (const area of areas.slice(first, Math.max(after, first + 1))) {
      const long = thick > 0 ? area / thick : 0;
      placed.push(isWide ? { x, y: y + offset, width: thick, height: long } : { x: x + offset, y, width: long, height: thick });
      offset += long;
    }
    if (isWide) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
  }
  return placed;
}

/** The boxes of everything below *root*, a parent before its children.
 * @param {ArrayLike<number>} parent of each row, which is before its children @param {ArrayLike<any>} total numbers, or BigInts @param {number} root
 * @param {Rect} space @returns {TreemapBox[]} */
export function treemap(parent, total, root, space) {
  const children = byParent(parent, total);
  /** @type {TreemapBox[]} */ const boxes = [];
  const open = [{ row: root, level: 0, inside: space }];
  for (const { row, level, inside } of open) {
    const rows = children.get(row) ?? [];
    const parts = rows.map((child) => ({ child, value: total[child] }));
    const own = parts.reduce((rest, { value }) => rest - value, total[row]);
    if (own > 0 && rows.length) parts.push({ child: row, value: own });
    parts.sort((a, b) => Number(b.value - a.value));
    for (const [at, rect] of squarified(parts.map(({ value }) => Number(value)), inside).entries()) {
      if (Math.min(rect.width, rect.height) < SMALLEST) continue;
      const { child: only, value } = parts[at];
      const child = only === row ? row : throughOnly(only, children, total);
      const room = { x: rect.x + EDGE, y: rect.y + HEADING, width: rect.width - 2 * EDGE, height: rect.height - HEADING - EDGE };
      const opens = child !== row && children.has(child) && Math.min(room.width, room.height) > 4 * SMALLEST;
      boxes.push({ ...rect, row: child, above: row, value, level, open: opens });
      if (opens) open.push({ row: child, level: level + 1, inside: room });
    }
  }
  return boxes;
}

/** A row whose only child is all of it gives way to that child. @param {number} row @param {Map<number, number[]>} children @param {ArrayLike<any>} total */
function throughOnly(row, children, total) {
  for (let below = children.get(row); below?.length === 1 && total[below[0]] === total[row]; below = children.get(row)) row = below[0];
  return row;
}

/** The rows below each row, without those that have nothing. @param {ArrayLike<number>} parent @param {ArrayLike<any>} total */
function byParent(parent, total) {
  /** @type {Map<number, number[]>} */ const children = new Map();
  for (let row = 1; row < parent.length; row++) {
    if (!(total[row] > 0)) continue;
    const rows = children.get(parent[row]) ?? [];
    children.set(parent[row], rows);
    rows.push(row);
  }
  return children;
}
