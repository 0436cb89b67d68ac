"""The browser's side of the rows on pages: Debian's Chromium, measured by its own clock.

Each function returns seconds: from the start of loading to the first picture, or from a change to
the end of the frame that shows it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from worker import serve

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

_SIZE = {"width": 1280, "height": 720}
_LONGEST = 300_000  # milliseconds
_FIRST = """() => new Promise((resolve, reject) => {
  const look = () => {
    const [mark] = performance.getEntriesByName("first picture");
    const problem = document.querySelector(".reading[role=alert]");
    if (problem) reject(new Error(problem.textContent));
    else if (mark) resolve(mark.startTime);
    else setTimeout(look, 5);
  };
  look();
})"""
# The page listens to the fragment, too, and longer than this does: it has drawn when this is told.
_SHOW = """(fragment) => new Promise((resolve) => {
  const [start, before] = [performance.now(), location.href];
  addEventListener("hashchange", () => requestAnimationFrame(() => setTimeout(
    () => resolve(performance.now() - start))), { once: true });
  location.hash = fragment;
  if (location.href === before) resolve(0);
})"""
_WATCH_CLICK = """() => {
  window.clicked = new Promise((resolve) => addEventListener("click", () => {
    const start = performance.now();
    setTimeout(() => requestAnimationFrame(() => setTimeout(
      () => resolve(performance.now() - start))));
  }, { once: true, capture: true }));
}"""
_PROBLEM = """() => {
  const shown = [...document.querySelectorAll("[role=alert]")].find((one) => !one.hidden);
  return shown ? shown.textContent : "";
}"""

_open: dict[str, Any] = {}


def open_page(address: str) -> float:
    """Open a page in a fresh profile of the browser."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - no part of what is measured

    from tools.chromium import FLAGS, chromium  # noqa: PLC0415

    if "browser" not in _open:
        _open["playwright"] = sync_playwright().start()
        browsers = _open["playwright"].chromium
        _open["browser"] = browsers.launch(executable_path=chromium(), args=list(FLAGS))
    if "page" in _open:
        _open["page"].context.close()
    page = _open["page"] = _open["browser"].new_context(viewport=_SIZE).new_page()
    page.set_default_timeout(_LONGEST)
    page.goto(address, timeout=_LONGEST)
    return float(page.evaluate(_FIRST)) / 1000


def show(fragment: str) -> float:
    """Another state of the page, as when a filter is typed."""
    return _checked(_open["page"].evaluate(_SHOW, fragment))


def click(across: float, down: float) -> float:
    """A click on the picture, at these shares of its size."""
    page = _open["page"]
    page.evaluate(_WATCH_CLICK)
    box = page.locator("canvas:visible").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])
    return _checked(page.evaluate("window.clicked"))


def _checked(milliseconds: float) -> float:
    if problem := _open["page"].evaluate(_PROBLEM):
        raise RuntimeError(problem)
    return float(milliseconds) / 1000


def close() -> float:
    """End the browser."""
    if "browser" in _open:
        _open["browser"].close()
        _open["playwright"].stop()
        _open.clear()
    return 0.0


if __name__ == "__main__":
    serve({"open_page": open_page, "show": show, "click": click, "close": close})
