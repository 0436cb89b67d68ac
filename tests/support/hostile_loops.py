"""Hostile loops and choices: turns beyond 64 bits, bodies that fit nothing, many of anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile_functions import FEW, KEEPS, calls, function, inner, library, row, whole
from hostile_parts import GRAPH, INT64_MAX, attribute, node, number, output_shapes, part, shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostile import Row


def loop(first: int, bound: int, *body: bytes, name: bytes = b"l") -> bytes:
    """A graph whose loop counts from *first* to *bound* and multiplies matrices each time."""
    values = [node(b"i", b"Const", whole(first)), node(b"n", b"Const", whole(bound))]
    return (
        GRAPH
        + b"".join(values)
        + node(
            name,
            b"While",
            calls(b"body", b"b"),
            calls(b"cond", b"c"),
            inputs=(b"i", b"n", b"w", b"x"),
        )
        + library(_condition(), _body(*body))
    )


def _condition() -> bytes:
    return function(b"c", inner(b"less", b"Less", inputs=[b"i", b"n"]),
                    arguments=[b"i", b"n", b"w", b"x"], returns=[(b"o", b"less:z:0")])  # fmt: skip


def _body(*more: bytes) -> bytes:
    return function(b"b", inner(b"one", b"Const", whole(1)),
                    inner(b"add", b"AddV2", inputs=[b"i", b"one:output:0"]),
                    inner(b"mul", b"MatMul", output_shapes(shape(1 << 20, 1 << 20)),
                          inputs=[b"x", b"w"]),
                    *more, arguments=[b"i", b"n", b"w", b"x"],
                    returns=[(b"i", b"add:z:0"), (b"n", b"n"), (b"w", b"w"), (b"x", b"x")],
                    effects=[b"mul", *(b"more%d" % at for at in range(len(more)))])  # fmt: skip


def _loops() -> Iterator[Row]:
    """Loops and choices."""
    for first, bound in ((0, INT64_MAX), (-INT64_MAX, INT64_MAX), (5, -(1 << 63)), (0, 0)):
        yield row(f"a loop from {first} to {bound}", loop(first, bound), shows=b"l/body/mul (")
    nested = [function(b"b%d" % at, inner(b"zero", b"Const", whole(0)),
                       inner(b"most", b"Const", whole(INT64_MAX)),
                       inner(b"one", b"Const", whole(1)),
                       inner(b"add", b"AddV2", inputs=[b"i", b"one:output:0"]),
                       inner(b"mul", b"MatMul", output_shapes(shape(9, 9)), inputs=[b"w", b"w"]),
                       inner(b"l", b"While", calls(b"body", b"b%d" % (at + 1)),
                             calls(b"cond", b"c"),
                             inputs=[b"zero:output:0", b"most:output:0", b"w", b"x"]),
                       arguments=[b"i", b"n", b"w", b"x"],
                       returns=[(b"i", b"add:z:0"), (b"n", b"n"), (b"w", b"w"),
                                (b"x", b"l:output:3")],
                       effects=[b"mul"])
              for at in range(40)]  # fmt: skip
    leaf = function(
        b"b40",
        inner(b"mul", b"MatMul", output_shapes(shape(9, 9)), inputs=[b"w", b"w"]),
        arguments=[b"i", b"n", b"w", b"x"],
        returns=[(one, one) for one in (b"i", b"n", b"w", b"x")],
        effects=[b"mul"],
    )
    outer = node(
        b"l", b"While", calls(b"body", b"b0"), calls(b"cond", b"c"), inputs=(b"i", b"n", b"w", b"x")
    )
    counters = node(b"i", b"Const", whole(0)) + node(b"n", b"Const", whole(INT64_MAX))
    yield row("loops in loops, more turns than 64 bits", GRAPH, counters, outer,
              library(_condition(), *nested, leaf), shows=b"l/body/l/body/mul (",
              notes="nodes run too often for numbers of 64 bits", commands=FEW)  # fmt: skip
    nothing = function(b"b", arguments=[b"p"], returns=())
    lonely = function(b"c", arguments=(), returns=())
    yield row("a loop whose functions take and return nothing", GRAPH,
              node(b"l", b"While", calls(b"body", b"b"), calls(b"cond", b"c"), inputs=(b"x", b"w")),
              node(b"m", b"While", calls(b"body", b"keeps"), inputs=(b"x", b"w", b"m")),
              node(b"o", b"While", calls(b"cond", b"keeps", b"keeps"), inputs=(b"l:1", b"m:5")),
              node(b"p", b"StatelessIf", calls(b"else_branch", b"keeps")),
              node(b"q", b"AddV2", inputs=(b"o:1", b"p:3")), library(nothing, lonely, KEEPS),
              shows=b"  l (")  # fmt: skip
    yield row("a choice of 5,000 branches", GRAPH, node(b"k", b"Const", whole(1)),
              node(b"c", b"Case", calls(b"branches", *[b"f"] * 5_000), inputs=(b"k", b"k")),
              node(b"r", b"Reshape", inputs=(b"w", b"c")),
              library(function(b"f", inner(b"n", b"Identity", inputs=[b"a"]), arguments=[b"a"],
                               returns=[(b"o", b"n:output:0")])),
              shows=b"  c (", commands=("scope", "op by rules", "summary"))  # fmt: skip
    yield row("tensors that say what they are not", GRAPH,
              node(b"huge", b"Const", whole(1, 1 << 62)), node(b"less", b"Const", whole(1, -5, 3)),
              node(b"none", b"Const", attribute(b"value", part(8))),
              node(b"cut", b"Const", attribute(b"value", part(8, number(1, 9), part(4, b"123")))),
              *(node(b"r%d" % at, b"Reshape", inputs=(b"w", one))
                for at, one in enumerate((b"huge", b"less", b"none", b"cut"))),
              *(node(b"f%d" % at, b"Fill", inputs=(one, b"huge"))
                for at, one in enumerate((b"huge", b"less", b"none", b"cut"))),
              library(KEEPS), shows=b"  r0 (")  # fmt: skip
    yield row("30,000 numbers passed on at once", GRAPH, node(b"k", b"Const", whole(1)),
              node(b"i", b"IdentityN", inputs=(b"k",) * 30_000),
              node(b"r", b"Reshape", inputs=(b"w", b"i:29999")),
              *(node(b"k%d" % at, b"Const", whole(1)) for at in range(10_000)),
              node(b"j", b"IdentityN", inputs=tuple(b"k%d" % at for at in range(10_000))),
              node(b"s", b"Reshape", inputs=(b"w", b"j:9999")), library(KEEPS),
              commands=("scope", "op by rules"))  # fmt: skip
    overflow = loop(0, INT64_MAX, inner(b"more0", b"Range", inputs=[b"i", b"n", b"i"]))
    yield row("a range without end inside a loop without end", overflow, shows=b"l/body/more0 (")


def _counters(count: int) -> bytes:
    """A loop of many counters, each with a start and a step of its own; one is read after it."""
    names = [b"v%d" % at for at in range(count)]
    steps = (inner(b"k%d" % at, b"Const", whole(1)) for at in range(count))
    sums = (inner(b"s%d" % at, b"AddV2", inputs=[name, b"k%d:output:0" % at])
            for at, name in enumerate(names))  # fmt: skip
    returns = [(name, b"s%d:z:0" % at) for at, name in enumerate(names)]
    return b"".join([
        GRAPH,
        *(node(b"i%d" % at, b"Const", whole(0)) for at in range(count)),
        _while(b"l", [b"i%d" % at for at in range(count)]),
        node(b"r", b"Reshape", inputs=(b"w", b"l:%d" % (count - 1))),
        library(_ninth(names), function(b"b", *steps, *sums, arguments=names, returns=returns)),
    ])  # fmt: skip


def _lists(count: int) -> bytes:
    """A loop that appends to many lists; one is read after it."""
    of_floats = attribute(b"element_dtype", number(6, 1))
    names = [b"v%d" % at for at in range(count)]
    body = function(b"b", inner(b"k", b"Const", whole(1)),
                    inner(b"s0", b"AddV2", inputs=[b"v0", b"k:output:0"]),
                    *(inner(b"s%d" % at, b"TensorListPushBack", of_floats,
                            inputs=[names[at], b"v0"])
                      for at in range(1, count)),
                    arguments=names,
                    returns=[(name, b"s%d:%s:0" % (at, b"output_handle" if at else b"z"))
                             for at, name in enumerate(names)])  # fmt: skip
    lists = [b"i%d" % at for at in range(1, count)]
    return b"".join([
        GRAPH,
        node(b"k", b"Const", whole(0)),
        *(node(name, b"TensorListReserve", of_floats, inputs=(b"k", b"k")) for name in lists),
        _while(b"l", [b"k", *lists]),
        node(b"r", b"TensorListStack", of_floats, inputs=(b"l:%d" % (count - 1), b"k")),
        library(_ninth(names), body),
    ])  # fmt: skip


def _while(name: bytes, inputs: list[bytes]) -> bytes:
    return node(name, b"While", calls(b"body", b"b"), calls(b"cond", b"c"), inputs=inputs)


def _ninth(names: list[bytes]) -> bytes:
    """The condition of a loop whose first variable is below 9."""
    nine = inner(b"m", b"Const", whole(9))
    less = inner(b"less", b"Less", inputs=[names[0], b"m:output:0"])
    return function(b"c", nine, less, arguments=names, returns=[(b"o", b"less:z:0")])


def _many() -> Iterator[Row]:
    """Operations that wait for many numbers, shapes or lists, none of which is known before."""
    yield row("a loop of 600 counters", _counters(600), shows=b"  l (", commands=FEW)
    yield row("a loop that fills 800 lists", _lists(800), shows=b"  l (", commands=FEW)
    numbers = [b"k%d" % at for at in range(1_500)]
    yield row("a call that returns 1,500 numbers", GRAPH,
              node(b"c", b"PartitionedCall", calls(b"f", b"f")),
              node(b"r", b"Reshape", inputs=(b"w", b"c:1499")),
              library(function(b"f", *(inner(name, b"Const", whole(1)) for name in numbers),
                               returns=[(name, name + b":output:0") for name in numbers])),
              shows=b"  c (", commands=FEW)  # fmt: skip
    drawn = [b"d%d" % at for at in range(3_000)]
    yield row(
        "whichever of 3,000 tensors arrives",
        GRAPH,
        node(b"n", b"Neg", inputs=(b"m",)),
        node(b"m", b"Merge", inputs=drawn),
        *(node(name, b"RandomUniform", inputs=(b"k",)) for name in drawn),
        node(b"k", b"Const", whole(1, 1)),
        library(KEEPS),
        shows=b"  m (",
        commands=FEW,
    )
    yield row("20,000 inputs that come back", GRAPH, node(b"b", b"NextIteration", inputs=(b"x",)),
              node(b"m", b"Merge", inputs=(b"b",) * 20_000), node(b"k", b"Const", whole(1)),
              node(b"r", b"TensorListStack", attribute(b"element_dtype", number(6, 1)),
                   inputs=(b"m", b"k")),
              library(KEEPS), shows=b"  m (", commands=FEW)  # fmt: skip


ROWS: Final = [*_loops(), *_many()]
