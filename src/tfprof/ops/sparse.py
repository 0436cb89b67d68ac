"""Sparse tensors, ragged tensors (values in rows of different lengths) and strings.

indices [n, rank], values [n]      n stored elements, which count
SparseTensorDenseMatMul            2 · n · columns
values [n, …], row_splits [r + 1]  RaggedTensorToTensor  [r, longest, …]
"""

from __future__ import annotations

from tfprof.ops import shared_rules as shared
from tfprof.ops.elementwise import shape_beside_scalars
from tfprof.ops.op import Op, size
from tfprof.ops.shape import (
    OPEN,
    MaybeShape,
    Shape,
    Value,
    dims_of,
    either,
    merged,
    need,
    of_dims,
    require,
)
from tfprof.ops.table import float_ops, no_shape, shape, value

# --- float operations ---


@float_ops("SparseTensorDenseMatMul", attributes="adjoint_b", contraction=True)
def mat_mul(op: Op) -> int:
    """A multiply-add per stored element and column of the dense factor."""
    rows, columns = op.input(3)
    return 2 * op.input(0)[0] * (rows if op.attr("adjoint_b") else columns)


float_ops("SparseDenseCwise{Add,Div,Mul} SparseTensorDenseAdd SparseReduce{Max,Sum}{,Sparse}")(
    shared.per_input(1)
)
float_ops("{Ragged,Sparse}Bincount {Ragged,Sparse}FillEmptyRowsGrad")(shared.per_input(1))
float_ops("SparseSoftmax")(shared.per_input(1, steps=5))
# One per stored element of both.
float_ops("SparseAdd SparseSparse{Maximum,Minimum}")(
    lambda op: size(op.input(1)) + size(op.input(4))
)


@float_ops("SparseSegment{Sum,Mean,SqrtN}{,WithNumSegments} SparseSegmentSumGrad{,V2}")
def picked(op: Op) -> int:
    """One per element of the rows that the indices pick."""
    return size(op.input(1)) * size(op.input(0)[1:])


# A product and a sum per element of the rows that the indices pick.
float_ops("SparseSegment{Mean,SqrtN}Grad{,V2}")(lambda op: 2 * picked(op))


# --- shapes ---


@shape("SparseTensorDenseMatMul")
def mat_mul_shape(op: Op) -> Shape:
    """Rows of the sparse factor, columns of the dense one."""
    rows, columns = op.shape(3) or (OPEN, OPEN)
    return (op.dims(2, 2)[bool(op.attr("adjoint_a"))], rows if op.attr("adjoint_b") else columns)


@shape("SparseDenseCwise{Add,Div,Mul} SparseSoftmax")
def stored_values(op: Op) -> Shape:
    """A number per stored element."""
    both = op.ranked(0, 2)[0], op.ranked(1, 1)[0]
    return (either(*both[::-1]) if op.type == "SparseSoftmax" else either(*both),)


@shape("SparseAdd")
def sum_of_sparse(op: Op) -> list[MaybeShape]:
    """Indices, values and shape of a sparse tensor: the numbers say how many are stored."""
    shape_of = merged(op.shape(2), op.shape(5)) or (OPEN,)
    return [(OPEN, shape_of[0]), (OPEN,), shape_of]


shape("SparseToDense")(shared.listed_by(1))
shape("SparseReorder")(lambda op: [op.shape(0) or (OPEN, OPEN), op.shape(1) or (OPEN,)])
# Indices and shape of another rank.
shape("SparseReshape")(lambda op: [(op.ranked(0, 2)[0], op.ranked(2, 1)[0]), op.ranked(2, 1)])

# Indices, values and shape of a matrix with a row per row of the inputs.
shape("SparseCross{,V2,Hashed}")(lambda _: [(OPEN, 2), (OPEN,), (2,)])


@value("SparseCross{,V2,Hashed}")
def crossed_value(op: Op) -> list[Value | None]:
    """The shape: the numbers say how many columns there are. Dense inputs say how many rows."""
    first = 3 * int(op.attr("N", 0))
    last = first + len(op.attr("dense_types") or [])
    rows = max((op.known(number)[0] for number in range(first, last)), default=OPEN)
    return [None, None, of_dims((rows, OPEN))]


# Indices and values of a sparse tensor: the numbers say how many are stored.
shape("SparseSparse{Maximum,Minimum}")(lambda _: [(OPEN, OPEN), (OPEN,)])
shape("SparseTensorDenseAdd")(shared.like_input(3))
shape("SparseSegment{Sum,Mean,SqrtN}")(shared.rows_of_unknown_number)
# The last input says how many rows there are.
shape("SparseSegment{Sum,Mean,SqrtN}{WithNumSegments,Grad}")(
    lambda op: (op.length(3), *op.known(0)[1:])
)
# Rows, and where they belong.
shape("SparseSegment{Sum,Mean,SqrtN}GradV2")(
    lambda op: [shared.known(shared.rows_of_unknown_number, op), (OPEN,)]
)
# The gradient of the values, as many as the map has, and that of the default.
shape("{Ragged,Sparse}FillEmptyRowsGrad")(lambda op: [op.ranked(0, 1), ()])
no_shape("TensorFlow infers none: the numbers of the axes say it", "SparseReduce{Max,Sum}{,Sparse}")
no_shape("TensorFlow infers none: the splits or the shape say it", "{Ragged,Sparse}Bincount")

# --- ragged tensors and strings ---

shape("{Static,}Regex{Replace,FullMatch} Unicode{Script,Transcode}")(shared.like_input(0))
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
