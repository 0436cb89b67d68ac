"""Hostile op logs: texts that are not there, stacks without end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile import FEW, Content, Row, joined
from hostile_parts import (
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    LOG,
    RUN,
    entry,
    frame,
    nested,
    node,
    number,
    part,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED: Final = "is damaged or cut off, or not an op log (OpLogProto)"
_STACKS: Final = ("scope", "code", "code json", "code pprof", "code timeline", "save", "convert")


def _log(name: str, *parts: Content, **expected: object) -> Row:
    files = {"graph": GRAPH, "run": RUN, "log": joined(parts)}
    return Row(f"log: {name}", files, **expected)  # type: ignore[arg-type]


def _bytes() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        for what, inside in {
            "an entry": b"\x0a" + length,
            "a stack": part(1, part(1, b"w"), b"\x22", length),
            "a frame": part(1, part(1, b"w"), part(4, b"\x0a", length)),
            "a text": part(2, number(1, 1), b"\x12", length),
        }.items():
            yield _log(f"{what} of length {name}", LOG, inside, refused=_DAMAGED, blames="log")
    yield _log("a group", LOG, b"\x0b\x0c", refused=_DAMAGED, blames="log")
    yield _log("numbers that are not written", LOG, b"\x0a\x02\x10\xff", refused=_DAMAGED)


def _stacks() -> Iterator[Row]:
    for key in (99, -1, INT64_MAX, INT64_MIN, 0):
        lost = entry(b"w", frame(key, 1, key, key), frame(1, key, 1), float_ops=3)
        known = entry(b"w", frame(key, 1, key, key), float_ops=3)
        there = f"texts of number {key} that are not there"
        yield _log(there, lost, text(1, b"model.py"), shows=b"  w (")
        yield _log(f"a text of number {key}", known, text(key, b"model.py"), shows=b"  w (")
    for line in (-1, 1 << 31, INT64_MAX, INT64_MIN):
        stack = entry(b"w", frame(1, line, 1, 1, line), float_ops=3)
        yield _log(f"line {line}", stack, text(1, b"model.py"), shows=b"  w (")
    yield _log("no texts", entry(b"w", frame(1, 2, 3)), shows=b"  w (")
    yield _log("an empty stack", part(1, part(1, b"w"), part(4)), shows=b"  w (")
    yield _log("only a gradient's stack", entry(b"nowhere", frame(1, 1, 1)), shows=b"  w (")
    yield _log(
        "a stack of 100,000 frames",
        lambda: entry(b"w", *(frame(1, at, 2) for at in range(100_000)), float_ops=3),
        text(1, b"model.py"),
        text(2, b"f" * 100),
        shows=b"  w (",
        commands=_STACKS,
    )
    yield _log("a thousand stacks of the same 1,000 frames",
               entry(b"w", *(frame(1, at, 2) for at in range(1_000))) * 1_000, text(1, b"model.py"),
               text(2, b"f"), shows=b"  w (", commands=_STACKS)  # fmt: skip
    long = b"l" * 1_000_000
    yield _log("lines of a megabyte", entry(b"w", *(frame(1, at, 2, 3) for at in range(50))),
               *(text(key, long) for key in (1, 2, 3)), shows=b"  w (",
               commands=("scope", "code", "save", "convert"))  # fmt: skip
    yield _log("a text given 100,000 times", entry(b"w", frame(1, 1, 1)),
               lambda: b"".join(text(1, b"%d" % at) for at in range(100_000)), shows=b"  w (",
               commands=_STACKS)  # fmt: skip


def _entries() -> Iterator[Row]:
    for value in (-1, INT64_MAX, INT64_MIN):
        yield _log(
            f"{value} float operations",
            *(entry(name, frame(1, 1, 1), float_ops=value) for name in (b"w", b"x", b"s/mul")),
            text(1, b"model.py"),
        )
    yield _log("entries of no node", *(entry(b"none", float_ops=1),) * 100_000, shows=b"  w (")
    yield _log("100,000 types of a node",
               entry(b"w", types=tuple(b"t%d" % at for at in range(100_000))), shows=b"  w (",
               commands=FEW)  # fmt: skip
    yield _log("nested 100,000 deep", LOG, nested(100_000, 1, 4, 1, 9), shows=b"  w (")
    yield Row("log: without a graph", {"log": LOG}, shows=b"_TFProfRoot",
              commands=("scope", "graph", "op", "code", "advise", "info", "shell"))  # fmt: skip
    yield Row("log: of 100,000 nodes that are one",
              {"graph": node(b"w"), "log": entry(b"w", frame(1, 1, 1), float_ops=1) * 100_000},
              shows=b"  w (", commands=_STACKS)  # fmt: skip


ROWS: Final = [*_bytes(), *_stacks(), *_entries()]
