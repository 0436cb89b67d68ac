// The heat map of workers and steps: orange took longer than the median of the step, blue less.
//
//   step     0     1     2         coloured by its median against that of all worker steps
//   worker_0 1.00× 0.98× 1.01×
//   worker_1 1.00× 1.31× 1.02×     one row per worker; what does not fit can be scrolled to
//
// A number of a step stands for all workers (row -1), a name for all steps (step -1).
import { Picture, fitted } from "./canvas.js";
import { css, diverging, textOn, theme } from "./colours.js";
import { h } from "./dom.js";
import { ratio } from "./fleet.js";

/** @typedef {{row: number, step: number, x: number, y: number, width: number, height: number}} Cell */

const HEAD = 20; // pixels for the numbers of steps
const [LOW, HIGH] = [4, 24]; // pixels of a row
const [NARROW, WIDE] = [6, 110]; // of a column
const LINE = 14; // a label needs
const MARGIN = 32; // around a cell that is scrolled to
const STRONGEST = 1.5; // times the median has the strongest colour
const LABEL = "Heat map of workers and steps: time against the median of the step. Arrow keys move, Enter chooses, Escape chooses nothing.";

/** The colour of a time. @param {number} time @param {number} usual @param {boolean} dark */
export function heat(time, usual, dark) {
  const size = usual > 0 ? Math.log(Math.max(time / usual, 1e-9)) / Math.log(STRONGEST) : Math.sign(time);
  return diverging(0.5 - size / 2, dark);
}

/** What the colours mean. @param {boolean} dark */
export function heatLegend(dark) {
  const [half, full] = [Math.sqrt(STRONGEST), STRONGEST];
  const entry = (/** @type {number} */ size, /** @type {string} */ more) => ({ colour: css(heat(size, 1, dark)), text: `${size === 1 ? "" : `${size.toFixed(2)}× `}${more}` });
  return [entry(1 / full, "and less"), entry(1 / half, ""), entry(1, "median of the step"), entry(half, ""), entry(full, "and more"), { colour: "transparent", text: "blank: no record" }];
}

/** @extends {Picture<Cell>} */
export class HeatMap extends Picture {
  /** @param {import("./fleet.js").Fleet} fleet @param {(cell: Cell) => string[]} lines @param {(row: number | null, step: number | null) => void} choose */
  constructor(fleet, lines, choose) {
    super({ label: LABEL, lines, choose: ({ row, step }) => choose(row < 0 ? null : row, step < 0 ? null : step), key: (key) => (key === "Escape" ? (choose(null, null), true) : this.moved(key)) });
    this.fleet = fleet;
    this.kind = 0;
    /** @type {number[]} */ this.order = [];
    /** @type {number[]} */ this.place = []; // of each row in the order
    /** @type {import("./fleet.js").Chosen} */ this.chosen = { worker: null, step: null };
    this.size = { left: 0, row: HIGH, column: WIDE, width: 0, height: 0 };
    this.gap = 1; // pixel between cells
    this.colours = theme();
    this.spacer = h("div", null, this.element);
    this.scroller = h("div", { class: "heat", onscroll: () => this.paint() }, this.spacer);
  }

  /** @param {number} most pixels that the map may be high */
  draw(most) {
    const { fleet: { rows, steps }, scroller } = this;
    this.order.forEach((row, at) => (this.place[row] = at));
    scroller.style.height = `${Math.min(HEAD + rows * HIGH, most) + 2}px`;
    const context = this.clear(scroller.clientWidth, scroller.clientHeight);
    const widest = Math.max(...this.order.slice(0, 300).map((row) => context.measureText(this.fleet.rowName(row)).width));
    const left = Math.ceil(Math.min(Math.max(widest + 16, 40), Math.max(112, scroller.clientWidth * 0.22)));
    const row = Math.max(LOW, Math.min(HIGH, Math.floor((scroller.clientHeight - HEAD) / rows)));
    const column = Math.max(NARROW, Math.min(WIDE, Math.floor((scroller.clientWidth - left) / steps.length)));
    [this.spacer.style.width, this.spacer.style.height] = [`${left + column * steps.length}px`, `${HEAD + row * rows}px`];
    this.size = { left, row, column, width: scroller.clientWidth, height: scroller.clientHeight };
    this.gap = row >= 8 && column >= 8 ? 1 : 0;
    this.colours = theme();
    this.shapes = [this.cell(this.order[0], 0)]; // where the keyboard begins
    this.paint();
  }

  /** Where a worker's step is now. @param {number} row @param {number} step @returns {Cell} */
  cell(row, step) {
    const { size, scroller, place } = this;
    const [x, width] = step < 0 ? [0, size.left] : [size.left + step * size.column - scroller.scrollLeft, size.column];
    const [y, height] = row < 0 ? [0, HEAD] : [HEAD + place[row] * size.row - scroller.scrollTop, size.row];
    return { row, step, x, y, width, height };
  }

  /** @override @param {number} x @param {number} y @returns {Cell | null} */
  at(x, y) {
    const { left, row, column } = this.size;
    const at = y < HEAD ? -1 : this.order[Math.floor((y - HEAD + this.scroller.scrollTop) / row)];
    const step = x < left ? -1 : Math.floor((x - left + this.scroller.scrollLeft) / column);
    return at === undefined || at + step === -2 || step >= this.fleet.steps.length ? null : this.cell(at, step);
  }

  /** Scrolls to a row and a step, if they are not in sight. @param {number} row @param {number} step */
  reveal(row, step) {
    const { scroller, size, place } = this;
    const near = (/** @type {number} */ now, /** @type {number} */ at, /** @type {number} */ one, /** @type {number} */ room) => Math.min(Math.max(now, at * one + one + MARGIN - room), at * one - MARGIN);
    if (row >= 0) scroller.scrollTop = near(scroller.scrollTop, place[row], size.row, size.height - HEAD);
    if (step >= 0) scroller.scrollLeft = near(scroller.scrollLeft, step, size.column, size.width - size.left);
    this.paint();
  }

  /** The cell that a key moves to. @param {string} key @returns {Cell | null} */
  moved(key) {
    const { order, place, fleet: { rows, steps }, focused } = this;
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [-rows, 0], End: [rows, 0] }[key] ?? [0, 0];
    if (!down && !right) return null;
    const within = (/** @type {number} */ at, /** @type {number} */ count, /** @type {number} */ other) => Math.max(other < 0 ? 0 : -1, Math.min(at, count - 1));
    const before = focused ?? { row: order[0], step: 0 };
    const at = within((before.row < 0 ? -1 : place[before.row]) + down, rows, before.step);
    const [row, step] = [at < 0 ? -1 : order[at], within(before.step + right, steps.length, at)];
    this.reveal(row, step);
    return this.cell(row, step);
  }

  /** Paints what is in sight. */
  paint() {
    const { fleet, size: { left, row, column, width, height }, scroller } = this;
    const context = this.clear(width, height);
    const [first, begin] = [Math.floor(scroller.scrollTop / row), Math.floor(scroller.scrollLeft / column)];
    const rows = this.order.slice(first, first + Math.ceil(height / row) + 1);
    const steps = fleet.steps.map((_, step) => step).slice(begin, begin + Math.ceil(width / column) + 1);
    clipped(context, left, 0, width - left, HEAD, () => this.paintSteps(context, steps));
    clipped(context, left, HEAD, width - left, height - HEAD, () => this.paintCells(context, rows, steps));
    clipped(context, 0, 0, left, height, () => this.paintNames(context, rows));
    this.focusOn(this.focused && this.cell(this.focused.row, this.focused.step));
  }

  /** @param {CanvasRenderingContext2D} context @param {number[]} steps */
  paintSteps(context, steps) {
    const { fleet, kind, gap } = this;
    const apart = Math.ceil((context.measureText(fleet.steps.at(-1) ?? "").width + 10) / this.size.column); // numbers need room
    context.textAlign = "center";
    const ground = (/** @type {number} */ step) => heat(fleet.median(kind, step), fleet.meta.kinds[kind].p[0], this.colours.dark);
    for (const step of steps) {
      const { x, width } = this.cell(-1, step);
      context.fillStyle = css(ground(step));
      context.fillRect(x, 0, width - gap, HEAD - 3);
    }
    for (const step of steps.filter((at) => at % apart === 0)) {
      const { x, width } = this.cell(-1, step);
      context.fillStyle = css(textOn(ground(step)));
      context.fillText(fleet.steps[step], x + width / 2, HEAD / 2 - 1);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {number[]} rows @param {number[]} steps */
  paintCells(context, rows, steps) {
    const { fleet, kind, gap, size, chosen: { worker, step: of } } = this;
    context.textAlign = "center";
    for (const row of rows) {
      for (const step of steps) {
        const [time, usual, { x, y, width, height }] = [fleet.time(kind, row, step), fleet.median(kind, step), this.cell(row, step)];
        if (time < 0) continue;
        const ground = heat(time, usual, this.colours.dark);
        context.fillStyle = css(ground);
        context.fillRect(x, y, width - gap, height - gap);
        if (height < LINE || width < 46) continue;
        context.fillStyle = css(textOn(ground));
        context.fillText(ratio(time, usual), x + width / 2, y + height / 2);
      }
    }
    if (worker === null && of === null) return;
    const { x, y } = this.cell(worker ?? this.order[0], of ?? 0);
    context.strokeStyle = css(this.colours.text);
    context.lineWidth = 2;
    context.strokeRect(x, y, (of === null ? fleet.steps.length : 1) * size.column - 1, (worker === null ? fleet.rows : 1) * size.row - 1);
  }

  /** @param {CanvasRenderingContext2D} context @param {number[]} rows */
  paintNames(context, rows) {
    const { fleet, place, size: { left, row: high } } = this;
    const every = Math.ceil(LINE / high); // names need room
    context.fillStyle = css(this.colours.muted);
    for (const row of rows) {
      if (place[row] % every === 0) context.fillText(fitted(context, fleet.rowName(row), left - 10), 2, this.cell(row, 0).y + Math.max(high, LINE) / 2);
    }
    context.clearRect(0, 0, left, HEAD - 1);
    context.fillText("step", 2, HEAD / 2 - 1);
  }
}

/** Paints inside of a rectangle. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width @param {number} height @param {() => void} paint */
function clipped(context, x, y, width, height, paint) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  paint();
  context.restore();
}
