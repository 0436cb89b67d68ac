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


# fmt: off
BORDERS: dict[Format, dict[int, str]] = {
    units.count: {0: "0", 999: "999", 1_000: "1.00k", 1_004: "1.00k", 999_994: "999.99k",
                  999_999: "1000.00k", 1_000_000: "1.00m", 999_999_999: "1000.00m",
                  1_000_000_000: "1.00b", 10**15: "1000000.00b", 2**63 - 1: "9223372036.85b"},
    units.micros: {0: "0us", 999: "999us", 1_000: "1.00ms", 999_999: "1000.00ms",
                   1_000_000: "1.00sec", 3_600_000_000: "3600.00sec"},
    units.memory: {0: "0B", 999: "999B", 1_000: "1.00KB", 999_999: "1000.00KB",
                   1_000_000: "1.00MB", 10**12: "1000000.00MB"},
}
# fmt: on


@pytest.mark.parametrize(
    ("unit", "number", "text"),
    [(unit, *border) for unit, borders in BORDERS.items() for border in borders.items()],
)
def test_the_unit_is_chosen_before_rounding(unit: Format, number: int, text: str) -> None:
    assert unit(number) == text


@pytest.mark.parametrize("number", [-1, -999, -1_000, -1_000_000, -(2**63)])
def test_a_negative_number_stays_plain(number: int) -> None:
    assert units.count(number) == f"{number}"
    assert units.micros(number) == f"{number}us"
    assert units.memory(number) == f"{number}B"


@pytest.mark.parametrize(
    ("unit", "plain", "scales"),
    [
        (units.count, "", ((10**3, b"k"), (10**6, b"m"), (10**9, b"b"))),
        (units.micros, "us", ((10**3, b"ms"), (10**6, b"sec"))),
        (units.memory, "B", ((10**3, b"KB"), (10**6, b"MB"))),
    ],
)
@often
@given(number=NUMBERS)
def test_numbers_are_printed_as_by_c(
    unit: Format, plain: str, scales: tuple[tuple[int, bytes], ...], number: int
) -> None:
    assert unit(number) == in_c(number, plain, *scales)


@pytest.mark.parametrize(
    ("dims", "text"), [([], ""), ([1], "1"), ([3, 3, 16], "3x3x16"), ([-1, 0], "-1x0")]
)
def test_a_shape_is_its_dimensions_joined_by_x(dims: list[int], text: str) -> None:
    assert units.shape(dims) == text
