"""Differences of drawn models, row by row, calculated by hand."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import draw
from tfprof.compare.diff import diff_profiles
from tfprof.errors import UsageError
from tfprof.results.diff_report import DiffReport
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.results.result import Result

BASE = """
net/w    op=VariableV2  params=2x3
net/b    op=Variable    params=3
net/mul  op=MatMul  us=10  flops=12  bytes=100  < net/w
out      op=Relu    us=5   < net/mul
"""
NEW = """
net/w    op=VariableV2   params=2x4
net/c    op=VarHandleOp  params=4
net/mul  op=MatMul  us=30  flops=16  bytes=100  < net/w
out      op=Relu    us=5   < net/mul
"""


def diff(base: str, new: str, view: str = "scope", **options: Any) -> DiffReport:
    return DiffReport(diff_profiles(draw.profile(base), draw.profile(new), view, options))


def drawn(report: Result, metric: str) -> list[tuple[object, ...]]:
    """Depth, name, status, base, new, difference and ratio of each row."""
    names = ["depth", "name", "status", *(f"{n}_{metric}" for n in ("base", "new"))]
    names += [f"difference_{metric}", f"ratio_{metric}"]
    return [tuple(row[name] for name in names) for row in report.rows]


def test_rows_that_changed_the_largest_change_first() -> None:
    report = diff(BASE, NEW, select=["params"])
    assert drawn(report, "params") == [
        (1, "_TFProfRoot", "changed", 9, 12, 3, 12 / 9),
        (2, "net", "changed", 9, 12, 3, 12 / 9),
        (3, "net/c", "added", 0, 4, 4, None),
        (3, "net/b", "removed", 3, 0, -3, 0.0),
        (3, "net/w", "changed", 6, 8, 2, 8 / 6),
    ]
    # Nobody knows what Relu counts.
    counted = "float_ops ≥ 12 → ≥ 16 (+33.3% ?)"
    assert report.headline == f"params 9 → 12 (+33.3%), {counted}, micros 15us → 35us (+133.3%)"
    matched = "nodes matched: 3 by name; 1 only in base, 1 only in new"
    assert matched in [str(note) for note in report.notes]
    assert [row["own_difference_params"] for row in report.rows] == [0, 0, 4, -3, 2]
    assert [row["parent"] for row in report.rows] == [None, 0, 1, 1, 1]


def test_time_is_compared_where_both_have_runs() -> None:
    report = diff(BASE, NEW)
    assert drawn(report, "micros") == [
        (1, "_TFProfRoot", "changed", 15, 35, 20, 35 / 15),
        (2, "net", "changed", 10, 30, 20, 3.0),
        (3, "net/mul", "changed", 10, 30, 20, 3.0),
    ]


def test_what_both_have_is_compared_where_one_has_no_run() -> None:
    without_run = NEW.replace("us=", "out=")
    there, back = diff(BASE, without_run), diff(without_run, BASE)
    assert there.diff.metrics == back.diff.metrics
    assert set(there.diff.metrics) == {"params", "float_ops"}
    assert "base_micros" not in there.to_dict().keys() | back.to_dict().keys()
    assert there.totals["params"]["difference"] == 3 == -back.totals["params"]["difference"]


def test_operation_types_are_a_list_of_their_own_numbers() -> None:
    report = diff(BASE, NEW, "op", select=["params", "occurrence"], order_by="params")
    assert drawn(report, "params") == [
        (1, "_TFProfRoot", "changed", 9, 12, 3, 12 / 9),
        (2, "VarHandleOp", "added", 0, 4, 4, None),
        (2, "Variable", "removed", 3, 0, -3, 0.0),
        (2, "VariableV2", "changed", 6, 8, 2, 8 / 6),
    ]
    assert [(row["base_defined"], row["new_defined"]) for row in report.rows] == [
        (4, 4), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip


def test_a_node_that_is_gone_stands_below_what_consumed_it() -> None:
    base = "a flops=1 us=1\nb flops=2 us=1 < a\nc flops=4 us=1 < b"
    new = "a flops=1 us=1\nb flops=3 us=1\nc flops=4 us=1 < b"
    report = diff(base, new, "graph", select=["float_ops"], flops="log")
    # In new nothing consumes a: b and c lose its 1 and gain another.
    assert drawn(report, "float_ops") == [
        (1, "_TFProfRoot", "changed", 7, 8, 1, 8 / 7),
        (2, "c", "same", 7, 7, 0, 1.0),
        (3, "b", "changed", 3, 3, 0, 1.0),
    ]
    shorter = base.replace("a flops=1 us=1\n", "")
    gone = diff(base, shorter, "graph", select=["float_ops"], flops="log")
    assert drawn(gone, "float_ops")[1:] == [
        (2, "c", "changed", 7, 6, -1, 6 / 7),
        (3, "b", "changed", 3, 2, -1, 2 / 3),
        (4, "a", "removed", 1, 0, -1, 0.0),
    ]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"max_depth": 2}, ["net"]),
        ({"max_depth": 1}, []),
        ({"min_params": 4}, ["net/c", "net/w"]),  # own numbers, as in the view: net has none
        ({"hide_name_regexes": ["net"]}, ["net/c", "net/b", "net/w"]),
        ({"show_name_regexes": [".*/[bw]"]}, ["net/b", "net/w"]),
        ({"start_name_regexes": ["out"]}, []),
        ({"account_type_regexes": ["Variable"]}, ["net", "net/b"]),
        ({"order_by": "name"}, ["net", "net/b", "net/c", "net/w"]),
        ({"trim_name_regexes": ["net"]}, ["net"]),
    ],
)
def test_options_of_the_view_choose_rows(options: dict[str, Any], names: Sequence[str]) -> None:
    report = diff(BASE, NEW, **{"select": ["params"], **options})
    assert [row["name"] for row in report.rows[1:]] == names


def test_what_is_not_shown_is_counted_by_option() -> None:
    hidden = diff(BASE, NEW, select=["params"], max_depth=2).table().hidden
    assert hidden.rows == 3
    assert hidden.reasons == {"max_depth": 3}
    report = diff(BASE, NEW, select=["params"], max_depth=2, hide_name_regexes=["net/b"])
    assert report.table().hidden.reasons == {"max_depth": 3, "hide_name_regexes": 1}
    assert diff(BASE, BASE, max_depth=1).table().hidden.rows == 0


def test_equal_files_have_no_differences() -> None:
    report = diff(BASE, BASE, select=["params", "micros"])
    assert drawn(report, "params") == [(1, "_TFProfRoot", "same", 9, 9, 0, 1.0)]
    no_others = "params 9 (unchanged), micros 15us (unchanged), float_ops ≥ 12 (unchanged"
    assert report.headline.startswith(f"No differences: {no_others}")


def test_a_difference_of_incomplete_numbers_is_marked() -> None:
    unknown = BASE.replace("params=2x3", "params=?x3")
    report = diff(unknown, NEW, select=["params"])
    table = report.table()
    every = slice(0, len(report))
    names = [row["name"] for row in report.rows]
    cells = dict(zip(names, table["difference_params"].cells(every), strict=True))
    assert cells == {
        "_TFProfRoot": "+9 ?", "net": "+9 ?", "net/w": "?", "net/c": "+4", "net/b": "-3",
    }  # fmt: skip
    root, gone = report.rows[0], report.rows[names.index("net/b")]
    assert root["incomplete"] == [
        "base_params", "difference_params", "ratio_params", "own_difference_params"
    ]  # fmt: skip
    assert gone["incomplete"] == []
    assert report.headline.startswith("params ≥ 3 → 12 (+300.0% ?), ")
    assert any("not all params are counted" in str(note) for note in report.notes)


def test_times_of_a_side_without_runs_are_unknown() -> None:
    """A run that is not there took no 0 microseconds."""
    without_run = BASE.replace("us=10", "").replace("us=5", "").replace("bytes=100", "")
    report = diff(without_run, NEW, select=["micros", "params"])
    assert report.headline.startswith("micros ? → 35us (?), params 9 → 12 (+33.3%), float_ops")
    (row,) = (row for row in report.rows if row["name"] == "net/mul")
    assert (row["base_micros"], row["difference_micros"], row["ratio_micros"]) == (None, None, None)
    whole = {"base": None, "new": 35, "difference": None, "ratio": None, "incomplete": True}
    assert report.totals["micros"] == whole
    both = diff(without_run, without_run, select=["micros", "params"])
    assert both.headline.startswith("No differences: micros ?, params 9 (unchanged)")
    texts = [str(note) for note in report.notes]
    assert "base has no runs: its micros are unknown" in texts
    report = diff(NEW, without_run, select=["bytes"])
    assert report.headline.startswith("bytes 100B → ? (?), ")
    assert "new has no runs: its bytes are unknown" in [str(note) for note in report.notes]


def test_times_come_with_their_noise() -> None:
    """Twelve steps that jitter by 1, b on one side 100 longer."""
    jitter = "+".join(str(100 + n % 3) for n in range(12))
    slower = jitter.replace("10", "20")
    report = diff(f"a us={jitter}\nb us={jitter}", f"a us={jitter}\nb us={slower}")
    (row,) = (row for row in report.rows if row["name"] == "b")
    assert row["difference_micros"] == 100
    assert 98 <= row["low_micros"] <= 100 <= row["high_micros"] <= 102
    assert row["stands_out_micros"]
    assert any("stand out from noise" in str(note) for note in report.notes)
    assert "low_micros" not in diff(BASE, NEW).to_dict()
    assert any("noise is unknown" in str(note) for note in diff(BASE, NEW).notes)


def test_names_that_changed_are_told() -> None:
    base = "\n".join(f"old/{n} op=Op{n} params=2 us={n + 1}" for n in range(6))
    new = base.replace("old/", "fresh/").replace("us=3", "us=9")
    report = diff(base, new, select=["micros"])
    assert [(row["name"], row["status"], row.get("base_name")) for row in report.rows[1:]] == [
        ("fresh", "changed", ""),
        ("fresh/2", "renamed", "old/2"),
    ]
    assert report.rows[0]["difference_micros"] == 6


def test_differences_wrap_at_64_bits_as_totals_do() -> None:
    smallest, largest = -(2**63), 2**63 - 1
    base = f"a flops={smallest}\nb flops=5\nc flops=1"
    new = f"a flops={largest}\nb flops=9\nc flops={-(2**63) + 1}"
    report = diff(base, new, select=["float_ops"], flops="log")
    changes = [(row["name"], row["difference_float_ops"]) for row in report.rows]
    assert changes == [("_TFProfRoot", smallest + 3), ("c", smallest), ("b", 4), ("a", -1)]


def test_selecting_no_number_is_an_error() -> None:
    with pytest.raises(UsageError, match="select names no number to compare"):
        diff(BASE, NEW, select=["device"])
    with pytest.raises(UsageError, match="there is no view 'scoop'"):
        diff(BASE, NEW, "scoop")
    with pytest.raises(UsageError, match="there is no step 7"):
        diff(BASE, NEW, step=7)


def test_what_is_no_profile_is_an_error() -> None:
    base = Loaded(draw.profile(BASE))
    for other in (None, "graph.pbtxt", base.profile):
        with pytest.raises(UsageError, match="diff compares with what"):
            base.diff(other)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="takes no output option"):
        base.diff(base, output="csv")
    with pytest.raises(UsageError, match="there is no view"):
        base.diff(base, "scoop")


def test_steps_that_do_not_count_are_left_out_on_both_sides() -> None:
    base, new = (Loaded(draw.profile(f"a us=900+10+10+{us}+{us}")) for us in (10, 30))
    report = base.diff(new, steps="1-")
    assert drawn(report, "micros")[0] == (1, "_TFProfRoot", "changed", 10, 20, 10, 2.0)
    with pytest.raises(UsageError, match="no step of base is in"):
        base.diff(new, steps="7-")


def test_data_formats_say_what_was_compared() -> None:
    report = diff(BASE, NEW, select=["params"])
    document = json.loads(b"".join(report.pieces("json")))
    assert document["schema"] == "tfprof.diff/1"
    assert document["steps"] == {"base": [0], "new": [0]}
    assert document["matches"]["name"] == 3
    assert document["totals"]["params"] == {
        "base": 9, "new": 12, "difference": 3, "ratio": 12 / 9, "incomplete": False,
    }  # fmt: skip
    assert document["rows"][3]["status"] == "removed"
    table = pickle.loads(pickle.dumps(report.table()))  # noqa: S301 - our own
    assert table.to_dict() == report.to_dict()
