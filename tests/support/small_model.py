"""A layer of a live graph, what two runs of it recorded, and options that show everything of it."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf

import tfprof

if TYPE_CHECKING:
    from collections.abc import Callable

v1: Final = tf.compat.v1
tf.get_logger().setLevel("ERROR")

SHOWN: Final = ["micros", "bytes", "params", "float_ops", "occurrence", "device", "input_shapes"]
EVERYTHING: Final = tfprof.ProfileOptionBuilder().with_max_depth(999).select(SHOWN).build()
QUIET: Final = {**EVERYTHING, "output": "none"}
VIEWS: Final = ("scope", "graph", "op", "code")


def model() -> Any:
    """A layer whose rows only a run tells."""
    graph = tf.Graph()
    with graph.as_default():
        rows = v1.placeholder_with_default(tf.ones([3, 4]), [None, 4], name="rows")
        weights = v1.get_variable("weights", [4, 5], initializer=v1.ones_initializer())
        tf.square(tf.matmul(rows, weights, name="product"), name="end")
        v1.global_variables_initializer()
    return graph


def grow(graph: Any) -> None:
    with graph.as_default():
        tf.square(graph.get_tensor_by_name("end:0"), name="more")
        most = tf.negative(graph.get_tensor_by_name("product:0"), name="most")
        tf.square(most, name="last")


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What *work* returns, whose call stacks do not show who asked for it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *arguments).result()


def recorded(graph: Any, fetched: str) -> Any:
    run = v1.RunMetadata()
    with v1.Session(graph=graph) as session:
        session.run("init")
        full = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(f"{fetched}:0", options=full, run_metadata=run)
    return run


@cache
def runs() -> tuple[Any, Any]:
    """What two steps recorded, the second after the model had grown."""
    graph = model()
    first = recorded(graph, "end")
    grow(graph)
    return first, recorded(graph, "most")


def told(node: str, *dims: int) -> Any:
    """What a run of one node records, with the shape of its output."""
    run = v1.RunMetadata()
    stats = run.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(
        node_name=node, all_start_micros=1, op_end_rel_micros=2
    )
    shape = stats.output.add().tensor_description.shape
    for size in dims:
        shape.dim.add(size=size)
    return run


def a_log() -> Any:
    log = v1.profiler.OpLogProto()
    log.log_entries.add(name="product", float_ops=77, types=["mine"])
    log.id_to_string[5] = "five"
    return log


def printed(call: Callable[[], object]) -> str:
    stdout = io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(io.StringIO()):
        call()
    return stdout.getvalue()
