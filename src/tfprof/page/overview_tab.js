/**
 * The first tab: totals, what they leave out, and where to look next.
 * @module
 */
import { fill, h } from "./dom.js";

/** @type {import("./tabs.js").Tab} */
export const overviewTab = {
  id: "overview",
  title: "Overview",
  missing: () => "",
  draw(root, page) {
    fill(root, h("p", null, `${page.profile.meta.overview.nodes} nodes`));
  },
};
