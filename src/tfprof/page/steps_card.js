/**
 * What each step and each device took.
 * @module
 */
import { h } from "./dom.js";
import { amount } from "./amounts.js";
import { fragmentOf } from "./state.js";
import { shown } from "./strings.js";
import { exact } from "./units.js";

const MOST_STEPS = 8;

/**
 * The card with the two tables, or null if nothing was recorded.
 * @param {import("./profile.js").Profile} profile
 * @returns {HTMLElement | null}
 */
export function stepsCard(profile) {
  if (profile.steps.length === 0) return null;
  const steps = profile.steps.slice(0, MOST_STEPS).map(stepRow);
  const more = profile.steps.length - steps.length;
  const devices = [...devicesOf(profile.steps)].sort((a, b) => b[1].us - a[1].us);
  const whole = Math.max(...devices.map(([, took]) => took.us), 1);
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Steps and devices"),
    table(["Step", "Executions", "Start to end"], steps),
    more > 0 && h("p", { class: "muted" }, `and ${exact(more)} more steps`),
    table(["Device", "Executions", "Time", ""], devices.map(([name, took]) => deviceRow(name, took, whole))),
  );
}

/** @param {string[]} heads @param {HTMLElement[]} rows */
function table(heads, rows) {
  const cells = heads.map((head, at) => (head ? h("th", { scope: "col", class: at ? "num" : "" }, head) : h("td", null)));
  return h("table", { class: "grid" }, h("thead", null, h("tr", null, cells)), h("tbody", null, rows));
}

/** @param {any} step */
function stepRow(step) {
  const { first, last } = span(step);
  const link = h("a", { href: fragmentOf({ tab: "timeline", step: String(step.number) }) }, `step ${step.number}`);
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, link),
    h("td", { class: "num" }, exact(step.node.length)),
    h("td", { class: "num" }, last > first ? amount(last - first, "micros") : ""),
  );
}

/** @param {any} step */
function span(step) {
  let [first, last] = [Infinity, -Infinity];
  for (let at = 0; at < step.start_us.length; at++) {
    const start = Number(step.start_us[at]);
    if (start <= 0) continue; // recorded without a time
    first = Math.min(first, start);
    last = Math.max(last, start + Number(step.us[at]));
  }
  return { first, last };
}

/** Executions and their time by device, over all steps. @param {any[]} steps */
function devicesOf(steps) {
  /** @type {Map<string, {us: number, executions: number}>} */
  const took = new Map();
  for (const step of steps) {
    for (let at = 0; at < step.node.length; at++) {
      const name = step.devices.text(step.device[at]);
      const sums = took.get(name) ?? { us: 0, executions: 0 };
      sums.us += Number(step.us[at]);
      sums.executions += 1;
      took.set(name, sums);
    }
  }
  return took;
}

/** Without the job, where there is only one. @param {string} name */
function shortDevice(name) {
  return name.replace(/^\/job:localhost\/replica:0\/task:0\/(device:)?/, "");
}

/** @param {string} name @param {{us: number, executions: number}} took @param {number} whole */
function deviceRow(name, took, whole) {
  const bar = h("i", null);
  bar.style.width = `${(100 * took.us) / whole}%`;
  return h(
    "tr",
    null,
    h("th", { scope: "row", class: "name", title: shown(name) }, shown(shortDevice(name))),
    h("td", { class: "num" }, exact(took.executions)),
    h("td", { class: "num" }, amount(took.us, "micros")),
    h("td", { class: "bar" }, h("span", { class: "share" }, bar)),
  );
}
