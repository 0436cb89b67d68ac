// The options of the command line as a form, one field per row of meta.options. A field that is
// left empty has the command line's default, which it shows in grey.
import { defaultText } from "./command_line.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./command_line.js").Option} Option */
/** @typedef {{option: Option, control: HTMLElement, element: HTMLElement, problem: HTMLElement, isFirst: boolean}} Field */

const FIRST = ["show_name_regexes", "account_type_regexes", "select", "step"]; // in sight without a click
const PAUSE = 150; // milliseconds without a key before the table changes

export class Filters {
  /** @param {import("./app.js").Page} page */
  constructor(page) {
    this.page = page;
    this.waiting = 0;
    /** @type {Field[]} */ this.fields = page.profile.meta.options.map(fieldOf);
    this.toggle = h("button", { type: "button", class: "button", "aria-controls": "more-filters", onclick: () => this.open(this.more.hidden === true) });
    this.reset = h("button", { type: "reset", class: "button" }, "Reset");
    const first = FIRST.flatMap((name) => this.fields.filter(({ option }) => option.name === name));
    const others = this.fields.filter(({ isFirst }) => !isFirst);
    this.more = h("div", { class: "more-filters", id: "more-filters" }, others.map(({ element }) => element));
    this.open(false);
    this.element = h("form", { class: "filters", "aria-label": "Filters" }, first.map(({ element }) => element), h("div", { class: "filter-buttons" }, this.toggle, this.reset), this.more);
    this.element.addEventListener("input", (event) => this.change(event, PAUSE));
    this.element.addEventListener("change", (event) => this.change(event, 0));
    this.element.addEventListener("submit", (event) => event.preventDefault());
    for (const leaving of ["pointerdown", "focusin"]) {
      document.addEventListener(leaving, ({ target }) => {
        for (const list of this.element.querySelectorAll("details")) list.open &&= list.contains(/** @type {Node} */ (target));
      });
    }
    this.element.addEventListener("reset", (event) => {
      event.preventDefault();
      page.go(Object.fromEntries(this.fields.map(({ option }) => [option.name, ""])));
    });
  }

  /** @param {boolean} open whether the filters that few need are in sight */
  open(open) {
    this.more.hidden = !open;
    this.toggle.setAttribute("aria-expanded", String(open));
  }

  /** Puts a field into the state, after a pause where more keys may follow. @param {Event} event @param {number} pause */
  change(event, pause) {
    const target = /** @type {Node} */ (event.target);
    const field = this.fields.find(({ element }) => element.contains(target));
    if (field === undefined) return;
    clearTimeout(this.waiting);
    const go = () => this.page.go({ [field.option.name]: valueOf(field) }, { replace: pause > 0 });
    if (pause > 0) this.waiting = setTimeout(go, pause);
    else go();
  }

  /** Shows the state, and *problem* beside the field that it is about.
   * @param {{name: string, options: string[], choices: Object<string, string[]>}} view a row of meta.views
   * @param {string} wrong the name of that option; "" where nothing is wrong @param {string} problem */
  show(view, wrong, problem) {
    const { state, profile } = this.page;
    for (const { option, control, element, ...field } of this.fields) {
      showValue(control, state[option.name], defaultText(profile.meta, view.name, option), view.choices[option.name] ?? option.choices);
      control.setAttribute("aria-invalid", String(option.name === wrong));
      fill(field.problem, option.name === wrong && problem);
      element.hidden = !view.options.includes(option.name);
      element.classList.toggle("filter-set", option.name in state);
      if (option.name === wrong && !field.isFirst) this.open(true);
    }
    const set = this.fields.filter(({ option }) => option.name in state);
    const unseen = set.filter(({ isFirst }) => !isFirst).length;
    this.reset.disabled = set.length === 0;
    fill(this.toggle, unseen > 0 ? `More filters (${unseen} set)` : "More filters");
  }
}

/** @param {Option} option @returns {Field} */
function fieldOf(option) {
  const id = `filter-${option.name}`;
  const control = controlOf(option, id);
  const label = h("label", { class: "filter-label", for: id, id: `${id}-label`, title: option.help }, option.name.replaceAll("_", " "));
  const problem = h("p", { class: "filter-problem", id: `${id}-problem`, role: "alert" });
  control.setAttribute("aria-describedby", `${id}-problem`);
  const element = h("div", { class: `filter filter-${option.kind}`, "data-option": option.name }, label, control, problem);
  return { option, control, element, problem, isFirst: FIRST.includes(option.name) };
}

/** @param {Option} option @param {string} id @returns {HTMLElement} */
function controlOf({ name, kind, choices, help }, id) {
  if (kind === "bool") return h("input", { type: "checkbox", id, title: help });
  if (kind === "list" && choices.length > 0) {
    const boxes = choices.map((choice) => h("label", { class: "choice" }, h("input", { type: "checkbox", value: choice }), choice));
    const summary = h("summary", { class: "button", id, title: help, "aria-labelledby": `${id}-label ${id}` });
    return h("details", { class: "checklist" }, summary, h("div", { class: "choices", role: "group", "aria-labelledby": `${id}-label` }, boxes));
  }
  if (choices.length > 0) return h("select", { id, title: help });
  const typed = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", inputmode: kind === "int" ? "numeric" : null };
  return h("input", { type: name === FIRST[0] ? "search" : "text", id, title: help, ...typed });
}

/** As written on the command line; "": not set. @param {Field} field @returns {string} */
function valueOf({ control }) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked ? "true" : "";
  if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) return control.value;
  return [...control.querySelectorAll("input")].filter((box) => box.checked).map((box) => box.value).join(",");
}

/** @param {HTMLElement} control @param {string | undefined} value @param {string} standard @param {string[]} choices */
function showValue(control, value, standard, choices) {
  if (control instanceof HTMLSelectElement) {
    const words = value === undefined || choices.includes(value) ? choices : [...choices, value];
    fill(control, h("option", { value: "" }, `${standard} (default)`), words.map((word) => h("option", { value: word }, word)));
    control.value = value ?? "";
  } else if (!(control instanceof HTMLInputElement)) {
    const words = (value ?? standard).split(",").map((word) => word.trim());
    for (const box of control.querySelectorAll("input")) box.checked = words.includes(box.value);
    fill(/** @type {Element} */ (control.firstElementChild), words.join(", "));
  } else if (control.type === "checkbox") {
    control.checked = /^[ty1]/i.test(value ?? standard); // true, yes and 1 on the command line
  } else {
    control.placeholder = standard || "none";
    if (document.activeElement !== control) control.value = value ?? ""; // else the reader is typing
  }
}
