"""Activations and merging layers, also as operations of keras.ops, on the backend of TensorFlow."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final

from tfprof.read.keras.graph import BOOL, Call, Tensor, Unexpandable, known, layer, operation
from tfprof.read.keras.layers.normalization import unit

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[Call, Tensor], Tensor]


def activated(call: Call, x: Tensor, key: str = "activation") -> Tensor:
    """*x* after the activation that the configuration names."""
    name: Any = call.config.get(key)
    if isinstance(name, dict) and name.get("module") == "keras.layers":
        return call.inner(name, x)[0]
    if name is None or name == "linear":
        return x
    return _applied(call, FUNCTIONS[name], x)  # a function of the user's raises


def _applied(call: Call, function: str | Function, x: Tensor | None = None) -> Tensor:
    """A chain of operations, or another function, of *x* or of the layer's input."""
    x = call.x if x is None else x
    return _chain(call, x, function) if isinstance(function, str) else function(call, x)


def _chain(call: Call, x: Tensor, kinds: str) -> Tensor:
    """One operation after the other: `Relu` of the last result, `Mul:1` of it and a number.

    `x:Mul` is of *x* itself and the last result.
    """
    result = x
    for step in kinds.split():
        kind, _, number = step.partition(":")
        if kind == "x":
            result = call.op(number, x, result)
        else:
            result = call.op(kind, result, *([1.0] if number else []))
    return result


def _gelu(call: Call, x: Tensor) -> Tensor:
    """X / 2 · erfc(-x / √2)."""
    tail = _chain(call, x, "Neg Mul:1 Erfc")
    return call.op("Mul", call.op("Mul", x, 1.0), tail)


def _celu(call: Call, x: Tensor) -> Tensor:
    low = _chain(call, x, "Minimum:1 RealDiv:1 Expm1 Mul:1")
    return call.op("AddV2", call.op("Maximum", x, 1.0), low)


def _glu(call: Call, x: Tensor) -> Tensor:
    halves = call.op("Split", -1, x, num_split=2)
    return call.op("Mul", halves, call.op("Sigmoid", Tensor(f"{halves.name}:1")))


def _chosen(*comparisons: str, steps: str = "", tested: str = "") -> Function:
    """Comparisons of x or *tested* with bounds, each of which chooses what took some *steps*."""

    def function(call: Call, x: Tensor) -> Tensor:
        result = _chain(call, x, steps)
        for kind in comparisons:
            test = call.op(kind, _chain(call, x, tested), 1.0, dtype=BOOL)
            result = call.op("SelectV2", test, result, x)
        return result

    return function


def softmax(call: Call, x: Tensor) -> Tensor:
    """The softmax over one axis, or over several by its definition."""
    axes = call.config.get("axis", -1)
    if not isinstance(axes, list) or len(axes) == 1:
        return call.op("Softmax", x)
    most = call.reduced("Max", x, axes)
    finite = call.op("IsFinite", most, dtype=BOOL)
    most = call.op("SelectV2", finite, most, most)
    total = call.reduced("Sum", call.op("Exp", call.op("Sub", x, most)), axes)
    return call.op("Exp", call.op("Sub", x, call.op("AddV2", call.op("Log", total), most)))


FUNCTIONS: Final[dict[str, str | Function]] = {
    "celu": _celu,
    "elu": "Elu",
    "exponential": "Exp",
    "gelu": _gelu,
    "glu": _glu,
    "hard_shrink": _chosen("Greater", tested="Abs"),
    "hard_sigmoid": "AddV2:1 Relu6 RealDiv:1",
    "hard_silu": "AddV2:1 Relu6 RealDiv:1 x:Mul",
    "hard_swish": "AddV2:1 Relu6 RealDiv:1 x:Mul",
    "hard_tanh": "Minimum:1 Maximum:1",
    "leaky_relu": "LeakyRelu",
    "linear": "",
    "log_sigmoid": "Neg Softplus Neg",
    "log_softmax": "LogSoftmax",
    "mish": "Softplus Tanh x:Mul",
    "relu": "Relu",
    "relu6": "Relu6",
    "selu": "Selu",
    "sigmoid": "Sigmoid",
    "silu": "Mul:1 Sigmoid x:Mul",
    "soft_shrink": _chosen("Greater", "Less", steps="Sub:1 AddV2:1"),
    "softmax": "Softmax",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "sparse_plus": _chosen("Less", "LessEqual", steps="AddV2:1 Pow:1 Mul:1"),
    "sparse_sigmoid": _chosen("LessEqual", "GreaterEqual", steps="AddV2:1 Mul:1"),
    "squareplus": "Square AddV2:1 Sqrt x:AddV2 RealDiv:1",
    "swish": "Mul:1 Sigmoid x:Mul",
    "tanh": "Tanh",
    "tanh_shrink": "Tanh x:Sub",
}
_UNARY: Final = "Abs Exp Log Sqrt Square Sin Cos Rsqrt Sign Floor Ceil"

layer("Activation")(lambda call: activated(call, call.op("Identity", call.x)))
layer("Softmax")(lambda call: softmax(call, call.x))
layer("LeakyReLU")(lambda call: call.op("LeakyRelu", call.x))
# What only training changes.
layer(
    "ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise Identity",
    "SpatialDropout1D SpatialDropout2D SpatialDropout3D",
)(lambda call: call.op("Identity", call.x))

for _name, _function in {**FUNCTIONS, **{name: name for name in _UNARY.split()}}.items():
    operation(_name.title().replace("_", ""))(partial(_applied, function=_function))
operation("Negative")(partial(_applied, function="Neg"))


@layer("ELU")
def elu(call: Call) -> Tensor:
    """The exponential, scaled if the configuration says so."""
    if call.config.get("alpha", 1.0) != 1.0:
        raise Unexpandable
    return call.op("Elu", call.x)


@layer("ReLU")
def relu(call: Call) -> Tensor:
    """The positive part; bounds and a slope take a few operations more."""
    slope, most, threshold = (
        call.config.get(key) or 0.0 for key in ("negative_slope", "max_value", "threshold")
    )
    if not slope and not threshold:
        kind = {0.0: "Relu", 6.0: "Relu6"}.get(most)
        return _chain(call, call.x, kind or "Maximum:1 Minimum:1")
    if slope and not threshold and not most:
        return call.op("LeakyRelu", call.x)
    if not slope or not threshold or most:
        raise Unexpandable
    low = _chain(call, call.x, "Neg AddV2:1 Relu")
    above = call.op("Greater", call.x, 1.0, dtype=BOOL)
    high = call.op("SelectV2", above, call.x, call.x)
    return call.op("Sub", high, call.op("Mul", low, 1.0))


@layer("PReLU")
def prelu(call: Call) -> Tensor:
    """The positive part, and the negative one times a weight."""
    low = _chain(call, call.x, "Neg Relu")
    scaled = call.op("Mul", call.op("Neg", call.weight("alpha")), low)
    return call.op("AddV2", call.op("Relu", call.x), scaled)


@layer("Masking")
def masking(call: Call) -> Tensor:
    """Steps of one value are zero."""
    known(call.x)
    kept = call.reduced("Any", call.op("NotEqual", call.x, 1.0, dtype=BOOL), [-1])
    return call.op("SelectV2", kept, call.x, call.x)


# --- merging ---

_KINDS: Final = {
    "Add": "AddV2", "Subtract": "Sub", "Multiply": "Mul", "Maximum": "Maximum",
    "Minimum": "Minimum",
}  # fmt: skip
_OPERATORS: Final = {
    **_KINDS, "Divide": "RealDiv", "TrueDivide": "RealDiv", "Power": "Pow",
    "FloorDivide": "FloorDiv", "Mod": "FloorMod", "SquaredDifference": "SquaredDifference",
    "Matmul": "BatchMatMulV2",
}  # fmt: skip
_LETTERS: Final = "abcdefghij"


def _merged(call: Call, kind: str) -> Tensor:
    """One input after the other; those of lower rank get dimensions after the batch."""
    rank = max(len(known(x)) for x in call.inputs)
    inputs = (reduce(call.expanded, [1] * (rank - len(known(x))), x) for x in call.inputs)
    return reduce(partial(call.op, kind), inputs)


for _name, _kind in _KINDS.items():
    layer(_name)(partial(_merged, kind=_kind))
layer("Average")(lambda call: call.op("RealDiv", _merged(call, "AddV2"), 1.0))
layer("Concatenate")(
    lambda call: call.joined(*call.inputs, axis=int(call.config.get("axis", -1)), dtype=None)
)


@layer("Dot")
def dot(call: Call) -> Tensor:
    """The products of two tensors, summed over an axis of each."""
    left, right = call.inputs
    axes = call.config["axes"]
    first, second = axes if isinstance(axes, list) else (axes, axes)
    first, second = first % len(known(left)), second % len(known(right))
    if call.config.get("normalize"):
        left, right = unit(call, left, first), unit(call, right, second)
    names = [_LETTERS[: len(known(call.inputs[0]))]]
    names.append("a" + "klmnopqrst"[: len(known(call.inputs[1])) - 1])
    names[1] = names[1][:second] + names[0][first] + names[1][second + 1 :]
    rest = [name.replace(names[0][first], "") for name in names]
    equation = f"{names[0]},{names[1]}->{rest[0]}{rest[1][1:]}"
    result = call.op("Einsum", left, right, equation=equation, N=2)
    return result if len(rest[0]) + len(rest[1]) > 2 else call.expanded(result, 1)  # noqa: PLR2004 - the batch, twice


def _operator(call: Call, kind: str) -> Tensor:
    """An operator between two tensors, or a tensor and a number, which may be the first."""
    arguments = [*call.options["args"], *call.options["kwargs"].values()]
    numbers = [float(each) for each in arguments if isinstance(each, (int, float))]
    both: list[Tensor | float] = [*call.inputs, *numbers]
    first, second = both
    return call.op(kind, first, second)


for _name, _kind in _OPERATORS.items():
    operation(_name)(partial(_operator, kind=_kind))
