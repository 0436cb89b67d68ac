"""paired_rows(): the rows of two summaries side by side, those that changed most first.

base    block ─ conv, dense        block   changed
                             ─►      dense   removed
new     block ─ conv, norm           norm    added
                                     conv    changed, if a number of it does

Rows are the same if their names and those of all rows around them are. What is only in base stands
below the row around it, in the place that its size gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfprof.summary.build_summary import Row

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
    base: Iterable[Row],
    new: Iterable[Row],
    differs: Callable[[Pair], bool],
    order: Callable[[Pair], object],
) -> list[Pair]:
    """The pairs that differ, and those around them; siblings by *order*, the smallest first."""
    before, after = _by_key(base), _by_key(new)
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


def count_unpaired(base: Iterable[Row], new: Iterable[Row]) -> int:
    """How many rows are in one of the summaries alone."""
    return len(_by_key(base).keys() ^ _by_key(new).keys())


def _by_key(rows: Iterable[Row]) -> dict[Key, Row]:
    """Each row by the names from the outermost one down to its own; equal names are numbered."""
    keys: list[Key] = []
    found: dict[Key, Row] = {}
    for row in rows:
        above = () if row.parent is None else keys[row.parent]
        key, times = (*above, (row.name, 0)), 0
        while key in found:
            times += 1
            key = (*above, (row.name, times))
        keys.append(key)
        found[key] = row
    return found
