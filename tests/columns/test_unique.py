"""Distinct numbers, counted if they are close together, else sorted: as NumPy finds them."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfprof.columns.unique import combined, first_rows, stable_order, unique, unique_inverse

LOW, HIGH = -(2**63), 2**63 - 1
CLOSE: Final = st.lists(st.integers(-9, 9), max_size=60)
FAR: Final = st.lists(st.integers(LOW, HIGH) | st.sampled_from([LOW, HIGH, 0]), max_size=60)


@given(CLOSE | FAR | st.lists(st.integers(0, 1 << 17), max_size=60))
@example([])
@example([LOW, HIGH])
@example([7, 3, 7, 3, 5])
def test_they_are_what_numpy_finds(numbers: list[int]) -> None:
    column = np.array(numbers, np.int64)
    distinct, first, index = np.unique(column, return_index=True, return_inverse=True)
    assert unique(column).tolist() == distinct.tolist()
    assert [part.tolist() for part in first_rows(column)] == [distinct.tolist(), first.tolist()]
    assert [part.tolist() for part in unique_inverse(column)] == [distinct.tolist(), index.tolist()]
    assert stable_order(column).tolist() == np.argsort(column, kind="stable").tolist()


@given(st.lists(st.tuples(*[st.integers(0, 3) | st.just(10**6)] * 3), max_size=40))
def test_rows_of_several_columns(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    ids, first = combined(*columns)
    ordered = sorted(set(rows))
    assert [rows[at] for at in first.tolist()] == ordered
    assert ids.tolist() == [ordered.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in ordered]


@pytest.mark.parametrize("apart", [10, 1 << 15, 1 << 16, 1 << 40])
def test_equal_numbers_keep_their_order(apart: int) -> None:
    column = np.array([apart, 0, apart, 0, -apart], np.int64)
    assert stable_order(column).tolist() == [4, 1, 3, 0, 2]
