"""Drawing: what a view gives to a query: a tree, the owner of each node, one label per row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.columns.unique import marked
from tfprof.foundation.caches import Cache
from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.columns.tree import Tree
    from tfprof.model import Note

ROOT_NAME = b"_TFProfRoot"


@dataclass(frozen=True, eq=False)
class Drawing(Frozen):
    """A view of a profile's structure. Row 0 is the root."""

    tree: Tree
    owner: I64
    label: Strings
    filler: bytes = b""  # the type of rows that are not graph nodes
    in_name_order: bool = False  # siblings are in byte order of label, also after rows are removed
    frame: I64 | None = None  # the stack frame of each row, where rows are lines of code
    gradient: I64 | None = None  # 1 where the row is the gradient of that line
    accounting: tuple[Tree, I64] | None = (
        None  # another tree that totals follow; place in it by row
    )
    notes: tuple[Note, ...] = ()
    _cache: Cache = field(default_factory=Cache, init=False, repr=False)

    @cached_property
    def node(self) -> I64:
        """The graph node of each row, -1 for none; for views with at most one node per row."""
        column = np.full(len(self.tree), -1, np.int64)
        drawn = np.flatnonzero(self.owner >= 0)
        column[self.owner[drawn]] = drawn
        return column

    @cached_property
    def drawn(self) -> I64 | slice:
        """The nodes that have a row: their numbers, or a slice of all."""
        if self.owner.min(initial=0) >= 0:
            return slice(None)
        return np.flatnonzero(self.owner >= 0)

    @cached_property
    def has_one_node_per_row(self) -> bool:
        """Whether no two nodes have the same row."""
        rows = self.owner[self.drawn]
        return rows.size == np.count_nonzero(marked(rows, len(self.tree)))

    def labels_match(self, patterns: tuple[str, ...]) -> Bool:
        """Whether one of *patterns* matches each row's label. Cached."""
        return self._cache.cached(patterns, lambda: matches(self.label, patterns))


def under_root(labels: Strings) -> Strings:
    """The root's label, then *labels*."""
    root = np.frombuffer(ROOT_NAME, np.uint8)
    return Strings(
        np.concatenate([root, labels.blob]),
        np.append(0, labels.start + root.size),
        np.append(root.size, labels.length),
    )
