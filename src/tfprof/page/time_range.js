// The part of a time axis that is in sight: drag, wheel, pinch and keys move it.

const LEAST = 5; // microseconds in sight
const DRAGGED = 4; // pixels that make a click a drag
const CLOSEST = 10; // pixels between two fingers

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
    const size = Math.min(Math.max((this.to - this.from) * factor, LEAST), this.span);
    const from = this.from + x * this.pixel - (x / this.width) * size;
    this.move(from, from + size);
  }

  /** @param {string} key @param {boolean} shift @returns {boolean} whether the key moved it */
  key(key, shift) {
    if (key === "+" || key === "=") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "0") this.move(0, this.span);
    else if (shift && (key === "ArrowLeft" || key === "ArrowRight")) this.pan(key === "ArrowLeft" ? -0.25 : 0.25);
    else return false;
    return true;
  }

  /** @param {HTMLElement} element @param {HTMLElement} scroller what a mouse drags up and down */
  listen(element, scroller) {
    /** @type {Map<number, PointerEvent>} */ const down = new Map();
    const left = () => element.getBoundingClientRect().left;
    let first = { clientX: 0, clientY: 0 };
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1; // lines
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      if (event.shiftKey || Math.abs(sideways) > Math.abs(event.deltaY)) this.pan((sideways * unit) / this.width);
      else this.zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002)), event.clientX - left());
    }, { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (!down.size) [this.dragged, first] = [false, event];
      down.set(event.pointerId, event);
    });
    element.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      const other = [...down.values()].find((one) => one !== before);
      if (before === undefined) return;
      if (!this.dragged && !other && Math.hypot(event.clientX - first.clientX, event.clientY - first.clientY) < DRAGGED) return;
      this.dragged = true;
      element.setPointerCapture(event.pointerId);
      down.set(event.pointerId, event);
      const apart = (/** @type {PointerEvent} */ one) => Math.max(Math.abs(one.clientX - (other?.clientX ?? 0)), CLOSEST);
      if (other) this.zoom(apart(before) / apart(event), other.clientX - left());
      else this.pan((before.clientX - event.clientX) / this.width);
      if (event.pointerType === "mouse") scroller.scrollTop += before.clientY - event.clientY;
    });
    element.addEventListener("pointerup", (event) => down.delete(event.pointerId));
    element.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
    element.addEventListener("click", (event) => this.dragged && event.stopImmediatePropagation(), true);
  }
}
