// How long an operation type takes in the steps of all workers: a histogram with percentiles, and
// the workers behind its tail or behind a bar of it.
import { Picture } from "./canvas.js";
import { css, theme } from "./colours.js";
import { fill, grid, h, head, number } from "./dom.js";
import { ratio, took } from "./fleet.js";
import { choice, pictureTab } from "./picture_controls.js";
import { exact, plural } from "./units.js";
import { textButton } from "./workers_report.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./fleet.js").Fleet} Fleet */
/** @typedef {{bin: number, x: number, y: number, width: number, height: number}} Bar of a histogram, as high as the picture */

const BINS = 48;
const NAMES = ["p50", "p90", "p99"];
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 24, 34, 24]; // pixels around the bars
const MOST_WORKERS = 20;
const LABEL = "Histogram of worker steps by time. Arrow keys move, Enter lists the workers of a bar, Escape those of the tail.";

/** @type {import("./tabs.js").Tab} */
export const distributionTab = pictureTab({
  id: "distribution",
  title: "Distribution",
  missing: () => "",
  make: (page) => new Distribution(page, /** @type {Fleet} */ (page.profile.fleet)),
});

/** A number of microseconds with all digits, or *most* behind the point. @param {number} micros @param {number} [most] */
function exactly(micros, most = 20) {
  return `${micros.toLocaleString("en", { maximumFractionDigits: most })} us`;
}

class Distribution {
  /** @param {Page} page @param {Fleet} fleet */
  constructor(page, fleet) {
    this.page = page;
    this.fleet = fleet;
    this.kind = 0;
    this.kinds = choice("Time of", (op) => page.go({ op, bin: "" }));
    /** @type {Picture<Bar>} */
    this.picture = new Picture({ label: LABEL, lines: (bar) => this.lines(bar), choose: ({ bin }) => page.go({ bin: page.state.bin === String(bin) ? "" : bin }), key: (key) => this.key(key) });
    this.numbers = h("dl", { class: "numbers" });
    this.space = h("div", { class: "histogram" }, this.picture.element);
    this.workers = h("section", { class: "card" });
    this.shown = "";
    const note = fleet.meta.note && h("p", { class: "muted" }, fleet.meta.note);
    this.parts = [h("div", { class: "toolbar" }, this.kinds.element, this.numbers), this.space, h("div", null, this.workers), h("div", null, note)];
  }

  /** Where a bar begins, in microseconds. @param {number} bin */
  from(bin) {
    const { least, width } = this.fleet.meta.kinds[this.kind];
    return Number(least) + bin * Number(width);
  }

  /** Draws what the state says. */
  draw() {
    const { page: { state }, fleet, picture, space } = this;
    this.kind = fleet.chosen(state).kind;
    const counts = fleet.bins.subarray(this.kind * BINS, (this.kind + 1) * BINS);
    const used = counts.findLastIndex((count) => count > 0) + 1;
    const chosen = /^\d+$/.test(state.bin ?? "") && Number(state.bin) < used ? Number(state.bin) : null;
    this.kinds.show(fleet.kinds, fleet.key(this.kind));
    const key = `${this.kind} ${chosen}`;
    if (key !== this.shown) {
      fill(this.numbers, NAMES.map((name, at) => {
        const micros = fleet.meta.kinds[this.kind].p[at];
        return h("div", null, h("dt", null, name), h("dd", { title: exactly(micros) }, took(micros)));
      }));
      fill(this.workers, this.listed(chosen));
    }
    this.shown = key;
    const [width, height] = [space.clientWidth, space.clientHeight];
    const bar = (width - LEFT - RIGHT) / used;
    picture.shapes = Array.from({ length: used }, (_, bin) => ({ bin, x: LEFT + bin * bar, y: TOP, width: bar, height: height - TOP - BOTTOM }));
    this.paint(picture.clear(width, height), counts, chosen, width, height);
    picture.focusOn(picture.shapes[picture.focused?.bin ?? chosen ?? 0] ?? picture.shapes[0]);
  }

  /** @param {CanvasRenderingContext2D} context @param {Int32Array} counts @param {number | null} chosen @param {number} width @param {number} height */
  paint(context, counts, chosen, width, height) {
    const { picture: { shapes }, kind, fleet } = this;
    const [colours, most, floor] = [theme(), Math.max(...counts), height - BOTTOM];
    context.strokeStyle = css(colours.line);
    context.fillStyle = css(colours.muted);
    context.textAlign = "right";
    for (const count of new Set([0, Math.ceil(most / 2), most])) {
      const y = floor - (count / most) * (floor - TOP);
      context.strokeRect(LEFT, y, width - LEFT - RIGHT, 0);
      context.fillText(exact(count), LEFT - 6, y);
    }
    for (const { bin, x, width: wide } of shapes) {
      const high = (counts[bin] / most) * (floor - TOP);
      context.fillStyle = css(colours.categories[chosen === null || chosen === bin ? 0 : 8]);
      context.fillRect(x, floor - Math.max(high, counts[bin] ? 1 : 0), Math.max(1, wide - 1), Math.max(high, counts[bin] ? 1 : 0));
    }
    context.fillStyle = css(colours.muted);
    context.textAlign = "left";
    context.fillText(took(this.from(0)), LEFT, floor + 13);
    context.textAlign = "right";
    context.fillText(took(this.from(shapes.length)), width - RIGHT, floor + 13);
    const place = (/** @type {number} */ micros) => LEFT + ((micros - this.from(0) + 0.5) / (this.from(shapes.length) - this.from(0))) * (width - LEFT - RIGHT);
    context.fillStyle = context.strokeStyle = css(colours.text);
    context.textAlign = "center";
    let [last, line] = [-Infinity, 0];
    fleet.meta.kinds[kind].p.forEach((/** @type {number} */ micros, /** @type {number} */ at) => {
      const x = place(micros);
      line = x - last < 28 ? line + 1 : 0; // labels side by side, else one above the other
      last = x;
      context.fillText(NAMES[at], x, 6 + 11 * line);
      context.beginPath();
      context.setLineDash([4, 3]);
      context.moveTo(x, 12 + 11 * line);
      context.lineTo(x, floor);
      context.stroke();
      context.setLineDash([]);
    });
  }

  /** @param {Bar} bar @returns {string[]} */
  lines({ bin }) {
    const { fleet, kind } = this;
    const [from, to] = [this.from(bin), this.from(bin + 1) - 1];
    return [from < to ? `${took(from)} to ${took(to)}` : took(from), plural(fleet.bins[kind * BINS + bin], "worker step")];
  }

  /** @param {string} key */
  key(key) {
    const [shapes, at] = [this.picture.shapes, this.picture.focused?.bin ?? 0];
    if (key === "Escape") return this.page.go({ bin: "" }), true;
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: shapes.length - 1 }[key];
    return next === undefined ? null : shapes[Math.max(0, Math.min(next, shapes.length - 1))];
  }

  /** The workers of a bar, or of the tail. @param {number | null} bin */
  listed(bin) {
    const { fleet, kind } = this;
    const [from, to] = bin === null ? [fleet.meta.kinds[kind].p[1], Infinity] : [this.from(bin), this.from(bin + 1)];
    const isIn = (/** @type {number} */ time) => (bin === null ? time > from : time >= from && time < to);
    const found = Array.from({ length: fleet.rows }, (_, row) => {
      const steps = fleet.steps.map((_, step) => step).filter((step) => isIn(fleet.time(kind, row, step)));
      const worst = steps.reduce((most, step) => (fleet.time(kind, row, step) > fleet.time(kind, row, most) ? step : most), steps[0] ?? 0);
      return { row, count: steps.length, worst, time: fleet.time(kind, row, worst) };
    }).filter(({ count }) => count > 0).sort((a, b) => b.count - a.count || b.time - a.time);
    const title = bin === null ? "Workers in the tail" : "Workers of this bar";
    const what = bin === null ? `steps that took longer than p90, ${exactly(from, 1)}` : `steps of ${exactly(from)} to ${exactly(to - 1)}`;
    const rows = found.slice(0, MOST_WORKERS).map(({ row, count, worst, time }) => h("tr", null,
      h("th", { scope: "row", class: "name" }, textButton(fleet.rowName(row, worst), "Show it in the heat map", () => this.page.go({ tab: "workers", ...fleet.choice(row, worst) }))),
      number(exact(count)), number(took(time), { title: exactly(time) }), number(ratio(time, fleet.median(kind, worst)), { class: "num second" }), number(fleet.steps[worst])));
    const more = found.length - rows.length;
    return [
      h("h2", null, title, h("span", { class: "muted" }, ` by ${what}`)),
      rows.length ? grid([head("Worker", "name"), head("Steps"), head("Longest"), head("Of the median", "num second"), head("In step")], rows) : h("p", { class: "muted" }, "None: no step took longer."),
      more > 0 && h("p", { class: "muted" }, `and ${plural(more, "more worker")}`),
    ];
  }
}
