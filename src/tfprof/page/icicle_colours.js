/**
 * What the colour of a row says: the kind of its operations, their device, how fast or where they ran.
 *
 * A row that holds several kinds has the colour of the one that most of the metric goes to.
 * @module
 */
import { amount } from "./amounts.js";
import { css, diverging, sequential } from "./colours.js";
import { shown } from "./strings.js";
import { Tree } from "./tree.js";
import { percent } from "./units.js";

/** @typedef {import("./colours.js").Rgb} Rgb */
/** @typedef {import("./colours.js").Theme} Theme */
/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./answer.js").Answer} Answer */
/**
 * @typedef {object} Colouring
 * @property {boolean} isScale colours are numbers, not names
 * @property {(row: number) => Rgb} of
 * @property {(row: number) => string} text what the colour says
 * @property {(row: number) => {colour: string, text: string}[]} legend of the picture of a row
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
function byKind(page, answer, metric, theme) {
  const { names, of_type: kinds } = page.profile.meta.kinds;
  const { op } = page.profile.nodes;
  const sums = answer.cached(`kinds ${metric}`, () => categorySums(page, answer, metric, (node) => kinds[op[node]], names.length));
  return byCategory(sums, names, theme);
}

/** @type {Mode} */
function byDevice(page, answer, metric, theme) {
  const { nodes, types } = page.profile;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const device of nodes.device) if (device >= 0) counts.set(device, (counts.get(device) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, theme.categories.length - 1).map(([device]) => device);
  const place = new Map(most.map((device, at) => [device, at]));
  const names = [...most.map((device) => shown(types.text(device))), counts.size > most.length ? "other devices" : "no device"];
  const categoryOf = (/** @type {number} */ node) => place.get(nodes.device[node]) ?? most.length;
  const sums = answer.cached(`devices ${metric}`, () => categorySums(page, answer, metric, categoryOf, names.length));
  return byCategory(sums, names, { ...theme, categories: [...theme.categories.slice(0, most.length), theme.categories[8]] });
}

/**
 * The sum of the metric per row and category: those of row i are at i * count.
 * @param {Page} page
 * @param {Answer} answer
 * @param {string} metric
 * @param {(node: number) => number} categoryOf
 * @param {number} count
 * @returns {Float32Array}
 */
function categorySums(page, answer, metric, categoryOf, count) {
  const { tree, counted, drawing } = answer;
  const { parent } = new Tree(drawing.end);
  const place = new Int32Array(parent.length).fill(-1);
  for (let at = 0; at < tree.length; at++) place[answer.row[at]] = at;
  const isCounted = new Uint8Array(parent.length);
  for (const row of counted.row) isCounted[row] = 1;
  for (let row = 1; row < place.length; row++) if (place[row] < 0) place[row] = place[parent[row]];
  const values = page.profile.values(metric, counted.step);
  const sums = new Float32Array(tree.length * count);
  for (let node = 0; node < values.length; node++) {
    const owner = drawing.owner[node];
    if (owner < 0 || !isCounted[owner] || !values[node]) continue;
    sums[place[owner] * count + categoryOf(node)] += Number(values[node]) * (counted.picked?.[node] ?? 1);
  }
  for (let row = tree.length - 1; row > 0; row--) {
    const to = tree.parent[row] * count;
    for (let at = 0; at < count; at++) sums[to + at] += sums[row * count + at];
  }
  return sums;
}

/** @param {Float32Array} sums @param {string[]} names @param {Theme} theme @returns {Colouring} */
function byCategory(sums, names, { categories }) {
  const count = names.length;
  const ofRow = (/** @type {number} */ row) => {
    const own = [...sums.subarray(row * count, row * count + count)];
    return { own, sum: own.reduce((total, value) => total + value, 0), most: own.indexOf(Math.max(...own)) };
  };
  const shares = (/** @type {number} */ row) => {
    const { own, sum } = ofRow(row);
    const parts = own.map((value, at) => ({ at, share: sum > 0 ? value / sum : 0 })).filter(({ share }) => share > 0);
    return parts.sort((a, b) => b.share - a.share);
  };
  const named = (/** @type {{at: number, share: number}} */ { at, share }) => `${names[at]} ${percent(share, 1)}`;
  return {
    isScale: false,
    of: (row) => {
      const { most, sum } = ofRow(row);
      return categories[sum > 0 ? most : count - 1];
    },
    text: (row) => shares(row).slice(0, 2).map(named).join(", "),
    legend: (row) => shares(row).filter(({ share }) => share >= LEAST).map((part) => ({ colour: css(categories[part.at]), text: named(part) })),
  };
}

/** @type {Mode} */
function bySpeed(_page, answer, _metric, theme) {
  const [work, time] = [answer.total("float_ops"), answer.total("micros")];
  const speed = (/** @type {number} */ row) => (Number(time[row]) > 0 ? (Number(work[row]) / Number(time[row])) * 1e6 : 0);
  let fastest = 0;
  // A row that takes next to no time has any speed.
  for (let row = 0; row < time.length; row++) if (Number(time[row]) * SLOWEST >= Number(time[0])) fastest = Math.max(fastest, speed(row));
  const share = (/** @type {number} */ row) => 1 + Math.log10(speed(row) / fastest) / Math.log10(SLOWEST);
  const stops = [1, 0.75, 0.5, 0.25, 0].map((at) => {
    const value = amount(Math.round(fastest * SLOWEST ** (at - 1)), "rate");
    return { colour: css(sequential(at, theme.dark)), text: at === 0 ? `${value} or less` : value };
  });
  const nothing = { colour: css(theme.categories[8]), text: "no float operations" };
  return {
    isScale: true,
    of: (row) => (speed(row) > 0 ? sequential(share(row), theme.dark) : theme.categories[8]),
    text: (row) => (speed(row) > 0 ? amount(Math.round(speed(row)), "rate") : nothing.text),
    legend: () => [...stops, nothing],
  };
}

/** @type {Mode} */
function byAccelerator(_page, answer, _metric, theme) {
  const [part, time] = [answer.total("accelerator_micros"), answer.total("micros")];
  const share = (/** @type {number} */ row) => Number(part[row]) / Number(time[row]);
  const entry = (/** @type {number} */ at, /** @type {string} */ text) => ({ colour: css(diverging(at, theme.dark)), text });
  return {
    isScale: true,
    of: (row) => (Number(time[row]) > 0 ? diverging(share(row), theme.dark) : theme.categories[8]),
    text: (row) => (Number(time[row]) > 0 ? `${percent(share(row), 1)} of the time on accelerators` : "no time"),
    legend: () => [entry(1, "all on accelerators"), entry(0.5, "half"), entry(0, "all on CPUs")],
  };
}
