"""The 32-layer CIFAR-10 ResNet of the tfprof tutorials, for TensorFlow 1 graphs.

Images come in on the left; every stop on the way is a name scope:

    queue ─► init ─► unit_1_0 … 4 ─► unit_2_0 … 4 ─► unit_3_0 … 4 ─► unit_last ─► pool_logit ─► cost
             conv    32x32x16        16x16x32        8x8x64          norm, mean   64 to 10

A unit is two 3x3 convolutions around which its input is carried unchanged. Where a group halves
the image and doubles the filters, the carried input is averaged and padded with zeros instead of
projected, so a shortcut never owns a parameter: 464,154 trainable ones in all.

Variables are reference variables (``VariableV2``), as they were when the tutorials were written.
No data set is needed: a class of image is the angle of its stripes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import tensorflow.compat.v1 as tf

Tensor = Any  # TensorFlow ships no types; a name still tells tensors from numbers.

BATCH_SIZE = 128
IMAGE_SIZE = 32
CHANNELS = 3
CLASSES = 10
FILTERS = (16, 32, 64)
UNITS_PER_GROUP = 5
KERNEL = 3

LEARNING_RATE = 0.1
MOMENTUM = 0.9
WEIGHT_DECAY = 0.0002
MOVING_AVERAGE_DECAY = 0.9
EPSILON = 0.001


@dataclass(frozen=True)
class Model:
    """The ends of the graph that a session runs: fill the queue, then train on a batch of it."""

    fill_queue: Tensor
    train: Tensor
    cost: Tensor


def build() -> Model:
    """The whole training graph, added to the default graph."""
    step = tf.train.get_or_create_global_step()
    queue, fill_queue = _image_queue()
    images, labels = queue.dequeue_many(BATCH_SIZE)

    averages: list[Tensor] = []
    logits = _network(images, averages)
    cost = _cost(logits, labels)
    return Model(fill_queue, _training(cost, step, averages), cost)


def _image_queue() -> tuple[Any, Tensor]:
    """A shuffling queue of single examples, and the op that adds a batch to it."""
    images, labels = _striped_images()
    queue = tf.queue.RandomShuffleQueue(
        capacity=4 * BATCH_SIZE,
        min_after_dequeue=BATCH_SIZE,
        dtypes=[images.dtype, labels.dtype],
        shapes=[images.shape[1:], labels.shape[1:]],
    )
    return queue, queue.enqueue_many([images, labels])


def _striped_images() -> tuple[Tensor, Tensor]:
    """A batch of noisy stripes and the classes they stand for, new ones on each run."""
    with tf.name_scope("stripes"):
        labels = tf.random.uniform([BATCH_SIZE], maxval=CLASSES, dtype=tf.int32)
        angle = tf.reshape(tf.cast(labels, tf.float32) * (math.pi / CLASSES), [-1, 1, 1, 1])
        along = tf.reshape(tf.range(IMAGE_SIZE, dtype=tf.float32), [1, 1, IMAGE_SIZE, 1])
        across = tf.reshape(along, [1, IMAGE_SIZE, 1, 1])
        waves = tf.sin(along * tf.cos(angle) + across * tf.sin(angle))
        noise = tf.random.normal([BATCH_SIZE, IMAGE_SIZE, IMAGE_SIZE, CHANNELS])
        return waves + noise, labels


def _network(images: Tensor, averages: list[Tensor]) -> Tensor:
    """The logits of a batch; the updates of the moving averages are added to *averages*."""
    with tf.variable_scope("init"):
        trunk = _convolution("init_conv", images, FILTERS[0], stride=1)

    for group, filters in enumerate(FILTERS, start=1):
        for position in range(UNITS_PER_GROUP):
            with tf.variable_scope(f"unit_{group}_{position}"):
                trunk = _residual_unit(
                    trunk,
                    filters,
                    stride=2 if group > 1 and position == 0 else 1,
                    # The first convolution ends without an activation, so both ways need one.
                    shares_activation=group == 1 and position == 0,
                    averages=averages,
                )

    with tf.variable_scope("unit_last"):
        trunk = tf.nn.relu(_batch_norm("final_bn", trunk, averages))
        features = tf.reduce_mean(trunk, [1, 2])
    with tf.variable_scope("pool_logit"):
        return _fully_connected(features, CLASSES)


def _residual_unit(
    trunk: Tensor, filters: int, *, stride: int, shares_activation: bool, averages: list[Tensor]
) -> Tensor:
    """The trunk plus what two convolutions make of it."""
    scope = "shared_activation" if shares_activation else "residual_only_activation"
    with tf.variable_scope(scope):
        residual = tf.nn.relu(_batch_norm("init_bn", trunk, averages))
    carried = residual if shares_activation else trunk

    with tf.variable_scope("sub1"):
        residual = _convolution("conv1", residual, filters, stride)
    with tf.variable_scope("sub2"):
        residual = tf.nn.relu(_batch_norm("bn2", residual, averages))
        residual = _convolution("conv2", residual, filters, stride=1)
    with tf.variable_scope("sub_add"):
        return residual + _shortcut(carried, filters, stride)


def _shortcut(trunk: Tensor, filters: int, stride: int) -> Tensor:
    """The trunk in the shape the residual has, without a parameter."""
    if stride > 1:
        trunk = tf.nn.avg_pool2d(trunk, stride, stride, "VALID")
    missing = filters - trunk.shape[-1]
    if missing:
        trunk = tf.pad(trunk, [[0, 0], [0, 0], [0, 0], [missing // 2, missing - missing // 2]])
    return trunk


def _convolution(name: str, inputs: Tensor, filters: int, stride: int) -> Tensor:
    with tf.variable_scope(name):
        spread = math.sqrt(2 / (KERNEL * KERNEL * filters))
        kernel = tf.get_variable(
            "DW",
            [KERNEL, KERNEL, inputs.shape[-1], filters],
            initializer=tf.random_normal_initializer(stddev=spread),
        )
        return tf.nn.conv2d(inputs, kernel, strides=stride, padding="SAME")


def _batch_norm(name: str, inputs: Tensor, averages: list[Tensor]) -> Tensor:
    """Normalised by the batch's own moments, which the moving ones then follow."""
    with tf.variable_scope(name):
        size = [inputs.shape[-1]]
        beta = tf.get_variable("beta", size, initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", size, initializer=tf.ones_initializer())
        moving_mean = tf.get_variable(
            "moving_mean", size, initializer=tf.zeros_initializer(), trainable=False
        )
        moving_variance = tf.get_variable(
            "moving_variance", size, initializer=tf.ones_initializer(), trainable=False
        )
        mean, variance = tf.nn.moments(inputs, [0, 1, 2], name="moments")
        averages.append(_follow(moving_mean, mean))
        averages.append(_follow(moving_variance, variance))
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, EPSILON)


def _follow(average: Tensor, value: Tensor) -> Tensor:
    """One step of a moving average; done by hand, as the library's keeps variables of its own."""
    with tf.name_scope("follow"):
        return tf.assign_sub(average, (average - value) * (1 - MOVING_AVERAGE_DECAY))


def _fully_connected(features: Tensor, classes: int) -> Tensor:
    weights = tf.get_variable(
        "DW",
        [features.shape[-1], classes],
        initializer=tf.variance_scaling_initializer(distribution="uniform"),
    )
    biases = tf.get_variable("biases", [classes], initializer=tf.zeros_initializer())
    return tf.nn.xw_plus_b(features, weights, biases)


def _cost(logits: Tensor, labels: Tensor) -> Tensor:
    with tf.name_scope("costs"):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        kernels = [v for v in tf.trainable_variables() if v.op.name.endswith("/DW")]
        decay = WEIGHT_DECAY * tf.add_n([tf.nn.l2_loss(kernel) for kernel in kernels])
        loss = tf.reduce_mean(losses, name="xent")
    return tf.add(loss, decay, name="cost")


def _training(cost: Tensor, step: Tensor, averages: list[Tensor]) -> Tensor:
    """One op for a whole training step."""
    optimizer = tf.train.MomentumOptimizer(LEARNING_RATE, MOMENTUM)
    # Not tf.gradients: a reference variable could be updated while another gradient still reads it.
    gradients = optimizer.compute_gradients(cost)
    descend = optimizer.apply_gradients(gradients, global_step=step)
    return tf.group(descend, *averages, name="train")
