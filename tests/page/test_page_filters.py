"""Filters and views that last from tab to tab: what they change says so, and can be taken back."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Final

import pytest

import draw
import tfprof
from command import Command
from page_browser import PHONE
from page_table import fragment, read_table

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.results.loaded import Loaded

DRAWN: Final = """
    a/x   op=Conv2D us=40+80
    a/y   op=MatMul us=20+10
    b/z   op=Relu us=30+30
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return draw.loaded(DRAWN, tmp_path_factory.mktemp("drawn"))


def to(page: Page, tab: str) -> None:
    page.locator(f"#tab-{tab}").click()


def line(page: Page) -> str:
    """What the line about filters says; "" where there is none."""
    said = page.locator("#filtered")
    return said.locator("span").inner_text() if said.is_visible() else ""


def types(page: Page) -> list[str]:
    return page.locator("#panel-types tbody th").all_inner_texts()


# --- the line about filters -----------------------------------------------------------------------


def test_filters_are_named_where_they_act(open_page: Pages, drawn: Loaded) -> None:
    options = "step=1&account_type_regexes=Conv2D|Relu&max_depth=3&order_by=name&min_micros=0"
    page = open_page(drawn, f"tab=icicle&{options}")
    both = "Filtered: step 1 · account_type_regexes Conv2D|Relu"
    for tab, said in {
        "overview": "", "icicle": both, "table": "", "treemap": "", "types": both,
        "timeline": "Filtered: step 1", "roofline": "",
    }.items():  # fmt: skip
        to(page, tab)
        assert line(page) == said, tab


def test_a_treemap_of_scopes_has_all_of_them(open_page: Pages, tmp_path: Path) -> None:
    path = tmp_path / "graph"
    path.write_bytes(draw.inputs("a/v op=VariableV2 params=6\nb/w op=VariableV2 params=4").graph)
    page = open_page(tfprof.load(path), "tab=treemap&parameters=scopes&account_type_regexes=No")
    page.locator("#panel-treemap canvas").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "40.0%" in page.locator("#panel-treemap").inner_text()


def test_filters_are_cleared_by_keyboard(open_page: Pages, drawn: Loaded) -> None:
    filters = "account_type_regexes=Conv2D&step=1"
    page = open_page(drawn, f"tab=types&{filters}&select=params&metric=micros")
    assert types(page) == ["Conv2D"]
    clear = page.get_by_role("status").get_by_role("button", name="Clear filters")
    clear.focus()
    page.keyboard.press("Enter")
    assert line(page) == ""
    assert types(page) == ["Conv2D", "Relu", "MatMul"]
    assert page.evaluate("location.hash") == "#tab=types&select=params&metric=micros"
    assert page.evaluate("document.activeElement.id") == "panel-types"
    page.go_back()
    assert types(page) == ["Conv2D"]
    assert line(page) == "Filtered: step 1 · account_type_regexes Conv2D"


def test_a_wrong_filter_can_be_cleared(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn, "tab=icicle&step=7")
    assert "7" in page.locator(".problem").inner_text()
    page.get_by_role("button", name="Clear filters").click()
    assert not page.locator(".problem").is_visible()
    assert page.locator("#panel-icicle .crumb").all_inner_texts() == ["all"]


@pytest.mark.parametrize("size", [(1280, 720), PHONE])
def test_a_long_filter_is_one_line_and_moves_nothing(
    open_page: Pages, drawn: Loaded, size: tuple[int, int]
) -> None:
    page = open_page(drawn, f"tab=icicle&show_name_regexes=.*{'x|' * 300}.*", size=size)
    assert page.evaluate("window.shifts") == 0
    assert page.evaluate("document.body.scrollWidth") <= size[0]
    box = page.get_by_role("button", name="Clear filters").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= size[0]
    assert page.locator("#filtered").evaluate("(one) => one.offsetHeight") <= 48
    # The picture ends inside of the window.
    assert page.locator("#panel-icicle").evaluate("(one) => one.scrollHeight <= one.clientHeight")


# --- links ----------------------------------------------------------------------------------------


def test_two_clicks_do_not_add_up(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn, "tab=types&show_name_regexes=Relu|Conv2D&step=1&zoom=4")
    page.get_by_role("link", name="Relu", exact=True).click()
    assert page.evaluate("location.hash") == "#tab=icicle&step=1&account_type_regexes=Relu"
    page.evaluate("location.hash = '#tab=table&view=op&show_name_regexes=MatMul'")
    page.get_by_role("row", name="MatMul").get_by_text("MatMul").click()
    assert page.evaluate("location.hash") == "#tab=table&view=scope&account_type_regexes=MatMul"
    assert read_table(page).names == ["_TFProfRoot", "a", "a/y"]


def test_a_zoom_is_of_one_view(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn, "tab=icicle&zoom=4")
    assert page.locator("#panel-icicle .crumb").all_inner_texts() == ["all", "b"]
    to(page, "table")
    page.get_by_role("button", name="scope", exact=True).click()  # it is already
    assert "zoom=4" in page.evaluate("location.hash")
    page.get_by_role("button", name="graph", exact=True).click()
    assert page.evaluate("location.hash") == "#tab=table&view=graph"


# --- the command line of the demo -----------------------------------------------------------------


def test_the_command_line_of_the_demo_prints_the_rows(
    open_page: Pages, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`tfprof demo VIEW` has options of its own, which a page does not have."""
    run, path = Command(capfd), tmp_path / "page.html"
    assert run("demo", "page", "-o", str(path)) == 0
    page = open_page(path, "tab=table")
    for view, options in (
        ("scope", {}), ("graph", {}), ("op", {}), ("code", {}),
        ("op", {"select": "params,micros", "min_micros": "1000"}),
        ("scope", {"account_type_regexes": "Conv2D.*", "order_by": "name", "max_depth": "7"}),
    ):  # fmt: skip
        seen = read_table(page, fragment(view, options))
        words = shlex.split(seen.command)
        assert words[:3] == ["tfprof", "demo", view]
        assert run(*words[1:], "--format=json") == 0
        rows = json.loads(run.out)["rows"]
        assert len(rows) == seen.count > 1, seen.command
        assert [row["name"] for row in rows[: len(seen.rows)]] == seen.names, seen.command
        at = seen.columns.index("total_micros" if view != "op" else "own_micros")
        exact = [f"{row[seen.columns[at]]:,} microseconds" for row in rows[: len(seen.rows)]]
        assert [row["cells"][at][1] for row in seen.rows] == exact


def test_of_other_files_it_has_no_more_than_it_needs(open_page: Pages, drawn: Loaded) -> None:
    seen = read_table(open_page(drawn, "tab=table&view=op"))
    assert "--" not in seen.command


# --- small screens --------------------------------------------------------------------------------


def test_names_of_types_have_room_on_a_phone(open_page: Pages) -> None:
    page = open_page(tfprof.load_sample(), "tab=types", size=PHONE)
    name = page.get_by_role("link", name="Conv2DBackpropFilter", exact=True)
    lines = "(one) => one.getClientRects().length"
    assert name.evaluate(lines) <= 2
    assert page.evaluate("document.body.scrollWidth") <= PHONE[0]
