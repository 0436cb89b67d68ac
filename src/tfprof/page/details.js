/**
 * The panel about the selected node.
 * @module
 */
import { fill, h } from "./dom.js";
import { shown } from "./strings.js";

/**
 * Draws the details of the page's selected node.
 * @param {HTMLElement} root
 * @param {import("./app.js").Page} page
 */
export function drawDetails(root, page) {
  const node = page.node;
  if (node === null) return;
  fill(root, h("h2", null, shown(page.profile.nodes.name.text(node))));
}
