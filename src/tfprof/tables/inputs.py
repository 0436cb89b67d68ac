"""INPUTS: the files a profile is made of — one row each — and those of the bundled sample."""

from __future__ import annotations

from typing import Any

from tfprof.tables.options import Option

INPUTS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("graph_path", "text", "", "the graph: GraphDef, MetaGraphDef, SavedModel or .keras"),
        Option(
            "run_meta_path",
            "list",
            (),
            "the runs: RunMetadata files, comma-separated; they are steps 0, 1, 2 …",
        ),
        Option(
            "trace_path",
            "list",
            (),
            "the traces: XPlane files of TensorFlow 2 (*.xplane.pb), comma-separated",
        ),
        Option(
            "op_log_path",
            "text",
            "",
            "the op log: types, float operations and call stacks of nodes",
        ),
        Option(
            "checkpoint_path",
            "text",
            "",
            "the checkpoint: tensor values, and the type _checkpoint_variables",
        ),
        Option(
            "profile_path",
            "text",
            "",
            "a saved or converted profile, instead of graph, runs and op log",
        ),
    )
}

# What is no file, but says which part of one is meant.
SIGNATURE = Option(
    "signature", "text", "", "the signature of a SavedModel; without it, all of them"
)


def sample_files() -> dict[str, Any]:
    """The options that name the bundled sample's files: two steps of training a ResNet."""
    from importlib.resources import files  # noqa: PLC0415 - only the sample pays for it

    folder = files("tfprof") / "sample"
    return {
        "graph_path": str(folder / "graph.pbtxt.gz"),
        "run_meta_path": (str(folder / "run_meta_0.gz"), str(folder / "run_meta_1.gz")),
        "op_log_path": str(folder / "tfprof_log.gz"),
    }
