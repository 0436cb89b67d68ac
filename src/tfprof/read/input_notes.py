"""What is odd about a file that is read all the same, as notes: how much of it, and what was done.

    graph    names that come twice, inputs that name no node
    run      stats of another graph's nodes, times below zero
    op log   entries of other nodes, call stacks that refer to texts it does not have

Nothing is repaired here: the numbers are those that the original would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.foundation.arguments import shown
from tfprof.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns


def of_graph(graph: GraphColumns, first: I64, inputs: Strings, source: I64) -> Iterator[Note]:
    """Notes on a graph; *first* are the nodes with a new name, *source* what *inputs* stand for."""
    repeated = len(graph.name) - first.size
    if repeated:
        yield _odd(
            f"{repeated:,} of {len(graph.name):,} nodes of the graph have the name of one before "
            f"them and are left out, such as {_example(graph.name, _others(first, graph))}"
        )
    lost = np.flatnonzero(source < 0)
    if lost.size:
        yield _odd(
            f"{lost.size:,} of {source.size:,} inputs name nodes that the graph does not have, "
            f"such as {_example(inputs, lost)}"
        )


def of_run(profile: Profile, run: RunColumns, step: int, node: I64) -> Iterator[Note]:
    """Notes on a run, where *node* is that of each stat in *profile* so far, or -1."""
    # The bodies of functions are not in the graph that calls them, so a few that are is enough.
    if len(profile) and node.size and not bool((node >= 0).any()):
        yield _odd(
            f"not one of {node.size:,} stats of step {step} is of a node that the graph has: "
            "perhaps it is another graph's"
        )
    negative = np.flatnonzero(run.end_rel_us < 0)
    if negative.size:
        yield _odd(
            f"{negative.size:,} of {node.size:,} stats of step {step} have a time below zero and "
            f"count as they are, such as that of {_example(run.name, negative)}"
        )


def of_op_log(log: OpLogColumns, node: I64) -> Iterator[Note]:
    """Notes on an op log, where *node* is that of each entry or -1."""
    others = np.flatnonzero(node < 0)
    if others.size:
        yield _odd(
            f"{others.size:,} of {node.size:,} entries of the op log are of nodes that the graph "
            f"does not have and are left out, such as {_example(log.name, others)}"
        )
    named = (log.frame_file, log.frame_function, log.frame_source)
    missing = sum(np.count_nonzero(~np.isin(column, log.string_id)) for column in named)
    if missing:
        yield _odd(
            f"call stacks of the op log refer {missing:,} times to texts that it does not have; "
            "these are shown as empty"
        )


def _odd(text: str) -> Note:
    return Note(text, ours=True)


def _others(first: I64, graph: GraphColumns) -> I64:
    return np.setdiff1d(np.arange(len(graph.name)), first)


def _example(names: Strings, rows: I64) -> str:
    """The first of *rows*, never long."""
    return shown(names[int(rows[0])].decode("utf-8", "replace"))
