"""Executions of a node: what ran under other names for it is time of its runs, and no run more.

    net/while/enter/_4    ├─┤                          one run of net/while …
    net/while/merge/_9        ├─┤   ├─┤   ├─┤          … takes this long, too
    net/while/exit/_12                        ├─┤

Where the node itself ran, its own events are the runs; else those of the name that came least
often. The time of the others is added to the run before them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import places

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.xplane.trace import Events


def gathered(events: Events, node: I64, itself: Bool) -> tuple[I64, I64]:
    """(the rows that are runs, how long each took on its own) of executions on these nodes.

    Each device has its own runs.
    *itself* tells which are of the node itself.
    """
    steps, devices = (int(column.max(initial=0)) + 1 for column in (events.step, events.device))
    _, group = places((node * steps + events.step) * devices + events.device)
    is_run = _runs(group, events.label, itself)
    order = np.lexsort((~is_run, events.start_ns, group))
    place = np.arange(order.size)
    first = np.searchsorted(group[order], group[order])
    # The last run that stands before each, or the first of its group.
    last = np.maximum.accumulate(np.where(is_run[order], place, -1))
    at_runs = np.flatnonzero(is_run[order])
    ahead = at_runs[np.searchsorted(at_runs, first)] if at_runs.size else first
    target = order[np.where(last >= first, last, ahead)]
    own = np.zeros(order.size, np.int64)
    np.add.at(own, target, events.own_ps[order])
    rows = np.flatnonzero(is_run)
    return rows, own[rows]


def _runs(group: I64, label: I64, itself: Bool) -> Bool:
    """Which rows are runs: those of the node itself, else those of the rarest label."""
    own = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
    own[group[itself]] = True
    labels = int(label.max(initial=0)) + 1
    pair, place = places(group * labels + label)
    count = np.bincount(place, minlength=pair.size)
    by_count = np.lexsort((pair, count, pair // labels))
    heads = np.ones(by_count.size, np.bool_)
    of_pair = (pair // labels)[by_count]
    heads[1:] = of_pair[1:] != of_pair[:-1]
    rarest = np.zeros(pair.size, np.bool_)
    rarest[by_count[heads]] = True
    runs: Bool = np.where(own[group], itself, rarest[place])
    return runs
