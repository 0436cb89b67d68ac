"""Recurrent operators: all time steps at once, since each step computes the same.

    gate    activation(x · weights + h · recurrent weights + bias)
    LSTM    state = forget gate · state + input gate · candidate;  output gate · tanh(state)

Weights are [units, inputs]. The states of all steps are a tensor of the shape of the output. An
input of a place that is left out is -1, as the peepholes, the projection and, where it follows from
the forget gate, the input gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.read.keras.graph import Tensor, Unexpandable
from tfprof.read.tflite.flatbuffer import BOOL, FLOAT, INT8
from tfprof.read.tflite.step import row

if TYPE_CHECKING:
    from tfprof.read.tflite.step import Step

_GATES: Final = ("input", "forget", "cell", "output")


def _product(step: Step, x: Tensor, place: int, name: str) -> Tensor:
    """Rows times a matrix of weights."""
    return step.op("BatchMatMulV2", x, step.weight(place, name), adj_y=True)


def _states(step: Step, x: Tensor, units: int) -> Tensor:
    """The states of all steps."""
    if x.shape is None:
        raise Unexpandable
    shape = tuple(-1 if size is None else size for size in (*x.shape[:-1], units))
    return step.op("Const", shapes=[shape])


def _lstm(step: Step, x: Tensor, first: int, extra: int) -> Tensor:
    """An LSTM whose weights begin at input *first*, those of its second input at *extra*."""
    units, outputs = step.dims(first + 1)[0], step.dims(first + 5)[1]
    h, state = _states(step, x, outputs), _states(step, x, units)
    gates = {}
    for place, gate in enumerate(_GATES, first):
        if not step.has(place):
            continue
        y = _product(step, x, place, f"{gate}_kernel")
        y = step.op("AddV2", y, _product(step, h, place + 4, f"{gate}_recurrent_kernel"))
        if extra and step.has(extra + place - first):
            aux = _product(step, x, extra + place - first, f"{gate}_auxiliary_kernel")
            y = step.op("AddV2", y, aux)
        peephole = {"input": 8, "forget": 9, "output": 10}.get(gate, -1) + first
        if peephole >= first and step.has(peephole):
            weight = step.weight(peephole, f"{gate}_peephole")
            y = step.op("AddV2", y, step.op("Mul", state, weight))
        if step.has(place + 11):
            y = step.op("BiasAdd", y, step.weight(place + 11, f"{gate}_bias"))
        gates[gate] = step.op("Tanh" if gate == "cell" else "Sigmoid", y)
    # Without an input gate, it is what the forget gate leaves.
    i = gates.get("input") or step.op("Sub", 1.0, gates["forget"])
    new = step.op("Mul", i, gates["cell"])
    state = step.op("AddV2", step.op("Mul", gates["forget"], state), new)
    if step.options.number(1, FLOAT) > 0:
        state = step.op("Minimum", step.op("Maximum", state, 1.0), 1.0)
    y = step.op("Mul", gates["output"], step.op("Tanh", state))
    if step.has(first + 15):
        y = _product(step, y, first + 15, "projection_kernel")
        if step.has(first + 16):
            y = step.op("BiasAdd", y, step.weight(first + 16, "projection_bias"))
    return y


@row("UNIDIRECTIONAL_SEQUENCE_LSTM")
def _sequence_lstm(step: Step) -> Tensor:
    return _lstm(step, step.x(), 1, 0)


@row("LSTM")
def _one_lstm(step: Step) -> list[Tensor]:
    if step.options.number(3, INT8) != 1:
        return [_lstm(step, step.x(), 1, 0)]
    # Its basic form: one matrix for the inputs, the last output and all gates.
    both = step.op("ConcatV2", step.x(0), step.x(1), 1, N=2)
    gates = step.op("MatMul", both, step.weight(2, "kernel"), transpose_b=True)
    gates = step.op("BiasAdd", gates, step.weight(3, "bias"))
    split = step.op("Split", 1, gates, num_split=4)
    i, c, f, o = (Tensor(f"{split.name}:{at}" if at else split.name) for at in range(4))
    new = step.op("Mul", step.op("Sigmoid", i), step.op("Tanh", c))
    state = step.op("AddV2", step.op("Mul", step.op("Sigmoid", f), step.x(4)), new)
    y = step.op("Mul", step.op("Sigmoid", o), step.op("Tanh", state))
    return [y, state, both, gates]


@row("BIDIRECTIONAL_SEQUENCE_LSTM")
def _both_lstms(step: Step) -> list[Tensor]:
    forward, backward = _lstm(step, step.x(), 1, 40), _lstm(step, step.x(), 18, 44)
    if not step.options.number(3, BOOL):
        return [forward, backward]
    return [step.out("ConcatV2", forward, backward, -1, N=2)]


def _rnn(step: Step, x: Tensor, first: int, field: int, extra: int = 0) -> Tensor:
    """A layer whose weights begin at input *first*; *field* is the option of its activation."""
    h = _states(step, x, step.dims(first)[0])
    y = _product(step, x, first, "kernel")
    y = step.op("AddV2", y, _product(step, h, first + 1, "recurrent_kernel"))
    if extra and step.has(extra):
        y = step.op("AddV2", y, _product(step, x, extra, "auxiliary_kernel"))
    return step.activated(step.op("BiasAdd", y, step.weight(first + 2, "bias")), field)


@row("RNN")
def _one_rnn(step: Step) -> Tensor:
    return _rnn(step, step.x(), 1, 0)


@row("UNIDIRECTIONAL_SEQUENCE_RNN")
def _sequence_rnn(step: Step) -> Tensor:
    return _rnn(step, step.x(), 1, 1)


@row("BIDIRECTIONAL_SEQUENCE_RNN")
def _both_rnns(step: Step) -> list[Tensor]:
    forward, backward = _rnn(step, step.x(), 1, 1, 10), _rnn(step, step.x(), 5, 1, 11)
    if not step.options.number(2, BOOL):
        return [forward, backward]
    return [step.out("ConcatV2", forward, backward, -1, N=2)]


@row("SVDF")
def _svdf(step: Step) -> Tensor:
    """Filters over the inputs, then over time, summed by unit."""
    rank = max(step.options.number(0), 1)
    filters, memory = step.dims(2)
    features = step.op("MatMul", step.x(), step.weight(1, "feature_kernel"), transpose_b=True)
    before = step.op("Const", shapes=[(*step.dims(0)[:1], filters, memory - 1)])
    past = step.op("ConcatV2", before, step.op("ExpandDims", features, 2), 2, N=2)
    products = step.op("Mul", past, step.weight(2, "time_kernel"))
    y = step.op("Sum", products, [2], keep_dims=False)
    if rank > 1:
        y = step.op("Reshape", y, [-1, filters // rank, rank])
        y = step.op("Sum", y, [2], keep_dims=False)
    return step.activated(step.biased(y, 3), 1)
