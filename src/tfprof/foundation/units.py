"""Numbers as the original formats them in reports.

    counts  999   1.00k   1.00m   1.00b        params, float operations, runs
    micros  999us 1.00ms  1.00sec              there is no minute
    bytes   999B  1.00KB  1.00MB               powers of 1000; there is no gigabyte

The unit depends on the number before rounding: 999,999 us is "1000.00ms". Negative numbers get
no unit prefix. A number becomes a double before it is divided, as in C. Means and percentiles of a
fleet are doubles: 0.25us, 12us.

Of our own: `?` is an unknown number, `≥ 12` a lower bound, `1 row` and `1,200 rows` are counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

Format = Callable[[float], str]

UNKNOWN: Final = "?"
_THOUSAND = 1_000


def count(number: float) -> str:
    """A count with k, m or b."""
    return _scaled(number, "", "k", "m", "b")


def micros(number: float) -> str:
    """A time in microseconds."""
    return _scaled(number, "us", "ms", "sec")


def memory(number: float) -> str:
    """A size in bytes."""
    return _scaled(number, "B", "KB", "MB")


def _scaled(number: float, unit: str, *larger_units: str) -> str:
    """*number* in the largest of these units, each a thousand times the one before."""
    scale = 1
    for larger in larger_units:
        if number < scale * _THOUSAND:
            break
        scale, unit = scale * _THOUSAND, larger
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


def at_least(number: str) -> str:
    """The text of a number that is a lower bound; an unknown one stays unknown."""
    return number if number == UNKNOWN else f"≥ {number}"
