"""A column of numbers as text, without a Python object per row: 1234 us is "1.23ms".

Numbers of one unit have texts of one layout: digits, perhaps two decimals, and an end that is the
same for all. Hundredths are rounded as C rounds a double: 1005 / 1000 is a little less than 1.005,
so it is "1.00". Negative numbers, huge ones and fractions go through `units` one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.units import SCALES, THOUSAND
from tfprof.kernels.table import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tfprof.columns.strings import I64, U8, Bool
    from tfprof.foundation.units import Format

    I8 = NDArray[np.int8]

_ZERO = ord("0")
_DECIMALS = 2
# Below it, a double has all digits, and a quotient is exact enough that only halves need care.
_MOST = 10**15
_HALF_OF_DOUBLE = 2.0**27 + 1  # splits a double into two halves of 26 bits


def number_texts(column: I64, unit: Format, end: bytes = b"") -> Strings:
    """Each number in *unit*, with *end* behind it."""
    if column.size and (column == column[0]).all():  # the same in all rows, mostly 0
        same = _one_by_one(column[:1], unit, end)
        return same.take(np.zeros(column.size, np.int64))
    if column.dtype != np.int64:
        return _one_by_one(column, unit, end)
    tails = [name.encode() + end for name in SCALES[unit]]
    if column.min(initial=0) >= 0 and column.max(initial=0) < _MOST:
        return Strings(*scaled_texts(column, tails))
    is_other = (column < 0) | (column >= _MOST)
    others = _one_by_one(column[is_other], unit, end)
    texts = Strings(*scaled_texts(np.where(is_other, 0, column), tails))
    place = np.arange(column.size)
    place[is_other] = column.size + np.arange(len(others))
    return Strings.concat([texts, others]).take(place)


def _one_by_one(column: I64, unit: Format, end: bytes) -> Strings:
    known = {number: unit(number).encode() + end for number in set(column.tolist())}
    return Strings.of(map(known.__getitem__, column.tolist()))


@kernel
def scaled_texts(column: I64, tails: Sequence[bytes]) -> tuple[U8, I64, I64]:
    """(blob, start, length) of each number in the largest unit that it reaches.

    A unit is a thousand times the one before; *tails* are written behind their numbers.
    """
    blobs: list[U8] = [np.empty(0, np.uint8)]
    start, length = np.empty(column.size, np.int64), np.empty(column.size, np.int64)
    scale = _reached(column, [THOUSAND**index for index in range(1, len(tails))])
    size = 0
    for index, tail in enumerate(tails):
        rows = np.flatnonzero(scale == index)
        if rows.size:
            blob, begin, length[rows] = _digits(column[rows], index, tail)
            start[rows] = begin + size
            blobs.append(blob)
            size += blob.size
    return np.concatenate(blobs), start, length


def _digits(column: I64, index: int, tail: bytes) -> tuple[U8, I64, I64]:
    """Numbers of the same unit, that of this *index*."""
    whole = _hundredths(column, THOUSAND**index) if index else column
    least = _DECIMALS + 1 if index else 1
    longest = len(str(int(whole.max())))
    digits = _reached(whole, [10**index for index in range(least, longest)]) + least
    width = max(longest, least)
    point = width - _DECIMALS if index else width
    texts = np.empty((column.size, width + bool(index) + len(tail)), np.uint8)
    rest = whole.astype(np.uint32) if width < 10 else whole  # noqa: PLR2004 - digits of 32 bits
    for place in reversed(range(width)):
        quotient = rest // 10
        texts[:, place + (place >= point)] = rest - quotient * 10 + _ZERO
        rest = quotient
    if index:
        texts[:, point] = ord(".")
    texts[:, texts.shape[1] - len(tail) :] = np.frombuffer(tail, np.uint8)
    begin = np.arange(column.size) * texts.shape[1] + (width - digits)
    return texts.reshape(-1), begin, texts.shape[1] - (width - digits).astype(np.int64)


def _reached(column: I64, bounds: Iterable[int]) -> I8:
    """How many of these *bounds* each number reaches."""
    count = np.zeros(column.size, np.int8)
    for bound in bounds:
        count += column >= bound
    return count


def _hundredths(column: I64, scale: int) -> I64:
    """Each number / *scale* as a double, in hundredths, rounded."""
    part = scale // 100
    whole = column // part  # faster than divmod
    rest = column - whole * part
    half = np.flatnonzero(2 * rest == part)
    result = whole + (2 * rest > part)
    if half.size:
        result[half] += _rounds_up(column[half], scale, whole[half])
    return result


def _rounds_up(column: I64, scale: int, below: I64) -> Bool:
    """Whether the double nearest to number / scale, halfway between hundredths, is above that."""
    number = column.astype(np.float64)
    quotient = number / scale
    # The error of quotient * scale, exactly: both are split into halves whose products are exact.
    high, low = _halves(quotient)
    scale_high, scale_low = _halves(np.float64(scale))
    product = quotient * scale
    error = ((high * scale_high - product) + high * scale_low + low * scale_high) + low * scale_low
    above = (product - number) + error
    up: Bool = np.where(above == 0, below % 2 == 1, above > 0)
    return up


def _halves(number: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a double, or a column of them
    large = number * _HALF_OF_DOUBLE
    high = large - (large - number)
    return high, number - high
