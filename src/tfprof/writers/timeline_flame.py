"""The rows of a report as a flame chart: a row is as wide as its total time.

depth 0  |_TFProfRoot                         |
depth 1  |conv1                 |fc        |         children stand side by side, in order,
depth 2  |conv1/Conv2D  |c1/add |fc/MatMul |         from where their parent begins
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.writers.chrome_json import point, process, quoted, scope_region
from tfprof.writers.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64
    from tfprof.columns.tree import Tree
    from tfprof.query.counted import Answer

_BITS = (1 << 64) - 1


def flame_events(answer: Answer) -> Iterator[list[str]]:
    """The events of every row that took time, and of the root, in drawing order."""
    us = answer.total("micros")
    idle = us <= 0
    idle[0] = False
    kept = ~(idle | answer.tree.under(idle))
    tree, us = answer.tree.keep_rows(kept), us[kept]
    names = answer.label.take(kept)
    depth, begin = tree.depth - 1, _begin(tree, us)
    titled = 0
    for rows in chunks(len(names), names.length):
        events = []
        for name, width, level, ts in zip(
            map(quoted, names.take(rows)),
            us[rows].tolist(),
            depth[rows].tolist(),
            begin[rows].tolist(),
            strict=True,
        ):
            if level == titled:
                events.append(process(b"Scope:%d" % level, level))
                titled += 1
            events.append(scope_region(name, width, point(level, 0, ts)))
        yield events


def _begin(tree: Tree, us: I64) -> I64:
    """Where each row begins: behind its elder siblings, the first where its parent does."""
    begin = [0] * len(tree)
    free = [0] * len(tree)  # where the next child of each row begins
    for row, (parent, width) in enumerate(
        zip(tree.parent[1:].tolist(), us[1:].tolist(), strict=True), 1
    ):
        begin[row] = free[row] = free[parent]
        free[parent] += width
    # parity Q25: an average can be so huge that the sum overflows.
    return np.array([ts & _BITS for ts in begin], np.uint64).astype(np.int64)
