"""Strings, and ragged tensors: values in rows of different lengths.

values [n, …]      row_splits [rows + 1]        RaggedTensorToTensor  [rows, longest, …]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.ops.elementwise import shape_beside_scalars
from tfprof.ops.shape import OPEN, Shape, merged, need, require
from tfprof.ops.shared_rules import like_input
from tfprof.ops.table import shape, value
from tfprof.ops.value import dims_of, of_dims

if TYPE_CHECKING:
    from tfprof.ops.op import Op

shape("{Static,}Regex{Replace,FullMatch} Unicode{Script,Transcode}")(like_input(0))
# Indices, values and shape of a sparse matrix: a row per text, a column per word.
shape("StringSplit{,V2}")(lambda _: [(OPEN, 2), (OPEN,), (2,)])
value("StringSplit{,V2}")(lambda op: [None, None, of_dims((op.known(0)[0], OPEN))])


shape("StringJoin")(lambda op: need(shape_beside_scalars(op)))


@shape("RaggedTensorToTensor")
def padded(op: Op) -> Shape:
    """The shape that the first input asks for; else a row per row, and elements like the values."""
    kinds = op.attr("row_partition_types") or []
    require(kinds and len(kinds) == op.inputs - 3)
    asked, values = op.value(0), op.shape(1)
    partitions = len(kinds) - (kinds[0] == "FIRST_DIM_SIZE")
    if values is None:
        return op.dims(0)
    dims = None if asked is None or asked.ndim != 1 else dims_of(asked)
    return need(merged(dims, (_rows(op, kinds[0]), *(OPEN,) * partitions, *values[1:])))


def _rows(op: Op, kind: str) -> int:
    """The number of rows, which the outermost partition says."""
    if kind == "FIRST_DIM_SIZE":
        return op.length(3)
    length = (op.shape(3) or (OPEN,))[0]
    return length - 1 if kind == "ROW_SPLITS" and length > 0 else length
