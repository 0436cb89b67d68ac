// The tabs, in order.
import { changesTab } from "./changes_tab.js";
import { distributionTab } from "./distribution_tab.js";
import { icicleTab } from "./icicle_tab.js";
import { overviewTab } from "./overview_tab.js";
import { rooflineTab } from "./roofline_tab.js";
import { tableTab } from "./table_tab.js";
import { timelineTab } from "./timeline_tab.js";
import { treemapTab } from "./treemap_tab.js";
import { typesTab } from "./types_tab.js";
import { workersTab } from "./workers_tab.js";

/**
 * @typedef {object} Tab
 * @property {string} id
 * @property {string} title
 * @property {(page: import("./app.js").Page) => string} missing "" or a sentence that names the file to add
 * @property {(page: import("./app.js").Page) => string[]} [filters] options that what it draws depends on, and that it has no fields for
 * @property {(root: HTMLElement, page: import("./app.js").Page) => void} draw after each change of state or size; root keeps its children between calls
 */

/** Those of a profile: what changed comes first, and a fleet has two more. @param {import("./profile.js").Profile} profile @returns {Tab[]} */
export function tabsOf(profile) {
  const fleet = profile.fleet ? [workersTab, distributionTab] : [];
  const changes = profile.changes ? [changesTab] : [];
  return [...changes, overviewTab, ...fleet, icicleTab, tableTab, treemapTab, typesTab, timelineTab, rooflineTab];
}
