// The workers of a fleet: a heat map over steps, what a chosen worker or step spends its time on,
// and what `tfprof workers` finds.
import { theme } from "./colours.js";
import { fill, grid, h, head, number, shareBar } from "./dom.js";
import { ratio, took } from "./fleet.js";
import { HeatMap, heatLegend } from "./heat_map.js";
import { choice, pictureTab, showLegend } from "./picture_controls.js";
import { exact, plural } from "./units.js";
import { textButton, workersReport } from "./workers_report.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./fleet.js").Fleet} Fleet */
/** @typedef {import("./fleet.js").Chosen} Chosen */

const ORDERS = [{ value: "", text: "by name" }, { value: "slowest", text: "slowest first" }];
const MOST_TYPES = 10;
const NOTHING = JSON.stringify({ worker: null, step: null });
const HINT = "Choose a cell, a worker or a step: what it spends more time on than the median is listed here.";

/** @type {import("./tabs.js").Tab} */
export const workersTab = pictureTab({
  id: "workers",
  title: "Workers",
  missing: () => "",
  make: (page) => new Workers(page, /** @type {Fleet} */ (page.profile.fleet)),
});

class Workers {
  /** @param {Page} page @param {Fleet} fleet */
  constructor(page, fleet) {
    this.page = page;
    this.fleet = fleet;
    this.kinds = choice("Time of", (op) => page.go({ op }));
    this.orders = choice("Order", (rows) => page.go({ rows }));
    this.map = new HeatMap(fleet, ({ row, step }) => this.lines(row, step), (row, step) => page.go(fleet.choice(row, step)));
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
    this.chosen = h("section", { class: "card", "aria-live": "polite" });
    this.shown = "";
    const note = fleet.meta.note && h("p", { class: "muted" }, fleet.meta.note);
    const { cards, workers } = workersReport(page, fleet.meta.report);
    this.parts = [
      h("div", { class: "toolbar" }, this.kinds.element, this.orders.element, this.legend),
      h("div", { class: "fleet" }, h("div", null, this.map.scroller, note), h("div", { class: "fleet-side" }, this.chosen, cards), workers),
    ];
  }

  /** Draws what the state says. */
  draw() {
    const { page: { state, panel }, fleet, map } = this;
    const { kind, ...chosen } = fleet.chosen(state);
    const order = Array.from({ length: fleet.rows }, (_, row) => row);
    if (state.rows === "slowest") {
      const slowness = order.map((row) => {
        const { time, usual } = fleet.compared(kind, row);
        return usual > 0 ? time / usual : 0;
      });
      order.sort((a, b) => slowness[b] - slowness[a] || a - b);
    }
    this.kinds.show(fleet.kinds, fleet.key(kind));
    this.orders.show(ORDERS, state.rows === "slowest" ? "slowest" : "");
    showLegend(this.legend, heatLegend(theme().dark));
    Object.assign(map, { kind, order, chosen });
    map.draw(Math.max(220, Math.round(panel.clientHeight * 0.55)));
    const key = JSON.stringify(chosen);
    if (key === this.shown) return; // a button in it stays while the rest changes
    this.shown = key;
    fill(this.chosen, this.explained(chosen));
    map.reveal(chosen.worker ?? -1, chosen.step ?? -1);
    if (key !== NOTHING) map.focusOn(map.cell(chosen.worker ?? -1, chosen.step ?? -1));
  }

  /** @param {number} row @param {number} step @returns {string[]} */
  lines(row, step) {
    const { fleet, map: { kind } } = this;
    const [worker, at] = [row < 0 ? null : row, step < 0 ? null : step];
    const { time, usual, than, steps } = this.compared(kind, worker, at);
    if (!steps) return [this.name(worker, at), "no record"];
    const slowest = fleet.members && at !== null && worker !== null ? [`the slowest of ${fleet.rowName(row)}`] : [];
    return [this.name(worker, at), `${fleet.kindName(kind)}: ${took(time)}`, `${ratio(time, usual) || "not"} ${than}, ${took(usual)}`, ...slowest];
  }

  /** What a worker and a step are called. @param {number | null} worker @param {number | null} step */
  name(worker, step) {
    const { fleet } = this;
    return [worker === null ? "" : fleet.rowName(worker, step), step === null ? "" : `step ${fleet.steps[step]}`].filter(Boolean).join(", ");
  }

  /** The time of what is chosen, and what it is compared with. @param {number} kind @param {number | null} worker @param {number | null} step */
  compared(kind, worker, step) {
    const { fleet } = this;
    if (worker !== null) return { kind, than: step === null ? "the medians of its steps" : "the median of the step", ...fleet.compared(kind, worker, step) };
    return { kind, than: "the median of all worker steps", time: fleet.median(kind, step ?? 0), usual: Number(fleet.meta.kinds[kind].p[0]), steps: 1 };
  }

  /** Operation types of what is chosen against the median, the largest difference first. @param {Chosen} chosen @returns {import("./dom.js").Child[]} */
  explained({ worker, step }) {
    const { fleet } = this;
    if (worker === null && step === null) return [h("p", { class: "muted" }, HINT)];
    const [all, title] = [this.compared(0, worker, step), h("h2", { class: "wrap" }, this.name(worker, step))];
    if (!all.steps) return [title, h("p", { class: "muted" }, "There is no record of it.")];
    const types = fleet.types.map((kind) => this.compared(kind, worker, step)).sort((a, b) => b.time - b.usual - (a.time - a.usual)).slice(0, MOST_TYPES);
    const largest = Math.max(...types.map(({ time, usual }) => Math.abs(time - usual)), 1);
    const rows = types.map(({ kind, time, usual }) => this.row(kind, time, usual, largest));
    return [
      title, h("p", null, `${took(all.time)}${step === null ? ` in ${plural(all.steps, "step")}` : ""}, ${ratio(all.time, all.usual) || "not"} ${all.than}.`),
      grid([head("Operation type", "name"), head("Time"), head("Median", "num second"), head("Difference", "num", "2")], rows),
      h("button", { type: "button", class: "button", onclick: () => (this.page.go({ worker: "", step: "" }), this.map.canvas.focus()) }, "Choose nothing"),
    ];
  }

  /** @param {number} kind @param {number} time @param {number} usual @param {number} largest */
  row(kind, time, usual, largest) {
    const name = this.fleet.kindName(kind);
    const go = () => this.page.go({ tab: "distribution", op: this.fleet.key(kind) });
    const more = Math.round(time - usual);
    return h("tr", null, h("th", { scope: "row", class: "name" }, textButton(name, `The distribution of ${name}`, go)),
      number(took(time), { title: `${exact(time)} us` }), number(took(usual), { class: "num second" }), number(`${more > 0 ? "+" : ""}${took(more)}`), shareBar(Math.max(0, time - usual) / largest));
  }
}
