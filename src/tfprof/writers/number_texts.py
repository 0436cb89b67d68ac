"""A column of numbers as text, without a Python object per row: 1234 us is "1.23ms".

    ····1.23ms/·····     a text of a long column is two words, looked up in tables: digits that end
    ·····500us/·····     the first, and what stands behind them

In short columns, and where numbers have many digits, these are computed: numbers of one unit have
texts of one layout: digits, perhaps two decimals, and an end that is the same for all. Hundredths
are rounded as C rounds a double: 1005 / 1000 is a little less than 1.005, so it is "1.00". Negative
numbers, huge ones and fractions go through `units` one by one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.units import SCALES, THOUSAND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tfprof.columns.strings import I64, U8, Bool
    from tfprof.foundation.units import Format

    I8 = NDArray[np.int8]
    U64 = NDArray[np.uint64]

_ZERO = ord("0")
_DECIMALS = 2
# Below it, a quotient is exact enough that only halves need care.
_MOST = 10**12
_LONG_COLUMN = 1 << 9
_WORD = 8
_HALF_OF_DOUBLE = 2.0**27 + 1  # splits a double into two halves of 26 bits


def number_texts(column: I64, unit: Format, end: bytes = b"") -> Strings:
    """Each number in *unit*, with *end* behind it."""
    if column.size and (column == column[0]).all():  # the same in all rows, mostly 0
        same = _one_by_one(column[:1], unit, 0, end)
        return same.take(np.zeros(column.size, np.int64))
    tails = [name.encode() + end for name in SCALES[unit]]
    is_long = column.size >= _LONG_COLUMN and column.dtype == np.int64
    if is_long and max(map(len, tails)) <= _WORD:
        most = min(THOUSAND ** len(tails), _MOST)
        if column.min() >= 0 and column.max() < most:
            return _looked_up(column, tails)
    blobs: list[U8] = []
    start, length = np.empty(column.size, np.int64), np.empty(column.size, np.int64)
    size = 0
    if column.dtype != np.int64:
        scale = np.full(column.size, -1, np.int8)
    else:
        scale = _reached(column, [THOUSAND**index for index in range(1, len(SCALES[unit]))])
        scale[(column < 0) | (column >= _MOST)] = -1
    for index in range(-1, len(SCALES[unit])):
        rows = np.flatnonzero(scale == index)
        if not rows.size:
            continue
        texts = _one_by_one if index < 0 else _digits
        part = texts(column[rows], unit, index, end)
        start[rows], length[rows] = part.start + size, part.length
        blobs.append(part.blob)
        size += part.blob.size
    return Strings(np.concatenate([np.empty(0, np.uint8), *blobs]), start, length)


@cache
def _tables() -> tuple[U64, I64, U64]:
    """(digits, how many, decimals): 0 to 999, 0 to 1000 before decimals; .00 to .99 and none."""
    whole = [b"%d" % number for number in range(THOUSAND + 1)]
    before = [text + bytes(_DECIMALS + 1) for text in whole]
    digits = [*whole[:-1], *before]
    decimals = [*(b".%02d" % number for number in range(100)), b""]
    words = (b"".join(text.rjust(_WORD, b"\0") for text in part) for part in (digits, decimals))
    first, second = (np.frombuffer(part, np.uint64) for part in words)
    return first, np.array([*map(len, digits)], np.int64), second


def _looked_up(column: I64, tails: list[bytes]) -> Strings:
    """Numbers below a thousand of the largest of these units, which are written as *tails*."""
    digits, count, decimals = _tables()
    scales = np.array([THOUSAND**index for index in range(len(tails))], np.int64)
    scale = _reached(column, scales[1:].tolist())
    words = np.empty((column.size, 2), np.uint64)
    if (is_large := scale > 0).any():
        whole = _hundredths(column, scales[scale])
        before = whole // 100
        place = np.where(is_large, before + THOUSAND, whole)
        behind = np.where(is_large, whole - before * 100, 100)
        words[:, 0] = digits.take(place) | decimals.take(behind)
    else:
        place = column
        words[:, 0] = digits.take(place)
    ends = b"".join(tail.ljust(_WORD, b"\0") for tail in tails)
    words[:, 1] = np.frombuffer(ends, np.uint64).take(scale)
    size = count.take(place)
    start = np.arange(_WORD, 2 * _WORD * column.size, 2 * _WORD) - size
    size += np.array([*map(len, tails)], np.int64).take(scale)
    return Strings(words.view(np.uint8).reshape(-1), start, size)


def _one_by_one(column: I64, unit: Format, _: int, end: bytes) -> Strings:
    known = {number: unit(number).encode() + end for number in set(column.tolist())}
    return Strings.of(map(known.__getitem__, column.tolist()))


def _digits(column: I64, unit: Format, index: int, end: bytes) -> Strings:
    """Numbers of the same unit, number *index* of its scales."""
    whole = _hundredths(column, THOUSAND**index) if index else column
    least = _DECIMALS + 1 if index else 1
    longest = len(str(int(whole.max())))
    digits = _reached(whole, [10**index for index in range(least, longest)]) + least
    width = max(longest, least)
    tail = SCALES[unit][index].encode() + end
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
    begin = (width - digits).astype(np.int64)
    start = np.arange(column.size) * texts.shape[1] + begin
    return Strings(texts.reshape(-1), start, texts.shape[1] - begin)


def _reached(column: I64, bounds: Iterable[int]) -> I8:
    """How many of these *bounds* each number reaches."""
    count = np.zeros(column.size, np.int8)
    for bound in bounds:
        count += column >= bound
    return count


def _hundredths(column: I64, scale: Any) -> I64:  # noqa: ANN401 - a number, or one for each
    """Each number / *scale* as a double, in hundredths, rounded; itself where the scale is 1."""
    part: I64 = np.maximum(scale // 100, 1)
    whole = column // part  # faster than divmod
    rest = column - whole * part
    half = np.flatnonzero(2 * rest == part)
    result = whole + (2 * rest > part)
    if half.size:
        of_half = scale[half] if isinstance(scale, np.ndarray) else scale
        result[half] += _rounds_up(column[half], of_half, whole[half])
    return result


def _rounds_up(column: I64, scale: I64 | int, below: I64) -> Bool:
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
