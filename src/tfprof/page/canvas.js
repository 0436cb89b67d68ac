// A picture on a canvas: sharp on any screen, a tooltip for the pointer, a ring and a spoken
// sentence for the keyboard. What is in it is a list of shapes; who draws them decides the rest.
import { h } from "./dom.js";

/** @typedef {{x: number, y: number, width: number, height: number}} Shape what can be pointed at, in pixels from the top left */

const [GAP, MARGIN] = [14, 6]; // between the pointer and its tooltip, and that and the edge of the window
const LONGEST = 400; // letters of a text on a canvas

/** @template {Shape} S */
export class Picture {
  /**
   * @param {object} how
   * @param {string} how.label what the picture shows, for those who cannot see it
   * @param {(shape: S) => string[]} how.lines what a shape is called, then its numbers
   * @param {(shape: S) => void} how.choose a click or Enter
   * @param {(key: string) => S | null | boolean} how.key the shape that a key moves to; true where it did something else
   */
  constructor({ label, lines, choose, key }) {
    /** @type {S[]} */ this.shapes = [];
    /** @type {S | null} */ this.focused = null;
    this.lines = lines;
    this.canvas = h("canvas", { class: "picture-canvas", tabindex: "0", role: "application", "aria-label": label });
    this.ring = h("div", { class: "picture-ring", hidden: true });
    this.hover = h("div", { class: "picture-hover", hidden: true });
    this.tip = h("div", { class: "picture-tip", hidden: true, "aria-hidden": "true" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.element = h("div", { class: "picture" }, this.canvas, this.hover, this.ring, this.tip, this.live);
    const on = this.canvas.addEventListener.bind(this.canvas);
    on("pointermove", (event) => this.point(event));
    on("pointerleave", () => this.leave());
    on("blur", () => (this.ring.hidden = true));
    on("focus", () => this.canvas.matches(":focus-visible") && this.focusOn(this.focused ?? this.shapes[0] ?? null));
    on("click", (event) => {
      const shape = this.at(event.offsetX, event.offsetY);
      this.leave();
      if (shape !== null) choose(shape);
    });
    on("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const enters = this.focused !== null && (event.key === "Enter" || event.key === " ");
      const next = enters || key(event.key);
      if (next === null || next === false) return;
      event.preventDefault();
      if (enters) choose(/** @type {S} */ (this.focused));
      else if (next !== true) this.focusOn(next);
    });
  }

  /** An empty canvas of this size, ready to draw in CSS pixels. @param {number} width @param {number} height @returns {CanvasRenderingContext2D} */
  clear(width, height) {
    const ratio = devicePixelRatio || 1;
    const { canvas } = this;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
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
    const visible = document.activeElement === this.canvas ? shape : null;
    frame(this.ring, visible);
    const text = visible === null ? "" : this.lines(visible).join(", ");
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
    const { offsetWidth, offsetHeight, style } = this.tip;
    const [left, top] = tipPlace(event.clientX, event.clientY, offsetWidth, offsetHeight, window.innerWidth, window.innerHeight);
    [style.left, style.top] = [`${left}px`, `${top}px`];
  }

  /** The pointer is elsewhere. */
  leave() {
    this.hover.hidden = this.tip.hidden = true;
  }
}

/** The left and top of a tooltip: right below the pointer, on the other side where the window ends. @param {number} x of the pointer
 * @param {number} y @param {number} width of the tooltip @param {number} height @param {number} right of the window
 * @param {number} bottom @returns {[number, number]} */
export function tipPlace(x, y, width, height, right, bottom) {
  const place = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ end) => {
    const start = at + GAP + size + MARGIN <= end ? at + GAP : at - GAP - size;
    return Math.max(MARGIN, Math.min(start, end - size - MARGIN));
  };
  return [place(x, width, right), place(y, height, bottom)];
}

/** @param {HTMLElement} element @param {Shape | null} shape */
function frame(element, shape) {
  element.hidden = shape === null;
  if (shape === null) return;
  element.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
  [element.style.width, element.style.height] = [`${Math.max(2, shape.width)}px`, `${shape.height}px`];
}

/** The shape that an arrow key moves to: near, and in that direction; null where there is none. @template {Shape} S @param {S[]} shapes @param {S | null} from @param {string} key @returns {S | null} */
export function neighbour(shapes, from, key) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (step === undefined || from === null) return step === undefined ? null : shapes[0] ?? null;
  const distance = (/** @type {Shape} */ to) => {
    const [x, y] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
    const along = x * step[0] + y * step[1];
    return along > 0 ? along + 2 * Math.abs(x * step[1] + y * step[0]) : Infinity;
  };
  const nearest = shapes.reduce((best, shape) => (distance(shape) < distance(best) ? shape : best), from);
  return nearest === from ? null : nearest;
}

/** As much of a text as fits into a width, with an ellipsis; "" where not even three letters fit. @param {CanvasRenderingContext2D} context @param {string} text @param {number} width */
export function fitted(context, text, width) {
  const start = text.slice(0, LONGEST); // a name may be a million letters long
  if (start === text && context.measureText(start).width <= width) return start;
  let [low, high] = [0, start.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${start.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 3 ? `${start.slice(0, low)}…` : "";
}
