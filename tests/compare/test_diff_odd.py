"""Differences that are odd: of nothing, of itself, of strange names, of other numbers of steps."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import pytest

import draw
import hostile_names
import tfprof
from hostile_parts import CPU, device, entry, frame, node, run, shape_attribute, stat, text
from profiles import DATA
from sampling import sampled
from tfprof.errors import UsageError
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from pathlib import Path

VIEWS: Final = ("scope", "graph", "op", "code")
FORMS: Final = ("text", "json", "csv", "md", "html")
EVERYTHING: Final[dict[str, Any]] = {"max_depth": 10_000, "min_occurrence": 0}
ROOT: Final = "_TFProfRoot"

MODEL: Final = """
    a/w      op=VariableV2 params=2x3
    a/dot    op=MatMul us=40+60 bytes=100+300 flops=48    < a/w
    b/relu   op=Relu us=10+20                             < a/dot
"""
FASTER: Final = """
    a/w      op=VariableV2 params=2x3
    a/dot    op=MatMul us=30 bytes=100 flops=48           < a/w
    b/relu   op=Relu us=10                                < a/dot
"""
UNRUN: Final = """
    a/w      op=VariableV2 params=2x4
    a/dot    op=MatMul flops=64    < a/w
    b/relu   op=Relu               < a/dot
"""


def loaded(drawing: str) -> Loaded:
    return Loaded(draw.profile(drawing), None, ())


def rows(base: Loaded, new: Loaded, view: str = "scope", **options: Any) -> dict[str, Any]:
    report = base.diff(new, view, **{**EVERYTHING, **options})
    return {row["name"]: row for row in report.rows}


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_a_model_that_comes_from_nothing(view: str) -> None:
    """An empty side has no rows: all is added, or removed the other way round."""
    empty, model = loaded(""), loaded(UNRUN)
    there = rows(empty, model, view, select=["params"])
    back = rows(model, empty, view, select=["params"])
    assert there[ROOT]["base_params"] == 0
    assert there[ROOT]["difference_params"] == 8
    assert back[ROOT]["difference_params"] == -8
    assert {row["status"] for name, row in there.items() if name != ROOT} == {"added"}
    assert {row["status"] for name, row in back.items() if name != ROOT} == {"removed"}
    assert there[ROOT]["ratio_params"] is None
    assert back[ROOT]["ratio_params"] == 0


def test_nothing_and_nothing() -> None:
    for view in ("scope", "graph", "op"):
        assert [*rows(loaded(""), loaded(""), view, select=["params"])] == [ROOT]


def test_steps_count_as_their_mean() -> None:
    """Two steps of 40 and 60 us are 50 us; one of 30 us is 30 us."""
    found = rows(loaded(MODEL), loaded(FASTER), select=["micros", "bytes"])
    dot = found["a/dot"]
    assert (dot["base_micros"], dot["new_micros"], dot["difference_micros"]) == (50, 30, -20)
    assert dot["ratio_micros"] == 0.6
    assert (dot["base_bytes"], dot["new_bytes"]) == (200, 100)
    assert found[ROOT]["difference_micros"] == 30 + 10 - 50 - 15


def test_one_step_of_both() -> None:
    """The second step is only in base."""
    first = rows(loaded(MODEL), loaded(FASTER), select=["micros"], step=0)
    assert first["a/dot"]["difference_micros"] == 30 - 40
    assert "b/relu" not in first
    with pytest.raises(UsageError, match="step"):
        loaded(MODEL).diff(loaded(FASTER), step=1)


def test_the_same_object_and_the_same_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    model = draw.loaded(MODEL, one)
    for new in (model, draw.loaded(MODEL, other), tfprof.load(one)):
        for view in ("scope", "graph", "op"):
            assert [*rows(model, new, view, select=["micros", "params", "float_ops"])] == [ROOT]


def test_another_kind_of_node_under_the_same_name() -> None:
    """Names decide first: the node changed."""
    other = MODEL.replace("op=Relu", "op=Tanh")
    found = rows(loaded(MODEL), loaded(other), "op", select=["micros"])
    assert {name: row["status"] for name, row in found.items() if name != ROOT} == {
        "Relu": "removed",
        "Tanh": "added",
    }
    assert [*rows(loaded(MODEL), loaded(other), select=["micros"])] == [ROOT]


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*hostile_names.NAMES], 3, "diff of odd names"))
def test_names_of_any_bytes(name: str, tmp_path: Path) -> None:
    """Every view and output, both ways, and empty against itself."""
    odd = hostile_names.NAMES[name]
    sides = []
    for size in (2, 3):
        for file, content in _odd_files(odd, size).items():
            (tmp_path / f"{file}_{size}").write_bytes(content)
        sides.append(
            tfprof.load(*(tmp_path / f"{file}_{size}" for file in ("graph", "run", "log")))
        )
    for view in VIEWS:
        for base, new in permutations(sides):
            select = ["params", "micros", "float_ops"]
            report = base.diff(new, view, select=select, **EVERYTHING)
            outputs = {form: b"".join(report.pieces(form)) for form in FORMS}
            assert json.loads(outputs["json"])["rows"]
            assert all(outputs[form] for form in FORMS)
            assert b"<img" not in outputs["html"]
        for side in sides:
            assert len(side.diff(side, view, select=["params", "micros"], **EVERYTHING).rows) == 1


def _odd_files(odd: bytes, size: int) -> dict[str, bytes]:
    """A variable of *size*, whose name, device, type and code are *odd*."""
    return {
        "graph": node(b"plain", b"VariableV2", shape_attribute(size))
        + node(odd, odd, shape_attribute(3), inputs=(odd, b"plain", b"^" + odd)),
        "run": run(
            device(CPU, stat(odd, 5, 6 * size), stat(b"plain", 7, 8)),
            device(odd, stat(odd, 5, 6), stat(odd + b"x", 6, 6)),
        ),
        "log": entry(odd, frame(1, 2, 3, 4), float_ops=7, types=(odd,))
        + entry(b"plain", frame(1, 3, 3), float_ops=7 * size)
        + b"".join(text(key, odd) for key in (1, 3, 4)),
    }


def test_a_fleet_is_no_side() -> None:
    fleet = tfprof.fleet(DATA / "fleet_v1")
    with pytest.raises(UsageError, match="fleet"):
        loaded(MODEL).diff(fleet)  # type: ignore[arg-type]
