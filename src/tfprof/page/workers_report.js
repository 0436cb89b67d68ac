// What `tfprof workers` finds, as cards.

/** @param {import("./app.js").Page} page @param {import("./fleet.js").Fleet} fleet @returns {HTMLElement[]} */
export function workersReport(page, fleet) {
  void page, fleet;
  return [];
}
