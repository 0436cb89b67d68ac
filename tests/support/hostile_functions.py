"""Hostile functions: libraries that call in circles, names that mean nothing, loops without end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hostile import Content, Row, joined
from hostile_parts import (
    GRAPH,
    LENGTHS,
    attribute,
    node,
    number,
    output_shapes,
    part,
    shape,
    shape_attribute,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What a graph with functions has to stand: one command of each kind, and what counts by rule.
FEW: Final = ("scope", "graph", "op by rules", "summary", "save", "convert")
_DAMAGED: Final = "is damaged or cut off, or not a GraphDef, a MetaGraphDef, a SavedModel"


def row(name: str, *parts: Content, **expected: Any) -> Row:
    """A row whose file is a graph with functions."""
    return Row(f"functions: {name}", {"graph": joined(parts)}, **expected)


def library(*functions: bytes) -> bytes:
    """The library of a GraphDef."""
    return part(2, *functions)


def inner(name: bytes, op: bytes, *more: bytes, inputs: Iterable[bytes] = ()) -> bytes:
    """A NodeDef of a function."""
    return part(3, part(1, name), part(2, op), *(part(3, one) for one in inputs), *more)


def function(
    name: bytes,
    *nodes: bytes,
    arguments: Iterable[bytes] = (),
    returns: Iterable[tuple[bytes, bytes]] = (),
    effects: Iterable[bytes] = (),
) -> bytes:
    """A FunctionDef; *returns* are (output, what it is)."""
    returns = [*returns]
    signature = part(1, part(1, name), *(part(2, part(1, one), number(3, 1)) for one in arguments),
                     *(part(3, part(1, one), number(3, 1)) for one, _ in returns))  # fmt: skip
    ends = [part(4, part(1, one), part(2, what)) for one, what in returns]
    done = [part(6, part(1, one), part(2, one)) for one in effects]
    return part(1, signature, *nodes, *ends, *done)


def calls(key: bytes, *names: bytes) -> bytes:
    """An attribute that names a function, or several."""
    if len(names) == 1:
        return attribute(key, part(10, part(1, names[0])))
    return attribute(key, part(1, *(part(9, part(1, one)) for one in names)))


def call(name: bytes, of: bytes, *inputs: bytes) -> bytes:
    """A node of the graph that calls a function."""
    return node(name, b"PartitionedCall", calls(b"f", of), inputs=inputs)


def whole(value: int, *dims: int) -> bytes:
    """The attribute of a Const of whole numbers."""
    return attribute(b"value", part(8, number(1, 9), part(2, shape(*dims)), number(10, value)))


KEEPS: Final = function(b"keeps", arguments=[b"a"], returns=[(b"o", b"a")])


def _chain(length: int, times: int) -> bytes:
    """Functions each of which calls the next one so many times."""
    made = []
    for at in range(length):
        then = [inner(b"c%d" % n, b"f%d" % (at + 1), inputs=[b"a"]) for n in range(times)]
        made.append(function(b"f%d" % at, *then, arguments=[b"a"], returns=[(b"o", b"c0:o:0")],
                             effects=[b"c%d" % n for n in range(times)]))  # fmt: skip
    last = function(b"f%d" % length, arguments=[b"a"], returns=[(b"o", b"a")])
    return GRAPH + node(b"c", b"f0", inputs=(b"x",)) + library(*made, last)


def _calls() -> Iterator[Row]:
    """Who calls whom."""
    itself = function(
        b"f", inner(b"n", b"f", inputs=[b"a"]), arguments=[b"a"], returns=[(b"o", b"n:o:0")]
    )
    yield row("one that calls itself", GRAPH, call(b"c", b"f", b"x"), library(itself),
              refused="a function of the graph calls itself: f → f")  # fmt: skip

    ring = [
        function(b"f%d" % at, inner(b"n", b"f%d" % ((at + 1) % 8_000)), effects=[b"n"])
        for at in range(8_000)
    ]
    yield row("a ring of 8,000", GRAPH, call(b"c", b"f0"), library(*ring),
              refused="a function of the graph calls itself: f0 → f1",
              commands=("scope",))  # fmt: skip
    yield row("a chain of 12,000", partial(_chain, 12_000, 1), refused="nested too deeply",
              commands=("scope",))  # fmt: skip
    yield row("a chain of 1,000", partial(_chain, 1_000, 1), shows=b"  c (", commands=FEW)
    for length in (30, 8_000):
        yield row(f"{length:,} that call the next one twice", _chain(length, 2),
                  refused="a body once per call", commands=("scope",))  # fmt: skip
    calling = [call(b"c%d" % at, b"f", b"x") for at in range(5_000)]
    many = [(b"o%d" % at, b"a") for at in range(20_000)]
    done: dict[str, Any] = {"arguments": [b"a"], "effects": [b"n"]}
    for name, one in {
        "inputs": function(b"f", inner(b"n", b"AddN", inputs=[b"a"] * 20_000), **done),
        "dimensions": function(
            b"f", inner(b"n", b"NoOp", output_shapes(shape(*[1] * 20_000))), **done
        ),
        "attributes": function(b"f", inner(b"n", b"NoOp", *[part(5)] * 20_000), **done),
        "outputs": function(b"f", arguments=[b"a"], returns=many),
    }.items():
        yield row(f"5,000 calls of one with 20,000 {name}", GRAPH, *calling, library(one),
                  refused="a body once per call", commands=("scope",))  # fmt: skip
    yield row("a name of a million bytes 1,000 times", GRAPH,
              *(call(b"c%d" % at, b"f") for at in range(1_000)),
              library(function(b"f", inner(b"n" * 1_000_000, b"NoOp"), effects=[b"n" * 1_000_000])),
              refused="row_bytes", commands=("scope",))  # fmt: skip

    yield row("an input with a name of a million bytes, read 10,000 times", GRAPH,
              node(b"n" * 1_000_000, b"NoOp"), call(b"c", b"f", b"n" * 1_000_000),
              library(function(b"f", inner(b"n", b"AddN", inputs=[b"a"] * 10_000), arguments=[b"a"],
                               effects=[b"n"])),
              refused="row_bytes", commands=("scope",))  # fmt: skip


def _names() -> Iterator[Row]:
    """What names mean."""
    body = inner(b"n", b"AddV2", inputs=[b"a", b"b"])
    odd = (b"x:0", b"n:z:99999999999", b"n:z:" + b"9" * 5_000, b"", b":", b"^", b"^nobody", b"n::",
           b"a:o:99999999999", b"nobody:z:0", b"\xff\xfe", b"n:z:-1", b"n:z:\xc2\xb2")  # fmt: skip
    yield row("inputs and outputs that are odd", GRAPH,
              call(b"c", b"f", b"x", b"c:99999999999", b"c"),
              library(function(b"f", body, inner(b"m", b"AddN", inputs=odd),
                               arguments=[b"a", b"a", b""],
                               returns=[(b"o%d" % at, one)
                                        for at, one in enumerate((b"m:sum:0", *odd))],
                               effects=[b"m", b"nobody", b""])),
              shows=b"c/m (")  # fmt: skip
    for what, given in {"missing": (), "too many": (b"x",) * 1_000}.items():
        yield row(f"arguments that are {what}", GRAPH, call(b"c", b"f", *given),
                  library(function(b"f", body, arguments=[b"a", b"b"], returns=[(b"o", b"n:z:0")])),
                  shows=b"c/n (")  # fmt: skip
    yield row("a circle inside", GRAPH, call(b"c", b"f", b"x"),
              library(function(b"f", inner(b"a", b"AddV2", inputs=[b"b:z:0", b"a:z:0"]),
                               inner(b"b", b"Identity", inputs=[b"a:z:0"]),
                               returns=[(b"o", b"b:output:0")])),
              shows=b"c/a (")  # fmt: skip
    yield row("names twice, names of nothing and no signature", GRAPH, call(b"c", b"f", b"x"),
              call(b"d", b"", b"x"), call(b"", b"f", b"x"), node(b"e", b""),
              library(function(b"f", inner(b"n", b"NoOp"), inner(b"n", b"Abs"), effects=[b"n"]),
                      function(b"f", inner(b"other", b"NoOp"), effects=[b"other"]),
                      function(b"", inner(b"", b"NoOp"), effects=[b""]),
                      part(1, inner(b"n", b"NoOp")), part(1)),
              shows=b"c/n (")  # fmt: skip
    yield row(
        "names that are other names",
        GRAPH,
        node(b"c/n", b"NoOp"),
        node(b"c/n(4)", b"NoOp"),
        call(b"c", b"f", b"x"),
        call(b"c", b"f", b"x"),
        library(function(b"f", inner(b"n", b"NoOp"), effects=[b"n"])),
        shows=b"  c (",
    )
    for name, length in LENGTHS.items():
        inside = {"a function": b"\x0a" + length, "a node of a function": part(1, b"\x1a", length)}
        for what, one in inside.items():
            named = f"{what} of length {name}"
            yield row(named, GRAPH, library(one), refused=_DAMAGED, commands=("scope",))
    symbols = (b"\x1b[31m", b"a\nb", "\u202ex".encode(), b"</script>", b"=1+1", b"n" * 100_000)
    yield row(
        "open dimensions of inputs with odd names",
        GRAPH,
        *(node(one, b"Placeholder", shape_attribute(-1, -1, -1)) for one in symbols),
        node(b"m", b"MatMul", inputs=symbols[:2]),
        library(KEEPS),
        shows=b"  m (",
    )
    alike = [f"{at:017b}".replace("0", ".").replace("1", "-").encode() for at in range(15_000)]
    yield row("15,000 inputs whose open dimensions are called the same", GRAPH,
              *(node(one, b"Placeholder", shape_attribute(1, -1)) for one in alike),
              commands=FEW[1:4] + FEW[:1])  # fmt: skip
    yield row("an input of 20,000 open dimensions with a name of 100,000 bytes", GRAPH,
              node(b"n" * 100_000, b"Placeholder", shape_attribute(*[-1] * 20_000)),
              commands=("scope", "op by rules", "summary"))  # fmt: skip


ROWS: Final = [*_calls(), *_names()]
