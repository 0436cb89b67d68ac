"""Folds events that ran under other names of a node into the node's executions.

    net/while/enter/_4    ├─┤                          one run of net/while …
    net/while/merge/_9        ├─┤   ├─┤   ├─┤          … also takes this time
    net/while/exit/_12                        ├─┤

If the node has events under its own name, these are its runs; else the events of its rarest name.
The time of the other events is added to the run before them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import unique_inverse

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.read.xplane.trace import Events


def fold_aliases(events: Events, node: I64, own_name: Bool) -> tuple[I64, I64]:
    """(the rows that are runs, the self time of each) of executions on these nodes.

    Each device has its own runs. *own_name* marks events under the node's own name.
    """
    steps, devices = (int(column.max(initial=0)) + 1 for column in (events.step, events.device))
    _, group = unique_inverse((node * steps + events.step) * devices + events.device)
    is_run = _runs(group, events.label, own_name)
    order = np.lexsort((~is_run, events.start_ns, group))
    index = np.arange(order.size)
    first = np.searchsorted(group[order], group[order])
    # The last run before each event, or the first of its group.
    last = np.maximum.accumulate(np.where(is_run[order], index, -1))
    at_runs = np.flatnonzero(is_run[order])
    ahead = at_runs[np.searchsorted(at_runs, first)] if at_runs.size else first
    target = order[np.where(last >= first, last, ahead)]
    self_ps = np.zeros(order.size, np.int64)
    np.add.at(self_ps, target, events.own_ps[order])
    rows = np.flatnonzero(is_run)
    return rows, self_ps[rows]


def _runs(group: I64, label: I64, own_name: Bool) -> Bool:
    """Which rows are runs: those with the node's own name, else those of the rarest label."""
    has_own = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
    has_own[group[own_name]] = True
    labels = int(label.max(initial=0)) + 1
    pair, index = unique_inverse(group * labels + label)
    count = np.bincount(index, minlength=pair.size)
    by_count = np.lexsort((pair, count, pair // labels))
    heads = np.ones(by_count.size, np.bool_)
    of_pair = (pair // labels)[by_count]
    heads[1:] = of_pair[1:] != of_pair[:-1]
    rarest = np.zeros(pair.size, np.bool_)
    rarest[by_count[heads]] = True
    runs: Bool = np.where(has_own[group], own_name, rarest[index])
    return runs
