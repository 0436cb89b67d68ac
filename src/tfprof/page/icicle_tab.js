/**
 * The icicle: rows of a view as boxes, as wide as a metric, coloured by another.
 * @module
 */
import { amount } from "./amounts.js";
import { take } from "./arrays.js";
import { theme } from "./colours.js";
import { h } from "./dom.js";
import { icicle, levels } from "./icicle.js";
import { MODES } from "./icicle_colours.js";
import { IciclePicture, searchOf } from "./icicle_picture.js";
import { ALL_DEPTHS, choice, metricChoices, metricOf, metrics, pictureTab } from "./picture_controls.js";
import { shown } from "./strings.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */

const LONGEST = 2000; // letters of a name

export const icicleTab = pictureTab({
  id: "icicle",
  title: "Icicle",
  missing: (page) => (page.profile.nodes.count ? "" : "These files have no graph: add a graph, a SavedModel or a trace."),
  filters: (page) => viewOf(page).options,
  make: (page) => new Icicle(page),
});

/** The views that nest. @param {Page} page */
function viewsOf(page) {
  return page.profile.meta.views.filter((/** @type {any} */ view) => !view.chain);
}

/** @param {Page} page */
function viewOf(page) {
  const views = viewsOf(page);
  return views.find((/** @type {any} */ { name, missing }) => name === page.state.view && !missing) ?? views[0];
}

/** What the state says to draw. @param {Page} page */
function sceneOf(page) {
  const { state } = page;
  const view = viewOf(page).name;
  const metric = metricOf(page, view);
  const order = metric.name === "occurrence" ? "name" : metric.name; // scopes do not occur
  const answer = page.answer(view, { max_depth: ALL_DEPTHS, order_by: order });
  const [own, total, lower] = [answer.own(metric.name), answer.total(metric.name), answer.lower(metric.name)];
  const layout = answer.cached(`icicle ${metric.name}`, () => icicle(answer.tree, total));
  let zoomed = Math.max(0, answer.row.indexOf(Number(state.zoom ?? 0)));
  while (zoomed > 0 && !layout.width[zoomed]) zoomed = layout.parent[zoomed]; // of another metric it may have nothing
  const mode = MODES.find(({ name }) => name === state.colour) ?? MODES[0];
  const colours = theme();
  const colouring = mode.make(page, answer, metric.name, colours);
  const text = state.search ?? "";
  const hits = (/** @type {ReturnType<typeof import("./regex.js").matcher>} */ pattern) => answer.cached(`search ${text}`, () => take(pattern.rows(answer.drawing.label), answer.row));
  const name = (/** @type {number} */ row) => nameOf(answer, row, false);
  const brief = (/** @type {number} */ row) => nameOf(answer, row, true);
  const share = (/** @type {number} */ row, /** @type {number} */ of) => (lower?.total[of] ? "" : `${percent(layout.width[of] > 0 ? layout.width[row] / layout.width[of] : 0, 1)} of ${brief(of)}`);
  const lines = (/** @type {number} */ row) => [
    [`${amount(total[row], metric.unit, Boolean(lower?.total[row]))} ${metric.title}`, share(row, 0)].filter(Boolean).join(", "),
    zoomed > 0 ? share(row, zoomed) : "",
    (own[row] || lower?.own[row]) && own[row] !== total[row] ? `${amount(own[row], metric.unit, Boolean(lower?.own[row]))} of its own` : "",
    colouring.text(row),
  ];
  return {
    view, metric, mode, layout, zoomed, colours, colouring, name, brief, lines,
    of: view, id: answer.row, tree: answer.tree, node: answer.node,
    levels: answer.cached(`levels ${metric.name} ${zoomed}`, () => levels(layout, zoomed)),
    search: searchOf(text, hits, layout, zoomed, Boolean(lower?.total[zoomed])),
    texts: (/** @type {number} */ row) => (view === "scope" ? [brief(row)] : [name(row), brief(row)]),
    nothing: `No row has ${metric.title}.`,
  };
}

/** What a row is called; in brief, without the scopes that it is in. @param {import("./answer.js").Answer} answer @param {number} row @param {boolean} brief */
function nameOf(answer, row, brief) {
  if (row === 0) return "all";
  const label = answer.label(row);
  // A node without its scopes; a line of code without its file.
  const cut = brief ? (answer.view.groups ? label.indexOf(":") : label.lastIndexOf("/", label.length - 2)) + 1 : 0;
  return shown(label.slice(cut, cut + LONGEST));
}

class Icicle {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.views = h("div", { role: "group", "aria-label": "View", class: "segments" }, viewsOf(page).map((/** @type {any} */ { name, missing }) =>
      h("button", { type: "button", class: "button", "data-view": name, disabled: Boolean(missing), title: missing, onclick: () => page.go({ view: name }) }, name)));
    this.width = choice("Width", (metric) => page.go({ metric }));
    this.colour = choice("Colour", (colour) => page.go({ colour }));
    this.icicle = new IciclePicture(page, "Icicle", "zoom", sceneOf(page));
    this.toolbar = h("div", { class: "toolbar" }, this.views, this.width.element, this.colour.element, this.icicle.search, this.icicle.found);
    this.parts = [this.toolbar, ...this.icicle.parts];
  }

  /** Shows what the state says. */
  draw() {
    const { page } = this;
    const scene = sceneOf(page);
    const { view, metric, mode } = scene;
    for (const button of this.views.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset["view"] === view));
    const missing = metrics(page).filter((one) => one.missing);
    this.width.show(metricChoices(page), metric.name);
    this.colour.show(MODES.map(({ name, title, needs }) => ({ value: name, text: title, missing: missing.find((one) => needs.includes(one.name))?.missing })), mode.name);
    this.icicle.draw(scene);
  }
}
