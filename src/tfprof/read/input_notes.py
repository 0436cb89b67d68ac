"""Notes on input that is unusual but readable: what is wrong, how often, and what tfprof does.

    graph    repeated names, inputs that name no node
    run      stats of another graph's nodes, negative times
    op log   entries of other nodes, call stacks that refer to missing strings

Nothing is repaired: the numbers are those of the original. Nodes that ran but are not in the graph
are below a scope of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns


def of_graph(graph: GraphColumns, first: I64, inputs: Strings, source: I64) -> Iterator[str]:
    """Notes on a graph: *first* are the nodes with a new name, *source* the node of each input."""
    repeated = len(graph.name) - first.size
    if repeated:
        others = np.setdiff1d(np.arange(len(graph.name)), first)
        yield (
            f"{repeated:,} of {len(graph.name):,} nodes of the graph repeat an earlier name and "
            f"are ignored, such as {_example(graph.name, others)}"
        )
    unknown = np.flatnonzero(source < 0)
    if unknown.size:
        yield (
            f"{unknown.size:,} of {source.size:,} inputs name nodes that the graph does not have, "
            f"such as {_example(inputs, unknown)}"
        )


def of_run(profile: Profile, run: RunColumns, step: int, node: I64) -> Iterator[str]:
    """Notes on a run, where *node* is the node of each stat in *profile*, or -1."""
    # The bodies of functions may not be in the graph, so a single stat of a known node is enough.
    if len(profile) and node.size and not bool((node >= 0).any()):
        yield (
            f"none of the {node.size:,} stats of step {step} is of a node in the graph: "
            "the run may belong to another graph"
        )
    negative = np.flatnonzero(run.end_rel_us < 0)
    if negative.size:
        yield (
            f"{negative.size:,} of {node.size:,} stats of step {step} have a negative time, which "
            f"is counted as it is, such as that of {_example(run.name, negative)}"
        )


def of_absent_functions(run: RunColumns, step: int, stats: I64) -> Iterator[str]:
    """A note on *stats* of functions that the graph does not have."""
    micros = int(run.end_rel_us[stats].sum())
    yield (
        f"{stats.size:,} of {len(run.name):,} stats of step {step}, {micros:,} us, ran in "
        f"functions that the graph does not have: see {NOT_IN_GRAPH.decode()}"
    )


def of_op_log(log: OpLogColumns, node: I64) -> Iterator[str]:
    """Notes on an op log, where *node* is the node of each entry or -1."""
    others = np.flatnonzero(node < 0)
    if others.size:
        yield (
            f"{others.size:,} of {node.size:,} entries of the op log name nodes that the graph "
            f"does not have and are ignored, such as {_example(log.name, others)}"
        )
    named = (log.frame_file, log.frame_function, log.frame_source)
    missing = sum(np.count_nonzero(~np.isin(column, log.string_id)) for column in named)
    if missing:
        yield (
            f"call stacks of the op log refer {missing:,} times to strings that it does not have; "
            "they are shown as empty"
        )


def _example(names: Strings, rows: I64) -> str:
    """The first of *rows*, shortened."""
    return shown(names[int(rows[0])].decode("utf-8", "replace"))


NOT_IN_GRAPH = b"_not_in_graph/"


def outside_graph(names: Strings, rows: I64) -> Strings:
    """*names* where those of *rows* are below the scope."""
    which = np.zeros(len(names), np.int64)
    which[rows] = 1
    return Strings.beside([Strings.of([b"", NOT_IN_GRAPH]).take(which), names])
