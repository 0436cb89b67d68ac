"""Markdown: a table that reads like the text, whatever the names are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import draw
from case import Case, GraphDef
from goldens import CASES, Golden
from json_documents import ODD, asked, document
from ours import load
from tfprof.foundation import units
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.results.report_table import report_table
from tfprof.tables.fields import FIELDS
from tfprof.writers.markdown_table import markdown_table

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.query.counted import Answer


def table(report: Answer) -> tuple[list[list[str]], str]:
    """The cells of the table, and what stands below it."""
    lines, _, below = b"".join(markdown_table(report_table(report))).decode().partition("\n\n")
    return [cells(line) for line in lines.rstrip("\n").split("\n")], below


def cells(line: str) -> list[str]:
    assert line.startswith("| ")
    assert line.endswith(" |")
    return re.split(r"(?<!\\)\|", line[2:-2].replace("\\\\", "\0"))


def read(cell: str) -> str:
    """A cell as a reader sees it."""
    shown = re.sub(r"^(&emsp;)+", "", cell.strip(" ")).replace("<br>", "\n")
    return re.sub(r"\\(.)", r"\1", shown, flags=re.DOTALL).replace("\0", "\\")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_golden_has_the_numbers_of_its_json_with_units(path: Path) -> None:
    report = asked(Golden(path))
    (head, rule, *lines), below = table(report)
    made = document(report)
    assert {len(line) for line in [head, rule, *lines]} == {len(head)}
    assert len(lines) == len(made["rows"])
    for line, row in zip(lines, made["rows"], strict=True):
        told = dict(zip(map(str.strip, head), map(read, line), strict=True))
        assert told["node name"] == row["name"]
        for name, value in row.items():
            side, _, metric = name.partition("_")
            if side not in ("own", "total"):
                continue
            unit = FIELDS[metric].unit if metric in FIELDS else units.count
            assert unit is not None
            unseen = side == "own" and not row["accounted"]
            title = name.replace("_", " ")
            # In a list, a total adds all rows that follow.
            title = f"running {title}" if (made["view"], side) == ("op", "total") else title
            assert told[title] == ("--" if unseen else unit(value))
    hidden = made["truncated"]["hidden_rows"]
    rows = "1 row is" if hidden == 1 else f"{hidden:,} rows are"
    assert below.startswith(f"{rows} not shown (") if hidden else not below


def test_a_small_table() -> None:
    profile = draw.profile("w op=VariableV2 params=3x4\nw/Momentum op=VariableV2 params=3x4")
    query = Query.of({"select": ["params"], "max_depth": 2, "account_type_regexes": ["Var.*"]})
    assert b"".join(markdown_table(report_table(answer(profile, "scope", query)))).decode() == (
        "| node name | shape | own params | total params |\n"
        "| :-- | :-- | --: | --: |\n"
        "| \\_TFProfRoot |  | -- | 24 |\n"
        "| &emsp;w | 3x4 | 12 | 24 |\n"
        "\n"
        "1 row is not shown (max\\_depth hides 1).\n"
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(ODD, min_size=1, max_size=4, unique=True))
def test_any_name_stays_in_its_cell(names: list[str]) -> None:
    graph = GraphDef(node=[{"name": name, "op": "NoOp"} for name in names])
    case = Case("graph", graph=graph.SerializeToString())
    report = answer(load(case), "graph", Query.of({"select": ["device"]}))
    (_, _, _, *lines), _ = table(report)
    assert len(lines) == len(names)
    for name, line in zip(sorted(names, key=lambda name: name.encode()), lines, strict=True):
        assert len(line) == 2
        seen = re.sub(r"\r\n|\r", "\n", name)
        assert read(line[0]).strip(" ") == seen.strip(" ")
