"""Reading a trace: in chunks, without what nobody asks for, and with metadata of any numbers."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tfprof.columns import blocks
from tfprof.read.xplane import planes, read_trace
from tfprof.read.xplane.nesting import LineEvents
from xplane_traces import CASES, Event, content, host, plane, source, trace

if TYPE_CHECKING:
    from types import ModuleType

    from tfprof.read.xplane import TraceColumns


def listed(columns: TraceColumns) -> list[Any]:
    """What a trace is read into, as lists."""
    *events, names = columns.events
    parts: list[Any] = [*events, *names, *columns.memory, columns.devices, columns.step_number]
    return [part.tolist() for part in parts]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("module", "constant", "value"),
    [(blocks, "_ROWS", 7), (blocks, "_ROWS", 1), (planes, "_CLOSE", 0)],
    ids=["blocks of 7", "blocks of 1", "no tables"],
)
def test_chunks_and_tables_of_numbers_change_nothing(
    monkeypatch: pytest.MonkeyPatch, case: str, module: ModuleType, constant: str, value: int
) -> None:
    """A block may end anywhere, and metadata may have numbers that no table holds."""
    expected = listed(read_trace(source(content(case))))
    monkeypatch.setattr(module, constant, value)
    assert listed(read_trace(source(content(case)))) == expected


@pytest.mark.parametrize("apart", [1, 60, 1 << 40], ids=["dense", "gaps", "sparse"])
def test_finding_one_number_does_not_go_through_all_of_them(apart: int) -> None:
    """Each block of events finds its metadata: a copy or a sort each time would be quadratic."""
    count = 50_000
    number = np.random.default_rng(7).permutation(count) * apart
    numbers = planes._Numbers.of(np.zeros(count, np.int64), number)
    tracemalloc.start()
    try:
        row = numbers.find(np.zeros(1, np.int64), number[123:124])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert row.tolist() == [123]
    assert most < count  # not even one byte each


@pytest.mark.parametrize("large", [5, 1 << 40, (1 << 63) - 1])
def test_metadata_are_found_by_plane_and_number(large: int) -> None:
    """Of two with the same number, the later one counts."""
    rows = [(0, 3), (2, large), (0, large), (2, 0), (0, 3), (2, -large), (2, 4)]
    wanted = [(plane, at) for plane in range(4) for at in (0, 1, 3, 4, 6, large, -1, -large)]
    for known in (rows, rows[:5], [(1, 1)], []):
        numbers = planes._Numbers.of(*np.array(known, np.int64).reshape(-1, 2).T)
        found = numbers.find(*np.array(wanted, np.int64).T).tolist()
        last = {pair: row for row, pair in enumerate(known)}
        assert found == [last.get(pair, -1) for pair in wanted]


def test_events_and_stats_that_nobody_asks_for_are_skipped() -> None:
    data = host(
        Event("a:MatMul", 0, 2, stats=[("id", 3), ("ready_size", 4)]),
        Event("ThreadpoolListener::Record", 1, stats=[("_p", 5)]),
        Event("train", 1, stats=[("step_num", 6)]),
    )
    data += plane("/device:GPU:0", {"x": [Event("y")]})
    space = planes.read_space(np.frombuffer(data, np.uint8))
    kinds = [space.kind[int(row)] for row in space.event_kind]
    assert kinds == [b"a:MatMul", b"train", b"y"]
    stats = space.event_stats
    assert [stats.names[int(row)] for row in stats.name] == [b"id", b"step_num"]
    assert (stats.owner.tolist(), stats.number.tolist()) == ([0, 1], [3, 6])


def test_a_stat_that_is_not_read_cannot_be_asked_for() -> None:
    space = planes.read_space(np.frombuffer(host(Event("a:MatMul")), np.uint8))
    with pytest.raises(AssertionError, match="only these are read"):
        space.event_stats.named(b"ready_size")


def test_names_are_kept_once_in_order_of_appearance() -> None:
    columns = trace(
        host(
            Event("b:MatMul", 1), Event("a:Relu", 3), Event("b:MatMul", 5),
            Event("EagerLocalExecute: Add", 7), Event("a:Relu", 9),
            Event("train", 4, 6, stats=[("step_num", 1)]),
        )
    )  # fmt: skip
    assert columns.events.names.name.tolist() == [b"b", b"a", b"_eager/Add"]
    assert columns.events.what.tolist() == [0, 1, 0, 2, 1]
    inside = columns.events.take(np.flatnonzero(columns.events.step >= 0))
    assert inside.name.tolist() == [b"b", b"_eager/Add", b"a"]
    assert inside.names.name.tolist() == [b"b", b"_eager/Add", b"a"]


@pytest.mark.parametrize("latest", [1_000, 10**18])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_nesting_on_many_lines_at_any_time(latest: int, is_sorted: bool) -> None:  # noqa: FBT001 - a parameter
    """Numbers for (line, time) may exceed 64 bits; lines are sorted or not."""
    rows = [
        (line, start, long)
        for line in range(12)
        for start, long in ((0, 10), (2, 5), (3, 2), (8, 1), (latest, 10), (latest + 4, 4))
    ]
    rows = rows if is_sorted else rows[::-1]
    events = LineEvents(*np.array(rows, np.int64).T)
    own = {(0, 10): 4, (2, 5): 3, (3, 2): 2, (8, 1): 1, (latest, 10): 6, (latest + 4, 4): 4}
    spans = events.spans()
    assert spans.own().tolist() == [own[start, long] for _, start, long in rows]
    moments = LineEvents(*np.array([(11, at, 0) for at in (4, 6, 9, 10, latest + 8)], np.int64).T)
    around = [rows[row][1:] if row >= 0 else None for row in spans.around(moments).tolist()]
    assert around == [(3, 2), (2, 5), (0, 10), None, (latest, 10)]
