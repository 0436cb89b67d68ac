"""What a sequence-to-sequence model is put together from: a cell, ways to unroll it, losses.

    words ─► bidirectional_rnn ─► a state per word ─┐
                                                    ├─► attention_decoder ─► an output per word
    words of the answer ────────────────────────────┘

A sequence is a Python list with one tensor per time step, so every step has nodes of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

Tensor = Any  # TensorFlow ships no types; a name still tells tensors from numbers.
LossFunction = Callable[[Tensor, Tensor], Tensor]


class LSTMState(NamedTuple):
    """What an LSTM remembers from step to step."""

    memory: Tensor
    output: Tensor


class LSTMCell:
    """A long short-term memory; its parameters are made, or found again, when it is."""

    def __init__(self, scope: str, inputs_size: int, size: int) -> None:
        self.size = size
        with tf.variable_scope(scope):
            kernel = tf.get_variable("kernel", [inputs_size + size, 4 * size])
            bias = tf.get_variable("bias", [4 * size], initializer=tf.zeros_initializer())
            # Fetched once, to where the cell computes, instead of in each step.
            self._kernel = tf.identity(kernel)
            self._bias = tf.identity(bias)

    def __call__(self, inputs: Tensor, state: LSTMState) -> LSTMState:
        """One step. The output is part of the state."""
        gates = tf.nn.xw_plus_b(
            tf.concat([inputs, state.output], axis=1), self._kernel, self._bias, name="gates"
        )
        write, candidate, keep, read = tf.split(gates, 4, axis=1)
        kept = tf.sigmoid(keep + 1.0) * state.memory
        memory = kept + tf.sigmoid(write) * tf.tanh(candidate)
        return LSTMState(memory, tf.sigmoid(read) * tf.tanh(memory))

    def zero_state(self, batch_size: int) -> LSTMState:
        """The state before the first step."""
        zeros = tf.zeros([batch_size, self.size])
        return LSTMState(zeros, zeros)


def linear(scope: str, inputs: Tensor, size: int) -> Tensor:
    """A fully connected layer without an activation."""
    with tf.variable_scope(scope):
        weights = tf.get_variable("weights", [inputs.shape[-1], size])
        biases = tf.get_variable("biases", [size], initializer=tf.zeros_initializer())
        return tf.nn.xw_plus_b(inputs, weights, biases)


def static_rnn(
    cell: LSTMCell, inputs: list[Tensor], sequence_length: Tensor
) -> tuple[list[Tensor], LSTMState]:
    """The output of each step and the last state; steps past all the sequences are not run."""
    state = cell.zero_state(inputs[0].shape[0])
    outputs = []
    for time, step_inputs in enumerate(inputs):
        output, state = _rnn_step(cell, step_inputs, state, time < sequence_length)
        outputs.append(output)
    return outputs, state


def _rnn_step(
    cell: LSTMCell, inputs: Tensor, state: LSTMState, goes_on: Tensor
) -> tuple[Tensor, LSTMState]:
    """A step for the sequences that go on; the others keep their state and put out zeros."""
    zeros = tf.zeros_like(state.output)

    def run() -> tuple[Tensor, LSTMState]:
        new = cell(inputs, state)
        updated = tf.broadcast_to(tf.expand_dims(goes_on, 1), zeros.shape)
        memory = tf.where(updated, new.memory, state.memory)
        output = tf.where(updated, new.output, state.output)
        return tf.where(updated, new.output, zeros), LSTMState(memory, output)

    def skip() -> tuple[Tensor, LSTMState]:
        return zeros, state

    output, new_state = tf.cond(tf.reduce_any(goes_on), run, skip)
    return output, new_state


def bidirectional_rnn(
    cell_fw: LSTMCell, cell_bw: LSTMCell, inputs: list[Tensor], sequence_length: Tensor
) -> tuple[list[Tensor], LSTMState, LSTMState]:
    """Each step seen from both ends, and the last states of both ways."""
    with tf.name_scope("fw"):
        outputs_fw, state_fw = static_rnn(cell_fw, inputs, sequence_length)
    with tf.name_scope("bw"):
        reversed_inputs = _reverse(inputs, sequence_length)
        outputs_bw, state_bw = static_rnn(cell_bw, reversed_inputs, sequence_length)
        outputs_bw = _reverse(outputs_bw, sequence_length)
    outputs = [
        tf.concat([forward, backward], axis=1)
        for forward, backward in zip(outputs_fw, outputs_bw, strict=True)
    ]
    return outputs, state_fw, state_bw


def _reverse(steps: list[Tensor], sequence_length: Tensor) -> list[Tensor]:
    """Each sequence backwards, what follows its end left in place."""
    stacked = tf.stack(steps)
    backwards = tf.reverse_sequence(stacked, sequence_length, seq_axis=0, batch_axis=1)
    return list(tf.unstack(backwards))


class Attention:
    """Looks at the states of an encoder (batch, time, size), at those that fit a query most."""

    def __init__(self, scope: str, states: Tensor, size: int) -> None:
        batch, times, states_size = states.shape
        self.zeros = tf.zeros([batch, states_size])
        self._states = states
        with tf.variable_scope(scope):
            self._score = tf.get_variable("score", [size])
            self._query = tf.get_variable("query", [size, size])
            keys = linear("keys", tf.reshape(states, [batch * times, states_size]), size)
            self._keys = tf.reshape(keys, [batch, times, size])

    def __call__(self, query: Tensor) -> Tensor:
        """The mean of the states, weighted by how well they fit."""
        with tf.name_scope("attention"):
            query = tf.expand_dims(tf.matmul(query, self._query), axis=1)
            fits = tf.reduce_sum(self._score * tf.tanh(self._keys + query), axis=2)
            weights = tf.expand_dims(tf.nn.softmax(fits), axis=2)
            return tf.reduce_sum(weights * self._states, axis=1)


def attention_decoder(
    cell: LSTMCell, inputs: list[Tensor], state: LSTMState, attention: Attention
) -> list[Tensor]:
    """An output per input, each made after a look at the encoder's states."""
    context = attention.zeros
    outputs = []
    for step_inputs in inputs:
        merged = linear("merge", tf.concat([step_inputs, context], axis=1), cell.size)
        state = cell(merged, state)
        context = attention(state.memory)
        outputs.append(linear("output", tf.concat([state.output, context], axis=1), cell.size))
    return outputs


def sequence_loss_by_example(
    inputs: list[Tensor], targets: list[Tensor], weights: list[Tensor], loss_function: LossFunction
) -> Tensor:
    """The loss of each example, averaged over the steps that have a weight."""
    log_perps = []
    for inp, target, weight in zip(inputs, targets, weights, strict=True):
        crossent = loss_function(inp, target)
        log_perps.append(crossent * weight)
    return tf.add_n(log_perps) / tf.add_n(weights)


def sampled_sequence_loss(
    inputs: list[Tensor], targets: list[Tensor], weights: list[Tensor], loss_function: LossFunction
) -> Tensor:
    """The loss of a batch; *inputs* are what comes before the softmax of each step."""
    with tf.name_scope("sampled_sequence_loss"):
        losses = sequence_loss_by_example(inputs, targets, weights, loss_function)
        return tf.reduce_mean(losses)
