"""A profile with float operations by rule where its op log has none, and run counts of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import marked
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import Profile, own_notes
from tfprof.ops.counting import UNKNOWN_SHAPE, Counts, count
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.program_runs import ProgramRuns, program_runs
from tfprof.ops.run_counts import (
    in_unbounded_loops,
    loop_notes,
    old_loops,
    run_counts,
    runs_per_call,
    trip_counts,
    with_calls,
)
from tfprof.ops.symbols import symbols, with_recorded_shapes
from tfprof.ops.table import Which, rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64, Bool

_SAFE_SUM: Final = 2.0**62


def with_float_ops(
    profile: Profile, which: Which, dims: Mapping[str, int] | None = None, step: int | None = None
) -> tuple[Profile, Counts]:
    """(*profile* with float operations by rule, what the rules count and what not).

    Numbers of an op log stay. Shapes that the graph leaves open come from the runs; notes on these
    follow the notes of the profile. With all rules, other open shapes are inferred; *dims* are
    sizes of the open dimensions of the inputs. Raises UsageError for an unknown dimension. If steps
    ran with different shapes, the numbers are those of *step* or, without one, means over all runs.
    """
    sizes = dict(dims or {})
    # The rules are part of the key: somebody may register another one.
    table = tuple(rules(which).values())
    step = step if profile.step_shapes else None
    key = ("float operations by rule", which, tuple(sorted(sizes.items())), table, step)
    return profile.cached(key, lambda: _counted(profile, which, sizes, step))


def _counted(
    profile: Profile, which: Which, dims: Mapping[str, int], step: int | None
) -> tuple[Profile, Counts]:
    shaped = with_recorded_shapes(profile, dims, step)
    counts = count(with_inferred_shapes(shaped, dims) if which == "all" else shaped, which)
    if which == "all" and any(kind.why == UNKNOWN_SHAPE for kind in counts.uncounted):
        unbound = tuple(symbol.name for symbol in symbols(shaped) if symbol.name not in dims)
        counts = replace(counts, unbound=unbound)
    if step is None and profile.step_shapes:
        counts = replace(counts, float_ops=_means(profile, which, dims, counts.float_ops))
    nodes = profile.nodes
    float_ops = np.where(nodes.float_ops != 0, nodes.float_ops, counts.float_ops)
    nodes = replace(nodes, float_ops=float_ops)
    notes = shaped.notes
    if which == "all" and not profile.steps:
        in_loops, loop_note = old_loops(profile)
        notes = (*notes, *loop_note)
        counts = replace(counts, once=counts.once | in_loops)
    result = replace(profile, nodes=nodes, notes=notes)
    trips = trip_counts(shaped, dims)
    ran = program_runs(result, runs_per_call(result, trips, float_ops)) if profile.steps else None
    if not len(profile.regions) and not profile.devices and ran is None:
        return result, counts
    once = counts.once | in_unbounded_loops(result, trips)
    once = once if ran is None else once | ran.lower
    return _repeated(result, shaped, dims, trips, ran), replace(counts, once=once)


def _means(profile: Profile, which: Which, dims: Mapping[str, int], first: I64) -> I64:
    """The mean of the float operations over all runs of each node; *first*: by the first shapes."""
    total, runs = np.zeros((2, len(profile)), np.float64)
    own = {number: steps for steps, _ in profile.step_shapes for number in steps}
    counted: dict[tuple[int, ...], I64] = {(): first}
    for step in profile.steps:
        alike = own.get(step.number, ())
        if alike not in counted:
            shaped = with_recorded_shapes(profile, dims, step.number)
            shaped = with_inferred_shapes(shaped, dims) if which == "all" else shaped
            counted[alike] = count(shaped, which).float_ops
        ran = profile.values("occurrence", step.number)
        total += counted[alike].astype(np.float64) * ran
        runs += ran
    means = total / np.maximum(runs, 1)
    return np.where(runs > 0, np.minimum(means, _SAFE_SUM), first).astype(np.int64)


def _repeated(
    profile: Profile,
    shaped: Profile,
    dims: Mapping[str, int],
    trips: I64,
    ran: ProgramRuns | None,
) -> Profile:
    """*profile* with the run counts of its nodes, and notes on what these leave out."""
    often = run_counts(profile, trips, profile.nodes.float_ops)
    devices = int(max(1, 1, *profile.devices))  # all of them run it
    often = np.where(often > _SAFE_SUM / devices, often, often * devices)
    if ran is not None:  # on all devices that were recorded
        often = np.where(ran.times >= 0, ran.times, often)
    counted, less = _within_64_bits(profile.nodes.float_ops, often)
    texts = [*loop_notes(profile, shaped, dims, _described(profile)), *_uncertain(profile, ran)]
    if less:
        many = plural(less, "node runs", "nodes run")
        texts.append(f"{many} too often for numbers of 64 bits: counted less often")
    return replace(profile, times=counted, notes=(*profile.notes, *own_notes(texts)))


def _described(profile: Profile) -> Bool | None:
    """The nodes with attributes, and calls around them: a summary leaves out those of others."""
    if not profile.attribute_sources:
        return None
    nodes = np.concatenate([source.node for source in profile.attribute_sources])
    return with_calls(profile, marked(nodes[nodes >= 0], len(profile)))


def _uncertain(profile: Profile, ran: ProgramRuns | None) -> Iterator[str]:
    """A sentence if instructions may have run more often than they count."""
    if ran is None:
        return
    if lower := int(np.count_nonzero(ran.lower & (profile.nodes.float_ops != 0))):
        yield (
            f"{plural(lower, 'instruction')} may have run more often than counted: the events of "
            "the trace do not say how often the program ran in each step"
        )


def _within_64_bits(float_ops: I64, often: I64) -> tuple[I64, int]:
    """(run counts such that no sum exceeds 64 bits, number of nodes that count less often)."""
    amount = np.abs(float_ops.astype(np.float64))
    product = amount * often
    if float(product.sum()) <= _SAFE_SUM:
        return often, 0
    most = _SAFE_SUM / np.count_nonzero(product)
    over = np.flatnonzero((product > most) & (often > 1))
    often = often.copy()
    often[over] = np.maximum(most // amount[over], 1).astype(np.int64)
    return often, over.size
