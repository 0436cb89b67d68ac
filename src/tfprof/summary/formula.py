"""Numbers that depend on dimensions nobody gave: exact formulas in these, found by trying.

    float operations    batch 11: 11,000,  12: 12,000,  13: 13,000   …    1,000·batch

What a graph costs is known for any sizes of its open dimensions. It is worked out for a few, a
polynomial is laid through the results, in fractions, and tried on the smallest sizes and on some
far off. Where none fits, as behind a convolution with a stride over an image of any size, there is
no formula.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Evaluate = Callable[[Mapping[str, int]], Sequence[int]]

MOST_SYMBOLS: Final = 3
_MOST_POINTS: Final = 48
_BASE: Final = 11
_SAMPLES: Final = (3, 4, 6)  # degrees below the number of them less one are told for certain
_SMALL: Final = (1, 2)
_FAR: Final = (1_000, 5_000, 100_000)
_SAFE: Final = 2**61  # what is larger may not have been counted in full


@dataclass(frozen=True)
class Formula:
    """A polynomial: the factor of each product of powers of the symbols."""

    symbols: tuple[str, ...] = ()
    terms: dict[tuple[int, ...], Fraction] = field(default_factory=dict)

    @classmethod
    def number(cls, value: int) -> Formula:
        """A number that depends on nothing."""
        return cls((), {(): Fraction(value)} if value else {})

    def __add__(self, other: Formula) -> Formula:
        symbols = self.symbols or other.symbols
        terms: dict[tuple[int, ...], Fraction] = {}
        for powers, factor in (*self.terms.items(), *other.terms.items()):
            wide = powers + (0,) * (len(symbols) - len(powers))
            terms[wide] = terms.get(wide, Fraction(0)) + factor
        return Formula(symbols, {powers: factor for powers, factor in terms.items() if factor})

    def at(self, dims: Mapping[str, int]) -> Fraction:
        """The value for these sizes of the symbols."""
        total = Fraction(0)
        for powers, factor in self.terms.items():
            sizes = zip(self.symbols, powers, strict=False)
            total += factor * prod(dims[symbol] ** power for symbol, power in sizes if power)
        return total

    @property
    def constant(self) -> int | None:
        """The number, where it depends on no symbol."""
        if any(any(powers) for powers in self.terms):
            return None
        return int(sum(self.terms.values(), Fraction(0)))

    @property
    def used(self) -> tuple[str, ...]:
        """The symbols it depends on."""
        return tuple(
            symbol
            for at, symbol in enumerate(self.symbols)
            if any(powers[at] for powers in self.terms if powers)
        )

    def ordered(self) -> list[tuple[Fraction, list[tuple[str, int]]]]:
        """(factor, powers of symbols) of each term, the highest powers first."""
        items = sorted(self.terms.items(), key=lambda item: (sum(item[0]), item[0]), reverse=True)
        return [
            (
                factor,
                [(s, power) for s, power in zip(self.symbols, powers, strict=False) if power],
            )
            for powers, factor in items
        ]


class Fitted(NamedTuple):
    """A formula for each number, None where none fits, and the symbols that are to blame."""

    found: list[Formula | None]
    unfit: list[str]


def formulas(evaluate: Evaluate, symbols: Sequence[str]) -> Fitted:
    """A formula for each number that *evaluate* gives for sizes of the symbols."""
    tried: dict[tuple[int, ...], Sequence[int]] = {}

    def at(*sizes: int) -> Sequence[int]:
        if sizes not in tried:
            tried[sizes] = evaluate(dict(zip(symbols, sizes, strict=True)))
        return tried[sizes]

    if not symbols:
        return Fitted([Formula.number(value) for value in at()], [])
    base = tuple(_BASE + number for number in range(len(symbols)))
    degrees = [_degrees(at, base, symbol) for symbol in range(len(symbols))]
    unfit = [name for name, found in zip(symbols, degrees, strict=True) if None in found]
    most = [max((one for one in found if one is not None), default=0) for found in degrees]
    if prod(degree + 1 for degree in most) > _MOST_POINTS:
        return Fitted([None] * len(at(*base)), list(symbols))
    grid = list(product(*(range(degree + 1) for degree in most)))
    points = [tuple(low + step for low, step in zip(base, steps, strict=True)) for steps in grid]
    columns = list(zip(*(at(*point) for point in points), strict=True))
    made = {  # rows are often alike
        values: _through(dict(zip(grid, values, strict=True)), base, most, symbols)
        for values in set(columns)
    }
    wrong = {place for place, degree in enumerate(zip(*degrees, strict=True)) if None in degree}
    for point in _trials(base):
        sizes = dict(zip(symbols, point, strict=True))
        value = {values: one.at(sizes) for values, one in made.items()}
        said = {place: value[one] for place, one in enumerate(columns) if place not in wrong}
        if _may_be(point, said.values()):
            actual = at(*point)
            wrong |= {place for place, one in said.items() if one != actual[place]}
    found = [None if place in wrong else made[one] for place, one in enumerate(columns)]
    return Fitted(found, unfit or (list(symbols) if wrong else []))


def _trials(base: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Sizes to try formulas on: each symbol small, and all of them far off."""
    for symbol, size in product(range(len(base)), _SMALL):
        yield (*base[:symbol], size, *base[symbol + 1 :])
    for size in _FAR:
        yield tuple(size + number for number in range(len(base)))


def _may_be(point: tuple[int, ...], values: Collection[Fraction]) -> bool:
    """Whether these sizes can be those of a run, and what it costs can have been counted.

    A small size of which there is less than nothing cannot: an image has to fill a window.
    """
    if not values or sum(values) > _SAFE:
        return False
    return min(point) > max(_SMALL) or min(values) >= 0


def _degrees(
    at: Callable[..., Sequence[int]], base: tuple[int, ...], symbol: int
) -> list[int | None]:
    """The power of a symbol that each number grows with, the others held; None: no power."""
    found: list[int | None] = []
    for samples in _SAMPLES:
        rows = [
            at(*(size + step * (number == symbol) for number, size in enumerate(base)))
            for step in range(samples)
        ]
        found = [_degree(*column) for column in zip(*rows, strict=True)]
        if all(degree is not None for degree in found):
            break
    return found


@lru_cache(1 << 12)
def _degree(*values: int) -> int | None:
    """The degree of the polynomial through values one apart, if more fit than are needed."""
    for degree in range(len(values) - 1):
        if len(set(values)) == 1:
            return degree
        values = tuple(after - before for before, after in pairwise(values))
    return None


def _through(
    values: Mapping[tuple[int, ...], int],
    base: Sequence[int],
    degrees: Sequence[int],
    symbols: Sequence[str],
) -> Formula:
    """The polynomial of these degrees through the values on a grid that begins at *base*."""
    factors: dict[tuple[int, ...], Fraction] = {
        steps: Fraction(value) for steps, value in values.items()
    }
    for axis, degree in enumerate(degrees):
        basis = _newton(base[axis], degree)
        made: dict[tuple[int, ...], Fraction] = {}
        for steps in factors:
            if steps[axis]:
                continue
            line = [
                factors[(*steps[:axis], step, *steps[axis + 1 :])] for step in range(degree + 1)
            ]
            for power, factor in enumerate(_powers(line, basis)):
                made[(*steps[:axis], power, *steps[axis + 1 :])] = factor
        factors = made
    return Formula(tuple(symbols), {powers: one for powers, one in factors.items() if one})


def _newton(base: int, degree: int) -> list[list[Fraction]]:
    """The factors of powers in (x - base)(x - base - 1)… / n!, for each n up to *degree*."""
    basis = [[Fraction(1)]]
    for number in range(degree):
        before, root = basis[-1], base + number
        after = [Fraction(0)] * (len(before) + 1)
        for power, factor in enumerate(before):
            after[power + 1] += factor / (number + 1)
            after[power] -= factor * root / (number + 1)
        basis.append(after)
    return basis


def _powers(line: list[Fraction], basis: list[list[Fraction]]) -> list[Fraction]:
    """The factors of powers of the polynomial through values one apart."""
    factors = [Fraction(0)] * len(line)
    for part in basis:
        for power, factor in enumerate(part):
            factors[power] += line[0] * factor
        line = [after - before for before, after in pairwise(line)]
    return factors
