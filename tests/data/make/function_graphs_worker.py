"""Graphs with a function library and a run of each, in a process of its own.

    python function_graphs_worker.py FOLDER   →  FOLDER/NAME/graph.pb, run_meta, tfprof_log

The op log is the one that TensorFlow's own profiler writes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

v1: Final = tf.compat.v1


def while_v2(x: Any, w: Any) -> Any:
    """A loop, and its gradient, which is another."""
    _, y = tf.while_loop(
        lambda i, _: i < 4, lambda i, a: (i + 1, tf.tanh(a @ w)), [0, x], name="loop"
    )
    return [y, *tf.gradients(tf.reduce_sum(y), [x])]


def cond_v2(x: Any, w: Any) -> Any:
    """A choice of two, one in a branch of it, and a choice of three."""

    def twice() -> Any:
        return tf.cond(tf.reduce_sum(x) > 3, lambda: x @ w @ w, lambda: x * 2, name="inner")

    y = tf.cond(tf.reduce_sum(x) > 0, twice, lambda: x + 1, name="choice")
    branches = [lambda: y, lambda: y @ w, lambda: -y]
    return [tf.switch_case(tf.size(y) % 3, branches, name="case")]


def calls(x: Any, w: Any) -> Any:
    """Calls that are inlined, kept, and compiled into a loop's body."""

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def product(a: Any) -> Any:
        return tf.nn.relu(a @ w)

    @tf.function(autograph=False, experimental_attributes={"_noinline": True})  # type: ignore[untyped-decorator]
    def kept(a: Any) -> Any:
        return product(a) + product(2 * a)

    _, y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, product(a)), [0, x])
    return [kept(y), product(x)]


MODELS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    model.__name__: model for model in (while_v2, cond_v2, calls)
}


def write(folder: Path, model: Callable[[Any, Any], Any]) -> None:
    """The files of one model."""
    folder.mkdir()
    with tf.Graph().as_default() as graph:
        v1.enable_control_flow_v2()
        x = v1.placeholder(tf.float32, [4, 8], name="x")
        w = v1.get_variable("w", [8, 8], use_resource=True)
        with tf.name_scope("model"):
            outputs = model(x, w)
        start = v1.global_variables_initializer()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        metadata = v1.RunMetadata()
        with v1.Session() as session:
            session.run(start)
            feed = {x: [[1.0] * 8] * 4}
            session.run(outputs, feed, options=options, run_metadata=metadata)
    shaped = graph.as_graph_def(add_shapes=True)
    assert shaped.library.function, "every model has functions"
    (folder / "graph.pb").write_bytes(shaped.SerializeToString(deterministic=True))
    (folder / "run_meta").write_bytes(metadata.SerializeToString(deterministic=True))
    v1.profiler.write_op_log(graph, str(folder), run_meta=metadata)


if __name__ == "__main__":
    for name, made in MODELS.items():
        write(Path(sys.argv[1], name), made)
