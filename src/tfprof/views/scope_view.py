"""Scope view: names split at "/", as folders and files.

    names       a/b/c   a/x   d           rows      _TFProfRoot
                                                    ├─ a            a filler, not a node
                                                    │  ├─ a/b       a filler
                                                    │  │  └─ a/b/c
                                                    │  └─ a/x
                                                    └─ d

Names sorted with "/" before every other character are in drawing order. A name shares some leading
parts with the name before it; each further part is a new row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import byte_words
from tfprof.columns.strings import I64, U8, Strings
from tfprof.columns.tree import Tree
from tfprof.errors import InputError
from tfprof.kernels.table import kernel
from tfprof.tables.limits import beyond, limit
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.model import Profile

_SLASH = ord("/")
_FEW_PARTS = 1_000_000


def draw(profile: Profile) -> Drawing:
    """The tree of name scopes; raises InputError where names have too many parts."""
    names = profile.nodes.name
    check_parts(names)
    in_name_order = int(names.blob.min(initial=_SLASH)) == _SLASH
    order = (
        profile.by_name
        if in_name_order
        else Strings(_slash_first()[names.blob], names.start, names.length).order()
    )
    ordered = names.take(order)
    name, end, depth, last = scope_rows(ordered.blob, ordered.start, ordered.length)
    owner = np.empty(len(names), np.int64)
    owner[order] = last + 1
    return Drawing(
        Tree.from_depth(np.append(1, depth)),
        owner,
        under_root(Strings(names.blob, ordered.start[name], end)),
        filler=b"_kTFScopeParent",
        in_name_order=in_name_order,
    )


def check_parts(names: Strings) -> None:
    """Raise InputError if names have far too many parts."""
    parts = len(names) + byte_words.count(names.blob, _SLASH)
    if parts > max(_FEW_PARTS, len(names) * limit("name_parts")):
        raise InputError(
            f"the {len(names):,} names of the graph have {parts:,} parts; tfprof accepts "
            f"{beyond('name_parts')}"
        )


def _slash_first() -> U8:
    """A table that sorts "/" before every other byte and leaves the order of the rest."""
    table = np.arange(256)
    table[:_SLASH] += 1
    table[_SLASH] = 0
    return table.astype(np.uint8)


@kernel
def scope_rows(blob: U8, start: I64, length: I64) -> tuple[I64, I64, I64, I64]:
    """(name of each row, length of its label, its depth, the row of each name itself).

    The slices are different names in drawing order; rows are counted without the root.
    """
    names = Strings(blob, start, length)
    part_row, part_end = _parts(names)
    parts = np.bincount(part_row, minlength=len(names))
    shared = _shared_parts(names, part_row, part_end)
    number = np.arange(part_row.size) - np.repeat(np.cumsum(parts) - parts, parts)
    fresh = np.flatnonzero(number >= shared[part_row])
    row_name = part_row[fresh]
    last = np.empty(len(names), np.int64)
    last_part = np.flatnonzero(number[fresh] == parts[row_name] - 1)
    last[row_name[last_part]] = last_part
    return row_name, part_end[fresh], number[fresh] + 2, last


def _parts(names: Strings) -> tuple[I64, I64]:
    """(name, length up to the end of the part) of every part of every name, in order."""
    row, slash = names.positions(b"/")
    row = np.concatenate([row, np.arange(len(names))])
    end = np.concatenate([slash, names.length])
    # The end of a name comes after its slashes, so a stable sort leaves the parts in order.
    order = np.argsort(row, kind="stable")
    return row[order], end[order]


def _shared_parts(names: Strings, part_row: I64, part_end: I64) -> I64:
    """How many leading parts each name shares with the name before it."""
    common = names.common_with_previous()
    before = np.append(-1, names.length[:-1])
    # A part that ends inside the common text is shared. One that ends with it is shared only if
    # the previous name ends there too: then it is the scope of this name.
    end_of_common = common[part_row]
    shared = (part_end < end_of_common) | (
        (part_end == end_of_common) & (before[part_row] == end_of_common)
    )
    return np.bincount(part_row[shared], minlength=len(names))
