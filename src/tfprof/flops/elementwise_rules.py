"""Elementwise arithmetic: so many steps for each element of the output.

A function of mathematics (exp, sin, erf, Γ, a Bessel function) is one step, however long it takes;
so are a product, a quotient, a root, a comparison and a bit operation, of whatever type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tfprof.flops.activation_rules import ACTIVATIONS, each_element
from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from tfprof.flops.op import Op

ONE: Final = """
Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1
BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Ceil ComplexAbs Cos Cosh Dawsn Digamma Erf
Erfc Erfinv Exp Expint Expm1 Floor FresnelCos FresnelSin Inv Invert IsFinite IsInf IsNan Lgamma
Log1p LogicalNot Ndtri PopulationCount Rint Round Sign Sin Sinh Spence Sqrt Tan Atan2 BitwiseAnd
BitwiseOr BitwiseXor Div FloorDiv FloorMod Igamma IgammaGradA Igammac LeftShift LogicalAnd LogicalOr
Mod NextAfter Polygamma RightShift TruncateDiv TruncateMod Zeta Betainc QuantizedAdd
QuantizedBiasAdd QuantizedMul BiasAddV1 UniformQuantizedAdd
"""
SEVERAL: Final = {
    "DivNoNan": 2,  # comparison with zero, quotient
    "MulNoNan": 2,
    "Xdivy": 2,  # likewise
    "Xlogy": 3,  # comparison, logarithm, product
    "Xlog1py": 3,
    "ApproximateEqual": 3,  # difference, magnitude, comparison
    "ClipByValue": 2,  # maximum, minimum
    "UniformQuantizedClipByValue": 2,
    "Cross": 3,  # two products and a difference
    "AdjustContrast": 4,  # mean, difference, product, sum
    "AdjustContrastv2": 4,
    "Dequantize": 2,  # difference, product
    "_MklDequantize": 2,
    "UniformDequantize": 2,
    "XlaDequantize": 2,
    "QuantizeV2": 3,  # product, sum, rounding
    "_MklQuantizeV2": 3,
    "UniformQuantize": 3,
    "QuantizeDownAndShrinkRange": 3,
    "Requantize": 3,
    "RequantizePerChannel": 3,
    "UniformRequantize": 3,
    **dict.fromkeys(  # maximum, minimum, product, rounding, product
        (f"QuantizeAndDequantize{version}" for version in ("", "V2", "V3", "V4")), 5
    ),
    **{
        f"FakeQuantWithMinMax{form}{gradient}": steps
        for form in ("Args", "Vars", "VarsPerChannel")
        # maximum, minimum, difference, product, rounding, product, sum; two comparisons, product
        for gradient, steps in (("", 7), ("Gradient", 3))
    },
    "QuantizeAndDequantizeV4Grad": 3,
}
# TensorFlow's own, for what is composed of several.
UNARY: Final = {
    **dict.fromkeys(ONE.split(), 1),
    **dict.fromkeys(("Log", "Neg", "Reciprocal", "Square"), 1),
    "Rsqrt": 2,
    **ACTIVATIONS,
}

rule(*ONE.split())(each_element(1))
for _name, _steps in SEVERAL.items():
    rule(_name)(each_element(_steps))


@rule("_UnaryOpsComposition", attributes=("op_names",))
def composition(op: Op) -> int:
    """The sum of what each function takes."""
    names = cast("list[str]", op.attr("op_names", []))
    return sum(UNARY.get(name, 0) for name in names) * size(op.output())


@rule("AddN", "AccumulateNV2", "NcclReduce")
def add_n(op: Op) -> int:
    """A sum less than there are tensors; control inputs are none."""
    return size(op.input(0)) * (op.inputs - 1) if op.inputs else 0


@rule("CountUpTo", "ResourceCountUpTo")
def one(_: Op) -> int:
    """A counter goes one up."""
    return 1
