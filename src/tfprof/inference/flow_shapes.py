"""What goes on along one of several ways, and what iterators and calls say of their outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.inference.shape import agreed
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe

ROUND: Final = ("NextIteration", "RefNextIteration")


@shape_rule("Switch RefSwitch")
def switched(op: Operation) -> list[Maybe]:
    """The input, along one of two ways."""
    return [op.shape(0), op.shape(0)]


@shape_rule("Merge RefMerge")
def met(op: Operation) -> list[Maybe]:
    """Whichever input comes, and its number.

    What comes round in a loop is as what went in, so that need not be known first.
    """
    entering = [number for number in range(op.inputs) if op.source_type(number) not in ROUND]
    return [agreed(op.shape(number) for number in entering or range(op.inputs)), ()]


@shape_rule(
    """
    IteratorGetNext IteratorGetNextSync DatasetToSingleElement OptionalGetValue ReduceDataset
    While StatelessWhile If StatelessIf Case StatelessCase
    """
)
def as_declared(op: Operation) -> list[Maybe]:
    """What an attribute lists."""
    return list(op.attr("output_shapes") or [])
