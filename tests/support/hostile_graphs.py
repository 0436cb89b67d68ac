"""Hostile graphs: lengths, numbers, types of fields, nesting, edges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from hostile import FEW, Content, Row, joined
from hostile_parts import (
    CPU,
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    attribute,
    device,
    nested,
    node,
    number,
    output_shapes,
    part,
    run,
    shape,
    shape_attribute,
    stat,
)
from tfprof.wire.scalar import encode_varint as varint

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED: Final = "is damaged or cut off, or not a GraphDef, a MetaGraphDef, a SavedModel"


def _graph(name: str, *parts: Content, **expected: object) -> Row:
    return Row(f"graph: {name}", {"graph": joined(parts)}, **expected)  # type: ignore[arg-type]


def _bytes() -> Iterator[Row]:
    """What is wrong with the bytes."""
    lengths = {
        **LENGTHS,
        "2^63": varint(1 << 63),
        "2^64-1 in ten bytes with more bits": b"\xff" * 9 + b"\x7f",
        "of a thousand bytes": b"\xff" * 1000 + b"\x01",
    }
    for name, length in lengths.items():
        for what, inside in {
            "a node": b"\x0a" + length + b"x",
            "a name": part(1, b"\x0a", length, b"x"),
            "an attribute": node(b"n", b"NoOp", b"\x2a", length),
            "dims": node(b"n", b"NoOp", attribute(b"shape", part(7, b"\x12", length))),
        }.items():
            yield _graph(f"{what} of length {name}", GRAPH, inside, refused=_DAMAGED)
    for name, field in {
        "a group begins": varint(9 << 3 | 3),
        "a group ends": varint(9 << 3 | 4),
        "wire type 6": varint(9 << 3 | 6),
        "wire type 7": varint(9 << 3 | 7),
        "field number 0": b"\x02\x00",
        "field number 2^29": varint(1 << 32 | 2) + b"\0",
        "a tag of eleven bytes": b"\xff" * 10 + b"\1\0",
    }.items():
        yield _graph(name, GRAPH, field, refused=_DAMAGED)
    yield _graph("unknown fields of every kind", GRAPH, number(99, 7), part(100, b"whatever"),
                 varint(101 << 3 | 1) + bytes(8), varint(102 << 3 | 5) + bytes(4),
                 node(b"n", b"NoOp", number(99, 7), part(100, b"x"), varint(101 << 3 | 1),
                      bytes(8)),
                 shows=b"  n (")  # fmt: skip
    yield _graph(
        "known fields of other wire types",
        GRAPH,
        number(1, 7),
        node(b"n", b"NoOp", number(1, 7), number(5, 7), number(3, 1)),
        shows=b"  n (",
    )
    yield _graph("one byte", b"\x0a", refused="graph")
    yield _graph("zeros", bytes(10_000), refused="graph")
    yield _graph("ones", b"\xff" * 10_000, refused="graph")
    yield _graph("a million empty nodes", b"\x0a\x00" * 1_000_000,
                 refused="is a RunMetadata; expected a GraphDef", commands=("scope",))  # fmt: skip


def _numbers() -> Iterator[Row]:
    """Dims and types."""
    dims: dict[str, tuple[int, ...]] = {
        "negative": (-5, 3),
        "2^63-1": (INT64_MAX,),
        "-2^63": (INT64_MIN, 2),
        "an overflow to 0": (1 << 32, 1 << 32),
        "an overflow to a negative": (INT64_MAX, 3),
        "an overflow many times": (INT64_MAX,) * 40,
    }
    for name, some in dims.items():
        yield _graph(f"a shape with {name}", GRAPH,
                     node(b"v", b"VariableV2", shape_attribute(*some), output_shapes(shape(*some))),
                     node(b"m", b"MatMul", output_shapes(shape(*some)), inputs=(b"v", b"v")),
                     shows=b"  v (")  # fmt: skip
    yield _graph("rank 100,000", GRAPH, node(b"v", b"VariableV2", shape_attribute(*[1] * 100_000)),
                 node(b"m", b"Add", output_shapes(shape(*[2] * 100_000)), inputs=(b"v", b"w")),
                 shows=b"  v (", commands=(*FEW, "graph proto", "scope json"))  # fmt: skip
    yield _graph("100,000 shapes of one output", GRAPH,
                 node(b"m", b"Add", output_shapes(*[shape(1)] * 100_000), inputs=(b"m", b"w")),
                 shows=b"  m (", commands=FEW)  # fmt: skip
    for value in (999, -1, INT64_MAX, INT64_MIN):
        yield _graph(f"dtype {value}", GRAPH,
                     node(b"t", b"MatMul", attribute(b"T", number(6, value)), inputs=(b"w", b"w")),
                     node(b"c", b"Cast", attribute(b"DstT", number(6, value)), inputs=(b"w",)),
                     shows=b"  t (")  # fmt: skip
    one_value = part(8, number(1, 1), part(2, shape(10**12)), part(5, bytes(4)))
    yield _graph("a Const of 10^12 elements with one value", GRAPH,
                 node(b"c", b"Const", attribute(b"value", one_value), shape_attribute(10**12)),
                 shows=b"  c (")  # fmt: skip
    yield _graph(
        "sizes of windows that are absurd",
        GRAPH,
        *(
            node(
                b"p%d" % at,
                op,
                attribute(b"ksize", part(1, *(number(3, one) for one in some))),
                attribute(b"strides", part(1, *(number(3, one) for one in some))),
                attribute(b"padding", part(2, b"\xff\xfe")),
                attribute(b"equation", part(2, b"a" * 10_000 + b",->" + b"\xff" * 100)),
                output_shapes(shape(INT64_MAX, INT64_MAX, -1, 0)),
                inputs=(b"w", b"x"),
            )
            for at, (op, some) in enumerate(
                (op, some)
                for op in (b"MaxPool", b"AvgPool", b"Conv2D", b"Einsum", b"MaxPoolGrad")
                for some in ((), (INT64_MAX,) * 4, (0,) * 4, (INT64_MIN,) * 5, (1,) * 1000)
            )
        ),
        shows=b"  p0 (",
    )


def _deep(depth: int, key: bytes, outside: tuple[int, ...], fields: tuple[int, ...]) -> bytes:
    """A graph with a node that has one attribute, nested by *fields* inside of *outside*."""
    value = nested(len(outside), *outside, core=nested(depth, *fields))
    return GRAPH + node(b"f", b"NoOp", attribute(key, value))


def _nesting() -> Iterator[Row]:
    """Attributes in attributes, and functions that call each other."""
    for depth in (10_000, 1_000_000):
        for name, key, outside, fields in (
            ("attributes {} functions deep", b"shape", (), (10, 2, 2)),
            ("attributes {} lists deep", b"_output_shapes", (), (1, 9, 2, 2)),
            ("variants {} tensors deep", b"value", (8,), (15, 3)),
        ):
            yield Row(f"graph: {name.format(f'{depth:,}')}",
                      {"graph": partial(_deep, depth, key, outside, fields)}, shows=b"  f (",
                      commands=FEW)  # fmt: skip
    yield _graph("fields nested where a node is one text", GRAPH, nested(100_000, 1), commands=FEW)
    called = {b"f": b"g", b"g": b"f", b"h": b"h"}.items()
    bodies = [part(1, part(1, part(1, f)), part(3, part(1, b"n"), part(2, g))) for f, g in called]
    function = attribute(b"f", part(10, part(1, b"f")))
    yield _graph("functions that call each other", GRAPH, node(b"c", b"f", function),
                 node(b"p", b"PartitionedCall", function, inputs=(b"p",)), part(2, *bodies),
                 shows=b"  p (")  # fmt: skip


def _edges() -> Iterator[Row]:
    """Inputs of all kinds."""
    yield _graph("a name twice", GRAPH, node(b"w", b"Other", inputs=(b"x",)), shows=b"  w (")
    yield _graph("a name 100,000 times", *[node(b"w")] * 100_000, shows=b"  w (", commands=FEW)
    yield _graph("a node that is its own input", GRAPH, node(b"l", inputs=(b"l", b"^l", b"l:1")))
    yield Row("graph: a cycle of 100,000 nodes",
              {"graph": lambda: b"".join(node(b"r%d" % at, inputs=(b"r%d" % ((at + 1) % 100_000),))
                                         for at in range(100_000)),
               "run": run(device(CPU, *(stat(b"r%d" % at, 1 + at, 1) for at in range(100))))},
              shows=b"  r0 (", commands=("scope", "graph", "graph timeline", "advise"))  # fmt: skip
    yield _graph("a chain of 100,000 nodes",
                 lambda: b"".join(node(b"c%d" % at, inputs=(b"c%d" % (at + 1),))
                                  for at in range(100_000)),
                 shows=b"  c0 (", commands=("graph", "scope", "op"))  # fmt: skip
    odd = b"^w w:99999999999 : ^  ^^w w: w:-1 w:x :0 ^:1 w:\xc2\xb2".split(b" ")
    odd += [b"w:" + b"9" * 10_000, b"nowhere", b"nowhere:0", b"w:0:1", b"\xff\xfe"]
    yield _graph("inputs that are odd", GRAPH, node(b"o", b"AddN", inputs=odd), shows=b"  o (")
    yield _graph(
        "one node with 100,000 inputs", GRAPH, node(b"o", inputs=(b"w",) * 100_000), commands=FEW
    )
    yield _graph("100,000 inputs that dangle", GRAPH,
                 node(b"o", inputs=tuple(b"lost%d" % at for at in range(100_000))), shows=b"  o (",
                 commands=FEW)  # fmt: skip


ROWS: Final = [*_bytes(), *_numbers(), *_nesting(), *_edges()]
