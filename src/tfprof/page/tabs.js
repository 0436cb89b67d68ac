/**
 * The tabs, in order.
 * @module
 */
import { overviewTab } from "./overview_tab.js";
import { tableTab } from "./table_tab.js";
import { timelineTab } from "./timeline_tab.js";

/**
 * @typedef {object} Tab
 * @property {string} id
 * @property {string} title
 * @property {(page: import("./app.js").Page) => string} missing "" or a sentence that names the file to add
 * @property {(root: HTMLElement, page: import("./app.js").Page) => void} draw after each change of state or size; root keeps its children between calls
 */

/** @type {Tab[]} */
export const TABS = [
  overviewTab,
  stub("icicle", "Icicle"),
  tableTab,
  stub("treemap", "Treemap"),
  stub("types", "Types"),
  timelineTab,
  stub("roofline", "Roofline"),
];

/** @param {string} id @param {string} title @returns {Tab} */
function stub(id, title) {
  return { id, title, missing: () => "This picture is not here yet.", draw: () => {} };
}
