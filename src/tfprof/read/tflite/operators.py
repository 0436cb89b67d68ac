"""Operators as operations of TensorFlow: a line of operators.txt, or a row here.

    ADD AddV2 +0                 field 0 of its options is a fused activation
    GATHER GatherV2 <0           field 0 becomes an input behind the others
    MEAN Mean keep_dims?0        … an attribute: = integer, ? boolean, ~ float, * list
    PACK Pack N                  an attribute: the number of inputs

Weights are as TensorFlow has them:

    CONV_2D            [out, height, width, in]     Conv2D          [height, width, in, out]
    DEPTHWISE_CONV_2D  [1, height, width, out]      Depthwise…      [height, width, in, times]
    TRANSPOSE_CONV     [out, height, width, in]     …BackpropInput  [height, width, out, in]
    FULLY_CONNECTED    [out, in]                    MatMul with transpose_b

What has neither a line nor a row, or not the inputs that it needs, is one node of its name, whose
float operations are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tfprof.read.keras.graph import Unexpandable
from tfprof.read.tflite.graph import Step, attribute, function_name
from tfprof.read.tflite.model import FLEX

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.read.keras.graph import Operand, Tensor

Row: TypeAlias = "Callable[[Step], Tensor | list[Tensor]]"
ROWS: Final[dict[str, Row]] = {}
_PADDING: Final = ("SAME", "VALID")
_MATRIX: Final = 2


def row(*names: str) -> Callable[[Row], Row]:
    """Make the function below the row of these operators."""

    def decorate(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return decorate


def expand(step: Step) -> list[Tensor]:
    """The outputs of an operator; raises Unexpandable and the like."""
    from tfprof.read.tflite import recurrent  # noqa: F401, PLC0415 - adds its rows

    name, kind, words = step.row
    outputs = ROWS[name](step) if name in ROWS else _line(step, kind or name, words)
    return outputs if isinstance(outputs, list) else [outputs]


def _line(step: Step, kind: str, words: tuple[str, ...]) -> Tensor:
    inputs: list[Operand] = [*step.values()]
    attributes: dict[str, Any] = {}
    if step.row.name.startswith(FLEX):
        attributes.update(step.flex())
        if not attributes:
            raise Unexpandable
    activation = -1
    for word in words:
        if word == "N":
            attributes["N"] = len(inputs)
        elif word[0] == "<":
            inputs.append(step.number(int(word[1:])))
        elif word[0] == "+":
            activation = int(word[1:])
        else:
            key, sign = word.rstrip("0123456789")[:-1], word.rstrip("0123456789")[-1]
            read: Any = {"=": step.number, "?": step.flag, "~": step.real, "*": step.numbers}[sign]
            attributes[key] = read(int(word[len(key) + 1 :]))
    y = step.out(kind, *inputs, **attributes)
    return step.activated(y, activation) if activation >= 0 else y


# --- products ---


def _window(step: Step, *fields: int, dilations: tuple[int, ...] = ()) -> dict[str, Any]:
    strides = [step.number(field) for field in fields]
    rates = [step.number(field, 1) for field in dilations] or [1] * len(strides)
    return {
        "strides": [1, *strides, 1],
        "dilations": [1, *rates, 1],
        "padding": _PADDING[step.small(0)],
        "data_format": "NHWC" if len(strides) == _MATRIX else "NDHWC",
    }


@row("CONV_2D")
def _conv(step: Step) -> Tensor:
    out, *sides, depth = step.dims(1)
    kernel = step.weight(1, "kernel", (*sides, depth, out))
    y = step.out("Conv2D", step.x(), kernel, **_window(step, 2, 1, dilations=(5, 4)))
    return step.activated(step.biased(y, 2), 3)


@row("DEPTHWISE_CONV_2D")
def _depthwise(step: Step) -> Tensor:
    _, *sides, out = step.dims(1)
    depth = step.dims(0)[-1]
    depth = out // max(step.number(3, 1), 1) if depth < 1 else depth
    kernel = step.weight(1, "depthwise_kernel", (*sides, depth, out // depth))
    window = _window(step, 2, 1, dilations=(6, 5))
    y = step.out("DepthwiseConv2dNative", step.x(), kernel, **window)
    return step.activated(step.biased(y, 2), 4)


@row("TRANSPOSE_CONV")
def _transposed(step: Step) -> Tensor:
    out, *sides, depth = step.dims(1)
    kernel = step.weight(1, "kernel", (*sides, out, depth))
    y = step.out("Conv2DBackpropInput", step.x(0), kernel, step.x(2), **_window(step, 2, 1))
    return step.activated(step.biased(y, 3), 3)


@row("CONV_3D")
def _conv_3d(step: Step) -> Tensor:
    window = _window(step, 1, 3, 2, dilations=(5, 7, 6))
    y = step.out("Conv3D", step.x(), step.weight(1, "kernel"), **window)
    return step.activated(step.biased(y, 2), 4)


@row("CONV_3D_TRANSPOSE")
def _transposed_3d(step: Step) -> Tensor:
    window = _window(step, 1, 3, 2, dilations=(5, 7, 6))
    inputs = step.x(0), step.weight(1, "kernel"), step.x(2)
    y = step.out("Conv3DBackpropInputV2", *inputs, **window)
    return step.activated(step.biased(y, 3), 4)


@row("FULLY_CONNECTED")
def _fully_connected(step: Step) -> Tensor:
    x, kernel = step.x(), step.weight(1, "kernel")
    if len(step.dims(0)) != _MATRIX and step.flag(2):
        y = step.out("BatchMatMulV2", x, kernel, adj_y=True)
    else:
        if len(step.dims(0)) != _MATRIX:
            x = step.op("Reshape", x, [-1, step.dims(1)[-1]])
        y = step.out("MatMul", x, kernel, transpose_b=True)
    return step.activated(step.biased(y, 2), 0)


@row("EMBEDDING_LOOKUP")
def _embedding(step: Step) -> Tensor:
    return step.out("GatherV2", step.weight(1, "embeddings"), step.x(0), 0)


# --- pooling and normalization ---


def _pooled(step: Step, kind: str, x: Tensor) -> Tensor:
    sides = [1, step.number(4), step.number(3), 1]
    window = {key: value for key, value in _window(step, 2, 1).items() if key != "dilations"}
    return step.out(kind, x, ksize=sides, **window)


@row("AVERAGE_POOL_2D")
def _average(step: Step) -> Tensor:
    return step.activated(_pooled(step, "AvgPool", step.x()), 5)


@row("MAX_POOL_2D")
def _most(step: Step) -> Tensor:
    return step.activated(_pooled(step, "MaxPool", step.x()), 5)


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
    return step.named(step.row.name.lower(), step.x())


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
    sizes = step.x(1) if step.has(1) else step.numbers(0)
    return step.out("Reshape", step.x(), sizes)


# --- subgraphs and variables ---


@row("IF")
def _if(step: Step) -> Tensor:
    then, other = step.function(step.number(0)), step.function(step.number(1))
    return step.out("If", *step.values(), then_branch=then, else_branch=other)


@row("WHILE", "STABLEHLO_WHILE")
def _while(step: Step) -> Tensor:
    condition, body = step.function(step.number(0)), step.function(step.number(1))
    return step.out("While", *step.values(), cond=condition, body=body)


@row("STABLEHLO_CASE")
def _case(step: Step) -> Tensor:
    numbers = step.numbers(0)
    for number in numbers:
        step.function(number)
    names = [{"name": function_name(number)} for number in numbers]
    return step.out("Case", *step.values(), branches=attribute(list={"func": names}))


@row("CALL")
def _call(step: Step) -> Tensor:
    return step.out("PartitionedCall", *step.values(), f=step.function(step.number(0)))


@row("STABLEHLO_COMPOSITE")
def _composite(step: Step) -> Tensor:
    return step.out("PartitionedCall", *step.values(), f=step.function(step.number(1)))


@row("CALL_ONCE")
def _once(step: Step) -> Tensor:
    call = step.out("StatefulPartitionedCall", f=step.function(step.number(0)))
    step.body.effects.append(call.name)
    return call


@row("VAR_HANDLE")
def _variable(step: Step) -> Tensor:
    return step.variable(step.text(0), step.text(1))


@row("ASSIGN_VARIABLE")
def _assign(step: Step) -> Tensor:
    handle, value = step.inputs
    stored = step.body.stored(value)
    # The first value of a variable is not a second one.
    is_new = value not in step.body.refs and stored.data is not None
    x = step.op("Const", dtype=stored.type, shapes=[stored.shape]) if is_new else step.value(value)
    assign = step.out("AssignVariableOp", step.value(handle), x)
    step.body.effects.append(assign.name)
    return assign
