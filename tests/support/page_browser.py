"""Pages opened in Chromium, without a network: whatever goes wrong in one fails its test.

    def test_something(open_page):
        page = open_page(tfprof.load_sample(), "tab=table", dark=True)
        page.get_by_role("tab", name="Icicle").click()

The fixtures `browser` and `open_page` are in conftest.py. Errors on the console, uncaught errors,
violations of the content security policy and requests that leave the page are collected, and the
fixture fails on them at the end of the test.
"""

from __future__ import annotations

import asyncio
from asyncio.events import _set_running_loop
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

from tools.chromium import FLAGS, chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page, Route

    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded

DESKTOP: Final = (1280, 720)
PHONE: Final = (375, 812)

_WATCH: Final = """
window.shifts = 0;
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
DRAWN: Final = """() => new Promise((resolve) => {
  const look = () => performance.getEntriesByName("first picture").length > 0
    || document.querySelector(".reading[role=alert]") ? resolve() : setTimeout(look, 5);
  look();
})"""


class Pages:
    """Opens pages in contexts of their own, and knows what went wrong in them."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.problems: list[str] = []
        self._contexts: list[BrowserContext] = []
        self._written: dict[int, tuple[Loaded | Fleet, Path]] = {}  # keeps what ids are of

    def __call__(
        self,
        shown: Loaded | Fleet | Path | str,
        fragment: str = "",
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
    ) -> Page:
        """The page of a profile, of a file, or at an address, once its first picture is drawn."""
        address = shown if isinstance(shown, str) else self.file(shown).as_uri()
        page = self.blank(address, size=size, dark=dark)
        page.goto(f"{address}#{fragment}")
        page.evaluate(DRAWN)
        return page

    def blank(self, allowed: str, *, size: tuple[int, int] = DESKTOP, dark: bool = False) -> Page:
        """A new page that may ask for *allowed*, what is below it, and nothing else."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
        )
        self._contexts.append(context)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))

        def stay(route: Route) -> None:
            if route.request.url.startswith((allowed, "data:")):
                route.continue_()
            else:
                self.problems.append(f"asked for {route.request.url}")
                route.abort()

        page.route("**/*", stay)
        return page

    def file(self, shown: Loaded | Fleet | Path) -> Path:
        """The page as a file; each profile is written once."""
        if isinstance(shown, Path):
            return shown
        if id(shown) not in self._written:
            path = self.folder / f"page_{len(self._written)}.html"
            path.write_bytes(b"".join(shown.page().pieces("page")))
            self._written[id(shown)] = (shown, path)
        return self._written[id(shown)][1]

    def close(self) -> list[str]:
        """Closes what is open; returns what went wrong."""
        for context in self._contexts:
            for page in context.pages:
                self.problems += page.evaluate("window.violations ?? []")
            context.close()
        self._contexts.clear()
        problems, self.problems = self.problems, []
        return problems

    def _said(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.problems.append(f"{kind} on the console: {text}")


class Chromium:
    """One browser for all tests of a process: Playwright runs only once in it.

    Between its calls, Playwright leaves its event loop behind as the running one, and asyncio.run()
    of a later test would refuse to start. So the loop is put away while no test uses the browser.
    """

    def __init__(self) -> None:
        self._playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        self.browser = self._playwright.chromium.launch(
            executable_path=chromium(), args=list(FLAGS)
        )
        _set_running_loop(None)

    @contextmanager
    def in_use(self) -> Iterator[Browser]:
        _set_running_loop(self._loop)
        yield self.browser
        _set_running_loop(None)

    def close(self) -> None:
        with self.in_use():
            self.browser.close()
            self._playwright.stop()
