// A tree as two columns, the twin of columns/tree.py: rows in drawing order, and where each row's
// subtree ends. Row 0 is the root. A total is a difference of prefix sums; nothing recurses.

/** Numbers of rows: whole and exact, as BigInt where sums may exceed 2^53; these wrap at 64 bits.
 * @typedef {Float64Array | BigInt64Array} Numbers */

/** @param {number} count @returns {Int32Array} 0, 1, 2, … */
export function range(count) {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** The rows whose mark is set, ascending. @param {Uint8Array} marks @returns {Int32Array} */
export function markedRows(marks) {
  let count = 0;
  for (let row = 0; row < marks.length; row++) if (marks[row]) count++;
  const rows = new Int32Array(count);
  for (let row = 0, at = 0; at < count; row++) if (marks[row]) rows[at++] = row;
  return rows;
}

/** A mark for each row that passes. Loops are twenty times as fast as TypedArray.from with a function.
 * @param {number} count @param {(row: number) => number | boolean} passes @returns {Uint8Array} */
export function marksOf(count, passes) {
  const marks = new Uint8Array(count);
  for (let row = 0; row < count; row++) if (passes(row)) marks[row] = 1;
  return marks;
}

/** The numbers of some rows. @param {Numbers} numbers @param {Int32Array} rows @returns {Numbers} */
export function take(numbers, rows) {
  if (numbers instanceof BigInt64Array) {
    const taken = new BigInt64Array(rows.length);
    for (let at = 0; at < rows.length; at++) taken[at] = numbers[rows[at]];
    return taken;
  }
  const taken = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) taken[at] = numbers[rows[at]];
  return taken;
}

/** @param {Uint8Array | Int32Array} column @param {Int32Array} rows @returns {Int32Array} */
export function takeRows(column, rows) {
  const taken = new Int32Array(rows.length);
  for (let at = 0; at < rows.length; at++) taken[at] = column[rows[at]];
  return taken;
}

/** Rows in drawing order. A tree never changes: methods return columns or a new tree. */
export class Tree {
  /** @param {Int32Array} end where each row's subtree ends */
  constructor(end) {
    this.end = end;
    /** @type {Int32Array | null} */ this._parent = null;
    /** @type {Int32Array | null} */ this._depth = null;
    /** @type {[Int32Array, Int32Array] | null} */ this._byParent = null;
  }

  get length() {
    return this.end.length;
  }

  /** How many subtrees are open at each row, its own included; 1 for the root. */
  get depth() {
    if (!this._depth) this._open();
    return /** @type {Int32Array} */ (this._depth);
  }

  /** The row above each row; -1 for the root. */
  get parent() {
    if (!this._parent) this._open();
    return /** @type {Int32Array} */ (this._parent);
  }

  _open() {
    const { end, length } = this;
    const parent = new Int32Array(length);
    const depth = new Int32Array(length);
    for (let row = 0, open = -1; row < length; row++) {
      while (open >= 0 && end[open] <= row) open = parent[open];
      parent[row] = open;
      depth[row] = open < 0 ? 1 : depth[open] + 1;
      open = row;
    }
    this._parent = parent;
    this._depth = depth;
  }

  /** The rows directly below a row, in drawing order. @param {number} row @returns {Int32Array} */
  children(row) {
    const [order, start] = this._families();
    return order.subarray(start[row], start[row + 1]);
  }

  /** (order, start): the children of row i are order[start[i]:start[i + 1]]. */
  _families() {
    if (this._byParent) return this._byParent;
    const { parent, length } = this;
    const start = new Int32Array(length + 1);
    for (let row = 1; row < length; row++) start[parent[row] + 1]++;
    for (let row = 0; row < length; row++) start[row + 1] += start[row];
    const next = start.slice();
    const order = new Int32Array(length - 1);
    for (let row = 1; row < length; row++) order[next[parent[row]]++] = row;
    return (this._byParent = [order, start]);
  }

  /** The sum of own over each row's subtree. @param {Numbers} own @returns {Numbers} */
  totals(own) {
    const { end, length } = this;
    if (own instanceof BigInt64Array) {
      const running = new BigInt64Array(length + 1); // storing wraps at 64 bits, as NumPy does
      for (let row = 0; row < length; row++) running[row + 1] = running[row] + own[row];
      return own.map((_, row) => running[end[row]] - running[row]);
    }
    const running = new Float64Array(length + 1);
    for (let row = 0; row < length; row++) running[row + 1] = running[row] + own[row];
    const total = new Float64Array(length);
    for (let row = 0; row < length; row++) total[row] = running[end[row]] - running[row];
    return total;
  }

  /** Whether each row's subtree, the row included, has a marked row. @param {Uint8Array} marks */
  holds(marks) {
    const before = this._before(marks);
    return marks.map((_, row) => (before[this.end[row]] > before[row] ? 1 : 0));
  }

  /** Whether each row has a marked row above it; the row itself does not count. @param {Uint8Array} marks */
  under(marks) {
    const below = new Uint8Array(marks.length);
    for (let row = 0, until = 0; row < marks.length; row++) {
      if (row < until) below[row] = 1;
      else if (marks[row]) until = this.end[row];
    }
    return below;
  }

  /** The nearest kept row at or above each row; the root has to be kept. @param {Uint8Array} kept */
  nearestKept(kept) {
    const nearest = new Int32Array(kept.length);
    for (let row = 1; row < kept.length; row++) nearest[row] = kept[row] ? row : nearest[this.parent[row]];
    return nearest;
  }

  /** The tree without the rows that are not kept; their children move up. @param {Uint8Array} kept */
  keepRows(kept) {
    const before = this._before(kept);
    const end = new Int32Array(before[kept.length]);
    for (let row = 0, at = 0; at < end.length; row++) if (kept[row]) end[at++] = before[this.end[row]];
    return new Tree(end);
  }

  /** @param {Uint8Array} marks @returns {Int32Array} how many marks are before each row, and in all */
  _before(marks) {
    const before = new Int32Array(marks.length + 1);
    for (let row = 0; row < marks.length; row++) before[row + 1] = before[row] + marks[row];
    return before;
  }

  /**
   * Siblings in the order of a comparison, which tells any two rows apart.
   * @param {(one: number, other: number) => number} compare
   * @returns {[Tree, Int32Array]} the tree, and the old row of each new row
   */
  sort(compare) {
    const { end, length } = this;
    const [families, start] = this._families();
    const order = families.slice();
    for (let row = 0; row < length; row++) {
      const size = start[row + 1] - start[row];
      if (size > 1) order.subarray(start[row], start[row + 1]).sort(compare);
    }
    const oldRow = new Int32Array(length);
    const newEnd = new Int32Array(length);
    // Each row knows its new place before its children do: a parent has a smaller old row.
    const place = new Int32Array(length);
    for (let row = 0; row < length; row++) {
      let next = place[row] + 1;
      oldRow[place[row]] = row;
      newEnd[place[row]] = place[row] + end[row] - row;
      for (let at = start[row]; at < start[row + 1]; at++) {
        place[order[at]] = next;
        next += end[order[at]] - order[at];
      }
    }
    return [new Tree(newEnd), oldRow];
  }
}
