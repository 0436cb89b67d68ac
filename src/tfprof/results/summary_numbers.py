"""The numbers of a summary as people read them, short in a row and exact in a total.

    short     1.18G·batch    4.10k    1.28 kB    3.07 ms
    exact     1,180,000,000·batch + 4,096
    plain     1180000000*batch + 4096          for programs

Powers of a thousand: k, M, G, T, P. An unknown number is ?.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tfprof.foundation.units import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.summary.formula import Formula

_UNITS: Final = ("", "k", "M", "G", "T", "P")
BYTES: Final = (" B", " kB", " MB", " GB", " TB", " PB")
MICROS: Final = (" us", " ms", " s")
_THOUSAND: Final = 1000
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST: Final = 13
_LONG: Final = 8


@lru_cache(1 << 14)
def short(number: Fraction | int, units: tuple[str, ...] = _UNITS) -> str:
    """A number with three digits or so, and the unit of *units* for its power of a thousand."""
    size, unit = Fraction(number), 0
    while abs(size) >= _THOUSAND and unit < len(units) - 1:
        size, unit = size / _THOUSAND, unit + 1
    if unit == 0:
        return f"{exact(number)}{units[0]}"
    # Three digits: 1.18, 11.8, 118; a thousand after rounding is 1.00 of the next unit.
    text = f"{float(size):.{max(0, 2 - (abs(size) >= 10) - (abs(size) >= 100))}f}"  # noqa: PLR2004
    if text.lstrip("-") == str(_THOUSAND) and unit < len(units) - 1:
        text, unit = text.replace(str(_THOUSAND), "1.00"), unit + 1
    return f"{text}{units[unit]}"


def exact(number: Fraction | int) -> str:
    """All digits of a number, in groups of three."""
    fraction = Fraction(number)
    if fraction.denominator == 1:
        return f"{fraction.numerator:,}"
    # Halves, as in n·(n - 1)/2, are written as people do; other fractions are rare.
    if fraction.denominator == 2:  # noqa: PLR2004
        return f"{'-' if fraction < 0 else ''}{abs(fraction.numerator) // 2:,}.5"
    return f"{fraction.numerator:,}/{fraction.denominator:,}"


def short_formula(
    formula: Formula | None,
    names: Mapping[str, str] | None = None,
    units: tuple[str, ...] = _UNITS,
) -> str:
    """The leading terms of a formula that fit a cell; *names* are shorter ones for symbols."""
    if formula is None:
        return UNKNOWN
    shown, *others = _terms(formula, lambda number: short(number, units), names or {})
    for term in others:
        if len(shown) + len(term) > _LONGEST:
            return f"{shown}+…"
        shown += _joined(term, "+", "-")
    return shown


def exact_formula(formula: Formula | None) -> str:
    """A formula with all its terms and all their digits."""
    if formula is None:
        return UNKNOWN
    first, *others = _terms(formula, exact, {})
    return first + "".join(_joined(term, " + ", " - ") for term in others)


def plain_formula(formula: Formula) -> str:
    """A formula as a program reads it: 3*b*t**2 + 7*b - 1/2*t."""
    first, *others = _terms(formula, str, {}, "*", lambda power: f"**{power}")
    return first + "".join(_joined(term, " + ", " - ") for term in others)


def _joined(term: str, plus: str, minus: str) -> str:
    return f"{minus}{term[1:]}" if term.startswith("-") else f"{plus}{term}"


def short_names(symbols: Sequence[str]) -> dict[str, str]:
    """A letter for each symbol with a long name; no other symbol has that name."""
    letters = (letter for letter in "nmkpqrstuvwxyzabcdefghijlo" if letter not in symbols)
    return dict(zip([name for name in symbols if len(name) > _LONG], letters, strict=False))


def _terms(
    formula: Formula,
    written: Callable[[Fraction], str],
    names: Mapping[str, str],
    times: str = "·",
    raised: Callable[[int], str] = lambda power: str(power).translate(_RAISED),
) -> list[str]:
    terms = [
        times.join([written(factor), *(names.get(n, n) + raised(p) * (p > 1) for n, p in powers)])
        for factor, powers in formula.ordered()
    ]
    return terms or [written(Fraction(0))]
