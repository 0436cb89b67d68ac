/**
 * The treemap: parameters by layer, or all variables by scope, as areas.
 * @module
 */
import { amount } from "./amounts.js";
import { Picture, fitted, neighbour } from "./canvas.js";
import { css, mix, textOn, theme } from "./colours.js";
import { h } from "./dom.js";
import { ALL_DEPTHS, choice, pictureTab, showCrumbs, showLegend } from "./picture_controls.js";
import { shown } from "./strings.js";
import { treemap } from "./treemap.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./treemap.js").TreemapBox} TreemapBox */
/**
 * Rows of parameters, 0 being the root: all of them numbers or all BigInts, which are lower bounds, what they are called, the share that is trainable, null where unknown, and their node or -1.
 * @typedef {{parent: ArrayLike<number>, total: ArrayLike<number | bigint>, lower: (row: number) => boolean, path: (row: number) => string, trainable: (row: number) => number | null, node: (row: number) => number}} Rows
 */
/** @typedef {ReturnType<typeof sceneOf>} Scene */

const SOURCES = [{ value: "layers", text: "layers of the model" }, { value: "scopes", text: "all variables by scope" }];
const LONGEST = 2000; // letters of a name
const [TRAINABLE, PARTLY, FIXED] = [0, 4, 1]; // categories
const LABEL = "Treemap of parameters. Arrow keys move, Enter zooms in or shows details, Backspace zooms out.";

export const treemapTab = pictureTab({
  id: "treemap",
  title: "Treemap",
  missing({ profile }) {
    const { overview, summary } = profile.meta;
    if (profile.values("params", null).some(Boolean) || summary.total?.parameters) return "";
    if (profile.lower("params")?.some(Boolean)) return "The sizes of all parameters are unknown: these files do not record the shapes of the variables.";
    return overview.operation_types ? "The graph has no parameters." : "These files have no parameters: add the graph of a model, a SavedModel or a .keras file.";
  },
  make: (page) => new Treemap(page),
});

/** @param {Page} page @returns {Rows} */
function layersOf({ profile }) {
  const { total, total_incomplete: incomplete, rows } = profile.meta.summary;
  const all = [{ ...total, incomplete, parent: null, path: "" }, ...rows];
  return {
    parent: all.map((row, at) => (at === 0 ? -1 : row.parent === null ? 0 : row.parent + 1)),
    total: all.map((row) => (typeof total.parameters === "bigint" ? BigInt : Number)(row.parameters ?? 0)),
    lower: (row) => all[row].incomplete.includes("parameters"),
    path: (row) => all[row].path || all[row].name,
    trainable: (row) => (all[row].trainable === undefined ? null : Number(all[row].trainable) / Number(all[row].parameters)),
    node: (row) => profile.nodes.name.indexOf(all[row].path),
  };
}

/** @param {Page} page @returns {Rows} */
function scopesOf(page) {
  const answer = page.answer("scope", { max_depth: ALL_DEPTHS }, {}); // whole, as that of layers
  const lower = answer.lower("params")?.total;
  return { parent: answer.tree.parent, total: answer.total("params"), lower: (row) => lower?.[row] === 1, path: (row) => answer.label(row), trainable: () => null, node: (row) => answer.node[row] };
}

/** What the state says to draw. @param {Page} page */
function sceneOf(page) {
  const { summary } = page.profile.meta;
  const missing = summary.total?.parameters ? "" : summary.error ?? "The model has no parameters.";
  const source = missing || page.state.parameters === "scopes" ? "scopes" : "layers";
  const rows = source === "layers" ? layersOf(page) : scopesOf(page);
  const [inside, colours] = [Number(page.state.inside ?? 0), theme()];
  const unknown = mix(colours.categories[8], colours.text, 0.15); // whether it is trainable
  return { missing, source, rows, zoomed: rows.total[inside] > 0 ? inside : 0, colours, unknown };
}

/** What a row is called inside of another. @param {Rows} rows @param {number} row @param {number} above */
function nameOf({ path }, row, above) {
  if (row === 0) return "all";
  const [name, outer] = [path(row), `${path(above)}/`];
  const cut = above <= 0 ? 0 : name.startsWith(outer) ? outer.length : name.lastIndexOf("/", name.length - 2) + 1;
  return shown(name.slice(cut, cut + LONGEST));
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {TreemapBox} box */
function paintBox(context, { rows, colours, unknown }, { row, above, value, x, y, width, height, open, level }) {
  const share = rows.trainable(row);
  const colour = share === null ? unknown : colours.categories[share === 1 ? TRAINABLE : share === 0 ? FIXED : PARTLY];
  const ground = open ? mix(colour, colours.ground, Math.max(0.35, 0.75 - 0.12 * level)) : colour;
  context.fillStyle = css(ground);
  context.fillRect(x, y, width - 1, height - 1);
  if (width < 34 || height < 15) return;
  context.fillStyle = css(textOn(ground));
  const [number, room, name] = [amount(value, "count", rows.lower(row)), width - 9, row === above ? "itself" : nameOf(rows, row, above)];
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
    this.crumbs = h("nav", { class: "crumbs", "aria-label": "Zoom" });
    /** @type {Picture<TreemapBox>} */
    this.picture = new Picture({ label: LABEL, lines: (box) => this.lines(box), choose: (box) => this.choose(box), key: (key) => this.key(key) });
    this.space = h("div", { class: "grow" }, this.picture.element);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
    this.parts = [h("div", { class: "toolbar" }, this.source.element), this.crumbs, this.space, this.legend];
  }

  /** Shows what the state says. */
  draw() {
    const { page, picture, space } = this;
    this.scene = sceneOf(page);
    const { missing, source, rows, zoomed, colours, unknown } = this.scene;
    this.source.show(SOURCES.map((one) => ({ ...one, missing: one.value === "layers" ? missing : "" })), source);
    showCrumbs(this.crumbs, rows.parent, zoomed, (row) => nameOf(rows, row, rows.parent[row]), (row) => page.go({ inside: row || "" }));
    const entry = (/** @type {number} */ at, /** @type {string} */ text) => ({ colour: css(colours.categories[at]), text });
    showLegend(this.legend, rows.trainable(0) === null ? [{ colour: css(unknown), text: "Trainable: unknown." }]
      : [entry(TRAINABLE, "trainable"), entry(PARTLY, "partly trainable"), entry(FIXED, "not trainable")]);
    const size = { width: space.clientWidth, height: space.clientHeight };
    const context = picture.clear(size.width, size.height);
    picture.shapes = treemap(rows.parent, rows.total, zoomed, { x: 0, y: 0, ...size });
    for (const box of picture.shapes) paintBox(context, this.scene, box);
    picture.focusOn(picture.shapes.find(({ row, above }) => row === picture.focused?.row && row !== above) ?? picture.shapes[0] ?? null);
  }

  /** @param {TreemapBox} box @returns {string[]} */
  lines({ row, above, value }) {
    const { path, total, lower, trainable } = this.scene.rows;
    const share = trainable(row);
    const count = `${amount(value, "grouped", lower(row))} parameters${row === above ? " of its own" : ""}${lower(0) ? "" : `, ${percent(value, total[0])} of all`}`;
    const trained = share === null ? "Trainable: unknown" : lower(row) ? "" : `${percent(share, 1)} trainable`;
    return [shown(path(row).slice(0, LONGEST)), count, trained].filter(Boolean);
  }

  /** @param {TreemapBox} box */
  choose({ row, open }) {
    const node = this.scene.rows.node(row);
    this.page.go({ inside: open ? row : this.page.state.inside, node: this.page.nodeKey(node >= 0 ? node : null) });
  }

  /** @param {string} key @returns {TreemapBox | null | boolean} */
  key(key) {
    const { picture, scene: { rows, zoomed } } = this;
    if (key !== "Backspace" && key !== "Escape") return neighbour(picture.shapes, picture.focused, key);
    if (zoomed > 0) this.page.go({ inside: rows.parent[zoomed] || "" });
    return zoomed > 0 || key === "Backspace";
  }
}
