"""Recurrent kernels: the matrix product of all gates, and the steps of each unit.

    LSTM   [x, h] · w    2 · batch · (inputs + units) · 4 · units
           each unit     4 biases; 3 sigmoids of 4, 2 tanh, 3 for the state, 1 for the output: 22
    GRU    [x, h] · w    2 · batch · (inputs + units) · 3 · units
           each unit     3 biases; 2 sigmoids of 4, tanh, 5 to mix the old and the new: 17

A gradient has such a product for the inputs and another for the weights, where it computes both.
"""

from __future__ import annotations

from typing import Final

from tfprof.ops.op import Op, size
from tfprof.ops.shape import MaybeShape, either, of_rank, split, times
from tfprof.ops.table import float_ops, shape

LSTM: Final = "cell_clip forget_bias use_peephole"
CUDNN: Final = "rnn_mode input_mode direction num_proj"
GATES: Final = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}
# Steps of each unit besides the biases, forward and backward.
FORWARD: Final = {"lstm": 18, "gru": 14, "rnn_relu": 1, "rnn_tanh": 1}
BACK: Final = {"lstm": 22, "gru": 18, "rnn_relu": 2, "rnn_tanh": 3}
PEEPHOLES, PEEPHOLES_BACK = 6, 12
# One step of a batch.
float_ops("LSTMBlockCell", attributes=LSTM, contraction=True)(
    lambda op: _lstm(op, weights=3, clips=3.0)
)
# All steps of a batch, as many as the input has room for.
float_ops("BlockLSTM", attributes=LSTM, contraction=True)(
    lambda op: op.input(1)[0] * _lstm(op, weights=4, clips=3.0)
)
# The same; nothing is added to the forget gate.
float_ops("BlockLSTMV2", attributes=LSTM, contraction=True)(
    lambda op: op.input(1)[0] * _lstm(op, weights=4, clips=0.0, forgets=0.0)
)


def _lstm(op: Op, weights: int, clips: float, forgets: float = 1.0) -> int:
    """One step; *weights* is the input that has them, the others are defaults of attributes."""
    inputs, gates = op.input(weights)
    batch, units = op.input(weights - 1)
    each = GATES["lstm"] + FORWARD["lstm"] + PEEPHOLES * bool(op.attr("use_peephole"))
    each += bool(op.attr("forget_bias", forgets) != 0)  # a sum
    each += 2 * bool(op.attr("cell_clip", clips) > 0)  # maximum, minimum
    return batch * (2 * inputs * gates + each * units)


# The gradients of gates and state; those of weights and inputs are other operations.
float_ops("LSTMBlockCellGrad", attributes="use_peephole")(
    lambda op: _lstm_grad(op, units=size(op.input(1)))
)


@float_ops("BlockLSTMGrad{,V2}", attributes="use_peephole", contraction=True)
def block_lstm_grad(op: Op) -> int:
    """The gradients of everything, for all steps."""
    steps, batch = op.input(1)[:2]
    states = steps * size(op.input(2))
    products = 2 * 2 * steps * batch * size(op.input(4))
    return products + GATES["lstm"] * states + _lstm_grad(op, states)


def _lstm_grad(op: Op, units: int) -> int:
    return (BACK["lstm"] + PEEPHOLES_BACK * bool(op.attr("use_peephole"))) * units


# One step of a batch.
float_ops("GRUBlockCell", contraction=True)(
    lambda op: _gru_product(op) + (GATES["gru"] + FORWARD["gru"]) * size(op.input(1))
)
# The gradients of gates, state and inputs, which are the sum of two products.
float_ops("GRUBlockCellGrad", contraction=True)(
    lambda op: _gru_product(op) + BACK["gru"] * size(op.input(1)) + size(op.input(0))
)


def _gru_product(op: Op) -> int:
    return 2 * op.input(0)[0] * (size(op.input(2)) + size(op.input(3)))


@float_ops("CudnnRNN{,Backprop}{,V2,V3}", attributes=CUDNN, contraction=True)
def cudnn(op: Op) -> int:
    """All layers, directions and steps, with two biases per gate; a gradient has two products."""
    products, units, mode = _cudnn(op)
    back = "Backprop" in op.type
    return (1 + back) * products + (2 * GATES[mode] + (BACK if back else FORWARD)[mode]) * units


def _cudnn(op: Op) -> tuple[int, int, str]:
    """(float operations of the products, units in all layers and steps, kind of unit).

    The state is [layers · directions, batch, outputs]; with a projection the units are more than
    the outputs, and the other state of an LSTM has their number. A layer that skips its input has
    no weights for it.
    """
    mode = op.attr("rnn_mode", "lstm")
    directions = 2 if op.attr("direction") == "bidirectional" else 1
    first, second, inputs = op.input(0)
    cells, _, outputs = op.input(1)
    projects = bool(op.attr("num_proj"))
    units = op.input(2)[-1] if projects else outputs
    from_below = 0 if op.attr("input_mode") == "skip_input" else inputs
    weights = directions * GATES[mode] * units * (from_below + outputs)
    weights += (cells - directions) * GATES[mode] * units * (directions * outputs + outputs)
    weights += cells * units * outputs if projects else 0
    steps = first * second
    return 2 * steps * weights, steps * cells * units, mode


# --- shapes ---

# Input gate, state, forget gate, output gate, candidate, its tanh, output.
shape("LSTMBlockCell")(
    lambda op: [(either(op.ranked(0, 2)[0], op.ranked(1, 2)[0]), op.ranked(1, 2)[1])] * 7
)
# The same per step; the bias has four numbers per unit.
shape("BlockLSTM{,V2}")(
    lambda op: [(*op.ranked(1, 3)[:2], split(op.ranked(8, 1)[0], GATES["lstm"]))] * 7
)


@shape("LSTMBlockCellGrad")
def lstm_cell_grad_shapes(op: Op) -> list[MaybeShape]:
    """The gradients of the state, of all gates, and of three peepholes."""
    (batch, _), (_, units) = op.ranked(0, 2), op.ranked(1, 2)
    return [(batch, units), (batch, times(GATES["lstm"], units)), *[(units,)] * 3]


# The gradients of the inputs but the first: sequence, state, weights, peepholes, bias.
shape("BlockLSTMGrad{,V2}")(lambda op: [*map(op.ranked, range(1, 9), (3, 2, 2, 2, 1, 1, 1, 1))])
# Reset gate, update gate, candidate, output.
shape("GRUBlockCell")(lambda op: [(op.ranked(0, 2)[0], op.ranked(1, 2)[1])] * 4)


@shape("GRUBlockCellGrad")
def gru_cell_grad_shapes(op: Op) -> list[MaybeShape]:
    """The gradients of input, state, candidate, and both gates in one."""
    inputs, state, gates = (op.ranked(number, 2) for number in range(3))
    return [inputs, (inputs[0], state[1]), (inputs[0], state[1]), (inputs[0], gates[1])]


@shape("CudnnRNN{,V2,V3}")
def cudnn_shapes(op: Op) -> list[MaybeShape]:
    """The sequence, both states, and scratch memory; the second state is for an LSTM only."""
    sequence, state = op.ranked(0, 3), op.shape(1)
    directions = 2 if op.attr("direction") == "bidirectional" else 1
    width = times(directions, of_rank(state, 3)[2])
    second = op.shape(2) if op.type.endswith("V3") else state
    if op.attr("rnn_mode", "lstm") != "lstm":
        second = ()
    scratch: list[MaybeShape] = [None] if op.type == "CudnnRNN" else [None, None]
    return [(*sequence[:2], width), state, second, *scratch]


# The gradients of the first four inputs.
shape("CudnnRNNBackprop{,V2,V3}")(lambda op: op.shapes()[:4])
