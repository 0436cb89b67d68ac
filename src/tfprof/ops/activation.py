"""Activations and losses: the steps of the formula that defines each, per element.

    Sigmoid   1 / (1 + exp(-x))     negate, exponential, sum, quotient     4
    Relu6     min(max(x, 0), 6)     maximum, minimum                       2

A comparison that chooses between two branches is one step, and the longer branch counts.
"""

from __future__ import annotations

from typing import Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, broadcast, merged
from tfprof.ops.shared_rules import like_input, per_input, steps_of
from tfprof.ops.table import float_ops, shape

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
    "SeluGrad": 3,  # the same
    "LeakyReluGrad": 2,  # comparison, product
    "SoftplusGrad": 4,  # a Sigmoid whose quotient includes the gradient
    "SoftsignGrad": 4,  # magnitude, sum, square, quotient
    "SigmoidGrad": 3,  # difference, two products
    "TanhGrad": 3,  # square, difference, product
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
_STEPS: Final = {
    **ACTIVATIONS,
    **GRADIENTS,
    "Swish": 5,  # Sigmoid and a product
    "FusedMish": 5,  # Softplus, hyperbolic tangent and a product
}
# The steps of the formula, per element.
float_ops(
    *ACTIVATIONS, *GRADIENTS, "_Mkl{Relu,Relu6,Elu,LeakyRelu,Tanh}{,Grad} _Mkl{Swish,FusedMish}"
)(lambda op: _STEPS[op.type.removeprefix("_Mkl")] * size(op.output()))


def fused(op: Op) -> int:
    """The float operations of what is fused into another operation; raises NoRule."""
    return steps_of(op.attr("fused_ops", []), FUSED) * size(op.output())


# Maximum, difference, exponential, sum and quotient.
float_ops("Softmax", tensorflow=True)(per_input(0, steps=5))
float_ops("_MklSoftmax")(per_input(0, steps=5))
shape(*ACTIVATIONS, "_MklSwish _MklFusedMish {,_Mkl}Softmax LogSoftmax")(like_input(0))
shape("_Mkl{Relu,Relu6,Elu,LeakyRelu,Tanh}")(like_input(0))


@float_ops("LogSoftmax")
def log_softmax(op: Op) -> int:
    """Maximum, two differences, exponential and sum; a logarithm per row."""
    logits = op.input(0)
    return 5 * size(logits) + size(logits[:-1])


@float_ops("SoftmaxCrossEntropyWithLogits")
def cross_entropy(op: Op) -> int:
    """The loss and its gradient.

    Maximum, difference, exponential, sum; for the loss difference, product, sum; for the gradient
    quotient, difference: nine per element. A logarithm per row.
    """
    return 9 * size(op.output(1)) + size(op.output(0))


@shape("SoftmaxCrossEntropyWithLogits")
def cross_entropy_shapes(op: Op) -> list[MaybeShape]:
    """A loss per row, and the gradient."""
    logits = broadcast(op.shape(0) or (OPEN, OPEN), op.shape(1) or (OPEN, OPEN))
    return [logits[:1], logits]


@float_ops("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(op: Op) -> int:
    """The loss and its gradient, where one class per row is right.

    Maximum, difference, exponential, sum, quotient per element; per row a logarithm and a
    difference for the loss, and a difference for the gradient.
    """
    return 5 * size(op.output(1)) + 3 * size(op.output(0))


@shape("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy_shapes(op: Op) -> list[MaybeShape]:
    """A loss per row, and the gradient."""
    logits, labels = op.shape(0) or (OPEN, OPEN), op.shape(1)
    rows = merged(logits[:1], labels) or (OPEN,)
    return [rows, (*rows, *logits[1:])]
