"""Optimizers: the steps of the update that TensorFlow documents, per element of the gradient.

    ResourceApplyAdam    m = β₁ · m + (1 - β₁) · g               3
                         v = β₂ · v + (1 - β₂) · g · g           4
                         variable -= rate · m / (√v + ε)         5

What depends on no element (a learning rate corrected for the step, 1 - β) is not counted; a
reciprocal square root is 2, as on its own. The size is that of the gradient: a variable may be
known by its handle only, and a sparse update touches the rows that have a gradient.
"""

from __future__ import annotations

from functools import reduce
from typing import Final, NamedTuple

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, merged
from tfprof.ops.shared_rules import per_input, per_output
from tfprof.ops.table import float_ops, no_shape, shape

DENSE: Final = ("Apply", "ResourceApply")
SPARSE: Final = ("SparseApply", "ResourceSparseApply")


class Update(NamedTuple):
    """An optimizer: which input is the gradient, and the steps per element."""

    optimizer: str
    gradient: int
    steps: int
    slots: int  # variables beside the one that is trained, which come next to it
    forms: tuple[str, ...] = DENSE + SPARSE
    nesterov: int = 0  # what use_nesterov adds
    saved: int = 0  # what update_slots=False saves

    def float_ops(self, op: Op) -> int:
        """The float operations of one update."""
        more = self.nesterov if op.attr("use_nesterov") else 0
        less = 0 if op.attr("update_slots", default=True) else self.saved
        return (self.steps + more - less) * size(op.input(self.gradient))

    def shape(self, op: Op) -> list[MaybeShape]:
        """The variable, where it is a reference; an update by handle has no output."""
        if op.type.startswith("Resource"):
            return []
        gradient = op.shape(self.gradient)
        if op.type.startswith("Sparse") and gradient is not None:
            gradient = (OPEN, *gradient[1:])
        return [reduce(merged, (*map(op.shape, range(1 + self.slots)), gradient), None)]


UPDATES: Final = (
    Update("GradientDescent", 2, 2, 0, DENSE),
    Update("Momentum", 3, 4, 1, nesterov=3),
    Update("KerasMomentum", 3, 4, 1, ("ResourceApply", "ResourceSparseApply"), nesterov=3),
    Update("Adagrad", 3, 7, 1, saved=2),
    Update("AdagradV2", 4, 7, 1, saved=2),
    Update("AdagradDA", 3, 12, 2),
    Update("Adadelta", 6, 17, 2),
    Update("Adam", 9, 12, 2, DENSE, nesterov=3),
    Update("AdamWithAmsgrad", 10, 13, 3, ("ResourceApply",)),
    Update("AdaMax", 8, 10, 2, DENSE),
    Update("RMSProp", 7, 11, 2),
    Update("CenteredRMSProp", 8, 16, 3),
    Update("Ftrl", 3, 17, 2),
    Update("FtrlV2", 3, 19, 2),
    Update("AddSign", 6, 11, 1, DENSE),
    Update("PowerSign", 6, 11, 1, DENSE),
    Update("ProximalGradientDescent", 4, 8, 0),
    Update("ProximalAdagrad", 5, 16, 1),
)

for _update in UPDATES:
    _names = [form + _update.optimizer for form in _update.forms]
    float_ops(*_names, attributes="use_nesterov update_slots")(_update.float_ops)
    shape(*_names)(_update.shape)

# One per element of what is added, of a gradient or of its values; or a quotient for an average.
float_ops("AssignAddVariableOp AssignSubVariableOp")(per_input(1))
float_ops("{,Resource}AccumulatorApplyGradient")(per_input(2))
float_ops("SparseAccumulatorApplyGradient")(per_input(3))
float_ops("{,Resource}AccumulatorTakeGradient")(per_output(1))
float_ops("SparseAccumulatorTakeGradient")(lambda op: size(op.output(1)))


@shape("AssignAddVariableOp AssignSubVariableOp {,Resource,Sparse}AccumulatorApplyGradient")
@shape("ResourceScatter{Add,Div,Max,Min,Mul,Sub} ResourceScatterNd{Add,Max,Min,Sub}")
def no_outputs(_: Op) -> list[MaybeShape]:
    """It changes what a handle points to, and has no outputs."""
    return []


no_shape("the accumulator knows it when it runs", "{,Resource,Sparse}AccumulatorTakeGradient")
