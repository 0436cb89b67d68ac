"""Numbers on the page are written as Python writes them, to the last digit."""

from __future__ import annotations

from typing import Final

import sampling
from page_node import twin
from tfprof.foundation.units import count, memory, micros, plural
from tfprof.results.summary_numbers import BYTES, MICROS, exact, short
from tfprof.writers.numbers import percent

# Where units change, where texts are half way between two, and beyond what doubles hold.
NUMBERS: Final = (
    *range(1_100), *range(999_000, 1_001_000, 125), *range(1_000, 20_000, 125), 2**53, 2**53 + 1,
    *(10**power + rest for power in range(3, 19) for rest in (-1, 0, 5, 125)),
    *(-(10**power) for power in range(19)),
    *(2**63 - 1, -(2**63), 9_999_999_999_999_999, 999_950_000, 999_949_999, 1_125, 1_375, 12_250),
)  # fmt: skip


def test_numbers() -> None:
    rng = sampling.rng("units")
    numbers = [*NUMBERS, *(rng.randrange(10 ** rng.randrange(1, 19)) for _ in range(1_000))]
    with twin() as page:
        written = page("units", numbers=list(map(str, numbers)))
    for number, texts in zip(numbers, written, strict=True):
        assert texts == [
            *(count(number), micros(number), memory(number)),
            *(short(number), short(number, MICROS), short(number, BYTES)),
            *(exact(number), plural(number, "row"), percent(number % 123_457 / 123_457)),
        ], number


def test_formulas_of_open_sizes() -> None:
    # By hand, after the units above: k is a thousand, kB a thousand bytes.
    written = {
        "12544*batch + 160": "12.5 kB·batch + 160 B",
        "-3*batch*time**2 - 1/2*time": "-3 B·batch·time² - 1/2·time",
        "15/2*layer_12**10": "15/2·layer_12¹⁰",
        "9223372036854775807*batch": "9223 PB·batch",
    }
    with twin() as page:
        assert page("amounts", texts=[*written], kind="memory") == [*written.values()]
        assert page("amounts", texts=["86240*batch"], kind="count") == ["86.2k·batch"]
