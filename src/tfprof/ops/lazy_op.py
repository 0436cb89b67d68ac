"""GraphOp: an Op of a graph, whose inputs are worked out when a rule asks for them.

If a rule needs an input that is not known yet, it raises Needed; the engine infers that input and
then runs the rule again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tfprof.ops.op import Item, Op
from tfprof.ops.shape import MaybeShape, require

if TYPE_CHECKING:
    from tfprof.ops.value import Value


class Graph(Protocol):
    """What rules may ask of a graph."""

    def type_of(self, node: int) -> str:
        """The operation type of a node."""

    def sources(self, node: int) -> list[tuple[int, int]]:
        """(node, output) of each data input of a node; a node below 0 is not in the graph."""

    def attribute(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """The value of an attribute of a node."""

    def shape(self, node: int, output: int) -> MaybeShape:
        """The shape of an output, as far as known."""

    def value(self, node: int, output: int) -> Value | None:
        """The numbers of an output, if few and known."""

    def item(self, node: int, output: int) -> Item:
        """What an output that is a handle points to."""

    def varies(self, reader: int, node: int, output: int) -> bool:
        """Whether what a node reads may change from one iteration of its loop to the next."""

    def trips(self, call: int) -> int | None:
        """How often the body of a loop runs; None: unknown."""


class GraphOp(Op):
    """One node, for the time that its rule runs."""

    __slots__ = ("_graph", "node", "sources")

    def __init__(self, graph: Graph, node: int) -> None:
        self._graph = graph
        self.node = node
        self.type = graph.type_of(node)
        self.sources = graph.sources(node)  # (node, output) of each data input

    @property
    def inputs(self) -> int:
        """The number of data inputs."""
        return len(self.sources)

    def source_type(self, number: int) -> str:
        """The operation type that a data input comes from; empty if it is not in the graph."""
        node = self.sources[number][0]
        return self._graph.type_of(node) if node >= 0 else ""

    def shape(self, number: int) -> MaybeShape:
        """The shape of a data input, as far as known."""
        return self._graph.shape(*self._source(number))

    def value(self, number: int) -> Value | None:
        """The numbers of a data input, where known and equal in every iteration."""
        source = self._source(number)
        return None if self._graph.varies(self.node, *source) else self._graph.value(*source)

    def item(self, number: int) -> Item:
        """What a data input that is a handle points to."""
        source = self._source(number)
        item = self._graph.item(*source)
        # A list that a loop changes may have another length in each iteration.
        if self._graph.varies(self.node, *source):
            return item._replace(length=None)
        return item

    def attr(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as declared
        """The value of an attribute; *default* if the node has no such attribute."""
        return self._graph.attribute(self.node, name, default)

    def _source(self, number: int) -> tuple[int, int]:
        require(-len(self.sources) <= number < len(self.sources))
        return self.sources[number]
