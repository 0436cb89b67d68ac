"""Which nodes are the model: those that its outputs need.

    outputs named            what they need
    none named               what the ends need: nodes without consumers in the model

Nodes that initialize, save, restore, train or report are no ends, and what only they need is left
out. So are gradients that train a variable, and nodes that others merely wait for. Gradients that
train nothing are outputs of the model. Nodes in the body of a function count if a call returns them
or a gradient is taken of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Bool, Strings
from tfprof.columns.unique import marked
from tfprof.errors import InputError, UsageError, nearest
from tfprof.model import CALLED, Profile
from tfprof.ops.classes import of_class, with_type
from tfprof.ops.reach import Links
from tfprof.read.hlo.name_stacks import BACKWARD, FORWARD, RECOMPUTATION
from tfprof.read.input_notes import NOT_IN_GRAPH
from tfprof.read.saved_model import CHECKPOINT

if TYPE_CHECKING:
    from collections.abc import Sequence


_NO_MODEL: Final = (
    "holds no model to summarize, so parameters and float operations are unknown; "
    "pass the model's graph as well"
)
_GRADIENTS: Final = re.compile(rb"(?:^|/)(?:gradients(?:_\d+)?|gradient_tape)/")


def check_holds_model(profile: Profile) -> None:
    """Raise InputError if there is no graph, but a run or an op log alone; or an empty graph."""
    if profile.steps and not profile.edges.source.size and not profile.in_graph.any():
        raise InputError(f"a run alone {_NO_MODEL} (with run_eagerly=True there is none)")
    if not profile.steps and not len(profile) and not profile.attribute_sources:
        raise InputError(f"an op log alone {_NO_MODEL}")
    if not len(profile):
        raise InputError("the graph is empty: without nodes there is nothing to summarize")


def model_nodes(profile: Profile, outputs: Sequence[str] = ()) -> Bool:
    """Which nodes count; raises UsageError if a named output is not a node."""
    if outputs:
        return Links.inputs(profile.edges).reached(_named(profile, outputs))
    backward = training_gradients(profile)
    if _is_transposed(profile).any():
        return _forward_program(profile, backward)
    aside = of_class(profile, "saves", "reports") | backward
    silent = of_class(profile, "no outputs")
    begin = _ends(profile, aside) | _differentiated(profile, backward)
    # What is computed from gradients, such as their sum over replicas, is training as well.
    behind = Links.consumers(profile.edges, data=True).reached(backward)
    reached = Links.inputs(profile.edges, aside | behind, silent).reached(begin, ~backward)
    # A graph that does nothing but train is the model itself.
    return reached if reached.any() else ~reached


def is_checkpoint(profile: Profile) -> bool:
    """Whether this is a checkpoint alone: variables, and nothing that reads them."""
    has_edges = profile.edges.source.size > 0
    return not has_edges and len(profile) > 0 and bool(with_type(profile, CHECKPOINT).all())


def makes_tensors(profile: Profile) -> Bool:
    """Which nodes make a tensor of their own."""
    holds = ("variable handle", "reference variable", "variable read", "constant", "placeholder")
    passes = of_class(profile, *holds, "alias") & ~of_class(profile, "out of a list")
    passes |= of_class(profile, "call in a graph", "saves", "reports")
    passes[profile.regions.call] = True
    return ~passes


def _is_transposed(profile: Profile) -> Bool:
    """The instructions of XLA programs that JAX made to compute gradients, and what they call."""
    return _with_called(profile, with_type(profile, BACKWARD) | with_type(profile, RECOMPUTATION))


def _with_called(profile: Profile, nodes: Bool) -> Bool:
    """These, and what is in the regions that they call."""
    regions = profile.regions
    inside = np.flatnonzero(regions.of_node >= 0)
    count = -1
    while nodes.any() and count != (count := int(nodes.sum())):
        nodes[inside] |= nodes[regions.call][regions.of_node[inside]]
    return nodes


def behind_gradients(profile: Profile, backward: Bool, waits: Bool | None = None) -> Bool:
    """The nodes that are computed from gradients, and these; see `Links.consumers` for *waits*."""
    links = Links.consumers(profile.edges, data=True, waits=waits)
    transposed = _is_transposed(profile)
    if not transposed.any():
        return links.reached(backward)
    # XLA merges equal constants: the forward part may take one that is named after a gradient.
    forward = _with_called(profile, with_type(profile, FORWARD)) & ~transposed
    return links.reached(backward, ~forward)


def program_results(profile: Profile) -> Bool:
    """What an XLA program that computes gradients returns; none in a graph."""
    if not _is_transposed(profile).any():
        return np.zeros(len(profile), np.bool_)
    return _ends(profile, np.zeros(len(profile), np.bool_))


def _forward_program(profile: Profile, backward: Bool) -> Bool:
    """The nodes of an XLA program that its gradients and its other results are computed from."""
    edges = profile.edges
    behind = behind_gradients(profile, backward)
    consumer = np.repeat(np.arange(len(profile)), np.diff(edges.start))
    ends = program_results(profile) & behind
    read = edges.source[(backward | ends)[consumer] & (edges.source >= 0)]
    reached = Links.inputs(edges).reached(marked(read, len(profile)) & ~behind, ~behind)
    # If XLA merged all of it with what is computed again, there is no way forward to tell apart.
    works = reached & ~of_class(profile, "no arithmetic", "call in a graph")
    return reached if works.any() else np.ones(len(profile), np.bool_)


def _named(profile: Profile, outputs: Sequence[str]) -> Bool:
    names = [name.removeprefix("^").partition(":")[0] for name in outputs]
    encoded = Strings.of(name.encode("utf-8", "surrogateescape") for name in names)
    row = profile.nodes.name.find(encoded)
    for name, at in zip(names, row.tolist(), strict=True):
        if at < 0:
            known = [node.decode("utf-8", "replace") for node in profile.nodes.name]
            raise UsageError(f"there is no node {name!r} in the graph{nearest(name, known)}")
    return marked(row, len(profile))


def _ends(profile: Profile, aside: Bool) -> Bool:
    """The nodes of the model without consumers in it."""
    saves = of_class(profile, "saves")
    edges = profile.edges
    consumer = np.repeat(np.arange(len(profile)), np.diff(edges.start))
    known = edges.source >= 0
    source, consumer, slot = edges.source[known], consumer[known], edges.slot[known]
    taken = np.zeros(len(profile), np.bool_)
    # A value to be assigned or saved is no end: only the initializer or saver asks for it.
    taken[source[(~aside[consumer] & (slot >= 0)) | saves[consumer]]] = True
    in_body = np.zeros(len(profile), np.bool_)
    of_node = profile.regions.of_node
    in_body[: of_node.size] = of_node >= 0
    # Nodes that only a run names are not in the model; a saved profile marks their names.
    described = profile.in_graph | ~profile.in_graph.any()
    if profile.steps:
        outside = (name.startswith(NOT_IN_GRAPH) for name in profile.nodes.name)
        described &= ~np.fromiter(outside, np.bool_, len(profile))
    # TensorFlow adds a read to each variable, wanted or not.
    variable = of_class(profile, "variable handle", "reference variable")
    of_variable = marked(consumer[variable[source]], len(profile))
    reads = of_class(profile, "variable read") | (of_class(profile, "identity") & of_variable)
    return described & ~aside & ~taken & ~in_body & ~reads


def _differentiated(profile: Profile, backward: Bool) -> Bool:
    """The nodes that gradients are taken of: a training step may keep its loss in a variable."""
    read = np.zeros(len(profile), np.bool_)
    if not backward.any():
        return read
    edges = profile.edges
    data = np.repeat(backward, np.diff(edges.start)) & (edges.source >= 0) & (edges.slot >= 0)
    read[edges.source[data]] = True
    return read & ~Links.consumers(edges, data=True).reached(backward)


def training_gradients(profile: Profile) -> Bool:
    """The nodes of gradients; in a graph, none if no variable changes because of them."""
    known = profile.structure_cache.cached("gradients", lambda: _training_gradients(profile))
    return known.copy()


def _training_gradients(profile: Profile) -> Bool:
    transposed = _is_transposed(profile)
    if transposed.any():  # XLA has no variables: a program returns what it changes
        return transposed
    gradients = _in_gradients(profile)
    if gradients.any():
        behind = Links.consumers(profile.edges, data=True).reached(gradients)
        if not (behind & of_class(profile, "changes a variable")).any():
            gradients[:] = False
    return gradients


def _in_gradients(profile: Profile) -> Bool:
    """Which nodes are in a name scope that TensorFlow gives to gradients."""
    # The body of a loop or a conditional is, if its call is: a forward body also has nodes in such
    # a scope, for example to fill a list that the gradient reads.
    if b"gradient" not in profile.nodes.name.blob.tobytes():
        return np.zeros(len(profile), np.bool_)
    matches = (_GRADIENTS.search(name) is not None for name in profile.nodes.name)
    named = np.fromiter(matches, np.bool_, len(profile))
    if not len(profile.regions):
        return named
    named &= ~of_class(profile, "list or constant")
    regions = profile.regions
    order = np.argsort(regions.of_node, kind="stable")
    start = np.searchsorted(regions.of_node[order], np.arange(len(regions) + 1))
    for region in np.flatnonzero(regions.kind != CALLED).tolist():
        named[order[start[region] : start[region + 1]]] = named[regions.call[region]]
    return named
