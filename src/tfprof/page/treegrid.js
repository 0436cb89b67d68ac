// A table of nested rows, as WAI-ARIA's treegrid. Only the rows on the screen are elements, so a
// million rows scroll as a hundred do.
//
//   the body is as high as all rows   ┌────────────┐  Browsers cap the height of an element at
//   (at most MOST_HEIGHT)             │            │  16 to 33 million pixels. Above MOST_HEIGHT
//   the layer with the rows that  ──► │▒▒▒▒▒▒▒▒▒▒▒▒│  one pixel of scrolling stands for more than
//   can be seen follows the scroll    │            │  one pixel of rows.
//                                     └────────────┘
import { fill, h } from "./dom.js";
import { OpenRows } from "./open_rows.js";

/**
 * @typedef {object} GridColumn
 * @property {string} name as in JSON: own_micros
 * @property {string} title
 * @property {boolean} right numbers stand at the right
 * @property {(i: number) => string} text
 * @property {(i: number) => string} tip what the mouse shows: the exact number
 * @property {((i: number) => number | null) | null} share as part of the whole
 * @property {string} order the value of order_by that sorts by it; "": none does
 * @property {number} width in pixels
 */

/**
 * @typedef {object} GridRows
 * @property {import("./open_rows.js").Rows} tree
 * @property {ArrayLike<number>} row the row of the drawing for each row
 * @property {(i: number) => string} label the whole name
 * @property {(i: number) => string} shortLabel without what it repeats of the row above
 * @property {(i: number) => boolean} hasDetails
 * @property {(i: number) => boolean} isChosen whether the details of the row are shown
 * @property {GridColumn[]} columns
 * @property {string} order order_by of the rows
 * @property {string} title
 */

const MOST_HEIGHT = 8_000_000;
const SPARE = 4; // rows above and below the screen
const INDENT = 14;
const MOST_INDENTS = { wide: 12, narrow: 3 }; // below, names stay in place and show their depth
const NAME_WIDTH = { wide: 280, narrow: 150 };
const NARROW = 600;
const MARKS = 44; // the arrow before a name, its depth, and the padding of the cell
const NOTHING = /^(0(us|B|\.0%)?|--)$/; // what does not catch the eye

export class TreeGrid {
  /** @type {GridRows} */
  rows = { ...new OpenRows(), label: String, shortLabel: String, hasDetails: () => false, isChosen: () => false, columns: [], order: "", title: "" };
  open = new OpenRows();
  visible = this.open.visible();
  active = 0; // where the keyboard is, an index of visible
  nameWidth = 0;
  charWidth = 0;
  rowHeight = matchMedia("(pointer: coarse)").matches ? 36 : 26;

  /** @param {{details: (i: number) => void, order: (by: string) => void}} actions @param {string} [id] that the ids of rows begin with */
  constructor(actions, id = "tg") {
    this.actions = actions;
    this.id = id;
    this.head = h("div", { role: "row", class: "tg-row tg-head", "aria-rowindex": "1" });
    this.layer = h("div", { role: "rowgroup", class: "tg-layer" });
    this.body = h("div", { role: "presentation", class: "tg-body" }, this.layer);
    const listeners = { onscroll: () => this.paint(), onkeydown: this.key.bind(this), onclick: this.click.bind(this) };
    this.element = h("div", { role: "treegrid", class: "treegrid grow", tabindex: "0", ...listeners }, h("div", { role: "rowgroup", class: "tg-top" }, this.head), this.body);
    this.element.style.setProperty("--tg-row", `${this.rowHeight}px`);
  }

  get narrow() {
    return this.element.clientWidth < NARROW;
  }

  /** Goes back to the first row, with the rows open that are so at first. */
  forget() {
    this.open.all(null);
    this.active = 0;
    this.element.scrollTo(0, 0);
  }

  /** Draws the same rows again, as for another width. */
  refresh() {
    this.paintHead();
    this.paint();
  }

  /** @param {GridRows} rows */
  show(rows) {
    const at = this.activeRow;
    this.rows = rows;
    this.open.show(rows.tree, rows.row);
    this.paintHead();
    this.layout(at);
  }

  /** @param {boolean | null} open as OpenRows.all */
  openAll(open) {
    this.open.all(open);
    this.layout(this.activeRow);
  }

  /** The row of the drawing that the keyboard is at; undefined before there are rows. */
  get activeRow() {
    return this.rows.row[this.visible[this.active]];
  }

  /** Finds the visible rows; the keyboard stays at row *at* of the drawing. @param {number} at */
  layout(at) {
    this.visible = this.open.visible();
    this.active = Math.max(0, this.visible.findIndex((i) => this.rows.row[i] === at));
    this.element.setAttribute("aria-rowcount", String(this.visible.length + 1));
    this.element.setAttribute("aria-label", this.rows.title);
    this.body.style.height = `${Math.min(this.height, MOST_HEIGHT)}px`;
    this.paint();
  }

  /** Of all visible rows, in pixels. */
  get height() {
    return this.visible.length * this.rowHeight;
  }

  paintHead() {
    const { columns } = this.rows;
    const least = NAME_WIDTH[this.narrow ? "narrow" : "wide"];
    const widths = columns.map(({ width }) => (this.narrow ? Math.round(width * 0.75) : width));
    const numbers = widths.reduce((sum, width) => sum + width, 0);
    const tracks = [`minmax(${least}px, 2fr)`, ...columns.map(({ share }, at) => (share ? `minmax(${widths[at]}px, 1fr)` : `${widths[at]}px`))];
    this.element.style.setProperty("--tg-columns", tracks.join(" "));
    this.element.style.setProperty("--tg-width", `${least + numbers}px`);
    this.element.setAttribute("aria-colcount", String(columns.length + 1));
    const focused = document.activeElement?.closest(".tg-head [data-column]")?.getAttribute("data-column");
    fill(this.head, this.heading("name", "name", "name", "tg-cell tg-first"), ...columns.map((column) => this.heading(column.name, column.title, column.order, column.right ? "tg-cell num" : "tg-cell")));
    this.nameWidth = this.head.children[0].clientWidth;
    for (const button of this.head.querySelectorAll("button")) if (button.parentElement?.dataset.column === focused) button.focus();
  }

  /** @param {string} name @param {string} title @param {string} order @param {string} look */
  heading(name, title, order, look) {
    const ascending = order === "name";
    const sort = order === "" || order !== this.rows.order ? null : ascending ? "ascending" : "descending";
    const tip = `Order by ${order}, ${ascending ? "A to Z" : "the largest first"}`;
    const text = order === "" ? title : h("button", { type: "button", class: "tg-sort", title: tip, onclick: () => this.actions.order(order) }, title);
    return h("div", { role: "columnheader", class: look, "data-column": name, "aria-sort": sort }, text);
  }

  /** How much of the rows is on the screen, and how much is scrolled out above it, in pixels of rows. */
  place() {
    const seen = this.element.clientHeight - this.head.offsetHeight;
    const most = Math.max(0, Math.min(this.height, MOST_HEIGHT) - seen);
    const scrolled = Math.min(this.element.scrollTop, most);
    return { seen, offset: this.height > MOST_HEIGHT ? (scrolled / most) * (this.height - seen) : scrolled };
  }

  /** Makes the elements of the rows that can be seen. */
  paint() {
    const { seen, offset } = this.place();
    const first = Math.max(0, Math.floor(offset / this.rowHeight) - SPARE);
    const last = Math.min(this.visible.length, Math.ceil((offset + seen) / this.rowHeight) + SPARE);
    this.charWidth ||= this.measured();
    fill(this.layer, Array.from({ length: last - first }, (_, index) => this.rowElement(first + index)));
    this.layer.style.top = `${this.element.scrollTop - offset + first * this.rowHeight}px`;
    const isSeen = this.active >= first && this.active < last;
    if (isSeen) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** The width of a character of a name. */
  measured() {
    const probe = h("span", { class: "tg-name" }, "0".repeat(100));
    this.layer.append(probe);
    return probe.getBoundingClientRect().width / 100 || 7;
  }

  /** @param {number} at an index of visible @returns {HTMLElement} */
  rowElement(at) {
    const i = this.visible[at];
    const depth = this.rows.tree.depth[i];
    const expanded = this.open.hasChildren(i) ? this.open.isOpen(i) : null;
    const position = { "aria-level": depth, "aria-rowindex": at + 2, "aria-expanded": expanded === null ? null : String(expanded) };
    const look = `tg-row${at === this.active ? " tg-active" : ""}`;
    const cells = [this.nameCell(i, depth, expanded), ...this.rows.columns.map((column) => cellOf(column, i))];
    return h("div", { role: "row", id: `${this.id}-${at}`, class: look, "data-at": at, "aria-selected": String(this.rows.isChosen(i)), ...position }, cells);
  }

  /** @param {number} i @param {number} depth @param {boolean | null} expanded @returns {HTMLElement} */
  nameCell(i, depth, expanded) {
    const most = MOST_INDENTS[this.narrow ? "narrow" : "wide"];
    const indent = INDENT * Math.min(depth - 1, most);
    const room = Math.max(6, Math.floor((this.nameWidth - MARKS - indent) / this.charWidth));
    const mark = h("span", { class: "tg-mark", "aria-hidden": "true" }, expanded === null ? "" : expanded ? "▾" : "▸");
    const deep = depth - 1 > most && h("span", { class: "tg-depth" }, `${depth}`);
    const name = h("span", { class: this.rows.hasDetails(i) ? "tg-name tg-node" : "tg-name" }, shortened(this.rows.shortLabel(i), room));
    const cell = h("div", { role: "rowheader", class: "tg-cell tg-first", title: this.rows.label(i) }, mark, deep, name);
    cell.style.paddingLeft = `${indent + 6}px`;
    return cell;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = event.target instanceof Element ? event.target : this.element;
    const at = Number(target.closest("[data-at]")?.getAttribute("data-at") ?? -1);
    if (at < 0) return;
    this.move(at);
    this.enter(this.visible[at], target.closest(".tg-mark") === null);
  }

  /** Shows the details of a row; where it has none, opens or closes it. @param {number} i @param {boolean} details */
  enter(i, details) {
    if (details && this.rows.hasDetails(i)) this.actions.details(i);
    else this.toggle(i, !this.open.isOpen(i));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.altKey || event.metaKey || this.visible.length === 0) return;
    const page = Math.max(1, Math.floor(this.place().seen / this.rowHeight) - 1);
    const i = this.visible[this.active];
    /** @type {Object<string, () => void>} */ const keys = {
      ArrowDown: () => this.move(this.active + 1),
      ArrowUp: () => this.move(this.active - 1),
      PageDown: () => this.move(this.active + page),
      PageUp: () => this.move(this.active - page),
      Home: () => this.move(0),
      End: () => this.move(this.visible.length - 1),
      ArrowRight: () => (this.open.isOpen(i) && this.open.hasChildren(i) ? this.move(this.active + 1) : this.toggle(i, true)),
      ArrowLeft: () => (this.open.isOpen(i) && this.open.hasChildren(i) ? this.toggle(i, false) : this.move(this.visible.indexOf(this.rows.tree.parent[i]))),
      Enter: () => this.enter(i, true),
      " ": () => this.toggle(i, !this.open.isOpen(i)),
      "*": () => this.openSiblings(i),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {number} i @param {boolean} open */
  toggle(i, open) {
    if (!this.open.hasChildren(i)) return;
    this.open.set(i, open);
    this.layout(this.rows.row[i]);
  }

  /** @param {number} i */
  openSiblings(i) {
    const { tree, row } = this.rows;
    const parent = tree.parent[i];
    const end = parent < 0 ? tree.length : tree.end[parent];
    for (let next = parent + 1; next < end; next = tree.end[next]) this.open.set(next, true);
    this.layout(row[i]);
  }

  /** Opens what is above a row, and goes to it. @param {number} i */
  reveal(i) {
    const { parent } = this.rows.tree;
    for (let above = parent[i]; above >= 0; above = parent[above]) if (!this.open.isOpen(above)) this.open.set(above, true);
    this.layout(this.rows.row[i]);
    this.move(this.active);
  }

  /** Goes to a row and brings it into sight. @param {number} at an index of visible */
  move(at) {
    this.active = Math.max(0, Math.min(at, this.visible.length - 1));
    const { seen, offset } = this.place();
    const top = this.active * this.rowHeight;
    const wanted = Math.max(Math.min(offset, top), top + this.rowHeight - seen);
    const scale = this.height > MOST_HEIGHT ? (MOST_HEIGHT - seen) / (this.height - seen) : 1;
    if (wanted !== offset) this.element.scrollTop = wanted * scale;
    this.paint();
  }
}

/** @param {GridColumn} column @param {number} i @returns {HTMLElement} */
function cellOf(column, i) {
  const share = column.share?.(i) ?? null;
  const text = column.text(i);
  const look = share !== null ? "num tg-share" : column.right ? "num" : "cut";
  const cell = h("div", { role: "gridcell", class: `tg-cell ${look}${NOTHING.test(text) ? " muted" : ""}`, title: column.tip(i) || null }, text);
  if (share !== null) cell.style.setProperty("--share", String(Math.min(Math.max(share, 0), 1)));
  return cell;
}

/** A name that fits: a long one loses its middle. @param {string} name @param {number} width in characters @returns {string} */
export function shortened(name, width) {
  if (name.length <= width) return name;
  const tail = Math.floor(((width - 1) * 2) / 3);
  return `${name.slice(0, width - 1 - tail)}…${name.slice(-tail)}`;
}
