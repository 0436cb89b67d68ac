"""Hostile runs: times, memory, places and lengths that no program had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile import FEW, Row
from hostile_parts import (
    CPU,
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    LOG,
    RUN,
    device,
    memory,
    nested,
    node,
    number,
    output,
    part,
    run,
    stat,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

GPU: Final = b"/job:localhost/replica:0/task:0/device:GPU:0"
STREAM: Final = GPU + b"/stream:all"
_DAMAGED: Final = "is damaged or cut off, or not a RunMetadata"


def _run(name: str, *runs: bytes, **expected: object) -> Row:
    files = {"graph": GRAPH, **{f"run{at}": one for at, one in enumerate(runs)}, "log": LOG}
    return Row(f"run: {name}", files, **expected)  # type: ignore[arg-type]


def _bytes() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        for what, inside in {
            "step stats": RUN + b"\x0a" + length,
            "a device": RUN + part(1, b"\x0a", length),
            "a stat": RUN + run(device(CPU, b"\x12" + length)),
            "an output": RUN + run(device(CPU, stat(b"w", 1, 1, b"\x3a" + length))),
            "memory": RUN + run(device(CPU, stat(b"w", 1, 1, b"\x32" + length))),
        }.items():
            yield _run(f"{what} of length {name}", inside, refused=_DAMAGED, blames="run0")
    yield _run("a group", RUN + b"\x0b\x0c", refused=_DAMAGED, blames="run0")
    yield _run("no step stats", part(3, b""), notes="Invalid RunMetadata for step 0")
    yield _run("step stats of no device", part(1, b""), shows=b"  w (")
    yield _run("a device without stats", run(device(b"")), shows=b"  w (")
    yield _run("the second one damaged", RUN, RUN[:-1], refused=_DAMAGED, blames="run1")
    yield _run("costs nested 100,000 deep", RUN + nested(100_000, 2, 1), shows=b"  w (")
    yield _run(
        "shapes nested 100,000 deep",
        run(device(CPU, stat(b"x", 5, 6, part(7, nested(100_000, 3, 2))))),
        shows=b"  x (",
    )


def _names() -> Iterator[Row]:
    yield _run("of another graph",
               run(device(CPU, *(stat(b"other%d" % at, at + 1, 1) for at in range(3)))),
               shows=b"  other0 (", notes="the run may belong to another graph")  # fmt: skip
    yield Row("run: without a graph", {"run": RUN}, shows=b"  s/mul (")
    yield _run(
        "names that are odd",
        run(device(CPU, *(stat(one, 5, 5) for one in (b"", b":", b"w:", b"w:w:w", b"_SOURCE")))),
        shows=b"  w (",
    )
    yield _run("30,000 devices",
               run(*(device(b"/device:CPU:%d" % at, stat(b"w", at + 1, 1))
                     for at in range(30_000))),
               shows=b"  w (", commands=FEW)  # fmt: skip


def _times() -> Iterator[Row]:
    cases: dict[str, tuple[tuple[int, int], ...]] = {
        "negative starts": ((-5, 3), (INT64_MIN, 1)),
        "negative durations": ((5, -3), (7, INT64_MIN)),
        "huge starts": ((INT64_MAX, 1), (INT64_MAX, INT64_MAX)),
        "huge durations": ((1, INT64_MAX), (2, INT64_MAX), (3, INT64_MAX)),
        "huge and negative": ((1, INT64_MAX), (INT64_MAX, INT64_MIN)),
        "all the same": ((7, 7),) * 1_000,
        "within each other": tuple((1 + at, 10_000 - 2 * at) for at in range(1_000)),
        "0 and 0": ((0, 0), (1, 0)),
    }
    for name, times in cases.items():
        yield _run(f"times that are {name}",
                   run(device(CPU, *(stat(b"w", *one) for one in times)),
                       device(STREAM, *(stat(b"s/mul", *one) for one in times)),
                       device(GPU, *(stat(b"x", *one) for one in times))),
                   RUN, shows=b"  w (")  # fmt: skip


def _memory() -> Iterator[Row]:
    for name, size in {"negative": -7, "2^63-1": INT64_MAX, "-2^63": INT64_MIN}.items():
        many = [memory(b"GPU_0_bfc", size, size, size, size) for _ in range(3)]
        kept = part(12, number(1, size), number(3, size), number(2, size))
        outputs = [output(slot, size, size, 2, 3) for slot in (0, 1, -1, 1 << 31, INT64_MAX)]
        records = part(6, part(1, b"GPU"), *(part(6, number(1, size), number(2, size)),) * 3)
        yield _run(f"bytes that are {name}",
                   run(device(CPU, stat(b"w", 5, 5, *many, kept, *outputs)),
                       device(GPU, stat(b"x", 5, 5, *many, kept, *outputs, records),
                              stat(b"x", 6, 6)),
                       device(STREAM, stat(b"x", 5, 5))),
                   RUN, shows=b"  w (")  # fmt: skip
    yield _run("outputs of absurd shapes",
               run(device(CPU, stat(b"x", 5, 5, output(0, 1, 1, INT64_MAX, INT64_MIN, -1)),
                          stat(b"s/mul", 5, 5, output(0, 1, 1, *[2] * 50_000)),
                          stat(b"w", 5, 5, *(output(0, 1, 1, 1 << 40) for _ in range(1_000))))),
               shows=b"  w (")  # fmt: skip
    yield _run("no start times, 50,000 times",
               run(device(CPU, *(stat(b"w", 0, 5) for _ in range(50_000)))),
               notes="w has no start time, skipping", commands=FEW)  # fmt: skip
    many_notes = [stat(b"n%d" % at, 0, 5) for at in range(20_000)]
    yield Row(
        "run: no start times of 20,000 nodes",
        {
            "graph": b"".join(node(b"n%d" % at) for at in range(20_000)),
            "run": run(device(CPU, *many_notes)),
        },
        notes="n0 has no start time, skipping",
        commands=("scope", "graph timeline", "save"),
    )
    yield _run("many steps", *[RUN] * 30, shows=b"  w (", commands=("scope", "save"))


ROWS: Final = [*_bytes(), *_names(), *_times(), *_memory()]
