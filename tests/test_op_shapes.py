"""Every operation type with float operations has a shape rule, or a reason why not.

And what the rules say equals what TensorFlow infers: with sizes exactly, with open dimensions at
least as much, and nothing that the sizes contradict.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pytest

import every_op
from tfprof.ops.dtypes import DTYPES
from tfprof.ops.engine import SHAPE, Engine
from tfprof.ops.table import OPS, names, rules
from tfprof.read import Source, load
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from forked import Forked
    from tfprof.ops.shape import MaybeShape

# What all of them need takes long to make, so one worker has them all.
pytestmark = pytest.mark.xdist_group("every op")

# TensorFlow infers nothing for these old forms; they have the rule of the operation itself.
OLD_FORMS: Final = (
    *names("BatchCholesky{,Grad} Batch{,I}FFT{,2D,3D} BatchMatrix{Determinant,Inverse}"),
    *names("BatchMatrix{Solve,SolveLs,TriangularSolve} BatchSelfAdjointEig{,V2} BatchSvd"),
)
# TensorFlow infers one element less than its kernels return for the cuts of rows and columns.
ONE_MORE: Final = ("FractionalAvgPool", "FractionalMaxPool")

Shapes = dict[str, list["MaybeShape"]]


class Inferred(NamedTuple):
    """The output shapes of operations by name: one of each type, and variants of some."""

    tensorflow: Shapes  # inputs of known sizes
    ours: Shapes
    tensorflow_open: Shapes  # inputs of open sizes
    ours_open: Shapes


def test_one_row_has_everything_that_is_known_of_a_type() -> None:
    conv, less, switch = OPS["Conv2D"], OPS["Less"], OPS["Switch"]
    assert conv.float_ops is not None
    assert conv.tensorflow is not None
    assert conv.float_ops.formula is not conv.tensorflow.formula
    assert conv.shape is not None
    assert less.value is not None
    assert DTYPES[less.dtype.fixed].name == "bool"
    assert switch.item is not None
    assert switch.is_a("no arithmetic")
    assert not conv.is_a("no arithmetic")
    assert OPS["OfSomebodyElse"].shape is None


def test_every_type_with_float_operations_has_a_shape_rule_or_a_reason() -> None:
    neither = {op for op in rules("all") if not OPS[op].shape and not OPS[op].no_shape}
    assert neither == set()
    both = {op for op in OPS if OPS[op].shape and OPS[op].no_shape}
    assert both == set()


def test_reasons_are_few() -> None:
    """Of 614 types; whoever adds one says why the shape does not follow."""
    assert sum(bool(OPS[op].no_shape) for op in rules("all")) <= 24


def test_old_forms_have_the_rule_of_the_operation_itself() -> None:
    for op in OLD_FORMS:
        assert OPS[op].shape is OPS[op.removeprefix("Batch")].shape, op


@pytest.fixture(scope="module")
def inferred(tensorflow: Forked) -> Inferred:
    made = every_op.wheel(tensorflow)
    bound = _graph(made.bound + made.bound_variants)
    opened = _graph(made.opened + made.opened_variants)
    sizes = {node.name: _declared(node)[0] for node in bound.node if node.op == "Placeholder"}
    return Inferred(
        {node.name: _declared(node) for node in _operations(bound)},
        _infer(opened, sizes),
        {node.name: _declared(node) for node in _operations(opened)},
        _infer(opened, {}),
    )


def _graph(data: bytes) -> Any:
    graph: Any = message("tensorflow.GraphDef")()
    graph.ParseFromString(data)
    return graph


def _declared(node: Any) -> list[MaybeShape]:
    return [
        None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
        for shape in node.attr["_output_shapes"].list.shape
    ]


def _infer(graph: Any, sizes: dict[str, MaybeShape]) -> Shapes:
    """What our rules say of a graph without shapes, whose inputs get these sizes."""
    bare = type(graph)()
    bare.CopyFrom(graph)
    for node in bare.node:
        node.attr.pop("_output_shapes", None)
    data = np.frombuffer(bare.SerializeToString(), np.uint8)
    profile = load(Source("bare", data))
    place = {name: node for node, name in enumerate(profile.nodes.name.texts())}
    axes = {place[name]: dict(enumerate(dims or ())) for name, dims in sizes.items()}
    operations = [node.name for node in _operations(bare)]
    shapes = Engine(profile, axes).settle(SHAPE, [place[name] for name in operations])
    return dict(zip(operations, shapes, strict=True))


def _operations(graph: Any) -> list[Any]:
    """The operations that have a rule, and no inputs of others."""
    inputs = ("Const", "Placeholder", "VariableV2", "VarHandleOp")
    nodes = [node for node in graph.node if node.op not in inputs]
    return [node for node in nodes if OPS[node.op].shape and node.op not in OLD_FORMS]


def test_with_sizes_shapes_equal_those_of_tensorflow(inferred: Inferred) -> None:
    wrong = {
        op: (ours, theirs)
        for op, theirs in inferred.tensorflow.items()
        # Outputs of unknown shape need no rule: memory of MKL, the scratch of a kernel.
        for ours in [inferred.ours[op]]
        if [*ours, *[None] * (len(theirs) - len(ours))] != theirs
        and not (op.startswith(ONE_MORE) and ours[:1] == theirs[:1])
    }
    assert wrong == {}


def test_with_open_dimensions_nothing_is_invented(inferred: Inferred) -> None:
    """What is known before the sizes are is the same with them."""
    wrong = {
        op: (opened, inferred.ours[op])
        for op, opened in inferred.ours_open.items()
        for before, after in zip_longest(opened, inferred.ours[op])
        if before is not None and (after is None or not _agree(before, after))
    }
    assert wrong == {}


def test_with_open_dimensions_all_is_known_that_tensorflow_knows(inferred: Inferred) -> None:
    wrong = {
        op: (inferred.ours_open[op], theirs)
        for op, theirs in inferred.tensorflow_open.items()
        for number, known in enumerate(theirs)
        if known is not None and not _says(inferred.ours_open[op][number : number + 1], known)
    }
    assert wrong == {}


def _agree(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return len(before) == len(after) and all(
        dim in (-1, size) for dim, size in zip(before, after, strict=True)
    )


def _says(ours: list[MaybeShape], theirs: tuple[int, ...]) -> bool:
    """Whether ours is known and says all that theirs does."""
    return bool(ours) and ours[0] is not None and _agree(theirs, ours[0])
