"""Numbers as the original formats them in reports.

    counts  999   1.00k   1.00m   1.00b        params, float operations, runs
    micros  999us 1.00ms  1.00sec              there is no minute
    bytes   999B  1.00KB  1.00MB               powers of 1000; there is no gigabyte

The unit depends on the number before rounding: 999,999 us is "1000.00ms". Negative numbers get
no unit prefix. A number becomes a double before it is divided, as in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Format = Callable[[int], str]

_THOUSAND, _MILLION, _BILLION = 1_000, 1_000_000, 1_000_000_000


def count(number: int) -> str:
    """A count with k, m or b."""
    if number < _THOUSAND:
        return str(number)
    if number < _MILLION:
        return f"{float(number) / _THOUSAND:.2f}k"
    if number < _BILLION:
        return f"{float(number) / _MILLION:.2f}m"
    return f"{float(number) / _BILLION:.2f}b"


def micros(number: int) -> str:
    """A time in microseconds."""
    if number < _THOUSAND:
        return f"{number}us"
    if number < _MILLION:
        return f"{float(number) / _THOUSAND:.2f}ms"
    return f"{float(number) / _MILLION:.2f}sec"


def memory(number: int) -> str:
    """A size in bytes."""
    if number < _THOUSAND:
        return f"{number}B"
    if number < _MILLION:
        return f"{float(number) / _THOUSAND:.2f}KB"
    return f"{float(number) / _MILLION:.2f}MB"


def shape(dims: Iterable[int]) -> str:
    """Dimensions joined by x; an unknown one is -1."""
    return "x".join(map(str, dims))
