"""A profile with float operations by rule where its op log gives none, and how often nodes run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.flops.counting import UNKNOWN_SHAPE, Counts, count
from tfprof.flops.table import rules
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.inference import inferred, may_end_sooner, symbols, times, trip_counts
from tfprof.model import BRANCH, LOOP_BODY, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64
    from tfprof.flops.table import Which
    from tfprof.model import Profile

_MOST_NAMED: Final = 3
_SAFE_SUM: Final = 2.0**62


def filled(
    profile: Profile, which: Which, dims: Mapping[str, int] | None = None
) -> tuple[Profile, Counts]:
    """(*profile* with what the rules count, what they count and what not).

    What an op log says stands. Shapes that only a run can tell are taken from the runs; what is
    odd about those is among the notes of the profile that comes back, behind its own. With all
    rules, shapes are inferred where the graph leaves them open; *dims* gives sizes to the open
    dimensions of its inputs. Raises UsageError for one that there is not.
    """
    given = dict(dims or {})
    # A rule registered since makes another table, and with it another answer.
    table = tuple(rules(which).values())
    key = ("float operations by rule", which, tuple(sorted(given.items())), table)
    return profile.cached(key, lambda: _filled(profile, which, given))


def _filled(profile: Profile, which: Which, dims: Mapping[str, int]) -> tuple[Profile, Counts]:
    shaped = profile.with_run_shapes
    counts = count(inferred(shaped, dims) if which == "all" else shaped, which)
    if which == "all" and any(kind.why == UNKNOWN_SHAPE for kind in counts.uncounted):
        unbound = tuple(one.name for one in symbols(shaped) if one.name not in dims)
        counts = replace(counts, unbound=unbound)
    nodes = profile.nodes
    float_ops = np.where(nodes.float_ops != 0, nodes.float_ops, counts.float_ops)
    nodes = replace(nodes, float_ops=float_ops)
    notes = (*shaped.notes, *(_old_loops(profile) if which == "all" else ()))
    result = replace(profile, nodes=nodes, notes=notes)
    return (_repeated(result, shaped, dims) if len(profile.regions) else result), counts


def _old_loops(profile: Profile) -> Iterator[Note]:
    """What is said of loops that are made of nodes, unless a run tells how often those ran."""
    kind = int(profile.types.find(Strings.of([b"LoopCond"]))[0]) if len(profile.types) else -1
    loops = int((profile.nodes.op == kind).sum()) if kind >= 0 else 0
    if loops and not profile.steps:
        text = "loop (LoopCond) counts" if loops == 1 else "loops (LoopCond) count"
        yield Note(f"{loops:,} {text} once: only a run tells how often", ours=True)


def _repeated(profile: Profile, shaped: Profile, dims: Mapping[str, int]) -> Profile:
    """*profile* with how often each node runs, and notes on what that leaves out."""
    trips = trip_counts(shaped, dims)
    often = times(profile, trips, profile.nodes.float_ops)
    sooner = may_end_sooner(shaped, dims)
    counted, less = _within_64_bits(profile.nodes.float_ops, often.of_node)
    notes = [*profile.notes, *_notes(profile, trips, sooner, often.choices)]
    if less:
        text = f"{less:,} nodes run too often for numbers of 64 bits, and count less often"
        notes.append(Note(text, ours=True))
    return replace(profile, times=counted, notes=tuple(notes))


def _within_64_bits(float_ops: I64, often: I64) -> tuple[I64, int]:
    """(how often each node counts so that no sum goes beyond 64 bits, how many count less)."""
    amount = np.abs(float_ops.astype(np.float64))
    product = amount * often
    if float(product.sum()) <= _SAFE_SUM:
        return often, 0
    most = _SAFE_SUM / np.count_nonzero(product)
    over = np.flatnonzero((product > most) & (often > 1))
    often = often.copy()
    often[over] = np.maximum(most // amount[over], 1).astype(np.int64)
    return often, over.size


def _notes(profile: Profile, trips: I64, sooner: I64, choices: I64) -> Iterator[Note]:
    """What is said of loops and choices that no run tells about."""
    regions = profile.regions
    told = regions.runs(profile.values("occurrence", None)) >= 0
    body = regions.kind == LOOP_BODY
    loops = regions.call[body & (trips < 0) & ~told]
    if loops.size:
        have, are = ("loop has", "is") if loops.size == 1 else ("loops have", "are")
        text = f"{loops.size:,} {have} no constant bound, and {are} counted once"
        yield Note(f"{text}: {_named(profile, loops)}", ours=True)
    bounded = np.intersect1d(sooner, regions.call[body & ~told])
    if bounded.size:
        some = "1 loop counts" if bounded.size == 1 else f"{bounded.size:,} loops count"
        text = f"{some} as long as the bound allows, and may end sooner"
        yield Note(f"{text}: {_named(profile, bounded)}", ours=True)
    taken = np.isin(choices, regions.call[(regions.kind == BRANCH) & told])
    count = int((~taken).sum())
    if count:
        text = "cond counts its" if count == 1 else "conds count their"
        yield Note(f"{count:,} {text} larger branch", ours=True)


def _named(profile: Profile, nodes: I64) -> str:
    """The names of the first few."""
    more = ", …" if nodes.size > _MOST_NAMED else ""
    return ", ".join(profile.nodes.name.take(nodes[:_MOST_NAMED]).texts()) + more
