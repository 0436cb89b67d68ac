"""INPUTS: the files a profile is made of — one row each."""

from __future__ import annotations

from tfprof.query import Option

INPUTS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("graph_path", "text", "", "the graph: GraphDef or MetaGraphDef, binary or text"),
        Option(
            "run_meta_path",
            "list",
            (),
            "the runs: RunMetadata files, comma-separated; they are steps 0, 1, 2 …",
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
        Option("profile_path", "text", "", "a saved profile, instead of graph, runs and op log"),
    )
}
