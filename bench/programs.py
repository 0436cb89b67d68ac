"""Loading a program of XLA beside loading a GraphDef with as many nodes.

    row                        ours                           beside it
    load, HLO / a GraphDef     a program into a fresh process   a graph alone, likewise

The program is a training step of many dense layers, as JAX has it compiled:

    dot.7 ◄ x, params['layer_7']['kernel']     with a name stack and a line
    fusion.7.0 ◄ dot.7                         a computation of ten instructions
    fusion.7.1 ◄ fusion.7.0                    likewise, of the backward pass
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from encode import block, varint
from inputs import HERE
from plan import Often
from rows import Row, take_turns
from worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inputs import Inputs
    from plan import Plan

NAME = "load, HLO / a GraphDef"
_FUSED = 10
_FUSIONS = 2
_OF_LAYER = 2 + _FUSIONS * (1 + _FUSED)  # weight, product and fusions
_LINES = 50
_FLOAT = 11
_KINDS = (b"add", b"multiply", b"tanh")


def _text(number: int, content: bytes) -> bytes:
    return block(varint(number << 3 | 2), content)


def _number(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def _numbers(number: int, values: Sequence[int]) -> bytes:
    return _text(number, b"".join(map(varint, values)))


_SHAPE = _text(3, _number(2, _FLOAT) + _numbers(3, (32, 64)))


def _instruction(name: bytes, kind: bytes, at: int, operands: Sequence[int], *more: bytes) -> bytes:
    head = _text(1, name) + _text(2, kind) + _SHAPE + b"".join(more) + _number(35, at)
    return _text(2, head + (_numbers(36, operands) if operands else b""))


def _metadata(name: bytes, line: int) -> bytes:
    return _text(7, _text(2, name) + _number(15, 1 + line % _LINES))


def _computation(name: bytes, at: int, root: int, instructions: Sequence[bytes]) -> bytes:
    inside = _text(1, name) + b"".join(instructions) + _number(5, at) + _number(6, root)
    return _text(3, inside)


def _fused(layer: int, pass_: int, at: int) -> bytes:
    """The computation of a fusion; ids count from that of the computation, as XLA's do."""
    model = b"transpose(jvp(Model))" if pass_ else b"jvp(Model)"
    first = at << 32
    inside = [_instruction(b"param_0.%d" % at, b"parameter", first, (), _number(9, 0))]
    for place in range(1, _FUSED):
        kind = _KINDS[place % len(_KINDS)]
        operands = [first + place - 1] * (1 if kind == b"tanh" else 2)
        said = _metadata(b"jit(step)/%b/layer_%d/add" % (model, layer), layer)
        inside.append(
            _instruction(b"%b.%d.%d" % (kind, at, place), kind, first + place, operands, said)
        )
    return _computation(b"fused.%d" % at, at, first + _FUSED - 1, inside)


def _frames() -> bytes:
    lines = range(1, _LINES + 1)
    locations = b"".join(
        _text(3, _number(1, 1) + _number(2, 1) + _number(3, line)) for line in lines
    )
    frames = b"".join(_text(4, _number(1, line)) for line in lines)
    return _text(17, _text(1, b"/model/train.py") + _text(2, b"step") + locations + frames)


def program(instructions: int) -> tuple[bytes, int]:
    """(an HloProto of about so many instructions, its nodes: parameters of fusions are none)."""
    layers = instructions // _OF_LAYER
    main = [_instruction(b"x", b"parameter", 1, (), _number(9, 0), _metadata(b"x", 0))]
    pieces = []
    last, free = 1, 2
    product = _text(30, _numbers(1, [1]) + _numbers(2, [0]))
    for layer in range(layers):
        weight, dot = free, free + 1
        path = b"params['layer_%d']['kernel']" % layer
        said = _text(7, _text(2, path))
        main.append(
            _instruction(b"Arg.%d" % layer, b"parameter", weight, (), _number(9, layer + 1), said)
        )
        said = _metadata(b"jit(step)/jvp(Model)/layer_%d/dot_general" % layer, layer)
        main.append(_instruction(b"dot.%d" % layer, b"dot", dot, [last, weight], product, said))
        last = dot
        for pass_ in range(_FUSIONS):
            at = 2 + _FUSIONS * layer + pass_
            pieces.append(_fused(layer, pass_, at))
            said = _metadata(b"jit(step)/jvp(Model)/layer_%d/add" % layer, layer)
            calls = _numbers(38, [at])
            name = b"fusion.%d.%d" % (layer, pass_)
            main.append(_instruction(name, b"fusion", last + 1, [last], calls, said))
            last += 1
        free = last + 1
    pieces.append(_computation(b"main", 1, last, main))
    module = _text(1, b"jit_step") + _text(2, b"main") + b"".join(pieces) + _number(6, 1)
    return _text(1, module + _frames()), 1 + layers * (_OF_LAYER - _FUSIONS)


def programs(given: Inputs, plan: Plan) -> Iterator[Row]:
    """The row of a size; the answer is the number of nodes."""
    content, count = program(given.size.nodes)
    answer, _ = given.outs(NAME)
    path = Path(answer).with_suffix(".pb")
    path.write_bytes(content)
    graph = {"run_metas": [], "op_log": ""}
    worker, other = Worker(HERE / "our_side.py"), Worker(HERE / "our_side.py")
    often = Often(plan.load.ours, plan.load.ours)
    try:
        turns = take_turns(
            lambda: worker.fresh().ask("load_counted", graph=str(path), out=str(answer)),
            lambda: other.fresh().ask("load", graph=given.path("graph.pb"), **graph),
            often,
        )
    finally:
        worker.stop()
        other.stop()
    same = answer.exists() and answer.read_text() == f"{count} nodes\n"
    yield Row("load", NAME, given.size, turns, "same nodes" if same else "MISMATCH: nodes")
