"""Numbers of the page that do not count everything say so, and large ones keep all digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import draw
import tfprof
from hostile_parts import device, node, run, stat
from page_crumbs import press
from page_node import twin
from page_parts import table

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.results.loaded import Loaded

# By hand: 2 · 8 · 8 · 8 = 1,024 float operations of l/m, 64 of l/r; what l/u does is unknown.
# There are 6 + 2 parameters of k/v and k/z, and some of k/w.
BOUNDS: Final = """
    x     op=Placeholder out=8x8
    l/m   op=MatMul out=8x8 us=10             < x, x
    l/u   op=MyCustomOp out=8x8 us=20         < l/m
    l/r   op=Relu out=8x8 us=10+10            < l/u
    k/v   op=VariableV2 params=2x3
    k/w   op=VariableV2 params=?x3
    k/z   op=VariableV2 params=2
    s     op=Identity out=8x8 us=1            < x
"""
LARGE: Final = 2**53 + 1  # no double


@pytest.fixture(scope="module")
def bounds(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return draw.loaded(BOUNDS, tmp_path_factory.mktemp("bounds"))


# --- shares of a lower bound ----------------------------------------------------------------------


def test_an_overview_has_no_share_of_a_lower_bound(
    open_page: Pages, bounds: Loaded, tmp_path: Path
) -> None:
    """Without a run, types are ranked by float operations; with one, by time."""
    (tmp_path / "graph").write_bytes(draw.inputs(BOUNDS).graph)
    for profile, cells in (
        (tfprof.load(tmp_path / "graph"), ["MatMul", "", "", "1.02k"]),
        (bounds, ["MatMul", "", "24.4%", "10 us", "1.02k", "102M"]),
    ):
        page = open_page(profile)
        row = next(row for row in table(page, "#panel-overview") if row[0] == "MatMul")
        assert row == cells
    title = page.locator(".total", has_text="Float operations").locator(".value")
    assert title.get_attribute("title") == "≥ 1,088"


def test_types_have_no_share_of_a_lower_bound(open_page: Pages, bounds: Loaded) -> None:
    page = open_page(bounds, "tab=types&metric=float_ops")
    head, first, *others = table(page, "#panel-types")
    assert head == ["Type", "Kind", "Nodes", "float ops", "Bar"]
    assert first == ["MatMul", "matrix product", "1", "1.02k", ""]
    assert {row[0]: row[3] for row in others}["MyCustomOp"] == "?"
    page.evaluate("location.hash = 'tab=types&metric=micros'")
    page.get_by_text("Up to here").wait_for()


def test_an_icicle_has_no_share_of_a_lower_bound(open_page: Pages, bounds: Loaded) -> None:
    """All of l is ≥ 1,088, with 64 of l/r."""
    page = open_page(bounds, "tab=icicle&metric=float_ops&search=m")
    assert press(page, "Home") == "all, ≥ 1.09k float ops, matrix product, activation"
    assert press(page, "ArrowDown") == "l, ≥ 1.09k float ops, matrix product, activation"
    assert press(page, "ArrowDown") == "l/m, 1.02k float ops, matrix product 100.0%"
    panel = page.locator("#panel-icicle")
    assert panel.locator(".legend").inner_text().split("\n") == ["matrix product", "activation"]
    assert panel.locator("output").inner_text() == "1 match"


def test_an_icicle_marks_what_a_row_has_of_its_own(open_page: Pages, tmp_path: Path) -> None:
    """A variable of unknown shape that is a scope, too: its own number is unknown, or a bound."""
    drawing = "a op=VariableV2 params=?x3\na/b op=VariableV2 params=2\nc op=NoOp us=1"
    profile = draw.loaded(drawing, tmp_path)
    page = open_page(profile, "tab=icicle&metric=params")
    assert press(page, "Home", "ArrowDown").startswith("a, ≥ 2 parameters, ? of its own, ")


def test_colours_by_speed_know_what_is_unknown(open_page: Pages, bounds: Loaded) -> None:
    """1,088 float operations in 40 or so microseconds of l are a lower bound of its speed."""
    page = open_page(bounds, "tab=icicle&metric=micros&colour=flops")
    assert press(page, "Home", "ArrowDown").endswith("≥ 27.2 MFLOP/s")
    assert press(page, "ArrowDown") == (
        "l/u, 20 us total execution time, 48.8% of all, float operations unknown"
    )
    assert press(page, "ArrowRight").endswith("102 MFLOP/s")
    legend = page.locator("#panel-icicle .legend").inner_text()
    assert legend.endswith("no float operations, or unknown")
    assert press(page, "Home", "ArrowDown", "ArrowRight").endswith(", no float operations")


def test_a_roofline_of_lower_bounds(open_page: Pages, bounds: Loaded) -> None:
    """Layer l: 1,088 float operations at least, by three outputs of 256 bytes, in 40 us."""
    page = open_page(bounds, "tab=roofline&peak_flops=1G&peak_bandwidth=1G")
    said = press(page, "Shift")
    assert said.startswith("l, ≥ 27.2 MFLOP/s, ≥ 1.42 FLOP per byte, 40 us, ")
    assert "machine" not in said
    assert "incomplete" in page.locator("#panel-roofline .legend").inner_text()


def test_details_mark_each_step_by_itself(open_page: Pages, bounds: Loaded) -> None:
    """l/u runs in the first step only: in the second, it does nothing."""
    page = open_page(bounds, "tab=overview&node=l/u")
    rows = {row[0]: row[1:] for row in table(page, "#details")}
    assert rows["float ops"] == ["?", "?", "0"]
    titles = page.locator("#details td[title]").evaluate_all("all => all.map(one => one.title)")
    assert titles[:3] == ["?", "?", "0"]


# --- devices --------------------------------------------------------------------------------------


def devices(page: Page) -> dict[str, list[str]]:
    """Executions, time and exact time of each device."""
    card = page.locator(".card", has=page.get_by_role("heading", name="Steps and devices"))
    rows = card.locator("table").nth(1).locator("tbody tr")
    return {
        cells[0]: cells[1:]
        for cells in rows.evaluate_all(
            """rows => rows.map((row) =>
                [...[...row.children].slice(0, 3).map((cell) => cell.textContent),
                 row.children[2].title])"""
        )
    }


def test_devices_take_the_time_of_a_step(open_page: Pages, tmp_path: Path) -> None:
    """As the cards: averages over the steps that have a node, without what has no time."""
    (tmp_path / "graph").write_bytes(b"".join(node(name) for name in (b"a", b"b", b"c")))
    first = run(device(b"/cpu:0", stat(b"a", 1, 30), stat(b"b", 40, 7), stat(b"c", 0, 1000)))
    second = run(device(b"/cpu:0", stat(b"a", 1, 50)), device(b"/gpu:0", stat(b"c", 0, 1000)))
    (tmp_path / "run_0").write_bytes(first)
    (tmp_path / "run_1").write_bytes(second)
    page = open_page(tfprof.load(tmp_path / "graph", [tmp_path / "run_0", tmp_path / "run_1"]))
    total = page.locator(".total", has=page.get_by_role("heading", name="Time of operations"))
    assert total.locator(".value").inner_text() == "47 us"
    assert devices(page) == {"cpu:0": ["4", "47 us", "47"], "gpu:0": ["0", "", ""]}


def test_the_time_of_a_device_is_exact(open_page: Pages, tmp_path: Path) -> None:
    (tmp_path / "graph").write_bytes(node(b"a"))
    (tmp_path / "run").write_bytes(run(device(b"/cpu:0", stat(b"a", 1, LARGE))))
    page = open_page(tfprof.load(tmp_path / "graph", [tmp_path / "run"] * 2))
    assert devices(page)["cpu:0"][2] == f"{LARGE:,}"


# --- treemap --------------------------------------------------------------------------------------


def test_parameters_of_a_treemap_are_exact(open_page: Pages, tmp_path: Path) -> None:
    """By scope and by layer; what a row has of its own, too."""
    drawing = f"a op=VariableV2 params={LARGE}\na/b op=VariableV2 params={LARGE}\nx op=NoOp"
    profile = draw.loaded(drawing, tmp_path)
    page = open_page(profile, "tab=treemap&parameters=scopes")
    said = {press(page, key) for key in ("ArrowUp", "ArrowDown", "ArrowRight", "ArrowRight")}
    assert f"a, {2 * LARGE:,} parameters, 100.0% of all, Trainable: unknown" in said
    assert f"a, {LARGE:,} parameters of its own, 50.0% of all, Trainable: unknown" in said
    assert f"a/b, {LARGE:,} parameters, 50.0% of all, Trainable: unknown" in said
    page.evaluate("location.hash = 'tab=treemap'")
    assert press(page, "Shift").startswith(f"a, {LARGE:,} parameters, 50.0% of all")


def test_a_treemap_of_lower_bounds(open_page: Pages, bounds: Loaded) -> None:
    page = open_page(bounds, "tab=treemap&parameters=layers")
    assert press(page, "Shift") == "(other), ≥ 8 parameters, Trainable: unknown"
    page.evaluate("location.hash = 'tab=treemap&parameters=scopes'")
    assert press(page, "ArrowUp") == "k, ≥ 8 parameters, Trainable: unknown"
    assert press(page, "ArrowDown") == "k/v, 6 parameters, Trainable: unknown"


def test_a_treemap_of_unknown_sizes(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(draw.loaded("a op=VariableV2 params=?x3", tmp_path), "tab=treemap")
    text = page.locator("#panel-treemap").inner_text()
    why = "these files do not record the shapes of the variables"
    assert text == f"The sizes of all parameters are unknown: {why}."


def test_a_name_as_a_regex() -> None:
    """It matches itself alone, and a list of regexes does not end at its commas."""
    names = ["a.b", "a,b", r"\d[x]{2}(y|z)^$*+?", "plain/name_1:0", "-#&~ \n", "日\u202e"]
    with twin() as page:
        patterns = page("literals", texts=names)
        for name, pattern in zip(names, patterns, strict=True):
            assert "," not in pattern
            assert page("match", pattern=pattern, texts=names) == [int(n == name) for n in names]
