// Values that are made once.

/** The value of a key in a map; `make` makes it the first time.
 * @template K, V @param {{has(key: K): boolean, get(key: K): V | undefined, set(key: K, value: V): unknown}} map
 * @param {K} key @param {() => V} make @returns {V} */
export function once(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return /** @type {V} */ (map.get(key));
}

/** Keeps what is made of it, or the last used values alone. */
export class Cache {
  /** @param {number} [most] values that are kept */
  constructor(most = Infinity) {
    this._most = most;
    /** @type {Map<string, any>} */ this._kept = new Map();
  }

  /** The value of a key; `make` makes it the first time. @template T @param {string} key @param {() => T} make @returns {T} */
  cached(key, make) {
    const value = once(this._kept, key, make);
    if (this._most === Infinity) return value;
    this._kept.delete(key);
    this._kept.set(key, value); // the last used is last
    const [oldest] = this._kept.keys();
    if (this._kept.size > this._most) this._kept.delete(oldest);
    return value;
  }
}
