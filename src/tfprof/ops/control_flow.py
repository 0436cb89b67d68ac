"""Control flow of single nodes, and operations that declare their outputs: iterators, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.ops.shape import MaybeShape, agreed
from tfprof.ops.table import shape

if TYPE_CHECKING:
    from tfprof.ops.graph_op import GraphOp

BACK: Final = ("NextIteration", "RefNextIteration")


shape("Switch RefSwitch")(lambda op: [op.shape(0), op.shape(0)])


@shape("Merge RefMerge")
def merge(op: GraphOp) -> list[MaybeShape]:
    """Whichever input arrives, and its number.

    In a loop, what comes back is like what went in: it need not be known first.
    """
    entering = [number for number in range(op.inputs) if op.source_type(number) not in BACK]
    return [agreed(op.shape(number) for number in entering or range(op.inputs)), ()]


shape(
    """
    IteratorGetNext{,Sync} DatasetToSingleElement OptionalGetValue ReduceDataset
    {,Stateless}{While,If,Case}
    """
)(lambda op: list(op.attr("output_shapes") or []))
