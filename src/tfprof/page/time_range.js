/**
 * The part of a time axis that is in sight: drag, wheel, pinch and keys move it.
 * @module
 */

const LEAST = 5; // microseconds in sight
const DRAGGED = 4; // pixels that make a click a drag

export class TimeRange {
  /** @param {() => void} moved called after each change by the reader */
  constructor(moved) {
    this.from = 0;
    this.to = 1;
    this.span = 1; // microseconds of the whole
    this.width = 1; // pixels
    this.dragged = false;
    this.moved = moved;
  }

  /** Microseconds per pixel. */
  get pixel() {
    return (this.to - this.from) / this.width;
  }

  get isWhole() {
    return this.from <= 0 && this.to >= this.span;
  }

  /** @param {number} time @returns {number} pixels */
  x(time) {
    return (time - this.from) / this.pixel;
  }

  /** @param {number} from @param {number} to microseconds */
  set(from, to) {
    const size = Math.min(Math.max(to - from, LEAST), this.span);
    this.from = Math.min(Math.max((from + to - size) / 2, 0), this.span - size);
    this.to = this.from + size;
  }

  /** @param {number} from @param {number} to */
  move(from, to) {
    this.set(from, to);
    this.moved();
  }

  /** @param {number} share of what is in sight */
  pan(share) {
    const by = share * (this.to - this.from);
    this.move(this.from + by, this.to + by);
  }

  /** @param {number} factor 2: twice the time in sight @param {number} [x] the place that stays */
  zoom(factor, x = this.width / 2) {
    const at = this.from + x * this.pixel;
    const size = Math.min(Math.max((this.to - this.from) * factor, LEAST), this.span);
    const from = at - (x / this.width) * size;
    this.move(from, from + size);
  }

  /** @param {string} key @param {boolean} shift @returns {boolean} whether the key moved it */
  key(key, shift) {
    if (key === "+" || key === "=") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "0") this.move(0, this.span);
    else if (shift && key === "ArrowLeft") this.pan(-0.25);
    else if (shift && key === "ArrowRight") this.pan(0.25);
    else return false;
    return true;
  }

  /** @param {HTMLElement} element @param {HTMLElement} scroller what a mouse scrolls up and down */
  listen(element, scroller) {
    /** @type {Map<number, PointerEvent>} */
    const down = new Map();
    let [startX, startY] = [0, 0];
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      if (event.shiftKey || Math.abs(sideways) > Math.abs(event.deltaY)) this.pan((sideways * unit) / this.width);
      else this.zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002)), event.clientX - element.getBoundingClientRect().left);
    }, { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (!down.size) [this.dragged, startX, startY] = [false, event.clientX, event.clientY];
      down.set(event.pointerId, event);
    });
    element.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (before === undefined) return;
      const other = [...down.values()].find((one) => one.pointerId !== event.pointerId);
      if (!this.dragged && !other && Math.hypot(event.clientX - startX, event.clientY - startY) < DRAGGED) return;
      this.dragged = true;
      element.setPointerCapture(event.pointerId);
      down.set(event.pointerId, event);
      if (other) this.pinch(before.clientX, event.clientX, other.clientX, element);
      else this.pan((before.clientX - event.clientX) / this.width);
      if (event.pointerType === "mouse") scroller.scrollTop += before.clientY - event.clientY;
    });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      element.addEventListener(name, (event) => down.delete(event.pointerId));
    }
    element.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
  }

  /** One finger went from *before* to *now*, the other one stayed. @param {number} before @param {number} now @param {number} other @param {HTMLElement} element */
  pinch(before, now, other, element) {
    const closest = 10;
    const factor = Math.max(Math.abs(before - other), closest) / Math.max(Math.abs(now - other), closest);
    this.zoom(factor, other - element.getBoundingClientRect().left);
  }
}
