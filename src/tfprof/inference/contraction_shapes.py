"""Products of matrices and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.inference.shape import OPEN, Unknown, broadcast
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Shape

ELLIPSIS = "..."
_MATRIX = 2


@shape_rule("MatMul SparseMatMul _FusedMatMul _MklMatMul _MklFusedMatMul")
def mat_mul(op: Operation) -> Shape:
    """Rows of the left factor, columns of the right one."""
    any_matrix = (OPEN, OPEN)
    left, right = (op.shape(number) or any_matrix for number in (0, 1))
    if len(left) != _MATRIX or len(right) != _MATRIX:
        raise Unknown
    return (left[bool(op.attr("transpose_a"))], right[not op.attr("transpose_b")])


@shape_rule("BatchMatMul BatchMatMulV2 BatchMatMulV3 _MklBatchMatMul _MklBatchMatMulV2")
def batch_mat_mul(op: Operation) -> Shape:
    """A product for each matrix of a batch; batches stretch to each other."""
    left, right = op.known(0), op.known(1)
    if min(len(left), len(right)) < _MATRIX:
        raise Unknown
    rows = left[-1] if op.attr("adj_x") else left[-2]
    columns = right[-2] if op.attr("adj_y") else right[-1]
    return (*broadcast(left[:-2], right[:-2]), rows, columns)


@shape_rule("Einsum XlaEinsum _MklEinsum")
def einsum(op: Operation) -> Shape:
    """The sizes of the labels on the right of the arrow."""
    left, arrow, right = "".join(op.attr("equation", "").split()).partition("->")
    terms = left.split(",")
    sizes: dict[str, int] = {}
    hidden: Shape = ()
    for number, term in enumerate(terms):
        before, dots, after = term.partition(ELLIPSIS)
        shape = op.known(number) if dots else op.shape(number) or (OPEN,) * len(term)
        rest = len(shape) - len(before) - len(after)
        if rest < 0 or (rest and not dots):
            raise Unknown
        hidden = broadcast(hidden, shape[len(before) : len(before) + rest])
        labels = [*before, *after]
        for label, size in zip(
            labels, (*shape[: len(before)], *shape[len(before) + rest :]), strict=True
        ):
            sizes[label] = max(size, sizes.get(label, OPEN))
    if not arrow:
        written = left.replace(ELLIPSIS, "").replace(",", "")
        once = sorted(label for label in set(written) if written.count(label) == 1)
        right = (ELLIPSIS if ELLIPSIS in left else "") + "".join(once)
    before, dots, after = right.partition(ELLIPSIS)
    return (
        *(sizes[label] for label in before),
        *(hidden if dots else ()),
        *(sizes[label] for label in after),
    )
