"""Op view: one row per operation type, in a chain.

_TFProfRoot ─► Add ─► Conv2D ─► MatMul        in name order, until a query sorts them; the total
                                              of a row includes all rows after it
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
    """The chain of operation types that occur."""
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
