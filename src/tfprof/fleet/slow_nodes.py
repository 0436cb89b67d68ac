"""The nodes that make stragglers slow, and stragglers that only single nodes give away.

One slow node among a hundred of its type hardly changes the time of the type. So nodes are compared
one by one as well, by the same rules. In a large fleet that is done for the first stragglers and
for workers at even distances, so that memory stays bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.fleet.robust import median
from tfprof.fleet.stragglers import Cause, Straggler, slow_operations, usual_of
from tfprof.fleet.worker_sums import add_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.robust import F64
    from tfprof.fleet.stragglers import Compared, Flags, Ints, Key
    from tfprof.fleet.worker_sums import StepTimes

_MOST_CELLS: Final = 1_000_000  # workers × nodes; each takes about 100 bytes
_LEAST_WORKERS: Final = 16
_EXPLAINED: Final = 5  # stragglers of a large fleet
_MOST_NODES: Final = 2
_MOST_CAUSES: Final = 3
_LEAST_SHARE: Final = 0.25  # of the extra time of the type
_LEAST_FACTOR: Final = 1.2


def with_slow_nodes(
    dataset: Dataset, times: StepTimes, groups: Sequence[Compared]
) -> list[Compared]:
    """The groups with the nodes of their stragglers, and stragglers found by their nodes."""
    looked_at = _looked_at(dataset, times, groups)
    part = times._replace(
        workers=tuple(times.workers[at] for at in looked_at), micros=times.micros[looked_at]
    )
    sums = add_up(dataset, part, {}, by_node=True).sums
    result = []
    for group in groups:
        at = np.flatnonzero(np.isin(looked_at, group.workers))
        if at.size < 2:  # noqa: PLR2004 - nobody to compare with
            result.append(group)
            continue
        rows = slice(None) if at.size == looked_at.size else at  # all: no copies
        micros = sums.micros[rows]
        flags = slow_operations(micros, sums.spread[rows], part.micros[rows], sums.keys)
        found = _explained(group, looked_at[at], micros, flags, sums.keys, times)
        result.append(group._replace(stragglers=found))
    return result


def _looked_at(dataset: Dataset, times: StepTimes, groups: Sequence[Compared]) -> Ints:
    """Rows of the times: all; in a large fleet the first stragglers, and some at even distances."""
    nodes = max((entry["nodes"] for entry in dataset.manifest.graphs.values()), default=1)
    most = max(_MOST_CELLS // max(nodes, 1), _LEAST_WORKERS)
    count = len(times.workers)
    if count <= most:
        return np.arange(count)
    first = [one.worker for group in groups for one in group.stragglers[:_EXPLAINED]]
    return np.unique(np.append(np.linspace(0, count - 1, most).astype(np.int64), first[:most]))


def _explained(  # noqa: PLR0913, PLR0917 - what is known of a group
    group: Compared, rows: Ints, micros: F64, flags: Flags, keys: Sequence[Key], times: StepTimes
) -> list[Straggler]:
    usual = usual_of(micros)
    place = {row: at for at, row in enumerate(rows.tolist())}
    known = {one.worker: one for one in group.stragglers}
    for row in rows[flags.any(axis=1)].tolist():
        known.setdefault(row, _by_nodes(row, group, times))
    stragglers = []
    for row, one in known.items():
        if row in place:
            at = place[row]
            causes = _causes(one.causes, micros[at], usual, np.flatnonzero(flags[at]), keys)
            extra = sum(cause.extra for cause in causes) / one.micros
            waits = one.waits if one.by_steps else max(one.waits, min(extra, 1.0))
            stragglers.append(one._replace(causes=causes, waits=waits))
        else:
            stragglers.append(one)
    return sorted(stragglers, key=lambda one: (-one.waits, one.worker))


def _by_nodes(row: int, group: Compared, times: StepTimes) -> Straggler:
    """A straggler whose steps and types do not stand out."""
    place = int(np.flatnonzero(group.workers == row)[0])
    factor = max(float(np.exp(np.nan_to_num(group.factors.worker[place]))), 1.0)
    micros = max(float(np.nan_to_num(median(times.micros[row], 0))), 1.0)
    peers = group.workers.size - 1
    return Straggler(
        row, factor, micros, micros / factor, 1 - 1 / factor, (), None, by_steps=False, peers=peers
    )


def _causes(
    types: Iterable[Cause], micros: F64, usual: F64, slow: Ints, keys: Sequence[Key]
) -> tuple[Cause, ...]:
    """The types that take longer, with the nodes that matter, and single nodes of other types."""
    of_type: dict[tuple[str, str], list[int]] = {}
    for at, key in enumerate(keys):
        if micros[at] > usual[at] * _LEAST_FACTOR:
            of_type.setdefault((key.op, key.device), []).append(at)
    causes = []
    for cause in types:
        nodes = of_type.get((cause.key.op, cause.key.device), [])
        nodes = [at for at in nodes if micros[at] - usual[at] >= _LEAST_SHARE * cause.extra]
        nodes.sort(key=lambda at: usual[at] - micros[at])
        found = ((keys[at].node, float(micros[at]), float(usual[at])) for at in nodes)
        several = len(of_type.get((cause.key.op, cause.key.device), [])) > 1
        causes.append(cause._replace(nodes=tuple(found)[:_MOST_NODES] if several else ()))
    named = {(c.key.op, c.key.device) for c in causes if not c.factor or c.factor >= _LEAST_FACTOR}
    single = [
        Cause(keys[at], float(micros[at]), float(usual[at]))
        for at in slow.tolist()
        if (keys[at].op, keys[at].device) not in named
    ]
    if single:
        causes = [c for c in causes if (c.key.op, c.key.device) in named]
    return tuple(sorted([*causes, *single], key=lambda c: -c.extra)[:_MOST_CAUSES])
