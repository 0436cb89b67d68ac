"""Numbers that depend on open dimensions: exact formulas, fitted to examples.

    float operations    batch 11: 11,000,  12: 12,000,  13: 13,000   …    1,000·batch

The cost of a graph can be computed for any sizes of its open dimensions. So tfprof computes it for
a few, fits a polynomial in fractions, and checks it on the smallest sizes and on some far off. If
none fits, as after a convolution with a stride over an image of any size, there is no formula.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Evaluate = Callable[[Mapping[str, int]], Sequence[int]]

MOST_SYMBOLS: Final = 3
_MOST_POINTS: Final = 48
_BASE: Final = 11
_SAMPLES: Final = (3, 4, 6)  # n samples are enough for degrees below n - 1
_SMALL: Final = (1, 2)
_FAR: Final = (1_000, 5_000, 100_000)
_SAFE: Final = 2**61  # larger counts may be cut to 64 bits


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
        return self - Formula(other.symbols, {at: -factor for at, factor in other.terms.items()})

    def __sub__(self, other: Formula) -> Formula:
        """The difference; the two may depend on different symbols."""
        symbols = tuple(dict.fromkeys((*self.symbols, *other.symbols)))
        terms: dict[tuple[int, ...], Fraction] = {}
        for formula, sign in ((self, 1), (other, -1)):
            for powers, factor in formula.terms.items():
                raised = dict(zip(formula.symbols, powers, strict=False))
                wide = tuple(raised.get(symbol, 0) for symbol in symbols)
                terms[wide] = terms.get(wide, Fraction(0)) + sign * factor
        return Formula(symbols, {powers: factor for powers, factor in terms.items() if factor})

    def ratio(self, base: Formula) -> float | None:
        """How many times *base* it is for all sizes; None where that depends on them."""
        if not base.terms:
            return None
        lead, powers = base.ordered()[0]
        factors = (factor for factor, raised in self.ordered() if sorted(raised) == sorted(powers))
        times = next(factors, Fraction(0)) / lead
        scaled = Formula(base.symbols, {at: factor * times for at, factor in base.terms.items()})
        return None if (self - scaled).terms else float(times)

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
        highest = sorted(self.terms, key=lambda powers: (sum(powers), powers), reverse=True)
        named = [zip(self.symbols, powers, strict=False) for powers in highest]
        raised = [[(symbol, power) for symbol, power in term if power] for term in named]
        return [(self.terms[powers], term) for powers, term in zip(highest, raised, strict=True)]


class Fitted(NamedTuple):
    """A formula for each number, None if none fits, and the symbols that prevent it."""

    formulas: list[Formula | None]
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
    unfit = [name for name, column in zip(symbols, degrees, strict=True) if None in column]
    most = [max((degree or 0 for degree in column), default=0) for column in degrees]
    if prod(degree + 1 for degree in most) > _MOST_POINTS:
        return Fitted([None] * len(at(*base)), list(symbols))
    grid = list(product(*(range(degree + 1) for degree in most)))
    points = [tuple(low + step for low, step in zip(base, steps, strict=True)) for steps in grid]
    columns = list(zip(*(at(*point) for point in points), strict=True))
    formula_of = {  # rows are often alike
        values: _through(dict(zip(grid, values, strict=True)), base, most, symbols)
        for values in set(columns)
    }
    wrong = {row for row, degree in enumerate(zip(*degrees, strict=True)) if None in degree}
    for point in _trials(base):
        sizes = dict(zip(symbols, point, strict=True))
        value = {values: formula.at(sizes) for values, formula in formula_of.items()}
        expected = {row: value[column] for row, column in enumerate(columns) if row not in wrong}
        # No cost of a possible run is negative, as where an image is too small.
        costs = expected.values()
        is_possible = min(point) > max(_SMALL) or min(costs, default=0) >= 0
        if costs and sum(costs) <= _SAFE and is_possible:
            actual = at(*point)
            wrong |= {row for row, number in expected.items() if number != actual[row]}
    fitted = [None if row in wrong else formula_of[column] for row, column in enumerate(columns)]
    return Fitted(fitted, unfit or (list(symbols) if wrong else []))


def _trials(base: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Sizes to try formulas on: each symbol small, and all of them far off."""
    for symbol, size in product(range(len(base)), _SMALL):
        yield (*base[:symbol], size, *base[symbol + 1 :])
    for size in _FAR:
        yield tuple(size + number for number in range(len(base)))


def _degrees(
    at: Callable[..., Sequence[int]], base: tuple[int, ...], symbol: int
) -> list[int | None]:
    """The degree of each number in one symbol, the others held; None: not a polynomial."""
    degrees: list[int | None] = []
    for samples in _SAMPLES:
        rows = [
            at(*(size + step * (number == symbol) for number, size in enumerate(base)))
            for step in range(samples)
        ]
        degrees = [_degree(*column) for column in zip(*rows, strict=True)]
        if None not in degrees:
            break
    return degrees


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
    factors = {steps: Fraction(value) for steps, value in values.items()}
    for axis, degree in enumerate(degrees):
        basis = _newton(base[axis], degree)
        for steps in [steps for steps in factors if not steps[axis]]:
            line = [(*steps[:axis], step, *steps[axis + 1 :]) for step in range(degree + 1)]
            powers = _powers([factors[point] for point in line], basis)
            factors.update(zip(line, powers, strict=True))
    return Formula(tuple(symbols), {steps: factor for steps, factor in factors.items() if factor})


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
