/**
 * The treemap: parameters by layer, or all variables by scope, as areas.
 * @module
 */
import { amount } from "./amounts.js";
import { Picture, fitted, neighbour } from "./canvas.js";
import { css, mix, textOn, theme } from "./colours.js";
import { fill, h } from "./dom.js";
import { ALL_DEPTHS, choice, showCrumbs, showLegend } from "./picture_controls.js";
import { shown } from "./strings.js";
import { treemap } from "./treemap.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./treemap.js").TreemapBox} TreemapBox */
/**
 * @typedef {object} Rows of parameters; row 0 is the root
 * @property {ArrayLike<number>} parent
 * @property {number[]} total
 * @property {(row: number) => string} path
 * @property {(row: number) => number | null} trainable the share of the row's parameters; null: unknown
 * @property {(row: number) => number} node -1: none
 */
/** @typedef {ReturnType<typeof sceneOf>} Scene */

const SOURCES = [{ value: "layers", text: "layers of the model" }, { value: "scopes", text: "all variables by scope" }];
const LONGEST = 2000; // letters of a name
const [TRAINABLE, PARTLY, FIXED] = [0, 4, 1]; // categories

/** @type {WeakMap<HTMLElement, Treemap>} */
const drawn = new WeakMap();

/** @type {import("./tabs.js").Tab} */
export const treemapTab = {
  id: "treemap",
  title: "Treemap",
  missing: ({ profile }) =>
    profile.values("params", null).some(Boolean) || profile.meta.summary.total?.parameters
      ? "" : "These files have no parameters: add the graph of a model, a SavedModel or a .keras file.",
  draw(root, page) {
    const tab = drawn.get(root) ?? new Treemap(page);
    drawn.set(root, tab);
    if (tab.space.parentElement !== root) fill(root, tab.toolbar, tab.crumbs, tab.space, tab.legend);
    tab.draw();
  },
};

/** @param {Page} page @returns {Rows} */
function layersOf({ profile }) {
  const { total, rows } = profile.meta.summary;
  const all = [{ ...total, parent: null, path: "" }, ...rows];
  return {
    parent: all.map((row, at) => (at === 0 ? -1 : row.parent === null ? 0 : row.parent + 1)),
    total: all.map((row) => row.parameters ?? 0),
    path: (row) => all[row].path,
    trainable: (row) => (typeof all[row].trainable === "number" ? all[row].trainable / all[row].parameters : null),
    node: (row) => profile.nodes.name.indexOf(all[row].path),
  };
}

/** @param {Page} page @returns {Rows} */
function scopesOf(page) {
  const answer = page.answer("scope", { max_depth: ALL_DEPTHS });
  const total = Array.from(answer.total("params"), Number);
  return { parent: answer.tree.parent, total, path: (row) => answer.label(row), trainable: () => null, node: (row) => answer.node[row] };
}

/** What the state says to draw. @param {Page} page */
function sceneOf(page) {
  const { summary } = page.profile.meta;
  const missing = summary.total?.parameters ? "" : summary.error ?? "The model has no parameters.";
  const source = missing || page.state.parameters === "scopes" ? "scopes" : "layers";
  const rows = source === "layers" ? layersOf(page) : scopesOf(page);
  const inside = Number(page.state.inside ?? 0);
  return { missing, source, rows, zoomed: rows.total[inside] > 0 ? inside : 0, colours: theme() };
}

/** What a row is called inside of another. @param {Rows} rows @param {number} row @param {number} above */
function nameOf({ path }, row, above) {
  if (row === 0) return "all";
  const [name, outer] = [path(row), `${path(above)}/`];
  const cut = above > 0 && name.startsWith(outer) ? outer.length : above > 0 && row !== above ? name.lastIndexOf("/", name.length - 2) + 1 : 0;
  return shown(name.slice(cut, cut + LONGEST));
}

/** The colour of what may be trainable. @param {import("./colours.js").Theme} theme */
function unknown({ categories, text }) {
  return mix(categories[8], text, 0.15);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {TreemapBox} box */
function paintBox(context, { rows, colours }, { row, above, value, x, y, width, height, open, level }) {
  const share = rows.trainable(row);
  const colour = share === null ? unknown(colours) : colours.categories[share === 1 ? TRAINABLE : share === 0 ? FIXED : PARTLY];
  const ground = open ? mix(colour, colours.ground, Math.max(0.35, 0.75 - 0.12 * level)) : colour;
  context.fillStyle = css(ground);
  context.fillRect(x, y, width - 1, height - 1);
  if (width < 34 || height < 15) return;
  context.fillStyle = css(textOn(ground));
  const [number, room] = [amount(value, "count"), width - 9];
  const name = row === above ? "itself" : nameOf(rows, row, above);
  const line = open || height < 34 ? `${name}  ${number}` : name;
  context.fillText(fitted(context, context.measureText(line).width <= room ? line : name, room), x + 4, y + 9);
  if (!open && height >= 34) context.fillText(fitted(context, number, room), x + 4, y + 24);
}

class Treemap {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.scene = sceneOf(page);
    this.source = choice("Parameters of", (parameters) => page.go({ parameters, inside: "" }));
    this.toolbar = h("div", { class: "toolbar" }, this.source.element);
    this.crumbs = h("nav", { class: "crumbs", "aria-label": "Zoom" });
    /** @type {Picture<TreemapBox>} */
    this.picture = new Picture({
      label: "Treemap of parameters. Arrow keys move, Enter zooms in or shows details, Backspace zooms out.",
      lines: (box) => this.lines(box),
      choose: (box) => this.choose(box),
      key: (key) => this.key(key),
    });
    this.space = h("div", { class: "grow" }, this.picture.element);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
  }

  /** Shows what the state says. */
  draw() {
    const { page, picture, space } = this;
    this.scene = sceneOf(page);
    const { missing, source, rows, zoomed, colours } = this.scene;
    this.source.show(SOURCES.map((one) => ({ ...one, missing: one.value === "layers" ? missing : "" })), source);
    showCrumbs(this.crumbs, rows.parent, zoomed, (row) => nameOf(rows, row, rows.parent[row]), (row) => page.go({ inside: row || "" }));
    const entry = (/** @type {number} */ at, /** @type {string} */ text) => ({ colour: css(colours.categories[at]), text });
    showLegend(this.legend, rows.trainable(0) !== null
      ? [entry(TRAINABLE, "trainable"), entry(PARTLY, "partly trainable"), entry(FIXED, "not trainable")]
      : [{ colour: css(unknown(colours)), text: "Trainable: unknown." }]);
    const focused = picture.focused?.row;
    const size = { width: space.clientWidth, height: space.clientHeight };
    const context = picture.clear(size.width, size.height);
    picture.shapes = treemap(rows.parent, rows.total, zoomed, { x: 0, y: 0, ...size });
    for (const box of picture.shapes) paintBox(context, this.scene, box);
    picture.focusOn(picture.shapes.find((box) => box.row === focused && box.above !== focused) ?? picture.shapes[0] ?? null);
  }

  /** @param {TreemapBox} box @returns {string[]} */
  lines({ row, above, value }) {
    const { path, total, trainable } = this.scene.rows;
    const share = trainable(row);
    const trains = share === null ? "Trainable: unknown" : `${percent(share, 1)} trainable`;
    const whose = row === above ? "parameters of its own" : "parameters";
    return [shown(path(row).slice(0, LONGEST)), `${amount(value, "grouped")} ${whose}, ${percent(value / total[0], 1)} of all`, trains];
  }

  /** @param {TreemapBox} box */
  choose({ row, open }) {
    const { page } = this;
    const node = this.scene.rows.node(row);
    page.go({ inside: open ? row : page.state.inside, node: page.nodeKey(node >= 0 ? node : null) });
  }

  /** @param {string} key @returns {TreemapBox | null | boolean} */
  key(key) {
    const { picture, scene: { rows, zoomed } } = this;
    if (key !== "Backspace" && key !== "Escape") return neighbour(picture.shapes, picture.focused, key);
    if (zoomed > 0) this.page.go({ inside: rows.parent[zoomed] || "" });
    return zoomed > 0 || key === "Backspace";
  }
}
