/**
 * The icicle: rows of a view as boxes, as wide as a metric, coloured by another.
 * @module
 */
import { amount } from "./amounts.js";
import { Picture, fitted } from "./canvas.js";
import { css, mix, textOn, theme } from "./colours.js";
import { h } from "./dom.js";
import { boxes, icicle, levels, matched } from "./icicle.js";
import { MODES } from "./icicle_colours.js";
import { ALL_DEPTHS, choice, metricChoices, metricOf, metrics, pictureTab, showCrumbs, showLegend } from "./picture_controls.js";
import { matcher } from "./regex.js";
import { shown } from "./strings.js";
import { percent, plural } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./icicle.js").Box & import("./canvas.js").Shape} IcicleShape */
/** @typedef {ReturnType<typeof sceneOf>} Scene */

const [LOWEST, HIGHEST] = [20, 27]; // of a row, in pixels
const TYPING = 150; // ms from the last key to a search
const LONGEST = 2000; // letters of a name
const KEYS = "Arrow keys move, Enter zooms in or shows details, Backspace zooms out.";

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
  const layout = answer.cached(`icicle ${metric.name}`, () => icicle(answer.tree, answer.total(metric.name)));
  let zoomed = Math.max(0, answer.row.indexOf(Number(state.zoom ?? 0)));
  while (zoomed > 0 && !layout.width[zoomed]) zoomed = layout.parent[zoomed]; // of another metric it may have nothing
  const mode = MODES.find(({ name }) => name === state.colour) ?? MODES[0];
  const colours = theme();
  const colouring = mode.make(page, answer, metric.name, colours);
  const count = answer.cached(`levels ${metric.name} ${zoomed}`, () => levels(layout, zoomed));
  return { view, metric, answer, layout, zoomed, levels: count, mode, colours, colouring, search: searchOf(answer, layout, zoomed, state.search ?? "", Boolean(answer.lower(metric.name)?.total[zoomed])) };
}

/** Which rows hold a match, and how much that is. @param {import("./answer.js").Answer} answer @param {import("./icicle.js").Layout} layout @param {number} zoomed @param {string} text @param {boolean} isLower whether the zoomed number is a lower bound, which has no shares */
function searchOf(answer, layout, zoomed, text, isLower) {
  if (text === "") return null;
  try {
    matcher([text]); // by itself, so that a ")" too many does not end our group
    const hit = answer.cached(`search ${text}`, () => matcher([`(?s:.*)(?:${text})(?s:.*)`]).rows(answer.drawing.label));
    const matches = Uint8Array.from(answer.row, (row, at) => (at > 0 ? hit[row] : 0));
    const { covered, share, count } = matched(layout, matches, zoomed);
    return { matches, covered, text: `${plural(count, "match", "matches")}${isLower ? "" : `, ${percent(share, 1)}`}`, isValid: true };
  } catch (error) {
    return { matches: null, covered: null, text: shown(error instanceof Error ? error.message : String(error)), isValid: false };
  }
}

/** What a row is called; in brief, without the scopes that it is in. @param {Scene} scene @param {number} row @param {boolean} brief */
function nameOf({ answer }, row, brief) {
  if (row === 0) return "all";
  const label = answer.label(row);
  // A node without its scopes; a line of code without its file.
  const cut = brief ? (answer.view.groups ? label.indexOf(":") : label.lastIndexOf("/", label.length - 2)) + 1 : 0;
  return shown(label.slice(cut, cut + LONGEST));
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {IcicleShape} shape @param {boolean} isSelected */
function paintBox(context, scene, { x, y, width, height, row, count }, isSelected) {
  const { colours, colouring, layout, search } = scene;
  const { matches = null, covered = null } = search ?? {};
  const isMatch = matches !== null && layout.rowsOf(row, count).some((one) => matches[one] === 1);
  const isFaded = covered !== null && !covered[row] && !isMatch;
  // Leaves are vivid; what holds others, or is too narrow to tell apart, is paler.
  const paler = count > 1 ? 0.5 : layout.end[row] > row + 1 && !colouring.isScale ? 0.3 : 0;
  const plain = mix(colouring.of(count > 1 ? layout.parent[row] : row), colours.ground, paler);
  const colour = isMatch ? colours.match : isFaded ? mix(plain, colours.ground, 0.72) : plain;
  const gap = width > 3 ? 1 : 0;
  context.fillStyle = css(colour);
  context.fillRect(x, y, width - gap, height - 1);
  if (isSelected) {
    context.strokeStyle = css(colours.text);
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(1, width - gap - 2), height - 3);
  }
  if (width < 28 || count > 1) return;
  const full = nameOf(scene, row, scene.view === "scope");
  const text = context.measureText(full).width <= width - 9 ? full : nameOf(scene, row, true);
  context.fillStyle = css(isFaded ? colours.muted : textOn(colour));
  context.fillText(fitted(context, text, width - 9), x + 4, y + height / 2);
}

class Icicle {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.scene = sceneOf(page);
    this.high = LOWEST;
    this.views = h("div", { role: "group", "aria-label": "View", class: "segments" }, viewsOf(page).map((/** @type {any} */ { name, missing }) =>
      h("button", { type: "button", class: "button", "data-view": name, disabled: Boolean(missing), title: missing, onclick: () => page.go({ view: name }) }, name)));
    this.width = choice("Width", (metric) => page.go({ metric }));
    this.colour = choice("Colour", (colour) => page.go({ colour }));
    this.search = h("input", { type: "search", placeholder: "Search names (regex)", "aria-label": "Search names by regular expression", spellcheck: "false" });
    this.found = h("output", { class: "found" });
    let waiting = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => page.go({ search: this.search.value }, { replace: true }), TYPING);
    });
    this.toolbar = h("div", { class: "toolbar" }, this.views, this.width.element, this.colour.element, this.search, this.found);
    this.crumbs = h("nav", { class: "crumbs", "aria-label": "Zoom" });
    /** @type {Picture<IcicleShape>} */
    this.picture = new Picture({ label: `Icicle. ${KEYS}`, lines: (shape) => this.lines(shape), choose: (shape) => this.choose(shape), key: (key) => this.key(key) });
    this.spacer = h("div");
    this.scroll = h("div", { class: "icicle grow", onscroll: () => this.paint() }, this.picture.element, this.spacer);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
    this.parts = [this.toolbar, this.crumbs, this.scroll, this.legend];
  }

  /** Shows what the state says. */
  draw() {
    const { page, picture } = this;
    const before = this.scene;
    this.scene = sceneOf(page);
    const { answer, view, metric, mode, search, layout, zoomed, colouring } = this.scene;
    for (const button of this.views.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset["view"] === view));
    const missing = metrics(page).filter((one) => one.missing);
    this.width.show(metricChoices(page), metric.name);
    this.colour.show(MODES.map(({ name, title, needs }) => ({ value: name, text: title, missing: missing.find((one) => needs.includes(one.name))?.missing })), mode.name);
    if (document.activeElement !== this.search) this.search.value = page.state.search ?? "";
    this.search.setAttribute("aria-invalid", String(search?.isValid === false));
    this.found.textContent = search?.text ?? "";
    showCrumbs(this.crumbs, layout.parent, zoomed, (row) => nameOf(this.scene, row, true), (row) => this.zoom(row));
    showLegend(this.legend, layout.width[0] ? colouring.legend(zoomed) : [{ colour: "transparent", text: `No row has ${metric.title}.` }]);
    this.paint();
    // In another order, the row has another place.
    const again = before.view === view ? answer.row.indexOf(before.answer.row[picture.focused?.row ?? before.zoomed]) : -1;
    picture.focusOn((layout.width[again] > 0 ? this.shapeOf(again) : null) ?? picture.shapes[0] ?? null);
  }

  /** Draws the boxes in sight. */
  paint() {
    const { scene, picture, scroll, page } = this;
    this.high = Math.max(LOWEST, Math.min(HIGHEST, Math.floor(scroll.clientHeight / scene.levels)));
    const height = scene.levels * this.high;
    const [width, visible] = [scroll.clientWidth, Math.min(scroll.clientHeight, height)];
    this.spacer.style.height = `${Math.max(0, height - visible)}px`;
    const top = scroll.scrollTop;
    const context = picture.clear(width, visible);
    const inSight = boxes(scene.layout, scene.zoomed, width, Math.floor(top / this.high), Math.ceil((top + visible) / this.high));
    picture.shapes = inSight.map((box) => ({ ...box, y: box.level * this.high - top, height: this.high }));
    const selected = page.node === null ? -1 : scene.answer.node.indexOf(page.node);
    for (const shape of picture.shapes) paintBox(context, scene, shape, shape.row === selected);
  }

  /** @param {IcicleShape} shape @returns {string[]} */
  lines({ row, count }) {
    const { scene } = this;
    const { metric, layout, zoomed, answer } = scene;
    if (count > 1) return [`${plural(count, "row")} too narrow to draw`, `in ${nameOf(scene, layout.parent[row], false)}`];
    const [own, total, lower] = [answer.own(metric.name)[row], answer.total(metric.name)[row], answer.lower(metric.name)];
    const share = (/** @type {number} */ of) => (lower?.total[of] ? "" : `${percent(layout.width[of] > 0 ? layout.width[row] / layout.width[of] : 0, 1)} of ${nameOf(scene, of, true)}`);
    const all = share(0);
    return [
      nameOf(scene, row, false),
      `${amount(total, metric.unit, Boolean(lower?.total[row]))} ${metric.title}${all && `, ${all}`}`,
      zoomed > 0 ? share(zoomed) : "",
      (own || lower?.own[row]) && own !== total ? `${amount(own, metric.unit, Boolean(lower?.own[row]))} of its own` : "",
      scene.colouring.text(row),
    ].filter(Boolean);
  }

  /** Zooms into a row with rows below it; shows the details of a node. @param {IcicleShape} shape */
  choose({ row, count }) {
    const { answer, layout } = this.scene;
    const target = count > 1 ? layout.parent[row] : row;
    const node = count > 1 ? -1 : answer.node[row];
    const zooms = answer.tree.end[target] > target + 1;
    if (zooms) this.scroll.scrollTop = 0;
    this.page.go({ zoom: zooms ? this.zoomKey(target) : this.page.state.zoom, node: this.page.nodeKey(node >= 0 ? node : null) });
  }

  /** @param {number} row */
  zoom(row) {
    this.scroll.scrollTop = 0;
    this.page.go({ zoom: this.zoomKey(row) });
  }

  /** How the state names a row. @param {number} row */
  zoomKey(row) {
    return row > 0 ? String(this.scene.answer.row[row]) : "";
  }

  /** @param {string} key @returns {IcicleShape | null | boolean} */
  key(key) {
    const { picture, scene: { layout, zoomed } } = this;
    if (key === "Backspace" || key === "Escape") {
      if (zoomed > 0) this.zoom(layout.parent[zoomed]);
      return zoomed > 0 || key === "Backspace";
    }
    const { focused } = picture;
    if (focused === null) return null;
    if (key === "Home") return this.reach(zoomed);
    if (key === "ArrowUp") return focused.row === zoomed || this.reach(layout.parent[focused.row]);
    if (key === "ArrowDown") return this.reach(this.largestChild(focused.row));
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step === undefined) return null;
    const next = picture.shapes[picture.shapes.findIndex((shape) => shape.row === focused.row) + step];
    return next?.level === focused.level ? next : true;
  }

  /** @param {number} row @returns {number} the row itself where nothing below it is drawn */
  largestChild(row) {
    const { answer, layout: { width } } = this.scene;
    const drawnBelow = [...answer.tree.children(row)].filter((child) => width[child] > 0);
    return drawnBelow.reduce((most, child) => (most === row || width[child] > width[most] ? child : most), row);
  }

  /** Scrolls to a row; its shape. @param {number} row @returns {IcicleShape | true} */
  reach(row) {
    const { scroll, scene: { layout, zoomed } } = this;
    const y = (layout.depth[row] - layout.depth[zoomed]) * this.high;
    if (y < scroll.scrollTop || y + this.high > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = y - scroll.clientHeight / 2;
      this.paint();
    }
    return this.shapeOf(row) ?? true;
  }

  /** The box that stands for a row. @param {number} row @returns {IcicleShape | null} */
  shapeOf(row) {
    const { layout, zoomed } = this.scene;
    const level = layout.depth[row] - layout.depth[zoomed];
    return this.picture.shapes.findLast((shape) => shape.level === level && shape.row <= row) ?? null;
  }
}
