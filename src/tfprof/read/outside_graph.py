"""The names of nodes that ran but are not in the graph: they are below a scope of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings

if TYPE_CHECKING:
    from tfprof.columns.strings import I64

NOT_IN_GRAPH = b"_not_in_graph/"


def outside_graph(names: Strings, rows: I64) -> Strings:
    """*names* where those of *rows* are below the scope."""
    which = np.zeros(len(names), np.int64)
    which[rows] = 1
    return Strings.beside([Strings.of([b"", NOT_IN_GRAPH]).take(which), names])
