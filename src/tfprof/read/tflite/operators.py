"""Operators as operations of TensorFlow: a line of operators.txt, or a row here.

    ADD AddV2 +0                 field 0 of its options is a fused activation
    GATHER GatherV2 <0           field 0 becomes an input behind the others
    MEAN Mean keep_dims?0        … an attribute: = integer, ? boolean, ~ float, * list, @ subgraph
    PACK Pack N#0                an attribute: the number of inputs

Weights are as TensorFlow has them:

    CONV_2D            [out, height, width, in]     Conv2D          [height, width, in, out]
    DEPTHWISE_CONV_2D  [1, height, width, out]      Depthwise…      [height, width, in, times]
    TRANSPOSE_CONV     [out, height, width, in]     …BackpropInput  [height, width, out, in]
    FULLY_CONNECTED    [out, in]                    MatMul with transpose_b

What has neither a line nor a row, or not the inputs that it needs, is one node of its name, whose
float operations are unknown.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.keras.graph import Tensor, Unexpandable
from tfprof.read.keras.layers.activation import activated
from tfprof.read.tflite.flatbuffer import BOOL, FLOAT, INT8
from tfprof.read.tflite.model import FLEX
from tfprof.read.tflite.step import ROWS, Step, attribute, clean, function_name, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.read.keras.graph import Operand

_PADDING: Final = ("SAME", "VALID")
_MATRIX: Final = 2
_WORD: Final = re.compile(r"(\w*)(\W)(\d+)")
_OPTIONS: Final[dict[str, Callable[[Step, int], Any]]] = {
    "=": lambda step, field: step.options.number(field),
    "?": lambda step, field: step.options.number(field, BOOL),
    "~": lambda step, field: step.options.number(field, FLOAT),
    "*": lambda step, field: step.options.numbers(field),
    "@": lambda step, field: step.function(step.options.number(field)),
}


def expand(step: Step) -> list[Tensor]:
    """The outputs of an operator; raises Unexpandable and the like."""
    import_module("tfprof.read.tflite.recurrent")  # adds its rows
    name, kind, words = step.row
    outputs = ROWS[name](step) if name in ROWS else _line(step, kind or name, words)
    return outputs if isinstance(outputs, list) else [outputs]


def _line(step: Step, kind: str, words: tuple[str, ...]) -> Tensor:
    inputs: list[Operand] = [*step.values()]
    attributes: dict[str, Any] = {}
    if step.row.name.startswith(FLEX):
        attributes.update(step.body.model.flex_attributes(step.operator))
        if not attributes:
            raise Unexpandable
    if step.operator.hides_weights:
        inputs.append(step.hidden_weights())
    activation = -1
    for key, sign, digits in (_WORD.findall(word)[0] for word in words):
        field = int(digits)
        if sign == "<":
            inputs.append(step.options.number(field))
        elif sign == "+":
            activation = field
        else:
            attributes[key] = len(inputs) if sign == "#" else _OPTIONS[sign](step, field)
    y = step.out(kind, *inputs, **attributes)
    return step.activated(y, activation) if activation >= 0 else y


# --- products ---

# The type, the order of the axes of the weights, and the fields of strides, dilations, activation.
_CONVOLUTIONS: Final = {
    "CONV_2D": ("Conv2D", (1, 2, 3, 0), (2, 1), (5, 4), 3),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2dNative", (1, 2, 0, 3), (2, 1), (6, 5), 4),
    "TRANSPOSE_CONV": ("Conv2DBackpropInput", (1, 2, 0, 3), (2, 1), (), 3),
    "CONV_3D": ("Conv3D", range(5), (1, 3, 2), (5, 7, 6), 4),
    "CONV_3D_TRANSPOSE": ("Conv3DBackpropInputV2", range(5), (1, 3, 2), (5, 7, 6), 4),
}


def _window(step: Step, fields: Sequence[int], dilations: Sequence[int] = ()) -> dict[str, Any]:
    strides = [step.options.number(field) for field in fields]
    rates = [step.options.number(field, default=1) for field in dilations] or [1] * len(strides)
    return {
        "strides": [1, *strides, 1],
        "dilations": [1, *rates, 1],
        "padding": _PADDING[step.options.number(0, INT8)],
        "data_format": "NHWC" if len(strides) == _MATRIX else "NDHWC",
    }


@row(*_CONVOLUTIONS)
def _convolution(step: Step) -> Tensor:
    kind, axes, strides, dilations, activation = _CONVOLUTIONS[step.row.name]
    shape = [step.dims(1)[axis] for axis in axes]
    if "Depthwise" in kind:
        depth = max(step.dims(0)[-1], 1)
        shape[2:] = depth, shape[-1] // depth
    is_back = "Backprop" in kind
    inputs = [step.x(), step.weight(1, "kernel", tuple(shape)), *([step.x(2)] if is_back else [])]
    y = step.out(kind, *inputs, **_window(step, strides, dilations))
    return step.activated(step.biased(y, 2 + is_back), activation)


@row("FULLY_CONNECTED")
def _fully_connected(step: Step) -> Tensor:
    x, kernel = step.x(), step.weight(1, "kernel")
    if len(step.dims(0)) != _MATRIX and step.options.number(2, BOOL):
        y = step.out("BatchMatMulV2", x, kernel, adj_y=True)
    else:
        if len(step.dims(0)) != _MATRIX:
            x = step.op("Reshape", x, [-1, step.dims(1)[-1]])
        y = step.out("MatMul", x, kernel, transpose_b=True)
    return step.activated(step.biased(y, 2), 0)


row("EMBEDDING_LOOKUP")(
    lambda step: step.out("GatherV2", step.weight(1, "embeddings"), step.x(0), 0)
)


# --- pooling and normalization ---


def _pooled(step: Step, kind: str, x: Tensor) -> Tensor:
    sides = [1, step.options.number(4), step.options.number(3), 1]
    window = {key: value for key, value in _window(step, (2, 1)).items() if key != "dilations"}
    return step.out(kind, x, ksize=sides, **window)


row("AVERAGE_POOL_2D")(lambda step: step.activated(_pooled(step, "AvgPool", step.x()), 5))
row("MAX_POOL_2D")(lambda step: step.activated(_pooled(step, "MaxPool", step.x()), 5))


@row("L2_POOL_2D")
def _l2_pool(step: Step) -> Tensor:
    squares = _pooled(step, "AvgPool", step.op("Square", step.x()))
    return step.activated(step.out("Sqrt", squares), 5)


@row("L2_NORMALIZATION")
def _unit(step: Step) -> Tensor:
    total = step.op("Sum", step.op("Square", step.x()), [-1], keep_dims=True)
    scale = step.op("Rsqrt", step.op("Maximum", total, 1.0))
    return step.activated(step.out("Mul", step.x(), scale), 0)


# --- activations ---


@row("RELU_N1_TO_1", "RELU_0_TO_1", "STABLEHLO_CLAMP")
def _clipped(step: Step) -> Tensor:
    x = step.x(1 if len(step.inputs) > 1 else 0)
    return step.out("Minimum", step.out("Maximum", x, 1.0), 1.0)


@row("PRELU")
def _prelu(step: Step) -> Tensor:
    low = step.op("Relu", step.op("Neg", step.x()))
    low = step.op("Mul", step.op("Neg", step.weight(1, "alpha")), low)
    return step.out("AddV2", step.op("Relu", step.x()), low)


@row("HARD_SWISH", "GELU")
def _by_keras(step: Step) -> Tensor:
    call = replace(step.call, config={"activation": step.row.name.lower()})
    return activated(call, step.x())


# --- constants with another dtype ---


@row("DEQUANTIZE", "DENSIFY")
def _unpacked(step: Step) -> list[Tensor]:
    at = step.inputs[0]
    if step.has(0) and step.body.stored(at).data is not None:
        # TensorFlow Lite does this once, not in every run.
        step.body.unpacked[step.targets[0]] = at
        return []
    return [step.out("UniformDequantize", step.x())]


@row("QUANTIZE")
def _quantized(step: Step) -> Tensor:
    again = step.body.stored(step.inputs[0]).is_quantized
    return step.out("UniformRequantize" if again else "UniformQuantize", step.x())


@row("RESHAPE")
def _reshaped(step: Step) -> Tensor:
    return step.out("Reshape", step.x(), step.x(1) if step.has(1) else step.options.numbers(0))


# --- subgraphs and variables ---


@row("STABLEHLO_CASE")
def _case(step: Step) -> Tensor:
    numbers = step.options.numbers(0)
    for number in numbers:
        step.function(number)
    names = [{"name": function_name(number)} for number in numbers]
    return step.out("Case", *step.values(), branches=attribute(list={"func": names}))


@row("VAR_HANDLE")
def _variable(step: Step) -> Tensor:
    key = step.options.text(0), step.options.text(1)
    at = step.body.values_of.get(step.targets[0])
    stored = step.body.stored(at) if at is not None else None
    of = (stored.type, stored.shape) if stored else (1, None)
    name = step.body.prefix + clean(key[1] or "variable")
    return Tensor(step.body.variable(key, name, *of))


@row("ASSIGN_VARIABLE")
def _assign(step: Step) -> Tensor:
    handle, value = step.inputs
    stored = step.body.stored(value)
    # The first value of a variable is not a second one.
    is_new = value not in step.body.refs and stored.data is not None
    x = step.op("Const", dtype=stored.type, shapes=[stored.shape]) if is_new else step.value(value)
    return step.op("AssignVariableOp", step.value(handle), x)
