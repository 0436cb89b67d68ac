/**
 * What changed since another profile: an icicle as wide as the larger side, and a table of the changes.
 * @module
 */
import { markedRows, marksOf } from "./arrays.js";
import { changeColour, changeLegend } from "./changes.js";
import { quote } from "./command_line.js";
import { theme } from "./colours.js";
import { copyButton, fill, h } from "./dom.js";
import { icicle, levels } from "./icicle.js";
import { IciclePicture, searchOf } from "./icicle_picture.js";
import { choice, metrics, pictureTab } from "./picture_controls.js";
import { shown } from "./strings.js";
import { TreeGrid } from "./treegrid.js";
import { exact, plural } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./changes.js").Changes} Changes */
/** @typedef {import("./changes.js").Change} Change */
/** @typedef {import("./treegrid.js").GridColumn} GridColumn */

const LONGEST = 2000; // letters of a name
const WIDTH = { number: 92, difference: 136, ratio: 96 };
const HIGH = 27; // pixels of a level of the icicle, at most
const LARGEST = "size of change";

/** @type {import("./tabs.js").Tab} */
export const changesTab = pictureTab({
  id: "changes",
  title: "Changes",
  missing: ({ profile: { changes } }) => (changes && changes.tree.length === 1 ? `There are no differences: every scope has the same numbers on both sides${changes.meta.unsure ? ", as far as they are counted" : ""}.` : ""),
  make: (page) => new ChangesTab(page, /** @type {Changes} */ (page.profile.changes)),
});

/** What the state says to draw. @param {Page} page @param {Changes} changes */
function sceneOf(page, changes) {
  const { state } = page;
  const { tree, label } = changes;
  const able = metrics(page).filter(({ name }) => changes.meta.metrics.includes(name)); // of either side
  const named = (/** @type {string | undefined} */ name) => able.find((one) => one.name === name);
  const first = [...page.profile.meta.defaults.scope.select.map(named), ...able].find((one) => one && changes.of(one).differs()[0]);
  const metric = named(state.metric) ?? first ?? able[0];
  const change = changes.of(metric);
  const layout = change.cache.cached("layout", () => icicle(tree, Float64Array.from(tree.end, (_, row) => Math.max(Number(change.base[row]), Number(change.now[row])))));
  const wanted = Number(state.zoom_changes ?? 0);
  let zoomed = wanted > 0 && wanted < tree.length && Number.isInteger(wanted) ? wanted : 0;
  while (zoomed > 0 && !layout.width[zoomed]) zoomed = tree.parent[zoomed];
  const colours = theme();
  const name = (/** @type {number} */ row) => (row === 0 ? "all" : shown(label.text(row).slice(0, LONGEST)));
  const brief = (/** @type {number} */ row) => name(row).slice(row > 0 ? name(row).lastIndexOf("/", name(row).length - 2) + 1 : 0);
  const marked = (/** @type {number} */ row) => [changes.mark(row), brief(row)].filter(Boolean).join(" ");
  return {
    able, metric, change, layout, zoomed, colours, name, brief, marked, tree, of: "changes", id: tree.parent.map((_, row) => row), node: changes.node,
    levels: change.cache.cached(`levels ${zoomed}`, () => levels(layout, zoomed)),
    colouring: {
      isScale: true, of: (/** @type {number} */ row) => changeColour(change.strength(row), colours.dark), text: () => "",
      legend: () => changeLegend(colours.dark, change.hasNoise),
    },
    search: searchOf(state.search ?? "", (pattern) => pattern.rows(label), layout, zoomed, change.isLower(zoomed)),
    texts: (/** @type {number} */ row) => [`${marked(row)}  ${change.ratioText(row)}`, marked(row)],
    lines: (/** @type {number} */ row) => [
      { "+": "only in this profile", "-": "only in the base" }[changes.mark(row)] ?? "",
      `${metric.title}: ${change.sentence(row)}`, change.noiseText(row),
    ],
    nothing: `No row has ${metric.title}.`,
  };
}

class ChangesTab {
  /** @param {Page} page @param {Changes} changes */
  constructor(page, changes) {
    const { meta } = changes;
    this.page = page;
    this.changes = changes;
    this.width = choice("Width", (metric) => page.go({ metric }));
    this.icicle = new IciclePicture(page, "Icicle of changes", "zoom_changes", sceneOf(page, changes));
    this.headline = h("span", { class: "headline", role: "status" });
    this.toolbar = h("div", { class: "toolbar" }, this.width.element, this.headline, this.icicle.search, this.icicle.found);
    this.grid = new TreeGrid({ details: (i) => page.selectNode(changes.node[this.rows[i]]), order: (by) => page.go({ sort_changes: by === LARGEST ? "" : by }) }, "changes");
    this.grid.element.style.setProperty("--tg-text", "84px");
    /** @type {Int32Array} of the tree, for each row of the table */ this.rows = new Int32Array(0);
    this.drawn = "";
    this.notes = h("ul", { class: "table-notes", "aria-label": "Notes", tabindex: "0" }, meta.notes.map((/** @type {string} */ note) => h("li", null, shown(note))));
    this.command = h("code", { class: "command", tabindex: "0", "aria-label": "The same on the command line" });
    const copy = copyButton("Copy", () => this.command.textContent ?? "");
    const line = h("div", { class: "command-line", hidden: meta.command.length === 0 }, this.command, copy);
    this.parts = [this.toolbar, ...this.icicle.parts, this.grid.element, this.notes, line];
  }

  /** Shows what the state says. */
  draw() {
    const { page, changes } = this;
    const scene = sceneOf(page, changes);
    const { metric, change, zoomed } = scene;
    this.width.show(scene.able.map((one) => ({ value: one.name, text: `${one.title} ${changes.of(one).ratioText(0)}`.trim() })), metric.name);
    fill(this.headline, `${scene.brief(zoomed)}: ${change.sentence(zoomed)}`);
    fill(this.command, [...changes.meta.command, "--view=scope", `--select=${metric.name}`].map(quote).join(" "));
    const order = page.state.sort_changes === "name" ? "name" : LARGEST;
    const height = HIGH * change.cache.cached("levels", () => levels(scene.layout, 0));
    Object.assign(this.icicle.scroll.style, { flex: `1 1 ${height}px`, maxHeight: `${height}px`, minHeight: `min(${height}px, 30%)` });
    const key = JSON.stringify([metric.name, zoomed, order, this.grid.narrow]);
    if (key === this.drawn) this.grid.refresh();
    else this.showTable(scene, order);
    this.drawn = key;
    this.icicle.draw(scene);
  }

  /** The rows below the zoomed one that changed, or hold one that did. @param {ReturnType<typeof sceneOf>} scene @param {string} order */
  showTable({ change, zoomed, tree, name, marked, metric }, order) {
    const { changes, page } = this;
    const differs = change.differs();
    const kept = marksOf(tree.length, (row) => row === zoomed || (row > zoomed && row < tree.end[zoomed] && differs[row]));
    const before = markedRows(kept);
    const sizes = Float64Array.from(before, (row) => Math.abs(Number(change.more(row))));
    const compare = (/** @type {number} */ a, /** @type {number} */ b) => (order === "name" ? changes.label.compare(before[a], before[b]) : sizes[b] - sizes[a]) || a - b;
    const [sorted, old] = tree.keepRows(kept).sort(compare);
    const rows = (this.rows = old.map((at) => before[at]));
    const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
    const of = (/** @type {(row: number) => string} */ text) => (/** @type {number} */ i) => text(rows[i]);
    /** @type {(title: string, width: number, text: (row: number) => string, tip: (row: number) => string) => GridColumn} */
    const column = (title, width, text, tip) => ({ name: title, title, right: true, width, text: of(text), tip: of(tip), share: null, order: "" });
    const moreTip = (/** @type {number} */ row) => [`${change.more(row) > 0 ? "+" : ""}${exact(change.more(row))}`, change.noiseText(row)].filter(Boolean).join("; ");
    const columns = [
      column("base", WIDTH.number, (row) => change.baseText(row), (row) => exact(change.base[row])),
      column("new", WIDTH.number, (row) => change.newText(row), (row) => exact(change.now[row])),
      { ...column("difference", WIDTH.difference, (row) => change.moreText(row), moreTip), order: LARGEST, share: (/** @type {number} */ i) => (largest > 0 ? Math.abs(Number(change.more(rows[i]))) / largest : null) },
      column("ratio", WIDTH.ratio, (row) => change.ratioText(row), (row) => change.noiseText(row)),
    ];
    this.grid.show({
      tree: sorted,
      row: rows,
      label: (i) => name(rows[i]),
      shortLabel: (i) => marked(rows[i]),
      hasDetails: (i) => changes.node[rows[i]] >= 0,
      isChosen: (i) => page.node !== null && changes.node[rows[i]] === page.node,
      columns: this.grid.narrow ? [...columns.slice(2), ...columns.slice(0, 2)] : columns, // what matters most is in sight
      order,
      title: `Changes of ${metric.title}: ${plural(rows.length, "row")}`,
    });
  }
}
