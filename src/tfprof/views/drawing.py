"""Drawing: what a view hands to a query — a tree, the owner of each node, a label a row."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import I64, Bool
    from tfprof.columns.tree import Tree
    from tfprof.model import Note

T = TypeVar("T")

ROOT_NAME = b"_TFProfRoot"
# Each holds a few numbers a row, some for each metric that was asked for.
_MOST_RECENT = 6


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
    _recent: dict[object, object] = field(default_factory=dict)
    _changing: Lock = field(default_factory=Lock)

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

    def keep_recent(self, key: object, make: Callable[[], T]) -> T:
        """What *make* returned for this *key*, if that was not many other keys ago."""
        with self._changing:
            if key in self._recent:
                self._recent[key] = self._recent.pop(key)  # the last one is given up last
                return cast("T", self._recent[key])
        made = make()
        with self._changing:
            self._recent[key] = made
            while len(self._recent) > _MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return made


def under_root(labels: Strings) -> Strings:
    """*labels* behind the root's."""
    root = np.frombuffer(ROOT_NAME, np.uint8)
    return Strings(
        np.concatenate([root, labels.blob]),
        np.append(0, labels.start + root.size),
        np.append(root.size, labels.length),
    )
