"""Runs of one model are alike: a step shares columns with the one before, and finds its names."""

from __future__ import annotations

import numpy as np

from tfprof.columns.frozen import Frozen, packed_columns, share_columns
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.merge_run import _find_nodes


def found(known: Strings, *names: bytes) -> list[tuple[int, bytes]]:
    rows, parts = _find_nodes(known, Strings.of(names))
    return list(zip(rows.tolist(), parts, strict=True))


def test_names_of_the_run_before_are_tried_first_and_others_are_found() -> None:
    known = Strings.of([b"a", b"a/b", b"c", b""])
    expected = [(0, b"a"), (1, b"a/b"), (2, b"c"), (-1, b"x"), (3, b"")]
    assert found(known, b"a", b"a/b:MatMul", b"c", b"x:y", b":z") == expected
    assert found(known, b"a:1", b"a/b", b"c:Add:2", b"x", b"") == expected
    moved = [(1, b"a/b"), (0, b"a"), (-1, b"ca"), (2, b"c"), (-1, b"aa")]
    assert found(known, b"a/b", b"a", b"ca", b"c", b"aa:b") == moved
    assert found(known, b"a/b:c") == [(1, b"a/b")]
    assert found(known, b"x", b"x", b"a", b"x", b"x") == [
        (-1, b"x"), (-1, b"x"), (0, b"a"), (-1, b"x"), (-1, b"x"),
    ]  # fmt: skip


def test_no_name_is_known() -> None:
    nothing = Strings.of([])
    for _ in range(2):
        assert found(nothing, b"a:b") == [(-1, b"a")]


def test_a_known_name_with_a_colon_is_found_as_before() -> None:
    known = Strings.of([b"a", b"a:b"])
    for _ in range(3):
        assert found(known, b"a:b", b"a") == [(0, b"a"), (0, b"a")]


@packed_columns
@dataclass(frozen=True, eq=False)
class Two(Frozen):
    """Two packed columns."""

    first: I64
    second: I64


def test_equal_columns_are_stored_once() -> None:
    one = Two(np.array([5, 7, 300]), np.array([1, 1, 1]))
    for first, second, shared in (
        ([5, 7, 300], [1, 1, 1], {"_first", "_second"}),
        ([5, 7, 301], [1, 1, 1], {"_second"}),
        ([6, 8, 301], [1, 1, 2], set()),
        ([5, 7], [1, 1], set()),
    ):
        other = Two(np.array(first), np.array(second))
        share_columns(other, one)
        assert {name for name in vars(other) if vars(other)[name] is vars(one)[name]} == shared
        assert (other.first.tolist(), other.second.tolist()) == (first, second)
