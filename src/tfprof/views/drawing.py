"""Drawing: what a view hands to a query — a tree, the owner of each node, a label a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfprof.strings import I64, Strings
    from tfprof.tree import Tree

ROOT_NAME = b"_TFProfRoot"


@dataclass(frozen=True, eq=False)
class Drawing:
    """A view of one profile. Row 0 is the root."""

    tree: Tree
    owner: I64
    label: Strings
    filler: bytes  # the type of the rows that are no graph node
    in_name_order: bool  # siblings, also after rows were removed, are in byte order of label

    @cached_property
    def node(self) -> I64:
        """The graph node of each row, -1 for a filler, in a view with one node a row at most."""
        column = np.full(len(self.tree), -1, np.int64)
        drawn = np.flatnonzero(self.owner >= 0)
        column[self.owner[drawn]] = drawn
        return column
