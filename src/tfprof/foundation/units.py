"""Numbers as the original formats them in reports.

    counts  999   1.00k   1.00m   1.00b        params, float operations, runs
    micros  999us 1.00ms  1.00sec              there is no minute
    bytes   999B  1.00KB  1.00MB               powers of 1000; there is no gigabyte

The unit depends on the number before rounding: 999,999 us is "1000.00ms". Negative numbers get
no unit prefix. A number becomes a double before it is divided, as in C. Means and percentiles of a
fleet are doubles: 0.25us, 12us.

Of our own: `?` is an unknown number, `≥ 12` a lower bound, `1 row` and `1,200 rows` are counts,
`+1.00k` is a difference, `+10.2%` what a ratio changes, `+12 ?` may be more or less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

Format = Callable[[float], str]

UNKNOWN: Final = "?"
THOUSAND: Final = 1_000
_MANIFOLD: Final = 10  # larger ratios are not percent
_LEAST_CHANGE: Final = 0.0005  # that would be 0.0%


def count(number: float) -> str:
    """A count with k, m or b."""
    return _scaled(number, *SCALES[count])


def micros(number: float) -> str:
    """A time in microseconds."""
    return _scaled(number, *SCALES[micros])


def memory(number: float) -> str:
    """A size in bytes."""
    return _scaled(number, *SCALES[memory])


# The units of each format, each a thousand times the one before.
SCALES: Final[dict[Format, tuple[str, ...]]] = {
    count: ("", "k", "m", "b"),
    micros: ("us", "ms", "sec"),
    memory: ("B", "KB", "MB"),
}


def _scaled(number: float, unit: str, *larger_units: str) -> str:
    """*number* in the largest of these units."""
    scale = 1
    for larger in larger_units:
        if number < scale * THOUSAND:
            break
        scale, unit = scale * THOUSAND, larger
    return f"{plain(number)}{unit}" if scale == 1 else f"{float(number) / scale:.2f}{unit}"


def plain(number: float) -> str:
    """A number without a unit; means and percentiles may have a fraction, of which two digits."""
    if isinstance(number, int):
        return str(number)
    return f"{number:.0f}" if number.is_integer() else f"{number:.2f}"


def shape(dims: Iterable[int]) -> str:
    """Dimensions joined by x; an unknown one is -1."""
    return "x".join(map(str, dims))


def plural(number: int, noun: str, nouns: str = "") -> str:
    """A count of things: `1 row`, `2 rows`; *nouns* where the plural is not *noun* and an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def first_few(texts: Sequence[str], most: int) -> str:
    """The first texts by commas, and how many more there are."""
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def signed(number: float, unit: Format) -> str:
    """A difference with its sign, in *unit*; nothing has none."""
    sign = "+" if number > 0 else "-" if number < 0 else ""
    return f"{sign}{unit(abs(number))}"


def change(ratio: float) -> str:
    """What a ratio of new to base changes, in percent; a large one as a factor."""
    if ratio >= _MANIFOLD:
        return f"×{ratio:,.1f}"
    sign = "+" if ratio > 1 else "-" if ratio < 1 else ""
    is_small = 0 < abs(ratio - 1) < _LEAST_CHANGE
    return f"{sign}{'<0.1' if is_small else f'{abs(ratio - 1) * 100:.1f}'}%"


def at_least(number: str) -> str:
    """The text of a number that is a lower bound; an unknown one stays unknown."""
    return number if number == UNKNOWN else f"≥ {number}"


def unsure(number: str) -> str:
    """The text of a number that may be larger or smaller."""
    return number if number in ("", UNKNOWN) else f"{number} {UNKNOWN}"
