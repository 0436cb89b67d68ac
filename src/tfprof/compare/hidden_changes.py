"""hidden_changes(): the rows that changed and are not displayed, and which options hide them.

A row that both sides have is hidden by an option if it passes on neither side. Options that leave
rows out of all totals hide no change: what they leave out is not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import marked
from tfprof.query.answer import restrictions, start
from tfprof.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import Bool
    from tfprof.compare.diff import Diff
    from tfprof.query.counted import Answer


def hidden_changes(diff: Diff) -> tuple[int, dict[str, int]]:
    """(how many rows, how many of them each option hides)."""
    every = diff.all_rows
    hidden = every.changed & ~marked(diff.row, len(every))
    rows = int(np.count_nonzero(hidden))
    if not rows:
        return 0, {}
    passing: dict[str, Bool] = {}
    for side, at in ((every.base, every.base_row), (every.new, every.new_row)):
        for option, passes in _passing(side):
            either = passing.setdefault(option, np.zeros(len(every), np.bool_))
            either[at >= 0] |= passes[at[at >= 0]]
    counts = {option: int(np.count_nonzero(hidden & ~p)) for option, p in passing.items()}
    return rows, {option: counts[option] for option in OPTIONS if counts.get(option)}


def _passing(side: Answer) -> Iterator[tuple[str, Bool]]:
    """(option, whether each counted row passes it) of each option that can hide rows."""
    counted, view, query = side.counted, side.view, side.query
    tree, at = start(counted, view, query)
    begun = marked(at, len(counted.tree))
    yield "start_name_regexes", begun
    for option, passes in restrictions(counted, tree, at, view, query):
        column = ~begun  # a row that is hidden already is hidden by that option alone
        column[at] = passes
        yield option, column
