"""Columns of numbers as text: as C prints each number, halves and all."""

from __future__ import annotations

import numpy as np
import pytest

from tfprof.foundation import units
from tfprof.writers.number_texts import number_texts

pytestmark = pytest.mark.usefixtures("kernels")

# fmt: off
WRITTEN: dict[units.Format, dict[int, str]] = {
    units.count: {0: "0", 999: "999", 1000: "1.00k", 999_999: "1000.00k", 10**6: "1.00m",
                  10**9: "1.00b", 10**12: "1000.00b", -1: "-1", -(2**63): "-9223372036854775808"},
    units.micros: {7: "7us", 1005: "1.00ms", 1015: "1.01ms", 1025: "1.02ms", 1035: "1.03ms",
                   2125: "2.12ms", 2375: "2.38ms", 123_456_789: "123.46sec"},
    units.memory: {12: "12B", 12_345: "12.35KB", 1_005_000: "1.00MB", 10**11: "100000.00MB",
                   2**63 - 1: "9223372036854.78MB"},
}
# fmt: on


@pytest.mark.parametrize("unit", WRITTEN)
def test_numbers_are_written_as_c_writes_them(unit: units.Format) -> None:
    for numbers in ([*WRITTEN[unit]], [number for number in WRITTEN[unit] if 0 <= number < 10**15]):
        texts = number_texts(np.array(numbers, np.int64), unit, b"/")
        assert texts.tolist() == [f"{WRITTEN[unit][number]}/".encode() for number in numbers]


@pytest.mark.parametrize("unit", WRITTEN)
@pytest.mark.parametrize("end", [b"", b"/", b" params"])
@pytest.mark.parametrize("most", [10, 3000, 10**6, 10**9 - 1, 10**13, 10**15 - 1, 10**16])
def test_long_columns_are_written_as_c_writes_them(
    unit: units.Format, end: bytes, most: int
) -> None:
    edges = [0, 1, 9, 10, 99, 100, 999, 1000, 1004, 1005, 9995, 999_994, 999_995, 999_999, 10**6]
    column = np.unique(np.append(np.random.default_rng(most).integers(0, most, 3000), edges))
    column = column[column <= most].repeat(3000 // most + 1)
    names, texts = units.SCALES[unit], []
    for number in column.tolist():
        scale = sum(number >= 1000**power for power in range(1, len(names)))
        digits = b"%.2f" % (number / 1000**scale) if scale else b"%d" % number
        texts.append(digits + names[scale].encode() + end)
    assert number_texts(column, unit, end).tolist() == texts


@pytest.mark.parametrize(("scale", "name"), [(10**3, "ms"), (10**6, "sec")])
def test_halves_are_rounded_as_the_double_that_is_printed(scale: int, name: str) -> None:
    step = scale // 100
    halves = step // 2 + step * np.arange(100, 99_999)
    texts = number_texts(halves, units.micros).tolist()
    assert texts == [b"%.2f%s" % (number / scale, name.encode()) for number in halves.tolist()]


@pytest.mark.parametrize(("unit", "scale"), [(units.count, 10**9), (units.memory, 10**6)])
def test_halves_of_large_numbers_are_rounded_as_their_doubles(
    unit: units.Format, scale: int
) -> None:
    some = np.random.default_rng(scale).integers(100, 10**15 // scale * 100, 3000)
    halves = scale // 200 + scale // 100 * some
    texts = number_texts(halves, unit).tolist()
    name = units.SCALES[unit][-1 if scale == 10**9 else 2].encode()
    assert texts == [b"%.2f%s" % (number / scale, name) for number in halves.tolist()]


def test_numbers_of_all_kinds_in_one_column() -> None:
    numbers = [5, -7, 10**15, 1500, -(10**17), 10**15 - 1, 0]
    texts = number_texts(np.array(numbers), units.count, b";").tolist()
    assert texts == [f"{units.count(number)};".encode() for number in numbers]


def test_fractions_and_nothing() -> None:
    assert number_texts(np.array([0.25, 12.0, 1500.0]), units.micros).tolist() == [
        b"0.25us", b"12us", b"1.50ms",
    ]  # fmt: skip
    assert number_texts(np.empty(0, np.int64), units.count).tolist() == []
