"""Operation: a node as a rule of inference sees it, its inputs by number, attributes by name.

    op.shape(1)     as far as it is known       op.known(1)    the same, or Unknown is raised
    op.value(1)     a small tensor's numbers    op.numbers(1)  all of them known, or Unknown
    op.dims(1)      the same as a shape
    op.item(0)      what a handle leads to: a variable, or the elements of a list

A control input is none of these inputs. What is asked for and not worked out yet is raised as
Needed; the rule then runs once more when it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tfprof.inference.shape import MOST_DIMENSIONS, OPEN, Unknown
from tfprof.inference.value import dims_of, has_holes

if TYPE_CHECKING:
    from tfprof.inference.shape import Maybe, Shape
    from tfprof.inference.value import Value


class Item(NamedTuple):
    """What a handle leads to: a variable of this shape, or a list of so many such elements."""

    shape: Maybe = None
    length: int | None = None
    value: Value | None = None  # what every element is, where they are all the same
    is_new: bool = False  # there is no element yet


class Graph(Protocol):
    """What there is to ask of a graph; what has to be worked out first is raised as Needed."""

    def type_of(self, node: int) -> str:
        """The type of a node's operation."""

    def sources(self, node: int) -> list[tuple[int, int]]:
        """(node, output) of each data input of a node; a node below 0 is not in the graph."""

    def attribute(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """What an attribute of a node says."""

    def shape(self, node: int, output: int) -> Maybe:
        """The shape of an output, as far as it can be known."""

    def value(self, node: int, output: int) -> Value | None:
        """The numbers of an output, if they are few and known."""

    def item(self, node: int, output: int) -> Item:
        """What the handle that is an output leads to."""

    def varies(self, reader: int, node: int, output: int) -> bool:
        """Whether what a node reads may be another in each turn of a loop that it is in."""

    def trips(self, call: int) -> int | None:
        """How often the body of a loop runs; None where that cannot be known."""


class Operation:
    """One node; made for the length of a rule."""

    __slots__ = ("_graph", "node", "sources", "type")

    def __init__(self, graph: Graph, node: int) -> None:
        self._graph = graph
        self.node = node
        self.type = graph.type_of(node)
        self.sources = graph.sources(node)  # (node, output) of each data input

    @property
    def inputs(self) -> int:
        """How many data inputs there are."""
        return len(self.sources)

    def source_type(self, number: int) -> str:
        """The type of the operation that a data input comes from; empty if it is not there."""
        node = self.sources[number][0]
        return self._graph.type_of(node) if node >= 0 else ""

    def shape(self, number: int) -> Maybe:
        """The shape of a data input, as far as it is known."""
        if not -len(self.sources) <= number < len(self.sources):
            raise Unknown
        return self._graph.shape(*self.sources[number])

    def known(self, number: int) -> Shape:
        """The shape of a data input of known rank; raises Unknown."""
        shape = self.shape(number)
        if shape is None:
            raise Unknown
        return shape

    def value(self, number: int) -> Value | None:
        """The numbers of a data input, where they are known and the same whenever this runs."""
        if not -len(self.sources) <= number < len(self.sources):
            raise Unknown
        source = self.sources[number]
        if self._graph.varies(self.node, *source):
            return None
        return self._graph.value(*source)

    def given(self, number: int) -> Value:
        """The numbers of a data input, of which single ones may be open; raises Unknown."""
        value = self.value(number)
        if value is None:
            raise Unknown
        return value

    def full(self, number: int) -> Value:
        """The numbers of a data input, each of them known; raises Unknown."""
        value = self.given(number)
        if has_holes(value):
            raise Unknown
        return value

    def numbers(self, number: int) -> list[int]:
        """The whole numbers of a data input, each of them known; raises Unknown."""
        value = self.full(number)
        if value.dtype.kind != "i":
            raise Unknown
        numbers: list[int] = value.reshape(-1).tolist()
        return numbers

    def number(self, number: int) -> int:
        """The one whole number that a data input is; raises Unknown."""
        numbers = self.numbers(number)
        if len(numbers) != 1:
            raise Unknown
        return numbers[0]

    def length(self, number: int) -> int:
        """The length that a data input is, open where that is not known."""
        value = self.value(number)
        return OPEN if value is None or has_holes(value) else self.number(number)

    def dims(self, number: int) -> Shape:
        """The shape that a data input lists, open where a number is; raises Unknown."""
        value = self.value(number)
        if value is not None:
            return dims_of(value)
        count = self.known(number)
        if len(count) != 1 or not 0 <= count[0] <= MOST_DIMENSIONS:
            raise Unknown
        return (OPEN,) * count[0]

    def item(self, number: int) -> Item:
        """What the handle that a data input is leads to."""
        if not -len(self.sources) <= number < len(self.sources):
            raise Unknown
        source = self.sources[number]
        item = self._graph.item(*source)
        # A list that a loop changes may have another length each time round.
        if self._graph.varies(self.node, *source):
            return item._replace(length=None)
        return item

    def attr(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as its op has it
        """The value of an attribute, *default* where the node has none of this name."""
        return self._graph.attribute(self.node, name, default)
