"""Linear algebra and Fourier transforms: the leading terms that textbooks give.

    n by n       Cholesky n³/3, LU 2n³/3, inverse 2n³, triangular solve n² a column
    m ≥ n        Householder QR 2mn² - 2n³/3; singular values by Golub and Reinsch
    transform    5 · N · log₂ N, half of that where one side is real

All after Golub and Van Loan, Matrix Computations; transforms as FFT benchmarks count them. Each is
taken for every matrix of a batch, and halves are cut off at the end.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op, Shape


def square(op: Op) -> tuple[int, int]:
    """(how many matrices, their order)."""
    *batch, _, order = op.input(0)
    return size(tuple(batch)), order


def rectangle(op: Op) -> tuple[int, int, int]:
    """(how many matrices, rows, columns)."""
    *batch, rows, columns = op.input(0)
    return size(tuple(batch)), rows, columns


def cubes(op: Op, thirds: int) -> float:
    """So many thirds of n³ for each matrix."""
    many, n = square(op)
    return many * thirds * n**3 / 3


@rule("Cholesky", "BatchCholesky")
def cholesky(op: Op) -> float:
    """n³/3."""
    return cubes(op, 1)


@rule("CholeskyGrad", "BatchCholeskyGrad", "Lu", "MatrixDeterminant", "BatchMatrixDeterminant")
@rule("LogMatrixDeterminant")
def lu(op: Op) -> float:
    """2n³/3: an elimination; the gradient of a Cholesky factor is twice its way forward."""
    return cubes(op, 2)


@rule("MatrixInverse", "BatchMatrixInverse")
def inverse(op: Op) -> int:
    """2n³."""
    many, n = square(op)
    return many * 2 * n**3


@rule("MatrixSquareRoot")
def square_root(op: Op) -> float:
    """85n³/3: a Schur form (25), a root of it (1/3) and the way back (3)."""
    return cubes(op, 85)


@rule("MatrixSolve", "BatchMatrixSolve")
def solve(op: Op) -> float:
    """An elimination, then two triangular solves."""
    return lu(op) + 2 * op.input(0)[-1] * size(op.input(1))


@rule("MatrixTriangularSolve")
def triangular_solve(op: Op) -> int:
    """n² for each column on the right; either side may be stretched over a batch."""
    return op.input(0)[-1] * size(op.output())


@rule("BatchMatrixTriangularSolve")
def batch_triangular_solve(op: Op) -> int:
    """Likewise; nothing is stretched."""
    return op.input(0)[-1] * size(op.input(1))


@rule("BandedTriangularSolve")
def banded_solve(op: Op) -> int:
    """A multiply-add for each band but one, and a quotient."""
    return (2 * op.input(0)[-2] - 1) * size(op.output())


@rule("TridiagonalSolve")
def tridiagonal_solve(op: Op) -> int:
    """Three for each row, and five for each element on the right."""
    right = op.input(1)
    return 3 * size(right[:-1]) + 5 * size(right)


@rule("MatrixSolveLs", "BatchMatrixSolveLs", attributes=("fast",))
def least_squares(op: Op) -> float:
    """Normal equations, or where not fast an orthogonal decomposition; then two solves."""
    many, rows, columns = rectangle(op)
    right = op.input(1)[-1]
    m, n = max(rows, columns), min(rows, columns)
    if op.attr("fast", default=True):
        each = m * n**2 + n**3 / 3 + 2 * m * n * right + 2 * n**2 * right
    else:
        each = _qr(m, n) + 4 * m * n * right + n**2 * right
    return many * each


@rule("Qr", attributes=("full_matrices",))
def qr(op: Op) -> float:
    """The triangle, then the columns of Q that are asked for."""
    many, m, n = rectangle(op)
    least = min(m, n)
    if op.attr("full_matrices"):
        columns: float = 4 * (m**2 * least - m * least**2 + least**3 / 3)
    else:
        columns = _qr(m, least)
    return many * (_qr(max(m, n), least) + columns)


@rule("Svd", "BatchSvd", attributes=("compute_uv", "full_matrices"))
def svd(op: Op) -> float:
    """Values alone 4mn² - 4n³/3; with vectors 14mn² + 8n³, or 4m²n + 8mn² + 9n³ if full."""
    many, rows, columns = rectangle(op)
    m, n = max(rows, columns), min(rows, columns)
    if not op.attr("compute_uv", default=True):
        return many * (4 * m * n**2 - 4 * n**3 / 3)
    if op.attr("full_matrices"):
        return many * (4 * m**2 * n + 8 * m * n**2 + 9 * n**3)
    return many * (14 * m * n**2 + 8 * n**3)


@rule("XlaSvd")
def full_svd(op: Op) -> int:
    """Values and all vectors."""
    many, rows, columns = rectangle(op)
    m, n = max(rows, columns), min(rows, columns)
    return many * (4 * m**2 * n + 8 * m * n**2 + 9 * n**3)


@rule("SelfAdjointEig", "SelfAdjointEigV2", "BatchSelfAdjointEig", attributes=("compute_v",))
@rule("BatchSelfAdjointEigV2", "XlaSelfAdjointEig", attributes=("compute_v",))
def symmetric_eig(op: Op) -> float:
    """4n³/3, with vectors 9n³."""
    many, n = square(op)
    return many * (9 * n**3 if op.attr("compute_v", default=True) else 4 * n**3 / 3)


@rule("Eig", attributes=("compute_v",))
def eig(op: Op) -> int:
    """10n³, with vectors 25n³."""
    many, n = square(op)
    return many * (25 if op.attr("compute_v", default=True) else 10) * n**3


@rule("FFT", "IFFT", "BatchFFT", "BatchIFFT")
@rule("FFT2D", "IFFT2D", "BatchFFT2D", "BatchIFFT2D")
@rule("FFT3D", "IFFT3D", "BatchFFT3D", "BatchIFFT3D")
def fft(op: Op) -> float:
    """5 · N · log₂ N for each transform."""
    return transform(op.input(0), _axes(op))


@rule("IRFFT", "IRFFT2D", "IRFFT3D")
def real_inverse(op: Op) -> float:
    """Half of that; the output is the real side, which tells N."""
    return transform(op.output(), _axes(op)) / 2


@rule("RFFT", "RFFT2D", "RFFT3D")
def real(op: Op) -> float:
    """Half of that; the input is cut or padded to what the output's half belongs to."""
    *outer, half = op.output()
    last = op.input(0)[-1]
    whole = last if last // 2 + 1 == half else 2 * (half - 1)
    return transform((*outer, whole), _axes(op)) / 2


@rule("FFTND", "IFFTND", "RFFTND", "IRFFTND")
def fft_nd(op: Op) -> float:
    """Likewise where all axes are transformed; which ones are, otherwise, is not in the shapes."""
    side = op.input(0) if op.type == "RFFTND" else op.output()
    if size(op.input(1)) != len(side):
        raise UnknownShape
    return transform(side, len(side)) / (2 if "RFFT" in op.type else 1)


def transform(shape: Shape, axes: int) -> float:
    """What complex transforms over the last axes take."""
    length = size(shape[len(shape) - axes :])
    return 5 * size(shape) * log2(length) if length else 0.0


def _axes(op: Op) -> int:
    return int(op.type[-2]) if op.type.endswith("D") else 1


def _qr(m: int, n: int) -> float:
    return 2 * m * n**2 - 2 * n**3 / 3
