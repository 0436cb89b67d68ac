"""Time us and the original in one run.

    python bench/run.py [--sizes 1k,10k,100k] [--full] [--only cold,load] [--repeat 1] [--publish]

Inputs are generated once a size under the output folder and kept. The tables go to standard output
and to OUT/table.md, with --publish to docs/performance.md too; the exit code is 1 if an answer
differs or a side fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cold import cold
from diff import diffs
from event_files import event_files
from fleet import FULL, Fleets, fleets
from inputs import HERE, inputs
from machine import described
from many_steps import NODES, many_steps
from page import pages
from plan import plan
from programs import programs
from publish import publish
from rows import Row, Size, Turns, short
from table import PHASES, said, tables
from texts import texts
from trace_rows import CASES, traces
from trace_rows import FULL as LONG_TRACES
from warm import loads_and_questions
from worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LETTERS = {"k": 1_000, "m": 1_000_000}
_FULL = 1_000_000


def size(word: str) -> int:
    """10k → 10000."""
    scale = _LETTERS.get(word[-1:].lower(), 1)
    return int(word.rstrip("kKmM")) * scale


_APART = {"events", "fleet", "trace"}


def apart(out: Path, nodes: int, repeat: int, only: set[str]) -> Iterator[Row]:
    """What has inputs of its own; they are larger where the largest size is asked for."""
    if "events" in only and nodes == NODES:
        yield from event_files(out, repeat)
    if "fleet" in only and nodes in {NODES, _FULL}:
        yield from fleets(out, FULL if nodes == _FULL else Fleets())
    if "trace" in only and nodes in {NODES, _FULL}:
        yield from traces(out, LONG_TRACES if nodes == _FULL else CASES, repeat)


def measure(out: Path, nodes: int, repeat: int, only: set[str]) -> Iterator[Row]:
    """All rows of a size."""
    yield from apart(out, nodes, repeat, only)
    if only <= _APART:
        return
    given, often = inputs(out, Size(nodes)), plan(nodes, repeat)
    if "cold" in only:
        yield from cold(given, often)
    if only & {"load", "query", "chart"}:
        yield from loads_and_questions(given, often, only)
    if "load" in only:
        yield from programs(given, often)
    if "text" in only:
        yield from texts(given, often)
    if "page" in only:
        yield from pages(given, often)
    if "diff" in only:
        yield from diffs(out, nodes, often)
    if "steps" in only and nodes == NODES:
        yield from many_steps(out, repeat)


def measured(out: Path, nodes: int, repeat: int, only: set[str]) -> Iterator[Row]:
    """The same; what goes wrong outside of a measurement, as a full disk, is a row as well."""
    try:
        yield from measure(out, nodes, repeat, only)
    except (OSError, WorkerError) as error:
        yield Row("load", "everything else", Size(nodes), Turns([], [], str(error)), "")


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description="Time us and the original in one run.")
    parser.add_argument("--sizes", default="1k,10k,100k", help="numbers of nodes")
    parser.add_argument("--full", action="store_true", help="1M nodes, too")
    parser.add_argument(
        "--repeat", type=int, default=0, help="measurements a row, if not as planned"
    )
    parser.add_argument("--only", default=",".join(PHASES), help="phases to run")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="inputs, answers, table")
    parser.add_argument("--publish", action="store_true", help="write to docs/performance.md")
    asked = parser.parse_args()
    asked.only = set(asked.only.split(","))
    if unknown := asked.only - set(PHASES):
        parser.error(f"unknown phases: {', '.join(sorted(unknown))}; known: {', '.join(PHASES)}")
    asked.sizes = {size(word) for word in asked.sizes.split(",")} | (
        {_FULL} if asked.full else set()
    )
    return asked


def report(rows: list[Row], seconds: float) -> str:
    """The machine and the tables."""
    sizes = ", ".join(short(nodes) for nodes in sorted({row.size.nodes for row in rows}))
    return f"{described()}- {sizes} nodes in {seconds / 60:.0f} minutes\n\n{tables(rows)}"


def main() -> int:
    """Measure and print."""
    asked = arguments()
    out = asked.out.resolve()
    rows: list[Row] = []
    text, start = "", time.monotonic()
    for nodes in sorted(asked.sizes):
        for measured_row in measured(out, nodes, asked.repeat, asked.only):
            passed = time.monotonic() - start
            for row in measured_row.variants():
                sys.stderr.write(f"{passed:5.0f} s  {said(row)}\n")
                rows.append(row)
            text = report(rows, passed)
            (out / "table.md").write_text(text, encoding="utf-8")  # what there is so far
    sys.stdout.write(text)
    if asked.publish:
        publish(text)
    return int(any(row.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
