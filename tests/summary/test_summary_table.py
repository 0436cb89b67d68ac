"""The table of a summary: times, order, number of rows, units, and sums that can be checked."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from printed_tables import check_sums, printed, read_back
from screens import SIZES, Screen
from small_summaries import loaded, perceptron
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.tables.command_options import SUMMARY_COLUMNS
from tfprof.tables.formats import sample_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def resnet() -> Any:
    return tfprof.load_sample()


# --- times -------------------------------------------------------------------------------------


def test_times_are_those_of_the_nodes(resnet: Any) -> None:
    """By name, from the scope view: a layer has no more than its scope, and most of that."""
    view = resnet.scope(select=["micros"], max_depth=2)
    of_scope = {row.name: row.total_micros for row in view.rows}
    rows = resnet.summary(depth=1).rows
    compared = [row for row in rows if row["name"].startswith("unit_")]
    assert len(compared) == 16
    for row in compared:
        assert 0.95 * of_scope[row["name"]] < row["micros"] <= of_scope[row["name"]]


def test_speed_is_float_operations_per_second(resnet: Any) -> None:
    report = resnet.summary(depth=1)
    for numbers in (report.total, *report.rows):
        if numbers["micros"]:
            expected = numbers["float_ops"] * 1_000_000 // numbers["micros"]
            assert numbers["flops_per_second"] == expected
    assert report.total["micros"] == sum(row["micros"] for row in report.rows)


def test_time_outside_the_model_is_named(resnet: Any) -> None:
    report = resnet.summary()
    every = resnet.scope(select=["micros"]).rows[0].total_micros
    outside = every - report.total["micros"]
    (sentence,) = (each for each in report.sentences if each.startswith("Time: "))
    assert f"{outside:,} us of the {every:,} us of a step" in sentence


def test_without_a_run_there_are_no_times() -> None:
    report = loaded(*perceptron()).summary()
    assert "micros" not in report.total
    assert "FLOP/s" not in str(report)
    with pytest.raises(UsageError, match=r"no column micros to sort by: nothing was timed"):
        _ = loaded(*perceptron()).summary(sort="micros").rows


# --- order and number of rows ------------------------------------------------------------------


def test_rows_are_sorted_inside_their_block() -> None:
    rows = loaded(*perceptron()).summary(sort="parameters").rows
    assert [row["name"] for row in rows] == ["body", "b", "a", "(other)", "head"]
    assert [row["parent"] for row in rows] == [None, 0, 0, 0, None]
    names = [row["name"] for row in loaded(*perceptron()).summary(sort="name").rows]
    assert names == ["body", "(other)", "a", "b", "head"]


def test_formulas_are_sorted_by_their_size() -> None:
    rows = loaded(*perceptron("?")).summary(1, sort="float_ops").rows
    assert [row["float_ops"] for row in rows] == ["800*batch", "96*batch"]


def test_the_first_rows_are_shown_and_the_others_counted() -> None:
    report = loaded(*perceptron()).summary(rows=2)
    text = str(report)
    assert [name.strip() for name in printed(text).names] == ["body", "a"]
    assert "3 rows are not shown (--rows hides 3)." in text.splitlines()
    assert report.total["parameters"] == 448
    assert str(loaded(*perceptron()).summary(rows=5)) == str(loaded(*perceptron()).summary())


@pytest.mark.parametrize("column", SUMMARY_COLUMNS)
def test_every_column_sorts(resnet: Any, column: str) -> None:
    values = [row[column] for row in resnet.summary(1, sort=column).rows]
    numbers = [value for value in values if isinstance(value, int)]
    assert values == sorted(values) if column in ("name", "type") else True
    assert numbers == sorted(numbers, reverse=True)


def test_the_columns_to_sort_by_are_those_of_a_summary(resnet: Any) -> None:
    report = resnet.summary(1)
    assert set(SUMMARY_COLUMNS) == {"name", "type", *report.total}


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(UsageError, match="there is no column 'flops'"):
        _ = loaded(*perceptron()).summary(sort="flops").rows
    with pytest.raises(UsageError, match="rows takes a whole number from 0 "):
        loaded(*perceptron()).summary(rows=-1)


def test_the_command_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    flags = [f"--{n}={v if isinstance(v, str) else ','.join(v)}" for n, v in sample_files().items()]
    assert cli.run(["summary", *flags, "--depth=1", "--sort=micros", "--rows=3"]) == 0
    times = printed(capsys.readouterr().out).cells["Time"]
    assert len(times) == 3
    assert [read_back(time)[0] for time in times] == sorted(
        (read_back(time)[0] for time in times), reverse=True
    )


# --- units and data ----------------------------------------------------------------------------


def test_bytes_and_times_have_units(resnet: Any) -> None:
    table = printed(str(resnet.summary(1)))
    assert table.total["Weights"] == "1.86 MB"
    assert all(cell.endswith("B") for cell in table.cells["Activations"])
    assert all(cell.endswith("s") for cell in table.cells["Time"])


def test_json_and_csv_have_the_new_columns(resnet: Any) -> None:
    report = resnet.summary(1, rows=2, sort="float_ops")
    document = json.loads(b"".join(report.pieces("json")))
    row = document["rows"][0]
    assert document["schema"] == "tfprof.summary/1"
    assert document["truncated"]["hidden_rows"] > 0
    assert row["output_shape"] == [128, 32, 32, 16]
    assert type(row["micros"]) is int
    assert type(row["flops_per_second"]) is int
    (first, *_) = csv.DictReader(io.StringIO(b"".join(report.pieces("csv")).decode()))
    assert first["output_shape"] == "128x32x32x16"
    assert first["type"] == ""


def test_a_data_frame_has_typed_columns(resnet: Any) -> None:
    pytest.importorskip("pandas")
    frame = resnet.summary(1, sort="float_ops").to_pandas()
    assert frame["micros"].dtype.kind == "i"
    assert frame["flops_per_second"].dtype.kind == "i"
    assert list(frame["output_shape"][0]) == [128, 32, 32, 16]


# --- every table adds up -----------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2])
def test_printed_times_add_up(resnet: Any, depth: int) -> None:
    assert "Time" in check_sums(str(resnet.summary(depth))).cells


@pytest.mark.parametrize("form", ["keras3_functional.keras", "keras2_sequential.saved"])
def test_printed_layers_add_up(form: str, model_folder: Callable[[str], Path]) -> None:
    folder = model_folder("layer_names")
    check_sums(str(tfprof.load(folder / form).summary(dims={"batch": 3})))


# --- on a terminal -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_it_fits_the_screen(size: tuple[int, int], model_folder: Callable[[str], Path]) -> None:
    folder = model_folder("layer_names")
    words = ["summary", str(folder / "keras3_functional.keras"), "--depth=1", "--no_pager"]
    code, shown = Screen(words, size).ends()
    assert code == 0
    text = shown[shown.index("net (Functional)") :].replace("\r", "")
    assert max(map(len, text.splitlines())) <= size[1]
    table = printed(text)
    assert "dense_3 (Dense)" in table.names
    assert table.total["Trainable"] == "1,283"  # 16 + 584 + 584 + 56 + 25 + 18
    assert ("Activations" in table.cells) == (size[1] == 200)
    assert ("Left out, as the screen is narrow" in text) == (size[1] < 200)
