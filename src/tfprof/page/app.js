// The page: reads the profile, draws the tab that the address names, and answers keys.
//
//   address ──parse──► state ──► tab.draw(root, page) ──► elements
//      ▲                                                    │
//      └───────────────── page.go(changes) ◄── clicks, keys ┘
import { answer } from "./answer.js";
import { Cache } from "./cache.js";
import { drawDetails } from "./details.js";
import { emptyState, fill, h } from "./dom.js";
import { FilterLine } from "./filter_line.js";
import { Profile } from "./profile.js";
import { Query, UsageError } from "./query.js";
import { keysDialog, listenToKeys } from "./shortcuts.js";
import { fragmentOf, merged, parseFragment } from "./state.js";
import { shown } from "./strings.js";
import { tabsOf } from "./tabs.js";
import { themeButton } from "./theme.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./tabs.js").Tab} Tab */
/** @typedef {Object<string, string | number | null | undefined>} Changes of the state */

const ANSWERS_KEPT = 8;
const LONGEST_KEY = 1000; // of a node's name in the address; a longer one goes by its number

/** What every tab draws from: the profile, the state, and how to change it. */
export class Page {
  /** @param {import("./profile.js").Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.tabs = tabsOf(profile);
    /** @type {State} */ this.state = parseFragment(location.hash);
    this.answers = new Cache(ANSWERS_KEPT);
    this.details = h("aside", { id: "details", "aria-label": "Details of a node", hidden: true, tabindex: "0" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    /** @type {Map<string, HTMLElement>} */ this.panels = new Map(this.tabs.map(({ id }) =>
      [id, h("section", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, class: "panel", tabindex: "0", hidden: true })]));
    this.filtered = new FilterLine(this);
    this.dialog = keysDialog(this.tabs);
    this.size = "";
    /** @type {{key: string, node: number | null}} */ this.found = { key: "", node: null };
  }

  /** The tab that the state names. @returns {Tab} */
  get tab() {
    return this.tabs.find((tab) => tab.id === this.state.tab) ?? /** @type {Tab} */ (this.tabs[0]);
  }

  /** The view that tables and pictures show. @returns {string} */
  get view() {
    const { profile: { meta: { views } }, state: { view } } = this;
    return (this.profile.view(view) ?? views.find((/** @type {any} */ { missing }) => !missing) ?? views[0]).name;
  }

  /** The panel of the tab that is drawn. @returns {HTMLElement} */
  get panel() {
    return /** @type {HTMLElement} */ (this.panels.get(this.tab.id));
  }

  /** The selected node, or null. @returns {number | null} */
  get node() {
    const key = this.state.node ?? "";
    if (key === this.found.key) return this.found.node;
    const names = this.profile.nodes.name;
    const node = key.startsWith("#") ? Number(key.slice(1)) : names.indexOf(key);
    this.found = { key, node: Number.isInteger(node) && node >= 0 && node < names.length ? node : null };
    return this.found.node;
  }

  /** How the state names a node: by name, or by number where an address cannot hold its name. @param {number | null} node */
  nodeKey(node) {
    if (node === null) return "";
    const name = this.profile.nodes.name.text(node);
    const fits = name !== "" && name.length <= LONGEST_KEY && !/^#|\p{Surrogate}/u.test(name);
    return fits ? name : `#${node}`;
  }

  /** The state with some of it changed; a zoom is of one view. @param {Changes} changes */
  changed(changes) {
    const isOther = changes.view && changes.view !== this.view;
    return merged(this.state, isOther ? { zoom: "", ...changes } : changes);
  }

  /** The address of the state with some of it changed, for links. @param {Changes} changes */
  href(changes) {
    return fragmentOf(this.changed(changes));
  }

  /** Changes the state, the address with it, and redraws. @param {Changes} changes null or "" takes a key out
   * @param {{replace?: boolean}} [how] replace: the back button skips the state before */
  go(changes, how) {
    this.show(this.changed(changes), how);
  }

  /** Shows another state. @param {State} state @param {{replace?: boolean}} [how] */
  show(state, { replace = false } = {}) {
    const before = fragmentOf(this.state);
    this.state = state;
    const fragment = fragmentOf(state);
    if (fragment !== before) remember(fragment, replace);
    this.redraw();
  }

  /** Shows a node's details, or none. @param {number | null} node */
  selectNode(node) {
    this.go({ node: this.nodeKey(node) });
  }

  /** The answer of a view to the state's options; throws UsageError. @param {string} [view]
   * @param {Object<string, string>} [instead] options that a picture needs, whatever the state says @param {State} [state]
   * @returns {import("./answer.js").Answer} */
  answer(view = this.view, instead = {}, state = this.state) {
    /** @type {Object<string, string>} */ const options = {};
    for (const { name } of this.profile.meta.options) {
      const value = instead[name] ?? state[name];
      if (value !== undefined) options[name] = value;
    }
    const key = JSON.stringify([view, options]);
    return this.answers.cached(key, () => answer(this.profile, view, Query.of(options, view, this.profile)));
  }

  /** Draws the tab of the state and the details of the selected node. */
  redraw() {
    const started = performance.now();
    const { tab, panel } = this;
    for (const [id, other] of this.panels) other.hidden = id !== tab.id;
    for (const button of document.querySelectorAll("#tabs [role=tab]")) {
      const chosen = button.id === `tab-${tab.id}`;
      button.setAttribute("aria-selected", String(chosen));
      button.setAttribute("tabindex", chosen ? "0" : "-1");
      if (chosen) button.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.problem.hidden = true;
    if (this.node === null && this.details.contains(document.activeElement)) panel.focus();
    this.details.hidden = this.node === null;
    this.attempt(() => drawDetails(this.details, this));
    this.attempt(() => {
      const missing = tab.missing(this);
      this.filtered.show(missing ? [] : tab.filters?.(this) ?? []);
      if (missing) fill(panel, emptyState(missing));
      else tab.draw(panel, this);
    });
    this.size = sizeOf(panel);
    performance.measure(`redraw ${tab.id}`, { start: started, end: performance.now() });
  }

  /** Says in one sentence why a drawing failed, instead of leaving the page blank. @param {() => void} draw */
  attempt(draw) {
    try {
      draw();
    } catch (error) {
      const isUsage = error instanceof UsageError;
      this.problem.hidden = false;
      this.problem.textContent = shown(isUsage ? error.message : `This could not be drawn: ${reason(error)}`);
      if (!isUsage) console.error(error);
    }
  }
}

/** @param {unknown} error */
function reason(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {HTMLElement} panel */
function sizeOf(panel) {
  return `${panel.id} ${panel.clientWidth} ${panel.clientHeight} ${devicePixelRatio}`;
}

/** @param {string} fragment @param {boolean} replace */
function remember(fragment, replace) {
  try {
    if (replace) history.replaceState(null, "", fragment);
    else history.pushState(null, "", fragment);
  } catch {
    // A page inside a notebook has no address of its own; its state is lost with it.
  }
}

/** @param {Page} page */
function header(page) {
  const { meta } = page.profile;
  const files = meta.files.map((/** @type {any} */ file) => shown(String(file))).join("\n");
  return [
    h("span", { class: "brand" }, "tfprof"),
    h("h1", { title: files }, shown(meta.title)),
    h("span", { class: "lead-short muted" }, shown(meta.overview.what ?? "")),
    h("button", { type: "button", class: "button plain", "aria-label": "Keys", title: "Keys (?)", onclick: () => page.dialog.showModal() }, "?"),
    themeButton(() => page.size && page.redraw()),
  ];
}

/** The tab bar: arrow keys move, as in the WAI-ARIA pattern of tabs. @param {Page} page */
function tabBar(page) {
  const { tabs } = page;
  const bar = h("div", { role: "tablist", "aria-label": "Pictures and tables" });
  for (const tab of tabs) {
    const attributes = { role: "tab", id: `tab-${tab.id}`, "aria-controls": `panel-${tab.id}`, type: "button" };
    const dim = tab.missing(page) ? "tab dim" : "tab";
    bar.append(h("button", { ...attributes, class: dim, "data-title": tab.title, onclick: () => page.go({ tab: tab.id }) }, tab.title));
  }
  bar.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(page.tab);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const next = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (next === undefined) return;
    event.preventDefault();
    page.go({ tab: tabs[(next + tabs.length) % tabs.length]?.id });
    document.getElementById(`tab-${page.tab.id}`)?.focus();
  });
  return bar;
}

/** Listens to the address, to links, and to the size of the window. @param {Page} page */
function listen(page) {
  const reread = () => {
    if (fragmentOf(parseFragment(location.hash)) === fragmentOf(page.state)) return;
    page.state = parseFragment(location.hash);
    page.redraw();
  };
  addEventListener("popstate", reread);
  addEventListener("hashchange", reread);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (link === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(); // a page inside a notebook would leave for the notebook's address
    page.show(parseFragment(link.getAttribute("href") ?? ""));
  });
  new ResizeObserver(() => {
    if (page.size !== "" && page.size !== sizeOf(page.panel)) page.redraw();
  }).observe(document.getElementById("main") ?? document.body);
}

/** @returns {Promise<Uint8Array>} the profile's columns, out of this file or from the server */
async function profileBytes() {
  const element = document.getElementById("profile");
  const source = element?.dataset["source"];
  if (source) {
    const response = await fetch(source);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }
  const text = atob(element?.textContent?.trim() ?? "");
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at); // ten times as fast as Uint8Array.from
  return bytes;
}

/** Reads the profile and draws the first picture. */
async function start() {
  const main = document.getElementById("main") ?? document.body;
  try {
    const page = new Page(await Profile.read(await profileBytes()));
    document.title = shown(page.profile.meta.title);
    fill(document.getElementById("top") ?? main, header(page));
    fill(document.getElementById("tabs") ?? main, tabBar(page));
    const { folded } = page.profile.meta;
    const says = folded && h("p", { id: "folded", class: "muted" }, `On this page ${folded.sentence}. Filters and searches see the folded nodes.`);
    fill(main, says, page.problem, h("div", { id: "panels" }, page.filtered.element, ...page.panels.values()), page.details);
    document.body.append(page.dialog);
    page.redraw();
    listen(page);
    listenToKeys(page, page.tabs);
    requestAnimationFrame(() => setTimeout(() => performance.mark("first picture")));
  } catch (error) {
    fill(main, h("p", { class: "reading", role: "alert" }, shown(`The profile in this page could not be read: ${reason(error)}`)));
    console.error(error);
  }
}

start();
