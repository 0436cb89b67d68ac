"""Random graphs and what TensorFlow counts in them, in a process of its own.

    python flops_worker.py SEED GRAPHS   →  a line of JSON a graph:
        {"graph": base64 of the GraphDef with shapes, "flops": {node: number, or null}}

Every graph has each of the 46 operations. null is what TensorFlow says by ValueError: a shape is
open, or the data format is none that it counts.
"""

from __future__ import annotations

import base64
import json
import sys
import warnings
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf
from tensorflow.python.framework import ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RAW: Final = tf.raw_ops
V1: Final = tf.compat.v1
LAST, FIRST = "NHWC", "NCHW"
HUGE: Final = 2**21


class Draw:
    """Random shapes, and tensors that have them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the same graphs every time
        self._open = self.random.choice([0.0, 0.05, 0.2])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def dims(self, least: int = 0, most: int = 4) -> list[int]:
        rank = self.random.randint(least, most)
        return [0 if self.chance(0.03) else self.random.randint(1, 6) for _ in range(rank)]

    def sizes(self, count: int) -> list[int]:
        return [self.random.randint(1, 5) for _ in range(count)]

    def tensor(self, dims: Sequence[int], kind: Any = tf.float32) -> Any:
        """A tensor of this shape, as far as the graph knows; some are a second output.

        It waits for nothing: an operation does not wait for what its inputs waited for.
        """
        with V1.control_dependencies(None):
            return self._tensor(dims, kind)

    def _tensor(self, dims: Sequence[int], kind: Any) -> Any:
        if self.chance(self._open / 2):
            return V1.placeholder(kind, None)
        known = [None if self.chance(self._open) else dim for dim in dims]
        if dims and known[0] and self.chance(0.2):
            other = self.random.randint(1, 3)
            both = V1.placeholder(kind, [known[0] + other, *known[1:]])
            return tf.split(both, [other, dims[0]])[1]
        return V1.placeholder(kind, known)

    def partner(self, dims: Sequence[int]) -> list[int]:
        """A shape that can be broadcast to another."""
        cut = self.random.randint(0, len(dims)) if self.chance(0.3) else 0
        return [1 if self.chance(0.2) else dim for dim in dims[cut:]]

    def layout(self) -> str:
        return FIRST if self.chance(0.2) else LAST

    def spread(self, layout: str, down: int, right: int) -> list[int]:
        return [1, down, right, 1] if layout == LAST else [1, 1, down, right]

    def padding(self) -> str:
        return self.random.choice(["SAME", "VALID"])


def image(layout: str, batch: int, down: int, right: int, depth: int) -> list[int]:
    return [batch, down, right, depth] if layout == LAST else [batch, depth, down, right]


def one_input(draw: Draw, argument: str, op: str) -> None:
    getattr(RAW, op)(**{argument: draw.tensor(draw.dims())})


def softmax(draw: Draw) -> None:
    RAW.Softmax(logits=draw.tensor(draw.dims(1)))


def two_inputs(draw: Draw, op: str) -> None:
    dims = draw.dims()
    pair = [dims, draw.partner(dims)]
    draw.random.shuffle(pair)
    kind = draw.random.choice([tf.float32, tf.int64]) if op != "RealDiv" else tf.float32
    getattr(RAW, op)(x=draw.tensor(pair[0], kind), y=draw.tensor(pair[1], kind))


def rsqrt_grad(draw: Draw) -> None:
    dims = draw.dims()
    RAW.RsqrtGrad(y=draw.tensor(dims), dy=draw.tensor(dims))


def reduction(draw: Draw, op: str) -> None:
    dims = draw.dims(1)
    axes = draw.random.sample(range(len(dims)), draw.random.randint(0, len(dims)))
    axis = V1.placeholder(tf.int32, [len(axes)]) if draw.chance(0.1) else axes
    axis = tf.constant(axis, tf.int32) if axis is axes else axis
    getattr(RAW, op)(input=draw.tensor(dims), axis=axis, keep_dims=draw.chance(0.5))


def arg_reduction(draw: Draw, op: str) -> None:
    dims = draw.dims(1)
    getattr(RAW, op)(input=draw.tensor(dims), dimension=draw.random.randrange(len(dims)))


def assignment(draw: Draw, op: str) -> None:
    dims = draw.dims()
    shape = [max(dim, 1) for dim in dims]
    variable = V1.Variable(tf.zeros(shape), use_resource=False)
    {"AssignAdd": V1.assign_add, "AssignSub": V1.assign_sub}[op](variable, tf.zeros(shape))


def bias_add(draw: Draw) -> None:
    layout, sizes = draw.layout(), draw.sizes(4)
    value, bias = draw.tensor(image(layout, *sizes)), draw.tensor(sizes[-1:])
    RAW.BiasAdd(value=value, bias=bias, data_format=layout)


def bias_add_grad(draw: Draw) -> None:
    layout = draw.layout()
    RAW.BiasAddGrad(out_backprop=draw.tensor(draw.sizes(4)), data_format=layout)


def add_n(draw: Draw) -> None:
    dims = draw.dims()
    RAW.AddN(inputs=[draw.tensor(dims) for _ in range(draw.random.randint(1, 4))])


def sliding(draw: Draw, layout: str) -> dict[str, Any]:
    """How a window moves."""
    strides = draw.spread(layout, *draw.sizes(2))
    return {"strides": strides, "padding": draw.padding(), "data_format": layout}


def pool(draw: Draw, op: str) -> None:
    layout = draw.layout()
    batch, down, right, depth = draw.sizes(4)
    high, wide = draw.sizes(2)
    value = draw.tensor(image(layout, batch, down + 5, right + 5, depth))
    getattr(RAW, op)(
        **{"value" if op == "AvgPool" else "input": value},
        ksize=draw.spread(layout, high, wide),
        **sliding(draw, layout),
    )


def avg_pool_grad(draw: Draw) -> None:
    layout = draw.layout()
    RAW.AvgPoolGrad(
        orig_input_shape=draw.sizes(4),
        grad=draw.tensor(draw.sizes(4)),
        ksize=draw.spread(layout, *draw.sizes(2)),
        **sliding(draw, layout),
    )


def max_pool_grad(draw: Draw) -> None:
    layout, result = draw.layout(), draw.sizes(4)
    RAW.MaxPoolGrad(
        orig_input=draw.tensor(draw.sizes(4)),
        orig_output=draw.tensor(result),
        grad=draw.tensor(result),
        ksize=draw.spread(layout, *draw.sizes(2)),
        **sliding(draw, layout),
    )


def conv_2d(draw: Draw) -> None:
    layout, groups = draw.layout(), draw.random.choice([1, 1, 2])
    batch, down, right, depth, more = draw.sizes(5)
    high, wide = draw.sizes(2)
    stretch = draw.spread(layout, *draw.sizes(2)) if draw.chance(0.3) else [1, 1, 1, 1]
    RAW.Conv2D(
        input=draw.tensor(image(layout, batch, down + 30, right + 30, depth * groups)),
        filter=draw.tensor([high, wide, depth, more * groups]),
        **sliding(draw, layout),
        dilations=stretch,
    )


def conv_3d(draw: Draw) -> None:
    batch, depth, more = draw.sizes(3)
    RAW.Conv3D(
        input=draw.tensor([batch, 6, 7, 8, depth]),
        filter=draw.tensor([*draw.sizes(3), depth, more]),
        strides=[1, *draw.sizes(3), 1],
        padding=draw.padding(),
    )


def depthwise(draw: Draw) -> None:
    layout = draw.layout()
    batch, depth, more = draw.sizes(3)
    stride = draw.random.randint(1, 3)
    RAW.DepthwiseConv2dNative(
        input=draw.tensor(image(layout, batch, 8, 9, depth)),
        filter=draw.tensor([*draw.sizes(2), depth, more]),
        strides=draw.spread(layout, stride, stride),
        padding=draw.padding(),
        data_format=layout,
    )


def dilation_2d(draw: Draw) -> None:
    batch, depth = draw.sizes(2)
    RAW.Dilation2D(
        input=draw.tensor([batch, 8, 9, depth]),
        filter=draw.tensor([*draw.sizes(2), depth]),
        strides=[1, *draw.sizes(2), 1],
        rates=[1, 1, 1, 1],
        padding=draw.padding(),
    )


def conv_backprop(draw: Draw, op: str) -> None:
    layout = draw.layout()
    batch, down, right, depth, more = draw.sizes(5)
    taken, weights = image(layout, batch, down + 4, right + 4, depth), [*draw.sizes(2), depth, more]
    sizes = taken if op.endswith("Input") else weights
    given = {
        "Conv2DBackpropInput": {"filter": draw.tensor(weights), "input_sizes": sizes},
        "Conv2DBackpropFilter": {"input": draw.tensor(taken), "filter_sizes": sizes},
    }[op]
    if draw.chance(0.1):
        name = "input_sizes" if op.endswith("Input") else "filter_sizes"
        given[name] = V1.placeholder(tf.int32, [4])
    getattr(RAW, op)(
        **given,
        out_backprop=draw.tensor(image(layout, batch, down, right, more)),
        **sliding(draw, layout),
    )


def mat_mul(draw: Draw) -> None:
    rows, inner, columns = [0 if draw.chance(0.05) else size for size in draw.sizes(3)]
    left, right = draw.chance(0.4), draw.chance(0.4)
    RAW.MatMul(
        a=draw.tensor([inner, rows] if left else [rows, inner]),
        b=draw.tensor([columns, inner] if right else [inner, columns]),
        transpose_a=left,
        transpose_b=right,
    )


def batch_mat_mul(draw: Draw, op: str) -> None:
    rows, inner, columns = draw.sizes(3)
    left, right = draw.chance(0.4), draw.chance(0.4)
    batch = draw.dims(0, 2)
    others = batch if op == "BatchMatMul" else draw.partner(batch)
    getattr(RAW, op)(
        x=draw.tensor([*batch, *([inner, rows] if left else [rows, inner])]),
        y=draw.tensor([*others, *([columns, inner] if right else [inner, columns])]),
        adj_x=left,
        adj_y=right,
        **({"Tout": tf.float32} if op == "BatchMatMulV3" else {}),
    )


def one_row(kind: Any, *names: str) -> dict[str, Callable[[Draw], None]]:
    """The same builder for several operations."""
    return {name: partial(kind, op=name) for name in names}


BUILDERS: Final[dict[str, Callable[[Draw], None]]] = {
    **one_row(partial(one_input, argument="x"), "Reciprocal", "Square", "Log", "Neg", "Rsqrt"),
    **one_row(partial(one_input, argument="t"), "L2Loss"),
    **one_row(two_inputs, "Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"),
    **one_row(two_inputs, "GreaterEqual", "Greater", "LessEqual", "Less", "Equal", "NotEqual"),
    **one_row(two_inputs, "SquaredDifference"),
    **one_row(reduction, "Sum", "Mean"),
    **one_row(arg_reduction, "ArgMax", "ArgMin"),
    **one_row(assignment, "AssignAdd", "AssignSub"),
    **one_row(pool, "AvgPool", "MaxPool"),
    **one_row(conv_backprop, "Conv2DBackpropInput", "Conv2DBackpropFilter"),
    **one_row(batch_mat_mul, "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"),
    "Softmax": softmax,
    "RsqrtGrad": rsqrt_grad,
    "BiasAdd": bias_add,
    "BiasAddGrad": bias_add_grad,
    "AddN": add_n,
    "AvgPoolGrad": avg_pool_grad,
    "MaxPoolGrad": max_pool_grad,
    "Conv2D": conv_2d,
    "Conv3D": conv_3d,
    "DepthwiseConv2dNative": depthwise,
    "Dilation2D": dilation_2d,
    "MatMul": mat_mul,
}


def build(draw: Draw) -> None:
    """Each operation once, in the default graph; some wait for others."""
    names = list(BUILDERS)
    draw.random.shuffle(names)
    for name in names:
        made = V1.get_default_graph().get_operations()
        waits = draw.random.sample(made, min(len(made), 2)) if draw.chance(0.3) else []
        with V1.control_dependencies(waits):
            BUILDERS[name](draw)


def build_huge(_: Draw) -> None:
    """Numbers beyond 64 bits."""
    side = V1.placeholder(tf.float32, [HUGE, HUGE])
    RAW.MatMul(a=side, b=side)
    many = V1.placeholder(tf.float32, [3, HUGE, HUGE])
    RAW.BatchMatMulV2(x=many, y=many)
    RAW.Conv2D(
        input=V1.placeholder(tf.float32, [HUGE, 2**10, 2**10, 2**10]),
        filter=V1.placeholder(tf.float32, [3, 3, 2**10, 2**15]),
        strides=[1, 1, 1, 1],
        padding="SAME",
    )


def answer(build_with: Callable[[Draw], None], seed: int) -> str:
    """The line about one graph."""
    graph = tf.Graph()
    with graph.as_default():
        build_with(Draw(seed))
    flops: dict[str, int | None] = {}
    for op in graph.get_operations():
        try:
            value = ops.get_stats_for_node_def(graph, op.node_def, "flops").value
        except ValueError:
            flops[op.name] = None
            continue
        if value is not None:
            flops[op.name] = int(value)
    encoded = base64.b64encode(graph.as_graph_def(add_shapes=True).SerializeToString())
    return json.dumps({"graph": encoded.decode(), "flops": flops})


def main() -> None:
    """Answer for a number of graphs, the last of them huge."""
    warnings.simplefilter("ignore", RuntimeWarning)  # what says that a product wrapped around
    first, graphs = map(int, sys.argv[1:])
    for seed in range(first, first + graphs):
        print(answer(build, seed))
    print(answer(build_huge, 0))


if __name__ == "__main__":
    main()
