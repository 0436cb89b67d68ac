"""Op: one operation as a rule sees it, its shapes and attributes by number and name.

    Conv2D < image, filter      op.input(1)        (3, 3, 16, 32)
      strides = [1, 2, 2, 1]    op.output()        (8, 28, 28, 32)
      data_format = "NHWC"      op.attr("strides") [1, 2, 2, 1]

A shape is told only where every dimension is known; a scalar is one element, so (1,). Control
inputs have no shape: they are no data inputs, and counted apart.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Shape: TypeAlias = tuple[int, ...]
Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | list[Scalar] | list[list[int]]


class UnknownShape(Exception):  # noqa: N818 - no error: the answer where a graph leaves it open
    """A shape that a formula needs is not known, or not in full.

    A rule may raise it: the operation is then not counted, and reported as such.
    """


class Op:
    """One operation; None stands for a shape that is not known in full."""

    def __init__(  # noqa: PLR0913 - what there is to say of an operation
        self,
        type: str,  # noqa: A002 - it is what TensorFlow calls the type of an operation
        inputs: Sequence[Shape | None] = (),
        outputs: Sequence[Shape | None] = (),
        *,
        controls: int = 0,
        attributes: Mapping[str, Value | None] | None = None,
        declared: Collection[str] | None = None,
    ) -> None:
        self.type = type
        self.controls = controls
        self._inputs, self._outputs = inputs, outputs
        self._attributes = attributes or {}
        self._declared = declared

    @property
    def inputs(self) -> int:
        """How many data inputs there are."""
        return len(self._inputs)

    @property
    def outputs(self) -> int:
        """How many outputs there are, going by the shapes that the graph lists."""
        return len(self._outputs)

    def input(self, number: int = 0) -> Shape:
        """The shape of a data input; raises UnknownShape."""
        return _known(self._inputs, number)

    def output(self, number: int = 0) -> Shape:
        """The shape of an output; raises UnknownShape."""
        return _known(self._outputs, number)

    def attr(self, name: str, default: Value | None = None) -> Any:  # noqa: ANN401 - as its op has it
        """The value of an attribute, *default* where the operation has none of this name.

        Text is a str, a shape the list of its dimensions. What is a type, a tensor or a function
        is None.
        """
        if self._declared is not None and name not in self._declared:
            raise UsageError(
                f"the rule of {self.type} asks for attribute {name}, "
                "which its attributes=(...) does not name"
            )
        return self._attributes.get(name, default)


def size(shape: Shape) -> int:
    """How many elements a tensor of this shape has."""
    return prod(shape)


def _known(shapes: Sequence[Shape | None], number: int) -> Shape:
    shape = shapes[number] if -len(shapes) <= number < len(shapes) else None
    if shape is None:
        raise UnknownShape
    return shape
