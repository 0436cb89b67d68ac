"""align(base, new) → Aligned: the counted rows of two answers of one view, each once, as one tree.

    base           new            rows of both       base  new
    root           root           root                0     0
    ├─ a           ├─ a           ├─ a                1     1
    │  ├─ x        │  └─ z        │  ├─ x             2    -1     only in base: right below its
    │  └─ y        └─ b           │  ├─ y             3    -1     parent, before the rows of new
    └─ b                          │  └─ z            -1     2
                                  └─ b                4     3

Rows are the same if their names are; lines of code if the lines that call them are the same, too.
The rows of new keep their order and their parents. Nothing here loops over rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.tree import Tree
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, U64
    from tfprof.query.counted import Answer
    from tfprof.views.drawing import Drawing

_SEED: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Aligned(Frozen):
    """The rows of both sides, in drawing order; row 0 is the root of both."""

    tree: Tree
    base: I64  # the counted row of the base answer; -1: only in new
    new: I64


def align(base: Answer, new: Answer) -> Aligned:
    """The counted rows of both answers, which have the same view and the same query."""
    base_tree, new_tree = base.counted.tree, new.counted.tree
    pair = _base_rows(base, new)
    new_row = np.full(len(base_tree), -1, np.int64)
    new_row[pair[pair >= 0]] = np.flatnonzero(pair >= 0)
    alone = np.flatnonzero(new_row < 0)
    if not alone.size and not new.view.chain:
        return Aligned(new_tree, pair, np.arange(len(new_tree)))
    above = base_tree.nearest_kept(new_row >= 0)[alone]
    below = new_row[above]
    # The sort is stable: the row of new comes first, then rows of base in their own order.
    order = np.argsort(np.append(np.arange(len(new_tree)), below), kind="stable")
    hanging = new_tree.depth[below] + base_tree.depth[alone] - base_tree.depth[above]
    depth = np.append(new_tree.depth, hanging)[order]
    if new.view.chain:
        depth[1:] = 2  # a list, whose totals do not run along it
    return Aligned(
        Tree.from_depth(depth),
        np.append(pair, alone)[order],
        np.append(np.arange(len(new_tree)), np.full(alone.size, -1))[order],
    )


def _base_rows(base: Answer, new: Answer) -> I64:
    """For each counted row of *new* that of *base*; -1: it has none."""
    counted = np.full(len(base.drawing.tree) + 1, -1, np.int64)
    counted[base.counted.row] = np.arange(base.counted.row.size)
    return counted[_same_rows(base.drawing, new.drawing)[new.counted.row]]


def _same_rows(base: Drawing, new: Drawing) -> I64:
    """For each drawn row of *new* that of *base*; -1: it has none."""
    rows = np.arange(len(new.tree))
    if base is new:
        return rows
    base_key, key = _keys(base), _keys(new)
    order = np.argsort(base_key, kind="stable")
    found = order[np.minimum(np.searchsorted(base_key[order], key), order.size - 1)]
    # Equal keys prove nothing: names are compared, and so are the rows above lines of code.
    same = new.label.same(rows, base.label, found)
    if new.frame is not None:
        same[1:] &= found[new.tree.parent[1:]] == base.tree.parent[found[1:]]
        same &= ~new.tree.under(~same)
    # Of two rows of one name, the first.
    first = np.full(len(base.tree), -1, np.int64)
    first[found[same][::-1]] = rows[same][::-1]
    return np.where(same & (first[found] == rows), found, -1)


def _keys(drawing: Drawing) -> U64:
    """A number per row: of its name, for a line of code also of those above it; 0: the root."""
    key = drawing.label.hashes(_SEED)
    if drawing.frame is not None:
        # Powers of an odd number: the same names in another order give another sum.
        factor = np.power(_SEED, drawing.tree.depth.astype(np.uint64))
        key = drawing.tree.sum_above((key * factor).view(np.int64)).view(np.uint64)
    key[0] = 0
    return key
