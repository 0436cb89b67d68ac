/**
 * What each step and each device took.
 * @module
 */
import { amount } from "./amounts.js";
import { grid, h, head, number, shareBar } from "./dom.js";
import { fragmentOf } from "./state.js";
import { shown } from "./strings.js";
import { exact, plural } from "./units.js";

const MOST_STEPS = 8;

/**
 * The card with the two tables, or null if nothing was recorded.
 * @param {import("./profile.js").Profile} profile
 * @returns {HTMLElement | null}
 */
export function stepsCard({ steps }) {
  if (steps.length === 0) return null;
  const more = steps.length - MOST_STEPS;
  const devices = [...devicesOf(steps)].sort((a, b) => b[1].us - a[1].us);
  const whole = Math.max(...devices.map(([, { us }]) => us), 1);
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Steps and devices"),
    grid([head("Step", ""), head("Executions"), head("Start to end")], steps.slice(0, MOST_STEPS).map(stepRow)),
    more > 0 && h("p", { class: "muted" }, `and ${plural(more, "more step")}`),
    grid([head("Device", "name"), head("Executions"), head("Time"), devices.length > 1 && h("td", null)], devices.map(([name, took]) =>
      h("tr", null, h("th", { scope: "row", class: "name", title: shown(name) }, shown(shortDevice(name))), number(exact(took.executions)), number(amount(took.us, "micros")), devices.length > 1 && shareBar(took.us / whole)))),
  );
}

/** @param {import("./profile.js").Step} step */
function stepRow(step) {
  let [first, last] = [Infinity, -Infinity];
  for (let at = 0; at < step.start_us.length; at++) {
    const start = Number(step.start_us[at]);
    if (start <= 0) continue; // recorded without a time
    first = Math.min(first, start);
    last = Math.max(last, start + Number(step.us[at]));
  }
  const link = h("a", { href: fragmentOf({ tab: "timeline", step: String(step.number) }) }, `step ${step.number}`);
  return h("tr", null, h("th", { scope: "row" }, link), number(exact(step.node.length)), number(last > first ? amount(last - first, "micros") : ""));
}

/** Executions and their time by device, over all steps. @param {import("./profile.js").Step[]} steps */
function devicesOf(steps) {
  /** @type {Map<string, {us: number, executions: number}>} */
  const took = new Map();
  for (const step of steps) {
    const sums = Array.from({ length: step.devices.length }, () => ({ us: 0, executions: 0 }));
    for (let at = 0; at < step.node.length; at++) {
      const sum = sums[step.device[at]];
      sum.us += Number(step.us[at]);
      sum.executions++;
    }
    sums.forEach(({ us, executions }, device) => {
      const name = step.devices.text(device);
      const before = took.get(name);
      took.set(name, { us: us + (before?.us ?? 0), executions: executions + (before?.executions ?? 0) });
    });
  }
  return took;
}

/** Without the job, where there is only one. @param {string} name */
function shortDevice(name) {
  return name.replace(/^\/job:localhost\/replica:0\/task:0\/(device:)?/, "");
}
