"""Rules that many families share: so many steps per element, shapes like that of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, MaybeShape, Shape, broadcast

if TYPE_CHECKING:
    from collections.abc import Callable


# --- float operations ---


def per_output(steps: int) -> Callable[[Op], int]:
    """So many steps per element of the first output."""
    return lambda op: steps * size(op.output())


def per_input(number: int, steps: int = 1) -> Callable[[Op], int]:
    """So many steps per element of an input."""
    return lambda op: steps * size(op.input(number))


# --- shapes ---


def like_input(number: int) -> Callable[[Op], MaybeShape]:
    """The shape of an input."""
    return lambda op: op.shape(number)


def listed_by(number: int) -> Callable[[Op], Shape]:
    """The shape that an input lists."""
    return lambda op: op.dims(number)


def scalar(_: Op) -> Shape:
    """One number, or one handle."""
    return ()


def broadcast_pair(op: Op) -> Shape:
    """What the first two inputs broadcast to."""
    return broadcast(op.known(0), op.known(1))


def rows_of_unknown_number(op: Op) -> Shape:
    """Rows like those of the first input; only numbers in tensors say how many."""
    return (OPEN, *op.known(0)[1:])


def with_range(rule: Callable[[Op], MaybeShape]) -> Callable[[Op], list[MaybeShape]]:
    """A quantized output, and the minimum and the maximum that it stands for: two scalars."""
    return lambda op: [rule(op), (), ()]


def with_unknown_range(rule: Callable[[Op], MaybeShape]) -> Callable[[Op], list[MaybeShape]]:
    """The same, where TensorFlow infers no shape of the range."""
    return lambda op: [rule(op), None, None]
