// Which rows of a tree are on the screen: a row is there if all rows above it are open.

/** @typedef {{length: number, depth: ArrayLike<number>, end: ArrayLike<number>, parent: ArrayLike<number>}} Rows */

const MOST_AT_FIRST = 60; // rows that are open without a click: about two screens

export class OpenRows {
  /** @type {Rows} */
  tree = { length: 0, depth: [], end: [], parent: [] };
  /** @type {ArrayLike<number>} the row of the drawing for each row */
  row = [];
  /** @type {Map<number, boolean>} what the reader opened and closed, by row of the drawing */
  chosen = new Map();
  /** @type {number | null} rows above this depth are open; null: as many levels as are easy to read */
  level = null;
  easyLevel = 2;

  /** @param {Rows} tree @param {ArrayLike<number>} row */
  show(tree, row) {
    this.tree = tree;
    this.row = row;
    this.easyLevel = easyLevel(tree);
  }

  /** Opens or closes all rows but the root; null: those that are closed at first. @param {boolean | null} open */
  all(open) {
    this.chosen.clear();
    this.level = open === null ? null : open ? Infinity : 2;
  }

  /** @param {number} i */
  hasChildren(i) {
    return this.tree.end[i] > i + 1;
  }

  /** @param {number} i */
  isOpen(i) {
    return this.chosen.get(this.row[i]) ?? this.tree.depth[i] < (this.level ?? this.easyLevel);
  }

  /** @param {number} i @param {boolean} open */
  set(i, open) {
    this.chosen.set(this.row[i], open);
  }

  /** The rows on the screen, in order. */
  visible() {
    const rows = new Int32Array(this.tree.length);
    let count = 0;
    for (let i = 0; i < rows.length; i = this.isOpen(i) ? i + 1 : this.tree.end[i]) rows[count++] = i;
    return rows.subarray(0, count);
  }
}

/** The largest depth down to which all rows are easy to read. @param {Rows} tree */
function easyLevel({ length, depth }) {
  const rows = new Map([[2, 0]]);
  for (let i = 0; i < length; i++) rows.set(depth[i], (rows.get(depth[i]) ?? 0) + 1);
  let level = 2;
  for (let count = rows.get(2) ?? 0; (count += rows.get(level + 1) ?? Infinity) < MOST_AT_FIRST; ) level++;
  return level;
}
