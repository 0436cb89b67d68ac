"""What of a graph is the model: the nodes that its outputs need.

    outputs named            what they need
    none named               what the ends need: nodes that nothing of the model takes anything from

What initialises, saves, restores, trains or reports is an end of its own kind, and what only that
needs is left out; so are the gradients that something is trained by, and what something merely
waits for. Gradients that nothing is trained by are there to be given out, and part of the model.
What a body of a function holds is there because a call returns it, or because a gradient is taken
of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.errors import UsageError, nearest
from tfprof.model import CALLED, Profile
from tfprof.ops.classes import of_class
from tfprof.read.xplane.node_matching import NOT_IN_GRAPH
from tfprof.summary.reach import Links

if TYPE_CHECKING:
    from collections.abc import Sequence


_GRADIENTS: Final = re.compile(rb"(?:^|/)(?:gradients(?:_\d+)?|gradient_tape)/")


def living(profile: Profile, outputs: Sequence[str] = ()) -> Bool:
    """Which nodes count; raises UsageError where a named output is no node."""
    if outputs:
        return Links.inputs(profile.edges).reached(_named(profile, outputs))
    backward = training_gradients(profile)
    aside = _asides(profile) | backward
    silent = of_class(profile, "no outputs")
    forward = ~backward
    begin = _ends(profile, aside) | _differentiated(profile, forward)
    reached = Links.inputs(profile.edges, aside, silent).reached(begin, forward)
    if not reached.any():
        # All of it is aside, as in a graph that does nothing but train: then that is the model.
        reached[:] = True
    return reached


def _named(profile: Profile, outputs: Sequence[str]) -> Bool:
    names = [name.removeprefix("^").partition(":")[0] for name in outputs]
    row = profile.nodes.name.find(
        Strings.of(name.encode("utf-8", "surrogateescape") for name in names)
    )
    for name, found in zip(names, row.tolist(), strict=True):
        if found < 0:
            known = [one.decode("utf-8", "replace") for one in profile.nodes.name]
            raise UsageError(f"there is no node {name!r} in the graph{nearest(name, known)}")
    begin = np.zeros(len(profile), np.bool_)
    begin[row] = True
    return begin


def _asides(profile: Profile) -> Bool:
    return of_class(profile, "saves", "reports")


def _ends(profile: Profile, aside: Bool) -> Bool:
    """What nothing of the model takes anything from, and is part of it all the same."""
    saves = of_class(profile, "saves")
    edges = profile.edges
    consumer = np.repeat(np.arange(len(profile)), np.diff(edges.start))
    known = edges.source >= 0
    source, consumer, slot = edges.source[known], consumer[known], edges.slot[known]
    taken = np.zeros(len(profile), np.bool_)
    # A value to be assigned or saved is no end: nobody but the initialiser or saver asked for it.
    taken[source[(~aside[consumer] & (slot >= 0)) | saves[consumer]]] = True
    in_body = np.zeros(len(profile), np.bool_)
    of_node = profile.regions.of_node
    in_body[: of_node.size] = of_node >= 0
    # What only a run names is no part of the model; in a saved profile its name tells.
    described = profile.in_graph | ~profile.in_graph.any()
    if profile.steps:
        outside = (name.startswith(NOT_IN_GRAPH) for name in profile.nodes.name)
        described &= ~np.fromiter(outside, np.bool_, len(profile))
    ends = ~taken & ~in_body & ~_plain_reads(profile, source, consumer)
    return described & ~aside & ends


def _differentiated(profile: Profile, forward: Bool) -> Bool:
    """What gradients were taken of: a training step may keep its loss in a variable."""
    found = np.zeros(len(profile), np.bool_)
    if forward.all():
        return found
    edges = profile.edges
    backward = np.repeat(~forward, np.diff(edges.start)) & (edges.source >= 0) & (edges.slot >= 0)
    found[edges.source[backward]] = True
    return found & ~Links.consumers(edges, data=True).reached(~forward)


def _plain_reads(profile: Profile, source: I64, consumer: I64) -> Bool:
    """What hands on a variable and no more; TensorFlow adds one to each, wanted or not."""
    variable = of_class(profile, "variable handle", "reference variable")
    reads = of_class(profile, "variable read")
    copies = of_class(profile, "identity")
    of_variable = np.zeros(len(profile), np.bool_)
    of_variable[consumer[variable[source]]] = True
    return reads | (copies & of_variable)


def training_gradients(profile: Profile) -> Bool:
    """The nodes of gradients; none where no variable is changed by what comes of them."""
    found = _in_gradients(profile)
    if found.any():
        behind = Links.consumers(profile.edges, data=True).reached(found)
        if not (behind & of_class(profile, "changes a variable")).any():
            found[:] = False
    return found


def _in_gradients(profile: Profile) -> Bool:
    """Which nodes stand in a name scope that TensorFlow gives to gradients.

    The body of a loop or a choice is of them if that is: what it does for its gradient, such as to
    fill a list that is there before it, it does itself.
    """
    if b"gradient" not in profile.nodes.name.blob.tobytes():
        return np.zeros(len(profile), np.bool_)
    found = (_GRADIENTS.search(name) is not None for name in profile.nodes.name)
    named = np.fromiter(found, np.bool_, len(profile))
    if not len(profile.regions):
        return named
    named &= ~of_class(profile, "list or constant")
    regions = profile.regions
    order = np.argsort(regions.of_node, kind="stable")
    start = np.searchsorted(regions.of_node[order], np.arange(len(regions) + 1))
    for region in np.flatnonzero(regions.kind != CALLED).tolist():
        named[order[start[region] : start[region + 1]]] = named[regions.call[region]]
    return named
