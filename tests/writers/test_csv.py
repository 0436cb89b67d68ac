"""CSV: every golden cell by cell, and no name that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case import Case, GraphDef
from goldens import CASES, Golden
from json_documents import ODD, asked, document
from ours import load
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.results.report_table import report_table
from tfprof.results.table import flat
from tfprof.writers.csv_table import csv_table

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.query.counted import Answer

WHITE = "".join(one for one in map(chr, range(0x3001)) if one.isspace())
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table(report: Answer) -> list[list[str]]:
    text = b"".join(csv_table(report_table(report))).decode()
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_golden_has_the_cells_of_its_json(path: Path) -> None:
    report = asked(Golden(path))
    head, *lines = table(report)
    rows = document(report)["rows"]
    assert head == [column.name for column in report_table(report).columns] == list(rows[0])
    assert len(lines) == len(rows)
    for cells, row in zip(lines, rows, strict=True):
        for cell, (name, value) in zip(cells, row.items(), strict=True):
            assert cell == expected(name, value)


def expected(name: str, value: Any) -> str:
    """A cell as written out by hand."""
    if name == "input_shape_groups":
        return "; ".join(
            f"{inputs(g['shapes'], ',')} runs={g['runs']} defined={g['defined']} "
            f"micros={g['micros']}".strip()
            for g in value
        )
    if name == "input_shapes":
        return inputs(value, "|")
    if name == "shape":
        return "x".join(map(str, value or []))
    if isinstance(value, list):
        return "|".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def inputs(shapes: list[list[int] | None], between: str) -> str:
    texts = ("x".join(map(str, dims)) if dims else "unknown" for dims in shapes)
    return between.join(f"{at}:{text}" for at, text in enumerate(texts))


@settings(deadline=None, max_examples=60)
@given(st.lists(ODD, min_size=1, max_size=4, unique=True))
def test_any_name_comes_back_and_none_is_a_formula(names: list[str]) -> None:
    graph = GraphDef(node=[{"name": name, "op": "NoOp"} for name in names])
    case = Case("graph", graph=graph.SerializeToString())
    _, _, *lines = table(answer(load(case), "graph", Query.of({"select": []})))
    for name, cells in zip(sorted(names, key=lambda name: name.encode()), lines, strict=True):
        begins = name.startswith(("\n", *FORMULA)) or name.strip("\ufeff\u200b" + WHITE).startswith(
            ("\uff1d", "\uff0b", "\uff0d", "\uff20", *FORMULA[:4])
        )
        assert cells[3] == (f"'{name}" if begins else name)
        assert not cells[3].startswith(FORMULA)


def test_numbers_below_zero_stay_numbers() -> None:
    assert flat("number", -3) == "-3"
    graph = GraphDef(node=[{"name": "=1+1", "op": "NoOp"}])
    case = Case("graph", graph=graph.SerializeToString())
    text = b"".join(csv_table(report_table(answer(load(case), "graph", Query.of({"select": []})))))
    assert text.endswith(b"\r\n1,0,2,'=1+1,true\r\n")
