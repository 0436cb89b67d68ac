// Columns of numbers: their rows, sums and places. Loops, because from() is slow.

/** Whole and exact, as BigInt where sums may exceed 2^53; these wrap at 64 bits. @typedef {Float64Array | BigInt64Array} Numbers */

/** @param {number} count @returns {Int32Array} 0, 1, 2, … */
export function range(count) {
  return new Int32Array(count).map((_, row) => row);
}

/** Which rows pass a test. @param {number} count @param {(row: number) => unknown} test */
export function marksOf(count, test) {
  const found = new Uint8Array(count);
  for (let row = 0; row < count; row++) if (test(row)) found[row] = 1;
  return found;
}

/** The rows that are marked, ascending. @param {Uint8Array} marked @returns {Int32Array} */
export function markedRows(marked) {
  const rows = new Int32Array(marked.length);
  let count = 0;
  for (let row = 0; row < marked.length; row++) if (marked[row]) rows[count++] = row;
  return rows.slice(0, count);
}

/** Some rows of a column. @template {Uint8Array | Int32Array | Numbers} T @param {T} column @param {ArrayLike<number>} rows @returns {T} */
export function take(column, rows) {
  const taken = new (/** @type {any} */ (column.constructor))(rows.length);
  for (let at = 0; at < rows.length; at++) taken[at] = column[rows[at]];
  return taken;
}

/** The sum of the counts before each row, and of all: where what a row owns begins. @param {Uint8Array | Int32Array} counts */
export function starts(counts) {
  const start = new Int32Array(counts.length + 1);
  for (let row = 0; row < counts.length; row++) start[row + 1] = start[row] + counts[row];
  return start;
}

/** The rows of each owner: those of owner i are order[first[i]:first[i + 1]], ascending; a row whose owner is below 0 has none.
 * @param {Int32Array} owner @param {number} owners */
export function grouped(owner, owners) {
  const counts = new Int32Array(owners);
  for (let row = 0; row < owner.length; row++) if (owner[row] >= 0) counts[owner[row]]++;
  const first = starts(counts);
  const [next, order] = [first.slice(), new Int32Array(first[owners])];
  for (let row = 0; row < owner.length; row++) if (owner[row] >= 0) order[next[owner[row]]++] = row;
  return { first, order };
}

/** The first of from..to that passes; *to* where none does. @param {number} from @param {number} to @param {(at: number) => boolean} passes false, then true */
export function bisect(from, to, passes) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (passes(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
