"""Numbers that keep a tally of what is done with them.

    tally = Tally()
    a, b = tally.numbers(2)
    a * b + 1          tally.steps == 2

So the definition of an operation can be written down as it stands in a book, run, and counted.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.ops.op import Op
from tfprof.ops.table import rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfprof.ops.shape import Shape

Tensor = dict[tuple[int, ...], "Number"]


class Tally:
    """How many steps its numbers took part in."""

    def __init__(self) -> None:
        self.steps = 0
        self._next = 0

    def number(self) -> Number:
        """A number like no other of this tally."""
        self._next += 1
        return Number(self, 1.0 + math.sin(self._next) / 2)

    def numbers(self, count: int) -> list[Number]:
        return [self.number() for _ in range(count)]

    def tensor(self, *shape: int) -> Tensor:
        """A number for each place of a tensor."""
        return {place: self.number() for place in places(*shape)}


class Number:
    """A value; each thing done with it is a step."""

    def __init__(self, tally: Tally, value: float) -> None:
        self.tally, self.value = tally, value

    def step(self, value: float) -> Number:
        self.tally.steps += 1
        return Number(self.tally, value)

    def __add__(self, other: Number | float) -> Number:
        return self.step(self.value + plain(other))

    def __sub__(self, other: Number | float) -> Number:
        return self.step(self.value - plain(other))

    def __mul__(self, other: Number | float) -> Number:
        return self.step(self.value * plain(other))

    def __truediv__(self, other: Number | float) -> Number:
        return self.step(self.value / plain(other))

    def __pow__(self, other: float) -> Number:
        return self.step(abs(self.value) ** other)

    def __radd__(self, other: float) -> Number:
        return self.step(other + self.value)

    def __rsub__(self, other: float) -> Number:
        return self.step(other - self.value)

    def __rmul__(self, other: float) -> Number:
        return self.step(other * self.value)

    def __rtruediv__(self, other: float) -> Number:
        return self.step(other / self.value)

    def __neg__(self) -> Number:
        return self.step(-self.value)

    def __abs__(self) -> Number:
        return self.step(abs(self.value))

    def __gt__(self, other: Number | float) -> Number:
        return self.step(float(self.value > plain(other)))


def plain(number: Number | float) -> float:
    return number.value if isinstance(number, Number) else number


def of(function: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function of mathematics, which is one step."""
    return lambda number: number.step(function(number.value))


sqrt = of(lambda value: math.sqrt(abs(value)))
exp, log, tanh = of(math.exp), of(lambda value: math.log(abs(value) + 1)), of(math.tanh)
sign = of(lambda value: math.copysign(1, value))


def rsqrt(number: Number) -> Number:
    return 1 / sqrt(number)


def sigmoid(number: Number) -> Number:
    return 1 / (1 + exp(-number))


def largest(one: Number, other: Number | float) -> Number:
    return one.step(max(one.value, plain(other)))


def smallest(one: Number, other: Number | float) -> Number:
    return one.step(min(one.value, plain(other)))


def total(numbers: Iterable[Number]) -> Number:
    """Their sum: one step less than there are."""
    first, *rest = numbers
    for number in rest:
        first += number
    return first


def places(*shape: int) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


def array(tensor: Tensor, *shape: int) -> np.ndarray:
    """The values of a tensor."""
    return np.array([tensor[place].value for place in places(*shape)]).reshape(shape)


def counted(
    op: str, inputs: Sequence[Shape | None], outputs: Sequence[Shape] = (), **attributes: Any
) -> int:
    """What the rule of an operation says; only attributes it declares may be asked for."""
    rule = rules("all")[op]
    one = Op(op, inputs, outputs, attributes=attributes, declared=rule.attributes)
    return int(rule.formula(one))
