"""The pictures of the page in Chromium: icicle, treemap, operation types, roofline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

import draw
import tfprof
from page_browser import PHONE
from page_crumbs import crumbs, panel, press
from page_parts import fragment, sample, table
from tfprof.console.escape import visible_text
from tfprof.results.summary_numbers import MICROS, short

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.results.loaded import Loaded

DRAWN: Final = """
    a/x  op=Conv2D us=40 flops=4000 out=4x3
    a/y  op=MatMul us=20            < a/x
    b/z  op=Relu us=30 bytes=64     < a/y
    c    op=Relu us=10              < b/z
    b/w  op=VariableV2 params=2x3
    b/v  op=VariableV2 params=2
"""


@pytest.fixture(scope="module")
def drawn_profile(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """What is drawn above: a is 60 of 100 microseconds, b is 30."""
    return draw.loaded(DRAWN, tmp_path_factory.mktemp("pictures"))


def click(page: Page, x: float, y: float) -> None:
    """A click at a place of the picture, as shares of its sides."""
    box = panel(page).locator("canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_click_zooms_and_breadcrumbs_lead_back(open_page: Pages, drawn_profile: Loaded) -> None:
    """Three levels; at 80% of the width, the second is b. It is an address, so back works, too."""
    page = open_page(drawn_profile, "tab=icicle")
    assert crumbs(page) == ["all"]
    click(page, 0.8, 0.5)
    assert crumbs(page) == ["all", "b"]
    assert "zoom=" in fragment(page)
    assert panel(page).locator(".legend").inner_text() == "activation 100.0%"
    page.go_back()
    assert crumbs(page) == ["all"]
    click(page, 0.3, 0.5)
    assert crumbs(page) == ["all", "a"]
    click(page, 0.9, 0.75)  # y, which has nothing below it
    assert crumbs(page) == ["all", "a"]
    assert "a/y" in page.locator("#details").inner_text()
    panel(page).locator(".crumb", has_text="all").click()
    assert crumbs(page) == ["all"]


def test_an_icicle_by_keyboard(open_page: Pages, drawn_profile: Loaded) -> None:
    """Down to the largest child, along the level, up, in, out; each box is named with its share."""
    page = open_page(drawn_profile, "tab=icicle&view=scope&metric=micros")
    assert press(page, "Home").startswith("all, 100 us total execution time, 100.0% of all")
    micros = "total execution time"
    both = "convolution 66.7%, matrix product 33.3%"
    assert press(page, "ArrowDown") == f"a, 60 us {micros}, 60.0% of all, {both}"
    assert press(page, "ArrowDown").startswith("a/x, 40 us")
    assert press(page, "ArrowRight", "ArrowRight").startswith("b/z, 30 us")
    assert press(page, "ArrowRight").startswith("b/z, 30 us")  # the last of its level
    assert press(page, "ArrowUp", "Enter").startswith("b, 30 us")
    assert crumbs(page) == ["all", "b"]
    assert press(page, "ArrowDown").startswith(f"b/z, 30 us {micros}, 30.0% of all, 100.0%")
    press(page, "Backspace")
    assert crumbs(page) == ["all"]
    press(page, "ArrowDown", "Enter", "Escape")
    assert crumbs(page) == ["all"]
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"


def test_a_search_says_its_share(open_page: Pages, drawn_profile: Loaded) -> None:
    """By hand: x 40, z 30, a with all that is in it 60, b 30; of 100. No regex: RE2's sentence."""
    page = open_page(drawn_profile, "tab=icicle&metric=micros")
    search, output = panel(page).get_by_role("searchbox"), panel(page).locator("output")
    for pattern, found in (
        ("x|z", "2 matches, 70.0%"),
        ("^a", "3 matches, 60.0%"),
        ("(?i)B/", "3 matches, 30.0%"),
        ("nothing", "0 matches, 0.0%"),
    ):
        search.fill(pattern)
        output.filter(has_text=found).wait_for()
        assert search.get_attribute("aria-invalid") == "false"
    search.fill(")(")  # would end a group of ours
    output.filter(has_text="unexpected )").wait_for()
    assert search.get_attribute("aria-invalid") == "true"


def test_widths_and_colours_of_an_icicle(open_page: Pages, drawn_profile: Loaded) -> None:
    """The lists offer what the files have; the choice is in the address."""
    page = open_page(drawn_profile, "tab=icicle")
    width, colour = panel(page).locator("select").all()
    able = width.locator("option:not([disabled])").evaluate_all("all => all.map(one => one.value)")
    assert able == ["params", "float_ops", "bytes", "micros", "cpu_micros", "occurrence"]
    width.select_option("params")
    assert press(page, "Home").startswith("all, 8 parameters")
    width.select_option("micros")
    for mode, legend in (("device", "100.0%"), ("flops", "100 MFLOP/s"), ("accelerator", "CPUs")):
        colour.select_option(mode)
        assert legend in panel(page).locator(".legend").inner_text()
    assert "colour=accelerator" in fragment(page)
    panel(page).get_by_role("button", name="graph").click()
    assert press(page, "ArrowDown").startswith("c, 100 us")


def test_a_zoomed_row_without_a_number_gives_way(open_page: Pages, drawn_profile: Loaded) -> None:
    """Nothing in a has parameters; with a filter, nothing at all has."""
    page = open_page(drawn_profile, "tab=icicle&metric=micros")
    press(page, "Home", "ArrowDown", "Enter")
    assert crumbs(page) == ["all", "a"]
    panel(page).get_by_label("Width").select_option("params")
    assert crumbs(page) == ["all"]
    assert press(page, "ArrowDown").startswith("b, 8 parameters")
    page.evaluate("location.hash = 'tab=icicle&metric=params&account_type_regexes=Conv2D'")
    panel(page).locator(".legend", has_text="No row has parameters.").wait_for()


def test_totals_are_those_of_the_report(open_page: Pages) -> None:
    """Down the largest rows of the ResNet, to the leaf: names and numbers of --format=json."""
    page = open_page(sample(), "tab=icicle")
    for view in ("scope", "graph", "code"):
        rows = json.loads(b"".join(sample().ask(view, {"max_depth": 6}).pieces("json")))["rows"]
        panel(page).get_by_role("button", name=view).click()
        said, place = press(page, "Home"), 0
        for _ in range(5):
            row = rows[place]
            name = visible_text(row["name"]) if place else "all"
            assert said.startswith(f"{name}, {short(row['total_micros'], MICROS)} total")
            below = [r for r in rows if r["parent"] == place and r["total_micros"]]
            if not below:
                break
            place = max(below, key=lambda r: (r["total_micros"], -r["row"]))["row"]
            said = press(page, "ArrowDown")


def test_a_treemap_zooms_and_names_its_boxes(open_page: Pages, drawn_profile: Loaded) -> None:
    """Variables w and v of b: 6 of 8 parameters, and 2."""
    page = open_page(drawn_profile, "tab=treemap&parameters=scopes")
    assert press(page, "ArrowUp").startswith("b, 8 parameters, 100.0% of all")
    assert press(page, "Enter").startswith("b/w, 6 parameters, 75.0% of all")
    assert crumbs(page) == ["all", "b"]
    click(page, 0.9, 0.5)
    assert "b/v" in page.locator("#details").inner_text()
    press(page, "Backspace")
    assert crumbs(page) == ["all"]


def test_types_are_those_of_op_view(open_page: Pages) -> None:
    """Type, nodes and share as --format=json has them, the largest first; sortable by each."""
    report = sample().op(select=["micros", "occurrence"], order_by="micros", max_depth=10**6)
    reported = json.loads(b"".join(report.pieces("json")))["rows"]
    time = {row["name"]: row["own_micros"] for row in reported[1:]}
    page = open_page(sample(), "tab=types")
    _, *rows = table(page, "#panel-types")
    assert [cells[0] for cells in rows] == list(time)
    assert [cells[3] for cells in rows] == [short(micros, MICROS) for micros in time.values()]
    assert rows[0][4] == f"{100 * max(time.values()) / sum(time.values()):.1f}%"
    assert rows[-1][5] == "100.0%"
    assert sum(int(cells[2].replace(",", "")) for cells in rows) == len(sample().profile)
    panel(page).get_by_role("button", name="Type").click()
    names = panel(page).locator("tbody th").all_inner_texts()
    assert names == sorted(time)
    assert panel(page).locator("th[aria-sort=ascending]").inner_text() == "Type"
    panel(page).get_by_role("link", name="MatMul", exact=True).click()
    assert "account_type_regexes=MatMul" in fragment(page)
    assert panel(page).locator(".legend").inner_text().startswith("matrix product ")


def test_a_roofline(open_page: Pages) -> None:
    """The longest layer first; the roof is typed in, and is in the address."""
    layers = json.loads(b"".join(sample().summary().pieces("json")))["rows"]
    parents = {row["parent"] for row in layers}
    leaves = [row for row in layers if row["row"] not in parents and row["float_ops"]]
    longest = max(leaves, key=lambda row: row["micros"])
    page = open_page(sample(), "tab=roofline")
    said = press(page, "Shift")
    speed = longest["float_ops"] / longest["micros"] * 1e6
    moved = longest["parameter_bytes"] + longest["activation_bytes"]
    assert said.startswith(f"{longest['path']}, {speed / 1e9:.1f} GFLOP/s, ")
    assert f"{longest['float_ops'] / moved:.3g} FLOP per byte" in said
    assert "machine" not in said
    panel(page).get_by_label("Peak FLOP/s").fill("100G")
    panel(page).get_by_label("Peak bytes/s").fill("20 GB/s")
    said = press(page, "Shift")
    assert f"{speed / 1e11:.1%} of what the machine allows, limited by arithmetic" in said
    assert "peak_flops=100G" in fragment(page)
    panel(page).get_by_label("Peak FLOP/s").fill("fast")
    press(page, "Shift")
    assert panel(page).get_by_label("Peak FLOP/s").get_attribute("aria-invalid") == "true"
    said = "peak_flops takes a positive number, such as 312T, not fast"
    assert panel(page).get_by_role("alert").inner_text() == said
    page = open_page(sample(), "tab=roofline&peak_flops=1e400")
    assert panel(page).get_by_role("alert").inner_text().endswith("not 1e400")
    # The forward pass alone: what the summary counts, less what is too short; of a step of 3.80 s.
    assert "of the 3.80 s of a step" in panel(page).inner_text()


def test_what_a_picture_needs(open_page: Pages, tmp_path: Path) -> None:
    """A graph without a run or a variable says what to add."""
    (tmp_path / "graph").write_bytes(draw.inputs("a op=Relu").graph)
    loaded = tfprof.load(tmp_path / "graph")
    assert "add a run" in panel(open_page(loaded, "tab=roofline")).inner_text()
    assert "no parameters" in panel(open_page(loaded, "tab=treemap")).inner_text()


def test_pictures_fit_a_phone_in_the_dark(open_page: Pages) -> None:
    """Nothing is wider than the screen."""
    page = open_page(sample(), "tab=icicle", size=PHONE, dark=True)
    for tab in ("icicle", "treemap", "types", "roofline"):
        page.evaluate(f"location.hash = 'tab={tab}'")
        picture = panel(page).locator("canvas, table")
        assert picture.evaluate("e => e.getBoundingClientRect().right") <= PHONE[0]
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
