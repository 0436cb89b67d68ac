"""The page of two profiles: what changed, as an icicle and a table.

     base    new            microseconds; widths are those of the larger side
a      60    102
├─ x   40     80
├─ y   20      -            removed, so it is as wide as it was
└─ n    -     22            added
b      30     30            what is inside of it is the same, and left out
c      10      5
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import draw
import paths
import tfprof as package
from command import Command
from page_browser import PHONE
from page_crumbs import crumbs, press
from page_files import PageFile
from page_node import run_script
from page_parts import chosen, fragment, serious
from tfprof.errors import InputError, OutputError
from tfprof.results.loaded import Loaded
from tfprof.tables.limits import raised_limits
from tfprof.writers.page_data import page_data

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from page_browser import Pages

PAIRS: Final = paths.DATA / "pairs"
BASE: Final = """
    a/x  op=Conv2D us=40
    a/y  op=MatMul us=20            < a/x
    b/z  op=Relu us=29              < a/y
    b/w  op=VariableV2 params=2x3 us=1 bytes=9007199254740993
    c    op=Relu us=10              < b/z
"""
NEW: Final = """
    a/x  op=Conv2D us=80
    a/n  op=BiasAdd us=22           < a/x
    b/z  op=Relu us=29              < a/n
    b/w  op=VariableV2 params=2x3 us=1 bytes=9007199254740994
    c    op=Relu us=5               < b/z
"""

_NUMBERS: Final = """
import { readFileSync } from "node:fs";
import { Profile } from "PAGE/profile.js";
const path = JSON.parse(readFileSync(0, "utf8"));
const { changes, meta } = await Profile.read(new Uint8Array(readFileSync(path)));
const all = (make) => Array.from(changes.node, (_, row) => make(row));
const time = changes.of({ name: "micros", unit: "micros" });
const numbers = Object.fromEntries(changes.meta.metrics.map((name) => {
  const change = changes.of({ name, unit: "count" });
  return [name, ["base", "now"].map((side) => Array.from(change[side], String))
    .concat([all((row) => String(change.more(row)))])];
}));
const said = all((row) => [time.sentence(row), time.noiseText(row), time.strength(row)]);
console.log(JSON.stringify({ said, meta: meta.changes, label: all((row) => changes.label.text(row)),
  node: [...changes.node], numbers }));
"""


def data_of(new: Loaded, base: Loaded, folder: Path) -> dict[str, Any]:
    """What JavaScript reads of the changes from *base* to *new*."""
    path = folder / "data"
    path.write_bytes(page_data(new.page(base=base)))
    read: dict[str, Any] = run_script(_NUMBERS, str(path))
    return read


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Loaded, Loaded]:
    """(base, new) as drawn above."""
    folders = [tmp_path / "secret" / name for name in ("before", "after")]
    for folder in folders:
        folder.mkdir(parents=True)
    base, new = map(draw.loaded, (BASE, NEW), folders)
    return base, new


def grid(page: Page) -> list[list[str]]:
    rows: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll("#panel-changes [data-at]")].map(
            (row) => [...row.children].map((cell) => cell.textContent.replace(/^[▾▸]/, "")))"""
    )
    return rows


def test_numbers_are_those_of_each_profile_alone(tmp_path: Path) -> None:
    """Every row of a widened model; a scope with a number that differs is never left out."""
    base, new = (
        package.load(folder / "graph.pb.gz", folder / "run_meta_0.gz", folder / "tfprof_log.gz")
        for folder in (PAIRS / "mlp", PAIRS / "mlp_wide")
    )
    read = data_of(new, base, tmp_path)
    metrics = ["params", "float_ops", "micros", "bytes", "peak_bytes"]
    assert {*metrics} <= {*read["numbers"]}
    different = set()
    for metric in metrics:
        alone = [
            dict(zip(columns["name"], columns[f"total_{metric}"], strict=True))
            for side in (base, new)
            for columns in [side.scope(select=[metric], max_depth=10**6).to_dict()]
        ]
        different |= {n for n in {**alone[0], **alone[1]} if alone[0].get(n) != alone[1].get(n)}
        for name, before, now, more in zip(read["label"], *read["numbers"][metric], strict=True):
            assert [alone[0].get(name, 0), alone[1].get(name, 0)] == [int(before), int(now)]
            assert int(more) == int(now) - int(before)
    assert len(different) > 10
    assert different <= {*read["label"]}
    names = [*new.profile.nodes.name.texts()]
    assert all(names[n] == of for n, of in zip(read["node"], read["label"], strict=True) if n >= 0)


def test_what_is_the_same_is_left_out_and_numbers_are_exact(
    sides: tuple[Loaded, Loaded], tmp_path: Path
) -> None:
    read = data_of(sides[1], sides[0], tmp_path)
    assert read["label"][1:] == ["a", "a/y", "a/n", "a/x", "b", "b/w", "b/z", "c"]
    assert read["numbers"]["bytes"][2][0] == "1"  # of 2 ** 53 + 1, which doubles do not have
    same = data_of(sides[0], sides[0], tmp_path)
    assert (len(same["label"]), same["meta"]["unsure"]) == (1, True)  # without shapes
    with raised_limits(page_nodes=3):  # the smallest changes go first
        few = data_of(sides[1], sides[0], tmp_path)
    assert few["label"][1:] == ["a", "a/x"]
    assert [number[0] for number in few["numbers"]["micros"]] == ["100", "137", "37"]
    assert "6 rows with the smallest changes left out" in few["meta"]["notes"][-1]


def test_noise_is_no_change(tmp_path: Path) -> None:
    """Of five steps: a varies by more than it grew, b takes twice as long in each."""
    drawing = "a  op=Relu us={}\nb  op=Tanh us={}\n"
    times = (("90+110+95+105+100", "40+40+40+40+40"), ("91+111+96+106+101", "80+80+80+80+80"))
    sides = []
    for number, each in enumerate(times):
        (folder := tmp_path / str(number)).mkdir()
        sides.append(draw.loaded(drawing.format(*each), folder))
    read = data_of(sides[1], sides[0], tmp_path)
    noisy, sure = (read["said"][read["label"].index(name)] for name in ("a", "b"))
    assert noisy[0] == "100 us → 101 us (+1 us, +1.0%, may be noise)"
    low, high = re.findall(r"([+-]\d+) us", noisy[1])
    assert (int(low) < 0 < int(high), noisy[2]) == (True, 0)  # as grey as no change
    assert sure == ["40 us → 80 us (+40 us, +100.0%)", "95% interval: +40 us to +40 us", 1]


def test_the_tab_of_changes(open_page: Pages, sides: tuple[Loaded, Loaded], tmp_path: Path) -> None:
    base, new = sides
    path = tmp_path / "page.html"
    new.page(path, base=base)
    page = open_page(path)
    assert chosen(page) == "changes"
    assert "before/graph" in page.title()
    assert page.locator(".headline").inner_text() == "all: 100 us → 137 us (+37 us, +37.0%)"
    assert grid(page) == [
        ["all", "100 us", "137 us", "+37 us", "+37.0%"],
        ["a", "60 us", "102 us", "+42 us", "+70.0%"],
        ["x", "40 us", "80 us", "+40 us", "+100.0%"],
        ["+ n", "0 us", "22 us", "+22 us", "new"],
        ["- y", "20 us", "0 us", "-20 us", "-100.0%"],
        ["c", "10 us", "5 us", "-5 us", "-50.0%"],
    ]
    what = "total execution time"
    assert press(page, "Home") == f"all, {what}: 100 us → 137 us (+37 us, +37.0%)"
    assert press(page, "ArrowDown", "ArrowRight") == f"b, {what}: 30 us, no change"
    assert press(page, "ArrowLeft", "ArrowDown").startswith("a/x, ")
    assert press(page, "ArrowLeft") == f"a/n, only in this profile, {what}: 0 us → 22 us (+22 us)"
    assert press(page, "ArrowLeft").startswith(f"a/y, only in the base, {what}: 20 us → 0 us")
    # More is orange, less is blue, the same is grey.
    colours = page.evaluate("""() => {
      const canvas = document.querySelector("#panel-changes canvas");
      const middle = [0, Math.floor(0.4 * canvas.height), canvas.width, 1];
      const { data } = canvas.getContext("2d").getImageData(...middle);
      const pixel = (x) => 4 * Math.floor(x * canvas.width);
      return [0.3, 0.97, 0.8].map((x) => [...data.slice(pixel(x), pixel(x) + 3)]);
    }""")
    more, less, same = [red - blue for red, _, blue in colours]
    assert more > 50 and less < -50 and abs(same) < 10  # noqa: PT018 - three colours
    press(page, "ArrowUp", "Enter")
    assert (crumbs(page), fragment(page)) == (["all", "a"], "#zoom_changes=1")
    assert [row[0] for row in grid(page)] == ["a", "x", "+ n", "- y"]
    page.get_by_role("columnheader", name="name").get_by_role("button").click()
    assert [row[0] for row in grid(page)] == ["a", "+ n", "x", "- y"]
    page.get_by_role("gridcell", name="+40 us").click()
    assert "a/x" in page.locator("#details").inner_text()
    page.get_by_label("Width").select_option("bytes")
    assert page.locator("#panel-changes .crumb").all_inner_texts() == ["all"]  # a has none
    assert page.get_by_title("+1", exact=True).count() > 0
    assert "--select=bytes" in page.locator("#panel-changes .command").inner_text()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.get_by_label("Width").select_option("micros")
    assert grid(page)[0][:3] == ["a", "+42 us", "+70.0%"]  # what matters most comes first
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert serious(page) == []


def test_the_command(
    capfd: pytest.CaptureFixture[str], sides: tuple[Loaded, Loaded], tmp_path: Path
) -> None:
    tfprof, path = Command(capfd), tmp_path / "page.html"
    before, after = (str(Path(side.inputs[0]).parent) for side in sides)
    for source, found in (("on", True), ("off", False)):
        words = (f"--base={before}", f"--source={source}", "-o", str(path))
        assert tfprof("page", after, *words) == 0
        page = PageFile(path.read_text(encoding="utf-8"))
        assert ("secret" in path.read_text(encoding="utf-8") + page.plain) == found
        assert page.meta["title"] == "before → after"
    assert page.meta["changes"]["command"] == ["tfprof", "diff", "after", "--base=before"]
    graph = sides[0].inputs[0]
    assert tfprof("page", after, f"--base={before}", "-o", graph) == 4
    assert f"{graph} is an input" in tfprof.err
    assert tfprof("page", after, "--base=none", "-o", str(path)) == 3
    with pytest.raises(InputError, match="nothing to compare with"):
        sides[1].page(base=Loaded(draw.profile("")))
    with pytest.raises(OutputError, match="is an input"):
        sides[1].page(graph, base=sides[0])
