"""Activations and losses: the steps of the formula that defines each, for each element.

    Sigmoid   1 / (1 + exp(-x))     negate, exponential, sum, quotient     4
    Relu6     min(max(x, 0), 6)     maximum, minimum                       2

A comparison that chooses between two branches is one step, and the longer branch is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tfprof.flops.op import size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.flops.op import Op

ACTIVATIONS: Final = {
    "Relu": 1,  # maximum
    "Relu6": 2,  # maximum, minimum
    "Elu": 3,  # comparison, exponential, difference
    "Selu": 4,  # Elu and a product
    "LeakyRelu": 2,  # product, maximum
    "Softplus": 3,  # exponential, sum, logarithm
    "Softsign": 3,  # magnitude, sum, quotient
    "Sigmoid": 4,  # negative, exponential, sum, quotient
    "Tanh": 1,
}
GRADIENTS: Final = {
    "ReluGrad": 2,  # comparison, product
    "Relu6Grad": 3,  # two comparisons, product
    "EluGrad": 3,  # comparison, sum, product
    "SeluGrad": 3,  # likewise
    "LeakyReluGrad": 2,  # comparison, product
    "SoftplusGrad": 4,  # a Sigmoid whose quotient takes in the gradient
    "SoftsignGrad": 4,  # magnitude, sum, square, quotient
    "SigmoidGrad": 3,  # difference, two products
    "TanhGrad": 3,  # square, difference, product
    "SqrtGrad": 2,  # product, quotient
    "ReciprocalGrad": 3,  # negative, two products
    "InvGrad": 3,  # likewise
}
QUANTIZED: Final = {"QuantizedRelu": 1, "QuantizedRelu6": 2, "QuantizedReluX": 2}
MKL: Final = {
    **{
        f"_Mkl{name}": each
        for name, each in {**ACTIVATIONS, **GRADIENTS}.items()
        if name.removesuffix("Grad") in ("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh")
    },
    "_MklSwish": 5,  # Sigmoid and a product
    "_MklFusedMish": 5,  # Softplus, hyperbolic tangent and a product
}
FUSED: Final = {
    **ACTIVATIONS,
    "Add": 1,
    "BiasAdd": 1,
    "FusedBatchNorm": 2,  # product, sum
    "GeluApproximate": 8,  # x · (1 + tanh(a · (x + b · x · x · x))) / 2
    "GeluExact": 5,  # x · (1 + erf(x / c)) / 2
    "_FusedHardSwish": 5,  # x · min(max(x + 3, 0), 6) / 6
    "_FusedSwish": 5,
    "_MklSwish": 5,
    "Mul": 1,
    "Sum": 1,
    "Quantize": 3,
    "Requantize": 3,
    "Dequantize": 2,
}


def each_element(times: int) -> Callable[[Op], int]:
    """The formula that counts as many operations for each element of the output."""

    def formula(op: Op) -> int:
        return times * size(op.output())

    return formula


for _name, _steps in {**ACTIVATIONS, **GRADIENTS, **QUANTIZED, **MKL}.items():
    rule(_name)(each_element(_steps))


def fused(op: Op) -> int:
    """What the operations fused into another take for each element of its output."""
    names = cast("list[str]", op.attr("fused_ops", []))
    return sum(FUSED.get(name, 0) for name in names) * size(op.output())


@rule("_MklSoftmax")
def softmax(op: Op) -> int:
    """Maximum, difference, exponential, sum and quotient, as Softmax has it."""
    return 5 * size(op.input(0))


@rule("LogSoftmax")
def log_softmax(op: Op) -> int:
    """Maximum, two differences, exponential and sum; a logarithm for each row."""
    logits = op.input(0)
    return 5 * size(logits) + size(logits[:-1])


@rule("SoftmaxCrossEntropyWithLogits")
def cross_entropy(op: Op) -> int:
    """The loss and its gradient, in one.

    Maximum, difference, exponential, sum; for the loss difference, product, sum; for the gradient
    quotient, difference: nine for each element. A logarithm for each row.
    """
    return 9 * size(op.output(1)) + size(op.output(0))


@rule("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(op: Op) -> int:
    """The loss and its gradient, where one class a row is right.

    Maximum, difference, exponential, sum, quotient for each element; for each row a logarithm and
    a difference for the loss, and a difference for the gradient.
    """
    return 5 * size(op.output(1)) + 3 * size(op.output(0))
