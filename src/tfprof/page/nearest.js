// Words that resemble another, as Python's difflib finds them, and texts in Python's quotes.

const LEAST_RATIO = 0.6;
const POPULAR_FROM = 200; // in a longer text, characters in more than a hundredth of it do not count

/** A hint such as "; did you mean 'scope'?" if a word resembles a known one, else "".
 * @param {string} word @param {string[]} known @returns {string} */
export function nearest(word, known) {
  const wanted = Array.from(word);
  /** @type {Map<string, number[]>} */ const places = new Map();
  wanted.forEach((char, at) => places.set(char, [...(places.get(char) ?? []), at]));
  const counts = new Map([...places].map(([char, at]) => [char, at.length]));
  const most = wanted.length < POPULAR_FROM ? Infinity : Math.floor(wanted.length / 100) + 1;
  for (const [char, at] of places) if (at.length > most) places.delete(char);
  let [best, bestRatio] = ["", LEAST_RATIO];
  for (const candidate of known) {
    const chars = Array.from(candidate);
    const ratio = (/** @type {number} */ length) => (2 * length) / (chars.length + wanted.length || 1);
    if (ratio(Math.min(chars.length, wanted.length)) < bestRatio || ratio(inCommon(chars, counts)) < bestRatio) continue;
    const found = ratio(matching(chars, wanted, places));
    // Of equally near words, the last in order.
    if (found > bestRatio || (found === bestRatio && candidate > best)) [best, bestRatio] = [candidate, found];
  }
  return best && `; did you mean ${quoted(best)}?`;
}

/** How many characters have one that is the same. @param {string[]} chars @param {Map<string, number>} counts */
function inCommon(chars, counts) {
  const left = new Map(counts);
  let common = 0;
  for (const char of chars) {
    const count = left.get(char) ?? 0;
    left.set(char, count - 1);
    if (count > 0) common++;
  }
  return common;
}

/** How many characters the matching blocks of two texts have. @param {string[]} one @param {string[]} other @param {Map<string, number[]>} places of the other's */
function matching(one, other, places) {
  let length = 0;
  const waiting = [[0, one.length, 0, other.length]];
  for (const [low, high, otherLow, otherHigh] of waiting) {
    let [at, otherAt, size] = [low, otherLow, 0];
    /** @type {Map<number, number>} */ let sizes = new Map();
    for (let first = low; first < high; first++) {
      /** @type {Map<number, number>} */ const next = new Map();
      for (const place of places.get(one[first]) ?? []) {
        if (place < otherLow || place >= otherHigh) continue;
        const run = (sizes.get(place - 1) ?? 0) + 1;
        next.set(place, run);
        if (run > size) [at, otherAt, size] = [first - run + 1, place - run + 1, run];
      }
      sizes = next;
    }
    for (; at > low && otherAt > otherLow && one[at - 1] === other[otherAt - 1]; size++) [at, otherAt] = [at - 1, otherAt - 1];
    while (at + size < high && otherAt + size < otherHigh && one[at + size] === other[otherAt + size]) size++;
    length += size;
    if (size) waiting.push([low, at, otherLow, otherAt], [at + size, high, otherAt + size, otherHigh]);
  }
  return length;
}

/** A text as Python's repr shows it. @param {string} text @returns {string} */
export function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replace(/[\\'"]|\p{C}|(?! )\p{Z}/gu, (char) => {
    const point = /** @type {number} */ (char.codePointAt(0));
    if (char === "\\" || char === quote) return `\\${char}`;
    if (char === "'" || char === '"') return char;
    if ("\t\n\r".includes(char)) return { "\t": "\\t", "\n": "\\n" }[char] ?? "\\r";
    const [letter, digits] = point < 0x100 ? ["x", 2] : point < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${letter}${point.toString(16).padStart(digits, "0")}`;
  });
  return `${quote}${inside}${quote}`;
}
