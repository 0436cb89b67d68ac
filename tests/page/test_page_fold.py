"""Pages of many nodes: small scopes are folded, and all totals stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
from ours import load
from page_data_dump import dumps, report_of
from profiles import PROFILES
from random_cases import batches, make_case
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import Strings
from tfprof.model import Edges, Nodes, Outputs, Profile
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.results.loaded import Loaded
from tfprof.tables.fields import METRICS
from tfprof.tables.limits import raised_limits
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from page_browser import Pages


def graph(*nodes: str) -> Profile:
    """Nodes written as name:op; each has 7 float operations in an op log."""
    pairs = [node.split(":") for node in nodes]
    names = Strings.of(name.encode() for name, _ in pairs)
    kinds = Strings.of(kind.encode() for _, kind in pairs)
    op, first = kinds.intern()
    count = len(pairs)
    none = np.full(count, -1, np.int64)
    shapes, starts = Shapes.none(count), np.zeros(count + 1, np.int64)
    columns = Nodes(names, op, none, np.full(count, 7, np.int64), none, shapes)
    edges, outputs = Edges(start=starts), Outputs(start=starts)
    return Profile(nodes=columns, types=kinds.take(first), edges=edges, outputs=outputs)


def page(profile: Profile, most: int, folder: Path) -> Any:
    """What the page of *profile* shows if it may have *most* nodes."""
    with raised_limits(page_nodes=most):
        return dumps([report_of(profile)], folder)[0]


def test_the_smallest_scopes_are_folded_first(tmp_path: Path) -> None:
    nodes = "net/a/w:Var net/a/b:Var net/a/add:Add net/b/w:Var net/b/x/y:Mul net/b/x/z:Mul top:Add"
    profile = graph(*nodes.split())
    assert page(profile, 6, tmp_path)["nodes"]["name"] == [
        "net/a/w", "net/a/b", "net/a/add", "net/b/w", "net/b/x/Mul[2]", "top"
    ]  # fmt: skip
    found = page(profile, 5, tmp_path)
    assert found["nodes"]["name"] == [
        "net/a/Var[2]", "net/a/add", "net/b/w", "net/b/Mul[2]", "top"
    ]  # fmt: skip
    assert found["numbers"]["float_ops null true"] == ["14", "7", "7", "14", "7"]
    assert found["defined"] == ["2", "1", "1", "2", "1"]
    assert found["meta"]["folded"] == {
        "nodes": 7,
        "sentence": "small scopes of the 7 graph nodes are folded, one node per operation type; "
        "totals are the same: a page in a file has at most 5 nodes (--limit_page_nodes raises "
        "this limit)",
    }


def test_every_tab_of_a_folded_page_says_so(open_page: Pages) -> None:
    loaded = Loaded(graph("a/w:Var", "a/v:Var", "b:Add"))
    with raised_limits(page_nodes=2):
        for tab in ("overview", "table", "icicle"):
            page = open_page(loaded, f"tab={tab}")
            said = page.locator("#folded")
            assert said.is_visible()
            assert "small scopes of the 3 graph nodes are folded" in said.inner_text()
            above, below = said.bounding_box(), page.locator(f"#panel-{tab}").bounding_box()
            assert above
            assert below
            assert above["y"] + above["height"] <= below["y"]


def test_nodes_without_scopes_are_folded_too(tmp_path: Path) -> None:
    found = page(graph("a:Add", "b:Add", "c:Mul", "Add[2]:Mul"), 2, tmp_path)
    assert found["nodes"]["name"] == ["Add[2]:2", "Mul[2]"]


def test_a_small_profile_and_a_served_one_are_not_folded(tmp_path: Path) -> None:
    profile = graph("net/a:Add", "net/b:Add")
    with raised_limits(page_nodes=1):
        served, in_file = dumps([report_of(profile, is_served=True), report_of(profile)], tmp_path)
    (small,) = dumps([report_of(profile)], tmp_path)
    assert [len(found["nodes"]["name"]) for found in (served, in_file, small)] == [2, 1, 2]
    assert served["meta"]["folded"] is None
    assert small["meta"]["folded"] is None


def check_totals(profile: Profile, found: Any, exact: tuple[str, ...] = ("op",)) -> None:
    """Fail unless every view, step and type counts as much as before; *exact*: each row, too."""
    for step in (None, *(step.number for step in profile.steps)):
        shown = "null" if step is None else step
        counted, _ = with_float_ops(profile, "all", report_of(profile).sizes, step)
        for metric in METRICS:
            folded = np.array(found["numbers"][f"{metric} {shown} true"], np.int64)
            values = counted.values(metric, step)
            for name in VIEWS:
                if (drawn := found["views"][name]) is None:
                    continue
                owner = VIEWS[name].draw(profile, frames="auto").owner
                is_drawn = np.array(drawn["owner"]) >= 0
                assert folded[is_drawn].sum() == values[owner >= 0].sum(), (name, metric, step)
                if name in exact:
                    rows = np.zeros(len(drawn["end"]), np.int64)
                    np.add.at(rows, np.array(drawn["owner"])[is_drawn], folded[is_drawn])
                    before = np.zeros_like(rows)
                    np.add.at(before, owner[owner >= 0], values[owner >= 0])
                    assert rows.tolist() == before.tolist(), (name, metric, step)
            assert by_type(profile, profile.type_pairs, values) == by_type(
                profile, np.array(found["pairs"], np.int64), folded
            ), (metric, step)


def by_type(profile: Profile, pairs: Any, values: Any) -> list[int]:
    """What the nodes of each type count."""
    sums = np.zeros(len(profile.types), np.int64)
    np.add.at(sums, pairs[1], values[pairs[0]])
    return sums.tolist()


@pytest.mark.parametrize(("most", "exact"), [(200, ("op", "code")), (110, ("op",))])
def test_totals_stay(most: int, exact: tuple[str, ...], tmp_path: Path) -> None:
    row = PROFILES["model_analyzer"]
    profile = tfprof.load(row.graph, row.runs, row.op_log).profile
    found = page(profile, most, tmp_path)
    assert most / 2 < len(found["nodes"]["name"]) <= most < len(profile)
    check_totals(profile, found, exact)


@batches(400, 6, 50)
def test_totals_of_random_profiles_stay(numbers: list[int], tmp_path: Path) -> None:
    profiles = [load(make_case(number, "code")) for number in numbers]
    with raised_limits(page_nodes=4):
        decoded = dumps(map(report_of, profiles), tmp_path)
    for profile, found in zip(profiles, decoded, strict=True):
        check_totals(profile, found)


def test_a_note_says_so() -> None:
    with raised_limits(page_nodes=1):
        notes = [note.text for note in tfprof.load_sample().page().own_notes]
    assert notes[-1].startswith("small scopes of the 5,175 graph nodes are folded, one node per ")
