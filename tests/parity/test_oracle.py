"""Differential: random models, runs and options, ours against the C++ original, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from random_cases import agree, batches, make_case
from same_report import differences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle import Oracle

VIEWS = ["scope", "graph", "op", "code"]


@batches(1_200, 50, 50)
@pytest.mark.parametrize("view", VIEWS)
def test_random_cases_agree(oracle: Oracle, view: str, numbers: Sequence[int]) -> None:
    agree(numbers, lambda n: make_case(n, view), lambda case: differences(oracle, case))
