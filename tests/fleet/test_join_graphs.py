"""Graphs that are joined: a node that is added is the node of its own graph."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import sampling
import tfprof
from random_graphs import make_graph, make_names, make_op_log
from tfprof.errors import InputError
from tfprof.fleet.join_graphs import join_graphs

if TYPE_CHECKING:
    from tfprof.model import Profile


def random_graph(rng: Random) -> Profile:
    while True:
        names = make_names(rng)
        files = make_graph(rng, names), make_op_log(rng, names, traces=True)
        try:
            data = [file.SerializeToString() for file in files]
            return tfprof.load(data[0], op_log=data[1]).profile
        except InputError:
            continue  # a tiny graph looks like another file


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(150, 8))
def test_an_added_node_is_that_of_its_own_graph(number: int) -> None:
    rng = Random(number)  # noqa: S311
    graphs = [random_graph(rng) for _ in range(rng.randrange(2, 4))]
    joined = described(join_graphs(graphs))
    expected: dict[bytes, Any] = {}
    for graph in graphs:
        expected = described(graph) | expected
    assert joined == expected


def described(profile: Profile) -> dict[bytes, Any]:
    """What is known of each node, in words."""
    nodes, edges, types = profile.nodes, profile.edges, profile.types
    starts = profile.outputs.start.tolist()
    node, kind = profile.type_pairs
    attributes = list(zip(profile.attributes[0].tolist(), profile.attributes[1], strict=True))
    result = {}
    for at, name in enumerate(nodes.name):
        inputs = slice(*edges.start[at : at + 2].tolist())
        result[name] = {
            "op": types[int(nodes.op[at])],
            "types": {types[row] for row in kind[node == at].tolist()},
            "shape": nodes.shape[at],
            "float_ops": int(nodes.float_ops[at]),
            "inputs": [
                nodes.name[row] if row >= 0 else edges.unknown[-1 - row]
                for row in edges.source[inputs].tolist()
            ],
            "slots": edges.slot[inputs].tolist(),
            "outputs": [profile.outputs.shape[row] for row in range(*starts[at : at + 2])],
            "attributes": [entry for owner, entry in attributes if owner == at],
            "stack": frames(profile, int(nodes.stack[at])),
            "in graph": bool(profile.in_graph[at]),
        }
    return result


def frames(profile: Profile, stack: int) -> list[tuple[Any, ...]]:
    if stack < 0:
        return []
    stacks = profile.stacks
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    rows = range(int(stacks.start[stack]), int(stacks.start[stack + 1]))
    texts = (stacks.file, stacks.function, stacks.source)
    return [(*(text.get(int(column[row])) for column in texts), stacks.line[row]) for row in rows]
