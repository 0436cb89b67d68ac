"""Which nodes of functions the stats of a run are of, and what calls take without what they call.

    stat                               node
    loop/body/_1/mm                    loop/body/mm         by its name: see runtime_names
    ConstantFolding/… ◄ mm in body_3   loop/body/mm         by what a partition graph says it was
    mm       } while call runs         call/mm              by the time: what is not inlined has
    call     } 470 us                  call, 176 us         its bare name, and the call contains it

A name that none of this explains stays unknown, and becomes a node of its own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.functions.local_names import local_names
from tfprof.read.runtime_names import canonical, node_of

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile
    from tfprof.read.columns import RunColumns
    from tfprof.read.run_details import RunDetails

# Operations that run the body of a function in their own time.
_CALLS: Final = (b"PartitionedCall", b"StatefulPartitionedCall", b"RemoteCall")
# How many calls that run at one time are tried for a stat, the latest first.
_MOST_OPEN: Final = 16
# What hands arguments in and results out, and what begins a function, is work of the call.
_OF_THE_CALL: Final = (b"_Arg", b"_Retval", b"_SOURCE")


class _Open(NamedTuple):
    """A call that is running."""

    stat: int
    end: int
    device: int
    prefix: bytes  # of the names in its body
    node: int


def with_functions(profile: Profile, run: RunColumns, node: I64) -> tuple[I64, RunColumns]:
    """(the node of each stat or -1, the run with calls less what they contain)."""
    assert run.details is not None, "a run is read together with its details"
    told = run.details()
    node = node.copy()
    inside, contained = _inside_calls(profile, run, told, node)
    node[inside >= 0] = inside[inside >= 0]
    rest = np.flatnonzero(node < 0)
    node[rest] = node_of(profile, run.name.take(rest))
    rest = np.flatnonzero(node < 0)
    node[rest] = _renamed(profile, run.name.take(rest), told)
    taken = np.zeros(len(run.name), np.int64)
    np.add.at(taken, contained[contained >= 0], np.maximum(run.end_rel_us[contained >= 0], 0))
    own = np.where(taken > 0, np.maximum(run.end_rel_us - taken, 0), run.end_rel_us)
    return node, replace(run, end_rel_us=own)


def _inside_calls(
    profile: Profile, run: RunColumns, told: RunDetails, node: I64
) -> tuple[I64, I64]:
    """(the node that each stat inside of a running call is of or -1, the stat of that call or -1).

    Calls run side by side at times, so of those that are open the latest one counts whose body has
    the name. The stat of a call is told when it ends, behind what it called.
    """
    found, container = np.full((2, len(run.name)), -1, np.int64)
    op = told.op.tolist()
    if not any(one in _CALLS for one in op):
        return found, container
    body = _Bodies(profile)
    plain, names = run.name.tolist(), canonical(run.name).tolist()
    end = run.start_us + run.end_rel_us
    known = node.tolist()
    open_calls: list[_Open] = []
    for stat in np.lexsort((-end, run.start_us)).tolist():
        begin, until, device = int(run.start_us[stat]), int(end[stat]), int(run.stat_device[stat])
        open_calls = [one for one in open_calls if one.end >= begin][-_MOST_OPEN:]
        for call in reversed(open_calls):
            if call.device != device or until > call.end:
                continue
            inner = body.find(call.prefix, names[stat], plain[stat])
            if inner is None and (op[stat] in _OF_THE_CALL or plain[stat] in _OF_THE_CALL):
                inner = call.node
            if inner is not None:
                found[stat], container[stat] = inner, call.stat
                break
        at = int(found[stat]) if found[stat] >= 0 else known[stat]
        if op[stat] in _CALLS and at >= 0 and until > begin:
            open_calls.append(_Open(stat, until, device, body.prefix(at), at))
    return found, container


class _Bodies:
    """The nodes of bodies by name."""

    def __init__(self, profile: Profile) -> None:
        regions = profile.regions
        inside = np.flatnonzero(regions.of_node >= 0)
        self._names = profile.nodes.name
        names = self._names.take(inside).tolist()
        self._node = dict(zip(names, inside.tolist(), strict=True))

    def prefix(self, call: int) -> bytes:
        """What the names in the body that a node calls begin with."""
        return self._names[call] + b"/"

    def find(self, prefix: bytes, *names: bytes) -> int | None:
        """The node with one of these names in a body."""
        for name in names:
            if (node := self._node.get(prefix + name)) is not None:
                return node
        return None


def _renamed(profile: Profile, name: Strings, told: RunDetails) -> I64:
    """The nodes that names were before an optimiser renamed them; -1 where that is not told."""
    origin = [told.renamed.get(one, (b"", b"")) for one in name]
    found = np.full(len(name), -1, np.int64)
    if not any(original for original, _ in origin):
        return found
    nodes: dict[bytes, list[int]] = defaultdict(list)
    for place, key in enumerate(local_names(profile)):
        nodes[key].append(place)
    for row, (original, function) in enumerate(origin):
        candidates = nodes.get(original + b"@" + function, []) if original else []
        found[row] = min(candidates, default=-1)
    return found
