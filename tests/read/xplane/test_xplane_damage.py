"""Traces that are cut off, damaged or made up: a sentence or an answer, never anything else."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from tfprof.errors import InputError
from tfprof.model import Profile
from tfprof.read.xplane import read_trace, with_trace
from xplane_traces import Event, content, environment, graph, host, source

SMALL: Final = ("eager", "kept", "compiled", "compiled_inside", "level2")


def survives(data: bytes, profile: Profile | None = None) -> bool:
    """Whether *data* is read; if not, an InputError says so."""
    try:
        columns = read_trace(source(data, "x.xplane.pb"))
    except InputError as error:
        assert str(error).startswith("x.xplane.pb ")  # noqa: PT017 - it may as well be read
        return False
    with_trace(Profile() if profile is None else profile, columns)
    return True


@pytest.mark.parametrize("case", SMALL)
def test_a_trace_that_is_cut_off_is_said_to_be(case: str) -> None:
    data = content(case)
    cut = [survives(data[:size]) for size in range(0, len(data), 97)]
    # It is whole only where it ends between two planes.
    assert sum(cut) <= 3
    assert survives(data)


def test_a_large_trace_that_is_cut_off_is_said_to_be() -> None:
    data = content("keras")
    assert not any(survives(data[:size]) for size in range(97, len(data) - 97, 97 * 167))


@pytest.mark.parametrize("case", SMALL)
def test_flipped_bits_are_read_or_refused(case: str) -> None:
    drawn = Random(case)  # noqa: S311 - damage need not be a secret
    data = content(case)
    known = graph(case) if case not in ("eager", "level2") else None
    read = 0
    for _ in range(25):
        damaged = bytearray(data)
        for _ in range(drawn.choice([1, 2, 8])):
            damaged[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
        read += survives(bytes(damaged), known)
    assert 0 < read < 25


def test_noise_is_read_or_refused() -> None:
    drawn = Random(7)  # noqa: S311
    assert not all(survives(drawn.randbytes(drawn.randrange(1, 300))) for _ in range(200))


def test_numbers_beyond_all_measure_are_cut_to_it() -> None:
    huge = (1 << 63) - 1
    events = [
        Event("a:Add", 1e12, 1e12),
        Event("b:Add", 2e12, 8e12),
        Event("step", 0, 9e12, stats=[("step_num", huge)]),
        Event("MemoryAllocation", 5e12, 0, stats=[("tf_op", "a"), ("requested_bytes", huge)]),
        Event("MemoryAllocation", 6e12, 0, stats=[("tf_op", "b"), ("requested_bytes", -1)]),
    ]
    columns = read_trace(source(host(*events) + environment(huge, huge)))
    profile = with_trace(Profile(), columns)
    assert profile.steps[0].number == huge
    assert bool((profile.steps[0].us >= 0).all())
    assert bool((profile.steps[0].requested >= 0).all())


@pytest.mark.parametrize(
    "long",
    [
        Event("x" * 100_000 + ":Add"),
        Event("EagerLocalExecute: " + "x" * 100_000),
        Event("a:Add", stats=[("shape", "x" * 100_000)]),
        Event("MemoryAllocation", stats=[("tf_op", "x" * 100_000)]),
        Event("dot", stats=[("hlo_op", "x" * 100_000)]),
    ],
    ids=["name", "eager", "shape", "memory", "instruction"],
)
def test_a_long_text_that_many_events_have_is_refused(long: Event) -> None:
    assert survives(host(long))
    with pytest.raises(InputError, match=r"trace: the strings of 1,000 events .*--limit_row_bytes"):
        read_trace(source(host(*[long] * 1000)))


def test_events_deep_in_each_other_take_no_longer() -> None:
    events = [Event(f"n{row}:Add", row, 20_000 - 2 * row) for row in range(10_000)]
    columns = read_trace(source(host(*events)))
    assert int(columns.events.own_ps.sum()) == 20_000 * 10**6
