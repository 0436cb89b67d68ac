"""The trail of a picture on the page, and keys pressed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def panel(page: Page) -> Locator:
    """The panel of the chosen tab."""
    return page.locator("[role=tabpanel]:not([hidden])")


def spoken(page: Page) -> str:
    """What the picture says of the shape in focus."""
    return panel(page).locator("[aria-live]").inner_text()


def crumbs(page: Page) -> list[str]:
    """The way to the zoomed row."""
    return panel(page).locator(".crumb").all_inner_texts()


def press(page: Page, *keys: str) -> str:
    """What the picture says after these keys."""
    canvas = panel(page).locator("canvas")
    canvas.focus()
    for key in keys:
        page.keyboard.press(key)
    return spoken(page)
