"""Numbers as short strings: every border, and C's own printf between them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.foundation import units

if TYPE_CHECKING:
    from tfprof.foundation.units import Format

often = settings(deadline=None, max_examples=500)

INT64 = st.integers(-(2**63), 2**63 - 1)
# Half of a hundredth of a unit, where rounding shows.
HALVES = st.builds(
    lambda hundredths, unit: hundredths * unit + unit // 2,
    st.integers(0, 10**6),
    st.sampled_from((10, 10**4, 10**7)),
)
NUMBERS = INT64 | st.integers(0, 10**10) | HALVES


def printf(form: bytes, number: float) -> str:
    """What C prints."""
    buffer = ctypes.create_string_buffer(64)
    ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(64), form, ctypes.c_double(number))
    return buffer.value.decode()


def in_c(number: int, plain: str, *scales: tuple[int, bytes]) -> str:
    """The number plain below a thousand, else with the largest of *scales* it reaches."""
    fitting = [(scale, unit) for scale, unit in scales if number >= scale]
    if not fitting:
        return f"{number}{plain}"
    scale, unit = fitting[-1]
    return printf(b"%.2f" + unit, float(number) / float(scale))


@pytest.mark.parametrize(
    ("unit", "number", "text"),
    [
        (units.count, 0, "0"),
        (units.count, 999, "999"),
        (units.count, 1_000, "1.00k"),
        (units.count, 1_004, "1.00k"),
        (units.count, 999_994, "999.99k"),
        (units.count, 999_999, "1000.00k"),
        (units.count, 1_000_000, "1.00m"),
        (units.count, 999_999_999, "1000.00m"),
        (units.count, 1_000_000_000, "1.00b"),
        (units.count, 10**15, "1000000.00b"),
        (units.count, 2**63 - 1, "9223372036.85b"),
        (units.micros, 0, "0us"),
        (units.micros, 999, "999us"),
        (units.micros, 1_000, "1.00ms"),
        (units.micros, 999_999, "1000.00ms"),
        (units.micros, 1_000_000, "1.00sec"),
        (units.micros, 3_600_000_000, "3600.00sec"),
        (units.memory, 0, "0B"),
        (units.memory, 999, "999B"),
        (units.memory, 1_000, "1.00KB"),
        (units.memory, 999_999, "1000.00KB"),
        (units.memory, 1_000_000, "1.00MB"),
        (units.memory, 10**12, "1000000.00MB"),
    ],
)
def test_the_unit_is_chosen_before_rounding(unit: Format, number: int, text: str) -> None:
    assert unit(number) == text


@pytest.mark.parametrize("number", [-1, -999, -1_000, -1_000_000, -(2**63)])
def test_a_negative_number_stays_plain(number: int) -> None:
    assert units.count(number) == f"{number}"
    assert units.micros(number) == f"{number}us"
    assert units.memory(number) == f"{number}B"


@often
@given(NUMBERS)
def test_counts_are_printed_as_by_c(number: int) -> None:
    scales = ((10**3, b"k"), (10**6, b"m"), (10**9, b"b"))
    assert units.count(number) == in_c(number, "", *scales)


@often
@given(NUMBERS)
def test_times_are_printed_as_by_c(number: int) -> None:
    assert units.micros(number) == in_c(number, "us", (10**3, b"ms"), (10**6, b"sec"))


@often
@given(NUMBERS)
def test_sizes_are_printed_as_by_c(number: int) -> None:
    assert units.memory(number) == in_c(number, "B", (10**3, b"KB"), (10**6, b"MB"))


@pytest.mark.parametrize(
    ("dims", "text"), [([], ""), ([1], "1"), ([3, 3, 16], "3x3x16"), ([-1, 0], "-1x0")]
)
def test_a_shape_is_its_dimensions_joined_by_x(dims: list[int], text: str) -> None:
    assert units.shape(dims) == text
