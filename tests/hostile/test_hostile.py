"""Whatever is in a file, every command ends in a result or in one sentence; hostile.py says how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import hostile_archives
import hostile_checkpoints
import hostile_events
import hostile_flat
import hostile_forms
import hostile_functions
import hostile_graphs
import hostile_hdf5
import hostile_kinds
import hostile_layers
import hostile_logs
import hostile_loops
import hostile_names
import hostile_profiles
import hostile_programs
import hostile_runs
import hostile_texts
import hostile_traces
from hostile import Row, Worker, lines_of, problems
from sampling import sampled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTS = (
    hostile_graphs, hostile_functions, hostile_loops, hostile_names, hostile_texts, hostile_runs,
    hostile_logs, hostile_profiles, hostile_checkpoints, hostile_archives, hostile_events,
    hostile_forms, hostile_hdf5, hostile_layers, hostile_traces, hostile_flat, hostile_programs,
    hostile_kinds,
)  # fmt: skip
CATALOGUE = [row for part in PARTS for row in part.ROWS]


# A sample gives each row to scope view and to so many other commands; files that are large to one.
BESIDE, LARGE = 3, 100_000


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.close()


def test_rows_have_names_of_their_own() -> None:
    names = [row.name for row in CATALOGUE]
    assert len(names) == len({*names})


@pytest.mark.sampled
@pytest.mark.parametrize(
    "row", sampled(CATALOGUE, 45, "hostile", again=True), ids=lambda row: row.name
)
def test_hostile_input(worker: Worker, tmp_path: Path, row: Row) -> None:
    size = row.write(tmp_path)
    beside = BESIDE if size < LARGE else 1
    outcomes = [*worker.ask(tmp_path, lines_of(row, tmp_path, beside))]
    assert not problems(row, size, outcomes)
