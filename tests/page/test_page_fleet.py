"""The page of a fleet: the heat map of workers and steps, and the distribution of operation types.

Numbers are those of a hand calculation or of NumPy on the same times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import draw
import tfprof
from fleet_datasets import write_dataset
from page_browser import PHONE
from page_parts import MARKUP, chosen, fragment, serious, table
from tfprof.errors import OutputError
from tfprof.fleet.worker_times import ALL, WorkerTimes
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.results.loaded import Loaded
from tfprof.writers import page_fleet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.results.fleet import Fleet

GRAPH: Final = """
    net/w    op=VariableV2 params=2x3
    net/in   op=Placeholder out=4x2
    net/fc   op=MatMul out=4x3 us={MatMul}   < net/in, net/w
    net/out  op=Relu out=4x3 us={Relu}       < net/fc
"""
# Steps 0 and 1; there is no step 1 of c. All operations take 110 to 322 us.
SMALL: Final = {
    "a": {"MatMul": [100, 110], "Relu": [10, 10]},
    "b": {"MatMul": [300, 310], "Relu": [11, 12]},
    "c": {"MatMul": [102], "Relu": [9]},
}

# What is read out of each bar, by the keys.
_BARS: Final = """(count) => {
  const panel = document.getElementById("panel-distribution");
  const canvas = panel.querySelector("canvas");
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("Home");
  return Array.from({ length: count }, () => {
    const text = panel.querySelector(".unseen").textContent;
    press("ArrowRight");
    return text;
  });
}"""


def fleet_of(times: Mapping[str, Mapping[str, Sequence[int]]], folder: Path) -> Fleet:
    """A fleet: the times of operation types in the steps of workers."""
    workers = {
        worker: Loaded(
            draw.profile(GRAPH.format_map({t: "+".join(map(str, us)) for t, us in of.items()}))
        )
        for worker, of in times.items()
    }
    return tfprof.fleet(write_dataset(folder / "fleet", workers))


def said(page: Page, tab: str) -> str:
    """What is read out of the cell or bar in focus."""
    return page.locator(f"#panel-{tab} .picture .unseen").text_content() or ""


def test_the_heat_map_by_keyboard_and_pointer(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(fleet_of(SMALL, tmp_path), "tab=workers")
    assert "3 workers, 2 steps" in page.locator("header").inner_text()
    canvas = page.locator("#panel-workers canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    # The median of 110, 311 and 111 is 111.
    assert said(page, "workers") == (
        "b, step 0, all operations: 311 us, 2.80× the median of the step, 111 us"
    )
    page.keyboard.press("Enter")
    assert fragment(page) == "#tab=workers&worker=b&step=0"
    rows = table(page, "#panel-workers .fleet-side > section:first-child")
    assert [row[:4] for row in rows[1:]] == [
        ["MatMul", "300 us", "102 us", "+198 us"],
        ["Relu", "11 us", "10 us", "+1 us"],
    ]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert said(page, "workers") == "c, step 1, no record"
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft", "Enter"):  # the name of b: all its steps
        page.keyboard.press(key)
    assert fragment(page) == "#tab=workers&worker=b"
    # 311 + 322 against 111 + (120 + 322) / 2
    chosen_worker = page.locator("#panel-workers .fleet-side > section:first-child")
    assert "633 us in 2 steps, 1.91× the medians of its steps." in chosen_worker.inner_text()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowUp", "Enter"):  # the number of step 1
        page.keyboard.press(key)
    assert fragment(page) == "#tab=workers&step=1"
    assert "221 us, 1.84× the median of all worker steps." in chosen_worker.inner_text()

    page.get_by_role("button", name="show").click()  # of the straggler, the only one
    assert fragment(page) == "#tab=workers&worker=b"

    page.get_by_label("Time of").select_option("Relu")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 30)  # a, step 1: (10 + 12) / 2 is 11
    assert page.locator(".picture-tip:visible").inner_text().split("\n") == [
        "a, step 1", "Relu: 10 us", "0.91× the median of the step, 11 us"
    ]  # fmt: skip
    page.mouse.click(box["x"] + 200, box["y"] + 30)
    assert fragment(page) == "#tab=workers&worker=a&op=Relu&step=1"
    page.get_by_role("button", name="MatMul").click()
    assert (chosen(page), page.get_by_label("Time of").last.input_value()) == (
        "distribution", "MatMul"
    )  # fmt: skip


def test_a_distribution_has_the_percentiles_of_numpy(open_page: Pages, tmp_path: Path) -> None:
    random = np.random.default_rng(13)
    times = random.integers(1_000, 2_000, (3, 8, 5))
    times[1, 3] *= 7  # a worker in the tail
    times[0] = times[1] + times[2]
    times[:, 6, 4] = -1
    names = tuple(f"worker_{at}" for at in range(8))
    fleet = fleet_of(
        {
            name: {"MatMul": matmul[matmul >= 0], "Relu": relu[relu >= 0]}
            for name, matmul, relu in zip(names, times[1], times[2], strict=True)
        },
        tmp_path,
    )
    page = open_page(fleet, "tab=distribution&op=MatMul")
    values = times[1][times[1] >= 0]
    marks = [float(np.percentile(values, share)) for share in (50, 90, 99)]
    exact = page.evaluate("[...document.querySelectorAll('.numbers dd')].map((one) => one.title)")
    assert [float(text.removesuffix(" us").replace(",", "")) for text in exact] == marks
    tail = [row[:5] for row in table(page, "#panel-distribution section")][1:]
    slow = times[1, 3] > marks[1]
    longest = int(times[1, 3].max())
    assert tail[0][:2] == ["worker_3", str(slow.sum())]
    assert tail[0][4] == str(int(times[1, 3].argmax()))
    assert page.get_by_title(f"{longest:,} us", exact=True).count() == 1
    assert {row[0] for row in tail} == {
        name for name, own in zip(names, times[1], strict=True) if (own > marks[1]).any()
    }
    # The bars hold every worker step once.
    page.locator("#panel-distribution canvas").focus()
    bars = page.evaluate(_BARS, page_fleet.BINS)
    counts = [int(text.split(", ")[-1].split()[0]) for text in bars]
    width = -(-(values.max() - values.min() + 1) // page_fleet.BINS)
    assert counts == np.bincount((values - values.min()) // width, minlength=48).tolist()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    first = values.min() + width
    listed = {row[0] for row in table(page, "#panel-distribution section")[1:]}
    assert listed == {
        name
        for name, own in zip(names, times[1], strict=True)
        if ((own >= 0) & (own < first)).any()
    }
    page.keyboard.press("Escape")
    assert "bin" not in fragment(page)


def test_many_workers_fold_and_hostile_names_stay_text(
    open_page: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_fleet, "MOST_NUMBERS", 100)
    names = (*(f"w{at}" for at in range(18)), MARKUP, "turned\u202eround")
    whole = np.arange(60).reshape(20, 3) + 2**53  # beyond what doubles hold
    whole[18, 1] = 2**54
    times = WorkerTimes(names, (1, 2, 3), (ALL, MARKUP), np.stack([whole, whole]), left_out=4)
    report = fleet_of(SMALL, tmp_path).page()
    assert report.fleet is not None
    with pytest.raises(OutputError, match=r"manifest\.json is an input"):
        fleet_of(SMALL, tmp_path / "kept").page(tmp_path / "kept" / "fleet" / "manifest.json")
    path = tmp_path / "folded.html"
    replace(report, fleet=report.fleet._replace(times=times)).save(path)
    page = open_page(path, "tab=workers&worker=w4", size=PHONE, dark=True)
    # 20 workers, 3 steps and 3 numbers of each: two of them share a row.
    note = page.locator("#panel-workers").inner_text()
    assert "the 1 operation type that took most time, and leaves out the times of 4 others" in note
    assert "Each row stands for up to 2 workers and shows the slowest of them in each step" in note
    page.locator("#panel-workers canvas").focus()
    for key in ("ArrowRight", "ArrowRight", "End", "Enter"):  # from the name in focus to step 2
        page.keyboard.press(key)
    assert f"the slowest of {MARKUP} … turned\\u202eround" in said(page, "workers")
    title = page.locator("#panel-workers .fleet-side h2 >> nth=0").text_content()
    assert title == f"{MARKUP}, step 2"
    assert serious(page) == []
    wide = "[document.body, document.documentElement].map(e => e.scrollWidth)"
    for tab in ("workers", "distribution", "timeline"):
        page.evaluate(f"location.hash = location.hash.replace(/tab=\\w+/, 'tab={tab}')")
        page.wait_for_selector(f"#panel-{tab}:not([hidden])")
        assert max(page.evaluate(wide)) <= PHONE[0]
    assert "not their executions" in page.locator("#panel-timeline").inner_text()
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0
    assert "owned" not in page.title()


def test_rows_of_several_workers_show_the_slowest_and_the_medians_of_all() -> None:
    random = np.random.default_rng(7)
    micros = random.integers(0, 1000, (2, 11, 4))
    micros[:, random.random((11, 4)) < 0.3] = -1
    micros[:, 0] = 5
    shown, member = page_fleet._folded(micros, 3)
    assert shown.shape == (2, 4, 4)
    for row in range(4):
        for step in range(4):
            of = micros[0, 3 * row : 3 * row + 3, step]
            assert shown[0, row, step] == of.max()
            assert shown[1, row, step] == micros[1, member[row, step], step]
    present = [[kind[:, step][kind[:, step] >= 0] for step in range(4)] for kind in micros]
    medians = [[2 * np.median(values) for values in kind] for kind in present]
    assert page_fleet._medians(micros).tolist() == medians
