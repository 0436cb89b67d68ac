"""What a page that compares has besides the profile: the scopes of both profiles, with all numbers.

    changes.depth  changes.label  changes.node     of this profile; -1: only the base has the row
    changes.sides                                  1: base, 2: new, 3: both
    changes.base.micros  changes.new.micros …      totals of each row
    changes.lower.micros …                         as sides: whose number is a lower bound
    changes.low.micros  .high.  .stands_out. …     where noise is known (compare/noise.py)

What is inside of a scope without a change is left out. Of a page in a file so are the smallest
changes, if it would have too many rows; totals are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.compare.diff import diff_profiles
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.results.diff_report import DiffReport
from tfprof.tables.fields import METRICS
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.compare.diff import Diff
    from tfprof.results.page_report import PageReport
    from tfprof.writers.page_columns import Container


def add_changes(out: Container, report: PageReport, shown: I64 | None) -> dict[str, Any]:
    """Add the columns; *shown*: the node of each node of a folded page, -1 for several.

    Returns what meta data says about the changes.
    """
    options = {"select": [*METRICS], "dim": report.sizes, "max_depth": 1 << 30}
    every = diff_profiles(report.base.profile, report.profile, "scope", options).all_rows
    most = len(every) if report.is_served else limit("page_nodes")
    diff, left_out = _around_changes(every, most)
    out.add("changes.depth", diff.tree.depth)
    out.add_strings("changes.label", diff.label)
    out.add("changes.node", _nodes(diff, shown))
    out.add("changes.sides", (diff.base_row >= 0) + 2 * (diff.new_row >= 0))
    metrics: dict[str, str] = {}  # by name; those with the same numbers have the same noise
    first: dict[bytes, str] = {}
    for metric in diff.metrics:
        base, new = diff.total(metric)
        lower = diff.lower_bounds(metric)
        if any(map(np.any, (base, new, *lower))):
            metrics[metric] = first.setdefault(base.tobytes() + new.tobytes(), metric)
            out.add(f"changes.base.{metric}", base)
            out.add(f"changes.new.{metric}", new)
            out.add(f"changes.lower.{metric}", lower[0] + 2 * lower[1])
    query = replace(diff.query, select=tuple(first.values()))
    compared = DiffReport(replace(diff, new=replace(diff.new, query=query)))
    for metric, alike in metrics.items():
        if interval := compared.noise.get(alike):
            out.add(f"changes.low.{metric}", np.rint(interval.low))
            out.add(f"changes.high.{metric}", np.rint(interval.high))
            out.add(f"changes.stands_out.{metric}", interval.stands_out)
    named = report.naming.before == ("tfprof",) and report.naming.after and report.base_names
    names = (*report.naming.after, f"--base={','.join(report.base_names)}")
    return {
        "metrics": [*metrics],
        "unsure": any(total["incomplete"] for total in compared.totals.values()),
        "notes": [*map(str, compared.own_notes), *left_out],
        "command": ["tfprof", "diff", *names] if named else [],
    }


def _around_changes(diff: Diff, most: int) -> tuple[Diff, list[str]]:
    """(the rows that changed, hold a change or stand beside one, what is said of too many)."""
    tree, change, differs = diff.tree, np.zeros(len(diff)), np.zeros(len(diff), np.bool_)
    for metric in diff.metrics:
        (base, new), totals = diff.own(metric), diff.total(metric)
        differs |= base != new
        change += np.abs(new.astype(np.float64) - base) / max(1, np.abs(totals).max())
    kept = tree.holds(differs)
    kept |= kept[tree.parent]
    kept[0] = True
    more = max(0, int(kept.sum()) - most)
    below = tree.totals((change * 1e9).astype(np.int64))  # at least that of each row below
    kept[np.lexsort((-below, ~kept))[most:]] = False
    shown = replace(diff, tree=tree.keep_rows(kept), row=diff.row[kept])
    text = f"{plural(more, 'row')} with the smallest changes left out: {beyond('page_nodes')}"
    return shown, [text] if more else []


def _nodes(diff: Diff, shown: I64 | None) -> I64:
    """The node of the page for each row; -1: it has none."""
    nodes = np.append(diff.new.drawing.node[diff.new.counted.row], -1)[diff.new_row]
    if shown is None:
        return nodes
    place = np.full(len(diff.new.profile) + 1, -1, np.int64)
    place[shown[shown >= 0]] = np.flatnonzero(shown >= 0)
    return np.take(place, nodes)
