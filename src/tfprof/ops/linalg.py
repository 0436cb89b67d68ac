"""Linear algebra and Fourier transforms: the leading terms that textbooks give.

    n by n       Cholesky n³/3, LU 2n³/3, inverse 2n³, triangular solve n² per column
    m ≥ n        Householder QR 2mn² - 2n³/3; singular values by Golub and Reinsch
    transform    5 · N · log₂ N, half of that where one side is real

All after Golub and Van Loan, Matrix Computations; transforms as FFT benchmarks count them. Each
counts for every matrix of a batch; fractions are cut off at the end.
"""

from __future__ import annotations

from math import log2

from tfprof.ops.op import Op, size
from tfprof.ops.shape import (
    OPEN,
    MaybeShape,
    Shape,
    broadcast,
    merged,
    need,
    of_rank,
    plus,
    require,
)
from tfprof.ops.shared_rules import known, like_input
from tfprof.ops.table import float_ops, no_shape, shape

# --- float operations ---


def _rectangle(op: Op) -> tuple[int, int, int]:
    """(number of matrices, rows, columns)."""
    *batch, rows, columns = op.input(0)
    return size(tuple(batch)), rows, columns


def _sorted_rectangle(op: Op) -> tuple[int, int, int]:
    """(number of matrices, shorter side, longer side)."""
    many, *sides = _rectangle(op)
    return many, min(sides), max(sides)


def _cubes(op: Op, thirds: int) -> float:
    """So many thirds of n³ per matrix."""
    many, _, n = _rectangle(op)
    return many * thirds * n**3 / 3


float_ops("{,Batch}Cholesky")(lambda op: _cubes(op, 1))  # n³/3
# A Schur form (25), a root of it (1/3) and the way back (3).
float_ops("MatrixSquareRoot")(lambda op: _cubes(op, 85))
float_ops("{,Batch}MatrixInverse")(lambda op: 2 * op.input(0)[-1] * size(op.input(0)))  # 2n³


@float_ops("{,Batch}CholeskyGrad Lu {,Batch}MatrixDeterminant LogMatrixDeterminant")
def lu(op: Op) -> float:
    """2n³/3: an elimination; the gradient of a Cholesky factor is twice its forward pass."""
    return _cubes(op, 2)


@float_ops("{,Batch}MatrixSolve")
def solve(op: Op) -> float:
    """An elimination, then two triangular solves."""
    return lu(op) + 2 * op.input(0)[-1] * size(op.input(1))


# n² per column on the right; either side may broadcast over a batch.
float_ops("MatrixTriangularSolve")(lambda op: op.input(0)[-1] * size(op.output()))
# The same; nothing broadcasts.
float_ops("BatchMatrixTriangularSolve")(lambda op: op.input(0)[-1] * size(op.input(1)))
# A multiply-add per band but one, and a quotient.
float_ops("BandedTriangularSolve")(lambda op: (2 * op.input(0)[-2] - 1) * size(op.output()))
# Three per row, and five per element on the right.
float_ops("TridiagonalSolve")(lambda op: 3 * size(op.input(1)[:-1]) + 5 * size(op.input(1)))


@float_ops("{,Batch}MatrixSolveLs", attributes="fast")
def least_squares(op: Op) -> float:
    """Normal equations and two solves; where not fast, reflections of both sides and one solve."""
    many, n, m = _sorted_rectangle(op)
    right = op.input(1)[-1]
    if op.attr("fast", default=True):
        return many * (m * n**2 + n**3 / 3 + 2 * m * n * right + 2 * n**2 * right)
    return many * (reflections(m, n) + 2 * right * n * (2 * m - n) + n**2 * right)


@float_ops("Qr", attributes="full_matrices")
def qr(op: Op) -> float:
    """The triangle, then the columns of Q that are asked for."""
    many, m, n = _rectangle(op)
    least = min(m, n)
    full = 4 * (m**2 * least - m * least**2 + least**3 / 3)
    columns = full if op.attr("full_matrices") else reflections(m, least)
    return many * (reflections(max(m, n), least) + columns)


def reflections(m: int, n: int) -> float:
    """The float operations of a triangle by Householder reflections, m ≥ n."""
    return 2 * m * n**2 - 2 * n**3 / 3


@float_ops("{,Batch}Svd", attributes="compute_uv full_matrices")
def svd(op: Op) -> float:
    """Values alone 4mn² - 4n³/3; with vectors 14mn² + 8n³, or 4m²n + 8mn² + 9n³ if full."""
    many, n, m = _sorted_rectangle(op)
    if not op.attr("compute_uv", default=True):
        return many * (4 * m * n**2 - 4 * n**3 / 3)
    return full_svd(op) if op.attr("full_matrices") else many * (14 * m * n**2 + 8 * n**3)


@float_ops("XlaSvd")
def full_svd(op: Op) -> int:
    """Values and all vectors."""
    many, n, m = _sorted_rectangle(op)
    return many * (4 * m**2 * n + 8 * m * n**2 + 9 * n**3)


@float_ops("{,Batch}SelfAdjointEig{,V2} XlaSelfAdjointEig", attributes="compute_v")
def symmetric_eig(op: Op) -> float:
    """4n³/3, with vectors 9n³."""
    many, _, n = _rectangle(op)
    return many * (9 * n**3 if op.attr("compute_v", default=True) else 4 * n**3 / 3)


@float_ops("Eig", attributes="compute_v")
def eig(op: Op) -> int:
    """10n³, with vectors 25n³."""
    many, _, n = _rectangle(op)
    return many * (25 if op.attr("compute_v", default=True) else 10) * n**3


# 5 · N · log₂ N per transform.
float_ops("{,Batch}{,I}FFT{,2D,3D}")(lambda op: _transform(op.input(0), _axes(op)))
# Half of that; the output is the real side, which has N elements.
float_ops("IRFFT{,2D,3D}")(lambda op: _transform(op.output(), _axes(op)) / 2)


@float_ops("RFFT{,2D,3D}")
def real(op: Op) -> float:
    """Half a complex FFT; the last axis is cut or padded to the length that the output implies."""
    *outer, half = op.output()
    last = op.input(0)[-1]
    whole = last if last // 2 + 1 == half else 2 * (half - 1)
    return _transform((*outer, whole), _axes(op)) / 2


@float_ops("{,I}{,R}FFTND")
def fft_nd(op: Op) -> float:
    """An FFT over all axes; over fewer, the count is unknown: shapes do not say which axes."""
    side = op.input(0) if op.type == "RFFTND" else op.output()
    require(size(op.input(1)) == len(side))
    return _transform(side, len(side)) / (2 if "RFFT" in op.type else 1)


def _transform(tensor: Shape, axes: int) -> float:
    """The float operations of a complex FFT over the last *axes*: 5 N log2(length)."""
    length = size(tensor[len(tensor) - axes :])
    return 5 * size(tensor) * log2(length) if length else 0.0


def _axes(op: Op) -> int:
    return int(op.type[-2]) if op.type.endswith("D") else 1


# --- shapes ---


def _matrix(tensor: Shape) -> tuple[Shape, int, int]:
    """(batch, rows, columns)."""
    require(len(tensor) >= 2)  # noqa: PLR2004 - a matrix has two
    return tensor[:-2], tensor[-2], tensor[-1]


shape("MatrixBandPart {,Batch}{,I}FFT{,2D,3D}")(like_input(0))
shape("TridiagonalSolve")(like_input(1))
shape("{,Batch}MatrixDeterminant")(lambda op: _matrix(op.known(0))[0])
shape("LogMatrixDeterminant")(lambda op: [_matrix(op.known(0))[0]] * 2)  # sign and logarithm


@shape("Matrix{Exponential,Logarithm,SquareRoot} {,Batch}MatrixInverse {,Batch}Cholesky{,Grad}")
def square(op: Op) -> Shape:
    """Square matrices like those of the input, of which one side may be open."""
    batch, *sides = _matrix(op.known(0))
    return (*batch, max(sides), max(sides))


@shape("MatrixSetDiag{,V2,V3}")
def with_diagonal(op: Op) -> MaybeShape:
    """The input; one diagonal has the batch of the matrices, several have a dimension more."""
    tensor, diagonal = op.shape(0), op.shape(1)
    which = None if op.type == "MatrixSetDiag" else op.value(2)  # the numbers of the diagonals
    is_one = op.type == "MatrixSetDiag" or (which is not None and which.size == 1)
    if diagonal is None or not is_one:
        return tensor
    return merged(tensor, (*diagonal[:-1], OPEN, OPEN))


@shape("{,Batch}MatrixSolve{,Ls}")
def solve_shape(op: Op) -> Shape:
    """A row per unknown, a column per right side."""
    left, right = op.shape(0), op.shape(1)
    rank = len(need(left or right))
    left_batch, _, unknowns = _matrix(of_rank(left, rank))
    right_batch, rows, columns = _matrix(of_rank(right, rank))
    batch = merged(left_batch, right_batch) or ()
    return (*batch, unknowns if op.type.endswith("Ls") else max(unknowns, rows), columns)


@shape("{,Batch}MatrixTriangularSolve BandedTriangularSolve")
def triangular_solve_shape(op: Op) -> Shape:
    """The right side, whose batch may broadcast."""
    left_batch, _, unknowns = _matrix(op.known(0))
    right_batch, rows, columns = _matrix(op.known(1))
    return (*broadcast(left_batch, right_batch), max(unknowns, rows), columns)


# Both factors in one matrix, and the permutation of the rows.
shape("Lu")(lambda op: [square(op), square(op)[:-1]])


@shape("Qr")
def qr_shape(op: Op) -> list[MaybeShape]:
    """Q and R."""
    batch, m, n = _matrix(op.known(0))
    inner = m if op.attr("full_matrices") else min(m, n)
    return [(*batch, m, inner), (*batch, inner, n)]


def _values(op: Op) -> Shape:
    """As many as the shorter side is long."""
    batch, m, n = _matrix(op.known(0))
    return (*batch, min(m, n) if "Svd" in op.type else max(m, n))


@shape("{,Batch}Svd")
def svd_shape(op: Op) -> list[MaybeShape]:
    """Values, left and right vectors."""
    if not op.attr("compute_uv", default=True):
        return [known(_values, op), (0,), (0,)]
    batch, m, n = _matrix(op.known(0))
    least, full = min(m, n), op.attr("full_matrices")
    return [(*batch, least), (*batch, m, m if full else least), (*batch, n, n if full else least)]


@shape("{,Batch}SelfAdjointEigV2 Eig")
def eig_shape(op: Op) -> list[MaybeShape]:
    """Values and vectors."""
    vectors = known(square, op) if op.attr("compute_v", default=True) else (0,)
    return [known(_values, op), vectors]


@shape("{,Batch}SelfAdjointEig")
def eig_in_one_shape(op: Op) -> Shape:
    """Values as the first row, then the vectors."""
    *batch, order, _ = square(op)
    return (*batch, plus(order, 1), order)


@shape("{,I}RFFT{,2D,3D}")
def real_fft_shape(op: Op) -> Shape:
    """The last dimensions are those that the second input lists; half of the last one, forward."""
    tensor, axes = op.known(0), _axes(op)
    lengths = [*op.dims(1, axes)]
    if op.type.startswith("RFFT") and lengths[-1] > 0:
        lengths[-1] = lengths[-1] // 2 + 1
    return (*tensor[: len(tensor) - axes], *lengths)


def _band(op: Op) -> tuple[int, int]:
    """The lowest and the highest diagonal that the second input names; 0 is the main one."""
    numbers = op.numbers(1)
    require(len(numbers) in (1, 2))
    return numbers[0], numbers[-1]


@shape("MatrixDiagPart{V2,V3}")
def diagonals_shape(op: Op) -> Shape:
    """Diagonals, as long as the longest."""
    batch, rows, columns = _matrix(op.known(0))
    low, high = _band(op)
    known = min(rows, columns) >= 0
    longest = min(rows + min(high, 0), columns - max(low, 0)) if known else OPEN
    return (*batch, *((high - low + 1,) if high > low else ()), longest)


@shape("MatrixDiag{V2,V3}")
def from_diagonals_shape(op: Op) -> Shape:
    """As many rows and columns as the inputs say; where they do not, as few as possible."""
    diagonals, (low, high) = op.known(0), _band(op)
    batch = diagonals[: -2 if high > low else -1]
    rows, columns = (op.value(number) for number in (2, 3))
    if rows is None or columns is None or diagonals[-1] < 0:
        return (*batch, OPEN, OPEN)
    least = [diagonals[-1] - min(high, 0), diagonals[-1] + max(low, 0)]
    asked = [int(rows), int(columns)]
    if asked == [OPEN, OPEN]:  # a square
        least = [max(least)] * 2
    sides = (few if many == OPEN else many for few, many in zip(least, asked, strict=True))
    return (*batch, *sides)


no_shape("TensorFlow infers the input's shape, which need not be the output's", "{,I}{,R}FFTND")
no_shape("TensorFlow infers none: only XLA knows it", "XlaSvd XlaSelfAdjointEig")
