// Dark or light: as the system says, until the reader chooses.
import { h } from "./dom.js";

const KEPT_AS = "tfprof theme";

/** The switch between dark and light. @param {() => void} changed called after a change, to repaint canvases
 * @returns {HTMLButtonElement} */
export function themeButton(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const other = () => ((root.dataset["theme"] ?? (system.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
  const button = h("button", { type: "button", class: "button plain", id: "theme" });
  const show = () => {
    button.textContent = other() === "light" ? "☀" : "☾";
    button.title = `Switch to ${other()}`;
    button.setAttribute("aria-label", button.title);
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset["theme"] = other();
    stored((storage) => storage.setItem(KEPT_AS, root.dataset["theme"] ?? ""));
    show();
  });
  system.addEventListener("change", show);
  const chosen = stored((storage) => storage.getItem(KEPT_AS));
  if (chosen === "dark" || chosen === "light") root.dataset["theme"] = chosen;
  show();
  return button;
}

/** A page in a frame may have no storage: then a choice holds until the page is closed. @template T @param {(storage: Storage) => T} use @returns {T | null} */
function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
