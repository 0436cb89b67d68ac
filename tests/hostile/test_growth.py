"""Nothing is quadratic, and what is long is never whole: told by counting, not by a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from hostile_parts import attribute, device, node, output_shapes, part, shape, stat
from tfprof import read
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import Source
from tfprof.results.report import Report
from tfprof.writers.numbers import CHUNK, chunks
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline
from traced_peak import peak_and

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfprof.model import Profile

CPU, GPU = b"/job:w/device:CPU:0", b"/job:w/device:GPU:0"
EVERYTHING: Final = {"max_depth": 1 << 40}


def loaded(nodes: Iterable[bytes], *runs: bytes, log: bytes = b"") -> Profile:
    def source(data: bytes) -> Source:
        return Source("it", np.frombuffer(data, np.uint8))

    graph = source(b"".join(nodes))
    return read.load(graph, [source(run) for run in runs], source(log) if log else None)


def plain(name: bytes, *inputs: bytes) -> bytes:
    return node(name, b"MatMul", output_shapes(shape(2, 3)), inputs=inputs)


def run(stats: dict[bytes, list[tuple[bytes, int]]]) -> bytes:
    """A RunMetadata: (name, start) of what each device ran, for seven microseconds each."""
    ran = {name: [stat(*each, 7) for each in listed] for name, listed in stats.items()}
    return part(1, *(device(name, *listed) for name, listed in ran.items()))


def peak_and_total(pieces: Callable[[], Iterable[bytes]]) -> tuple[int, int]:
    """(the most memory that making *pieces* took, their length)."""
    return peak_and(lambda: sum(map(len, pieces())))


# --- what is long is made in pieces --------------------------------------------------------------


def deep(names: int, parts: int = 1_000) -> Profile:
    """Nodes a thousand scopes down, each in its own: as many rows, with long names."""
    below = b"".join(b"/part%d" % part for part in range(parts - 1))
    listed = [b"scope%d%b" % (number, below) for number in range(names)]
    ran = {CPU: [(name, 100 + 10 * at) for at, name in enumerate(listed)]}
    return loaded(map(plain, listed), run(ran))


@pytest.fixture(scope="module")
def report() -> Report:
    """A report of ten thousand rows whose names alone are 38 megabytes."""
    made = Report(answer(deep(10), "scope", Query.of({**EVERYTHING, "select": ["micros"]})))
    assert int(made.answer.label.length.sum()) > 38_000_000
    return made


@pytest.mark.parametrize("form", ["json", "csv", "md", "proto"])
def test_a_long_report_is_never_whole(report: Report, form: str) -> None:
    peak, total = peak_and_total(lambda: report.pieces(form))
    assert total > 38_000_000
    assert peak < total / 2


def test_a_long_flame_chart_is_never_whole(report: Report) -> None:
    peak, total = peak_and_total(timeline(report.answer).pieces)
    assert total > 110_000_000
    assert peak < total / 4


def test_the_strings_of_pprof_are_never_all_there(report: Report) -> None:
    """Packed, the file is small; what it is packed from is not, and is not held either."""
    peak, _ = peak_and_total(lambda: report.pieces("pprof"))
    assert peak < int(report.answer.label.length.sum()) / 2


def test_a_row_of_many_nodes_is_written_in_pieces() -> None:
    """A message of one operation type holds them all."""
    count = 3 * CHUNK
    profile = loaded(plain(b"x" * 600 + b"%d" % number) for number in range(count))
    made = Report(answer(profile, "op", Query.of({})))
    pieces = list(made.pieces("proto"))
    assert sum(map(len, pieces)) > 600 * count
    assert max(map(len, pieces)) < 700 * CHUNK
    whole = made.proto()
    assert len(whole.children[0].graph_nodes) == count
    assert whole.SerializeToString(deterministic=True)


def test_a_saved_profile_is_never_whole() -> None:
    count = 4 * CHUNK
    profile = loaded(plain(b"x" * 600 + b"%d" % number) for number in range(count))
    peak, total = peak_and_total(lambda: saved(profile))
    assert total > 600 * count
    assert peak < total


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_runs_of_rows_are_all_rows(count: int) -> None:
    rows = [row for run in chunks(count) for row in range(count)[run]]
    assert rows == list(range(count))


def test_runs_of_long_rows_are_short() -> None:
    size = np.array([1, 1 << 30, 1, 1 << 19, 1 << 19, 1, 1])
    runs = [(run.start, run.stop) for run in chunks(size.size, size)]
    assert runs == [(0, 1), (1, 2), (2, 4), (4, 7)]


# --- nothing is quadratic ------------------------------------------------------------------------


def repeated(times: int, devices: dict[bytes, bytes]) -> Profile:
    """Two nodes, y taking x, that ran so often on their *devices*."""
    stats: dict[bytes, list[tuple[bytes, int]]] = {}
    for place, (name, where) in enumerate(devices.items()):
        ran = [(name, 100 + 20 * at + 9 * place) for at in range(times)]
        stats.setdefault(where, []).extend(ran)
    return loaded([plain(b"x"), plain(b"y", b"x")], run(stats))


def chart(profile: Profile) -> Callable[[], Iterable[bytes]]:
    asked = Query.of({**EVERYTHING, "step": 0})
    return lambda: timeline(answer(profile, "graph", asked)).pieces()


def test_what_runs_on_one_device_has_no_arrows_and_pays_for_none() -> None:
    """Nine million pairs of executions, not one of which is an arrow."""
    profile = repeated(3_000, {b"x": CPU, b"y": CPU})
    peak, total = peak_and_total(chart(profile))
    assert total > 3_000 * 2 * 80
    assert peak < 8_000_000


def test_arrows_are_never_all_there() -> None:
    """Each of 300 executions points at 300 others."""
    profile = repeated(300, {b"x": CPU, b"y": GPU})
    pieces = list(chart(profile)())
    text = b"".join(pieces)
    assert text.count(b'"ph":"s"') == text.count(b'"ph":"t"') == 300 * 300
    numbers = [int(part.split(b",")[0]) for part in text.split(b'"id":')[1::2]]
    assert numbers == list(range(1, 300 * 300 + 1))
    assert max(map(len, pieces)) < len(text) / 5


def test_a_step_costs_what_it_has() -> None:
    """A metric is added up over steps without a column a step."""
    nodes, steps = 20_000, 60
    profile = loaded(
        (plain(b"x%d" % number) for number in range(nodes)),
        *(run({CPU: [(b"x7", 100 + step)]}) for step in range(steps)),
    )
    peak, sums = peak_and(
        lambda: [int(profile.values(name, None).sum()) for name in ("micros", "occurrence")]
    )
    assert sums == [7, 1]
    # The two answers, and what a division makes of them.
    assert peak < 8 * 8 * nodes


def test_devices_cost_what_they_have() -> None:
    """As many devices as nodes: the timeline is as long as both, and takes no more memory."""
    count = 1_500
    stats = {
        b"/job:w/task:%d/device:GPU:0" % number: [(b"x%d" % number, 100 + number)]
        for number in range(count)
    }
    profile = loaded((plain(b"x%d" % number) for number in range(count)), run(stats))
    peak, total = peak_and_total(chart(profile))
    assert total > 500 * count
    assert peak < 16 * total


def test_attributes_of_one_graph_are_not_copied() -> None:
    """Tensors among them may be most of a file."""
    big = node(b"c", b"Const", attribute(b"value", bytes(4_000_000)))
    profile = loaded([big, plain(b"x")])
    peak, (owner, entry) = peak_and(lambda: profile.attributes)
    assert owner.tolist() == [0, 1]
    assert int(entry.length[0]) > 4_000_000
    assert peak < 100_000
