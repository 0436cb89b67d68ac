/**
 * Dark or light: as the system says, until the reader chooses.
 * @module
 */
import { h } from "./dom.js";

const KEPT_AS = "tfprof theme";

/**
 * The switch between dark and light.
 * @param {() => void} changed called after a change, to repaint canvases
 * @returns {HTMLButtonElement}
 */
export function themeButton(changed) {
  const button = h("button", { type: "button", class: "button plain", id: "theme" });
  const show = () => {
    const other = isDark() ? "light" : "dark";
    button.textContent = isDark() ? "☀" : "☾";
    button.title = `Switch to ${other}`;
    button.setAttribute("aria-label", `Switch to ${other}`);
  };
  apply(kept());
  show();
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    apply(next);
    keep(next);
    show();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  return button;
}

/** @returns {boolean} */
function isDark() {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @param {string | null} theme */
function apply(theme) {
  if (theme === "dark" || theme === "light") document.documentElement.dataset["theme"] = theme;
}

/** @returns {string | null} */
function kept() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null; // a page in a frame may have no storage
  }
}

/** @param {string} theme */
function keep(theme) {
  try {
    localStorage.setItem(KEPT_AS, theme);
  } catch {
    // The choice holds until the page is closed.
  }
}
