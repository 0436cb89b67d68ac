"""Matches the stats of a run to nodes of functions, and computes the self time of calls.

    stat                               node
    loop/body/_1/mm                    loop/body/mm         by its name: see runtime_names
    ConstantFolding/… ◄ mm in body_3   loop/body/mm         by its name in a partition graph
    mm       } while call runs         call/mm              by its time: what is not inlined runs
    call     } 470 us                  call, 176 us         under its bare name during the call
    mm       } while a call runs       _not_in_graph/mm     if the graph has no body of this
             }                                              call, and no mm that it could be

Any other name that matches none of these becomes a node of its own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.runtime_names import canonical, local_names, node_of

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool, Strings
    from tfprof.model import Profile
    from tfprof.read.columns import RunColumns, RunDetails

# Operations that run the body of a function in their own time.
_CALLS: Final = (b"PartitionedCall", b"StatefulPartitionedCall", b"RemoteCall")
# At most so many simultaneous calls are tried for a stat, the latest first.
_MOST_OPEN: Final = 16
# Passing arguments and results and starting the function count as work of the call.
_OF_THE_CALL: Final = (b"_Arg", b"_Retval", b"_SOURCE")


class _Open(NamedTuple):
    """A call that is running."""

    stat: int
    end: int
    device: int
    prefix: bytes  # of the names in its body; b"" if the graph has no body of it
    node: int  # or -1


class MatchedRun(NamedTuple):
    """The stats of a run, matched to a graph with functions."""

    node: I64  # of each stat, or -1
    run: RunColumns  # with self times for calls
    absent: I64  # stats of functions that the graph does not have


def with_functions(profile: Profile, run: RunColumns, node: I64) -> MatchedRun:
    """The run, where *node* is the node that has exactly the name of each stat."""
    assert run.details is not None, "a run is read together with its details"
    details = run.details()
    node = node.copy()
    inside, contained, bodiless = _inside_calls(profile, run, details, node)
    node[inside >= 0] = inside[inside >= 0]
    # Which stats are of functions that the graph does not have; bodiless: inside such calls.
    # A node of the graph may run at the same time as a call. It is the node itself if it has this
    # type and did not run at another time.
    same = np.append(profile.nodes.op, -1)[node] == profile.types.find(details.op)
    elsewhere = np.zeros(len(profile) + 1, np.bool_)
    elsewhere[node[~bodiless]] = True
    absent: Bool = bodiless & ((node < 0) | ~same | elsewhere[node])
    node[absent] = -1
    rest = np.flatnonzero((node < 0) & ~absent)
    node[rest] = node_of(profile, run.name.take(rest))
    rest = np.flatnonzero((node < 0) & ~absent)
    node[rest] = _renamed(profile, run.name.take(rest), details)
    inner = np.flatnonzero(contained >= 0)
    inner_us = sum_by(contained[inner], np.maximum(run.end_rel_us[inner], 0), len(run.name))
    self_us = np.where(inner_us > 0, np.maximum(run.end_rel_us - inner_us, 0), run.end_rel_us)
    return MatchedRun(node, replace(run, end_rel_us=self_us), np.flatnonzero(absent))


def _inside_calls(
    profile: Profile, run: RunColumns, details: RunDetails, node: I64
) -> tuple[I64, I64, Bool]:
    """(node of each stat in a running call or -1, stat of the call or -1, in one without body)."""
    # Calls may overlap: a stat belongs to the latest running call whose body has its name. The stat
    # of a call is recorded when it ends, after those of its body.
    node_inside, container = np.full((2, len(run.name)), -1, np.int64)
    bodiless = np.zeros(len(run.name), np.bool_)
    op = details.op.tolist()
    if not any(op_type in _CALLS for op_type in op):
        return node_inside, container, bodiless
    inside, calling = np.flatnonzero(profile.regions.of_node >= 0), {*profile.regions.call.tolist()}
    bodies = dict(zip(profile.nodes.name.take(inside), inside.tolist(), strict=True))
    plain, names = run.name.tolist(), canonical(run.name).tolist()
    end = run.start_us + run.end_rel_us
    known = node.tolist()
    open_calls: list[_Open] = []
    for stat in np.lexsort((-end, run.start_us)).tolist():
        begin, until, device = int(run.start_us[stat]), int(end[stat]), int(run.stat_device[stat])
        open_calls = [call for call in open_calls if call.end >= begin][-_MOST_OPEN:]
        for call in reversed(open_calls):
            if call.device != device or until > call.end:
                continue
            inner = bodies.get(call.prefix + names[stat], bodies.get(call.prefix + plain[stat]))
            inner = inner if call.prefix else None
            of_the_call = op[stat] in _OF_THE_CALL or plain[stat] in _OF_THE_CALL
            if inner is None and of_the_call and call.node >= 0:
                inner = call.node
            if inner is not None:
                node_inside[stat], container[stat] = inner, call.stat
                break
            bodiless[stat] |= not call.prefix
        bodiless[stat] &= node_inside[stat] < 0
        caller = int(node_inside[stat]) if node_inside[stat] >= 0 else known[stat]
        if op[stat] in _CALLS and until > begin:
            prefix = profile.nodes.name[caller] + b"/" if caller in calling else b""
            open_calls.append(_Open(stat, until, device, prefix, caller))
    return node_inside, container, bodiless


def _renamed(profile: Profile, name: Strings, details: RunDetails) -> I64:
    """The node of each name before an optimizer renamed it; -1 if unknown."""
    origin = [details.renamed.get(text, (b"", b"")) for text in name]
    node = np.full(len(name), -1, np.int64)
    if not any(original for original, _ in origin):
        return node
    nodes: dict[bytes, list[int]] = defaultdict(list)
    for index, key in enumerate(local_names(profile)):
        nodes[key].append(index)
    for row, (original, function) in enumerate(origin):
        candidates = nodes.get(original + b"@" + function, []) if original else []
        node[row] = min(candidates, default=-1)
    return node
