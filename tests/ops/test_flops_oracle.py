"""Our count with TensorFlow's rules is TensorFlow's own, node by node."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pytest

import paths
from tfprof.ops import counting
from tfprof.ops.counting import count
from tfprof.ops.table import rules
from tfprof.read import Source, load

if TYPE_CHECKING:
    from forked import Forked
    from tfprof.model import Profile
    from tfprof.ops.table import Which

GRAPHS: Final = 60
WHICH: Final[tuple[Which, ...]] = ("tensorflow", "all")
WORKER: Final = paths.SUPPORT / "flops_worker.py"


class Counted(NamedTuple):
    """A graph, and what TensorFlow counts of each node that it has a rule for."""

    profile: Profile
    flops: dict[str, int | None]

    def op(self, name: str) -> str:
        profile = self.profile
        row = [*profile.nodes.name.texts()].index(name)
        return profile.types[int(profile.nodes.op[row])].decode()


@pytest.fixture(scope="module")
def answers(tensorflow: Forked) -> list[Counted]:
    lines = map(json.loads, tensorflow.script(WORKER, "1", str(GRAPHS)).splitlines())
    return [Counted(_profile(line["graph"]), line["flops"]) for line in lines]


def test_every_node_has_the_number_of_the_original(answers: list[Counted]) -> None:
    for number, (profile, flops) in enumerate(answers):
        counts = count(profile, "tensorflow")
        ours = dict(zip(profile.nodes.name.texts(), counts.float_ops.tolist(), strict=True))
        theirs = {name: flops.get(name) or 0 for name in ours}
        assert ours == theirs, f"graph {number}"


def test_unknown_shape_is_said_of_as_many_nodes_as_the_original_refuses(
    answers: list[Counted],
) -> None:
    for answer in answers:
        refused = [answer.op(name) for name, value in answer.flops.items() if value is None]
        uncounted = count(answer.profile, "tensorflow").uncounted
        ours = {kind.op: kind.nodes for kind in uncounted if kind.why == "unknown shape"}
        assert ours == Counter(refused)


def test_no_formula_fails_at_what_tensorflow_built(
    answers: list[Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "NOT_MADE_FOR", ())
    for answer in answers:
        for which in WHICH:
            assert count(answer.profile, which).ops


def test_each_of_the_46_operations_was_counted_and_some_refused(answers: list[Counted]) -> None:
    counted: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for answer in answers:
        for name, value in answer.flops.items():
            (refused if value is None else counted)[answer.op(name)] += 1
    assert counted.keys() == rules("tensorflow").keys()
    assert len(counted) == 46
    # A variable has a shape; every other operation was met with one left open.
    assert counted.keys() - refused.keys() <= {"AssignAdd", "AssignSub"}


def test_graphs_hold_second_outputs_and_control_inputs(answers: list[Counted]) -> None:
    slots = np.concatenate([answer.profile.edges.slot for answer in answers])
    assert {-1, 0, 1} <= {*slots.tolist()}


def _profile(graph: str) -> Profile:
    return load(Source("graph", np.frombuffer(base64.b64decode(graph), np.uint8)))
