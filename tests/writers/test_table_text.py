"""Fitted tables: --format=table at any width."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pytest

import draw
from printed import printed
from profiles import PROFILES
from screens import SIZES, Screen
from tfprof.results.loaded import Loaded
from tfprof.results.table import Column, Hidden, Table
from tfprof.writers.numbers import percent
from tfprof.writers.table_text import table_text

# The whole is 200 us: 150 of the block, 50 of the rest, and a little that is not shown.
MODEL: Final = """
block/matmul   op=MatMul us=120
block/add      op=Add us=30
rest           op=Relu us=50
"""

SAME: Final = (
    "Left out: own accelerator micros, total accelerator micros (nothing in any row); "
    "own cpu micros (the same as own micros); total cpu micros (the same as total micros)."
)


def text(table: Table, width: int | None = None) -> list[str]:
    return b"".join(table_text(table, width)).decode().splitlines()


def scope(**options: object) -> Table:
    return Loaded(draw.profile(MODEL)).scope(order_by="micros", **options).table()


def test_a_tree_with_shares_and_bars() -> None:
    assert text(scope()) == [
        "scope view",
        "node name         own micros  total micros   share",
        "─" * 62,
        "_TFProfRoot               --         200us  100.0%  ██████████",
        "  block                  0us         150us   75.0%  ███████▌",
        "    block/matmul       120us         120us   60.0%  ██████",
        "    block/add           30us          30us   15.0%  █▌",
        "  rest                  50us          50us   25.0%  ██▌",
        "",
        SAME,
    ]


def test_a_list_has_shares_of_its_own_numbers_and_running_totals() -> None:
    table = Loaded(draw.profile(MODEL)).op(order_by="micros").table()
    assert text(table)[1:7] == [
        "node name    own micros  share          running total micros",
        "─" * 60,
        "_TFProfRoot          --                                200us",
        "MatMul            120us  60.0%  ██████                 200us",
        "Relu               50us  25.0%  ██▌                     80us",
        "Add                30us  15.0%  █▌                      30us",
    ]


def test_an_accelerator_that_ran_has_its_columns() -> None:
    profile = draw.profile("a op=A us=30 on=/gpu:0 gpu=10\nb op=B us=10 on=/cpu:0")
    heads = text(Loaded(profile).scope().table())[1]
    assert "total accelerator micros" in heads
    assert "total cpu micros" in heads


def test_hidden_rows_are_counted() -> None:
    assert text(scope(max_depth=2))[-1] == "2 rows are not shown (max_depth hides 2)."


def test_a_total_that_is_not_known_in_full_has_no_shares() -> None:
    report = Loaded(draw.profile("a op=MatMul\nb op=Relu out=2x3 < a")).scope(select=["float_ops"])
    assert any("?" in line or "≥" in line for line in text(report.table()))
    assert "share" not in text(report.table())[1]


# --- widths ------------------------------------------------------------------------------------


def wide(columns: int, rows: int = 3) -> Table:
    """Numbers in columns c0, c1 …, with names of 60 characters."""
    names = [f"scope_{row}/{'x' * 40}/the_name_{row:03}" for row in range(rows)]
    numbers = [
        Column(f"c{n}_number", "number", np.arange(rows) + 10**6 + n, str) for n in range(columns)
    ]
    name = Column("name", "text", names, placing=True)
    return Table("wide", "x/1", (name, *numbers), rows, hiding=Hidden(), sparse=True)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("columns", [1, 4, 9, 40])
def test_no_line_is_wider_than_the_screen(width: int, columns: int) -> None:
    lines = text(wide(columns), width)
    assert max(map(len, lines)) <= width
    shown = sum(f"c{n} " in lines[1] for n in range(columns))
    shown += sum(f"c{n}" in lines[1].split() for n in range(columns) if f"c{n} " not in lines[1])
    below = " ".join(lines[lines.index("") :])
    left_out = re.findall(r"c\d+ number", below)
    assert ("as the screen is narrow" in below) == bool(left_out)
    assert shown + len(left_out) == columns
    # What stands at the right goes first, and names keep both their ends.
    assert left_out == [f"c{n} number" for n in range(shown, columns)]
    row = lines[4 if "number" in lines[2] else 3]
    assert row.startswith("scope_0")
    assert "the_name_000" in row[:width]


def test_without_a_screen_nothing_is_shortened_or_left_out() -> None:
    lines = text(wide(40))
    assert all(f"c{n} number" in lines[1] for n in range(40))
    assert f"scope_2/{'x' * 40}/the_name_002" in lines[5]


def test_long_names_lose_what_the_row_above_says() -> None:
    long = "a_scope_with_a_name"
    profile = draw.profile(f"{long}/first_part/x op=A us=30\n{long}/other op=B us=10")
    lines = text(Loaded(profile).scope(order_by="micros").table(), 60)
    rows = lines[next(n for n, line in enumerate(lines) if line.startswith("─")) + 1 :]
    names = [re.sub(r"^( *\S+).*", r"\1", row) for row in rows[: rows.index("")]]
    assert names == ["_TFProfRoot", f"  {long}", "    first_part", "      x", "    other"]
    assert f"    {long}/first_part" in "\n".join(text(Loaded(profile).scope().table()))


def test_running_totals_give_way_first_and_the_main_share_last() -> None:
    table = Loaded(draw.profile(MODEL)).op(order_by="micros", select=["micros", "bytes"]).table()
    lines = text(table, 46)
    assert max(map(len, lines)) <= 46
    assert "60.0%" in "\n".join(lines)
    assert "running total micros" in " ".join(lines[lines.index("") :])


def test_shares_as_people_read_them() -> None:
    assert [percent(share) for share in (1, 0.5, 0.00049, 0.0005, 0, None)] == [
        "100.0%", "50.0%", "<0.1%", "0.1%", "0.0%", "",
    ]  # fmt: skip


# --- the command -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["scope", "graph", "op", "code", "summary", "advise", "info"])
def test_every_result_has_a_table(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [command, *PROFILES["handmade"].flags(), "--format=table"]
    lines = printed(capsys, *words).splitlines()
    (rule,) = {line for line in lines if set(line) == {"─"}}
    assert lines.index(rule) in (1, 2)


# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_terminal_gets_a_table_of_its_width(size: tuple[int, int]) -> None:
    words = ["code", *PROFILES["handmade"].flags(), "--format=table", "--select=micros,bytes"]
    code, sent = Screen([*words, "--no-pager"], size).ends()
    body = sent[sent.index("code view\n") :]
    assert code == 0
    assert max(map(len, body.splitlines())) <= size[1]
