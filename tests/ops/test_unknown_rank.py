"""Behind an input of unknown rank, our rules say what TensorFlow says: ranks, and known sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tfprof.ops.engine import SHAPE, Engine
from tfprof.read import Source, load
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from forked import Forked
    from tfprof.ops.shape import MaybeShape

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default() as graph:
    x = v1.placeholder(tf.float32, None, name="x")
    ids = v1.placeholder(tf.int32, None, name="ids")
    weights = tf.constant(np.ones((8, 4), np.float32))
    kernel = tf.constant(np.ones((3, 3, 2, 5), np.float32))

    flat = tf.reshape(x, [-1, 8])
    tf.nn.softmax(tf.nn.bias_add(flat @ weights, tf.ones(4)))
    tf.reshape(x, [2, 8]) @ weights
    x @ weights
    tf.matmul(x, x, transpose_a=True)
    tf.nn.bias_add(x, tf.ones(4))

    image = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), tf.ones(5)))
    tf.reshape(tf.nn.max_pool2d(image, 2, 2, "VALID"), [-1, 5])
    tf.reduce_mean(image, [1, 2])
    tf.nn.conv2d(x, kernel, 1, "VALID", data_format="NCHW")
    tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME")
    tf.nn.conv3d(x, tf.ones((2, 2, 2, 3, 7)), [1] * 5, "SAME")
    v1.nn.fused_batch_norm(x, tf.ones(6), tf.ones(6))
    tf.image.resize(tf.ensure_shape(x, [None, None, None, 3]), [7, 9])
    tf.nn.avg_pool2d(x, 2, 2, "SAME")

    checked = tf.ensure_shape(x, [None, 5, None])
    checked[:, 0], checked[..., tf.newaxis], tf.transpose(checked, [2, 0, 1])
    tf.reduce_sum(checked, -1), tf.reduce_sum(checked, -1, keepdims=True)
    tf.split(checked, 5, 1), tf.unstack(checked, axis=1), tf.tile(checked, [1, 2, 1])
    tf.pad(checked, [[0, 0], [1, 1], [2, 2]]), tf.concat([checked, checked], 1)
    tf.stack([checked, x]), tf.expand_dims(checked, 1), tf.one_hot(tf.argmax(checked, 1), 7)
    tf.where(checked > 0, checked, x), tf.maximum(checked, 0.0), checked + x
    tf.linalg.matmul(checked, checked, transpose_b=True), tf.einsum("bij,jk->bik", x, weights)
    tf.gather(weights, ids), tf.gather(weights, tf.ensure_shape(ids, [None, 3]))
    tf.transpose(x, [1, 0]), tf.pad(x, [[1, 1], [0, 0]]), tf.tile(x, [2, 2]), tf.slice(x, [0], [3])
    tf.broadcast_to(x, [4, 5]), tf.fill(tf.shape(x), 1.0), tf.rank(x), tf.size(x), tf.shape(x)
    tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=flat, labels=ids)
    tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=flat, labels=x)
    tf.ensure_shape(tf.numpy_function(lambda a: a, [x], tf.float32), [None, 3]) @ tf.ones((3, 2))
    tf.nn.top_k(x, 3), tf.where(x > 0), tf.range(tf.size(x)), tf.cumsum(x)
    tf.nn.conv2d(x, v1.placeholder(tf.float32, None), 1, "SAME")
    tf.random.categorical(x, 3), tf.math.in_top_k(ids, flat, 2), tf.image.rgb_to_hsv(checked)
    tf.raw_ops.MatrixSolve(matrix=x, rhs=tf.ones((3, 5, 2))), tf.linalg.inv(checked)
    tf.raw_ops.BatchMatMul(x=x, y=tf.ones((3, 5, 2))), tf.math.invert_permutation(ids)
    tf.raw_ops.SpaceToBatch(input=x, paddings=[[0, 0], [0, 0]], block_size=2)
    tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), tf.nn.space_to_depth(x, 2)
sys.stdout.buffer.write(graph.as_graph_def(add_shapes=True).SerializeToString())
"""


@pytest.fixture(scope="module")
def graph(tensorflow: Forked) -> Any:
    ran = tensorflow(PROGRAM)
    assert ran.code == 0, ran.told
    read: Any = message("tensorflow.GraphDef")()
    read.ParseFromString(ran.out)
    return read


def test_every_node_has_the_shapes_that_tensorflow_infers(graph: Any) -> None:
    theirs = {
        node.name: [
            None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
            for shape in node.attr["_output_shapes"].list.shape
        ]
        for node in graph.node
    }
    ours = inferred(graph)
    types = {node.name: node.op for node in graph.node}
    wrong = {
        (name, types[name]): (ours[name], shapes)
        for name, shapes in theirs.items()
        if [*ours[name], *[None] * (len(shapes) - len(ours[name]))] != shapes
    }
    assert wrong == {}
    assert sum(shapes == [None] for shapes in theirs.values()) < len(theirs) / 4


def inferred(graph: Any) -> dict[str, list[MaybeShape]]:
    bare = type(graph)()
    bare.CopyFrom(graph)
    for node in bare.node:
        node.attr.pop("_output_shapes", None)
    profile = load(Source("bare", np.frombuffer(bare.SerializeToString(), np.uint8)))
    settled = Engine(profile, {}).settle(SHAPE, range(len(graph.node)))
    names = [*profile.nodes.name.texts()][: len(settled)]
    return dict(zip(names, settled, strict=True))
