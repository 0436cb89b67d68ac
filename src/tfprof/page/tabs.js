// The tabs, in order.
import { icicleTab } from "./icicle_tab.js";
import { overviewTab } from "./overview_tab.js";
import { rooflineTab } from "./roofline_tab.js";
import { tableTab } from "./table_tab.js";
import { timelineTab } from "./timeline_tab.js";
import { treemapTab } from "./treemap_tab.js";
import { typesTab } from "./types_tab.js";

/**
 * @typedef {object} Tab
 * @property {string} id
 * @property {string} title
 * @property {(page: import("./app.js").Page) => string} missing "" or a sentence that names the file to add
 * @property {(page: import("./app.js").Page) => string[]} [filters] options that what it draws depends on, and that it has no fields for
 * @property {(root: HTMLElement, page: import("./app.js").Page) => void} draw after each change of state or size; root keeps its children between calls
 */

/** @type {Tab[]} */
export const TABS = [overviewTab, icicleTab, tableTab, treemapTab, typesTab, timelineTab, rooflineTab];
