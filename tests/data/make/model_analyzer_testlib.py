"""The model of model_analyzer_test.py, in the parts that the README of 2017 shows."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def BuildSmallModel() -> Any:  # noqa: N802 - as the README calls it
    """Two convolutions over a batch of zeros."""
    image = tf.zeros([2, 6, 6, 3])
    kernel = tf.get_variable("DW", [3, 3, 3, 6], initializer=tf.random_normal_initializer(0.001))
    x = tf.nn.conv2d(image, kernel, [1, 2, 2, 1], padding="SAME")
    kernel = tf.get_variable("DW2", [2, 2, 6, 12], initializer=tf.random_normal_initializer(0.001))
    return tf.nn.conv2d(x, kernel, [1, 2, 2, 1], padding="SAME")


def BuildFullModel() -> Any:  # noqa: N802 - likewise
    """The small model at four times, read by a recurrent cell, and one step of training."""
    seq = []
    for number in range(4):
        with tf.variable_scope(f"inp_{number}"):
            seq.append(tf.reshape(BuildSmallModel(), [2, 1, -1]))
    state = tf.zeros([2, 16])
    for x in tf.unstack(tf.concat(seq, axis=1), axis=1):
        state = _cell(tf.concat([x, state], axis=1))
    loss = tf.nn.l2_loss(tf.reduce_mean(state - tf.random_normal([2, 16])))
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def _cell(inputs: Any) -> Any:
    with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
        weights = tf.get_variable("weights", [inputs.shape[1], 16])
        return tf.tanh(tf.matmul(inputs, weights))
