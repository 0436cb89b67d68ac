"""Elementwise arithmetic: so many steps per output element; inputs broadcast to each other.

A mathematical function (exp, sin, erf, Γ, a Bessel function) is one step, however long it takes;
so are a product, a quotient, a root, a comparison and a bit operation, of any dtype.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.ops import shared_rules as shared
from tfprof.ops.activation import ACTIVATIONS
from tfprof.ops.dtypes import BOOL, DTYPES
from tfprof.ops.normalization import biased
from tfprof.ops.op import Op, size
from tfprof.ops.shape import HOLE, OPEN, MaybeShape, Value, broadcast, has_holes, merged, require
from tfprof.ops.table import float_ops, names, no_shape, shape, value

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS: Final = """
Abs Acos{,h} Angle Asin{,h} Atan{,h} Bessel{I0,I0e,I1,I1e,J0,J1,K0,K0e,K1,K1e,Y0,Y1} Ceil ComplexAbs
Cos{,h} Dawsn Digamma Erf{,c,inv} Exp Expint Expm1 Floor Fresnel{Cos,Sin} Inv Invert
Is{Finite,Inf,Nan} Lgamma Log1p LogicalNot Ndtri PopulationCount Rint Round Sign Sin{,h} Spence Sqrt
Tan
"""
BINARY: Final = """
Atan2 Bitwise{And,Or,Xor} Div Floor{Div,Mod} Igamma IgammaGradA Igammac {Left,Right}Shift
Logical{And,Or} Mod NextAfter Polygamma Truncate{Div,Mod} Zeta
"""
OF_TENSORFLOW: Final = """
Add{,V2} Sub Mul RealDiv Maximum Minimum Pow Greater{,Equal} Less{,Equal} Equal NotEqual
"""
SEVERAL: Final = {
    "{Div,Mul}NoNan Xdivy": 2,  # comparison with zero, quotient
    "Xlogy Xlog1py": 3,  # comparison, logarithm, product
    "ApproximateEqual": 3,  # difference, magnitude, comparison
    "ClipByValue": 2,  # maximum, minimum
    "Cross": 3,  # two products and a difference
    "{Reciprocal,Inv}Grad": 3,  # negative, two products
    "SqrtGrad": 2,  # product, quotient
}
# TensorFlow's own, for what is composed of several.
UNARY: Final = {
    **dict.fromkeys(names(FUNCTIONS, BINARY, "Betainc"), 1),
    **dict.fromkeys(("Log", "Neg", "Reciprocal", "Square"), 1),
    "Rsqrt": 2,
    **ACTIVATIONS,
}

# --- float operations ---

float_ops(FUNCTIONS, BINARY, "Betainc BiasAddV1")(shared.per_output(1))
float_ops(OF_TENSORFLOW, tensorflow=True)(shared.per_output(1))
float_ops("SquaredDifference", tensorflow=True)(shared.per_output(2))  # difference, square
float_ops("RsqrtGrad", tensorflow=True)(shared.per_output(4))  # three products, halving
for _names, _steps in SEVERAL.items():
    float_ops(_names)(shared.per_output(_steps))

float_ops("Reciprocal Square Log Neg AssignSub AssignAdd BiasAdd", tensorflow=True)(
    shared.per_input(0)
)
float_ops("Rsqrt", tensorflow=True)(shared.per_input(0, steps=2))  # a square root and a reciprocal
float_ops("CountUpTo ResourceCountUpTo")(lambda _: 1)


@float_ops("_UnaryOpsComposition", attributes="op_names")
def composition(op: Op) -> int:
    """The sum of the steps of each function."""
    return shared.steps_of(op.attr("op_names", []), UNARY) * size(op.output())


@float_ops("AddN", tensorflow=True)
def add_n_of_tensorflow(op: Op) -> int:
    """One per addition; parity Q44: control inputs count as if they were added, too."""
    summands = op.inputs + op.controls
    return size(op.input(0)) * (summands - 1) if summands else 0


# One addition less than there are data inputs.
float_ops("AddN AccumulateNV2 NcclReduce")(
    lambda op: size(op.input(0)) * (op.inputs - 1) if op.inputs else 0
)

# --- shapes ---

# What all inputs broadcast to.
shape(
    OF_TENSORFLOW, BINARY, "{Div,Mul}NoNan Xdivy Xlogy Xlog1py SquaredDifference Complex SelectV2"
)(lambda op: reduce(broadcast, (op.known(number) for number in range(op.inputs))))
shape(
    FUNCTIONS,
    """
    Log Neg Reciprocal Square Rsqrt Conj Imag Real Cast ClipByValue Bucketize
    ZerosLike OnesLike Identity StopGradient PreventGradient Snapshot CheckNumerics{,V2}
    GuaranteeConst DeepCopy Copy{,Host} DebugIdentity{,V2} RefIdentity Print
    {,Ref}{Enter,Exit,NextIteration} _UnaryOpsComposition StringToHashBucket{,Fast,Strong}
    AsString String{Lower,Upper,Strip,Length,ToNumber}
    """,
)(shared.like_input(0))
shape("LoopCond")(shared.scalar)
shape("PrintV2")(lambda _: [])
shape("IdentityN")(lambda op: op.shapes())


@shape(
    """
    AddN NcclReduce {,_Mkl}{Relu,Relu6,Elu,LeakyRelu,Tanh}Grad
    {Selu,Softplus,Softsign,Sigmoid,Sqrt,Rsqrt,Reciprocal,Inv}Grad ApproximateEqual Cross
    FakeQuantWithMinMaxArgsGradient Assign AssignAdd AssignSub
    """
)
def equal_inputs(op: Op) -> MaybeShape:
    """What the inputs, all of one shape, say together."""
    count = op.inputs if op.type in ("AddN", "NcclReduce") else min(op.inputs, 2)
    return reduce(merged, (op.shape(number) for number in range(count)), None)


# The attribute, completed with what the inputs say.
shape("AccumulateNV2")(lambda op: reduce(merged, op.shapes(), op.attr("shape")))


def shape_beside_scalars(op: Op) -> MaybeShape:
    """The shape of the inputs that are no scalars."""
    wide = [dims for dims in op.shapes() if dims]
    return reduce(merged, wide, None) if wide else None if None in op.shapes() else ()


shape("Betainc")(shape_beside_scalars)


@shape("Bitcast")
def same_bits(op: Op) -> MaybeShape:
    """A dimension more, or one less, where the elements of both dtypes differ in size."""
    tensor = op.known(0)
    before, after = (DTYPES[int(op.attr(name))].size for name in ("T", "type"))
    require(before and after)
    if before >= after:
        return tensor if before == after else (*tensor, before // after)
    require(tensor and tensor[-1] in (OPEN, after // before))
    return tensor[:-1]


@shape("Select")
def selected(op: Op) -> MaybeShape:
    """The shape of both alternatives; the condition may be a vector of rows, or a scalar."""
    both, condition = merged(op.shape(1), op.shape(2)), op.shape(0)
    by_row = both is None or (condition is not None and len(condition) != len(both))
    return both if by_row else merged(both, condition)


# --- values: a hole in an integer makes a hole in the result ---

_BINARY: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply,
    "RealDiv": np.true_divide, "FloorDiv": np.floor_divide, "FloorMod": np.mod,
    "Maximum": np.maximum, "Minimum": np.minimum,
    "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "Equal": np.equal, "NotEqual": np.not_equal,
    "LogicalAnd": np.logical_and, "LogicalOr": np.logical_or,
}  # fmt: skip
_UNARY: Final[dict[str, Callable[..., Any]]] = {
    "Neg": np.negative, "Abs": np.absolute, "Square": np.square, "LogicalNot": np.logical_not,
    "Floor": np.floor, "Ceil": np.ceil, "Rint": np.rint,
}  # fmt: skip
_TOWARDS_ZERO: Final = ("Div", "TruncateDiv", "TruncateMod", "Mod")
_DIVISIONS: Final = ("FloorDiv", "FloorMod", *_TOWARDS_ZERO)


@value(*_BINARY, *_TOWARDS_ZERO)
def binary(op: Op) -> Value:
    """Element by element."""
    first, second = op.constant(0), op.constant(1)
    require(op.type not in _DIVISIONS or np.all(second))
    function = _BINARY.get(op.type) or _towards_zero(op.type, first)
    result = np.asarray(function(first, second))
    if not (has_holes(first) or has_holes(second)):
        return result
    require(result.dtype.kind == "i")
    return np.where(np.logical_or(first == HOLE, second == HOLE), HOLE, result)


def _towards_zero(op: str, first: Value) -> Callable[..., Any]:
    """The quotient or the remainder of a division that rounds towards zero."""
    if op in ("TruncateMod", "Mod"):
        return np.fmod
    if first.dtype.kind != "i":
        return np.true_divide
    return lambda a, b: (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b)


value(*_UNARY)(lambda op: np.asarray(_UNARY[op.type](op.full(0))))
# One of two; only where all broadcast.
value("Select SelectV2")(lambda op: np.where(op.full(0), op.constant(1), op.constant(2)))


@value("Cast")
def cast_value(op: Op) -> Value:
    """Numbers of another dtype, in 64 bits."""
    number, dtype = op.constant(0), DTYPES.get(op.dtype, DTYPES[0])
    if dtype.is_float or dtype.number == BOOL:
        require(not has_holes(number))
        return number.astype(np.float64 if dtype.is_float else np.bool_)
    require(number.dtype.kind != "f" or np.all(np.isfinite(number)))
    return number.astype(np.int64)


# --- quantized: outputs come with the minimum and the maximum that they stand for ---

FAKE: Final = "FakeQuantWithMinMax{Args,Vars,VarsPerChannel}"
QUANTIZED: Final = {
    "Quantized{Add,BiasAdd,Mul} UniformQuantizedAdd QuantizedRelu": 1,
    "QuantizedRelu{6,X} UniformQuantizedClipByValue": 2,  # maximum, minimum
    "{,_Mkl,Uniform,Xla}Dequantize": 2,  # difference, product
    "{,_Mkl}QuantizeV2 Uniform{Quantize,Requantize}": 3,  # product, sum, rounding
    "QuantizeDownAndShrinkRange Requantize{,PerChannel}": 3,  # the same
    "QuantizeAndDequantize{,V2,V3,V4}": 5,  # maximum, minimum, product, rounding, product
    FAKE: 7,  # maximum, minimum, difference, product, rounding, product, sum
    f"{FAKE}Gradient QuantizeAndDequantizeV4Grad": 3,  # two comparisons, product
}
for _names, _steps in QUANTIZED.items():
    float_ops(_names)(shared.per_output(_steps))
float_ops("RequantizationRange{,PerChannel}")(shared.per_input(0, steps=2))  # minimum, maximum
shape(FAKE, "QuantizeAndDequantize{,V2,V3,V4} {,_Mkl}Dequantize")(shared.like_input(0))
shape("Uniform{Dequantize,Quantize,Requantize} UniformQuantizedClipByValue")(shared.like_input(0))
shape(
    "QuantizedRelu{,6,X} {,_Mkl}QuantizeV2 QuantizeDownAndShrinkRange Requantize{,PerChannel}",
    "QuantizedInstanceNorm",
)(shared.with_range(shared.like_input(0)))
shape("QuantizeAndDequantizeV4Grad FakeQuantWithMinMaxVarsGradient")(
    shared.with_range(shared.like_input(0, 1))
)
shape("QuantizedBiasAdd")(shared.with_range(biased))
shape("Quantized{Add,Mul}")(shared.with_range(shared.broadcast_pair))
shape("UniformQuantizedAdd")(shared.broadcast_pair)
shape("RequantizationRange{,PerChannel}")(lambda _: [(), ()])


@shape("FakeQuantWithMinMaxVarsPerChannelGradient")
def per_channel_gradients(op: Op) -> list[MaybeShape]:
    """The gradients of the input and of the ranges of its channels."""
    tensor = merged(op.shape(0), op.shape(1))
    channels = (OPEN,) if tensor is None else tensor[-1:]
    ranges = merged(channels, merged(op.shape(2), op.shape(3)))
    return [tensor and merged(tensor, (*tensor[:-1], *(ranges or ()))), ranges, ranges]


no_shape("TensorFlow infers none: it depends on how the input is packed", "XlaDequantize")
