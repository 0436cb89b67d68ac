"""HLO, the operations that XLA compiles: float operations by opcode.

    dot           2 · |output| · summed dimensions
    convolution   2 · |output| · weights that an output element sees
    exponential   as Exp, logistic as Sigmoid: the same model counts alike in TensorFlow and JAX
    reduce        (|input| - |output|) · steps of the computation that it applies

HLO declares all shapes, so there are no shape rules. Nothing broadcasts. Computations that `reduce`
and its kind apply are the attribute `applied`: a list of opcodes. What is called otherwise (fusion,
call, while, conditional) is part of the graph and counts there.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.ops.op import Op, size
from tfprof.ops.shape import NoRule, Shape, UnknownShape, require
from tfprof.ops.shared_rules import integers
from tfprof.ops.table import OPS, declares_shapes, float_ops, value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.ops.shape import MaybeShape, Value
    from tfprof.ops.table import F

# Elementwise opcodes, each with the TensorFlow type whose rule counts it. Others are in the class
# "no arithmetic", as their TensorFlow types are: select as SelectV2, convert as Cast, complex, real
# and imag.
TWINS: Final = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "add": "AddV2", "and": "BitwiseAnd",
    "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atan2": "Atan2", "atanh": "Atanh",
    "cbrt": "Sqrt", "ceil": "Ceil", "clamp": "ClipByValue",
    "compare": "Less", "cosh": "Cosh", "cosine": "Cos", "count-leading-zeros": "PopulationCount",
    "divide": "RealDiv", "erf": "Erf", "exponential": "Exp", "exponential-minus-one": "Expm1",
    "floor": "Floor", "is-finite": "IsFinite", "log": "Log", "log-plus-one": "Log1p",
    "logistic": "Sigmoid", "maximum": "Maximum", "minimum": "Minimum", "mulhi": "Mul",
    "multiply": "Mul", "negate": "Neg", "not": "Invert", "or": "BitwiseOr",
    "popcnt": "PopulationCount", "power": "Pow", "remainder": "TruncateMod",
    "round-nearest-afz": "Round", "round-nearest-even": "Rint", "rsqrt": "Rsqrt",
    "shift-left": "LeftShift", "shift-right-arithmetic": "RightShift",
    "shift-right-logical": "RightShift", "sign": "Sign", "sine": "Sin", "sinh": "Sinh",
    "sqrt": "Sqrt", "subtract": "Sub", "tan": "Tan", "tanh": "Tanh", "xor": "BitwiseXor",
}  # fmt: skip
# What these call is in the same list.
_CALLS: Final = ("call", "fusion")
_LONGEST_NAME: Final = 40
_MOST_DILATED: Final = 256  # elements, so that counting is quick


def counts(*opcodes: str, **options: Any) -> Callable[[F], F]:  # noqa: ANN401 - see float_ops
    """Make the function below count the float operations of *opcodes*."""
    declares_shapes(*opcodes)
    return float_ops(*opcodes, **options)


def twin_ops(
    twin: str,
    inputs: Sequence[MaybeShape],
    outputs: Sequence[MaybeShape] = (),
    **attributes: Any,  # noqa: ANN401 - of any kind
) -> float:
    """The float operations that the rule of a TensorFlow type gives."""
    rule = OPS[twin].float_ops or OPS[twin].tensorflow
    assert rule is not None, twin
    return rule.formula(Op(twin, inputs, outputs, attributes=attributes))


def _like(twin: str, **attributes: Any) -> Callable[[Op], float]:  # noqa: ANN401 - of any kind
    """The rule of a TensorFlow type with the same inputs and the same first output."""

    def rule(op: Op) -> float:
        return twin_ops(twin, op.shapes(), [op.output()], **attributes)

    rule.__doc__ = f"As TensorFlow's {twin}."
    return rule


for _opcode, _twin in TWINS.items():
    counts(_opcode)(_like(_twin))
counts("cholesky")(_like("Cholesky"))
counts("triangular-solve")(_like("MatrixTriangularSolve"))
# Operand, scale, offset; then mean and variance. The gradient has them in the places of others.
counts("batch-norm-training")(_like("FusedBatchNormV3", is_training=True))
counts("batch-norm-inference")(_like("FusedBatchNormV3", is_training=False))
counts("batch-norm-grad")(_like("FusedBatchNormGradV3", is_training=True))


# --- products ---


def summed(left: Shape, axes: Sequence[int]) -> int:
    """The number of elements of *left* that are summed into one output element."""
    require(all(0 <= axis < len(left) for axis in axes))
    return size(tuple(left[axis] for axis in axes))


def _dot_multiply_adds(op: Op) -> int:
    axes = integers(op, "lhs_contracting_dimensions")
    return size(op.output()) * summed(op.input(0), axes) if axes else 0


@counts("dot", attributes="lhs_contracting_dimensions", multiply_adds=_dot_multiply_adds)
def dot(op: Op) -> int:
    """A multiply-add per output element and summed index; a product where nothing is summed."""
    axes = integers(op, "lhs_contracting_dimensions")
    return (2 if axes else 1) * size(op.output()) * summed(op.input(0), axes)


@counts("scaled-dot", attributes="lhs_contracting_dimensions", contraction=True)
def scaled_dot(op: Op) -> int:
    """A dot of two factors, each of which is multiplied with its scales first."""
    return dot(op) + size(op.input(0)) + size(op.input(1))


@counts("ragged-dot", attributes="lhs_contracting_dimensions lhs_batch_dimensions",
        contraction=True)  # fmt: skip
def ragged_dot(op: Op) -> int:
    """A multiply-add per output element and summed index of its group.

    Where the groups divide the summed dimension, the output has one more dimension, the groups.
    """
    left, right, output = op.input(0), op.input(1), op.output()
    axes = integers(op, "lhs_contracting_dimensions")
    batch = integers(op, "lhs_batch_dimensions")
    rank = len(left) + len(right) - 2 * len(axes) - len(batch)
    per_group = 2 * size(output) * summed(left, axes)
    return per_group // op.input(2)[-1] if len(output) > rank else per_group


# --- convolutions ---


def weights_seen(op: Op, weights: Shape) -> int:
    """How many weights an output element sees: all of its group, for one output feature."""
    features = op.attr("kernel_output_feature_dimension", 0)
    require(isinstance(features, int) and 0 <= features < len(weights))
    return size(weights[:features]) * size(weights[features + 1 :])


@counts(
    "convolution", contraction=True,
    attributes="kernel_output_feature_dimension kernel_input_feature_dimension window_size "
    "window_stride base_dilation output_spatial_dimensions feature_group_count batch_group_count "
    "window_dilation padding_low padding_high",
)  # fmt: skip
def convolution(op: Op) -> int:
    """A multiply-add per output element and weight that it sees; taps on padding count.

    But an element of the base and a weight meet once at most: where there is more padding than
    that, as in gradients, it takes no part. The kernel has the input features of one group. With
    batch groups, each group makes its own share of the output features, so nothing changes per
    output element. The holes of a dilated base take no part: of such a convolution, one in so many
    taps counts.
    """
    weights = op.input(1)
    return min(_with_padding(op, weights), 2 * size(op.input(0)) * _weights_met(op, weights))


def _with_padding(op: Op, weights: Shape) -> int:
    dilation = _at_least_one(op, "base_dilation")
    if all(factor == 1 for factor in dilation):
        return 2 * size(op.output()) * weights_seen(op, weights)
    spatial = integers(op, "output_spatial_dimensions")
    strides = _at_least_one(op, "window_stride")
    padding = zip(integers(op, "padding_low"), integers(op, "padding_high"), strict=False)
    is_padded = any(
        factor > 1 and any(ends) for factor, ends in zip(dilation, padding, strict=False)
    )
    if not is_padded or any(min(pair) > 1 for pair in zip(dilation, strides, strict=False)):
        return _between_holes(op, weights)
    if size(integers(op, "window_size")) <= summed(op.output(), spatial):
        return _transposed(op, weights)
    # The gradient of the kernel of a transposed convolution: its window is an image.
    return 2 * size(op.output()) * weights_seen(op, weights) // size(dilation)


def _transposed(op: Op, weights: Shape) -> int:
    """A multiply-add per element of the base and weight that it meets, as the way forward has.

    Also the gradient of the input of a convolution with strides.
    """
    every = 2 * size(op.input(0)) * _weights_met(op, weights)
    return every // size(_at_least_one(op, "window_stride"))


def _weights_met(op: Op, weights: Shape) -> int:
    """How many weights an element of the base meets: those of its feature, group and batch."""
    features = op.attr("kernel_input_feature_dimension", 0)
    require(isinstance(features, int) and 0 <= features < len(weights))
    every = size(weights[:features]) * size(weights[features + 1 :])
    groups = max(op.attr("feature_group_count", 1), 1) * max(op.attr("batch_group_count", 1), 1)
    return int(every // groups)


def _between_holes(op: Op, weights: Shape) -> int:
    """A multiply-add per output element and tap that meets no hole.

    With a stride of 2 over every second element, all windows have their holes in the same places.
    XLA lays the groups of a batch side by side, with holes between them and without padding.
    """
    names = ("window_size", "window_stride", "window_dilation", "base_dilation")
    size_of, stride, spread, dilation = (_at_least_one(op, name) for name in names)
    spatial = integers(op, "output_spatial_dimensions")
    require(all(0 <= axis < len(op.output()) for axis in spatial))
    sizes = tuple(op.output()[axis] for axis in spatial)
    columns = (sizes, size_of, stride, spread, dilation, integers(op, "padding_low"))
    require(len({len(column) for column in columns}) == 1 and max(dilation) <= _MOST_DILATED)
    if not size(op.output()):
        return 0
    every = 2 * size(op.output()) * weights_seen(op, weights)
    met = size(tuple(_taps(*numbers) for numbers in zip(*columns, strict=True)))
    return every // (size(sizes) * size(size_of)) * met


def _taps(windows: int, taps: int, stride: int, spread: int, dilation: int, padding: int) -> int:  # noqa: PLR0913, PLR0917 - the parts of a window
    """In one dimension, the taps of all windows that meet no hole; padding has none."""
    # Places repeat modulo the dilation: so many windows and taps have each of the first ones.
    firsts = (range(min(count, dilation)) for count in (windows, taps))
    return sum(
        -((window - windows) // dilation) * -((tap - taps) // dilation)
        for window, tap in product(*firsts)
        if (window * stride + tap * spread - padding) % dilation == 0
    )


def _at_least_one(op: Op, name: str) -> Shape:
    return tuple(max(number, 1) for number in integers(op, name))


# --- computations applied to elements ---


@cache
def _steps(opcode: str) -> int:
    """The float operations of an opcode for one element; raises NoRule."""
    if opcode in TWINS:
        return int(twin_ops(TWINS[opcode], [(1,)] * 3, [(1,)]))
    if opcode in _CALLS or OPS[opcode].is_a("no arithmetic"):
        return 0
    raise NoRule(opcode[:_LONGEST_NAME])


def _applied(op: Op, name: str = "applied") -> int:
    """The steps of a computation that is applied once."""
    opcodes = op.attr(name)
    require(isinstance(opcodes, list) and all(isinstance(opcode, str) for opcode in opcodes))
    return sum(map(_steps, opcodes))


def _window(op: Op) -> int:
    """The number of elements of a window."""
    sizes = integers(op, "window_size")
    require(all(length > 0 for length in sizes))
    return size(sizes)


@counts("reduce", attributes="applied")
def reduce(op: Op) -> int:
    """The applied computation once per element that vanishes."""
    return _applied(op) * max(0, size(op.input(0)) - size(op.output()))


@counts("reduce-window", attributes="applied window_size")
def reduce_window(op: Op) -> int:
    """The applied computation once per output element and element of its window but the first."""
    return _applied(op) * size(op.output()) * (_window(op) - 1)


@counts("select-and-scatter", attributes="applied select window_size")
def select_and_scatter(op: Op) -> int:
    """Per element of the source: choose one of its window, then add to that one."""
    chosen = _applied(op, "select") * (_window(op) - 1)
    return (chosen + _applied(op)) * size(op.input(1))


@counts("scatter", attributes="applied")
def scatter(op: Op) -> int:
    """The applied computation once per update."""
    return _applied(op) * size(op.input(op.inputs - 1))


@counts("map", attributes="applied")
def mapped(op: Op) -> int:
    """The applied computation once per output element."""
    return _applied(op) * size(op.output())


@counts("all-reduce all-reduce-start collective-reduce reduce-scatter", attributes="applied")
def collective(op: Op) -> int:
    """The applied computation once per element of the inputs: what one device adds."""
    return _applied(op) * sum(size(op.input(number)) for number in range(op.inputs))


# --- transforms ---

_TRANSFORMS: Final = ("FFT", "IFFT", "RFFT", "IRFFT")
_AXES: Final = {1: "", 2: "2D", 3: "3D"}


@counts("fft", attributes="fft_type fft_length")
def fft(op: Op) -> float:
    """As a Fourier transform of TensorFlow: 5 N log2(length), half where one side is real."""
    kind, axes = op.attr("fft_type"), len(integers(op, "fft_length"))
    if kind not in _TRANSFORMS or axes not in _AXES:
        raise UnknownShape
    return twin_ops(f"{kind}{_AXES[axes]}", op.shapes(), [op.output()])


# --- values that bound loops ---


declares_shapes("constant copy get-tuple-element")


@value("constant")
def _constant(op: Op) -> list[Value | None]:
    """A whole number, where the reader found one."""
    number = op.attr("value")
    return [np.array(number, np.int64) if isinstance(number, int) else None]


@value("copy get-tuple-element")
def _passed(op: Op) -> list[Value | None]:
    return [op.value(0)]
