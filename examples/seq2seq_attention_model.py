"""A sequence-to-sequence model with attention, split over parameter servers and worker devices.

    /job:ps/task:0        encoder, attention
    /job:ps/task:1        embedding, decoder, softmax: about twice the parameters
    /job:worker/task:0    cpu:0 … 3, a tower each: a share of the batch from words to outputs;
                          the losses of all towers are on cpu:0

Variables are reference variables (``VariableV2``); conditionals are ``Switch`` and ``Merge``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow.compat.v1 as tf

import seq2seq_lib

if TYPE_CHECKING:
    from collections.abc import Callable

Tensor = Any  # TensorFlow ships no types; a name still tells tensors from numbers.


@dataclass(frozen=True)
class HParams:
    """The sizes of the model and how it learns."""

    vocabulary: int = 400
    embedding: int = 24
    hidden: int = 24
    steps: int = 2
    batch_size: int = 64
    towers: int = 4
    softmax_samples: int = 64
    learning_rate: float = 0.02
    min_learning_rate: float = 0.0001
    max_gradient_norm: float = 2.0


@dataclass(frozen=True)
class Batch:
    """What one training step is fed with: arrays of batch by steps, and a length per article."""

    articles: Any
    article_lengths: Any
    abstracts: Any
    targets: Any
    loss_weights: Any


def worker_device(index: int) -> str:
    """The name of one of the worker's devices."""
    return f"/job:worker/replica:0/task:0/device:CPU:{index}"


def on_parameter_server(task: int) -> Callable[..., Any]:
    """A getter for variable scopes that keeps their variables on one parameter server."""

    def place(getter: Callable[..., Any], *args: Any, **options: Any) -> Any:
        with tf.device(f"/job:ps/replica:0/task:{task}/device:CPU:0"):
            return getter(*args, **options)

    return place


class Seq2SeqAttentionModel:
    """The training graph: `build_graph` adds it to the default graph."""

    def __init__(self, hps: HParams) -> None:
        self._hps = hps
        self._losses: list[Tensor] = []

    def build_graph(self) -> None:
        """Placeholders, the towers one after the other, then a training step over all of them."""
        self._add_placeholders()
        for tower in range(self._hps.towers):
            self._add_seq2seq(tower)
        with tf.device("/job:ps/replica:0/task:0/device:CPU:0"):
            self.global_step = tf.train.get_or_create_global_step()
        self._add_train_op()
        with tf.device(worker_device(0)):
            self.summaries = tf.summary.merge_all()

    def feed(self, batch: Batch) -> dict[Tensor, Any]:
        """What to feed to run a step on a batch."""
        return {
            self._articles: batch.articles,
            self._article_lengths: batch.article_lengths,
            self._abstracts: batch.abstracts,
            self._targets: batch.targets,
            self._loss_weights: batch.loss_weights,
        }

    def _add_placeholders(self) -> None:
        batch_size, steps = self._hps.batch_size, self._hps.steps
        with tf.device(worker_device(0)):
            self._articles = tf.placeholder(tf.int32, [batch_size, steps], "articles")
            self._article_lengths = tf.placeholder(tf.int32, [batch_size], "article_lengths")
            self._abstracts = tf.placeholder(tf.int32, [batch_size, steps], "abstracts")
            self._targets = tf.placeholder(tf.int32, [batch_size, steps], "targets")
            self._loss_weights = tf.placeholder(tf.float32, [batch_size, steps], "loss_weights")

    def _add_seq2seq(self, tower: int) -> None:
        """One tower, on a device of its own; the variables are those of the first."""
        hps = self._hps
        share = hps.batch_size // hps.towers
        examples = slice(tower * share, (tower + 1) * share)

        with (
            tf.variable_scope("seq2seq", reuse=tf.AUTO_REUSE),
            tf.name_scope(f"tower_{tower}/"),
            tf.device(worker_device(tower)),
        ):
            encoder_words = tf.unstack(self._articles[examples], axis=1)
            decoder_words = tf.unstack(self._abstracts[examples], axis=1)
            targets = tf.unstack(self._targets[examples], axis=1)
            loss_weights = tf.unstack(self._loss_weights[examples], axis=1)
            article_lengths = self._article_lengths[examples]

            with tf.variable_scope("embedding", custom_getter=on_parameter_server(1)):
                embedding = tf.get_variable("embedding", [hps.vocabulary, hps.embedding])
                encoder_inputs = [tf.nn.embedding_lookup(embedding, x) for x in encoder_words]
                decoder_inputs = [tf.nn.embedding_lookup(embedding, x) for x in decoder_words]

            with tf.variable_scope("encoder", custom_getter=on_parameter_server(0)):
                encoder_outputs, state_fw, state_bw = seq2seq_lib.bidirectional_rnn(
                    seq2seq_lib.LSTMCell("cell_fw", hps.embedding, hps.hidden),
                    seq2seq_lib.LSTMCell("cell_bw", hps.embedding, hps.hidden),
                    encoder_inputs,
                    sequence_length=article_lengths,
                )
                both_ways = zip(state_fw, state_bw, strict=True)
                memory, output = (tf.concat(ways, axis=1) for ways in both_ways)
                initial_state = seq2seq_lib.LSTMState(
                    seq2seq_lib.linear("last_memory", memory, hps.hidden),
                    seq2seq_lib.linear("last_output", output, hps.hidden),
                )
                encoder_states = tf.stack(encoder_outputs, axis=1)
                attention = seq2seq_lib.Attention("attention", encoder_states, hps.hidden)

            with tf.variable_scope("decoder", custom_getter=on_parameter_server(1)):
                cell = seq2seq_lib.LSTMCell("cell", hps.hidden, hps.hidden)
                decoder_outputs = seq2seq_lib.attention_decoder(
                    cell, decoder_inputs, initial_state, attention
                )

            # On one device for all towers, so that profiles show what that costs.
            with (
                tf.variable_scope("softmax", custom_getter=on_parameter_server(1)),
                tf.device(worker_device(0)),
            ):
                w = tf.get_variable("w", [hps.hidden, hps.vocabulary])
                w_t = tf.transpose(w)
                v = tf.get_variable("v", [hps.vocabulary], initializer=tf.zeros_initializer())

                def sampled_loss_func(inputs: Tensor, labels: Tensor) -> Tensor:
                    labels = tf.reshape(labels, [-1, 1])
                    return tf.nn.sampled_softmax_loss(
                        weights=w_t,
                        biases=v,
                        labels=labels,
                        inputs=inputs,
                        num_sampled=hps.softmax_samples,
                        num_classes=hps.vocabulary,
                    )

                loss = seq2seq_lib.sampled_sequence_loss(
                    decoder_outputs, targets, loss_weights, sampled_loss_func
                )
                self._losses.append(loss)

    def _add_train_op(self) -> None:
        """Gradients where the tower is that they come from, updates where the variables are."""
        hps = self._hps
        with tf.device(worker_device(0)):
            self.loss = tf.add_n(self._losses, name="loss") / hps.towers
            tf.summary.scalar("loss", self.loss)

            tvars = tf.trainable_variables()
            grads, global_norm = tf.clip_by_global_norm(
                tf.gradients(self.loss, tvars, colocate_gradients_with_ops=True),
                hps.max_gradient_norm,
            )
            tf.summary.scalar("global_norm", global_norm)

            learning_rate = tf.maximum(
                hps.min_learning_rate,
                tf.train.exponential_decay(hps.learning_rate, self.global_step, 100, 0.98),
            )
            tf.summary.scalar("learning_rate", learning_rate)

            optimizer = tf.train.AdamOptimizer(learning_rate)
            self.train_op = optimizer.apply_gradients(
                zip(grads, tvars, strict=True), global_step=self.global_step, name="train_step"
            )
