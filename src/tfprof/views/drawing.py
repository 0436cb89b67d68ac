"""Drawing: what a view hands to a query — a tree, the owner of each node, a label a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfprof.matching import matches
from tfprof.strings import Strings

if TYPE_CHECKING:
    from tfprof.model import Note
    from tfprof.strings import I64, Bool
    from tfprof.tree import Tree

ROOT_NAME = b"_TFProfRoot"


@dataclass(frozen=True, eq=False)
class Drawing:
    """A view of one profile. Row 0 is the root."""

    tree: Tree
    owner: I64
    label: Strings
    filler: bytes = b""  # the type of the rows that are no graph node
    in_name_order: bool = False  # siblings stand in byte order of label, whatever is removed
    frame: I64 | None = None  # the stack frame of each row, where rows are lines of code
    gradient: I64 | None = None  # 1 where the row is the gradient of that line
    notes: tuple[Note, ...] = ()
    _kept: dict[tuple[str, ...], Bool] = field(default_factory=dict)

    @cached_property
    def node(self) -> I64:
        """The graph node of each row, -1 for a filler, in a view with one node a row at most."""
        column = np.full(len(self.tree), -1, np.int64)
        drawn = np.flatnonzero(self.owner >= 0)
        column[self.owner[drawn]] = drawn
        return column

    def labels_match(self, patterns: tuple[str, ...]) -> Bool:
        """Whether one of *patterns* matches each row's label; tried once, then remembered."""
        if patterns not in self._kept:
            self._kept[patterns] = matches(self.label, patterns)
        return self._kept[patterns]


def under_root(labels: Strings) -> Strings:
    """*labels* behind the root's."""
    root = np.frombuffer(ROOT_NAME, np.uint8)
    return Strings(
        np.concatenate([root, labels.blob]),
        np.append(0, labels.start + root.size),
        np.append(root.size, labels.length),
    )
