"""Hostile programs of XLA: ids that lead nowhere or back, a few bytes that stand for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hlo_made import computation, instruction, module, number, parameter, proto
from hostile import Row
from hostile_functions import FEW
from hostile_parts import part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _row(name: str, file: bytes | Callable[[], bytes], **expected: Any) -> Row:
    return Row(f"hlo: {name}", {"graph.hlo.pb": file}, **expected)


def _main(*instructions: bytes, root: int = 9, others: tuple[bytes, ...] = ()) -> bytes:
    x = parameter("x", 1, op_name="x")
    return proto(module("jit_f", 1, computation("main", 1, root, x, *instructions), *others))


def _ids() -> Iterator[Row]:
    """Ids that do not exist, or exist twice."""
    sound = _main(instruction("y", "add", 9, [1, 1], op_name="jit(f)/net/add"))
    yield _row("sound", sound, shows=b"net/y (", commands=FEW)
    yield _row("operands that do not exist", _main(instruction("y", "add", 9, [7, -1, 2**63])),
               shows=b"y (", commands=FEW)  # fmt: skip
    yield _row("a root that does not exist", _main(instruction("y", "add", 9, [1, 1]), root=5),
               shows=b"y (", commands=FEW)  # fmt: skip
    lost = instruction("y", "fusion", 9, [1], calls=[77, -5])
    yield _row("a computation that does not exist", _main(lost), shows=b"y (", commands=FEW)
    twice = (instruction("y", "add", 9, [1, 1]), instruction("y", "multiply", 9, [9, 9]))
    yield _row("an id and a name twice", _main(*twice), shows=b"y (", commands=FEW)
    bare = module("jit_f", 44, computation("main", 1, 9, parameter("x", 1)))
    yield _row("no entry", proto(bare), refused="without an entry computation", commands=("scope",))
    far = parameter("p", 21, place=2**62), instruction("z", "add", 20, [21, 21])
    inner = computation("inner", 2, 20, *far)
    yield _row("a parameter of a large number", _main(
        instruction("y", "call", 9, [1], calls=[2]), others=(inner,)), shows=b"y/z (",
        commands=FEW)  # fmt: skip
    element = instruction("e", "get-tuple-element", 9, [1], number(13, 2**62))
    yield _row("an element of a large number", _main(element), shows=b"e (", commands=FEW)
    branches = instruction("y", "conditional", 9, [1], calls=[2, 2, 2])
    yield _row("branches without arguments", _main(branches, others=(inner,)), shows=b"y (",
               commands=FEW)  # fmt: skip


def _deep() -> Iterator[Row]:
    """Computations that call others, or themselves."""

    def calling(at: int, *called: int) -> bytes:
        calls = [instruction(f"c{at}_{place}", "call", 100 * at + place, [100 * at], calls=[each])
                 for place, each in enumerate(called, 1)]  # fmt: skip
        return computation(f"b{at}", at, 100 * at, parameter("p", 100 * at), *calls)

    loop = [calling(at, at % 3 + 2) for at in range(2, 5)]
    start = instruction("y", "call", 9, [1], calls=[2])
    yield _row("computations that call each other", _main(start, others=(*loop,)),
               refused="calls itself", commands=("scope", "info"))  # fmt: skip
    chain = [calling(at, at + 1, at + 1) for at in range(2, 40)]
    yield _row("each calls the next one twice", _main(start, others=(*chain,)),
               refused="counting a computation once per call", commands=("scope",))  # fmt: skip

    def nested() -> bytes:
        return _main(start, others=tuple(calling(at, at + 1) for at in range(2, 20_000)))

    yield _row("20,000 calls in each other", nested, refused="nested too deeply",
               commands=("scope",))  # fmt: skip
    again = computation("sum", 2, 21, instruction("r", "reduce", 21, [], calls=[2]))
    reduces = instruction("y", "reduce", 9, [1], calls=[2])
    yield _row("a reduction that applies itself", _main(reduces, others=(again,)), shows=b"y (",
               commands=FEW)  # fmt: skip


def _names() -> Iterator[Row]:
    """Names and call stacks that take long to take apart."""
    deep = "jvp(" * 2_000 + "x" + ")" * 2_000 + "/add"
    yield _row("a name in 2,000 brackets", _main(instruction("y", "add", 9, [1], op_name=deep)),
               commands=FEW)  # fmt: skip
    many = "/".join(["while", "body"] * 2_000)
    yield _row("a name of 2,000 loops", _main(instruction("y", "add", 9, [1], op_name=many)),
               commands=FEW)  # fmt: skip

    def shared() -> bytes:
        scope = "s" * 20_000 + "/add"
        return _main(
            *(instruction(f"y{at}", "add", at, [1], op_name=scope) for at in range(2, 200))
        )

    yield _row("a long scope of many", shared, commands=("scope", "info"))
    # Frames that are their own callers; each instruction has one.
    frames = b"".join(part(4, number(1, 1) + number(2, at % 3 + 1)) for at in range(3))
    place = part(3, number(1, 1) + number(2, 9) + number(3, 2**40))
    index = part(17, part(1, b"train.py") + place + frames)
    stack = part(7, number(15, 2))
    body = computation("main", 1, 9, parameter("x", 1), instruction("y", "add", 9, [1, 1], stack))
    yield _row("frames that call each other", proto(module("jit_f", 1, body, more=index)),
               commands=FEW)  # fmt: skip


def _large() -> Iterator[Row]:
    """Sizes that no array has."""
    huge = [2**62, 2**62, 2**62]
    yield _row("dimensions of any size", _main(instruction("y", "add", 9, [1], dims=huge)),
               commands=FEW)  # fmt: skip
    negative = [-1, -(2**63), 3]
    yield _row("negative dimensions", _main(instruction("y", "add", 9, [1], dims=negative)),
               commands=FEW)  # fmt: skip
    window = part(15, part(1, number(1, 2**62) + number(6, -4)) * 50)
    convolution = instruction("y", "convolution", 9, [1, 1], window, part(16, number(4, 99)))
    yield _row("a window of any size", _main(convolution), commands=FEW)
    trips = part(43, b'{"known_trip_count":{"n":"999999999999999999"}}')
    inner = computation("b", 2, 20, parameter("p", 20), instruction("z", "add", 21, [20, 20]))
    often = instruction("y", "while", 9, [1], trips, calls=[2, 2])
    yield _row("a loop that never ends", _main(often, others=(inner,)), shows=b"y/body/z (",
               commands=FEW)  # fmt: skip

    def applied() -> bytes:
        first = 10**7
        body = [instruction(f"m{at}", "multiply", first + at, dims=()) for at in range(999)]
        reduces = (instruction(f"r{at}", "reduce", at, [1, 1], calls=[2], dims=(2,))
                   for at in range(2, 20_000))  # fmt: skip
        return _main(*reduces, others=(computation("b", 2, first + 998, *body),))

    yield _row("20,000 reductions that apply 999 operations", applied,
               commands=("scope", "op by rules", "summary"))  # fmt: skip


def _conditions() -> Iterator[Row]:
    """Loops that carry much and compare often."""

    def compared(values: int, comparisons: int) -> bytes:
        """A loop that keeps its values; each comparison has a constant of its own."""
        carried = range(100, 100 + values)
        body = [
            parameter("p", 10**6),
            *(instruction("e", "get-tuple-element", 10**6 + at, [10**6], number(13, at - 100))
              for at in carried),
            instruction("t", "tuple", 10**6 + 1, [10**6 + at for at in carried]),
        ]  # fmt: skip
        five = part(8, part(1, number(2, 4)) + part(4, b"\5"))
        below = part(63, b"LT")
        asked = [parameter("p", 2 * 10**6)]
        for at in range(comparisons):
            element, constant, result = (field * 10**6 + at for field in (3, 4, 5))
            place = number(13, at % values)
            asked += [
                instruction("e", "get-tuple-element", element, [2 * 10**6], place),
                instruction("k", "constant", constant, (), five, dims=()),
                instruction("c", "compare", result, [element, constant], below, dims=()),
            ]
        every = [5 * 10**6 + at for at in range(comparisons)]
        asked.append(instruction("a", "and", 6 * 10**6, every, dims=()))
        return _main(
            *(instruction("v", "negate", at, [1]) for at in carried),
            instruction("t", "tuple", 8, list(carried)),
            instruction("y", "while", 9, [8], calls=[2, 3]),
            others=(computation("b", 2, 10**6 + 1, *body), computation("c", 3, 6 * 10**6, *asked)),
        )

    for values, comparisons in ((300, 300), (1_000, 16)):
        yield _row(f"a loop of {values} values and {comparisons} comparisons",
                   compared(values, comparisons), shows=b"y (", commands=FEW)  # fmt: skip

    # 300 loops, each with 16 counters that 16 comparisons bound.
    elements = [f"  g{at} = s32[] get-tuple-element(p), index={at}" for at in range(16)]
    whole = f"({', '.join(['s32[]'] * 16)})"
    rising = [f"  a{at} = s32[] add(g{at}, one)" for at in range(16)]
    bounded = [f"  q{at} = pred[] compare(g{at}, nine), direction=LT" for at in range(16)]
    both = [f"  d{at} = pred[] and(d{at - 1}, q{at})" for at in range(1, 16)]
    every = ", ".join(f"a{at}" for at in range(16))
    loops = [f"  w{at} = {whole} while(i), condition=c, body=b" for at in range(300)]
    many = "\n".join([
        "HloModule m", f"b (p: {whole}) -> {whole} {{", f"  p = {whole} parameter(0)",
        "  one = s32[] constant(1)", *elements, *rising, f"  ROOT t = {whole} tuple({every})", "}",
        f"c (p: {whole}) -> pred[] {{", f"  p = {whole} parameter(0)", "  nine = s32[] constant(9)",
        *elements, *bounded, "  d0 = pred[] and(q0, q1)", *both,
        "  ROOT r = pred[] and(d15, q0)", "}",
        "ENTRY m () -> s32[] {", "  x = s32[] constant(0)",
        f"  i = {whole} tuple({', '.join(['x'] * 16)})", *loops,
        "  ROOT y = s32[] get-tuple-element(w299), index=0", "}", "",
    ])  # fmt: skip
    yield _row("300 loops of 16 counters", many.encode(), shows=b"y (",
               commands=("scope", "op by rules", "summary"))  # fmt: skip


def _long() -> Iterator[Row]:
    """One long opcode in computations that are applied."""
    inner = computation(
        "inner", 2, 21, parameter("a", 20), instruction("r", "q" * 500_000, 21, [20])
    )
    applied = [
        computation(f"red{at}", at, 1000 * at + 1, *(
            instruction("c", "call", 1000 * at + call, [], calls=[2]) for call in range(1, 300)
        ))
        for at in range(3, 33)
    ]  # fmt: skip
    reduces = [instruction("y", "reduce", 10**6 + at, [1, 1], calls=[at]) for at in range(3, 33)]
    yield _row("9,000 applied opcodes of half a megabyte", _main(
        *reduces, root=10**6 + 3, others=(inner, *applied)), shows=b"y (",
        commands=("scope", "op by rules", "summary"))  # fmt: skip


ROWS: Final = (*_long(), *_ids(), *_deep(), *_names(), *_large(), *_conditions())
