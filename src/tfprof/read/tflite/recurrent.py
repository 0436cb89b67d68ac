"""Recurrent operators: all time steps at once, since each step computes the same.

    gate    activation(x · weights + h · recurrent weights + bias)
    LSTM    state = forget gate · state + input gate · candidate;  output gate · tanh(state)

Weights are [units, inputs]. The states of all steps are a tensor of the shape of the output.
Peepholes, a projection and the input gate may be left out. What has a second input, or all weights
in one matrix, is not expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.read.keras.graph import Unexpandable
from tfprof.read.tflite.flatbuffer import BOOL, FLOAT, INT8
from tfprof.read.tflite.step import row

if TYPE_CHECKING:
    from tfprof.read.keras.graph import Tensor
    from tfprof.read.tflite.step import Step

# The place of the peephole of each gate, behind that of the first weights.
_GATES: Final = {"input": 8, "forget": 9, "cell": -1, "output": 10}


def _product(step: Step, x: Tensor, place: int, name: str) -> Tensor:
    """Rows times a matrix of weights."""
    return step.op("BatchMatMulV2", x, step.weight(place, name), adj_y=True)


def _states(step: Step, units: int) -> Tensor:
    """The states of all steps."""
    return step.op("Const", shapes=[(*step.dims(0)[:-1], units)])


def _lstm(step: Step, first: int) -> Tensor:
    """An LSTM whose weights begin at input *first*."""
    x, gates = step.x(), {}
    h, state = _states(step, step.dims(first + 5)[1]), _states(step, step.dims(first + 1)[0])
    for place, (gate, peephole) in enumerate(_GATES.items(), first):
        if not step.has(place):
            continue
        y = _product(step, x, place, f"{gate}_kernel")
        y = step.op("AddV2", y, _product(step, h, place + 4, f"{gate}_recurrent_kernel"))
        if peephole > 0 and step.has(first + peephole):
            weight = step.weight(first + peephole, f"{gate}_peephole")
            y = step.op("AddV2", y, step.op("Mul", state, weight))
        if step.has(place + 11):
            y = step.op("BiasAdd", y, step.weight(place + 11, f"{gate}_bias"))
        gates[gate] = step.op("Tanh" if gate == "cell" else "Sigmoid", y)
    # Without an input gate, it is what the forget gate leaves.
    new = step.op("Mul", gates.get("input") or step.op("Sub", 1.0, gates["forget"]), gates["cell"])
    state = step.op("AddV2", step.op("Mul", gates["forget"], state), new)
    if step.options.number(1, FLOAT) > 0:
        state = step.op("Minimum", step.op("Maximum", state, 1.0), 1.0)
    y = step.op("Mul", gates["output"], step.op("Tanh", state))
    if step.has(first + 15):
        y = _product(step, y, first + 15, "projection_kernel")
    if step.has(first + 16):
        y = step.op("BiasAdd", y, step.weight(first + 16, "projection_bias"))
    return y


def _rnn(step: Step, first: int, field: int) -> Tensor:
    """A layer whose weights begin at input *first*; *field* is the option of its activation."""
    h = _states(step, step.dims(first)[0])
    y = _product(step, step.x(), first, "kernel")
    y = step.op("AddV2", y, _product(step, h, first + 1, "recurrent_kernel"))
    return step.activated(step.op("BiasAdd", y, step.weight(first + 2, "bias")), field)


def _joined(step: Step, forward: Tensor, backward: Tensor, field: int, second: int) -> list[Tensor]:
    """Both directions, in one output if an option says so; *second* is the place of an input."""
    if step.has(second):
        raise Unexpandable
    if not step.options.number(field, BOOL):
        return [forward, backward]
    return [step.out("ConcatV2", forward, backward, -1, N=2)]


row("UNIDIRECTIONAL_SEQUENCE_LSTM")(lambda step: _lstm(step, 1))
row("BIDIRECTIONAL_SEQUENCE_LSTM")(
    lambda step: _joined(step, _lstm(step, 1), _lstm(step, 18), 3, 39)
)
row("RNN")(lambda step: _rnn(step, 1, 0))
row("UNIDIRECTIONAL_SEQUENCE_RNN")(lambda step: _rnn(step, 1, 1))
row("BIDIRECTIONAL_SEQUENCE_RNN")(
    lambda step: _joined(step, _rnn(step, 1, 1), _rnn(step, 5, 1), 2, 9)
)


@row("LSTM")
def _one_lstm(step: Step) -> Tensor:
    if step.options.number(3, INT8):  # the basic form
        raise Unexpandable
    return _lstm(step, 1)


@row("SVDF")
def _svdf(step: Step) -> Tensor:
    """Filters over the inputs, then over time, summed by unit."""
    rank, (filters, memory) = max(step.options.number(0), 1), step.dims(2)
    features = step.op("MatMul", step.x(), step.weight(1, "feature_kernel"), transpose_b=True)
    before = step.op("Const", shapes=[(*step.dims(0)[:1], filters, memory - 1)])
    past = step.op("ConcatV2", before, step.op("ExpandDims", features, 2), 2, N=2)
    y = step.op("Sum", step.op("Mul", past, step.weight(2, "time_kernel")), [2], keep_dims=False)
    if rank > 1:
        y = step.op("Reshape", y, [-1, filters // rank, rank])
        y = step.op("Sum", y, [2], keep_dims=False)
    return step.activated(step.biased(y, 3), 1)
