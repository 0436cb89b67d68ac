"""What the original makes of shapes that a run tells, in a process of its own.

    python run_shapes_worker.py   ◄──  a line of JSON: [[nodes, stats], …], base64 of a GraphDef
                                       and of a RunMetadata each
                                  ──►  a line of JSON each: {"graph": base64, "said": lines}

The graph that comes back lists its shapes as they are after a report was made with the run.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import sys

import tensorflow as tf

V1 = tf.compat.v1


def answer(graph_bytes: bytes, run_bytes: bytes) -> str:
    """The line about one graph and run."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(V1.GraphDef.FromString(graph_bytes), name="")
    builder = V1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        V1.profiler.profile(
            graph, run_meta=V1.RunMetadata.FromString(run_bytes), cmd="scope", options=options
        )
    shaped = graph.as_graph_def(add_shapes=True).SerializeToString()
    lines = [line for line in said.getvalue().splitlines() if "incompatible" in line]
    return json.dumps({"graph": base64.b64encode(shaped).decode(), "said": lines})


def main() -> None:
    """Answer for each pair."""
    for graph, run in json.loads(sys.stdin.readline()):
        print(answer(base64.b64decode(graph), base64.b64decode(run)))


if __name__ == "__main__":
    main()
