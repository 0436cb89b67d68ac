"""overview(profile) → Overview: what a profile holds, and which parts of it cost most.

    total       parameters, float operations, time and memory of one step
    lists       layers, operation types and lines of code, the largest share first

Shares are of time if steps were recorded, else of float operations, else of parameters. If steps
were recorded, what ran counts, with what it needed: a rewritten graph has no records of some nodes
that it computes. Else the model counts, as in its summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.memory_plan import MemoryPlan
from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import UNTIMED
from tfprof.ops.classes import of_class
from tfprof.ops.program_runs import programs, ran_programs
from tfprof.ops.reach import Links
from tfprof.summary.caveats import of_parameters, of_unread
from tfprof.summary.cost_lists import LISTS, Rows
from tfprof.summary.model_nodes import (
    check_holds_model,
    is_checkpoint,
    model_nodes,
    training_gradients,
)
from tfprof.summary.parameters import NO_PARAMETERS, Parameters, parameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile
    from tfprof.ops.counting import Counts
    from tfprof.tables.options import Flops

MICROS: Final = "micros"
FLOAT_OPS: Final = "float_ops"
PARAMETERS: Final = "parameters"
RATE: Final = "float_ops_per_second"
PEAK: Final = "peak_float_ops_per_second"
_STREAM: Final = "/stream:"
_CLEARLY_LESS: Final = 0.99  # of a total
_NO_GRAPH: Final = "Without a graph, parameters and float operations are unknown."


class Ranked(NamedTuple):
    """A row of a list, and what it costs in one step; None: nothing is known of it."""

    name: str
    share: float  # of the total, from 0 to 1
    micros: int | None
    float_ops: int | None
    parameters: int | None
    lower: tuple[str, ...]  # FLOAT_OPS, PARAMETERS: those that are lower bounds, or unknown

    @property
    def rate(self) -> int | None:
        """Its float operations per second of its own time."""
        return _rate(self.float_ops, self.micros)

    @property
    def incomplete(self) -> list[str]:
        """Its numbers that are lower bounds, or unknown; a rate is, if its float operations are."""
        return sorted([*self.lower, RATE] if self.rate and FLOAT_OPS in self.lower else self.lower)


@dataclass(frozen=True, eq=False)
class Overview:
    """Totals, lists and what they leave out."""

    nodes: int  # of the graph; without one, those that ran
    types: int  # of operations in the graph; 0: there is no graph
    trains: bool
    steps: tuple[int, ...]
    devices: tuple[str, ...]
    ran: float  # the share of these nodes with a record
    total: Mapping[str, int | None]  # of one step; None: unknown, or not recorded
    lower: frozenset[str]  # the totals that are lower bounds, or unknown
    shares_of: str  # MICROS, FLOAT_OPS or PARAMETERS; "": there is nothing to rank by
    lists: Mapping[str, tuple[Ranked, ...]]  # of LISTS, those that have rows
    sentences: tuple[str, ...]  # what is not counted, assumed or unknown
    of_variables: bool = False  # a checkpoint: variables, and no operations


def overview(
    profile: Profile, flops: Flops, dims: Mapping[str, int] | None = None, rows: int = 3
) -> Overview:
    """The overview with at most *rows* rows in each list; raises TfprofError."""
    if not profile.steps:
        check_holds_model(profile)
    has_graph = bool(profile.in_graph.any())
    in_model = model_nodes(profile) if has_graph else np.zeros(len(profile), np.bool_)
    held = model_parameters(profile, in_model, dims or {}) if has_graph else NO_PARAMETERS
    here = _ran(profile) if profile.steps else in_model
    work = _Work(profile, here, flops if has_graph else "log", dims or {})
    total = {**work.total(), **_held(held, has_graph=has_graph), **_of_steps(profile)}
    total |= _planned(profile) | _peak(profile)
    if variables_only := is_checkpoint(profile):
        total[FLOAT_OPS] = None
    total[RATE] = _rate(total[FLOAT_OPS], total["wall_micros"])
    metric = next((name for name in (MICROS, FLOAT_OPS, PARAMETERS) if total[name]), "")
    lists = {
        title: work.ranking(rows_of(profile, in_model, held), metric, total[metric] or 1, rows)
        for title, rows_of in LISTS.items()
        if metric
    }
    unsure = work.lower.any() or work.is_of_another
    lower = {FLOAT_OPS: unsure, RATE: unsure, PARAMETERS: held.unknown.size}
    return Overview(
        int(profile.in_graph.sum()) if has_graph else len(profile),
        int(np.unique(profile.nodes.op[profile.in_graph]).size),
        bool(has_graph and training_gradients(profile).any()),
        tuple(step.number for step in profile.steps),
        _devices(profile),
        float(_of_graph(profile).mean()) if has_graph else profile.coverage,
        total,
        frozenset(name for name, is_lower in lower.items() if is_lower),
        metric,
        {title: ranked for title, ranked in lists.items() if ranked},
        (() if has_graph else (_NO_GRAPH,)) + tuple(_sentences(profile, work, held)),
        variables_only,
    )


def _ran(profile: Profile) -> Bool:
    """What ran: nodes with records, what they need, and all of their XLA programs."""
    in_programs = ran_programs(profile, programs(profile))
    return Links.inputs(profile.edges).reached(profile.covered) | in_programs


def _of_graph(profile: Profile) -> Bool:
    """Whether each node of the graph has a record."""
    return profile.covered[profile.in_graph]


class _Work:
    """Times and float operations of each node, as far as they count."""

    def __init__(self, profile: Profile, here: Bool, flops: Flops, dims: Mapping[str, int]) -> None:
        self.counts: Counts | None = None
        self.assumed: tuple[str, ...] = ()
        counted, lower = profile, np.zeros(len(profile), np.bool_)
        if flops != "log":
            from tfprof.ops.counting import lower_bound_nodes  # noqa: PLC0415 - an op log has them
            from tfprof.ops.symbols import BATCH, symbols  # noqa: PLC0415
            from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415
            from tfprof.summary.costs import without_others  # noqa: PLC0415

            if not profile.steps:
                counted = without_others(profile, here)
                still_open = {symbol.name for symbol in symbols(counted)}
                self.assumed = (BATCH,) if BATCH in still_open - set(dims) else ()
            counted, self.counts = with_float_ops(
                counted, flops, {**dict.fromkeys(self.assumed, 1), **dims}
            )
            lower = lower_bound_nodes(counted, self.counts, counted.nodes.float_ops)
        self.notes = counted.notes
        self.here, self.counted = here, counted
        self.lower = lower & here
        self.float_ops = np.where(here, counted.values(FLOAT_OPS, None), 0)
        self.is_of_another = bool(profile.steps) and not _of_graph(profile).any()
        self.micros = profile.values(MICROS, None) if profile.steps else None

    def total(self) -> dict[str, int | None]:
        """What one step costs."""
        float_ops = int(self.float_ops.sum())
        is_known = float_ops or (self.counts is not None and not self.lower.any())
        is_known = is_known and not self.is_of_another  # a run of another graph
        micros = None if self.micros is None else int(self.micros.sum())
        return {FLOAT_OPS: float_ops if is_known else None, MICROS: micros}

    def of_mean_step(self, profile: Profile) -> Iterator[str]:
        """What the mean step has, if that is clearly less: where branches ran in some steps only.

        A node counts with its mean over the steps in which it ran, as in the views.
        """
        if self.micros is None or not (profile.records % len(profile.steps)).any():
            return
        sums = [
            (np.where(self.here, self.counted.values(FLOAT_OPS, at), 0).sum(dtype=np.float64),
             profile.values(MICROS, at).sum(dtype=np.float64))
            for at in (step.number for step in profile.steps)
        ]  # fmt: skip
        ops, time = (float(each) for each in np.mean(sums, axis=0))
        if ops < _CLEARLY_LESS * self.float_ops.sum() or time < _CLEARLY_LESS * self.micros.sum():
            parts = [f"{ops:,.0f} float operations"] if ops else []
            parts += [f"{units.micros(time)} of operations"] if time else []
            yield (
                "Some operations ran in some of the steps only; each counts as in the steps in "
                f"which it ran. The mean step has {' and '.join(parts)}."
            )

    def ranking(self, rows: Rows, metric: str, total: int, most: int) -> tuple[Ranked, ...]:
        """The rows with the largest shares of *total*."""
        row, count = rows.of_node, len(rows.names)
        drawn = np.flatnonzero(row >= 0)

        def sums(column: I64) -> I64:
            added = np.zeros(count, np.int64)
            np.add.at(added, row[drawn], column[drawn])
            return added

        lower = {FLOAT_OPS: sums(self.lower.astype(np.int64)) > 0}
        if rows.unknown is not None:
            lower[PARAMETERS] = rows.unknown
        columns = {MICROS: None if self.micros is None else sums(self.micros)}
        columns |= {FLOAT_OPS: sums(self.float_ops), PARAMETERS: rows.parameters}
        by = columns[metric]
        if by is None:
            return ()

        def ranked(at: int) -> Ranked:
            values = {n: None if c is None else int(c[at]) for n, c in columns.items()}
            bounds = tuple(name for name, is_lower in lower.items() if is_lower[at])
            if FLOAT_OPS in bounds or not self.float_ops.any():
                values[FLOAT_OPS] = values[FLOAT_OPS] or None
            if PARAMETERS in bounds:
                values[PARAMETERS] = values[PARAMETERS] or None
            return Ranked(rows.names[at], int(by[at]) / total, **values, lower=bounds)

        largest = np.argsort(-by, kind="stable")[:most].tolist()
        return tuple(ranked(at) for at in largest if by[at] > 0)


def _rate(float_ops: int | None, micros: int | None) -> int | None:
    """Float operations per second; None if one of both is unknown or 0."""
    return float_ops * 1_000_000 // micros if float_ops and micros else None


def model_parameters(profile: Profile, in_model: Bool, dims: Mapping[str, int]) -> Parameters:
    """The parameters of the model, as in its summary."""
    # Dtypes matter only for what is not trainable and for variables that functions read.
    if not of_class(profile, "variable read").any():
        held = parameters(profile, in_model, np.zeros(len(profile), np.int64))
        if held.trainable is not None and held.trainable.all() and not held.unknown.size:
            return held
    from tfprof.ops.dtypes import FLOAT  # noqa: PLC0415 - as in _Work
    from tfprof.ops.output_dtypes import output_dtypes  # noqa: PLC0415
    from tfprof.summary.build_summary import shaped_parameters  # noqa: PLC0415

    dtypes = output_dtypes(profile)
    dtypes = dtypes if dtypes.any() else np.full(len(profile), FLOAT)
    return shaped_parameters(profile, in_model, dtypes, dims)


def _held(held: Parameters, *, has_graph: bool) -> dict[str, int | None]:
    trainable = None if held.trainable is None else int(held.elements[held.trainable].sum())
    return {PARAMETERS: int(held.elements.sum()) if has_graph else None, "trainable": trainable}


def _planned(profile: Profile) -> dict[str, int | None]:
    """The memory that a compiler plans with; nothing where there is no plan."""
    devices = max(1, 1, *profile.devices)  # each has the same plan
    plan = MemoryPlan.of([size * devices for size in profile.planned])
    if plan is None:
        return {}
    parts = {f"planned_{name}_bytes": int(size) for name, size in plan._asdict().items()}
    return {"planned_bytes": plan.total, **parts}


def _peak(profile: Profile) -> dict[str, int | None]:
    """What the accelerators that ran can compute in a second, if the trace says it."""
    peak = next(iter(profile.peaks), 0)
    used = [name for name in _devices(profile) if not name.startswith("cpu")]
    return {PEAK: int(peak * len(used))} if peak and used else {}


def _of_steps(profile: Profile) -> dict[str, int | None]:
    """The mean time from the first start to the last end of a step, and its memory."""
    spans, largest, in_use = [], [0], [0]
    for step in profile.steps:
        largest.append(int(step.peak.max(initial=0)))
        in_use.append(int(step.in_use.max(initial=0)))
        start = step.start_us[step.counts_as != UNTIMED]
        if start.size:
            end = start + step.us[step.counts_as != UNTIMED]
            spans.append(int(end.max()) - int(start.min()))
    return {
        "wall_micros": sum(spans) // len(spans) if spans else None,
        "requested_bytes": int(profile.values("bytes", None).sum()) or None,
        "largest_operation_bytes": max(largest) or None,
        "bytes_in_use": max(in_use) or None,
    }


def _devices(profile: Profile) -> tuple[str, ...]:
    """The devices that executed something, without their streams and what all begin with."""
    used = (step.devices.take(np.unique(step.device)).texts() for step in profile.steps)
    names = {name.partition(_STREAM)[0] for texts in used for name in texts}
    short = {name.rpartition("device:")[2] or name for name in names}
    return tuple(sorted(short if len(short) == len(names) else names))


def _sentences(profile: Profile, work: _Work, held: Parameters) -> Iterator[str]:
    yield from work.of_mean_step(profile)
    if work.counts is not None and work.counts.uncounted:
        yield f"{work.counts}."
    for name in work.assumed:
        yield f"Open dimension: {name} counts as 1; --dim {name}=N sets it."
    yield from of_parameters(held)
    if held.trainable is None:  # else those that are not listed are no parameters anyway
        yield from of_unread(held)
    yield from map(str, work.notes)
