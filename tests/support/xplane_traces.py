"""Traces for tests: the recorded ones of data/xplane, and small ones put together by hand."""

from __future__ import annotations

import gzip
import struct
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

import paths
from hostile_parts import number, part, varint
from tfprof.read import load
from tfprof.read.source import Source
from tfprof.read.xplane import read_trace, with_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.model import Profile
    from tfprof.read.xplane import TraceColumns

DATA: Final = paths.DATA / "xplane"
CASES: Final = sorted(path.name for path in DATA.iterdir())
_SAME_GRAPH: Final = {"level2": "loop", "keras_level2": "keras"}
US: Final = 10**6  # picoseconds
Stat = int | float | str | bytes


@cache
def content(case: str, file: str = "trace.xplane.pb") -> bytes:
    return gzip.decompress((DATA / case / f"{file}.gz").read_bytes())


def source(data: bytes, name: str = "trace") -> Source:
    return Source(name, np.frombuffer(data, np.uint8))


@cache
def recorded(case: str) -> TraceColumns:
    return read_trace(source(content(case)))


@cache
def graph(case: str) -> Profile:
    return load(graph=source(content(_SAME_GRAPH.get(case, case), "graph.pb"), "graph"))


@cache
def joined_with_graph(case: str) -> Profile:
    return with_trace(graph(case), recorded(case))


def micros(profile: Profile, step: int | None = None) -> dict[str, int]:
    """The time of every node that took any."""
    return _of_nodes(profile, "micros", step)


def counts(profile: Profile, step: int) -> dict[str, int]:
    """How often every node ran that did."""
    return _of_nodes(profile, "occurrence", step)


def _of_nodes(profile: Profile, metric: str, step: int | None) -> dict[str, int]:
    values = zip(profile.nodes.name.texts(), profile.values(metric, step).tolist(), strict=True)
    return {name: value for name, value in values if value}


# --- by hand ----------------------------------------------------------------------------------


class Event(NamedTuple):
    """An event on a line, in microseconds; an int is a number, a text a text."""

    name: str
    start: float = 0
    long: float = 1
    display: str | None = None  # else what stands behind the colon
    stats: Sequence[tuple[str, int | str]] = ()
    kind_stats: tuple[tuple[str, Stat], ...] = ()  # of its metadata


def plane(
    name: str, lines: Mapping[str, Sequence[Event]], metadata: Sequence[Event] = (), **stats: Stat
) -> bytes:
    """A plane of an XSpace with these lines of events, and *metadata* without events."""
    kinds: dict[tuple[str, str, tuple[tuple[str, Stat], ...]], int] = {}
    names: dict[str, int] = {}
    for event in metadata:
        kinds[event.name, event.display or "", event.kind_stats] = len(kinds) + 1
    body = [part(2, name.encode())]
    for at, (line, events) in enumerate(lines.items()):
        made = [number(1, at), part(2, line.encode()), number(3, 1000)]
        for event in events:
            after_colon = event.name.rpartition(":")[2] if ":" in event.name else ""
            display = after_colon if event.display is None else event.display
            kind = kinds.setdefault((event.name, display, event.kind_stats), len(kinds) + 1)
            moment = (number(2, int(event.start * US)), number(3, int(event.long * US)))
            stats_of = (part(4, _stat(names, stat, value)) for stat, value in event.stats)
            made.append(part(4, number(1, kind), *moment, *stats_of))
        body.append(part(3, *made))
    for (kind_name, display, kind_stats), kind in kinds.items():
        told = [number(1, kind), part(2, kind_name.encode()), part(4, display.encode())]
        told += [part(5, _stat(names, stat, fact)) for stat, fact in kind_stats]
        body.append(part(4, number(1, kind), part(2, *told)))
    body += [part(6, _stat(names, stat, said)) for stat, said in stats.items()]
    for stat, at in names.items():
        body.append(part(5, number(1, at), part(2, number(1, at), part(2, stat.encode()))))
    return part(1, *body)


def host(*events: Event, **lines: Sequence[Event]) -> bytes:
    """A plane of the host: these events on a thread, and more threads."""
    return plane("/host:CPU", {"python": events, **lines})


def environment(level: int = 3, start_ns: int = 1_700_000_000_000_000_000) -> bytes:
    options = number(2, level)
    return plane("Task Environment", {}, profile_start_time=start_ns, profile_options=options)


def trace(*planes: bytes) -> TraceColumns:
    return read_trace(source(b"".join(planes)))


def _stat(names: dict[str, int], name: str, value: Stat) -> bytes:
    """A stat; like a name, a text stands among the *names* and is referred to."""
    key = number(1, names.setdefault(name, len(names) + 1))
    if isinstance(value, int):
        return key + number(4, value)
    if isinstance(value, float):
        return key + varint(2 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, str):
        return key + number(7, names.setdefault(value, len(names) + 1))
    return key + part(6, value)
