"""Loops and calls: how often a body runs, which inputs change, and what a call returns.

    while i < n and j < 50:      the condition compares a counter with a constant
        i, j = i + 1, j + 1      the body returns a counter plus a constant step

A node in the body that reads an argument reads the own input of the loop, whose value holds for the
first iteration only. So the values of arguments that the body changes are unknown inside.

          data inputs of the calling node                     output k is
call      what the body returns, its own                      what the body returns as k
loop      what the body returns, the condition, its own       either input k of both
choice    what each branch returns, one after the other       input k of any branch
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION
from tfprof.ops.op import Graph, GraphOp, Item
from tfprof.ops.shape import MaybeShape, UnknownShape, agreed, merged

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.ops.shape import Value

Source = tuple[int, int]

_PASSING: Final = frozenset({"Identity", "StopGradient", "Snapshot", "PreventGradient"})
# (input that is the counter, 1 if it goes up or -1 if down, 1 if it reaches the bound itself)
_COMPARISONS: Final = {
    "Less": ((0, 1, 0), (1, -1, 0)),
    "LessEqual": ((0, 1, 1), (1, -1, 1)),
    "Greater": ((1, 1, 0), (0, -1, 0)),
    "GreaterEqual": ((1, 1, 1), (0, -1, 1)),
}
_SUMS: Final = frozenset({"Add", "AddV2", "Sub"})
_MOST_TRIPS: Final = 2**62


class Loops:
    """The loops of a graph."""

    def __init__(self, graph: Graph, calls: Calls) -> None:
        self._graph, self._calls = graph, calls
        self._origin: dict[Source, Source] = {}
        self._varying: dict[int, frozenset[Source]] = {}
        self._of_source: dict[int, dict[Source, list[int]]] = {}
        # Loops whose conditions depend on more than the known bound.
        self.may_end_sooner: set[int] = set()

    def origin(self, node: int, output: int) -> Source:
        """Where an output comes from, behind nodes that only pass it on."""
        way: set[Source] = set()
        at = node, output
        while at not in self._origin and (before := self._before(at)) is not None:
            if at in way:
                break  # a cycle
            way.add(at)
            at = before
        end = self._origin.get(at, at)
        self._origin.update(dict.fromkeys(way, end))
        return end

    def _before(self, source: Source) -> Source | None:
        """What an output passes on; None where the node computes it."""
        node, output = source
        if node < 0:
            return None
        call = self._calls.of.get(node)
        if call is None:
            passes = self._graph.type_of(node) in _PASSING
            sources = self._graph.sources(node) if passes else []
            return sources[0] if sources else None
        if call.kinds[0] != CALLED or output >= call.outputs:
            return None
        sources = self._graph.sources(node)
        return sources[output] if output < len(sources) else None

    def varies(self, reader: int, node: int, output: int) -> bool:
        """Whether what a node reads may change from one iteration of its loop to the next."""
        around = self._calls.around(reader)
        if not around:
            return False
        outside = set(around) - set(self._calls.around(node)) if node >= 0 else set(around)
        return any(
            (node, output) in self._varying_of(int(self._calls.call[region]))
            for region in outside
            if self._calls.kind[region] in (LOOP_BODY, LOOP_CONDITION)
        )

    def _varying_of(self, loop: int) -> frozenset[Source]:
        """The own inputs of a loop that its body changes."""
        if loop not in self._varying:
            call, sources = self._calls.of[loop], self._graph.sources(loop)
            body = call.returns_of(LOOP_BODY)
            own = sources[call.own :]
            returned = sources[body : body + len(own)] if body is not None else []
            returned += [(-1, -1)] * (len(own) - len(returned))
            self._varying[loop] = frozenset(
                source
                for source, back in zip(own, returned, strict=True)
                if self.origin(*source) != self.origin(*back)
            )
        return self._varying[loop]

    def trips(self, loop: int) -> int | None:
        """How often the body runs; None: no known bound."""
        call = self._calls.of[loop]
        op = GraphOp(self._graph, loop)
        condition = call.returns_of(LOOP_CONDITION)
        if condition is None or condition >= op.inputs:
            return None
        todo, seen = [op.sources[condition]], set()
        counts: list[int | None] = []
        while todo:
            node, _ = self.origin(*todo.pop())
            if node < 0 or node in seen:
                continue
            seen.add(node)
            if self._graph.type_of(node) == "LogicalAnd":
                todo.extend(self._graph.sources(node))
            else:
                counts.append(self._compared(call, op, GraphOp(self._graph, node)))
        known = [count for count in counts if count is not None]
        if known and len(known) < len(counts):
            self.may_end_sooner.add(loop)
        return min(known) if known else None

    def _compared(self, call: Call, loop: GraphOp, comparison: GraphOp) -> int | None:
        """How many iterations one comparison allows; None: it is none, or bounds nothing."""
        for counter, way_up, reaches in _COMPARISONS.get(comparison.type, ()):
            bound = self._whole(comparison, 1 - counter)
            if bound is None or counter >= comparison.inputs:
                continue
            source = self.origin(*comparison.sources[counter])
            # Several variables may start as the same tensor: any of them may be the counter.
            counts: set[int | None] = set()
            for number in range(call.own, loop.inputs):
                if self.origin(*loop.sources[number]) == source:
                    step = self._step(call, loop, number - call.own)
                    first = self._whole(loop, number)
                    if not step or first is None:
                        counts.add(None)
                    else:
                        counts.add(_iterations(first, bound, step, way_up, reaches))
            if len(counts) == 1:
                return counts.pop()
        return None

    def _step(self, call: Call, loop: GraphOp, variable: int) -> int | None:
        """By how much a loop variable grows in each iteration; None: it does something else."""
        body = call.returns_of(LOOP_BODY)
        if body is None or variable >= call.outputs:
            return None
        own = self.origin(*loop.sources[call.own + variable])
        node, _ = self.origin(*loop.sources[body + variable])
        if node < 0 or self._graph.type_of(node) not in _SUMS:
            return None
        if call.regions[call.kinds.index(LOOP_BODY)] not in self._calls.around(node):
            return None
        total = GraphOp(self._graph, node)
        for place in (0,) if total.type == "Sub" else (0, 1):
            if total.inputs > 1 and self.origin(*total.sources[place]) == own:
                step = self._whole(total, 1 - place)
                return step if step is None or total.type != "Sub" else -step
        return None

    def final_values(self, call: Call, op: GraphOp) -> list[Value | None]:
        """The outputs of a loop: inputs that it does not change, and the ends of its counters."""
        varying = self._varying_of(op.node)
        values: list[Value | None] = []
        for output in range(min(call.outputs, op.inputs - call.own)):
            first = op.value(call.own + output)
            if first is None or op.sources[call.own + output] not in varying:
                values.append(first)
                continue
            step = self._step(call, op, output)
            trips = None if step is None else self._graph.trips(op.node)
            start = self._whole(op, call.own + output)
            known = None not in (step, trips, start) and op.node not in self.may_end_sooner
            values.append(np.array((start or 0) + (step or 0) * (trips or 0)) if known else None)
        return values

    def final_length(self, call: Call, op: GraphOp, output: int, back: Item, first: Item) -> Item:
        """The list that a loop returns, of which only the length counts here.

        It began as *first*, and an iteration returns *back*.
        """
        source = op.sources[call.own + output]
        # Several variables may start as the same list: an iteration may return either.
        if back.since != source or len(self._variables(call, op)[source]) > 1:
            return _common([back, first])
        if back.set_at is not None:
            return Item(None, self._reached(call, op, back.set_at, first.length))
        more = 0
        if back.added:
            trips = self._graph.trips(op.node)
            if trips is None or op.node in self.may_end_sooner:
                return Item()
            more = back.added * trips
        length = None if first.length is None else max(0, first.length + more)
        return first._replace(length=length, added=first.added + more)

    def _reached(self, call: Call, op: GraphOp, index: Source, length: int | None) -> int | None:
        """The length of a list in which a loop sets elements, one per number of a counter."""
        variables = self._variables(call, op).get(index, [])
        trips = self._graph.trips(op.node)
        if len(variables) != 1 or None in (trips, length) or op.node in self.may_end_sooner:
            return None
        start = self._whole(op, call.own + variables[0])
        step = self._step(call, op, variables[0])
        if not trips or start is None or not step:
            return length if trips == 0 else None
        return max(length or 0, start + 1, start + step * (trips - 1) + 1)

    def _variables(self, call: Call, op: GraphOp) -> dict[Source, list[int]]:
        """The numbers of the loop variables that begin as each source."""
        if op.node not in self._of_source:
            numbers: dict[Source, list[int]] = {}
            for number, source in enumerate(op.sources[call.own :]):
                numbers.setdefault(source, []).append(number)
            self._of_source[op.node] = numbers
        return self._of_source[op.node]

    @staticmethod
    def _whole(op: GraphOp, number: int) -> int | None:
        try:
            return op.number(number)
        except UnknownShape:
            return None


def _iterations(first: int, bound: int, step: int, way_up: int, reaches: int) -> int | None:
    """How often a counter is within its bound; None: for ever. *way_up* is 1, or -1 downwards."""
    way, pace = (bound - first) * way_up + reaches, step * way_up
    if way <= 0:
        return 0
    return None if pace <= 0 else min(-(-way // pace), _MOST_TRIPS)


def _sources(call: Call, output: int) -> list[int]:
    """The data inputs that an output may be."""
    if call.kinds[0] == CALLED:
        return [output]
    if call.kinds[0] == BRANCH:
        return [first + output for first in call.first]
    return [call.first[call.kinds.index(LOOP_BODY)] + output, call.own + output]


def _shapes(_: Loops, call: Call, op: GraphOp) -> list[MaybeShape]:
    return [
        agreed(op.shape(number) for number in _sources(call, output) if number < op.inputs)
        for output in range(call.outputs)
    ]


def _values(loops: Loops, call: Call, op: GraphOp) -> list[Value | None]:
    if LOOP_CONDITION in call.kinds:
        return loops.final_values(call, op)
    outputs = (_sources(call, output) for output in range(call.outputs))
    return [_same([op.value(number) for number in numbers]) for numbers in outputs]


def _same(values: list[Value | None]) -> Value | None:
    first, *others = values
    if first is None or any(each is None or not np.array_equal(first, each) for each in others):
        return None
    return first


def _items(loops: Loops, call: Call, op: GraphOp) -> list[Item]:
    """What handles point to; a loop may add elements to a list."""
    items = []
    for output in range(call.outputs):
        sources = [op.item(number) for number in _sources(call, output) if number < op.inputs]
        if len(sources) == 1:
            items.append(sources[0])
            continue
        filled = [item for item in sources if not item.is_new] or sources[:1]
        # Elements are alike: those that a loop adds complete the shape of an empty list.
        known = [item.shape for item in sources if item.shape is not None]
        shape = agreed(known) if call.kinds[0] == BRANCH else reduce(merged, known, None)
        end = _common(sources)
        if LOOP_CONDITION in call.kinds and len(sources) > 1:
            end = loops.final_length(call, op, output, *sources)
        value = _same([item.value for item in filled]) if filled else None
        is_new = all(item.is_new for item in sources)
        items.append(end._replace(shape=shape, value=value, is_new=is_new))
    return items


def _common(items: list[Item]) -> Item:
    ends = {(item.length, item.since, item.added, item.set_at) for item in items}
    length, since, added, set_at = ends.pop() if len(ends) == 1 else (None, None, 0, None)
    return Item(None, length, since=since, added=added, set_at=set_at)


CALL_RULES: Final = (_shapes, _values, _items)


class Call(NamedTuple):
    """A call: its regions, and which of its data inputs are theirs."""

    regions: tuple[int, ...]
    kinds: tuple[int, ...]
    first: tuple[int, ...]  # the data input that is the first result of each region
    outputs: int
    own: int  # the first data input of the call itself

    def returns_of(self, kind: int) -> int | None:
        """The data input that is the first result of the region of *kind*, or None."""
        return self.first[self.kinds.index(kind)] if kind in self.kinds else None


class Calls:
    """The calls of a profile, by the node that calls."""

    def __init__(self, profile: Profile) -> None:
        regions = profile.regions
        self._of_node = regions.of_nodes(len(profile))
        self.of: dict[int, Call] = {}
        self.outer: list[int] = self._of_node[regions.call].tolist()
        of_call: dict[int, list[int]] = {}
        for region, call in enumerate(regions.call.tolist()):
            of_call.setdefault(call, []).append(region)
        # Files may be damaged: what is not an input of the call is not an output either.
        inputs = np.diff(profile.edges.start)[regions.call]
        returned = np.clip(regions.returns, 0, inputs).tolist()
        for call, numbers in of_call.items():
            returns = [returned[number] for number in numbers]
            kinds = tuple(int(regions.kind[number]) for number in numbers)
            first = tuple(accumulate(returns[:-1], initial=0))
            self.of[call] = Call(tuple(numbers), kinds, first, returns[0], sum(returns))
        self.call = regions.call
        self.kind = regions.kind

    def region_of(self, node: int) -> int:
        """The region that a node is in; -1: none."""
        return int(self._of_node[node])

    def around(self, node: int) -> list[int]:
        """The regions around a node, the innermost first."""
        regions, region = [], self.region_of(node)
        while region >= 0:
            regions.append(region)
            region = self.outer[region]
        return regions
