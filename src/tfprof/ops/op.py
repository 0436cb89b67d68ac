"""Op: one operation as every rule sees it, its inputs by number and its attributes by name.

    Conv2D < image, filter      op.input(1)         (3, 3, 16, 32)      all dimensions are known
      strides = [1, 2, 2, 1]    op.shape(0)         (-1, 28, 28, 16)    -1: an open dimension
      data_format = "NHWC"      op.attr("strides")  [1, 2, 2, 1]

    op.value(1)    the numbers of a small constant tensor; None: unknown
    op.numbers(1)  the same as a list of integers        op.dims(1)    the same as a shape
    op.item(0)     what a handle points to: a variable, or the elements of a list of tensors

A rule that needs something unknown gets UnknownShape raised, and may raise it itself. Control
inputs are not data inputs; `controls` counts them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tfprof.errors import UsageError
from tfprof.ops.shape import MOST_DIMENSIONS, OPEN, MaybeShape, Shape, UnknownShape, need, require
from tfprof.ops.value import Value, dims_of, has_holes

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
        self.type = type
        self.controls = controls
        self._inputs, self._outputs = inputs, outputs
        self._attributes = attributes or {}
        self._declared = declared

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

    def length(self, number: int) -> int:
        """A data input as a dimension; OPEN where unknown."""
        value = self.value(number)
        return OPEN if value is None or has_holes(value) else self.number(number)

    def dims(self, number: int) -> Shape:
        """A data input as a shape, open where its numbers are unknown; raises UnknownShape."""
        value = self.value(number)
        if value is not None:
            return dims_of(value)
        count = self.known(number)
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
