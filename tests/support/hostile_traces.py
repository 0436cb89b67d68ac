"""Hostile traces (XSpace): times that cannot be, events without end, and what XLA never wrote."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hostile import Content, Row, joined
from hostile_parts import GRAPH, INT64_MAX, INT64_MIN, LENGTHS, nested, number, part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_DAMAGED: Final = "is damaged or cut off"
# Numbers of the metadata that every trace here has.
_STATS: Final = (b"step_num", b"hlo_op", b"program_id", b"Hlo Proto", b"id", b"addr",
                 b"requested_bytes", b"tf_op", b"region_type", b"shape", b"is_func", b"eager_op",
                 b"profile_start_time", b"profile_options")  # fmt: skip
_KINDS: Final = (b"s/mul:MatMul", b"w:VariableV2", b"train", b"FunctionRun",
                 b"ExecutorState::Process", b"ExecutorPropagateOutputs", b"MemoryAllocation",
                 b"MemoryDeallocation", b"EagerLocalExecute: MatMul", b"a" * 1_000_000 + b":NoOp",
                 b"x:_FusedMatMul", b"\xff\xfe:\x1b[31m")  # fmt: skip


def plane(name: bytes, *parts: bytes, kinds: Iterable[bytes] = _KINDS[:9]) -> bytes:
    """An XPlane with the metadata of these *kinds* of events."""
    metadata = [part(4, number(1, at), part(2, part(2, one), part(4, one.partition(b":")[2])))
                for at, one in enumerate(kinds, 1)]  # fmt: skip
    stats = [part(5, number(1, at), part(2, number(1, at), part(2, one)))
             for at, one in enumerate(_STATS, 1)]  # fmt: skip
    return part(1, part(2, name), *parts, *metadata, *stats)


def line(*events: bytes, start: int = 1_000) -> bytes:
    return part(3, part(2, b"thread"), number(3, start), *events)


def event(kind: int, offset: int, duration: int, *stats: bytes) -> bytes:
    return part(4, number(1, kind), number(2, offset), number(3, duration), *stats)


def stat(name: bytes, value: int | bytes) -> bytes:
    """What is said of an event."""
    key = number(1, _STATS.index(name) + 1)
    return part(4, key, number(4, value) if isinstance(value, int) else part(5, value))


_SOUND: Final = plane(b"/host:CPU", line(event(1, 10, 2_000_000), event(2, 3_000_000, 500_000)))


def _trace(name: str, *parts: Content, graph: bytes = b"", **expected: Any) -> Row:
    files = {"trace": joined(parts), **({"graph": graph} if graph else {})}
    return Row(f"trace: {name}", files, **expected)


def _bytes() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        for what, inside in {
            "a plane": b"\x0a" + length,
            "a line": part(1, b"\x1a", length),
            "an event": part(1, part(3, b"\x22", length)),
            "a stat": part(1, part(3, part(4, b"\x22", length))),
        }.items():
            yield _trace(f"{what} of length {name}", _SOUND, inside, refused=_DAMAGED,
                         commands=("scope", "info"))  # fmt: skip
    yield _trace("no event", plane(b"/host:CPU"), commands=("scope", "info"))
    yield _trace("groups", _SOUND, b"\x0b\x0c", refused=_DAMAGED, commands=("scope",))


def _times() -> Iterator[Row]:
    odd = (0, 1, -1, INT64_MAX, INT64_MIN, 1 << 62, 10**18)
    events = [event(1 + at % 2, one, other) for at, one in enumerate(odd) for other in odd]
    lines = [line(*events, start=one) for one in odd]
    for graph in (b"", GRAPH):
        which = "with a graph" if graph else "alone"
        yield _trace(
            f"times of all kinds, {which}", plane(b"/host:CPU", *lines), graph=graph, shows=b"mul ("
        )
        marks = [event(3, one, 10**7, stat(b"step_num", one)) for one in odd]
        yield _trace(
            f"steps of all kinds, {which}",
            plane(b"/host:CPU", line(*marks, *events), line(*marks)),
            graph=graph,
        )
    memory = [event(7, one, 1, stat(b"addr", other), stat(b"requested_bytes", other),
                    stat(b"tf_op", b"s/mul"), stat(b"region_type", b"output"))
              for one in odd for other in odd]  # fmt: skip
    back = [event(8, one, 1, stat(b"addr", other)) for one in odd for other in odd]
    yield _trace("memory of all sizes", plane(b"/host:CPU", line(*events, *memory, *back)),
                 graph=GRAPH, shows=b"mul (")  # fmt: skip
    starts = [part(6, stat(b"profile_start_time", one)[2:]) for one in odd]
    yield _trace("a start that cannot be", plane(b"Task Environment", *starts), _SOUND)
    yield _trace("20,000 steps",
                 lambda: plane(b"/host:CPU",
                               line(*(event(3, at * 10**6, 10**5, stat(b"step_num", at))
                                      for at in range(20_000)))),
                 refused="has 20,000 steps; tfprof accepts at most 10,000 steps",
                 commands=("scope",))  # fmt: skip


def _at_times(times: Callable[[int], tuple[int, int]], count: int) -> bytes:
    return plane(b"/host:CPU", line(*(event(1 + at % 2, *times(at)) for at in range(count))))


def _deep_functions() -> bytes:
    runs = (
        event(4 + at % 2, at, 2 * (50_000 - at), stat(b"id", (at + 1) // 2)) for at in range(20_000)
    )
    return plane(b"/host:CPU", line(*runs, event(1, 20_000, 1)))


def _many() -> Iterator[Row]:
    count = 50_000
    cases: dict[str, Callable[[int], tuple[int, int]]] = {
        "in each other": lambda at: (at, 2 * (count - at)),
        "that overlap": lambda at: (at, count),
        "at once": lambda _: (7, 7),
    }
    for name, times in cases.items():
        yield _trace(f"50,000 events {name}", partial(_at_times, times, count), graph=GRAPH,
                     shows=b"mul (", commands=("scope", "graph"), memory_a_byte=120)  # fmt: skip
    yield _trace("functions that run in each other, 10,000 deep", _deep_functions, shows=b"mul (",
                 commands=("scope",), memory_a_byte=120)  # fmt: skip
    yield _trace("20,000 events with a name of a million bytes",
                 plane(b"/host:CPU", line(*[event(10, 1, 1)] * 20_000), kinds=_KINDS),
                 refused="row_bytes", commands=("scope",))  # fmt: skip
    yield _trace("texts that are referred to 100,000 times",
                 plane(b"/host:CPU",
                       line(*[event(1, 1, 1, part(4, number(1, 10), number(7, 99)))] * 1_000,
                            event(2, 9, 1, *[stat(b"shape", b"(f[1])")] * 100_000))),
                 graph=GRAPH, commands=("scope", "op by rules"))  # fmt: skip
    yield _trace("20,000 planes and lines of nothing", *[plane(b"", kinds=())] * 200,
                 part(1) * 20_000, part(1, part(3) * 20_000), _SOUND, shows=b"mul (",
                 commands=("scope",))  # fmt: skip


def _said() -> Iterator[Row]:
    garbage = (b"", b"\xff" * 100, nested(100_000, 1), part(1, b"\x1a\xff\xff\xff\xff\x7f"))
    for at, hlo in enumerate(garbage):
        said = part(
            4,
            number(1, 1),
            part(2, number(1, 1), part(2, b"m"), part(5, number(1, 4), part(6, hlo))),
        )
        host = line(event(3, 1, 9, stat(b"hlo_op", b"fusion"), stat(b"program_id", 1)))
        yield _trace(f"instructions that are none, {at}", plane(b"/host:metadata", said, kinds=()),
                     plane(b"/host:CPU", host), commands=("scope",),
                     refused=_DAMAGED if at in {1, 3} else "")  # fmt: skip
    shapes = (
        b"",
        b"(",
        b"()",
        b"(f[1];;;)",
        b"(f[" + b"9" * 5_000 + b"])",
        b"(f[-1])",
        b"(f[1,])",
        b"(float[3,5];f[" + b"1," * 100_000 + b"1])",
        b"\xff\xfe",
        b"(f[0];f[0])",
    )
    events = [event(1, at, 1, stat(b"shape", one)) for at, one in enumerate(shapes)]
    yield _trace(
        "shapes that are none", plane(b"/host:CPU", line(*events)), graph=GRAPH, shows=b"mul ("
    )
    odd = [event(kind, 1, 1, stat(b"is_func", 1), stat(b"eager_op", b"\xff")) for kind in range(99)]
    yield _trace("kinds that there are not",
                 plane(b"/host:CPU", line(*odd), kinds=(*_KINDS[:9], b"", b":", *_KINDS[10:])),
                 plane(b"/device:GPU:0", line(*odd)), plane(b"\xff/device:", line(*odd)),
                 graph=GRAPH, shows=b"mul (")  # fmt: skip


ROWS: Final = [*_bytes(), *_times(), *_many(), *_said()]
