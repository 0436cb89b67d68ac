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

from copy import copy
from functools import partial, reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION
from tfprof.ops.loop_bounds import MOST_TRIPS, Bound, allowed, sides
from tfprof.ops.needed import for_each
from tfprof.ops.op import Graph, GraphOp, Item
from tfprof.ops.shape import MaybeShape, UnknownShape, agreed, merged

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.ops.shape import Value

Source = tuple[int, int]

_PASSING: Final = frozenset(
    {"Identity", "StopGradient", "Snapshot", "PreventGradient", "get-tuple-element"}
)
_SUMS: Final = frozenset({"Add", "AddV2", "Sub", "add", "subtract"})
_DIFFERENCES: Final = frozenset({"Sub", "subtract"})
_BOTH: Final = frozenset({"LogicalAnd", "and"})
# Of comparisons, and of variables that may be their counters: with more, the bound is unknown.
# For each number that is not inferred yet, all of them are tried again.
_MOST_COMPARED: Final = 16
_EVERY_OUTPUT: Final = -1
_COUNTED_BY_XLA: Final = "while"  # the loop of HLO, which may say itself how often it runs


class Loops:
    """The loops of a graph."""

    def __init__(self, graph: Graph, calls: Calls) -> None:
        self._graph, self._calls = graph, calls
        self._origin: dict[Source, Source] = {}
        self._varying: dict[int, frozenset[Source]] = {}
        self._of_source: dict[int, dict[Source, list[int]]] = {}
        self._of_origin: dict[int, dict[Source, list[int]]] = {}
        # Loops whose conditions depend on more than the known bound.
        self.may_end_sooner: set[int] = set()

    def of(self, graph: Graph, counted: set[int]) -> Loops:
        """The same loops in *graph*, which knows how often those in *counted* run."""
        other = copy(self)
        vars(other).update(_graph=graph, may_end_sooner=self.may_end_sooner & counted)
        return other

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
        sources = {(node, output), (node, _EVERY_OUTPUT)}
        return any(
            not sources.isdisjoint(self._varying_of(int(self._calls.call[region])))
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
            varying = {
                source
                for source, back in zip(own, returned, strict=True)
                if self.origin(*source) != self.origin(*back)
            }
            # In HLO, the only one may be a whole tuple.
            whole = {(node, _EVERY_OUTPUT) for node, _ in varying if len(own) == 1}
            self._varying[loop] = frozenset(varying | whole)
        return self._varying[loop]

    def trips(self, loop: int) -> int | None:
        """How often the body runs; None: no known bound."""
        call = self._calls.of[loop]
        op = GraphOp(self._graph, loop)
        if op.type == _COUNTED_BY_XLA:
            known = op.attr("known_trip_count")
            if isinstance(known, int) and known >= 0:
                return min(known, MOST_TRIPS)
        condition = call.returns_of(LOOP_CONDITION)
        if condition is None or condition >= op.inputs:
            return None
        comparisons = self._comparisons(op.sources[condition])
        if len(comparisons) > _MOST_COMPARED:
            return None
        bounds = for_each(self._bounds, comparisons)
        variables = self._starting(call, op, {bound.source for each in bounds for bound in each})
        if sum(map(len, variables.values())) > _MOST_COMPARED:
            variables = {source: at if len(at) == 1 else [] for source, at in variables.items()}
        places = [at for numbers in variables.values() for at in numbers]
        counter = dict(zip(places, for_each(partial(self._counter, call, op), places), strict=True))
        counters = {
            source: {counter[at] for at in numbers} for source, numbers in variables.items()
        }
        counts = [allowed(each, counters) for each in bounds]
        known = [count for count in counts if count is not None]
        if known and len(known) < len(counts):
            self.may_end_sooner.add(loop)
        return min(known) if known else None

    def _comparisons(self, condition: Source) -> list[int]:
        """The nodes that all have to be true, as far as one more than the most."""
        todo, seen = [condition], set()
        nodes: list[int] = []
        while todo and len(nodes) <= _MOST_COMPARED:
            node, _ = self.origin(*todo.pop())
            if node < 0 or node in seen:
                continue
            seen.add(node)
            if self._graph.type_of(node) in _BOTH:
                todo.extend(self._graph.sources(node))
            else:
                nodes.append(node)
        return nodes

    def _bounds(self, node: int) -> list[Bound]:
        """What a comparison holds against a known number, either way."""
        op, bounds = GraphOp(self._graph, node), []
        for counter, way_up, reaches in sides(op):
            number = self._whole(op, 1 - counter)
            if number is not None and counter < op.inputs:
                bounds.append(Bound(self.origin(*op.sources[counter]), number, way_up, reaches))
        return bounds

    def _starting(self, call: Call, loop: GraphOp, sources: set[Source]) -> dict[Source, list[int]]:
        """The loop variables that start as each of *sources*."""
        if loop.node not in self._of_origin:
            numbers: dict[Source, list[int]] = {}
            for number, own in enumerate(loop.sources[call.own :]):
                numbers.setdefault(self.origin(*own), []).append(number)
            self._of_origin[loop.node] = numbers
        return {source: self._of_origin[loop.node].get(source, []) for source in sources}

    def _counter(self, call: Call, loop: GraphOp, variable: int) -> tuple[int | None, int | None]:
        """(where a loop variable starts, by how much it grows in each iteration)."""
        return self._whole(loop, call.own + variable), self._step(call, loop, variable)

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
        for place in (0,) if total.type in _DIFFERENCES else (0, 1):
            if total.inputs > 1 and self.origin(*total.sources[place]) == own:
                step = self._whole(total, 1 - place)
                return step if step is None or total.type not in _DIFFERENCES else -step
        return None

    def final_values(self, call: Call, op: GraphOp) -> list[Value | None]:
        """The outputs of a loop: inputs that it does not change, and the ends of its counters."""
        varying = self._varying_of(op.node)

        def final(output: int) -> Value | None:
            first = op.value(call.own + output)
            if first is None or op.sources[call.own + output] not in varying:
                return first
            step = self._step(call, op, output)
            trips = None if step is None else self._graph.trips(op.node)
            start = self._whole(op, call.own + output)
            known = None not in (step, trips, start) and op.node not in self.may_end_sooner
            return np.array((start or 0) + (step or 0) * (trips or 0)) if known else None

        return for_each(final, range(min(call.outputs, op.inputs - call.own)))

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
    return for_each(
        lambda output: _same(for_each(op.value, _sources(call, output))), range(call.outputs)
    )


def _same(values: list[Value | None]) -> Value | None:
    first, *others = values
    if first is None or any(each is None or not np.array_equal(first, each) for each in others):
        return None
    return first


def _items(loops: Loops, call: Call, op: GraphOp) -> list[Item]:
    """What handles point to; a loop may add elements to a list."""

    def item(output: int) -> Item:
        sources = for_each(op.item, (each for each in _sources(call, output) if each < op.inputs))
        if len(sources) == 1:
            return sources[0]
        filled = [item for item in sources if not item.is_new] or sources[:1]
        # Elements are alike: those that a loop adds complete the shape of an empty list.
        known = [item.shape for item in sources if item.shape is not None]
        shape = agreed(known) if call.kinds[0] == BRANCH else reduce(merged, known, None)
        end = _common(sources)
        if LOOP_CONDITION in call.kinds and len(sources) > 1:
            end = loops.final_length(call, op, output, *sources)
        value = _same([item.value for item in filled]) if filled else None
        is_new = all(item.is_new for item in sources)
        return end._replace(shape=shape, value=value, is_new=is_new)

    return for_each(item, range(call.outputs))


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
