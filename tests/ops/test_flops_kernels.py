"""Formulas of recurrent kernels, sparse tensors, transforms and linear algebra.

Each is written out with numbers that count their steps, or follows the textbook's leading term.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tallied import Number, Tally, counted, largest, sigmoid, smallest, sqrt, tanh

if TYPE_CHECKING:
    from tfprof.ops.shape import Shape


def gates(tally: Tally, batch: int, inputs: int, outputs: int) -> list[list[Number]]:
    """Weighted sums of all inputs and a bias: a row a member of the batch."""
    rows = []
    for _ in range(batch):
        row = []
        for _ in range(outputs):
            value = Number(tally, 0.0)
            for number in tally.numbers(inputs):
                value += number * tally.number()
            row.append(value + tally.number())
        rows.append(row)
    return rows


@pytest.mark.parametrize(("forget", "clip", "peephole"), [(1.0, 3.0, True), (0.0, 0.0, False)])
def test_lstm(forget: float, clip: float, peephole: bool) -> None:  # noqa: FBT001
    tally, (batch, inputs, units) = Tally(), (2, 3, 4)
    for row in gates(tally, batch, inputs + units, 4 * units):
        for unit in range(units):
            i, c, f, o = (row[gate * units + unit] for gate in range(4))
            old = tally.number()
            if forget:
                f += forget
            if peephole:
                i, f = i + old * tally.number(), f + old * tally.number()
            c = tanh(c)
            state = c * sigmoid(i) + old * sigmoid(f)
            if clip:
                state = smallest(largest(state, -clip), clip)
            if peephole:
                o += state * tally.number()
            tanh(state) * sigmoid(o)
    state_shape, peep = (batch, units), (units,)
    shapes: list[Shape] = [state_shape, state_shape, (inputs + units, 4 * units), peep, peep, peep]
    how: dict[str, Any] = {"forget_bias": forget, "cell_clip": clip, "use_peephole": peephole}
    assert counted("LSTMBlockCell", [(batch, inputs), *shapes], **how) == tally.steps
    sequence: list[Shape] = [(1,), (7, batch, inputs), *shapes]
    assert counted("BlockLSTM", sequence, **how) == 7 * tally.steps
    if not forget:
        assert counted("BlockLSTMV2", sequence, use_peephole=peephole) == 7 * tally.steps


def test_gradient_of_an_lstm() -> None:
    tally, (batch, inputs, units) = Tally(), (2, 3, 4)
    for _ in range(batch * units):
        i, c, f, o, co, old, dh, dcs = tally.numbers(8)
        o * (1 - o) * dh * co
        dcs = (1 - co * co) * dh * o + dcs
        (1 - c * c) * dcs * i
        f * (1 - f) * dcs * old
        i * (1 - i) * dcs * c
        dcs * f
    state, weights, peep = (batch, units), (inputs + units, 4 * units), (units,)
    one: list[Shape] = [(batch, inputs), state, state, weights, peep, peep, peep, (16,)]
    assert counted("LSTMBlockCellGrad", one, use_peephole=False) == tally.steps
    to_all = 2 * (2 * batch * (inputs + units) * 4 * units) + batch * 4 * units
    sequence = [(1,), (7, batch, inputs), *one[1:]]
    both = counted("BlockLSTMGrad", sequence, use_peephole=False)
    assert both == 7 * (to_all + tally.steps)


def test_gru_and_its_gradient() -> None:
    tally, (batch, inputs, units) = Tally(), (2, 3, 4)
    for row in gates(tally, batch, inputs + units, 3 * units):
        for unit in range(units):
            r, u, c = (row[gate * units + unit] for gate in range(3))
            old = tally.number()
            sigmoid(r) * old
            u = sigmoid(u)
            u * old + (1 - u) * tanh(c)
    both = inputs + units
    shapes: list[Shape] = [(batch, inputs), (batch, units), (both, 2 * units), (both, units)]
    assert counted("GRUBlockCell", shapes) == tally.steps
    back = Tally()
    for _ in range(batch * units):
        dh, u, c, h, r, dhr = back.numbers(6)
        dh * (1 - u) * (1 - c * c)
        dh * (h - c) * u * (1 - u)
        dhr * h * r * (1 - r)
        back.number() + dhr * r + dh * u
    for _ in range(batch * inputs):
        back.number() + back.number()
    product = 2 * batch * both * 3 * units
    assert counted("GRUBlockCellGrad", shapes) == product + back.steps


def test_cudnn_layers_and_directions() -> None:
    steps, batch, inputs, units, layers = 5, 2, 3, 4, 2
    products = 0
    for layer in range(layers):
        for _ in ("forward", "back"):
            below = inputs if layer == 0 else 2 * units
            products += steps * batch * 2 * (below + units) * 4 * units
    pointwise = steps * batch * units * layers * 2 * (8 + 18)
    state = (layers * 2, batch, units)
    shapes: list[Shape] = [(steps, batch, inputs), state, state, (1,)]
    how: dict[str, Any] = {"rnn_mode": "lstm", "direction": "bidirectional"}
    assert counted("CudnnRNNV3", shapes, **how) == products + pointwise
    back = counted("CudnnRNNBackpropV3", shapes, **how)
    assert back == 2 * products + steps * batch * units * layers * 2 * (8 + 22)
    relu: dict[str, Any] = {"rnn_mode": "rnn_relu", "input_mode": "skip_input"}
    flat: list[Shape] = [(steps, batch, units), (1, batch, units), (1, batch, units), (1,)]
    assert counted("CudnnRNN", flat, **relu) == steps * batch * units * (2 * units + 2 + 1)


def test_sparse_products_and_rows() -> None:
    tally, stored, columns = Tally(), 7, 5
    for _ in range(stored * columns):
        tally.number() + tally.number() * tally.number()
    inputs: list[Shape] = [(stored, 2), (stored,), (2,), (6, columns)]
    op = "SparseTensorDenseMatMul"
    assert counted(op, inputs, adjoint_b=False) == tally.steps
    assert counted(op, [*inputs[:3], (columns, 6)], adjoint_b=True) == tally.steps
    # Three rows of four are summed up.
    assert counted("SparseSegmentSum", [(9, 4), (3,), (3,)]) == 3 * 4
    assert counted("SparseSegmentMeanGrad", [(9, 4), (3,), (3,), (1,)]) == 2 * 3 * 4
    assert counted("SparseDenseCwiseMul", inputs) == stored
    assert counted("UnsortedSegmentSum", [(9, 4), (9,), (1,)]) == 36
    assert counted("ResourceScatterAdd", [(1,), (3,), (3, 4)]) == 12
    assert counted("TensorScatterAdd", [(9, 4), (3, 1), (3, 4)], [(9, 4)]) == 12
    assert counted("ScatterNd", [(3, 1), (3, 4), (2,)], [(9, 4)]) == 12


@pytest.mark.parametrize(
    ("op", "length", "axes"), [("FFT", 8, 1), ("IFFT2D", 4 * 8, 2), ("FFT3D", 2 * 4 * 8, 3)]
)
def test_transforms(op: str, length: int, axes: int) -> None:
    shape = (3, 2, 4, 8)
    transforms = math.prod(shape) // length
    assert math.prod(shape[-axes:]) == length
    expected = 5 * length * round(math.log2(length)) * transforms
    assert counted(op, [shape], [shape]) == expected


def test_transforms_of_real_numbers() -> None:
    half = 3 * (5 * 8 * 3) // 2
    assert counted("RFFT", [(3, 8), (1,)], [(3, 5)]) == half
    assert counted("RFFT", [(3, 6), (1,)], [(3, 5)]) == half  # padded to 8
    assert counted("IRFFT", [(3, 5), (1,)], [(3, 8)]) == half
    assert counted("RFFTND", [(4, 8), (2,), (2,)], [(4, 5)]) == 5 * 32 * 5 // 2


def test_triangular_solves() -> None:
    tally, n, columns = Tally(), 5, 3
    for _ in range(columns):
        solved: list[Number] = []
        for _ in range(n):
            right = tally.number()
            for known in solved:
                right -= tally.number() * known
            solved.append(right / tally.number())
    assert counted("MatrixTriangularSolve", [(n, n), (n, columns)], [(n, columns)]) == tally.steps
    batch = [(2, n, n), (2, n, columns)]
    elimination = 2 * (2 * n**3 / 3)
    assert counted("MatrixSolve", batch, batch[1:]) == int(elimination + 2 * 2 * tally.steps)


@pytest.mark.parametrize("n", [30])
def test_factorisations_are_right_in_the_leading_term(n: int) -> None:
    tally = Tally()
    lower = {(i, j): tally.number() for i in range(n) for j in range(i + 1)}
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                lower[i, j] -= lower[i, k] * lower[j, k]
            lower[i, j] = sqrt(lower[i, j]) if i == j else lower[i, j] / lower[j, j]
    assert counted("Cholesky", [(n, n)]) == pytest.approx(tally.steps, rel=0.08)
    tally = Tally()
    whole = {(i, j): Number(tally, 1.0 + (i == j) * n) for i in range(n) for j in range(n)}
    for k in range(n):
        for i in range(k + 1, n):
            whole[i, k] = whole[i, k] / whole[k, k]
            for j in range(k + 1, n):
                whole[i, j] -= whole[i, k] * whole[k, j]
    assert counted("Lu", [(n, n)]) == pytest.approx(tally.steps, rel=0.04)
    assert counted("LogMatrixDeterminant", [(n, n)]) == 2 * n**3 // 3


def test_decompositions() -> None:
    # Golub and Van Loan's terms, for m = 6 and n = 4 and either way round.
    for shape in ((2, 6, 4), (2, 4, 6)):
        assert counted("Svd", [shape], compute_uv=False) == int(2 * (4 * 6 * 16 - 4 * 64 / 3))
        assert counted("Svd", [shape], compute_uv=True) == 2 * (14 * 6 * 16 + 8 * 64)
    thin = 2 * 6 * 16 - 2 * 64 / 3
    assert counted("Qr", [(6, 4)], full_matrices=False) == int(2 * thin)
    assert counted("Qr", [(6, 4)], full_matrices=True) == int(thin + 4 * (36 * 4 - 6 * 16 + 64 / 3))
    assert counted("SelfAdjointEigV2", [(5, 5)], compute_v=True) == 9 * 125
    assert counted("MatrixInverse", [(3, 5, 5)]) == 3 * 2 * 125


def reflected(tally: Tally, length: int, columns: int) -> None:
    """Householder reflections: x - v · (β · (v · x)) for so many vectors of a length."""
    for _ in range(columns):
        vector, x = tally.numbers(length), tally.numbers(length)
        product = Number(tally, 0.0)
        for v, each in zip(vector, x, strict=True):
            product += v * each
        for v, each in zip(vector, x, strict=True):
            each - product * v


def test_least_squares_with_reflections() -> None:
    """The columns of the matrix and the right side are reflected, then a triangle is solved."""
    tally, (m, n, k) = Tally(), (60, 30, 20)
    for column in range(n):
        reflected(tally, m - column, n - column - 1 + k)
    expected = tally.steps + n**2 * k
    for shape, right in (((m, n), (m, k)), ((n, m), (n, k))):
        steps = counted("MatrixSolveLs", [shape, right, (1,)], fast=False)
        assert steps == pytest.approx(expected, rel=0.02)
    # By hand for m = 3, n = 2, k = 4: 2·3·4 - 2·8/3, then 2·4·2·(2·3 - 2) and 4·4.
    assert counted("MatrixSolveLs", [(3, 2), (3, 4), (1,)], fast=False) == int(
        24 - 16 / 3 + 64 + 16
    )


def test_least_squares_by_normal_equations() -> None:
    """Half of the symmetric product, a factor of it, the other right side, two solves."""
    m, n, k = 6, 4, 3
    expected = int(m * n**2 + n**3 / 3 + 2 * m * n * k + 2 * n**2 * k)
    for shape in ((m, n), (n, m)):
        assert counted("MatrixSolveLs", [shape, (shape[0], k), (1,)], fast=True) == expected
