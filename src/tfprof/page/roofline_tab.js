/**
 * The roofline: how fast each layer runs, against what its work per byte allows.
 * @module
 */
import { amount } from "./amounts.js";
import { Picture, neighbour } from "./canvas.js";
import { css, theme } from "./colours.js";
import { fill, h } from "./dom.js";
import { showLegend } from "./picture_controls.js";
import { layersOf, limit, magnitude, rates, roofline } from "./roofline.js";
import { shown } from "./strings.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./roofline.js").Dot} Dot */

const [ARITHMETIC, MEMORY] = [0, 1]; // categories
const ESTIMATE = "Bytes are an estimate: the parameters and activations of a layer, each moved once. Layers with under 0.1% of the time are left out.";

/** @type {WeakMap<HTMLElement, Roofline>} */
const drawn = new WeakMap();

/** @type {import("./tabs.js").Tab} */
export const rooflineTab = {
  id: "roofline",
  title: "Roofline",
  missing(page) {
    const { summary, steps } = page.profile.meta;
    if (summary.error) return `A roofline needs the layers of a model. ${summary.error}`;
    if (!steps.length) return "A roofline needs the time of layers: add a run (RunMetadata) or a trace.";
    return layersOf(summary.rows).length ? "" : "No layer has float operations, bytes and time. Give open sizes with --dim, or a run of the same graph.";
  },
  draw(root, page) {
    const tab = drawn.get(root) ?? new Roofline(page);
    drawn.set(root, tab);
    if (tab.space.parentElement !== root) fill(root, tab.toolbar, tab.space, tab.legend);
    tab.draw();
  },
};

/** A power of ten, as in 100 or 10G. @param {number} value */
function powerText(value) {
  return value < 1 ? String(Number(value.toPrecision(1))) : amount(value, "count").replace(/\.0+/, "");
}

/** @param {CanvasRenderingContext2D} context @param {ReturnType<typeof roofline>} plot @param {import("./colours.js").Theme} colours */
function paintAxes(context, { across, up, left, bottom }, colours) {
  const [right, top] = [across[across.length - 1].at, up[up.length - 1].at];
  const every = Math.ceil((across.length * 46) / (right - left)); // labels need room
  context.strokeStyle = css(colours.line);
  context.fillStyle = css(colours.muted);
  context.beginPath();
  context.textAlign = "center";
  across.forEach(({ at, value }, index) => {
    context.moveTo(at, bottom);
    context.lineTo(at, top);
    if (index % every === 0) context.fillText(powerText(value), at, bottom + 12);
  });
  context.textAlign = "right";
  for (const { at, value } of up) {
    context.moveTo(left, at);
    context.lineTo(right, at);
    context.fillText(powerText(value), left - 6, at);
  }
  context.stroke();
  context.fillText("FLOP per byte", right, bottom + 28);
  context.textAlign = "left";
  context.fillText("FLOP/s", 0, 8);
}

/** @param {CanvasRenderingContext2D} context @param {[number, number][]} roof @param {import("./roofline.js").Peaks} peaks @param {import("./colours.js").Theme} colours */
function paintRoof(context, roof, { flops, bandwidth }, colours) {
  const [[left, first], [middle, ridge], [right, last]] = roof;
  context.strokeStyle = context.fillStyle = css(colours.text);
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [x, y] of roof) context.lineTo(x, y);
  context.stroke();
  context.lineWidth = 1;
  context.textAlign = "right";
  if (flops) context.fillText(amount(Math.round(flops), "rate"), right - 4, last - 9);
  context.textAlign = "left";
  if (!bandwidth) return;
  context.save();
  context.translate(left, first);
  context.rotate(Math.atan2(flops ? ridge - first : last - first, (flops ? middle : right) - left));
  context.fillText(`${amount(Math.round(bandwidth), "memory")}/s`, 8, -9);
  context.restore();
}

class Roofline {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.layers = layersOf(page.profile.meta.summary.rows);
    this.time = this.layers.reduce((sum, layer) => sum + layer.micros, 0);
    this.inputs = { flops: this.input("peak_flops", "Peak FLOP/s", "312T"), bandwidth: this.input("peak_bandwidth", "Peak bytes/s", "2.0T") };
    this.toolbar = h("div", { class: "toolbar" }, ...Object.values(this.inputs).map(({ field }) => field), h("span", { class: "muted" }, ESTIMATE));
    /** @type {Picture<Dot>} */
    this.picture = new Picture({
      label: "Roofline of layers: float operations per byte against FLOP/s. Arrow keys move, Enter shows details.",
      lines: (dot) => this.lines(dot),
      choose: ({ layer }) => this.select(layer.path),
      key: (key) => neighbour(this.picture.shapes, this.picture.focused, key),
    });
    this.space = h("div", { class: "grow" }, this.picture.element);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
  }

  /** @param {string} key @param {string} label @param {string} example */
  input(key, label, example) {
    const input = h("input", { size: "8", placeholder: `as in ${example}`, spellcheck: "false", onchange: () => this.page.go({ [key]: input.value }) });
    return { input, field: h("label", { class: "field" }, label, input) };
  }

  /** @param {string} path */
  select(path) {
    const node = this.page.profile.nodes.name.indexOf(path);
    if (node >= 0) this.page.selectNode(node);
  }

  /** @returns {import("./roofline.js").Peaks} what the state says, else the command line */
  peaks() {
    const { state, profile } = this.page;
    const peak = (/** @type {"flops" | "bandwidth"} */ name) => {
      const [text, given] = [state[`peak_${name}`], profile.meta.peaks[name] ?? 0];
      const { input } = this.inputs[name];
      if (document.activeElement !== input) input.value = text ?? (given ? amount(Math.round(given), "count") : "");
      input.setAttribute("aria-invalid", String(text !== undefined && magnitude(text) === 0));
      return text === undefined ? given : magnitude(text);
    };
    return { flops: peak("flops"), bandwidth: peak("bandwidth") };
  }

  /** Paints axes, roof and layers. */
  draw() {
    const [colours, peaks, { picture }] = [theme(), this.peaks(), this];
    const entry = (/** @type {number} */ at, /** @type {string} */ text) => ({ colour: css(colours.categories[at]), text });
    const both = peaks.flops && peaks.bandwidth;
    showLegend(this.legend, [...(both ? [entry(MEMORY, "limited by memory"), entry(ARITHMETIC, "limited by arithmetic")] : [entry(ARITHMETIC, "a layer")]), { colour: "transparent", text: "larger: takes more time" }]);
    const [width, height] = [this.space.clientWidth, this.space.clientHeight];
    const context = picture.clear(width, height);
    const plot = roofline(this.layers, peaks, width, height);
    picture.shapes = plot.dots;
    paintAxes(context, plot, colours);
    if (plot.roof.length) paintRoof(context, plot.roof, peaks, colours);
    for (const { layer, x, y, width: size } of plot.dots) {
      context.beginPath();
      context.arc(x + size / 2, y + size / 2, size / 2, 0, 2 * Math.PI);
      context.globalAlpha = 0.8;
      context.fillStyle = css(colours.categories[limit(peaks, rates(layer).intensity).by === "memory" ? MEMORY : ARITHMETIC]);
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = css(colours.ground);
      context.stroke();
    }
    picture.focusOn(plot.dots.find(({ layer }) => layer === picture.focused?.layer) ?? plot.dots[0] ?? null);
  }

  /** @param {Dot} dot @returns {string[]} */
  lines({ layer }) {
    const { intensity, speed } = rates(layer);
    const most = limit(this.peaks(), intensity);
    return [
      shown(layer.path.slice(0, 2000)),
      `${amount(Math.round(speed), "rate")}, ${intensity.toPrecision(3)} FLOP per byte`,
      `${amount(layer.micros, "micros")}, ${percent(layer.micros / this.time, 1)} of the layers' time`,
      ...(most.speed < Infinity ? [`${percent(speed / most.speed, 1)} of what the machine allows${most.by && `, limited by ${most.by}`}`] : []),
    ];
  }
}
