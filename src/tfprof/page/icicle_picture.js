/**
 * An icicle on the screen: boxes to zoom into by click and by keys, the way back, a search, a legend.
 * What is drawn is a scene; a tab makes one of the state.
 * @module
 */
import { Picture, fitted } from "./canvas.js";
import { css, mix, textOn } from "./colours.js";
import { h } from "./dom.js";
import { boxes, matched } from "./icicle.js";
import { showCrumbs, showLegend } from "./picture_controls.js";
import { matcher } from "./regex.js";
import { shown } from "./strings.js";
import { percent, plural } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./icicle.js").Box & import("./canvas.js").Shape} IcicleShape */
/** @typedef {{matches: Uint8Array | null, covered: Uint8Array | null, text: string, isValid: boolean}} Search which rows hold a match, and how much that is */
/**
 * What the state says to draw. The address names a row by its id; while these are `of` the same, the keyboard stays at
 * its row. The texts of a box: the first that fits is drawn, or as much of the last as does. `node` is -1 where a row is none.
 * @typedef {{of: string, id: ArrayLike<number>, node: ArrayLike<number>, tree: import("./tree.js").Tree, layout: import("./icicle.js").Layout,
 *   zoomed: number, levels: number, colours: import("./colours.js").Theme, colouring: import("./icicle_colours.js").Colouring, search: Search | null,
 *   nothing: string, name: (row: number) => string, brief: (row: number) => string, texts: (row: number) => string[], lines: (row: number) => string[]}} Scene
 */

const [LOWEST, HIGHEST] = [20, 27]; // of a row, in pixels
const TYPING = 150; // ms from the last key to a search
const KEYS = "Arrow keys move, Enter zooms in or shows details, Backspace zooms out.";

/** What a search finds. @param {string} text @param {(pattern: ReturnType<typeof matcher>) => ArrayLike<number>} rows whether each row matches
 * @param {import("./icicle.js").Layout} layout @param {number} zoomed @param {boolean} isLower whether the zoomed number is a lower bound, which has no shares
 * @returns {Search | null} */
export function searchOf(text, rows, layout, zoomed, isLower) {
  if (text === "") return null;
  try {
    matcher([text]); // by itself, so that a ")" too many does not end our group
    const matches = Uint8Array.from(rows(matcher([`(?s:.*)(?:${text})(?s:.*)`])));
    matches[0] = 0;
    const { covered, share, count } = matched(layout, matches, zoomed);
    return { matches, covered, text: `${plural(count, "match", "matches")}${isLower ? "" : `, ${percent(share, 1)}`}`, isValid: true };
  } catch (error) {
    return { matches: null, covered: null, text: shown(error instanceof Error ? error.message : String(error)), isValid: false };
  }
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
  const texts = scene.texts(row);
  const text = texts.find((one) => context.measureText(one).width <= width - 9) ?? texts[texts.length - 1];
  context.fillStyle = css(isFaded ? colours.muted : textOn(colour));
  context.fillText(fitted(context, text, width - 9), x + 4, y + height / 2);
}

export class IciclePicture {
  /** @param {Page} page @param {string} label @param {string} zoomKey of the state @param {Scene} scene */
  constructor(page, label, zoomKey, scene) {
    this.page = page;
    this.zoomKey = zoomKey;
    this.scene = scene;
    this.high = LOWEST;
    this.search = h("input", { type: "search", placeholder: "Search names (regex)", "aria-label": "Search names by regular expression", spellcheck: "false" });
    this.found = h("output", { class: "found" });
    let waiting = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => page.go({ search: this.search.value }, { replace: true }), TYPING);
    });
    this.crumbs = h("nav", { class: "crumbs", "aria-label": "Zoom" });
    /** @type {Picture<IcicleShape>} */
    this.picture = new Picture({ label: `${label}. ${KEYS}`, lines: (shape) => this.lines(shape), choose: (shape) => this.choose(shape), key: (key) => this.key(key) });
    this.spacer = h("div");
    this.scroll = h("div", { class: "icicle grow", onscroll: () => this.paint() }, this.picture.element, this.spacer);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
    this.parts = [this.crumbs, this.scroll, this.legend];
  }

  /** Shows another scene; what is around the picture has its size by now. @param {Scene} scene */
  draw(scene) {
    const { page, picture, scene: before } = this;
    const { search, layout, zoomed } = scene;
    this.scene = scene;
    if (document.activeElement !== this.search) this.search.value = page.state.search ?? "";
    this.search.setAttribute("aria-invalid", String(search?.isValid === false));
    this.found.textContent = search?.text ?? "";
    showCrumbs(this.crumbs, layout.parent, zoomed, scene.brief, (row) => this.zoom(row));
    showLegend(this.legend, layout.width[0] ? scene.colouring.legend(zoomed) : [{ colour: "transparent", text: scene.nothing }]);
    this.paint();
    // In another order, the row has another place.
    const again = before.of === scene.of ? Array.prototype.indexOf.call(scene.id, before.id[picture.focused?.row ?? before.zoomed]) : -1;
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
    const selected = page.node === null ? -1 : Array.prototype.indexOf.call(scene.node, page.node);
    for (const shape of picture.shapes) paintBox(context, scene, shape, shape.row === selected);
  }

  /** @param {IcicleShape} shape @returns {string[]} */
  lines({ row, count }) {
    const { scene } = this;
    if (count > 1) return [`${plural(count, "row")} too narrow to draw`, `in ${scene.name(scene.layout.parent[row])}`];
    return [scene.name(row), ...scene.lines(row)].filter(Boolean);
  }

  /** Zooms into a row with rows below it; shows the details of a node. @param {IcicleShape} shape */
  choose({ row, count }) {
    const { tree, layout, node: nodes } = this.scene;
    const target = count > 1 ? layout.parent[row] : row;
    const node = count > 1 ? -1 : nodes[row];
    const zooms = tree.end[target] > target + 1;
    if (zooms) this.scroll.scrollTop = 0;
    this.page.go({ ...(zooms ? this.zoomTo(target) : {}), node: this.page.nodeKey(node >= 0 ? node : null) });
  }

  /** @param {number} row */
  zoom(row) {
    this.scroll.scrollTop = 0;
    this.page.go(this.zoomTo(row));
  }

  /** Changes of the state that zoom. @param {number} row */
  zoomTo(row) {
    return { [this.zoomKey]: row > 0 ? String(this.scene.id[row]) : "" };
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
    const { tree, layout: { width } } = this.scene;
    const drawnBelow = [...tree.children(row)].filter((child) => width[child] > 0);
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
