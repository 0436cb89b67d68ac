"""Engine: works out what is asked for, and what that needs, one after the other.

    asked        shape of c         c is open: its rule asks for the shape of b and the value of k
    waiting      c ► b, k           these are worked out first, then the rule of c runs once more
    remembered   k, b, c            each once

Nothing that nobody asks for is looked at, and nothing calls itself: what waits is a list. In a
cycle, what is asked for while it waits is unknown.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.inference.attributes import attributes_of
from tfprof.inference.call_rules import CALL_RULES
from tfprof.inference.calls import Calls
from tfprof.inference.listed import Listed
from tfprof.inference.loops import Loops
from tfprof.inference.operation import Item, Operation
from tfprof.inference.shape import Unknown, sound
from tfprof.inference.table import rules
from tfprof.inference.value import small
from tfprof.model import BRANCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfprof.inference.shape import Maybe
    from tfprof.inference.value import Value
    from tfprof.model import Profile

SHAPE, VALUE, ITEM, TRIPS = range(4)
# What rules raise for an operation that no TensorFlow would build.
_NOT_MADE_FOR: Final = (ArithmeticError, LookupError, TypeError, ValueError, MemoryError)
# Their rules ask for some inputs alone, since others need them.
_IN_CYCLES: Final = ("Merge", "RefMerge")
# Of so many inputs a rule does not ask one by one, each time from the beginning.
_MANY: Final = 64
# What is kept of what a rule says of an output.
_KEPT: Final[dict[int, Callable[[Any], Any]]] = {
    SHAPE: sound,
    VALUE: lambda value: None if value is None else small(value),
    ITEM: lambda item: item,
}
_NOTHING: Final[dict[int, Any]] = {SHAPE: None, VALUE: None, ITEM: Item()}


class Needed(Exception):  # noqa: N818 - no error: a rule waits for it
    """What has to be worked out first: (kind, node) of each."""

    def __init__(self, keys: list[tuple[int, int]]) -> None:
        super().__init__()
        self.keys = keys


class Engine:
    """What can be known of the outputs of a profile's nodes, given the sizes of its inputs."""

    def __init__(self, profile: Profile, sizes: Mapping[int, Mapping[int, int]]) -> None:
        """*sizes* are the lengths that open axes of input nodes are given, by node and axis."""
        self._attributes = attributes_of(profile)
        self._listed = Listed(profile, self._attributes)
        self._calls = Calls(profile)
        self._loops = Loops(self, self._calls)
        self._sizes = sizes
        # Lists: rules are about single nodes, and NumPy's columns are slow to be read one by one.
        self._op: list[int] = profile.nodes.op.tolist()
        self._types = [*profile.types.texts()]
        self._start: list[int] = profile.edges.start.tolist()
        self._source: list[int] = profile.edges.source.tolist()
        self._slot: list[int] = profile.edges.slot.tolist()
        self._known: dict[tuple[int, int], Any] = {}
        self._waiting: set[tuple[int, int]] = set()
        self._one_at_a_time = Lock()  # what waits for another thread would look like a cycle
        self._rules = rules()

    def type_of(self, node: int) -> str:
        """The type of a node's operation."""
        return self._types[self._op[node]]

    def sources(self, node: int) -> list[tuple[int, int]]:
        """(node, output) of each data input of a node; a node below 0 is not in the graph."""
        span = range(self._start[node], self._start[node + 1])
        return [(self._source[at], self._slot[at]) for at in span if self._slot[at] >= 0]

    def attribute(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """What an attribute of a node says."""
        return self._attributes.get(node, name, default)

    def varies(self, reader: int, node: int, output: int) -> bool:
        """Whether what a node reads may be another in each turn of a loop that it is in."""
        return self._loops.varies(reader, node, output)

    # --- what rules ask for: Needed is raised for what is not known yet ---

    def shape(self, node: int, output: int) -> Maybe:
        """The shape of an output, as far as it can be known."""
        shape: Maybe = self._one(SHAPE, node, output)
        return shape

    def value(self, node: int, output: int) -> Value | None:
        """The numbers of an output, if they are few and known."""
        value: Value | None = self._one(VALUE, node, output)
        return value

    def item(self, node: int, output: int) -> Item:
        """What the handle that is an output leads to."""
        item: Item = self._one(ITEM, node, output)
        return item

    def trips(self, call: int) -> int | None:
        """How often the body of a loop runs; None where that cannot be known."""
        trips: int | None = self._all(TRIPS, call)
        return trips

    def may_end_sooner(self) -> list[int]:
        """The loops, of those whose trips were asked for, that may run less often than that."""
        return sorted(self._loops.may_end_sooner)

    def _one(self, kind: int, node: int, output: int) -> Any:  # noqa: ANN401 - by kind
        outputs = self._all(kind, node) if node >= 0 else ()
        return outputs[output] if outputs and output < len(outputs) else _NOTHING[kind]

    def _all(self, kind: int, node: int) -> Any:  # noqa: ANN401 - by kind
        key = kind, node
        if key in self._known:
            return self._known[key]
        if key in self._waiting:
            return None
        raise Needed([key])

    # --- working out ---

    def settle(self, kind: int, nodes: Iterable[int]) -> list[Any]:
        """What there is to know of each node: a row an output, or the trips of a loop."""
        with self._one_at_a_time, np.errstate(all="ignore"):
            return [self._settled((kind, node)) for node in nodes]

    def _settled(self, wanted: tuple[int, int]) -> Any:  # noqa: ANN401 - by kind
        stack = [wanted]
        while stack:
            key = stack[-1]
            if key not in self._known:
                self._waiting.add(key)
                try:
                    self._known[key] = self._work_out(*key)
                except Needed as needed:
                    stack.extend(needed.keys)
                    continue
            self._waiting.discard(key)
            stack.pop()
        return self._known[wanted]

    def _work_out(self, kind: int, node: int) -> Any:  # noqa: ANN401 - by kind
        if kind == TRIPS:
            return self._loops.trips(node)
        if kind == SHAPE:
            return self._shapes(node)
        return self._ruled(kind, node)

    def _shapes(self, node: int) -> list[Maybe]:
        listed = self._listed.of(node)
        if listed.settled and node not in self._sizes:
            return listed.shapes
        shapes = listed.joined(self._ruled(SHAPE, node))
        for axis, size in self._sizes.get(node, {}).items():
            first = shapes[0] if shapes else None
            if first is not None and axis < len(first) and first[axis] < 0:
                shapes[0] = (*first[:axis], size, *first[axis + 1 :])
        return shapes

    def _ruled(self, kind: int, node: int) -> list[Any]:
        """What the rule of a node's type says, for each output; nothing where there is none."""
        call = self._calls.of.get(node)
        rule = self._rules[kind].get(self.type_of(node))
        if call is None and rule is None:
            return []
        op = Operation(self, node)
        found: Any
        if kind == SHAPE and op.type not in _IN_CYCLES:
            self._ask(SHAPE, op.sources)
        elif kind != SHAPE and op.inputs > _MANY and (call is None or call.kind == BRANCH):
            self._ask(kind, op.sources)
        try:
            if call is not None:
                found = [*CALL_RULES[kind](self._loops, call, op)]
            else:
                found = rule(op) if rule is not None else []
            # Attributes may be of any kind, and so is what comes of them.
            return [_KEPT[kind](one) for one in (found if isinstance(found, list) else [found])]
        except (Unknown, *_NOT_MADE_FOR):
            return []

    def _ask(self, kind: int, sources: list[tuple[int, int]]) -> None:
        """Ask for what is known of all inputs at once, so that a rule need not run for each."""
        keys = [(kind, source) for source, _ in sources if source >= 0]
        missing = [key for key in keys if key not in self._known and key not in self._waiting]
        if missing:
            raise Needed(missing)
