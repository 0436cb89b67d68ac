"""paired_rows(): the rows of two summaries side by side, those that changed most first.

base    block ─ conv, dense        block   changed
                             ─►      dense   removed
new     block ─ conv, norm           norm    added
                                     conv    changed, if a number of it does

Rows are the same if the rows around them are and their names are, too; of the others, if most nodes
of each are matched with those of the other. What is only in base stands below the row around it, in
the place that its size gives it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfprof.columns.strings import I64
    from tfprof.compare.match_nodes import Matches
    from tfprof.summary.build_summary import Row, Summary

    Key = tuple[tuple[str, int], ...]


class Pair(NamedTuple):
    """A row of one or both summaries."""

    base: Row | None
    new: Row | None
    parent: int | None = None
    depth: int = 1

    @property
    def row(self) -> Row:
        """The row of new, else that of base."""
        row = self.new or self.base
        assert row is not None, "one of them is there"
        return row

    @property
    def status(self) -> str:
        """What happened to the row."""
        return "added" if self.base is None else "removed" if self.new is None else "changed"


def paired_rows(
    base: Sequence[Row],
    new: Sequence[Row],
    differs: Callable[[Pair], bool],
    order: Callable[[Pair], object],
    alike: Mapping[int, int] | None = None,
) -> list[Pair]:
    """The pairs that differ, and those around them; siblings by *order*, the smallest first.

    *alike* has the row of *new* for rows of *base* that may have another name there.
    """
    keys = _keys(new)
    before = dict(zip(_keys_in_new(base, keys, alike or {}), base, strict=True))
    after = dict(zip(keys, new, strict=True))
    pairs = {key: Pair(before.get(key), after.get(key)) for key in (*after, *before)}
    inside: dict[Key, list[Key]] = {}
    shown: set[Key] = set()
    for key, pair in pairs.items():
        inside.setdefault(key[:-1], []).append(key)
        if pair.status != "changed" or differs(pair):
            shown.update(key[:length] for length in range(1, len(key) + 1))
    rows: list[Pair] = []
    waiting: list[tuple[Key, int | None]] = [((), None)]
    while waiting:
        key, parent = waiting.pop()
        at = parent
        if key:
            at = len(rows)
            rows.append(pairs[key]._replace(parent=parent, depth=len(key)))
        below = sorted(
            (inner for inner in inside.get(key, ()) if inner in shown),
            key=lambda inner: order(pairs[inner]),  # type: ignore[arg-type,return-value]
            reverse=True,
        )
        waiting += [(inner, at) for inner in below]
    return rows


def alike_rows(base: Summary, new: Summary, matches: Matches) -> dict[int, int]:
    """For rows of *base* the row of *new* with which most nodes of both are matched."""
    if base.of_node is None or new.of_node is None or base.training:
        return {}
    node = np.flatnonzero(matches.new_of_base >= 0)
    pair = np.stack([base.of_node[node], new.of_node[matches.new_of_base[node]]], axis=1)
    votes: Counter[tuple[int, int]] = Counter()
    for (row, other), count in _counts(pair[(pair >= 0).all(axis=1)]):
        for both in zip(_path(base.rows, row), _path(new.rows, other), strict=False):
            votes[both] += count
    sizes: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for side, size in zip((base, new), sizes, strict=True):
        assert side.of_node is not None, "as above"
        for (row,), count in _counts(side.of_node[side.of_node >= 0, None]):
            for at in _path(side.rows, row):
                size[at] += count
    return {
        row: other
        for (row, other), count in votes.items()
        if 2 * count > max(sizes[0][row], sizes[1][other])
    }


def _counts(rows: I64) -> Iterable[tuple[list[int], int]]:
    """Each of the different *rows* and how often it is there."""
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return zip(found.tolist(), counts.tolist(), strict=True)


def _path(rows: Sequence[Row], row: int | None) -> list[int]:
    """The rows from the outermost one down to *row*."""
    path = []
    while row is not None:
        path.append(row)
        row = rows[row].parent
    return path[::-1]


def _keys(rows: Iterable[Row]) -> list[Key]:
    """The names from the outermost row down to each; equal names are numbered."""
    keys: list[Key] = []
    times: Counter[Key] = Counter()
    for row in rows:
        above = () if row.parent is None else keys[row.parent]
        key = (*above, (row.name, 0))
        keys.append((*above, (row.name, times[key])))
        times[key] += 1
    return keys


def _keys_in_new(base: Sequence[Row], new: Sequence[Key], alike: Mapping[int, int]) -> list[Key]:
    """The keys of *base*; rows without one of their name in new have that of one *alike*."""
    keys: list[Key] = []
    names = [key[-1] for key in _keys(base)]
    siblings, known = {(row.parent, name) for row, name in zip(base, names, strict=True)}, {*new}
    for at, row in enumerate(base):
        above = () if row.parent is None else keys[row.parent]
        key = (*above, names[at])
        if key not in known and at in alike:
            other = new[alike[at]]
            if other[:-1] == above and (row.parent, other[-1]) not in siblings:
                key = other
        keys.append(key)
    return keys
