"""Engine: infers a requested shape or value, after everything that it depends on.

    asked        shape of c         c is open: its rule asks for the shape of b and the value of k
    waiting      c ► b, k           the engine infers these first, then runs the rule of c again
    remembered   k, b, c            each once

It infers only what is requested. It does not recurse: it keeps its own stack. In a cycle, a
value that waits for itself is unknown. It begins with the shapes that the graph declares. In the
columns of a profile a scalar is one element: where a shape may be either, the attribute decides;
without one (the shape comes from a run), a rule does.

`resized` gives the engine for other sizes of the inputs: it keeps all that does not depend on them.
"""

from __future__ import annotations

from copy import copy
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tfprof.ops.attributes import attributes_of
from tfprof.ops.loops import CALL_RULES, Calls, Loops
from tfprof.ops.needed import Needed
from tfprof.ops.op import GraphOp, Item
from tfprof.ops.shape import OPEN, MaybeShape, UnknownShape, Value, merged, sanitized, small
from tfprof.ops.table import NOT_MADE_FOR, OPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfprof.columns.strings import I64
    from tfprof.model import Profile

SHAPE, VALUE, ITEM, TRIPS = range(4)
_ONE: Final = (1,)
# Their rules ask for some inputs only, since others depend on them.
_IN_CYCLES: Final = ("Merge", "RefMerge")
# A rule with so many inputs gets them all at once: asked one by one, it would restart each time.
_MANY: Final = 64
# How the result of a rule is cleaned, by kind.
_CLEAN: Final[dict[int, Callable[[Any], Any]]] = {
    SHAPE: sanitized,
    VALUE: lambda value: None if value is None else small(value),
    ITEM: lambda item: item,
}
_UNKNOWN: Final[dict[int, Any]] = {SHAPE: None, VALUE: None, ITEM: Item()}


class Engine:
    """What is known of the outputs of a profile's nodes, with the sizes of its inputs."""

    def __init__(
        self, profile: Profile, sizes: Mapping[int, Mapping[int, int]], inputs: Iterable[int] = ()
    ) -> None:
        """*sizes* are the lengths of open axes of input nodes, by node and axis.

        *inputs* are the nodes that may get other sizes in `resized`.
        """
        self._attributes, self._calls, self._sizes = attributes_of(profile), Calls(profile), sizes
        self.loops = Loops(self, self._calls)
        self._inputs = frozenset(inputs)
        # Lists: rules read single elements, which is slow in NumPy's columns.
        self._op: list[int] = profile.nodes.op.tolist()
        self._types = [*profile.types.texts()]
        edges, outputs = profile.edges, profile.outputs
        self._start, self._source, self._slot = map(
            _listed, (edges.start, edges.source, edges.slot)
        )
        declared = outputs.start, outputs.shape.start, outputs.shape.dim
        self._output_start, self._rank_start, self._dim = map(_listed, declared)
        self._known: dict[tuple[int, int], Any] = {}
        self._waiting: set[tuple[int, int]] = set()
        # What depends on sizes of inputs, or on what was waiting: on the order of requests.
        self._sized: set[tuple[int, int]] = set()
        self._is_sized = False  # of what is being inferred
        self._one_at_a_time = Lock()  # waiting for another thread would look like a cycle
        self._rules: dict[int, Any] = {}  # (shape, value, item) of each operation type

    def resized(self, sizes: Mapping[int, Mapping[int, int]]) -> Engine:
        """The engine for other *sizes*."""
        other = copy(self)
        with self._one_at_a_time:
            known = {key: self._known[key] for key in self._known.keys() - self._sized}
        vars(other).update(_sizes=sizes, _known=known, _sized=set(), _waiting=set())
        vars(other).update(_one_at_a_time=Lock())
        other.loops = self.loops.of(other, {node for kind, node in known if kind == TRIPS})
        return other

    def type_of(self, node: int) -> str:
        """The operation type of a node."""
        return self._types[self._op[node]]

    def sources(self, node: int) -> list[tuple[int, int]]:
        """(node, output) of each data input of a node; a node below 0 is not in the graph."""
        span = range(self._start[node], self._start[node + 1])
        return [(self._source[at], self._slot[at]) for at in span if self._slot[at] >= 0]

    def attribute(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """The value of an attribute of a node."""
        return self._attributes.get(node, name, default)

    def varies(self, reader: int, node: int, output: int) -> bool:
        """Whether what a node reads may change from one iteration of its loop to the next."""
        return self.loops.varies(reader, node, output)

    # --- what rules ask for; raises Needed for what is not inferred yet ---

    def shape(self, node: int, output: int) -> MaybeShape:
        """The shape of an output, as far as known."""
        return cast("MaybeShape", self._one(SHAPE, node, output))

    def value(self, node: int, output: int) -> Value | None:
        """The numbers of an output, if few and known."""
        return cast("Value | None", self._one(VALUE, node, output))

    def item(self, node: int, output: int) -> Item:
        """What an output that is a handle points to."""
        return cast("Item", self._one(ITEM, node, output))

    def trips(self, call: int) -> int | None:
        """How often the body of a loop runs; None: unknown."""
        return cast("int | None", self._all(TRIPS, call))

    def _one(self, kind: int, node: int, output: int) -> Any:  # noqa: ANN401 - by kind
        outputs = self._all(kind, node) if node >= 0 else ()
        return outputs[output] if outputs and output < len(outputs) else _UNKNOWN[kind]

    def _all(self, kind: int, node: int) -> Any:  # noqa: ANN401 - by kind
        key = kind, node
        if key in self._known:
            self._is_sized |= key in self._sized
            return self._known[key]
        if key in self._waiting:
            self._is_sized = True
            return None
        raise Needed([key])

    # --- inference ---

    def settle(self, kind: int, nodes: Iterable[int]) -> list[Any]:
        """What is known of each node: one row per output, or the trips of a loop."""
        with self._one_at_a_time, np.errstate(all="ignore"):
            return [self._settled((kind, node)) for node in nodes]

    def _settled(self, wanted: tuple[int, int]) -> Any:  # noqa: ANN401 - by kind
        stack = [wanted]
        while stack:
            key = stack[-1]
            if key not in self._known:
                self._waiting.add(key)
                self._is_sized = key[1] in self._inputs
                try:
                    self._known[key] = self._infer(*key)
                except Needed as needed:
                    stack.extend(needed.keys)
                    continue
                if self._is_sized:
                    self._sized.add(key)
            self._waiting.discard(key)
            stack.pop()
        return self._known[wanted]

    def _infer(self, kind: int, node: int) -> Any:  # noqa: ANN401 - by kind
        if kind == TRIPS:
            return self.loops.trips(node)
        if kind == SHAPE:
            return self._shapes(node)
        return self._ruled(kind, node)

    def _shapes(self, node: int) -> list[MaybeShape]:
        declared, doubtful = self._declared(node)
        known = bool(declared) and all(
            shape is not None and OPEN not in shape for shape in declared
        )
        if known and not doubtful and node not in self._sizes:
            return declared
        inferred = self._ruled(SHAPE, node)
        shapes = [*map(merged, declared, inferred + [None] * len(declared))]
        shapes += inferred[len(declared) :]
        for number in doubtful:
            other = inferred[number] if number < len(inferred) else None
            shapes[number] = other if other == _ONE else ()
        for axis, size in self._sizes.get(node, {}).items():
            first = shapes[0] if shapes else None
            if first is not None and axis < len(first) and first[axis] < 0:
                shapes[0] = (*first[:axis], size, *first[axis + 1 :])
        return shapes

    def _declared(self, node: int) -> tuple[list[MaybeShape], list[int]]:
        """(the declared shapes of a node's outputs, those with one element and of unknown rank)."""
        rows = range(self._output_start[node], self._output_start[node + 1])
        shapes: list[MaybeShape] = [
            tuple(self._dim[self._rank_start[row] : self._rank_start[row + 1]]) or None
            for row in rows
        ]
        doubtful = [number for number, shape in enumerate(shapes) if shape == _ONE]
        listed = self._attributes.get(node, "_output_shapes") if doubtful else None
        if not isinstance(listed, list) or len(listed) != len(shapes):
            return shapes, doubtful
        for number in doubtful:
            shapes[number] = listed[number] if listed[number] in (_ONE, ()) else _ONE
        return shapes, []

    def _ruled(self, kind: int, node: int) -> list[Any]:
        """What the rule of a node's type says, for each output; nothing where there is no rule."""
        call = self._calls.of.get(node)
        rule = self._rule(kind, self._op[node])
        if call is None and rule is None:
            return []
        op = GraphOp(self, node)
        result: Any
        if kind == SHAPE and op.type not in _IN_CYCLES:
            self._ask(SHAPE, op.sources)
        elif kind != SHAPE and op.inputs > _MANY and call is None:
            self._ask(kind, op.sources)
        try:
            result = rule(op) if call is None else [*CALL_RULES[kind](self.loops, call, op)]
            # Attributes may hold anything, and so may results.
            return [_CLEAN[kind](row) for row in (result if isinstance(result, list) else [result])]
        except (UnknownShape, *NOT_MADE_FOR):
            return []

    def _rule(self, kind: int, op: int) -> Any:  # noqa: ANN401 - by kind
        if op not in self._rules:
            row = OPS[self._types[op]]
            self._rules[op] = row.shape, row.value, row.item
        return self._rules[op][kind]

    def _ask(self, kind: int, sources: list[tuple[int, int]]) -> None:
        """Ask for all inputs at once, so that the rule does not restart for each."""
        keys = [(kind, source) for source, _ in sources if source >= 0]
        missing = [key for key in keys if key not in self._known and key not in self._waiting]
        if missing:
            raise Needed(missing)
        self._is_sized |= any(key in self._sized or key in self._waiting for key in keys)


def _listed(column: I64) -> list[int]:
    numbers: list[int] = column.tolist()
    return numbers
