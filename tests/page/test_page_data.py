"""The data of a page: what JavaScript decodes under Node is what Python's columns hold."""

from __future__ import annotations

import gzip
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from ours import load
from page_data_dump import dumps, report_of
from page_profiles import FILES, check
from profiles import DATA
from random_cases import batches, make_case
from tfprof.columns.shapes import Shapes
from tfprof.explain import explain_nodes
from tfprof.explain.formulas import formulas
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Profile
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.wire.scalar import encode_bytes
from tfprof.writers.page_data import page_data

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.model import Step


LARGE: Final = ("resnet", "seq2seq")


def test_every_kind_of_file(tmp_path: Path) -> None:
    small = [files for name, files in FILES.items() if name not in LARGE]
    check([tfprof.load(**files).profile for files in small], tmp_path)


@pytest.mark.whole
@pytest.mark.parametrize("name", LARGE)
def test_large_files(name: str, tmp_path: Path) -> None:
    check([tfprof.load(**FILES[name]).profile], tmp_path)


@batches(600, 12, 50)
def test_random_profiles(numbers: list[int], tmp_path: Path) -> None:
    check([load(make_case(number, "code")) for number in numbers], tmp_path)


def test_no_profile(tmp_path: Path) -> None:
    (found,) = check([Profile()], tmp_path)
    assert {view["missing"] for view in found["meta"]["views"]} == {
        "There are no graph nodes: give a graph (--graph_path) or a run."
    }


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (found,) = dumps([report_of(tfprof.load(**FILES["a run alone"]).profile)], tmp_path)
    assert {view["name"]: view["missing"] for view in found["meta"]["views"]} == {
        "scope": "",
        "graph": "Graph view needs the inputs of nodes: give the graph (--graph_path).",
        "op": "",
        "code": "Code view needs call stacks: give an op log with them (--op_log_path).",
    }


HOSTILE: Final = (
    b"</script><img src=x onerror=alert(1)>",
    b"right \xe2\x80\xae to left/\x1b[2J",
    b"not UTF-8 \xff\xc3/\xed\xa0\x80\xf0\x9f\x98\x80",
    b"/",
    b"//a",
    b"a\nb\r\x00",
    b"\xef\xbb\xbfmark",
    b"x" * 1_000_000 + b"/y",
)


def test_hostile_names(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(b"".join(encode_bytes(1, named(name)) for name in HOSTILE))
    (found,) = check([tfprof.load(path).profile], tmp_path)
    escaped = [name.decode("utf-8", "surrogateescape") for name in HOSTILE]
    assert found["nodes"]["name"] == escaped


def named(name: bytes) -> bytes:
    return encode_bytes(1, name) + encode_bytes(2, b"NoOp")


def test_large_numbers(tmp_path: Path) -> None:
    """Sums and averages beyond 2^53, wrapped ones among them, are exact."""
    profile = tfprof.load(**FILES["handmade"]).profile
    huge = [2**53 + 1, 2**62 + 3, -(2**62) - 5, 2**63 - 1, -(2**63), -1, 2**53, 0]

    def with_huge(step: Step, turn: int) -> Step:
        columns: dict[str, Any] = {
            name: np.resize(huge[turn:], getattr(step, name).size)
            for name in ("us", "requested", "peak", "residual", "output")
        }
        return replace(step, **columns)

    steps = tuple(with_huge(step, turn) for turn, step in enumerate(profile.steps))
    nodes = replace(profile.nodes, float_ops=np.resize(huge, len(profile)))
    (found,) = check([replace(profile, nodes=nodes, steps=steps)], tmp_path)
    assert str(2**63 - 1) in found["steps"][0]["us"]


def test_step_shapes(tmp_path: Path) -> None:
    """Steps that ran with different shapes have float operations of their own."""
    profile = tfprof.load(**FILES["handmade"]).profile
    profile = replace(profile, nodes=replace(profile.nodes, float_ops=profile.nodes.float_ops * 0))
    outputs = profile.outputs
    larger = replace(outputs, shape=Shapes(outputs.shape.start, outputs.shape.dim * 3))
    shaped = partial(replace, outputs=larger)
    stepwise = replace(profile, step_shapes=(((profile.steps[1].number,), shaped),))
    (found,) = check([stepwise], tmp_path)
    assert found["numbers"]["float_ops 0 true"] != found["numbers"]["float_ops 1 true"]


def test_sizes_of_dimensions(tmp_path: Path) -> None:
    profile = tfprof.load(**FILES["functions"]).profile
    dims = {"batch": 5}
    reports = [report_of(profile), report_of(profile, dims=dims)]
    found = dumps(reports, tmp_path)
    # An open batch counts as 1, as in the overview, and the command line on the page says so.
    for page, sizes in zip(found, ({"batch": 1}, dims), strict=True):
        counted, _ = with_float_ops(profile, "all", sizes)
        numbers = list(map(str, counted.values("float_ops", None).tolist()))
        assert page["numbers"]["float_ops null true"] == numbers
        assert page["meta"]["dims"] == [f"batch={sizes['batch']}"]
    first, second = (page["numbers"]["float_ops null true"] for page in found)
    assert first != second


def test_formulas_are_those_of_explain() -> None:
    profile = tfprof.load(**FILES["model_analyzer"]).profile
    text, texts = formulas(profile, {})
    nodes = np.arange(len(profile))
    explained = explain_nodes(profile, nodes, most=nodes.size).nodes
    formula = dict(zip(profile.nodes.name.texts(), (texts[at] for at in text), strict=True))
    assert len(explained) == nodes.size
    for node in explained:
        counting, lines = node.counting, formula[node.name].split("\n= ")
        assert lines[0] == (counting.formula or counting.sentence)
        assert lines[-1] == (lines[0] if counting.computed is None else f"{counting.computed:,}")
        assert counting.numbers in (*lines, "")


def test_the_same_profile_gives_the_same_bytes() -> None:
    first, second = (tfprof.load(**FILES["handmade"]).profile for _ in range(2))
    assert page_data(report_of(first)) == page_data(report_of(second))


def test_source_off() -> None:
    loaded = tfprof.load(**FILES["handmade"])
    texts = [text for text in loaded.profile.stacks.text if b" = " in text or text[:1] == b"/"]
    assert texts
    with_source = gzip.decompress(page_data(loaded.page()))
    without = gzip.decompress(page_data(loaded.page(source=False)))
    # Texts are front-coded: the last one is there in full where its beginning is its own.
    assert any(text in with_source for text in texts)
    assert not any(text in without for text in texts)
    assert str(DATA).encode() not in without
