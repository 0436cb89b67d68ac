/**
 * What the colour of a row says: the kind of its operations, their device, how fast or where they ran.
 * A row that holds several kinds has the colour of the one that most of the metric goes to.
 * @module
 */
import { amount } from "./amounts.js";
import { css, diverging, sequential } from "./colours.js";
import { shown } from "./strings.js";
import { Tree } from "./tree.js";
import { percent } from "./units.js";

/** @typedef {import("./colours.js").Theme} Theme */
/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./answer.js").Answer} Answer */
/**
 * The colour of a row, what it says, and the legend of the picture of a row. On a scale, colours are numbers.
 * @typedef {{isScale: boolean, of: (row: number) => import("./colours.js").Rgb, text: (row: number) => string,
 *   legend: (row: number) => {colour: string, text: string}[]}} Colouring
 */
/** @typedef {(page: Page, answer: Answer, metric: string, theme: Theme) => Colouring} Mode */

const LEAST = 0.0005; // share of a kind in the legend
const SLOWEST = 1000; // times slower than the fastest: where the scale of speeds begins

/** What the colour can say. @type {{name: string, title: string, needs: string[], make: Mode}[]} */
export const MODES = [
  { name: "kind", title: "kind of operation", needs: [], make: byKind },
  { name: "device", title: "device", needs: [], make: byDevice },
  { name: "flops", title: "FLOP/s", needs: ["float_ops", "micros"], make: bySpeed },
  { name: "accelerator", title: "share of accelerator", needs: ["micros"], make: byAccelerator },
];

/** @type {Mode} */
function byKind({ profile }, answer, metric, { categories }) {
  const { names, of_type: kinds } = profile.meta.kinds;
  const sums = answer.cached(`kinds ${metric}`, () => categorySums(answer, metric, (node) => kinds[profile.nodes.op[node]], names.length));
  return byCategory(sums, names, categories, answer.lower(metric)?.total);
}

/** @type {Mode} */
function byDevice({ profile: { nodes, types } }, answer, metric, { categories }) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const device of nodes.device) if (device >= 0) counts.set(device, (counts.get(device) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, categories.length - 1).map(([device]) => device);
  const place = new Map(most.map((device, at) => [device, at]));
  const names = [...most.map((device) => shown(types.text(device))), counts.size > most.length ? "other devices" : "no device"];
  const sums = answer.cached(`devices ${metric}`, () => categorySums(answer, metric, (node) => place.get(nodes.device[node]) ?? most.length, names.length));
  return byCategory(sums, names, [...categories.slice(0, most.length), categories[8]], answer.lower(metric)?.total);
}

/** The sum of the metric per row and category: those of row i are at i * count. @param {Answer} answer @param {string} metric @param {(node: number) => number} categoryOf @param {number} count @returns {Float32Array} */
function categorySums({ profile, tree, row: shownRows, counted, drawing }, metric, categoryOf, count) {
  const { parent } = new Tree(drawing.end);
  const place = new Int32Array(parent.length).fill(-1); // the displayed row of each row: itself, or the next above
  shownRows.forEach((row, at) => (place[row] = at));
  for (let row = 1; row < place.length; row++) if (place[row] < 0) place[row] = place[parent[row]];
  const isCounted = new Uint8Array(parent.length);
  for (const row of counted.row) isCounted[row] = 1;
  const values = profile.values(metric, counted.step);
  const sums = new Float32Array(tree.length * count);
  for (let node = 0; node < values.length; node++) {
    const owner = drawing.owner[node];
    if (owner < 0 || !isCounted[owner] || !values[node]) continue;
    sums[place[owner] * count + categoryOf(node)] += Number(values[node]) * (counted.picked?.[node] ?? 1);
  }
  for (let row = tree.length - 1; row > 0; row--) {
    for (let at = 0; at < count; at++) sums[tree.parent[row] * count + at] += sums[row * count + at];
  }
  return sums;
}

/** @param {Float32Array} sums @param {string[]} names @param {Theme["categories"]} colours @param {Uint8Array} [lower] rows that have no shares, as their sums are lower bounds @returns {Colouring} */
function byCategory(sums, names, colours, lower) {
  const shares = (/** @type {number} */ row) => {
    const own = [...sums.subarray(row * names.length, (row + 1) * names.length)];
    const sum = own.reduce((total, value) => total + value, 0);
    return own.map((value, at) => ({ at, share: value / sum })).filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
  };
  const text = (/** @type {number} */ row, /** @type {{at: number, share: number}} */ { at, share }) => (lower?.[row] ? names[at] : `${names[at]} ${percent(share, 1)}`);
  return {
    isScale: false,
    of: (row) => colours[shares(row)[0]?.at ?? names.length - 1],
    text: (row) => shares(row).slice(0, 2).map((part) => text(row, part)).join(", "),
    legend: (row) => shares(row).filter(({ share }) => share >= LEAST).map((part) => ({ colour: css(colours[part.at]), text: text(row, part) })),
  };
}

/** @type {Mode} */
function bySpeed(_page, answer, _metric, { dark, categories }) {
  const [work, time, lower] = [answer.total("float_ops"), answer.total("micros"), answer.lower("float_ops")?.total];
  const speed = (/** @type {number} */ row) => (Number(time[row]) > 0 ? (Number(work[row]) / Number(time[row])) * 1e6 : 0);
  let fastest = 0;
  // A row that takes next to no time has any speed.
  for (let row = 0; row < time.length; row++) if (Number(time[row]) * SLOWEST >= Number(time[0])) fastest = Math.max(fastest, speed(row));
  const rate = (/** @type {number} */ value, isLower = false) => amount(Math.round(value), "rate", isLower);
  const stops = [1, 0.75, 0.5, 0.25, 0].map((at) => ({ colour: css(sequential(at, dark)), text: `${rate(fastest * SLOWEST ** (at - 1))}${at ? "" : " or less"}` }));
  const nothing = { colour: css(categories[8]), text: lower?.[0] ? "no float operations, or unknown" : "no float operations" };
  return {
    isScale: true,
    of: (row) => (speed(row) > 0 ? sequential(1 + Math.log10(speed(row) / fastest) / Math.log10(SLOWEST), dark) : categories[8]),
    text: (row) => (speed(row) > 0 ? rate(speed(row), lower?.[row] === 1) : lower?.[row] ? "float operations unknown" : Number(work[row]) ? "no time" : "no float operations"),
    legend: () => [...stops, nothing],
  };
}

/** @type {Mode} */
function byAccelerator(_page, answer, _metric, { dark, categories }) {
  const [part, time] = [answer.total("accelerator_micros"), answer.total("micros")];
  const share = (/** @type {number} */ row) => Number(part[row]) / Number(time[row]); // not a number where there is no time
  const stops = ["all on CPUs", "half", "all on accelerators"].map((text, at) => ({ colour: css(diverging(at / 2, dark)), text }));
  return {
    isScale: true,
    of: (row) => (share(row) >= 0 ? diverging(share(row), dark) : categories[8]),
    text: (row) => (share(row) >= 0 ? `${percent(share(row), 1)} of the time on accelerators` : "no time"),
    legend: () => stops,
  };
}
