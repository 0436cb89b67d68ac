// A tree as two columns, the twin of columns/tree.py: rows in drawing order, and where each row's
// subtree ends. Row 0 is the root. A total is a difference of prefix sums; nothing recurses.
import { grouped, markedRows, marksOf, starts } from "./arrays.js";

/** @typedef {import("./arrays.js").Numbers} Numbers */

const FEW = 12; // siblings that are sorted in place

/** Rows in drawing order. A tree never changes: methods return columns or a new tree. */
export class Tree {
  /** @param {Int32Array} end where each row's subtree ends */
  constructor(end) {
    this.end = end;
    this.length = end.length;
    /** @type {{parent: Int32Array, depth: Int32Array} | null} */ this._opened = null;
    /** @type {{order: Int32Array, first: Int32Array} | null} */ this._families = null;
  }

  /** How many subtrees are open at each row, its own included; 1 for the root. */
  get depth() {
    return this._open().depth;
  }

  /** The row above each row; -1 for the root. */
  get parent() {
    return this._open().parent;
  }

  _open() {
    if (this._opened) return this._opened;
    const [parent, depth] = [new Int32Array(this.length), new Int32Array(this.length)];
    for (let row = 0, above = -1; row < this.length; above = row++) {
      while (above >= 0 && this.end[above] <= row) above = parent[above];
      parent[row] = above;
      depth[row] = above < 0 ? 1 : depth[above] + 1;
    }
    return (this._opened = { parent, depth });
  }

  /** The rows directly below a row, in drawing order. @param {number} row @returns {Int32Array} */
  children(row) {
    const { order, first } = this._byParent();
    return order.subarray(first[row], first[row + 1]);
  }

  /** The children of row i are order[first[i]:first[i + 1]]. */
  _byParent() {
    return (this._families ??= grouped(this.parent, this.length));
  }

  /** The sum of own over each row's subtree. @param {Numbers} own @returns {Numbers} */
  totals(own) {
    const [kind, zero] = own instanceof BigInt64Array ? [BigInt64Array, 0n] : [Float64Array, 0];
    /** @type {any[]} */ const [running, total] = [new kind(this.length + 1), new kind(this.length)];
    let sum = /** @type {any} */ (zero);
    for (let row = 0; row < this.length; row++) sum = running[row + 1] = sum + own[row];
    for (let row = 0; row < this.length; row++) total[row] = running[this.end[row]] - running[row];
    return total;
  }

  /** Whether each row's subtree, the row included, has a marked row. @param {Uint8Array} marked */
  holds(marked) {
    const before = starts(marked);
    return marksOf(this.length, (row) => before[this.end[row]] > before[row]);
  }

  /** Whether each row has a marked row above it; the row itself does not count. @param {Uint8Array} marked */
  under(marked) {
    let until = 0;
    return marksOf(this.length, (row) => {
      if (row < until) return true;
      if (marked[row]) until = this.end[row];
      return false;
    });
  }

  /** The tree without the rows that are not kept; their children move up. @param {Uint8Array} kept */
  keepRows(kept) {
    const before = starts(kept);
    return new Tree(markedRows(kept).map((row) => before[this.end[row]]));
  }

  /** The tree with siblings in another order, and the old row of each new row.
   * @param {(one: number, other: number) => number} compare never 0 for two rows @returns {[Tree, Int32Array]} */
  sort(compare) {
    const { end, length } = this;
    const { order: unsorted, first } = this._byParent();
    const order = unsorted.slice();
    const [place, oldRow, newEnd] = [new Int32Array(length), new Int32Array(length), new Int32Array(length)];
    for (let row = 0; row < length; row++) {
      sortPart(order, first[row], first[row + 1], compare);
      oldRow[place[row]] = row; // known by now: its parent is a row before it
      newEnd[place[row]] = place[row] + end[row] - row;
      for (let at = first[row], next = place[row] + 1; at < first[row + 1]; at++) {
        place[order[at]] = next;
        next += end[order[at]] - order[at];
      }
    }
    return [new Tree(newEnd), oldRow];
  }
}

/** Where each subtree ends, from the depths of rows in drawing order. @param {Int32Array} depth */
export function endsOf(depth) {
  const end = new Int32Array(depth.length).fill(depth.length);
  const open = new Int32Array(depth.length + 1); // the row that is open at each depth
  for (let row = 0, last = 0; row < depth.length; row++) {
    for (; last >= depth[row]; last--) end[open[last]] = row;
    open[(last = depth[row])] = row;
  }
  return end;
}

/** Sorts rows first to last of an order. @param {Int32Array} order @param {number} first @param {number} last @param {(one: number, other: number) => number} compare */
function sortPart(order, first, last, compare) {
  if (last - first > FEW) order.subarray(first, last).sort(compare);
  else {
    for (let at = first + 1; at < last; at++) {
      const row = order[at];
      let to = at;
      for (; to > first && compare(order[to - 1], row) > 0; to--) order[to] = order[to - 1];
      order[to] = row;
    }
  }
}
