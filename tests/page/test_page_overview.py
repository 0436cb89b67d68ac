"""The first tab of a page says what the overview in a terminal says, and asks for what is missing.

A number that does not count everything has a mark, one that is unknown is none, and notes that say
what to do come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import draw
import tfprof
from hostile_parts import node
from page_parts import card, sample, table
from profiles import DATA
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages

# A product of known size in 40 us, 2*4*2*3 operations; one of unknown size; a variable of unknown
# size; nothing was allocated.
GAPS: Final = """
    in       op=Placeholder out=4x2
    net/w    op=VariableV2
    net/k    op=Const out=2x3
    net/fc   op=MatMul out=4x3 us=40   < in, net/k
    net/odd  op=MatMul us=10           < net/fc, net/w
"""
COUNTED: Final = 48
TRAINED: Final = """
    in                 op=Placeholder out=4x2
    net/w              op=VariableV2 params=2x3 out=2x3
    net/fc             op=MatMul out=4x3           < in, net/w
    gradients/net/g    op=MatMul out=2x3           < in, net/fc
    update             op=ApplyGradientDescent     < net/w, gradients/net/g
"""


def first_line(loaded: Loaded) -> str:
    """What a wide terminal says first."""
    return loaded.overview().text().split("\n")[0]


def headings(page: Page) -> list[str]:
    return page.locator("#panel-overview h2").all_inner_texts()


def notes(page: Page) -> list[str]:
    return page.locator(".notes li").all_inner_texts()


def test_a_rate_is_a_lower_bound_as_its_float_operations_are(open_page: Pages) -> None:
    loaded = Loaded(draw.profile(GAPS))
    row = next(row for row in loaded.overview().rows if row["name"] == "MatMul")
    assert row["incomplete"] == ["float_ops", "float_ops_per_second"]
    rows = {cells[0]: cells[2:] for cells in table(open_page(loaded), "#panel-overview .card")}
    rate = COUNTED * 1_000_000 // 50
    assert rows["MatMul"] == ["100.0%", "50 us", f"≥ {COUNTED}", f"≥ {rate // 1000}k"]


def test_beside_times_there_are_no_parameters(open_page: Pages) -> None:
    run = tfprof.load(run_meta=DATA.parents[1] / "src/tfprof/sample/run_meta_0.gz")
    heads = table(open_page(run), ".columns > div:first-child")[0]
    assert heads == ["Name", "Share", "Time"]
    heads = table(open_page(sample()), ".columns > div:first-child")[0]
    assert heads == ["Name", "Share", "Time", "Float ops", "FLOP/s"]


def test_what_is_unknown_has_a_mark(open_page: Pages) -> None:
    page = open_page(Loaded(draw.profile("a/odd  op=NoRule us=3\na/b  op=Add out=2 us=4")))
    rows = {cells[0]: cells[2:] for cells in table(page, "#panel-overview .card")}
    assert rows["NoRule"][1:] == ["3 us", "?", ""]


def test_what_lists_of_layers_count(open_page: Pages) -> None:
    forward = "Layers of the model, without gradients and updates"
    for loaded, listed, last in (
        (sample(), {"Layers by time, gradients included", "Operation types by time"}, forward),
        # Without a run both are the model.
        (Loaded(draw.profile(TRAINED)), {"Layers by float operations"}, forward),
        (Loaded(draw.profile(GAPS)), {"Layers by time"}, "Layers of the model"),
    ):
        shown = headings(open_page(loaded))
        assert listed <= {*shown}
        assert shown[-1] == last


def test_nothing_asks_for_what_was_given(open_page: Pages) -> None:
    page = open_page(Loaded(draw.profile(GAPS)))
    assert card(page, "Peak memory").split("\n")[-1] == "Not recorded in this run or trace."
    page.get_by_role("tab", name="Treemap").click()
    said = page.locator("#panel-treemap").inner_text()
    assert "do not record the shapes of the variables" in said
    assert "add the graph" not in said
    page = open_page(Loaded(draw.profile("a  op=Add out=2")), "tab=treemap")
    assert "The graph has no parameters." in page.locator("#panel-treemap").inner_text()


def test_notes_that_say_what_to_do_come_first(open_page: Pages) -> None:
    said = notes(open_page(tfprof.load(DATA / "xplane" / "level2")))
    assert "tfprof.capture() records everything" in said[0]
    assert "set TF_CPU_ALLOCATOR_USE_BFC=1" in said[1]
    assert said[2:] == [
        "Without a graph, parameters and float operations are unknown.",
        "1 of 130 executions in the trace, 64 us, are outside all steps and are ignored",
    ]


def test_notes_say_everything_once(open_page: Pages) -> None:
    page = open_page(Loaded(draw.profile(GAPS)))
    assert sum("not counted" in note.lower() for note in notes(page)) == 1
    drawing = "x  op=Placeholder out=?x2\nk  op=Const out=2x3\ny  op=MatMul out=?x3  < x, k"
    open_size = notes(open_page(Loaded(draw.profile(drawing))))
    assert [note for note in open_size if "dimension" in note] == [
        "Open dimension: batch counts as 1; --dim batch=N sets it."
    ]


def test_the_header_has_the_first_line_of_a_terminal(open_page: Pages, tmp_path: Path) -> None:
    (tmp_path / "graph.pb").write_bytes(node(b"v", b"VariableV2"))
    profiles = [sample(), tfprof.load(tmp_path / "graph.pb"), Loaded(draw.profile(GAPS))]
    for loaded in profiles:
        page = open_page(loaded)
        line = page.locator(".lead-short").inner_text()
        assert line == first_line(loaded) == page.locator(".lead").text_content()
    assert "74% of them ran in steps 0, 1" in first_line(profiles[0])
    assert first_line(profiles[1]) == "Graph of 1 node and 1 operation type"


def test_devices_can_be_told_apart(open_page: Pages) -> None:
    worker = "/job:worker/replica:0/task:0/device"
    drawing = f"a  op=Add us=3 on={worker}:cpu:0\nb  op=Add us=2 on={worker}:CPU:1\n"
    page = open_page(Loaded(draw.profile(f"{drawing}c  op=Add us=1 on=/job:ps/task:1/cpu:0")))
    steps = page.locator(".card", has=page.get_by_role("heading", name="Steps and devices"))
    shown = steps.locator("table").last.locator("tbody th")
    assert shown.all_inner_texts() == [
        "job:worker/replica:0/task:0/cpu:0",
        "job:worker/replica:0/task:0/cpu:1",
        "job:ps/task:1/cpu:0",
    ]
    assert shown.first.get_attribute("title") == f"{worker}:cpu:0"
