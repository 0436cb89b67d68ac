"""KINDS of operation types as readers speak of them, for colours and legends.

The first kind that fits a type is its kind. What does no arithmetic moves data or describes it;
what computes and fits no other kind works element by element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.ops.classes import CLASSES, OpClass
from tfprof.ops.table import OPS

if TYPE_CHECKING:
    from collections.abc import Iterable

VARIABLES: Final = "variables and updates"
MOVES: Final = "data movement"
ELEMENTWISE: Final = "elementwise"
OTHER: Final = "other"
_BY_NAME: Final = {
    "convolution": OpClass(r"exactly \w*(Conv|Dilation)\w*[23]D\w* _?\w*Conv\w* convolution"),
    "matrix product": OpClass(r"""
        exactly \w*(MatMul|Matmul|Einsum|LSTM|GRU|RNN|Attention|Cholesky|Solve|Svd|Qr|Eig)\w*
        XlaDot\w* Cross dot ragged-dot scaled-dot cholesky triangular-solve
    """),
    "normalization": OpClass(r"""
        exactly \w*(BatchNorm|LayerNorm|InstanceNorm)\w* LRN\w* L2Loss batch-norm-\w+
    """),
    "pooling and reduction": OpClass(r"""
        exactly \w*Pool\w* Sum Mean Max Min Prod All Any Arg(Max|Min) EuclideanNorm BiasAddGrad
        \w*Segment(Sum|Mean|Max|Min|Prod|SqrtN)\w* Cum(sum|prod)\w* AddN AccumulateN\w*
        (all-|collective-)?reduce(-start|-scatter|-window)? select-and-scatter scatter
    """),
    "activation": OpClass(r"""
        exactly \w*(Relu|Elu|Selu|Gelu|Sigmoid|Tanh|Softmax|Softplus|Softsign)\w*
        logistic tanh
    """),
}  # fmt: skip
CUSTOM_CALL: Final = "custom-call"  # of HLO: a product, a convolution, or anything else

_OF_VARIABLES: Final = (
    "variable handle", "reference variable", "variable read", "changes a variable",
)  # fmt: skip
# The last is grey in pictures.
KINDS: Final = (*_BY_NAME, VARIABLES, ELEMENTWISE, OTHER, MOVES)


def kind_of(op: str) -> str:
    """The kind of an operation type."""
    if any(op in CLASSES[name] for name in _OF_VARIABLES):
        return VARIABLES
    if op in CLASSES["no arithmetic"]:
        return MOVES
    if op == CUSTOM_CALL:
        return OTHER
    by_name = next((kind for kind, types in _BY_NAME.items() if op in types), None)
    counted = OPS[op].float_ops or OPS[op].tensorflow
    return by_name or (ELEMENTWISE if counted else OTHER)


def kinds_of(ops: Iterable[str]) -> list[int]:
    """The place in KINDS of the kind of each operation type."""
    return [KINDS.index(kind_of(op)) for op in ops]
