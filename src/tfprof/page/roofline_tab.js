/**
 * The roofline: how fast each layer runs, against what its work per byte allows.
 * @module
 */
import { amount } from "./amounts.js";
import { Picture, neighbour } from "./canvas.js";
import { css, theme } from "./colours.js";
import { h } from "./dom.js";
import { NO_EXECUTIONS } from "./fleet.js";
import { pictureTab, showLegend } from "./picture_controls.js";
import { layersOf, limit, magnitude, rates, roofline } from "./roofline.js";
import { shown } from "./strings.js";
import { percent } from "./units.js";

/** @typedef {import("./app.js").Page} Page */
/** @typedef {import("./roofline.js").Dot} Dot */
/** @typedef {import("./colours.js").Theme} Theme */
/** @typedef {ReturnType<typeof roofline>} Plot */

const [ARITHMETIC, MEMORY, INCOMPLETE] = [0, 1, 8]; // categories
const ESTIMATE = "Bytes are an estimate: the parameters and activations of a layer, each moved once.";
const LABEL = "Roofline of layers: float operations per byte against FLOP/s. Arrow keys move, Enter shows details.";

export const rooflineTab = pictureTab({
  id: "roofline",
  title: "Roofline",
  missing(page) {
    const { summary, steps } = page.profile.meta;
    if (page.profile.fleet) return NO_EXECUTIONS;
    if (summary.error) return `A roofline needs the layers of a model. ${summary.error}`;
    if (!steps.length) return "A roofline needs the time of layers: add a run (RunMetadata) or a trace.";
    return layersOf(summary.rows).length ? "" : "No layer has float operations, bytes and time. Give open sizes with --dim, or a run of the same graph.";
  },
  make: (page) => new Roofline(page),
});

/** A power of ten, as in 0.1, 100 or 10G. @param {number} value */
function powerText(value) {
  return value < 1 ? String(Number(value.toPrecision(1))) : amount(value, "count").replace(/\.0+/, "");
}

/** @param {CanvasRenderingContext2D} context @param {Plot} plot @param {Theme} colours */
function paintAxes(context, { across, up }, colours) {
  const [left, right] = [across[0].at, across[across.length - 1].at];
  const [bottom, top] = [up[0].at, up[up.length - 1].at];
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

/** @param {CanvasRenderingContext2D} context @param {Plot["roof"]} roof @param {import("./roofline.js").Peaks} peaks @param {Theme} colours */
function paintRoof(context, roof, { flops, bandwidth }, colours) {
  const [start, bend, end] = roof;
  context.strokeStyle = context.fillStyle = css(colours.text);
  context.lineWidth = 1.5;
  context.beginPath();
  for (const { x, y } of roof) context.lineTo(x, y);
  context.stroke();
  context.lineWidth = 1;
  context.textAlign = "right";
  if (flops) context.fillText(amount(Math.round(flops), "rate"), end.x - 4, end.y - 9);
  context.textAlign = "left";
  const top = flops ? bend : end; // of the slope
  context.save();
  context.translate(start.x, start.y);
  context.rotate(Math.atan2(top.y - start.y, top.x - start.x));
  if (bandwidth) context.fillText(`${amount(Math.round(bandwidth), "memory")}/s`, 8, -9);
  context.restore();
}

/** Whether what limits a layer is a guess. @param {import("./roofline.js").Layer} layer */
function isIncomplete({ lower }) {
  return lower.work || lower.bytes;
}

/** Work per byte: at least so much where work is missing, at most where bytes are. @param {import("./roofline.js").Layer} layer */
function intensityText(layer) {
  const { work, bytes } = layer.lower;
  return work && bytes ? "?" : `${work ? "≥ " : bytes ? "≤ " : ""}${rates(layer).intensity.toPrecision(3)}`;
}

class Roofline {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.layers = layersOf(page.profile.meta.summary.rows);
    this.time = this.layers.reduce((sum, { micros }) => sum + micros, 0);
    const input = (/** @type {string} */ key, /** @type {string} */ example) =>
      h("input", { size: "8", placeholder: `as in ${example}`, spellcheck: "false", onchange: (/** @type {any} */ event) => page.go({ [key]: event.target.value }) });
    this.inputs = { flops: input("peak_flops", "312T"), bandwidth: input("peak_bandwidth", "2.0T") };
    /** @type {Picture<Dot>} */
    this.picture = new Picture({ label: LABEL, lines: (dot) => this.lines(dot), choose: (dot) => this.choose(dot), key: (key) => neighbour(this.picture.shapes, this.picture.focused, key) });
    this.space = h("div", { class: "grow" }, this.picture.element);
    this.legend = h("ul", { class: "legend", "aria-label": "Colours" });
    const field = (/** @type {string} */ label, /** @type {HTMLElement} */ one) => h("label", { class: "field" }, label, one);
    const fields = [field("Peak FLOP/s", this.inputs.flops), field("Peak bytes/s", this.inputs.bandwidth)];
    this.wrong = h("span", { class: "filter-problem", role: "alert" });
    const step = page.profile.meta.overview.total?.micros;
    const drawn = `These layers took ${amount(this.time, "micros")}${step ? ` of the ${amount(step, "micros")} of a step` : ""}; those without work, bytes or time are left out, and those below 0.1%.`;
    this.parts = [h("div", { class: "toolbar" }, fields, this.wrong, h("span", { class: "muted" }, `${ESTIMATE} ${drawn}`)), this.space, this.legend];
  }

  /** What the state says, else the command line. @returns {import("./roofline.js").Peaks} */
  peaks() {
    const { state, profile } = this.page;
    const peak = (/** @type {"flops" | "bandwidth"} */ name) => {
      const [text, given, input] = [state[`peak_${name}`], profile.meta.peaks[name] ?? 0, this.inputs[name]];
      if (document.activeElement !== input) input.value = text ?? (given ? amount(Math.round(given), "count") : "");
      const isWrong = text !== undefined && magnitude(text) === 0;
      input.setAttribute("aria-invalid", String(isWrong));
      if (isWrong) wrong.push(`peak_${name} takes a positive number, such as 312T, not ${shown(text.slice(0, 40))}`);
      return text === undefined ? given : magnitude(text);
    };
    /** @type {string[]} */ const wrong = [];
    const peaks = { flops: peak("flops"), bandwidth: peak("bandwidth") };
    this.wrong.textContent = wrong.join("; ");
    return peaks;
  }

  /** Paints axes, roof and layers. */
  draw() {
    const [colours, peaks, { picture, space }] = [theme(), this.peaks(), this];
    const entry = (/** @type {number} */ at, /** @type {string} */ text) => ({ colour: css(colours.categories[at]), text });
    const limits = peaks.flops && peaks.bandwidth ? [entry(MEMORY, "limited by memory"), entry(ARITHMETIC, "limited by arithmetic")] : [entry(ARITHMETIC, "a layer")];
    const some = this.layers.some(isIncomplete) ? [entry(INCOMPLETE, "incomplete: at least so fast")] : [];
    showLegend(this.legend, [...limits, ...some, { colour: "transparent", text: "larger: takes more time" }]);
    const context = picture.clear(space.clientWidth, space.clientHeight);
    const plot = roofline(this.layers, peaks, space.clientWidth, space.clientHeight);
    picture.shapes = plot.dots;
    paintAxes(context, plot, colours);
    if (plot.roof.length) paintRoof(context, plot.roof, peaks, colours);
    context.strokeStyle = css(colours.ground);
    for (const { layer, x, y, width } of plot.dots) {
      context.beginPath();
      context.arc(x + width / 2, y + width / 2, width / 2, 0, 2 * Math.PI);
      context.globalAlpha = 0.8;
      context.fillStyle = css(colours.categories[isIncomplete(layer) ? INCOMPLETE : limit(peaks, rates(layer).intensity).by === "memory" ? MEMORY : ARITHMETIC]);
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
    picture.focusOn(plot.dots.find(({ layer }) => layer === picture.focused?.layer) ?? plot.dots[0] ?? null);
  }

  /** Shows the details of a layer that is a node. @param {Dot} dot */
  choose({ layer }) {
    const node = this.page.profile.nodes.name.indexOf(layer.path);
    if (node >= 0) this.page.selectNode(node);
  }

  /** @param {Dot} dot @returns {string[]} */
  lines({ layer }) {
    const { intensity, speed } = rates(layer);
    const most = limit(this.peaks(), intensity);
    const lines = [
      shown(layer.path.slice(0, 2000)),
      `${amount(Math.round(speed), "rate", layer.lower.work)}, ${intensityText(layer)} FLOP per byte`,
      `${amount(layer.micros, "micros")}, ${percent(layer.micros, this.time)} of the layers' time`,
    ];
    if (most.speed < Infinity && !isIncomplete(layer)) lines.push(`${percent(speed, most.speed)} of what the machine allows${most.by && `, limited by ${most.by}`}`);
    return lines;
  }
}
