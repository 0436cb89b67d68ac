"""Op: one operation as every rule sees it, its inputs by number and its attributes by name.

    Conv2D < image, filter      op.input(1)         (3, 3, 16, 32)      all dimensions are known
      strides = [1, 2, 2, 1]    op.shape(0)         (-1, 28, 28, 16)    -1: an open dimension
      data_format = "NHWC"      op.attr("strides")  [1, 2, 2, 1]

    op.value(1)    the numbers of a small constant tensor; None: unknown
    op.numbers(1)  the same as a list of integers        op.dims(1)    the same as a shape
    op.item(0)     what a handle points to: a variable, or the elements of a list of tensors

A rule that needs something unknown gets UnknownShape raised, and may raise it itself. Control
inputs are not data inputs; `controls` counts them. The inputs of a GraphOp are inferred when a rule
asks for them: where one is not known yet, it raises Needed, and the engine runs the rule again.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from tfprof.errors import UsageError
from tfprof.ops.shape import (
    MOST_DIMENSIONS,
    OPEN,
    MaybeShape,
    Shape,
    UnknownShape,
    Value,
    dims_of,
    has_holes,
    need,
    of_rank,
    require,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Scalar: TypeAlias = bool | int | float | str
AttrValue: TypeAlias = Scalar | list[Scalar] | list[list[int]]


class Item(NamedTuple):
    """What a handle points to: a variable of this shape, or a list of tensors of this shape."""

    shape: MaybeShape = None
    length: int | None = None
    value: Value | None = None  # of every element, where all are equal
    is_new: bool = False  # the list has no element yet
    # Inside a loop that changes the list: the loop's own input, what this iteration adds to it, and
    # the number at which it sets an element, if that makes the list longer.
    since: tuple[int, int] | None = None
    added: int = 0
    set_at: tuple[int, int] | None = None


class Op:
    """One operation. In a list of shapes, None stands for an unknown shape."""

    __slots__ = ("_attributes", "_declared", "_inputs", "_outputs", "controls", "type")

    def __init__(  # noqa: PLR0913 - an operation has that many parts
        self,
        type: str,  # noqa: A002 - TensorFlow's word for it
        inputs: Sequence[MaybeShape] = (),
        outputs: Sequence[MaybeShape] = (),
        *,
        controls: int = 0,
        attributes: Mapping[str, AttrValue | None] | None = None,
        declared: Collection[str] | None = None,
    ) -> None:
        self.type, self.controls, self._inputs, self._outputs = type, controls, inputs, outputs
        self._attributes, self._declared = attributes or {}, declared

    @property
    def given(self) -> Mapping[str, AttrValue | None]:
        """The attributes that were read for the rule."""
        return self._attributes

    @property
    def inputs(self) -> int:
        """The number of data inputs."""
        return len(self._inputs)

    @property
    def outputs(self) -> int:
        """The number of outputs whose shapes the graph declares."""
        return len(self._outputs)

    def input(self, number: int = 0) -> Shape:
        """The shape of a data input, (1,) for a scalar; raises UnknownShape."""
        return _whole(self.shape(number))

    def output(self, number: int = 0) -> Shape:
        """The shape of an output, (1,) for a scalar; raises UnknownShape."""
        require(-len(self._outputs) <= number < len(self._outputs))
        return _whole(self._outputs[number])

    def attr(self, name: str, default: AttrValue | None = None) -> Any:  # noqa: ANN401 - as declared
        """The value of an attribute; *default* if the operation has no such attribute.

        Text is a str, a shape a list of dimensions, a type its number. Tensors, functions and
        shapes of unknown rank are None.
        """
        if self._declared is not None and name not in self._declared:
            raise UsageError(
                f"the rule for {self.type} reads attribute {name}, "
                "which is missing from its attributes=(...)"
            )
        return self._attributes.get(name, default)

    # --- inputs as far as they are known ---

    def shape(self, number: int) -> MaybeShape:
        """The shape of a data input, as far as known."""
        require(-len(self._inputs) <= number < len(self._inputs))
        return self._inputs[number]

    def shapes(self) -> list[MaybeShape]:
        """The shapes of all data inputs, as far as known."""
        return [self.shape(number) for number in range(self.inputs)]

    def known(self, number: int) -> Shape:
        """The shape of a data input of known rank; raises UnknownShape."""
        return need(self.shape(number))

    def ranked(self, number: int, rank: int) -> Shape:
        """The shape of a data input of this rank, all open where unknown; raises UnknownShape."""
        return of_rank(self.shape(number), rank)

    def value(self, number: int) -> Value | None:  # noqa: ARG002 - see GraphOp
        """The numbers of a data input, if known before the graph runs and small."""
        return None

    def values(self) -> list[Value | None]:
        """The numbers of all data inputs."""
        return [self.value(number) for number in range(self.inputs)]

    def constant(self, number: int) -> Value:
        """The numbers of a data input; single integers may be HOLE. Raises UnknownShape."""
        return need(self.value(number))

    def full(self, number: int) -> Value:
        """The numbers of a data input without holes; raises UnknownShape."""
        value = self.constant(number)
        require(not has_holes(value))
        return value

    def numbers(self, number: int) -> list[int]:
        """A data input as a list of integers; raises UnknownShape."""
        value = self.full(number)
        require(value.dtype.kind == "i")
        return [*value.reshape(-1).tolist()]

    def number(self, number: int) -> int:
        """A data input as a single integer; raises UnknownShape."""
        numbers = self.numbers(number)
        require(len(numbers) == 1)
        return numbers[0]

    def is_full(self, number: int) -> bool:
        """Whether all numbers of a data input are known."""
        value = self.value(number)
        return value is not None and not has_holes(value)

    def length(self, number: int) -> int:
        """A data input as a dimension; OPEN where unknown."""
        return self.number(number) if self.is_full(number) else OPEN

    def dims(self, number: int, rank: int | None = None) -> Shape:
        """A data input as a shape of this *rank*, open where unknown; raises UnknownShape."""
        value = self.value(number)
        if value is not None:
            return dims_of(value)
        count = self.known(number) if rank is None else (rank,)
        require(len(count) == 1 and 0 <= count[0] <= MOST_DIMENSIONS)
        return (OPEN,) * count[0]

    def item(self, number: int) -> Item:  # noqa: ARG002 - see GraphOp
        """What a data input that is a handle points to."""
        return Item()

    @property
    def dtype(self) -> int:
        """The DataType of the first output; 0 where unknown."""
        from tfprof.ops.dtypes import output_dtype  # noqa: PLC0415 - counting needs no dtypes

        return output_dtype(self.type, self.attr)


def size(shape: Shape) -> int:
    """The number of elements of a tensor of this shape."""
    return prod(shape)


def _whole(shape: MaybeShape) -> Shape:
    if shape is None or OPEN in shape:
        raise UnknownShape
    return shape or (1,)


class Graph(Protocol):
    """What rules may ask of a graph; the Engine answers."""

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
        self._graph, self.node, self.type = graph, node, graph.type_of(node)
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
            return item._replace(length=None, since=source, added=0, set_at=None)
        return item

    def attr(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as declared
        """The value of an attribute; *default* if the node has no such attribute."""
        return self._graph.attribute(self.node, name, default)

    def _source(self, number: int) -> tuple[int, int]:
        require(-len(self.sources) <= number < len(self.sources))
        return self.sources[number]
