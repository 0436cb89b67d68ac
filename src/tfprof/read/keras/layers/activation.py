"""Activations: the operations that Keras composes each of, on the backend of TensorFlow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tfprof.read.keras.graph import BOOL, Call, Tensor, Unexpandable, known
from tfprof.read.keras.table import layer, operation

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
    return FUNCTIONS[name](call, x)  # a function of the user's raises


def _one(kind: str) -> Function:
    return lambda call, x: call.op(kind, x)


def _times(gate: Function) -> Function:
    return lambda call, x: call.op("Mul", x, gate(call, x))


def _with_number(call: Call, x: Tensor, *kinds: str) -> Tensor:
    """One operation with a constant after the other."""
    for kind in kinds:
        x = call.op(kind, x, 1.0)
    return x


def _hard_sigmoid(call: Call, x: Tensor) -> Tensor:
    return _with_number(call, call.op("Relu6", _with_number(call, x, "AddV2")), "RealDiv")


def _silu(call: Call, x: Tensor) -> Tensor:
    return call.op("Mul", x, call.op("Sigmoid", call.op("Mul", x, 1.0)))


def _gelu(call: Call, x: Tensor) -> Tensor:
    """X / 2 · erfc(-x / √2)."""
    tail = call.op("Erfc", _with_number(call, call.op("Neg", x), "Mul"))
    return call.op("Mul", _with_number(call, x, "Mul"), tail)


def _celu(call: Call, x: Tensor) -> Tensor:
    low = _with_number(call, x, "Minimum", "RealDiv")
    low = _with_number(call, call.op("Expm1", low), "Mul")
    return call.op("AddV2", _with_number(call, x, "Maximum"), low)


def _glu(call: Call, x: Tensor) -> Tensor:
    halves = call.op("Split", -1, x, num_split=2)
    return call.op("Mul", halves, call.op("Sigmoid", Tensor(f"{halves.name}:1")))


def _chosen(*comparisons: str, steps: tuple[str, ...] = ()) -> Function:
    """Comparisons with bounds, each of which chooses; the chosen value takes some *steps*."""

    def function(call: Call, x: Tensor) -> Tensor:
        result = _with_number(call, x, *steps)
        for kind in comparisons:
            test = call.op(kind, x, 1.0, dtype=BOOL)
            result = call.op("SelectV2", test, result, x)
        return result

    return function


def _hard_shrink(call: Call, x: Tensor) -> Tensor:
    test = call.op("Greater", call.op("Abs", x), 1.0, dtype=BOOL)
    return call.op("SelectV2", test, x, x)


def _squareplus(call: Call, x: Tensor) -> Tensor:
    root = call.op("Sqrt", _with_number(call, call.op("Square", x), "AddV2"))
    return _with_number(call, call.op("AddV2", x, root), "RealDiv")


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


FUNCTIONS: Final[dict[str, Function]] = {
    "celu": _celu,
    "elu": _one("Elu"),
    "exponential": _one("Exp"),
    "gelu": _gelu,
    "glu": _glu,
    "hard_shrink": _hard_shrink,
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": _times(_hard_sigmoid),
    "hard_swish": _times(_hard_sigmoid),
    "hard_tanh": lambda call, x: _with_number(call, x, "Minimum", "Maximum"),
    "leaky_relu": _one("LeakyRelu"),
    "linear": lambda _, x: x,
    "log_sigmoid": lambda call, x: call.chain(x, "Neg", "Softplus", "Neg"),
    "log_softmax": _one("LogSoftmax"),
    "mish": _times(lambda call, x: call.chain(x, "Softplus", "Tanh")),
    "relu": _one("Relu"),
    "relu6": _one("Relu6"),
    "selu": _one("Selu"),
    "sigmoid": _one("Sigmoid"),
    "silu": _silu,
    "soft_shrink": _chosen("Greater", "Less", steps=("Sub", "AddV2")),
    "softmax": _one("Softmax"),
    "softplus": _one("Softplus"),
    "softsign": _one("Softsign"),
    "sparse_plus": _chosen("Less", "LessEqual", steps=("AddV2", "Pow", "Mul")),
    "sparse_sigmoid": _chosen("LessEqual", "GreaterEqual", steps=("AddV2", "Mul")),
    "squareplus": _squareplus,
    "swish": _silu,
    "tanh": _one("Tanh"),
    "tanh_shrink": lambda call, x: call.op("Sub", x, call.op("Tanh", x)),
}

layer("Activation")(lambda call: activated(call, call.op("Identity", call.x)))
layer("Softmax")(lambda call: softmax(call, call.x))
layer("LeakyReLU")(lambda call: call.op("LeakyRelu", call.x))
# What only training changes.
layer(
    "ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise Identity",
    "SpatialDropout1D SpatialDropout2D SpatialDropout3D",
)(lambda call: call.op("Identity", call.x))


def _operation(function: Function, call: Call) -> Tensor:
    return function(call, call.x)


for _name, _function in FUNCTIONS.items():
    operation(_name.title().replace("_", ""))(partial(_operation, _function))
for _name in [
    "Abs",
    "Exp",
    "Log",
    "Sqrt",
    "Square",
    "Sin",
    "Cos",
    "Rsqrt",
    "Sign",
    "Floor",
    "Ceil",
]:
    operation(_name)(partial(_operation, _one(_name)))
operation("Negative")(partial(_operation, _one("Neg")))


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
        return call.op(kind, call.x) if kind else _with_number(call, call.x, "Maximum", "Minimum")
    if slope and not threshold and not most:
        return call.op("LeakyRelu", call.x)
    if not slope or not threshold or most:
        raise Unexpandable
    low = call.op("Relu", call.op("AddV2", call.op("Neg", call.x), 1.0))
    above = call.op("Greater", call.x, 1.0, dtype=BOOL)
    high = call.op("SelectV2", above, call.x, call.x)
    return call.op("Sub", high, call.op("Mul", low, 1.0))


@layer("PReLU")
def prelu(call: Call) -> Tensor:
    """The positive part, and the negative one times a weight."""
    low = call.chain(call.x, "Neg", "Relu")
    scaled = call.op("Mul", call.op("Neg", call.weight("alpha")), low)
    return call.op("AddV2", call.op("Relu", call.x), scaled)


@layer("Masking")
def masking(call: Call) -> Tensor:
    """Steps of one value are zero."""
    known(call.x)
    differs = call.op("NotEqual", call.x, 1.0, dtype=BOOL)
    kept = call.op("Any", differs, [-1], keep_dims=True)
    return call.op("SelectV2", kept, call.x, call.x)
