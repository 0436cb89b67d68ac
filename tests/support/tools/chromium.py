"""The browser that tests drive: Debian's Chromium."""

from __future__ import annotations

import shutil
from typing import Final

from tools.debian import found_or_installed

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""What keeps it from looking for a screen or for the rest of the internet."""


def chromium() -> str:
    """The path of a Chromium; raises RuntimeError where there is none and none can be had."""
    return found_or_installed(_found, "Chromium", "chromium")


def _found() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)
