"""Our shape rules beside TensorFlow's, for every case: what each says of its inputs.

exact      with sizes, ours are TensorFlow's
true       with open parts, ours agree with every binding that these parts may get
as much    with open parts, ours know what TensorFlow knows
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import paths
from shape_cases import Case, cases
from shape_exceptions import LIKE, RUN, WRONG
from shape_variants import Inputs, admits, bindings, leaves, numbers, pattern, variants
from tfprof.ops.engine import SHAPE, Engine
from tfprof.read import Source, load
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forked import Forked
    from tfprof.ops.shape import MaybeShape

WORKER: Final = paths.SUPPORT / "shape_oracle_worker.py"
Shapes = list["MaybeShape"]


class Both(NamedTuple):
    """An operation with these inputs: the shapes of its outputs."""

    inputs: Inputs
    ours: Shapes
    theirs: Shapes  # as TensorFlow infers them
    sure: Shapes  # the same, and what kernels return


class Compared(NamedTuple):
    """A case as TensorFlow builds it."""

    case: Case
    opened: list[Both]
    bound: list[Both]


def compared(tensorflow: Forked, numbers: Iterable[int]) -> list[Compared]:
    """What TensorFlow and our rules say of these cases."""
    text = " ".join(map(str, numbers)).encode()
    return decoded(tensorflow.script(WORKER, stdin=text))


def decoded(data: bytes) -> list[Compared]:
    inputs_of, ran, serialized = pickle.loads(data)  # noqa: S301 - our own worker's
    graph: Any = message("tensorflow.GraphDef")()
    graph.ParseFromString(serialized)
    theirs = {node.name: _declared(node) for node in graph.node if node.name.startswith("c")}
    ours = _inferred(graph, list(theirs))

    def both(number: int, letter: str, several: list[Inputs]) -> list[Both]:
        names = [f"c{number}/{letter}{place}" for place in range(len(several))]
        is_run = cases()[number].op in RUN and letter == "b"
        there = ran if is_run else theirs  # of those that run, only what runs is evidence
        return [
            Both(inputs, ours[name], theirs[name], there[name])
            for name, inputs in zip(names, several, strict=True)
            if name in there
        ]

    return [
        Compared(
            cases()[number],
            both(number, "v", variants(inputs)),
            both(number, "b", bindings(inputs)),
        )
        for number, inputs in inputs_of.items()
    ]


def _declared(node: Any) -> Shapes:
    return [
        None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
        for shape in node.attr["_output_shapes"].list.shape
    ]


def _inferred(graph: Any, operations: list[str]) -> dict[str, Shapes]:
    """What our rules say of a graph without shapes."""
    for node in graph.node:
        node.attr.pop("_output_shapes", None)
    profile = load(Source("bare", np.frombuffer(graph.SerializeToString(), np.uint8)))
    place = {name: node for node, name in enumerate(profile.nodes.name.texts())}
    shapes = Engine(profile, {}).settle(SHAPE, [place[name] for name in operations])
    return dict(zip(operations, shapes, strict=True))


def inexact(case: Compared) -> Iterator[str]:
    """Where ours differ from TensorFlow's with sizes."""
    for inputs, ours, theirs, sure in case.bound:
        if not _agree_all(case, ours, sure) or not _say_all(case, inputs, ours, theirs):
            yield f"{_shown(case.case, inputs)}: ours {ours}, TensorFlow's {theirs}, run {sure}"


def untrue(case: Compared) -> Iterator[str]:
    """Where ours say of open inputs what one of their bindings contradicts."""
    evidence = [(numbers(bound.inputs), bound) for bound in case.bound]
    for inputs, ours, *_ in case.opened:
        known = pattern(inputs, case.opened[0].inputs)
        for sizes, bound in evidence:
            if admits(known, sizes) and not _agree_all(case, ours, bound.sure):
                shown = f"{_shown(case.case, inputs)}: ours {ours}"
                yield f"{shown}, TensorFlow's {bound.sure} with {bound.inputs}"
                break


def unknown(case: Compared) -> Iterator[str]:
    """Where TensorFlow knows more of open inputs."""
    for inputs, ours, theirs, _ in case.opened:
        if not _say_all(case, inputs, ours, theirs):
            yield f"{_shown(case.case, inputs)}: ours {ours}, TensorFlow's {theirs}"


def _shown(case: Case, inputs: Inputs) -> str:
    return f"{case.op}{case.attributes or ''}{inputs}"


def _padded(ours: Shapes, theirs: Shapes) -> Shapes:
    """Outputs of unknown shape need no rule: memory of MKL, the scratch of a kernel."""
    return [*ours, *[None] * (len(theirs) - len(ours))]


def _agree_all(case: Compared, ours: Shapes, sure: Shapes) -> bool:
    """Whether ours claim nothing that is not sure."""
    padded = _padded(ours, sure)
    return case.case.op in LIKE or (len(padded) == len(sure) and all(map(_agree, padded, sure)))


def _agree(less: MaybeShape, more: MaybeShape) -> bool:
    """Whether the second says all that the first does."""
    if less is None:
        return True
    if more is None or len(less) != len(more):
        return False
    return all(dim in (-1, size) for dim, size in zip(less, more, strict=True))


def _say_all(case: Compared, inputs: Inputs, ours: Shapes, theirs: Shapes) -> bool:
    """Whether ours say all that theirs do, where these are right."""
    is_wrong, _ = WRONG.get(case.case.op, (None, ""))
    if is_wrong is not None and is_wrong(leaves(inputs)):
        return True
    return all(map(_agree, theirs, _padded(ours, theirs)))
