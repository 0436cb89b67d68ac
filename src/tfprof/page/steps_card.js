/**
 * What each step and each device took.
 * @module
 */
import { amount } from "./amounts.js";
import { grid, h, head, number, shareBar } from "./dom.js";
import { UNTIMED } from "./numbers.js";
import { fragmentOf } from "./state.js";
import { shown } from "./strings.js";
import { shortNames } from "./timeline_picture.js";
import { exact, plural } from "./units.js";

const MOST_STEPS = 8;

/**
 * The card with the two tables, or null if nothing was recorded.
 * @param {import("./profile.js").Profile} profile
 * @returns {HTMLElement | null}
 */
export function stepsCard({ steps, records }) {
  if (steps.length === 0) return null;
  const more = steps.length - MOST_STEPS;
  const devices = [...devicesOf(steps, records)].map(([name, took]) => ({ name, ...took, us: perStep(took.us) })).sort((a, b) => Number(b.us - a.us));
  const short = shortNames(devices.map(({ name }) => name));
  const whole = Number(devices[0]?.us) || 1;
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Steps and devices"),
    grid([head("Step", ""), head("Executions"), head("Start to end")], steps.slice(0, MOST_STEPS).map(stepRow)),
    more > 0 && h("p", { class: "muted" }, `and ${plural(more, "more step")}`),
    grid([head("Device", "name"), head("Executions"), head("Time in a step"), devices.length > 1 && h("td", null)], devices.map(({ name, executions, us }, at) =>
      h("tr", null, h("th", { scope: "row", class: "name", title: shown(name) }, short[at]), number(exact(executions)), us ? number(amount(us, "micros"), { title: exact(us) }) : number(""), devices.length > 1 && shareBar(Number(us) / whole)))),
  );
}

/** @param {import("./profile.js").Step} step */
function stepRow(step) {
  let [first, last] = [Infinity, -Infinity];
  for (let at = 0; at < step.start_us.length; at++) {
    if (step.counts_as[at] === UNTIMED) continue;
    const start = Number(step.start_us[at]);
    first = Math.min(first, start);
    last = Math.max(last, start + Number(step.us[at]));
  }
  const link = h("a", { href: fragmentOf({ tab: "timeline", step: String(step.number) }) }, `step ${step.number}`);
  return h("tr", null, h("th", { scope: "row" }, link), number(exact(step.node.length)), number(last > first ? amount(last - first, "micros") : ""));
}

/**
 * Executions of each device over all steps, and their time by the number of steps that have the node.
 * @param {import("./profile.js").Step[]} steps @param {Int32Array} records
 */
function devicesOf(steps, records) {
  /** @type {Map<string, {executions: number, us: Map<number, bigint>}>} */
  const took = new Map();
  for (const step of steps) {
    const exactly = /** @type {(us: number | bigint) => any} */ (step.us instanceof Int32Array ? Number : BigInt);
    const sums = Array.from({ length: step.devices.length }, () => ({ executions: 0, us: new Map() }));
    for (let at = 0; at < step.node.length; at++) {
      const [sum, key] = [sums[step.device[at]], records[step.node[at]]];
      sum.executions++;
      if (step.counts_as[at] !== UNTIMED) sum.us.set(key, (sum.us.get(key) ?? exactly(0)) + exactly(step.us[at]));
    }
    sums.forEach(({ us, executions }, device) => {
      const all = took.get(step.devices.text(device)) ?? { executions: 0, us: new Map() };
      took.set(step.devices.text(device), all);
      all.executions += executions;
      for (const [key, sum] of us) all.us.set(key, (all.us.get(key) ?? 0n) + BigInt(sum));
    });
  }
  return took;
}

/** Each node counts its average over the steps that have it, as in a total. @param {Map<number, bigint>} us @returns {bigint} */
function perStep(us) {
  return [...us].reduce((sum, [steps, part]) => sum + part / BigInt(steps), 0n);
}
