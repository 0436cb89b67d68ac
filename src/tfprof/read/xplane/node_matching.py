"""Which node of a graph each execution of a trace is put on, and what is worth saying about it.

the same by one of its names     on it (`runtime_names`)
handed over to a function        on the node that calls it
fused                            on what it fused, which has the fused type as well (`fused`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import places
from tfprof.foundation.arguments import shown
from tfprof.model import Note
from tfprof.read.merge import with_types
from tfprof.read.runtime_names import is_added, node_of
from tfprof.read.xplane.fused import fused_node, is_fused
from tfprof.read.xplane.operations import either
from tfprof.read.xplane.trace import COMPILED, DATA, EAGER, KERNEL, NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile
    from tfprof.read.xplane.trace import Events

# The scope of what is not in the graph.
NOT_IN_GRAPH = b"_not_in_graph/"
_HANDED_OVER = (b"_Arg", b"_Retval")
_PS_IN_US = 10**6
_EXAMPLES = 3


class Placing:
    """Which node of a graph each execution is put on, and what is worth saying about it."""

    def __init__(self, profile: Profile, events: Events) -> None:
        self._profile, self._events = profile, events
        self.fused: list[tuple[int, bytes]] = []  # (node, type) of what was fused
        self.exact = np.zeros(len(events.name), np.bool_)  # whether it is just that node that ran
        self.is_fused = np.zeros(len(events.name), np.bool_)

    def nodes(self) -> I64:
        """The node of each execution, -1 where the graph has none."""
        profile, events = self._profile, self._events
        node = np.full(len(events.name), -1, np.int64)
        if not len(profile):
            return node
        inside = np.flatnonzero(np.isin(events.kind, (NODE, COMPILED, KERNEL)))
        node[inside] = node_of(profile, events.name.take(inside), events.function.take(inside))
        self._hand_over(node)
        types, op = with_types(profile.types, events.op)
        same = np.append(profile.nodes.op, -1)[node] == op
        self.exact = same & (events.kind == NODE) & ~_added(events.name)
        self._put_fused(node, np.flatnonzero((node >= 0) & ~same), op, types)
        return node

    def _hand_over(self, node: I64) -> None:
        """Put arguments and results of a function on the node that calls it."""
        ops = Strings.of(_HANDED_OVER)
        rows = np.flatnonzero((node < 0) & (ops.find(self._events.op) >= 0))
        if not rows.size:
            return
        names = self._events.name.take(rows)
        functions = self._events.function.take(rows)
        ids, first = names.intern()
        calls = Strings.of(name.rpartition(b"/")[0] for name in names.take(first))
        node[rows] = node_of(self._profile, either(calls, ids, functions), functions)

    def _put_fused(self, node: I64, rows: I64, op: I64, types: Strings) -> None:
        fused = np.array([is_fused(one) for one in types], np.bool_)
        rows = rows[fused[op[rows]]]
        pair, back = places(node[rows] * len(types) + op[rows])
        at = []
        for one in pair.tolist():
            named, kind = divmod(one, len(types))
            found = fused_node(self._profile, named, types[kind])
            at.append(found if found >= 0 else named)
            self.fused.append((at[-1], types[kind]))
        node[rows] = np.array(at, np.int64)[back]
        self.is_fused[rows] = True

    def itself(self, is_new: Bool) -> Bool:
        """Which executions are of the node that they are on: *is_new* has only its own."""
        result: Bool = is_new | self.exact | self.is_fused | (self._events.kind == KERNEL)
        return result

    def notes(self, node: I64) -> Iterator[Note]:
        """What is put where one would not look for it."""
        if not bool(self._profile.in_graph.any()):
            return
        events = self._events
        rows = np.flatnonzero(self.is_fused)
        if rows.size:
            pairs = [
                f"{op.decode('utf-8', 'replace')} on {self._name(at)}" for at, op in self.fused
            ]
            yield _note(
                f"{rows.size:,} executions of fused operations are put on what they fused: "
                + _some(pairs)
            )
        compiled = np.flatnonzero((events.kind == COMPILED) & (node >= 0))
        if compiled.size:
            yield _note(
                f"{compiled.size:,} executions are of instructions that XLA made; one that stands "
                "for several nodes is put on the one that it is named after"
            )
        lost = np.flatnonzero(node < 0)
        if lost.size:
            total = max(int(events.own_ps.sum()), 1)
            own = int(events.own_ps[lost].sum())
            yield _note(
                f"{lost.size:,} of {node.size:,} executions, {own // _PS_IN_US:,} us "
                f"({100 * own / total:.1f} %), are of nothing that the graph has: "
                f"see {NOT_IN_GRAPH.decode()}{self._elsewhere()}"
            )

    def _elsewhere(self) -> str:
        """How much of what is not in the graph is of no graph at all."""
        events = self._events
        took = {
            what: int(events.own_ps[events.kind == kind].sum()) // _PS_IN_US
            for kind, what in ((EAGER, "outside of functions"), (DATA, "in functions of tf.data"))
        }
        parts = [f"{us:,} us ran {what}" for what, us in took.items() if us]
        return f" ({', '.join(parts)})" if parts else ""

    def _name(self, node: int) -> str:
        return shown(self._profile.nodes.name[node].decode("utf-8", "replace"))


def _added(names: Strings) -> Bool:
    """Which of these the runtime made."""
    ids, first = names.intern()
    return np.array([is_added(name) for name in names.take(first)], np.bool_)[ids]


def _note(text: str) -> Note:
    return Note(text, ours=True)


def _some(texts: list[str]) -> str:
    more = len(texts) - _EXAMPLES
    return ", ".join(texts[:_EXAMPLES]) + (f" and {more:,} more" if more > 0 else "")
