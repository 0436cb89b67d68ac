"""Hostile saved and converted profiles: ids, steps, times and columns that fit nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import forged
from hostile import FEW, Content, Row, joined
from hostile_parts import (
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    PROFILE,
    frame,
    nested,
    number,
    part,
    record,
    saved_input,
    saved_node,
    times,
)
from tfprof.wire.scalar import encode_varint as varint

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED: Final = "is damaged or cut off, or not a saved profile (ProfileProto)"


def _saved(name: str, *parts: Content, **expected: object) -> Row:
    return Row(f"profile: {name}", {"profile": joined(parts)}, **expected)  # type: ignore[arg-type]


def _bytes() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        for what, inside in {
            "a node": b"\x0a" + length,
            "an id's node": part(1, number(1, 9), b"\x12", length),
            "a step": saved_node(9, b"n", b"\x62" + length),
            "a list of steps": b"\x1a" + length,
            "a shape": saved_node(9, b"n", b"\x22" + length),
        }.items():
            yield _saved(f"{what} of length {name}", PROFILE, inside, refused=_DAMAGED)
    yield _saved("steps cut off", PROFILE, part(3, b"\x80"), refused=_DAMAGED)
    yield _saved("steps of eleven bytes", PROFILE, part(3, b"\xff" * 10 + b"\1"), refused=_DAMAGED)
    yield _saved("times that are no pairs", PROFILE,
                 saved_node(9, b"n", record(0, times(5, b"/cpu:0", (7,)))),
                 refused="an execution without start and duration")  # fmt: skip
    yield _saved("groups", PROFILE, b"\x0b\x0c", refused=_DAMAGED)
    yield _saved("attributes nested a million deep", PROFILE, partial(_attributes, 1_000_000))


def _attributes(depth: int) -> bytes:
    return saved_node(9, b"n", part(11, part(1, b"shape"), part(2, nested(depth, 10, 2, 2))))


def _ids() -> Iterator[Row]:
    lost = "inputs name nodes that the saved profile does not have"
    for key in (99, -1, INT64_MAX, INT64_MIN):
        reader = saved_node(9, b"n", saved_input(0, key), saved_input(key, 0))
        yield _saved(f"an input of id {key}", PROFILE, reader, notes=f"1 {lost}")
        node = saved_node(key, b"n", saved_input(0, key))
        yield _saved(f"a node of id {key}", PROFILE, node, shows=b"  n (")
    yield _saved("inputs in a circle",
                 *(saved_node(at, b"c%d" % at, saved_input(0, (at + 1) % 20_000))
                   for at in range(20_000)),
                 shows=b"  c0 (", commands=FEW)  # fmt: skip
    yield _saved("an id twice", PROFILE, saved_node(0, b"other"), shows=b"  other (")
    yield _saved("a name twice", PROFILE, saved_node(7, b"w", saved_input(0, 7)), shows=b"  w (")
    yield _saved("stacks of texts that are not there", PROFILE,
                 saved_node(9, b"n", part(10, frame(-1, 1, INT64_MAX), frame(99, -1, 0))),
                 shows=b"  n (")  # fmt: skip
    yield _saved("traces and no stacks", saved_node(9, b"n"), number(2, 1), shows=b"  n (")
    yield _saved("outputs behind gaps", PROFILE,
                 saved_node(9, b"n",
                            *(part(15, number(1, at), part(2, part(1, b"\3")))
                              for at in (5, -1, 1 << 31)),
                            *(part(31, number(1, at), part(2, b"lost"))
                              for at in (5, -1, 1 << 31))),
                 shows=b"  n (")  # fmt: skip
    yield _saved("dims that overflow", PROFILE,
                 saved_node(9, b"n", part(4, varint(INT64_MAX) * 3), op=b"VariableV2"),
                 shows=b"  n (")  # fmt: skip
    yield _saved("rank 100,000", PROFILE, saved_node(9, b"n", part(4, b"\1" * 100_000)))


def _steps() -> Iterator[Row]:
    for step in (-1, INT64_MAX, INT64_MIN, 1 << 32):
        yield _saved(f"step {step}", PROFILE,
                     saved_node(9, b"n",
                                record(step, times(5, b"/cpu:0", (5, 6)), part(6, b"/cpu:0"))),
                     part(3, varint(step & (1 << 64) - 1)), shows=b"  n (")  # fmt: skip
        yield _saved(
            f"times of {step}",
            PROFILE,
            saved_node(
                9,
                b"n",
                record(
                    3,
                    number(1, step),
                    number(2, step),
                    number(3, step),
                    times(4, b"/gpu:0/stream:all", (step, step), (5, step)),
                    times(5, b"/cpu:0", (step, step), (step, step)),
                    part(7, *(number(field, step) for field in range(1, 11))),
                    part(7, part(11, number(1, step), part(2, number(1, step), number(2, step)))),
                    part(11, number(1, step), number(2, step)),
                ),
            ),
        )
    yield _saved(
        "200,000 steps that are only listed",
        PROFILE,
        part(3, *(varint(at) for at in range(200_000))),
        commands=("scope", "info"),
        refused="has 200,000 steps; tfprof accepts at most 10,000 steps (--limit_steps raises",
    )
    yield _saved("200 steps, each on a device of its own", PROFILE,
                 *(saved_node(9 + at, b"n%d" % at, record(at, times(5, b"/cpu:%d" % at, (5, 6))))
                   for at in range(200)),
                 shows=b"  n0 (", commands=("scope", "save", "convert"))  # fmt: skip
    yield _saved("a thousand steps of two nodes each, of 20,000", PROFILE,
                 *(saved_node(9 + at, b"n%d" % at) for at in range(1_000, 20_000)),
                 *(saved_node(9 + at, b"n%d" % at,
                              *(record(at + one, number(1, 1)) for one in range(2)))
                   for at in range(1_000)),
                 shows=b"  n0 (", commands=("scope", "save"))  # fmt: skip
    yield _saved(
        "a step with the numbers of nothing",
        PROFILE,
        saved_node(9, b"n", record(5), part(12), part(12, number(1, 6))),
        shows=b"  n (",
    )


def _converted() -> Iterator[Row]:
    """What else can be wrong with these is in test_convert_damage and test_convert_forged."""
    whole = forged.small_file()
    magic = whole[:8]
    for name, data in {
        "the beginning alone": magic,
        "another version": magic + b"\xff\xff\xff\xff" + whole[12:],
        "an index of 2^64-1 bytes": whole[:16] + b"\xff" * 8 + whole[24:],
        "cut off": whole[:-1],
        "more behind it": whole + b"x",
        "lines for others": magic.replace(b"\r\n", b"\n") + whole[8:],
    }.items():
        yield Row(f"converted: {name}", {"profile": data}, refused="profile")
    for name, line in {
        "2^63 rows": b"nodes.op i8 0 9223372036854775808 00000000\n",
        "2^61 rows": b"nodes.op i8 0 2305843009213693952 00000000\n",
        "-1 rows": b"nodes.op i8 0 -1 00000000\n",
        "a number of many digits": b"nodes.op i8 0 " + b"9" * 10_000 + b" 00000000\n",
        "a base of many digits": b"nodes.op i8 " + b"9" * 10_000 + b" 0 00000000\n",
        "no UTF-8": b"\xff\xfe i8 0 0 00000000\n",
        "an unknown kind": b"nodes.op i3 0 0 00000000\n",
        "100,000 columns": b"nodes.op i8 0 0 00000000\n" * 100_000,
    }.items():
        data = forged.with_index(line, [])
        yield Row(f"converted: an index with {name}", {"profile": data}, refused="profile")


ROWS: Final = [*_bytes(), *_ids(), *_steps(), *_converted()]
