"""Op view: one row an operation type, in a chain.

_TFProfRoot ─► Add ─► Conv2D ─► MatMul        in name order; a query orders them anew, and
                                              then a row's total is its own and all behind it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.tree import Tree
from tfprof.columns.unique import unique_inverse
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.model import Profile


def draw(profile: Profile) -> Drawing:
    """The operation types that nodes have."""
    used, row = unique_inverse(profile.nodes.op)
    names = profile.types.take(used)
    order = names.order()
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(1, order.size + 1)
    return Drawing(
        Tree.from_depth(np.arange(1, order.size + 2)),
        rank[row],
        under_root(names.take(order)),
        in_name_order=True,
    )
