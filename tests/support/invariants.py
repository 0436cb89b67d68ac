"""What holds of every answer, whatever was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.tables.fields import METRICS

if TYPE_CHECKING:
    from tfprof.query.counted import Answer


def assert_totals_add_up(report: Answer) -> None:
    """A total is a row's own number and the totals below it; the root's is the sum of all own."""
    counted = report.counted
    counted.tree.check()
    report.tree.check()
    for metric in METRICS:
        own, total = counted.own(metric), counted.total(metric)
        children = np.zeros(len(total), np.int64)
        np.add.at(children, counted.tree.parent[1:], total[1:])
        assert (total == own + children).all()
        assert total[0] == own.sum()
