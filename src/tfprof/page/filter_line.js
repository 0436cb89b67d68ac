// The line that names the filters of a picture: they last from tab to tab, and only the table has fields for them.
import { defaultText } from "./command_line.js";
import { fill, h } from "./dom.js";
import { shown } from "./strings.js";

/** @typedef {import("./app.js").Page} Page */

const OF_TABLES = ["select", "order_by", "max_depth"]; // pictures choose for themselves

/** Changes of the state that take out every filter but those *kept*. @param {Page} page @param {string} [kept] @returns {Object<string, string>} */
export function withoutFilters(page, kept) {
  const names = page.profile.meta.options.map((/** @type {any} */ { name }) => name);
  return Object.fromEntries(names.filter((/** @type {string} */ name) => name !== kept && !OF_TABLES.includes(name)).map((/** @type {string} */ name) => [name, ""]));
}

export class FilterLine {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.text = h("span");
    const clear = () => (page.go(withoutFilters(page)), page.panel.focus()); // the button is gone
    this.element = h("div", { id: "filtered", role: "status", hidden: true }, this.text, h("button", { type: "button", class: "button", onclick: clear }, "Clear filters"));
  }

  /** Names those of *options* that are set. @param {string[]} options that what is drawn depends on */
  show(options) {
    const { state, view, profile: { meta } } = this.page;
    const isSet = (/** @type {any} */ option) => state[option.name] && options.includes(option.name) && !OF_TABLES.includes(option.name) && state[option.name] !== defaultText(meta, view, option);
    const set = meta.options.filter(isSet).map((/** @type {any} */ { name }) => `${name} ${shown(state[name])}`);
    const text = `Filtered: ${set.join(" · ")}`;
    this.element.hidden = set.length === 0;
    if (text !== this.text.title) fill(this.text, (this.text.title = text)); // a change is read out
  }
}
