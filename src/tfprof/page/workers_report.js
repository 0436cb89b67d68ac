// What `tfprof workers` finds, as cards: sentences, parameter servers, and the workers by themselves.
import { amount } from "./amounts.js";
import { grid, h, head, number, shareBar } from "./dom.js";
import { took } from "./fleet.js";
import { shown } from "./strings.js";
import { exact, percent, plural } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {{server: string, bytes: number, parameters: number, variables: number}} Server */
/** @typedef {{worker: string, micros: number | null, factor: number | null, spread: number | null, share: number, straggler: boolean}} Row */
/** What --format=json gives, with sentences. @typedef {{error?: string, findings: {title: string, of: string, sentences: string[]}[], stragglers: {worker: string}[],
 *   slow_steps: {step: number | bigint, workers: string[]}[], parameter_servers: {servers: Server[]}, caveats: string[], rows: Row[], workers: number, time: string}} Report */

/** A button that reads as text. @param {string} text @param {string} title @param {() => void} onclick */
export function textButton(text, title, onclick) {
  return h("button", { type: "button", class: "text", title, onclick }, text);
}

/** Cards with what was found, and one with the workers. @param {Page} page @param {Report} report @returns {{cards: HTMLElement[], workers: HTMLElement}} */
export function workersReport(page, report) {
  if (report.error) return { cards: [], workers: h("p", { class: "muted" }, shown(report.error)) };
  const { findings, stragglers, slow_steps: steps, parameter_servers: { servers }, caveats, rows, workers, time } = report;
  const go = (/** @type {object} */ changes) => () => (page.go({ worker: "", step: "", ...changes }), page.panel.scrollTo({ top: 0 }));
  // The sentences of a section are those of its list, as far as it goes.
  /** @type {Object<string, HTMLElement[]>} */ const buttons = {
    stragglers: stragglers.map(({ worker }) => textButton("show", "Show it in the heat map", go({ worker }))),
    slow_steps: steps.map(({ step, workers: some }) => textButton("show", "Show it in the heat map", go({ step: String(step), worker: some[0] }))),
  };
  const cards = findings.map(({ title, of, sentences }) => {
    const items = sentences.map((text, at) => h("li", { class: "wrap" }, shown(text), " ", buttons[of]?.[at]));
    return card(title, h("ul", null, items), of === "parameter_servers" && serversTable(servers));
  });
  const notes = caveats.map((text) => h("p", { class: "muted" }, shown(text)));
  const more = workers - rows.length;
  const slowest = Math.max(...rows.map(({ micros }) => micros ?? 0), 1);
  const table = grid([head("Worker", "name"), head("Step", "num", "2"), head("Of peers"), head("Spread", "num extra"), head("Share", "num extra")], rows.map((row) => h("tr", null,
    h("th", { scope: "row", class: "name" }, textButton(shown(row.worker), "Show it in the heat map", go({ worker: row.worker })), row.straggler && h("span", { class: "only-read" }, " straggler")),
    shareBar((row.micros ?? 0) / slowest), number(row.micros === null ? "" : took(row.micros)), number(row.factor === null ? "" : `${row.factor.toFixed(2)}×`, row.straggler ? { class: "num warn", title: "a straggler" } : {}),
    number(row.spread === null ? "" : percent(row.spread, 1), { class: "num extra" }), number(percent(row.share, 1), { class: "num extra" }))));
  const what = time === "micros" ? " by the time of operations in the median step" : " by the median step, from start to end";
  return { cards, workers: card(["Workers", h("span", { class: "muted" }, what)], table, more > 0 && h("p", { class: "muted" }, `and ${plural(more, "more worker")}`), ...notes) };
}

/** @param {import("./dom.js").Child | import("./dom.js").Child[]} title @param {...import("./dom.js").Child} children */
function card(title, ...children) {
  return h("section", { class: "card notes" }, h("h2", null, title), ...children);
}

/** @param {Server[]} servers */
function serversTable(servers) {
  const most = Math.max(...servers.map(({ bytes }) => bytes), 1);
  return grid([head("Server", "name"), head("Bytes", "num", "2"), head("Parameters"), head("Variables", "num second")], servers.map(({ server, bytes, parameters, variables }) => h("tr", null,
    h("th", { scope: "row", class: "name" }, shown(server)), shareBar(bytes / most), number(amount(bytes, "memory")), number(exact(parameters)), number(exact(variables), { class: "num second" }))));
}
