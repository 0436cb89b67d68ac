"""Optimizers: the steps of the update that TensorFlow documents, for each element of the gradient.

    ResourceApplyAdam    m = β₁ · m + (1 - β₁) · g               3
                         v = β₂ · v + (1 - β₂) · g · g           4
                         variable -= rate · m / (√v + ε)         5

What depends on no element (a learning rate corrected for the step, 1 - β) is not counted; a
reciprocal square root is 2, as on its own. The gradient is what tells the size: a variable may be
known by its handle only, and a sparse update touches the rows it has a gradient for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.flops.op import Op

DENSE: Final = ("Apply", "ResourceApply")
SPARSE: Final = ("SparseApply", "ResourceSparseApply")


class Update(NamedTuple):
    """An optimizer: which input is the gradient, and the steps for each of its elements."""

    optimizer: str
    gradient: int
    steps: int
    forms: tuple[str, ...] = DENSE + SPARSE
    nesterov: int = 0  # what use_nesterov adds
    slots: int = 0  # what update_slots=False saves


UPDATES: Final = (
    Update("GradientDescent", 2, 2, DENSE),
    Update("Momentum", 3, 4, nesterov=3),
    Update("KerasMomentum", 3, 4, ("ResourceApply", "ResourceSparseApply"), nesterov=3),
    Update("Adagrad", 3, 7, slots=2),
    Update("AdagradV2", 4, 7, slots=2),
    Update("AdagradDA", 3, 12),
    Update("Adadelta", 6, 17),
    Update("Adam", 9, 12, DENSE, nesterov=3),
    Update("AdamWithAmsgrad", 10, 13, ("ResourceApply",)),
    Update("AdaMax", 8, 10, DENSE),
    Update("RMSProp", 7, 12),
    Update("CenteredRMSProp", 8, 16),
    Update("Ftrl", 3, 17),
    Update("FtrlV2", 3, 19),
    Update("AddSign", 6, 11, DENSE),
    Update("PowerSign", 6, 11, DENSE),
    Update("ProximalGradientDescent", 4, 8),
    Update("ProximalAdagrad", 5, 16),
)


def counts(update: Update) -> Callable[[Op], int]:
    """The formula of an optimizer."""

    def formula(op: Op) -> int:
        steps = update.steps
        if op.attr("use_nesterov"):
            steps += update.nesterov
        if not op.attr("update_slots", default=True):
            steps -= update.slots
        return steps * size(op.input(update.gradient))

    return formula


for _update in UPDATES:
    rule(
        *(form + _update.optimizer for form in _update.forms),
        attributes=("use_nesterov", "update_slots"),
    )(counts(_update))


@rule("AssignAddVariableOp", "AssignSubVariableOp")
def assign(op: Op) -> int:
    """One for each element of what is added; the first input is a handle."""
    return size(op.input(1))


@rule("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")
def accumulate(op: Op) -> int:
    """One for each element of the gradient."""
    return size(op.input(2))


@rule("SparseAccumulatorApplyGradient")
def accumulate_sparse(op: Op) -> int:
    """One for each element of the gradient's values."""
    return size(op.input(3))


@rule("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")
def average(op: Op) -> int:
    """A quotient for each element."""
    return size(op.output())


@rule("SparseAccumulatorTakeGradient")
def average_sparse(op: Op) -> int:
    """A quotient for each element of the values."""
    return size(op.output(1))
