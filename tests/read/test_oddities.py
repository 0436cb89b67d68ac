"""What is odd about a file is told once, with how much of it there is; the numbers stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfprof
from profiles import PROFILES
from tfprof.read import Source, load
from tfprof.wire.schema import message


def notes(graph: Any = None, run: Any = None, log: Any = None) -> list[str]:
    """The notes on files with these messages in them."""

    def source(name: str, given: Any) -> Source | None:
        if given is None:
            return None
        return Source(name, np.frombuffer(given.SerializeToString(), np.uint8))

    one_run = source("run", run)
    profile = load(source("graph", graph), [one_run] if one_run else [], source("log", log))
    return [str(note) for note in profile.notes]


def graph_of(*nodes: tuple[str, list[str]]) -> Any:
    made: Any = message("tensorflow.GraphDef")()
    for name, inputs in nodes:
        made.node.add(name=name, op="Neg", input=inputs)
    return made


def run_of(*stats: tuple[str, int]) -> Any:
    made: Any = message("tensorflow.RunMetadata")()
    device = made.step_stats.dev_stats.add(device="/job:a/replica:0/task:0/device:CPU:0")
    for name, micros in stats:
        device.node_stats.add(node_name=name, all_start_micros=1, op_end_rel_micros=micros)
    return made


def log_of(*names: str, file_id: int = 0) -> Any:
    made: Any = message("tensorflow.tfprof.OpLogProto")()
    made.id_to_string[0] = ""
    for name in names:
        entry = made.log_entries.add(name=name)
        entry.code_def.traces.add(lineno=1, file_id=file_id)
    return made


GRAPH = graph_of(("a", []), ("b", ["a", "^a", "a:7"]))


@pytest.mark.parametrize("name", PROFILES)
def test_real_files_have_nothing_odd(name: str) -> None:
    given = PROFILES[name]
    profile = tfprof.load(given.graph, given.runs, given.op_log).profile
    odd = [note.text for note in profile.notes if note.ours]
    expected = ["1 of 12 inputs name nodes that the graph does not have, such as 'missing'"]
    assert odd == (expected if name == "handmade" else [])


def test_nothing_odd() -> None:
    assert notes(GRAPH, run_of(("a", 1), ("b:Neg", 2)), log_of("a", "b")) == []


def test_names_that_come_twice() -> None:
    (note,) = notes(graph_of(("a", []), ("b", []), ("a", ["b"]), ("b", []), ("a", [])))
    assert note == "3 of 5 nodes of the graph repeat an earlier name and are ignored, such as 'a'"


def test_inputs_that_name_nothing() -> None:
    (note,) = notes(graph_of(("a", ["b", "^c", "a", "d:1", ""])))
    assert note == "4 of 5 inputs name nodes that the graph does not have, such as 'b'"


def test_an_example_is_never_long() -> None:
    (note,) = notes(graph_of(("a", ["\u00e9\x1b[2J\n" * 100_000])))
    assert len(note) < 200
    assert note.isprintable()


def test_a_run_of_another_graph() -> None:
    (note,) = notes(GRAPH, run_of(("c", 1), ("x", 1), ("y", 1)))
    assert note == (
        "none of the 3 stats of step 0 is of a node in the graph: "
        "the run may belong to another graph"
    )
    assert notes(GRAPH, run_of(("a", 1), ("x", 1), ("y", 1))) == []
    assert notes(GRAPH, run_of()) == []
    assert notes(run=run_of(("c", 1))) == []


def test_times_below_zero() -> None:
    (note,) = notes(GRAPH, run_of(("a", 1), ("b", -1), ("a", -(2**63))))
    assert note == (
        "2 of 3 stats of step 0 have a negative time, which is counted as it is, "
        "such as that of 'b'"
    )


def test_an_op_log_of_another_graph() -> None:
    (note,) = notes(GRAPH, log=log_of("a", "x", "y", "b"))
    assert note == (
        "2 of 4 entries of the op log name nodes that the graph does not have and are ignored, "
        "such as 'x'"
    )


@pytest.mark.parametrize("file_id", [1, -1, 2**63 - 1, -(2**63)])
def test_texts_that_an_op_log_does_not_have(file_id: int) -> None:
    (note,) = notes(GRAPH, log=log_of("a", "b", file_id=file_id))
    assert note == (
        "call stacks of the op log refer 1 times to strings that it does not have; they are shown "
        "as empty"
    )
