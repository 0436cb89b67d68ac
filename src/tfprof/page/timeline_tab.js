// The timeline of one step: what is drawn, coloured, searched, and in sight, as the address says.
import { once } from "./cache.js";
import { css, theme } from "./colours.js";
import { fill, h } from "./dom.js";
import { NO_EXECUTIONS } from "./fleet.js";
import { pictureTab, showLegend } from "./picture_controls.js";
import { matcher } from "./regex.js";
import { shown } from "./strings.js";
import { TimeRange } from "./time_range.js";
import { OTHERS, TimelinePicture, peakOf, sceneOf } from "./timeline_picture.js";
import { plural, short } from "./units.js";


const WRITE_MS = 120; // after the last movement the address names the range
const LEGEND = 40; // devices

class Timeline {
  /** @param {import("./app.js").Page} page */
  constructor(page) {
    this.page = page;
    this.asked = "";
    this.searched = "";
    this.frame = 0;
    this.timer = 0;
    const range = new TimeRange(() => this.later());
    this.range = range;
    const scene = sceneOf(page.profile, page.profile.steps[0]);
    this.scenes = new Map([[scene.step.number, scene]]);

    const change = (/** @type {string} */ key, /** @type {object} */ more = {}) => (/** @type {any} */ event) => page.go({ [key]: event.target.value, ...more });
    const option = (/** @type {string | number} */ value, /** @type {string} */ text) => h("option", { value }, text);
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ onclick) => h("button", { type: "button", class: "button", title, "aria-label": title, onclick }, text);
    this.step = h("select", { "aria-label": "Step", onchange: change("step", { range: null }) }, page.profile.steps.map(({ number }) => option(number, `Step ${number}`)));
    this.colour = h("select", { "aria-label": "Colour", onchange: change("lane_colour") }, option("", "Colour: type"), option("device", "Colour: device"));
    this.search = h("input", { type: "search", placeholder: "Search (regex)", "aria-label": "Search executions by a regex on their names", oninput: (/** @type {any} */ event) => page.go({ search: event.target.value }, { replace: true }) });
    this.matches = h("span", { class: "muted", role: "status" });
    this.sight = h("span", { class: "muted num" });
    const buttons = [
      button("←", "Earlier", () => range.pan(-0.5)), button("→", "Later", () => range.pan(0.5)), button("−", "Zoom out", () => range.zoom(2)),
      button("+", "Zoom in", () => range.zoom(0.5)), button("Fit", "Fit: show the whole step", () => range.move(0, range.span)),
    ];
    const bar = h("div", { class: "toolbar" }, this.step, this.colour, this.search, this.matches, h("span", { class: "grow" }), this.sight, h("span", { class: "buttons" }, buttons));
    this.legend = h("ul", { class: "legend lane-legend", "aria-label": "Legend", tabindex: "0" });
    this.spacer = h("div");
    this.scroller = h("div", { class: "lanes grow", onscroll: () => this.picture.paint() }, this.spacer);
    this.notes = h("p", { class: "lane-notes muted" });
    this.peak = h("a");
    this.noted = "";
    this.parts = [bar, this.legend, this.scroller, this.notes];
    this.picture = new TimelinePicture(scene, range, this.scroller, (node) => this.write({ node: page.nodeKey(node) }));
    this.spacer.append(this.picture.picture.element);
    this.scroller.addEventListener("keydown", (event) => {
      if (event.shiftKey && range.key(event.key, true)) event.preventDefault();
    });
  }

  draw() {
    const { page: { state, profile, node }, range, picture } = this;
    const step = profile.steps.find((one) => String(one.number) === state.step) ?? profile.steps[0];
    const scene = once(this.scenes, step.number, () => sceneOf(profile, step));
    picture.scene = scene;
    picture.colours = theme();
    picture.byDevice = state.lane_colour === "device";
    picture.selected = node;
    range.span = Math.max(scene.lanes.span, 1);
    this.step.value = String(step.number);
    this.colour.value = picture.byDevice ? "device" : "";
    if (document.activeElement !== this.search) this.search.value = state.search ?? "";
    const asked = `${step.number} ${state.range ?? ""}`;
    if (asked !== this.asked && !this.timer) {
      const [from, to] = (state.range ?? "").split("-").map(Number);
      if (to > from) range.set(from, to);
      else range.set(0, range.span);
    }
    this.asked = asked;
    this.match(state.search ?? "");
    this.explain();
    this.paint();
  }

  paint() {
    this.spacer.style.height = `${this.picture.room.height}px`;
    this.picture.paint();
    this.sight.textContent = `${short(Math.round(this.range.to - this.range.from), "micros")} of ${short(this.range.span, "micros")}`;
  }

  /** Paints with the next frame, and names the range in the address once it rests. */
  later() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write({}), WRITE_MS);
    this.scroller.ariaBusy = "true";
  }

  /** @param {Object<string, string>} changes to the state, besides the range */
  write(changes) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.scroller.ariaBusy = null;
    if (this.page.tab.id !== "timeline") return;
    const { from, to, span } = this.range;
    const range = to - from >= span ? "" : `${Number(from.toFixed(1))}-${Number(to.toFixed(1))}`;
    this.asked = `${this.picture.scene.step.number} ${range}`;
    this.page.go({ range, ...changes }, { replace: !("node" in changes) });
  }

  /** @param {string} regex */
  match(regex) {
    const { scene: { node, lanes, step } } = this.picture;
    if (`${step.number} ${regex}` === this.searched) return;
    this.searched = `${step.number} ${regex}`;
    let [problem, us] = ["", 0];
    const before = new Int32Array(node.length + 1);
    try {
      if (regex) matcher([regex]); // by itself, so that a ")" too many does not end our group
      const found = regex ? matcher([`(?s:.*)(?:${regex})(?s:.*)`]).rows(this.page.profile.nodes.name) : new Uint8Array(0);
      node.forEach((one, at) => {
        before[at + 1] = before[at] + (found[one] ?? 0);
        if (found[one]) us += lanes.us[at];
      });
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    this.picture.matching = regex && !problem ? before : null;
    this.search.setAttribute("aria-invalid", String(problem !== ""));
    this.matches.textContent = problem ? shown(problem) : regex ? `${plural(before[node.length], "execution")}, ${short(us, "micros")}` : "";
  }

  /** The legend, and what is known about memory. */
  explain() {
    const { page, picture: { byDevice, scene } } = this;
    const { categories } = this.picture.colours;
    const chip = (/** @type {number} */ category, /** @type {string} */ text) => ({ colour: css(categories[category]), text });
    const rest = scene.types.slice(OTHERS).reduce((sum, [, us]) => sum + us, 0);
    const types = scene.types.slice(0, OTHERS).map(([type, us], at) => chip(at, `${shown(page.profile.types.text(type).slice(0, 60))} ${short(us, "micros")}`));
    if (rest) types.push(chip(OTHERS, `others ${short(rest, "micros")}`));
    showLegend(this.legend, byDevice ? scene.devices.slice(0, LEGEND).map((device, at) => chip(at % OTHERS, device)) : types);

    // What a reader may be about to press stays: the address changes a moment after each movement.
    const peak = scene.curves.length ? peakOf(scene, 0) : null;
    if (peak) this.peak.setAttribute("href", page.href({ node: page.nodeKey(peak.node) }));
    const left = scene.curves.length - this.picture.room.count;
    const noted = `${scene.step.number} ${left}`;
    if (noted === this.noted) return;
    this.noted = noted;
    /** @type {(string | HTMLElement)[]} */ const notes = [];
    if (!peak) notes.push("Memory: this file does not record it. ");
    else {
      fill(this.peak, [shown(page.profile.nodes.name.text(peak.node).slice(0, 200))]);
      notes.push(peak.text, this.peak, ". ");
    }
    if (scene.curves.some((curve) => curve.held.time.length)) notes.push("The line adds up allocation records. ");
    const alone = scene.holders.filter((_, at) => scene.curves[at].kind === "operation");
    const where = alone.length > 2 ? plural(alone.length, "device") : alone.join(" and ");
    if (where) notes.push(`Memory bars: the most that each operation allocated, drawn at its end. The file does not record the total in use on ${where}. `);
    if (scene.lanes.untimed) notes.push(`Not drawn: ${plural(scene.lanes.untimed, "execution")} without a start time or a device that counts. `);
    if (left) notes.push(`There is no room for the memory of ${plural(left, "more device")}.`);
    fill(this.notes, notes);
  }
}

/** @type {import("./tabs.js").Tab} */
export const timelineTab = pictureTab({
  id: "timeline",
  title: "Timeline",
  missing: ({ profile: { steps, fleet } }) => {
    if (fleet) return NO_EXECUTIONS;
    if (!steps.length) return "A timeline shows a run: add a RunMetadata (--run_meta_path) or a trace (--trace_path).";
    return steps.some((step) => step.counts_as.some((kind) => kind !== 0)) ? "" : "The run in these files has no start times: add a RunMetadata or a trace that has.";
  },
  filters: () => ["step"],
  make: (page) => new Timeline(page),
});
