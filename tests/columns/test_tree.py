"""The tree as two columns, against a model that only knows who is whose parent.

drawing order   root a b c d e          parent list   [-1, 0, 1, 1, 0, 4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.columns.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.columns.strings import I64, Bool

Numbered = tuple[Tree, list[int], list[int]]
"""A tree, its parent list, and a number for each row."""
Marked = tuple[Tree, list[int], list[bool]]
"""A tree, its parent list, and whether each row is marked."""

MANY = 200_000
INT64 = st.integers(-(2**63), 2**63 - 1)

pytestmark = pytest.mark.usefixtures("kernels")
often = settings(deadline=None, max_examples=120)


@st.composite
def depths(draw: st.DrawFn) -> list[int]:
    """The depths of a tree's rows: each row is at most one deeper than the row before it."""
    result = [1]
    for up in draw(st.lists(st.integers(0, 3), max_size=30)):
        result.append(max(2, result[-1] + 1 - up))
    return result


def tree_of(depth: Sequence[int]) -> Tree:
    tree = Tree.from_depth(np.array(depth, np.int64))
    tree.check()
    return tree


def parents_of(depth: Sequence[int]) -> list[int]:
    """The row above each row: the last one before it that is less deep."""
    above: list[int] = []
    result = []
    for row, level in enumerate(depth):
        del above[level - 1 :]
        result.append(above[-1] if above else -1)
        above.append(row)
    return result


def children(parent: list[int], row: int) -> list[int]:
    return [child for child, above in enumerate(parent) if above == row]


def path(parent: list[int], row: int) -> list[int]:
    """*row* and the rows above it, up to the root."""
    return [row, *path(parent, parent[row])] if row >= 0 else []


def ints(column: Sequence[int]) -> I64:
    return np.array(column, np.int64)


def bools(column: Sequence[bool]) -> Bool:
    return np.array(column, np.bool_)


@st.composite
def trees_with(draw: st.DrawFn, column: st.SearchStrategy[int]) -> Numbered:
    depth = draw(depths())
    numbers = draw(st.lists(column, min_size=len(depth), max_size=len(depth)))
    return tree_of(depth), parents_of(depth), numbers


@st.composite
def trees_marked(draw: st.DrawFn) -> Marked:
    tree, parent, numbers = draw(trees_with(st.integers(0, 1)))
    return tree, parent, [bool(number) for number in numbers]


@often
@given(depths())
def test_depths_parents_and_children_are_those_that_were_drawn(depth: list[int]) -> None:
    tree, parent = tree_of(depth), parents_of(depth)
    assert tree.depth.tolist() == depth
    assert tree.parent.tolist() == parent
    for row in range(len(depth)):
        below = children(parent, row)
        assert tree.children(row) == below
        assert bool(tree.is_leaf[row]) == (not below)
    assert tree.keep_rows(bools([True] * len(depth))).depth.tolist() == depth


@often
@given(trees_marked())
def test_a_slice_holds_the_marked_rows_of_a_subtree(drawn: Marked) -> None:
    tree, parent, marked = drawn
    marks = [row for row in range(len(tree)) if marked[row]]
    first, last = tree.slices(np.arange(len(tree)), ints(marks))
    for row in range(len(tree)):
        inside = [mark for mark in marks if row in path(parent, mark)]
        assert marks[first[row] : last[row]] == inside


@often
@given(trees_marked())
def test_the_nearest_kept_row_is_the_first_on_the_way_to_the_root(drawn: Marked) -> None:
    tree, parent, kept = drawn
    kept[0] = True
    expected = [next(up for up in path(parent, row) if kept[up]) for row in range(len(tree))]
    assert tree.nearest_kept(bools(kept)).tolist() == expected


@often
@given(trees_with(st.just(0)))
def test_in_post_order_a_row_stands_right_behind_all_that_is_below_it(drawn: Numbered) -> None:
    tree, parent, _ = drawn
    expected: list[int] = []
    waiting = [0]
    while waiting:
        expected.append(waiting.pop())
        waiting += children(parent, expected[-1])
    assert tree.post_order().tolist() == expected[::-1]


@often
@given(trees_with(st.integers(-(2**40), 2**40)))
def test_a_total_is_a_rows_own_and_its_childrens_totals(drawn: Numbered) -> None:
    tree, parent, own = drawn
    total = tree.totals(ints(own)).tolist()
    for row, mine in enumerate(own):
        assert total[row] == mine + sum(total[child] for child in children(parent, row))
    assert total[0] == sum(own)


@often
@given(trees_with(INT64))
def test_totals_wrap_around_as_the_numbers_of_the_original_do(drawn: Numbered) -> None:
    tree, parent, own = drawn
    total = list(own)
    for row in range(len(tree) - 1, 0, -1):
        total[parent[row]] += total[row]
    wrapped = [(number + 2**63) % 2**64 - 2**63 for number in total]
    assert tree.totals(ints(own)).tolist() == wrapped


@often
@given(trees_marked())
def test_a_subtree_holds_a_mark_if_its_row_or_one_below_is_marked(drawn: Marked) -> None:
    tree, parent, marked = drawn
    holds = list(marked)
    for row in range(len(tree) - 1, 0, -1):
        holds[parent[row]] |= holds[row]
    assert tree.holds(bools(marked)).tolist() == holds


@often
@given(trees_marked())
def test_a_row_is_under_a_mark_if_a_row_above_it_is_marked(drawn: Marked) -> None:
    tree, parent, marked = drawn
    under = [False] * len(tree)
    for row in range(1, len(tree)):
        under[row] = marked[parent[row]] or under[parent[row]]
    assert tree.under(bools(marked)).tolist() == under


@often
@given(trees_marked())
def test_children_of_a_row_that_goes_move_up_to_the_nearest_one_that_stays(drawn: Marked) -> None:
    tree, parent, kept = drawn
    kept[0] = True
    stays = [row for row in range(len(tree)) if kept[row]]
    above = [next(up for up in [*path(parent, row)[1:], -1] if up < 0 or kept[up]) for row in stays]
    expected = [stays.index(row) if row >= 0 else -1 for row in above]
    smaller = tree.keep_rows(bools(kept))
    smaller.check()
    assert smaller.parent.tolist() == expected


@often
@given(trees_with(st.integers(0, 2)))
def test_keeping_twice_is_keeping_what_both_keep(drawn: Numbered) -> None:
    tree, _, left_out = drawn
    left_out[0] = 0
    first, both = ints(left_out) != 1, ints(left_out) == 0
    smaller = tree.keep_rows(first)
    smaller.check()
    assert smaller.keep_rows(both[first]).depth.tolist() == tree.keep_rows(both).depth.tolist()


@often
@given(trees_with(st.integers(0, 3) | INT64))
def test_sorting_orders_siblings_by_key_and_keeps_equal_ones_as_they_were(drawn: Numbered) -> None:
    tree, parent, key = drawn
    expected: list[int] = []
    waiting = [0]
    while waiting:
        expected.append(waiting.pop())
        waiting += sorted(children(parent, expected[-1]), key=lambda child: key[child])[::-1]
    ordered, old = tree.sort(ints(key))
    ordered.check()
    assert old.tolist() == expected
    assert [-1, *old[ordered.parent[1:]].tolist()] == [parent[row] for row in expected]


@often
@given(trees_with(INT64))
def test_sorting_changes_no_subtree_but_the_order_in_it(drawn: Numbered) -> None:
    tree, _, numbers = drawn
    ordered, old = tree.sort(ints(numbers))
    ordered.check()
    assert ordered.depth.tolist() == tree.depth[old].tolist()
    assert ordered.totals(ints(numbers)[old]).tolist() == tree.totals(ints(numbers))[old].tolist()


def chain(rows: int) -> I64:
    return np.arange(1, rows + 1)


def fan(rows: int) -> I64:
    return np.append(1, np.full(rows - 1, 2, np.int64))


@pytest.mark.parametrize("shape", [chain, fan])
def test_a_tree_as_deep_or_as_wide_as_it_gets_is_no_special_case(
    shape: Callable[[int], I64],
) -> None:
    depth = shape(MANY)
    tree = Tree.from_depth(depth)
    tree.check()
    assert (tree.depth == depth).all()
    assert tree.totals(np.ones(MANY, np.int64))[0] == MANY
    every_other = np.arange(MANY) % 2 == 0
    half = tree.keep_rows(every_other)
    half.check()
    assert (half.depth == shape(MANY // 2)).all()
    ordered, old = tree.sort(np.arange(MANY)[::-1])
    ordered.check()
    assert (ordered.depth == depth).all()
    assert old[0] == 0
    assert old[1] == (1 if shape is chain else MANY - 1)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param([], id="no root"),
        pytest.param([1, 2], id="a row outside the root"),
        pytest.param([3, 1, 3], id="a subtree without its own row"),
        pytest.param([3, 4, 3], id="a subtree past the end"),
        pytest.param([4, 3, 4, 4], id="a subtree past its parent's"),
    ],
)
def test_check_refuses_what_is_no_tree(end: list[int]) -> None:
    with pytest.raises(AssertionError):
        Tree(ints(end)).check()
