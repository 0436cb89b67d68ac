// The tree table of a view, its filters, and the command line that prints the same rows.
import { answer } from "./answer.js";
import { commandLine } from "./command_line.js";
import { copyButton, emptyState, fill, h } from "./dom.js";
import { withoutFilters } from "./filter_line.js";
import { Filters } from "./filters.js";
import { pictureTab } from "./picture_controls.js";
import { Query, UsageError } from "./query.js";
import { literal } from "./regex.js";
import { shown } from "./strings.js";
import { tableColumns } from "./table_columns.js";
import { TreeGrid } from "./treegrid.js";
import { plural } from "./units.js";

/** @typedef {import("./answer.js").Answer} Answer */

class TableTab {
  /** @param {import("./app.js").Page} page */
  constructor(page) {
    this.page = page;
    /** @type {Answer | null} the last that could be given */ this.answer = null;
    /** @type {number | null} the node that was brought into sight */ this.revealed = null;
    this.filters = new Filters(page);
    this.grid = new TreeGrid({ details: (i) => this.openRow(i), order: (by) => page.go({ order_by: by }) });
    this.views = page.profile.meta.views.map((/** @type {any} */ { name, summary }) => h("button", { type: "button", class: "button", title: summary, onclick: () => page.go({ view: name }) }, name));
    this.count = h("span", { class: "muted", role: "status" });
    this.openAll = [
      h("button", { type: "button", class: "button", title: "Open all rows", onclick: () => this.grid.openAll(true) }, "Expand"),
      h("button", { type: "button", class: "button", title: "Close all rows", onclick: () => this.grid.openAll(false) }, "Collapse"),
    ];
    this.command = h("code", { class: "command", tabindex: "0", "aria-label": "The same on the command line" });
    this.below = h("ul", { class: "table-notes", "aria-label": "Notes" });
    this.instead = h("div", null); // of rows, why there are none
    const copy = copyButton("Copy", () => commandLine(page.profile.meta, page.view, page.state));
    this.toolbar = h("div", { class: "toolbar" }, h("div", { class: "segments", role: "group", "aria-label": "View" }, this.views), this.openAll, this.count);
    this.parts = [this.toolbar, this.filters.element, this.instead, this.grid.element, this.below, h("div", { class: "command-line" }, this.command, copy)];
  }

  draw() {
    const { page } = this;
    const view = page.profile.view(page.view);
    for (const button of this.views) button.setAttribute("aria-pressed", String(button.textContent === view.name));
    fill(this.command, shown(commandLine(page.profile.meta, view.name, page.state)));
    let [problem, answer] = [view.missing, /** @type {Answer | null} */ (null)];
    try {
      if (!view.missing) answer = page.answer();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problem = shown(error.message);
    }
    this.filters.show(view, problem && !view.missing ? this.wrongOption(view.name) : "", problem);
    // The last answer stays where a filter is wrong; that of another view does not.
    this.grid.element.hidden = problem !== "" && this.answer?.view.name !== view.name;
    fill(this.instead, emptyState(problem));
    this.instead.hidden = !this.grid.element.hidden;
    this.count.hidden = this.below.hidden = this.grid.element.hidden;
    if (answer !== null) this.take(answer); // now that the rows have their place on the screen
    this.reveal();
  }

  /** Brings the selected node into sight, once. */
  reveal() {
    const { node } = this.page;
    const i = node === null || node === this.revealed ? -1 : (this.answer?.node.indexOf(node) ?? -1);
    if (i >= 0) this.grid.reveal(i);
    this.revealed = node;
  }

  /** Shows the details of a node; of an operation type, where its nodes are. @param {number} i */
  openRow(i) {
    const answer = /** @type {Answer} */ (this.answer);
    if (answer.node[i] >= 0) this.page.selectNode(answer.node[i]);
    else this.page.go({ ...withoutFilters(this.page, "step"), view: "scope", account_type_regexes: literal(answer.label(i)) });
  }

  /** Shows an answer. @param {Answer} next */
  take(next) {
    if (this.answer === next) return this.grid.refresh();
    if (this.answer?.view.name !== next.view.name) this.grid.forget();
    this.answer = next;
    const { columns, leftOut } = tableColumns(next);
    const flat = next.view.chain;
    const { parent } = next.tree;
    this.grid.show({
      tree: flat ? flatTree(next.tree.length) : next.tree,
      row: next.row,
      label: (i) => shown(next.label(i)),
      shortLabel: (i) => shown(next.view.keeps_scopes && i > 0 ? below(next.label(parent[i]), next.label(i)) : next.label(i)),
      hasDetails: (i) => next.node[i] >= 0 || (next.view.chain && i > 0),
      isChosen: (i) => next.node[i] >= 0 && next.node[i] === this.page.node,
      columns,
      order: next.query.orderBy ?? "",
      title: `${next.view.name} view`,
    });
    for (const button of this.openAll) button.disabled = flat;
    fill(this.count, plural(next.tree.length, "row"));
    const lines = [...next.notes, hiddenSentence(next.hidden), leftOut].filter(Boolean);
    fill(this.below, lines.map((line) => h("li", null, this.withLinks(shown(line)))));
  }

  /** A note; "--max_depth=57 shows them" and "try '.*conv.*'" do so at a click. @param {string} line */
  withLinks(line) {
    const [, pattern = ""] = /^no \w+ matches '(.*?)' \(/.exec(line) ?? [];
    return line.split(/(--\w+=\w+|(?<=: try )'.*'$)/).map((part, at) => {
      if (at % 2 === 0) return part;
      const [name, value] = part.startsWith("--") ? part.slice(2).split("=") : this.corrected(pattern, part.slice(1, -1));
      return name in this.page.state || name === "max_depth" ? h("a", { href: this.page.href({ [name]: value }) }, part) : part;
    });
  }

  /** The option that has a regex, and its value with another in its place. @param {string} pattern @param {string} better */
  corrected(pattern, better) {
    const { profile, state } = this.page;
    const option = profile.meta.options.find((/** @type {any} */ { name }) => state[name]?.split(",").includes(pattern));
    return [option?.name ?? "", state[option?.name]?.split(",").map((item) => (item === pattern ? better : item)).join(",")];
  }

  /** The option that cannot be answered by itself. @param {string} view */
  wrongOption(view) {
    const { profile, state } = this.page;
    const isWrong = (/** @type {string} */ name) => {
      try {
        return name in state && !answer(profile, view, Query.of({ [name]: state[name] }, view, profile));
      } catch {
        return true;
      }
    };
    return profile.meta.options.find((/** @type {any} */ { name }) => isWrong(name))?.name ?? "";
  }
}

/** @type {import("./tabs.js").Tab} */
export const tableTab = pictureTab({ id: "table", title: "Table", missing: () => "", make: (page) => new TableTab(page) });

/** @param {string} above @param {string} name what it repeats of the name above is left out */
function below(above, name) {
  return name.startsWith(`${above}/`) ? name.slice(above.length + 1) : name;
}

/** Rows that do not nest. @param {number} length @returns {import("./open_rows.js").Rows} */
function flatTree(length) {
  return { length, depth: new Int32Array(length).fill(1), end: Int32Array.from({ length }, (_, i) => i + 1), parent: new Int32Array(length).fill(-1) };
}

/** @param {{rows: number, reasons: Object<string, number>}} hidden */
function hiddenSentence({ rows, reasons }) {
  if (rows === 0) return "";
  const why = Object.entries(reasons).map(([option, count]) => `${option} hides ${count}`);
  return `${plural(rows, "row is", "rows are")} not shown (${why.join(", ")}).`;
}
