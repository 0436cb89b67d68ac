"""The rows of a page's table: keys, depth, and more of them than a browser could lay out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from hostile_names import NAMES
from hostile_parts import node as graph_node
from page_table import fragment, names_of, read_table, report_of
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages

_ACTIVE: Final = """() => {
  const grid = document.querySelector(".treegrid");
  const row = document.getElementById(grid.getAttribute("aria-activedescendant"));
  const seen = row.getBoundingClientRect(), frame = grid.getBoundingClientRect();
  const head = grid.querySelector(".tg-head").getBoundingClientRect();
  return {
    name: row.firstElementChild.title, level: row.ariaLevel, index: Number(row.ariaRowIndex),
    expanded: row.ariaExpanded,
    inSight: seen.top >= head.bottom - 1 && seen.bottom <= frame.bottom + 1,
  };
}"""


def _press(page: Page, *keys: str) -> dict[str, Any]:
    for key in keys:
        page.keyboard.press(key)
    active: dict[str, Any] = page.evaluate(_ACTIVE)
    assert active["inSight"]
    return active


def test_rows_are_reached_opened_and_closed_by_keys(open_page: Pages) -> None:
    names = [b"a%02d%s" % (at, end) for at in range(50) for end in (b"", b"/x", b"/x/z", b"/y")]
    loaded = tfprof.load(b"".join(map(graph_node, names)))
    page = open_page(loaded, "tab=table&order_by=name")
    grid = page.get_by_role("treegrid", name="scope view")
    grid.focus()
    root = _press(page, "Home")
    assert (root["name"], root["level"], root["expanded"]) == ("_TFProfRoot", "1", "true")
    first = _press(page, "ArrowRight")
    assert (first["name"], first["level"], first["index"]) == ("a00", "2", 3)
    assert _press(page, "ArrowRight")["expanded"] == "true"
    below = _press(page, "ArrowRight")
    assert (below["name"], below["level"], below["expanded"]) == ("a00/x", "3", "false")
    assert _press(page, "ArrowLeft")["name"] == "a00"
    assert _press(page, "ArrowLeft")["expanded"] == "false"
    assert _press(page, "ArrowLeft")["name"] == "_TFProfRoot"
    # All siblings open at once.
    closed = int(str(grid.get_attribute("aria-rowcount")))
    assert _press(page, "ArrowDown", "*")["expanded"] == "true"
    assert int(str(grid.get_attribute("aria-rowcount"))) == closed + 2 * 50
    last = _press(page, "End")
    assert last["index"] == int(str(grid.get_attribute("aria-rowcount")))
    up = _press(page, "PageUp")
    assert up["index"] < last["index"] - 5
    assert _press(page, "PageDown")["index"] == last["index"]
    assert _press(page, "Home")["index"] == 2  # the header is row 1
    # Enter shows the details of a node.
    node = _press(page, "ArrowDown")
    assert page.locator("#details").is_hidden()
    page.keyboard.press("Enter")
    assert node["name"] in page.locator("#details").inner_text()
    assert page.locator(".tg-row[aria-selected=true]").count() == 1
    # A node that is selected elsewhere comes into sight.
    page.get_by_role("button", name="Collapse").click()
    page.evaluate("location.hash = location.hash.replace(/node=[^&]*/, 'node=a49/x/z')")
    chosen = page.locator(".tg-row[aria-selected=true]")
    chosen.wait_for()
    assert chosen.locator(".tg-name").inner_text() == "z"
    assert page.evaluate(_ACTIVE)["inSight"]


@pytest.mark.parametrize("count", [2_000, pytest.param(400_000, marks=pytest.mark.whole)])
def test_many_rows_scroll_to_the_end(open_page: Pages, tmp_path: Path, count: int) -> None:
    # 400,000 rows are higher than browsers let an element be. A file would fold them.
    nodes = b"".join(graph_node(b"n%06d" % at) for at in range(count))
    file = tmp_path / "wide.html"
    served = replace(tfprof.load(nodes).page(), is_served=True)
    file.write_bytes(b"".join(served.pieces("page")))
    page = open_page(file, "tab=table&order_by=name")
    top, end = read_table(page), read_table(page, at_end=True)
    assert top.count == end.count == count + 1
    assert top.names[:3] == ["_TFProfRoot", "n000000", "n000001"]
    assert end.names[-1] == f"n{count - 1:06}"
    assert len(end.rows) < 60
    page.locator(".treegrid").focus()
    for key, at in (("Home", 0), ("End", count), ("PageUp", count - 9), ("Home", 0)):
        assert _press(page, key)["index"] - 2 <= at
    middle = page.evaluate("""async () => {
      const grid = document.querySelector(".treegrid");
      grid.scrollTop = grid.scrollHeight / 2;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const { top, bottom } = grid.getBoundingClientRect();
      const row = document.elementFromPoint(400, (top + bottom) / 2).closest("[data-at]");
      return Number(row.dataset.at);
    }""")
    assert abs(middle - count / 2) < count / 100


def test_a_deep_chain_stays_in_sight(open_page: Pages) -> None:
    def name(at: int) -> bytes:
        return b"n%03d" % at

    chain = [graph_node(name(at), b"Identity", inputs=(name(at - 1),)) for at in range(1, 600)]
    loaded = tfprof.load(b"".join([graph_node(name(0)), *chain]))
    page = open_page(loaded, "tab=table&view=graph", size=(375, 812))
    page.get_by_role("link", name="--max_depth=601").click()  # in "591 more rows: …"
    end = read_table(page, at_end=True)
    assert end.rows[-1]["level"] == 601
    last = page.locator(".tg-row").last
    assert last.locator(".tg-depth").inner_text() == "601"
    name_box = last.locator(".tg-name").bounding_box()
    grid_box = page.locator(".treegrid").bounding_box()
    assert name_box is not None
    assert grid_box is not None
    assert name_box["x"] + name_box["width"] < grid_box["x"] + grid_box["width"]


def test_hostile_names_stay_text(open_page: Pages) -> None:
    hostile = [name for name in NAMES.values() if name] + [b"n" * 1_000_000 + b"/end"]
    graph = b"".join(graph_node(name, name) for name in hostile)
    loaded = tfprof.load(graph)
    page = open_page(loaded, "tab=table")
    for view in ("scope", "op"):
        seen = read_table(page, fragment(view, {"max_depth": "1000"}))
        names = names_of(report_of(loaded, view, {"max_depth": "1000"}))
        assert seen.names == names[: len(seen.rows)]
        assert all(len(row["cells"][0][0]) < 200 for row in seen.rows)
    assert page.locator("img, .treegrid script").count() == 0
