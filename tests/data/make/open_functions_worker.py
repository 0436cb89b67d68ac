"""Functions of TensorFlow with open dimensions, in a process of its own.

python open_functions_worker.py FOLDER   →  see open_saving.py; open_functions_figures.py has
                                            what each costs

A builder gets a function that makes variables, and returns the function to save.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tensorflow as tf

import open_signals  # noqa: F401 - registers its models
from open_saving import Model, model, write

if TYPE_CHECKING:
    from collections.abc import Callable

    Weight = Callable[..., Any]

# --- lists and loops ---


@model("x B 24")
def mapped(weight: Weight) -> Any:
    w = weight(16, 24)
    return lambda x: tf.map_fn(lambda row: tf.linalg.matvec(w, row), x)


@model("x B T 6")
def mapped_to_pairs(weight: Weight) -> Any:
    w, v = weight(6, 5), weight(5, 4)

    def pair(rows: Any) -> Any:
        return rows @ w, tf.reduce_sum(rows @ w, 0)

    def call(x: Any) -> Any:
        spec = (tf.TensorSpec([None, 5]), tf.TensorSpec([5]))
        many, one = tf.map_fn(pair, x, fn_output_signature=spec)
        return tf.einsum("btf,fg->btg", many, v), one @ v

    return call


@model("x T 3 8")
def scanned(weight: Weight) -> Any:
    w, v = weight(8, 8), weight(8, 2)

    def call(x: Any) -> Any:
        states = tf.scan(lambda state, row: tf.tanh(state @ w + row), x, tf.zeros([3, 8]))
        return tf.einsum("tbf,fg->tbg", states, v)

    return call


@model("x B T 8")
def scanned_over_time(weight: Weight) -> Any:
    w = weight(8, 8)

    def call(x: Any) -> Any:
        steps = tf.transpose(x, [1, 0, 2])
        states = tf.scan(
            lambda state, row: tf.tanh(state @ w + row), steps, tf.zeros_like(steps[0])
        )
        return tf.matmul(tf.transpose(states, [1, 0, 2]), states[-1][:, :, None])

    return call


@model("x B 6")
def vectorized(weight: Weight) -> Any:
    w = weight(6, 9)
    return lambda x: tf.vectorized_map(lambda row: tf.linalg.matvec(w, row, transpose_a=True), x)


@model("x T 5")
def folded(weight: Weight) -> Any:
    w = weight(5, 5)
    return lambda x: tf.foldl(lambda state, row: tf.linalg.matvec(w, state) + row, x, tf.zeros([5]))


@model("x B T 6")
def written_and_stacked(weight: Weight) -> Any:
    w, v = weight(6, 4), weight(4, 3)

    @tf.function  # type: ignore[untyped-decorator]
    def call(x: Any) -> Any:
        steps = tf.shape(x)[1]
        outputs = tf.TensorArray(tf.float32, steps)
        for step in tf.range(steps):
            outputs = outputs.write(step, tf.nn.relu(x[:, step] @ w))
        return tf.einsum("tbf,fg->tbg", outputs.stack(), v)

    return call


@model("x B T 6")
def unstacked_and_gathered(weight: Weight) -> Any:
    w, v = weight(6, 4), weight(4, 3)

    @tf.function  # type: ignore[untyped-decorator]
    def call(x: Any) -> Any:
        inputs = tf.TensorArray(tf.float32, tf.shape(x)[1]).unstack(tf.transpose(x, [1, 0, 2]))
        outputs = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for step in tf.range(inputs.size()):
            outputs = outputs.write(step, inputs.read(step) @ w)
        return tf.matmul(outputs.concat(), v)

    return call


@model("x B T 6")
def decoded_step_by_step(weight: Weight) -> Any:
    """A state and a list, as a decoder of sequences has them; 4 steps."""
    w, u, v = weight(6, 8), weight(8, 8), weight(8, 5)

    @tf.function  # type: ignore[untyped-decorator]
    def call(x: Any) -> Any:
        state = tf.reduce_mean(x, 1) @ w
        outputs = tf.TensorArray(tf.float32, 4)
        for step in tf.range(4):
            state = tf.tanh(state @ u)
            outputs = outputs.write(step, tf.nn.softmax(state @ v))
        return tf.transpose(outputs.stack(), [1, 0, 2])

    return call


@model("x B 6")
def conditional(weight: Weight) -> Any:
    w, v = weight(6, 6), weight(6, 4)

    def call(x: Any) -> Any:
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x @ w, lambda: tf.nn.relu(x @ w @ w))
        return y @ v

    return call


@model("x B 6")
def switched(weight: Weight) -> Any:
    w, v = weight(6, 6), weight(6, 4)

    def call(x: Any) -> Any:
        place = tf.cast(tf.reduce_sum(x), tf.int32)
        y = tf.switch_case(place, [lambda: x, lambda: x @ w, lambda: x @ w @ w @ w])
        return y @ v

    return call


@model("x B 6")
def power_iteration(weight: Weight) -> Any:
    w = weight(6, 6)

    @tf.function  # type: ignore[untyped-decorator]
    def call(x: Any) -> Any:
        for _ in tf.range(10):
            x = tf.math.l2_normalize(x @ w, 1)
        return x

    return call


@model("x B 5 5")
def newton_schulz(weight: Weight) -> Any:
    w = weight(5, 5)

    def call(x: Any) -> Any:
        y = tf.while_loop(
            lambda i, _: i < 6,
            lambda i, y: (i + 1, 1.5 * y - 0.5 * y @ tf.linalg.matrix_transpose(y) @ y),
            [0, x],
        )[1]
        return y @ w

    return call


# --- products and graphs ---


@model("x B 4", "y B 5")
def bilinear(weight: Weight) -> Any:
    w = weight(4, 6, 5)
    return lambda x, y: tf.einsum("bok,bk->bo", tf.einsum("bi,iok->bok", x, w), y)


@model("x B T 12")
def heads_by_einsum(weight: Weight) -> Any:
    w, v = weight(12, 3, 4), weight(3, 4, 12)

    def call(x: Any) -> Any:
        q = tf.einsum("btf,fhd->bthd", x, w)
        scores = tf.nn.softmax(tf.einsum("bthd,bshd->bhts", q, q))
        return tf.einsum("bthd,hdf->btf", tf.einsum("bhts,bshd->bthd", scores, q), v)

    return call


@model("x 10 8", "edges int32 2 E")
def messages(weight: Weight) -> Any:
    w, u = weight(8, 6), weight(14, 5)

    def call(x: Any, edges: Any) -> Any:
        sent = tf.nn.relu(tf.gather(x, edges[0]) @ w)
        got = tf.math.unsorted_segment_sum(sent, edges[1], tf.shape(x)[0])
        return tf.concat([x, got], 1) @ u

    return call


@model("x B 12")
def top_experts(weight: Weight) -> Any:
    gates, experts = weight(12, 4), weight(4, 12, 5)

    def call(x: Any) -> Any:
        shares, places = tf.math.top_k(tf.nn.softmax(x @ gates), 2)
        picked = tf.gather(experts, places)
        return tf.einsum("bk,bko->bo", shares, tf.einsum("bi,bkio->bko", x, picked))

    return call


@model("x B 6")
def partitioned_experts(weight: Weight) -> Any:
    w, v, u = weight(6, 6), weight(6, 6), weight(6, 3)

    def call(x: Any) -> Any:
        which = tf.cast(tf.reduce_sum(x, 1) > 0, tf.int32)
        rows = tf.dynamic_partition(x, which, 2)
        places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), which, 2)
        return tf.dynamic_stitch(places, [rows[0] @ w, rows[1] @ v]) @ u

    return call


@model("x B T 4")
def k_means(weight: Weight) -> Any:
    centres = weight(5, 4)

    def call(x: Any) -> Any:
        flat = tf.reshape(x, [-1, 4])
        distance = tf.reduce_sum(centres**2, 1) - 2 * tf.matmul(flat, centres, transpose_b=True)
        sums = tf.math.unsorted_segment_sum(flat, tf.argmin(distance, 1), 5)
        return tf.matmul(flat, sums, transpose_b=True)

    return call


@model("x B 10", "v B 6 3")
def factorization(weight: Weight) -> Any:
    w, u = weight(10, 6), weight(3, 2)

    def call(x: Any, v: Any) -> Any:
        return tf.tensordot(tf.einsum("bi,bij->bj", x @ w, v), u, 1)

    return call


# --- gradients ---


@model("x T 3 8")
def scan_gradient(weight: Weight) -> Any:
    w = weight(8, 8)

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.scan(lambda y, row: tf.tanh(y @ w + row), x, tf.zeros([3, 8])))
        return tape.gradient(loss, w)

    return call


@model("x B 6")
def dense_gradient(weight: Weight) -> Any:
    w, v = weight(6, 5), weight(5, 4)

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(x @ w) @ v)
        return tape.gradient(loss, [w, v])

    return call


@model("image B H W 3")
def convolution_gradient(weight: Weight) -> Any:
    w = weight(3, 3, 3, 4)

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 2)
        return tape.gradient(loss, w)

    return call


def save(made: Model, path: str) -> Callable[..., Any]:
    """Save a function with its variables."""
    module = tf.Module()
    module.kept = []

    def weight(*shape: int) -> Any:
        module.kept.append(tf.Variable(tf.zeros(shape)))
        return module.kept[-1]

    call = made.build(weight)
    signature = [one.open_spec for one in made.inputs]
    module.call = tf.function(call, input_signature=signature)
    tf.saved_model.save(module, path, signatures=module.call)
    return call  # type: ignore[no-any-return]


def arrays() -> Any:
    """A loop of TensorFlow 1 that reads one TensorArray and writes another."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, None, 6], "x")
        w, v = v1.get_variable("w", [14, 8]), v1.get_variable("v", [8, 3])
        steps = tf.shape(x)[1]
        inputs = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(x, [1, 0, 2]))

        def body(step: Any, state: Any, outputs: Any) -> Any:
            state = tf.tanh(tf.concat([inputs.read(step), state], 1) @ w)
            return step + 1, state, outputs.write(step, state)

        first = [0, tf.zeros([tf.shape(x)[0], 8]), tf.TensorArray(tf.float32, steps)]
        outputs = v1.while_loop(lambda step, *_: step < steps, body, first)[2]
        tf.einsum("tbf,fg->tbg", outputs.stack(), v)
    v1.enable_control_flow_v2()
    return graph.as_graph_def(add_shapes=True)


def main(folder: str) -> None:
    write(folder, save)
    Path(folder, "arrays.pb").write_bytes(arrays().SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
