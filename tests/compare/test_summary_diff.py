"""The diff of summaries: layers side by side, with the numbers of the single summaries."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from profiles import DATA
from tfprof.compare.summary_rows import paired_rows
from tfprof.errors import UsageError
from tfprof.summary.build_summary import Numbers, Row
from tfprof.summary.formula import Formula

if TYPE_CHECKING:
    from tfprof.results.loaded import Loaded

PAIRS: Final = DATA / "pairs"
PAIRS_OF_MODELS: Final = [
    ("mlp", "mlp_renamed"), ("cnn", "cnn_short"), ("twin_v1", "twin_v2"),
    ("release_2.16", "release_2.21"),
]  # fmt: skip


@cache
def load(name: str) -> Loaded:
    return tfprof.load(PAIRS / name)


# --- formulas ------------------------------------------------------------------------------------


def formula(*symbols: str, **terms: int) -> Formula:
    """A formula in *symbols*: b1t2=3 is the term 3·b·t²."""
    powers = {}
    for name, factor in terms.items():
        digits = dict(zip(name[::2], map(int, name[1::2]), strict=True))
        powers[tuple(digits.get(symbol, 0) for symbol in symbols)] = Fraction(factor)
    return Formula(symbols, powers)


def test_formulas_are_subtracted_by_the_names_of_their_symbols() -> None:
    new, base = formula("t", "b", t1b1=7, b1=2), formula("b", b1=5)
    assert (new - base).at({"t": 10, "b": 2}) == 7 * 20 - 3 * 2
    assert (base - new).at({"t": 10, "b": 2}) == 3 * 2 - 7 * 20
    assert not (new - formula("b", "t", b1t1=7, b1=2)).terms
    assert (new - Formula.number(4)).at({"t": 0, "b": 0}) == -4


def test_a_ratio_of_formulas_holds_for_all_sizes_or_is_none() -> None:
    base = formula("b", "t", b1t1=4, b1=8)
    assert formula("t", "b", t1b1=6, b1=12).ratio(base) == 1.5
    assert formula("t", "b", t1b1=6, b1=8).ratio(base) is None
    assert Formula().ratio(base) == 0
    assert base.ratio(Formula()) is None
    assert Formula.number(6).ratio(Formula.number(4)) == 1.5
    assert formula("b", b1=6).ratio(Formula.number(4)) is None


# --- rows ----------------------------------------------------------------------------------------


def drawn(text: str) -> list[Row]:
    """Rows of "name parameters", each as deep as it is indented."""
    rows: list[Row] = []
    above: list[int] = []
    for at, line in enumerate(filter(str.strip, text.splitlines())):
        name, count = line.split()
        depth = (len(line) - len(line.lstrip())) // 2
        del above[depth:]
        zero = Formula()
        numbers = Numbers(None, int(count), 0, zero, zero, zero)
        parent = above[-1] if above else None
        rows.append(Row(name, name, parent, depth + 1, False, numbers))  # noqa: FBT003
        above.append(at)
    return rows


def test_rows_are_paired_by_the_names_around_them_and_ordered_by_change() -> None:
    base = "a 10\n  x 4\n  y 6\nb 7\n  x 7\nsame 1\n  z 1\ngone 3\n  inner 3"
    new = "a 9\n  x 3\n  y 6\nb 2\n  x 1\n  more 1\nsame 1\n  z 1"

    def change(pair: Any) -> int:
        sides = [side.numbers.parameters if side else 0 for side in (pair.base, pair.new)]
        return int(sides[1] - sides[0])

    rows = paired_rows(drawn(base), drawn(new), lambda p: change(p) != 0, lambda p: -abs(change(p)))
    assert [(p.row.name, p.status, change(p), p.parent, p.depth) for p in rows] == [
        ("b", "changed", -5, None, 1),
        ("x", "changed", -6, 0, 2),
        ("more", "added", 1, 0, 2),
        ("gone", "removed", -3, None, 1),
        ("inner", "removed", -3, 3, 2),
        ("a", "changed", -1, None, 1),
        ("x", "changed", -1, 5, 2),
    ]


def test_rows_of_one_name_are_paired_in_order() -> None:
    base, new = drawn("a 1\na 2"), drawn("a 1\na 5\na 6")
    rows = paired_rows(base, new, lambda p: p.base != p.new, lambda p: p.row.numbers.parameters)
    values = [(p.status, p.row.numbers.parameters) for p in rows]
    assert values == [("changed", 5), ("added", 6)]


def test_rows_of_other_names_are_paired_if_no_row_has_their_name() -> None:
    """Both b and q are alike c; the name of b is there, so c is new."""
    base, new = drawn("a 1\n  x 1\nb 2\n  y 2\nq 3"), drawn("p 1\n  x 1\nb 4\n  z 2\nc 3")
    alike = {0: 0, 2: 4, 3: 3, 4: 2}
    rows = paired_rows(base, new, lambda p: p.base != p.new, lambda p: p.row.name, alike)
    pairs = [tuple(side.name if side else "" for side in (p.base, p.new)) for p in rows]
    assert pairs == [("b", "b"), ("y", "z"), ("", "c"), ("a", "p"), ("q", "")]


@pytest.mark.parametrize("pair", PAIRS_OF_MODELS)
def test_each_number_is_that_of_a_single_summary_in_both_directions(pair: tuple[str, str]) -> None:
    sides = [load(name) for name in pair]
    single = [
        Counter((row["path"], row["parameters"], row["float_ops"]) for row in side.summary().rows)
        for side in sides
    ]
    there, back = (a.diff(b, "summary").rows for a, b in (sides, sides[::-1]))
    for rows, (base, new) in ((there, single), (back, single[::-1])):
        for row in rows:
            if row["status"] != "added":
                assert any(
                    key[1:] == (row["base_parameters"], row["base_float_ops"]) for key in base
                )
            if row["status"] != "removed":
                assert (row["path"], row["new_parameters"], row["new_float_ops"]) in new
    turned = {"added": "removed", "removed": "added"}
    numbers = [
        Counter(
            (
                turned.get(row["status"], "changed") if at else row["status"],
                *(row[f"{side}_{name}"] for side in order for name in ("parameters", "float_ops")),
            )
            for row in rows
        )
        for at, (rows, order) in enumerate(((there, ("base", "new")), (back, ("new", "base"))))
    ]
    assert numbers[0] == numbers[1]


# --- reports -------------------------------------------------------------------------------------

AMOUNTS: Final = ("parameters", "float_ops", "multiply_adds", "parameter_bytes", "activation_bytes")


@pytest.mark.parametrize(
    ("before", "after", "options"),
    [
        ("cnn", "cnn_short", {"dims": {"batch": 8}}),
        ("cnn_short", "cnn", {"dims": {"batch": 8}}),
        ("mlp", "mlp_wide", {"depth": 3}),
    ],
)
def test_both_sides_are_those_of_single_summaries(
    before: str, after: str, options: dict[str, Any]
) -> None:
    base, new = load(before), load(after)
    report = base.diff(new, "summary", **options)
    sides = {"base": base.summary(**options), "new": new.summary(**options)}
    known = {side: {row["path"]: row for row in one.rows} for side, one in sides.items()}
    assert report.rows
    for row in report.rows:
        for name in AMOUNTS:
            for side, rows in known.items():
                alone = rows.get(row["path"], {}).get(name, 0)
                assert row[f"{side}_{name}"] == alone, (row["path"], side, name)
            before, now = row[f"base_{name}"], row[f"new_{name}"]
            assert row[f"difference_{name}"] == now - before
            assert row[f"ratio_{name}"] == (now / before if before else None)
    outermost = [row for row in report.rows if row["parent"] is None]
    totals = json.loads(b"".join(report.pieces("json")))["totals"]
    for name in AMOUNTS:
        change = sides["new"].total[name] - sides["base"].total[name]
        assert sum(row[f"difference_{name}"] for row in outermost) == change
        assert totals[name]["difference"] == change
    shown = {row["path"] for row in report.rows}
    for path in known["base"].keys() | known["new"].keys():
        differs = any(
            known["base"].get(path, {}).get(name) != known["new"].get(path, {}).get(name)
            for name in (*AMOUNTS, "micros")
        )
        assert (path in shown) == differs, path


def test_open_dimensions_stay_formulas() -> None:
    report = load("cnn").diff(load("cnn_short"), "summary")
    (row,) = report.rows
    assert (row["name"], row["status"]) == ("second", "removed")
    single = next(row for row in load("cnn").summary().rows if row["name"] == "second")
    assert single["float_ops"].endswith("*batch")
    assert row["difference_float_ops"] == f"-{single['float_ops']}"
    assert (row["ratio_float_ops"], row["ratio_parameters"]) == (0, 0)
    assert report.headline.startswith("parameters 898 → 314 (-65.0%), float ops ")


def test_a_report_pickles_once_it_has_been_read() -> None:
    report = load("cnn").diff(load("cnn_short"), "summary")
    text = report.text()
    again = pickle.loads(pickle.dumps(report))  # noqa: S301 - our own
    assert again.text() == text
    assert again.rows == report.rows


def test_equal_models_have_no_differences() -> None:
    model = load("cnn")
    report = model.diff(model, "summary")
    assert (len(report), report.headline) == (0, "No differences.")
    assert report.text().startswith("No differences.\n\n")
    assert b"".join(report.pieces("md")).startswith(b"**No differences.**\n\n\n")
    assert "Layer" not in report.text()


def test_a_renamed_block_is_no_change_of_its_numbers() -> None:
    report = load("mlp").diff(load("mlp_renamed"), "summary")
    assert {row["status"] for row in report.rows} == {"changed"}  # the times differ
    for row in report.rows:
        assert row["difference_parameters"] == row["difference_float_ops"] == 0
    assert "backbone" in report.text()


def test_options_are_those_of_summary() -> None:
    base, new = load("mlp"), load("mlp_wide")
    by_name = base.diff(new, "summary", sort="name").rows
    assert [row["name"] for row in by_name] == ["encoder", "head"]
    one = base.diff(new, "summary", rows=1)
    assert len(one.rows) == 1
    assert "1 row is not shown (--rows hides 1)." in one.text()
    training = base.diff(new, "summary", training=True)
    assert {"forward", "backward"} <= {row["name"] for row in training.rows}
    with pytest.raises(UsageError, match="has no option 'max_depth'"):
        base.diff(new, "summary", max_depth=3)
    with pytest.raises(UsageError, match="there is no column 'size'"):
        base.diff(new, "summary", sort="size").text()
    with pytest.raises(UsageError, match="depth takes a whole number"):
        base.diff(new, "summary", depth=0)


def test_times_are_compared_only_if_both_sides_have_them() -> None:
    base = tfprof.load(PAIRS / "mlp" / "graph.pb.gz")
    report = base.diff(load("mlp"), "summary")
    assert not [name for name in report.table().to_dict() if "micros" in name]
    assert report.headline == "No differences."
