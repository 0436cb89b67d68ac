/**
 * A picture on a canvas: sharp on any screen, a tooltip for the pointer, a ring and a spoken
 * sentence for the keyboard. What is in it is a list of shapes; who draws them decides the rest.
 * @module
 */
import { h } from "./dom.js";

/**
 * @typedef {object} Shape what can be pointed at, in pixels from the top left of the canvas
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */

const TIP_GAP = 14; // between the pointer and its tooltip
const MARGIN = 6; // between a tooltip and the edge of the window

/** @template {Shape} S */
export class Picture {
  /**
   * @param {object} how
   * @param {string} how.label what the picture shows, for those who cannot see it
   * @param {(shape: S) => string[]} how.lines what a shape is called, then its numbers; all of it text
   * @param {(shape: S) => void} how.choose a click or Enter
   * @param {(key: string) => S | null | boolean} how.key the shape that a key moves to; true where it did something else
   */
  constructor({ label, lines, choose, key }) {
    /** @type {S[]} */
    this.shapes = [];
    /** @type {S | null} */
    this.focused = null;
    this.lines = lines;
    this.canvas = h("canvas", { class: "picture-canvas", tabindex: "0", role: "application", "aria-label": label });
    this.ring = h("div", { class: "picture-ring", hidden: true });
    this.hover = h("div", { class: "picture-hover", hidden: true });
    this.tip = h("div", { class: "picture-tip", hidden: true, "aria-hidden": "true" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.element = h("div", { class: "picture" }, this.canvas, this.hover, this.ring, this.tip, this.live);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("blur", () => (this.ring.hidden = true));
    this.canvas.addEventListener("focus", () => {
      if (this.canvas.matches(":focus-visible")) this.focusOn(this.focused ?? this.shapes[0] ?? null);
    });
    this.canvas.addEventListener("click", (event) => {
      const shape = this.at(event.offsetX, event.offsetY);
      this.leave();
      if (shape !== null) choose(shape);
    });
    this.canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const enters = event.key === "Enter" || event.key === " ";
      const next = enters && this.focused !== null ? true : key(event.key);
      if (next === null || next === false) return;
      event.preventDefault();
      if (enters && this.focused !== null) choose(this.focused);
      else if (next !== true) this.focusOn(next);
    });
  }

  /**
   * An empty canvas of this size, ready to draw in CSS pixels.
   * @param {number} width
   * @param {number} height
   * @returns {CanvasRenderingContext2D}
   */
  clear(width, height) {
    const ratio = devicePixelRatio || 1;
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
    context.textBaseline = "middle";
    this.leave();
    return context;
  }

  /** The topmost shape at a place. @param {number} x @param {number} y @returns {S | null} */
  at(x, y) {
    return this.shapes.findLast((s) => x >= s.x && y >= s.y && x < s.x + s.width && y < s.y + s.height) ?? null;
  }

  /** Puts the keyboard's ring around a shape, and says what it is. @param {S | null} shape */
  focusOn(shape) {
    this.focused = shape;
    const visible = shape !== null && document.activeElement === this.canvas;
    frame(this.ring, visible ? shape : null);
    const text = visible ? this.lines(shape).join(", ") : "";
    if (this.live.textContent !== text) this.live.textContent = text;
  }

  /** @param {PointerEvent} event */
  point(event) {
    const shape = this.at(event.offsetX, event.offsetY);
    frame(this.hover, shape);
    this.canvas.classList.toggle("pointing", shape !== null);
    this.tip.hidden = shape === null;
    if (shape === null) return;
    const [name, ...numbers] = this.lines(shape);
    this.tip.replaceChildren(h("b", null, name), ...numbers.map((line) => h("span", null, line)));
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const [left, top] = tipPlace(event.clientX, event.clientY, width, height, window.innerWidth, window.innerHeight);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }

  /** The pointer is elsewhere. */
  leave() {
    this.hover.hidden = true;
    this.tip.hidden = true;
  }
}

/**
 * Where a tooltip goes: right below the pointer, on the other side where the window ends.
 * @param {number} x of the pointer
 * @param {number} y
 * @param {number} width of the tooltip
 * @param {number} height
 * @param {number} right of the window
 * @param {number} bottom
 * @returns {[number, number]} left, top
 */
export function tipPlace(x, y, width, height, right, bottom) {
  const left = x + TIP_GAP + width + MARGIN <= right ? x + TIP_GAP : x - TIP_GAP - width;
  const top = y + TIP_GAP + height + MARGIN <= bottom ? y + TIP_GAP : y - TIP_GAP - height;
  const inside = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(MARGIN, Math.min(at, most));
  return [inside(left, right - width - MARGIN), inside(top, bottom - height - MARGIN)];
}

/** @param {HTMLElement} element @param {Shape | null} shape */
function frame(element, shape) {
  element.hidden = shape === null;
  if (shape === null) return;
  element.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
  element.style.width = `${Math.max(2, shape.width)}px`;
  element.style.height = `${shape.height}px`;
}

/**
 * The shape that an arrow key moves to: near, and in that direction.
 * @template {Shape} S
 * @param {S[]} shapes
 * @param {S | null} from
 * @param {string} key as in "ArrowLeft"
 * @returns {S | null} null where the key is no arrow or there is nothing
 */
export function neighbour(shapes, from, key) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (step === undefined) return null;
  if (from === null) return shapes[0] ?? null;
  const middle = (/** @type {Shape} */ s) => [s.x + s.width / 2, s.y + s.height / 2];
  const [fromX, fromY] = middle(from);
  let best = null;
  let least = Infinity;
  for (const shape of shapes) {
    const [x, y] = middle(shape);
    const along = (x - fromX) * step[0] + (y - fromY) * step[1];
    const across = Math.abs((x - fromX) * step[1] + (y - fromY) * step[0]);
    if (shape !== from && along > 0 && along + 2 * across < least) [best, least] = [shape, along + 2 * across];
  }
  return best;
}

/**
 * As much of a text as fits into a width, with an ellipsis.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} width
 * @returns {string} "" where not even three letters fit
 */
export function fitted(context, text, width) {
  const start = text.slice(0, 400); // a name may be a million letters long
  if (context.measureText(start).width <= width && start.length === text.length) return start;
  let [low, high] = [0, start.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${start.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 3 ? `${start.slice(0, low)}…` : "";
}
