"""Parts of the page around its pictures."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import tfprof
from tools import node as tools

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tfprof.results.loaded import Loaded

MARKUP: Final = "</script><img src=x onerror=\"document.title='owned'\">"


@cache
def sample() -> Loaded:
    return tfprof.load_sample()


def chosen(page: Page) -> str:
    """The tab that is selected, whose panel alone is shown."""
    (tab,) = page.evaluate(
        "[...document.querySelectorAll('[role=tab][aria-selected=true]')].map(e => e.id)"
    )
    panels = page.evaluate(
        "[...document.querySelectorAll('[role=tabpanel]')].filter(e => !e.hidden).map(e => e.id)"
    )
    assert panels == [tab.replace("tab-", "panel-")]
    return str(tab.removeprefix("tab-"))


def fragment(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def card(page: Page, title: str) -> str:
    return page.locator(".total", has=page.get_by_role("heading", name=title)).inner_text()


def table(page: Page, where: str) -> list[list[str]]:
    rows: list[list[str]] = page.evaluate(
        """(where) => [...document.querySelectorAll(`${where} tr`)].map(
            (row) => [...row.children].map((cell) => cell.textContent))""",
        where,
    )
    return rows


def serious(page: Page) -> list[str]:
    """What axe calls serious or critical."""
    page.evaluate((tools.package("axe-core") / "axe.min.js").read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run()")
    assert len(found["passes"]) > 10
    return [
        f"{rule['id']}: {rule['help']}: {[item['html'] for item in rule['nodes']][:3]}"
        for rule in found["violations"]
        if rule["impact"] in {"serious", "critical"}
    ]
