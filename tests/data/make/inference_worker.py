"""Graphs of many operations, with the shapes that TensorFlow infers, in a process of its own.

python inference_worker.py FOLDER   →  FOLDER/NAME.pb, a GraphDef without shapes, and
                                       FOLDER/NAME.json, {node: [shape or null of each output]}
With a seed behind it, other dimensions are left open, and there are no models of Keras.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

RAW: Final = tf.raw_ops
V1: Final = tf.compat.v1
BINARY: Final = """
AddV2 Sub Mul RealDiv Maximum Minimum Pow SquaredDifference Atan2 DivNoNan FloorDiv FloorMod Less
LessEqual Greater GreaterEqual Equal NotEqual Xlogy Xdivy MulNoNan
"""
UNARY: Final = """
Abs Acos Asin Atan Ceil Cos Cosh Digamma Erf Erfc Exp Expm1 Floor Inv Log Log1p Neg Reciprocal Rint
Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh IsNan Lgamma ZerosLike OnesLike BesselI0e
Ndtri
"""


def written(folder: str, name: str, graph: Any) -> None:
    """A graph and what it knows of its shapes."""
    shapes = {
        op.name: [
            None if output.shape.rank is None else
            [-1 if dim is None else dim for dim in output.shape.as_list()]
            for output in op.outputs
        ]
        for op in graph.get_operations()
    }  # fmt: skip
    Path(folder, f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString())
    Path(folder, f"{name}.json").write_text(json.dumps(shapes))


class Leaving:
    """Which dimensions of inputs are left open."""

    share = 0.0
    random = Random()  # noqa: S311 - the same graphs every time


def given(*dims: int, kind: Any = tf.float32) -> Any:
    """An input of this shape, of which something may be left open."""
    if dims and Leaving.random.random() < Leaving.share / 4:
        return V1.placeholder(kind, None)
    left = [None if Leaving.random.random() < Leaving.share else dim for dim in dims]
    return V1.placeholder(kind, left)


def elementwise() -> None:
    x, y, b = given(2, 3, 4), given(3, 1), given(2, 3, 4, kind=tf.bool)
    row, one = given(4), given()
    for name in BINARY.split():
        for other in (y, row, one, x):
            getattr(RAW, name)(x=x, y=other)
            getattr(RAW, name)(x=other, y=x)
    for name in UNARY.split():
        getattr(RAW, name)(x=x)
    for name in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"):
        getattr(RAW, name)(features=x)
        if name not in ("Elu", "Selu"):
            getattr(RAW, f"{name}Grad")(gradients=x, features=x)
    RAW.SigmoidGrad(y=x, dy=x)
    RAW.TanhGrad(y=x, dy=x)
    RAW.Softmax(logits=x)
    RAW.LogSoftmax(logits=x)
    RAW.LogicalAnd(x=b, y=b)
    RAW.LogicalNot(x=b)
    RAW.SelectV2(condition=given(3, 1, kind=tf.bool), t=x, e=row)
    RAW.Select(condition=b, x=x, y=x)
    RAW.AddN(inputs=[x, x, x])
    RAW.Cast(x=x, DstT=tf.int32)
    RAW.IdentityN(input=[x, y, one])
    RAW.BiasAdd(value=given(2, 3, 4, 5), bias=given(5))
    RAW.Cumsum(x=x, axis=1)
    RAW.CheckNumerics(tensor=x, message="")
    RAW.L2Loss(t=x)
    RAW.Bitcast(input=x, type=tf.int32)
    RAW.ReverseV2(tensor=x, axis=[0])
    RAW.Roll(input=x, shift=[1], axis=[0])


def contractions() -> None:
    for a, b in ((False, False), (True, False), (False, True), (True, True)):
        rows, columns = (5, 4) if a else (4, 5), (6, 5) if b else (5, 6)
        RAW.MatMul(a=given(*rows), b=given(*columns), transpose_a=a, transpose_b=b)
        left, right = given(2, 1, *rows), given(3, *columns)
        RAW.BatchMatMulV2(x=left, y=right, adj_x=a, adj_y=b)
        RAW.BatchMatMulV3(x=left, y=right, Tout=tf.float32, adj_x=a, adj_y=b)
    for equation, *shapes in (
        ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
        ("abc,cde->abde", (2, 3, 4), (4, 5, 6)),
        ("...ij,...jk->...ik", (7, 1, 2, 3), (5, 3, 4)),
        ("ii->i", (3, 3)),
        ("ij->", (3, 4)),
        ("ij,jk", (3, 4), (4, 5)),
        ("i...->...", (2, 3, 4)),
    ):
        if "->" in equation:
            RAW.Einsum(inputs=[given(*shape) for shape in shapes], equation=equation)
        else:
            tf.einsum(equation, *(given(*shape) for shape in shapes))


def convolutions() -> None:
    image, weights = given(2, 17, 23, 6), given(3, 4, 6, 8)
    for padding in ("SAME", "VALID"):
        for stride in (1, 2, 3):
            for dilation in (1, 2):
                if stride > 1 < dilation:
                    continue
                strides, dilations = [1, stride, stride, 1], [1, dilation, dilation, 1]
                RAW.Conv2D(input=image, filter=weights, strides=strides, padding=padding,
                           dilations=dilations)  # fmt: skip
                RAW.DepthwiseConv2dNative(input=image, filter=given(3, 4, 6, 2), strides=strides,
                                          padding=padding, dilations=dilations)  # fmt: skip
            ksize, strides = [1, 3, 2, 1], [1, stride, stride, 1]
            RAW.MaxPool(input=image, ksize=ksize, strides=strides, padding=padding)
            RAW.AvgPool(value=image, ksize=ksize, strides=strides, padding=padding)
            RAW.MaxPoolV2(input=image, ksize=ksize, strides=strides, padding=padding)
            RAW.MaxPoolWithArgmax(input=image, ksize=ksize, strides=strides, padding=padding)
            RAW.MaxPool3D(input=given(2, 5, 6, 7, 3), ksize=[1, 2, 2, 2, 1],
                          strides=[1, stride, stride, stride, 1], padding=padding)  # fmt: skip
            RAW.Conv3D(input=given(2, 9, 8, 7, 3), filter=given(2, 3, 2, 3, 4),
                       strides=[1, stride, stride, stride, 1], padding=padding)  # fmt: skip
        RAW.Dilation2D(input=image, filter=given(3, 3, 6), strides=[1, 2, 1, 1],
                       rates=[1, 1, 2, 1], padding=padding)  # fmt: skip
    RAW.Conv2D(input=image, filter=weights, strides=[1, 2, 2, 1], padding="EXPLICIT",
               explicit_paddings=[0, 0, 1, 2, 3, 4, 0, 0])  # fmt: skip
    RAW.Conv2D(input=given(2, 6, 17, 23), filter=weights, strides=[1, 1, 2, 3], padding="SAME",
               data_format="NCHW")  # fmt: skip
    RAW.Conv2D(input=image, filter=given(3, 3, 3, 8), strides=[1, 1, 1, 1], padding="SAME")
    tf.nn.conv1d(given(2, 20, 3), given(5, 3, 7), 2, "VALID")
    tf.nn.conv1d(given(2, 20, 3), given(5, 3, 7), 1, "SAME", dilations=3)
    tf.nn.conv2d(image, given(3, 3, 6, 8), 1, "SAME", dilations=2)
    tf.nn.conv2d_transpose(given(2, 9, 9, 8), weights, [2, 17, 17, 6], 2, "SAME")
    shape = tf.shape(given(2, 9, 9, 8))
    sizes = tf.stack([shape[0], shape[1] * 2, shape[2] * 2 - 1, 6])
    RAW.Conv2DBackpropInput(input_sizes=sizes, filter=weights, out_backprop=given(2, 9, 9, 8),
                            strides=[1, 2, 2, 1], padding="SAME")  # fmt: skip
    RAW.Conv2DBackpropFilter(input=image, filter_sizes=[3, 4, 6, 8],
                             out_backprop=given(2, 17, 23, 8), strides=[1, 1, 1, 1],
                             padding="SAME")  # fmt: skip
    RAW.AvgPoolGrad(orig_input_shape=[2, 17, 23, 6], grad=given(2, 8, 11, 6), ksize=[1, 2, 2, 1],
                    strides=[1, 2, 2, 1], padding="VALID")  # fmt: skip


def arrays() -> None:
    x = given(2, 3, 4)
    RAW.Reshape(tensor=x, shape=[6, 4])
    RAW.Reshape(tensor=x, shape=[-1, 3, 2])
    tf.reshape(given(2, 3, 8), tf.concat([tf.shape(x)[:2], [2, -1]], 0))
    tf.reshape(x, [tf.shape(x)[0], tf.reduce_prod(tf.shape(x)[1:])])
    tf.reshape(x, tf.shape(given(4, 6)))
    wide = given(1, 2, 1, 3, 1)
    RAW.Squeeze(input=wide)
    RAW.Squeeze(input=wide, axis=[0, -1])
    for axis in (0, 1, -1, -2):
        RAW.ExpandDims(input=x, axis=axis)
        RAW.Pack(values=[x, x, x], axis=axis)
        RAW.Unpack(value=x, num=(2, 3, 4)[axis], axis=axis)
        RAW.Split(axis=axis, value=given(4, 4, 4), num_split=2)
        RAW.ArgMax(input=x, dimension=axis)
        if axis > -2:  # TensorFlow has no other below 0
            places = given(2, 3, kind=tf.int32)
            RAW.OneHot(indices=places, depth=7, on_value=1.0, off_value=0.0, axis=axis)
        other = [2, 3, 4]
        other[axis] = 9
        RAW.ConcatV2(values=[x, given(*other)], axis=axis)
        RAW.GatherV2(params=x, indices=given(5, 6, kind=tf.int32), axis=axis)


def gathered() -> None:
    x = given(2, 3, 4)
    RAW.SplitV(value=given(9, 4), size_splits=[2, -1, 3], axis=0, num_split=3)
    RAW.Transpose(x=x, perm=[2, 0, 1])
    RAW.Tile(input=x, multiples=[1, 5, 2])
    RAW.BroadcastTo(input=given(3, 1), shape=[2, 3, 4])
    RAW.Fill(dims=[3, 4], value=1.0)
    RAW.Fill(dims=tf.shape(x), value=1.0)
    RAW.Range(start=0, limit=10, delta=3)
    RAW.Range(start=0.0, limit=1.0, delta=0.25)
    RAW.Range(start=10, limit=0, delta=-3)
    tf.range(tf.shape(x)[1])
    RAW.LinSpace(start=0.0, stop=1.0, num=5)
    RAW.Shape(input=x)
    RAW.ShapeN(input=[x, given(3, 1)])
    RAW.Size(input=x)
    RAW.Rank(input=x)
    RAW.TopKV2(input=x, k=2)
    RAW.GatherNd(params=x, indices=given(7, 2, kind=tf.int32))
    tf.gather(given(2, 5, 3), given(2, 4, kind=tf.int32), axis=1, batch_dims=1)
    RAW.Slice(input=x, begin=[0, 1, 2], size=[-1, 2, 1])
    RAW.Slice(input=x, begin=[0, 1, 2], size=[2, -1, -1])
    RAW.Pad(input=x, paddings=[[0, 0], [1, 2], [3, 4]])
    RAW.PadV2(input=x, paddings=[[0, 0], [1, 2], [3, 4]], constant_values=1.0)
    RAW.MirrorPad(input=x, paddings=[[0, 0], [1, 2], [3, 3]], mode="REFLECT")
    RAW.InvertPermutation(x=[2, 0, 1])
    RAW.MatrixDiag(diagonal=x)
    RAW.MatrixDiagPart(input=given(2, 3, 5))
    RAW.MatrixBandPart(input=given(2, 3, 5), num_lower=-1, num_upper=0)
    RAW.Where(condition=given(3, 4, kind=tf.bool))
    RAW.Unique(x=given(9))
    RAW.ScatterNd(indices=given(3, 1, kind=tf.int32), updates=given(3, 4), shape=[7, 4])
    RAW.UnsortedSegmentSum(data=given(5, 4), segment_ids=given(5, kind=tf.int32), num_segments=3)
    RAW.TensorScatterUpdate(tensor=given(7, 4), indices=given(3, 1, kind=tf.int32),
                            updates=given(3, 4))  # fmt: skip
    RAW.DynamicStitch(indices=[[0, 2], [1]], data=[[5, 6], [7]])


def slices() -> None:
    x = given(5, 6, 7, 8)
    x[1], x[-1], x[1:3], x[::2], x[::-1], x[4:1:-1], x[:, 2], x[..., 3], x[1, ..., ::3]
    x[:, tf.newaxis], x[..., tf.newaxis], x[tf.newaxis, 1:, ..., 2], x[-3:-1], x[10:], x[:-10]
    x[0, 1, 2, 3], x[1:1], x[:, 1:, 2:-1, ::-3], x[tf.newaxis, ..., tf.newaxis, 1]
    tf.reshape(x, [-1, tf.shape(x)[-1]])
    tf.reshape(x, tf.concat([tf.shape(x)[:-2], [tf.shape(x)[-1] * tf.shape(x)[-2]]], 0))
    tf.zeros(tf.shape(x)[1:3])
    tf.zeros([tf.maximum(tf.shape(x)[0], 9), tf.shape(x)[1] // 4, tf.shape(x)[2] % 4])
    tf.zeros(tf.cast(tf.cast(tf.shape(x), tf.float32) / 2.0, tf.int32))
    tf.zeros(tf.gather(tf.shape(x), [2, 0]))
    tf.zeros(tf.unstack(tf.shape(x), 4)[1:])


def reductions() -> None:
    x = given(2, 3, 4)
    for name in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"):
        for axis in ([0], [1, 2], [-1], 1, [], [0, 1, 2]):
            for keep in (False, True):
                getattr(RAW, name)(input=x, axis=tf.constant(axis, tf.int32), keep_dims=keep)
    RAW.All(input=given(2, 3, kind=tf.bool), axis=[0])
    RAW.BiasAddGrad(out_backprop=given(2, 3, 4, 5))
    RAW.BiasAddGrad(out_backprop=given(2, 3, 4, 5), data_format="NCHW")
    RAW.SoftmaxCrossEntropyWithLogits(features=given(3, 4), labels=given(3, 4))
    RAW.SparseSoftmaxCrossEntropyWithLogits(features=given(3, 4), labels=given(3, kind=tf.int32))
    tf.reduce_mean(V1.placeholder(tf.float32, (2, None, 4)))


def images() -> None:
    image, channel = given(2, 8, 12, 5), given(5)
    for training in (True, False):
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
            getattr(RAW, name)(x=image, scale=channel, offset=channel, mean=channel,
                               variance=channel, is_training=training)  # fmt: skip
    RAW.FusedBatchNormGradV3(y_backprop=image, x=image, scale=channel, reserve_space_1=channel,
                             reserve_space_2=channel, reserve_space_3=channel)  # fmt: skip
    RAW.LRN(input=image)
    for name in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"):
        getattr(RAW, name)(images=image, size=[16, 7])
    RAW.ResizeBilinear(images=image, size=tf.shape(image)[1:3] * 2)
    RAW.ResizeBilinearGrad(grads=given(2, 16, 7, 5), original_image=image)
    RAW.ResizeNearestNeighborGrad(grads=given(2, 16, 7, 5), size=[8, 12])
    RAW.CropAndResize(image=image, boxes=given(9, 4), box_ind=given(9, kind=tf.int32),
                      crop_size=[4, 6])  # fmt: skip
    RAW.SpaceToDepth(input=image, block_size=2)
    RAW.DepthToSpace(input=given(2, 3, 4, 12), block_size=2)
    RAW.SpaceToDepth(input=given(2, 3, 4, 6), block_size=2, data_format="NCHW")
    RAW.SpaceToBatchND(input=image, block_shape=[2, 3], paddings=[[1, 1], [0, 0]])
    RAW.BatchToSpaceND(input=given(12, 3, 4, 5), block_shape=[2, 3], crops=[[1, 0], [0, 2]])
    for name in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        getattr(RAW, name)(shape=[3, 4], dtype=tf.float32)
    RAW.RandomUniformInt(shape=tf.shape(image), minval=0, maxval=9)
    tf.random.stateless_uniform([3, 4], [1, 2])
    tf.random.stateless_normal(tf.shape(image), [1, 2])
    RAW.Multinomial(logits=given(3, 4), num_samples=7)


def variables() -> None:
    for shape in ((), (1,), (3, 4)):
        handle = RAW.VarHandleOp(dtype=tf.float32, shape=shape)
        RAW.AssignVariableOp(resource=handle, value=given(*shape))
        RAW.ReadVariableOp(resource=tf.identity(handle), dtype=tf.float32)
        RAW.VariableShape(input=handle)
        V1.get_variable(f"v{len(shape)}_{sum(shape)}", shape, use_resource=False).assign_add(
            given(*shape)
        )
    handle = RAW.VarHandleOp(dtype=tf.float32, shape=(9, 4))
    RAW.ResourceGather(resource=handle, indices=given(2, 3, kind=tf.int32), dtype=tf.float32)
    items = RAW.TensorListFromTensor(tensor=given(5, 2, 3), element_shape=[2, 3])
    RAW.TensorListGetItem(input_handle=items, index=1, element_shape=[2, 3],
                          element_dtype=tf.float32)  # fmt: skip
    RAW.TensorListStack(input_handle=items, element_shape=[2, 3], element_dtype=tf.float32,
                        num_elements=5)  # fmt: skip
    RAW.TensorListLength(input_handle=items)
    empty = RAW.EmptyTensorList(element_shape=[2, 3], max_num_elements=-1,
                                element_dtype=tf.float32)  # fmt: skip
    more = RAW.TensorListPushBack(input_handle=empty, tensor=given(2, 3))
    RAW.TensorListPopBack(input_handle=more, element_shape=[2, 3], element_dtype=tf.float32)
    some = RAW.TensorListReserve(element_shape=[2, 3], num_elements=4, element_dtype=tf.float32)
    RAW.TensorListSetItem(input_handle=some, index=0, item=given(2, 3))


def gradients() -> None:
    """A small network and how it learns, as a graph of the first TensorFlow has it."""
    image = given(8, 28, 28, 3)
    weights = V1.get_variable("conv", (3, 3, 3, 16), use_resource=False)
    scale = V1.get_variable("scale", (16,), use_resource=True)
    dense = V1.get_variable("dense", (16, 10), use_resource=True)
    x = tf.nn.relu(tf.nn.conv2d(image, weights, 2, "SAME")) * scale
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.reduce_mean(x, [1, 2])
    x = tf.matmul(x, dense) + tf.reduce_sum(dense, 0, keepdims=True)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(given(8, kind=tf.int64), x)
    )
    V1.train.AdamOptimizer().minimize(loss)


def flows() -> None:
    """A loop and a choice as the first TensorFlow has them: cycles of single nodes."""
    x, weights = given(3, 4), V1.placeholder(tf.float32, (4, 4))
    V1.disable_control_flow_v2()
    V1.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.nn.relu(y @ weights)), [0, x + 1.0])
    V1.cond(tf.reduce_sum(x) > 0, lambda: x[:, :2] * 2.0, lambda: x[:, 2:] + 1.0)
    V1.enable_control_flow_v2()


BUILT: Final = (
    elementwise, contractions, convolutions, arrays, gathered, slices, reductions, images,
    variables, gradients, flows,
)  # fmt: skip
FROZEN: Final = {"MobileNetV2": (1, 96, 96, 3), "ResNet50": (2, 64, 64, 3)}


def frozen(name: str) -> Any:
    """The graph of a model that Keras ships, its variables made constants."""
    shape = FROZEN[name]
    model = getattr(tf.keras.applications, name)(weights=None, input_shape=shape[1:])
    function = tf.function(lambda image: model(image, training=False))
    traced = function.get_concrete_function(tf.TensorSpec(shape))
    return convert_variables_to_constants_v2(traced).graph


def main(folder: str, seed: str = "") -> None:
    for share in (0.0, 0.1, 0.3):
        Leaving.share = share
        for build in BUILT:
            Leaving.random.seed(f"{build.__name__} {share} {seed}")
            with tf.Graph().as_default() as graph:
                build()
            written(folder, f"{build.__name__}-{share}", graph)
    for name in () if seed else FROZEN:
        written(folder, name, frozen(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
