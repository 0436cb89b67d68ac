"""A profile with float operations by rule where its op log gives none, and how often nodes run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.flops.counting import UNKNOWN_SHAPE, Counts, count
from tfprof.flops.table import rules
from tfprof.inference import inferred, may_end_sooner, symbols, times, trip_counts
from tfprof.light_dataclasses import replace
from tfprof.model import BRANCH, LOOP_BODY, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.flops.table import Which
    from tfprof.model import Profile
    from tfprof.strings import I64

_MOST_NAMED: Final = 3


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
    return profile.keep(key, lambda: _filled(profile, which, given))


def _filled(profile: Profile, which: Which, dims: Mapping[str, int]) -> tuple[Profile, Counts]:
    shaped = profile.with_run_shapes
    counts = count(inferred(shaped, dims) if which == "all" else shaped, which)
    if which == "all" and any(kind.why == UNKNOWN_SHAPE for kind in counts.uncounted):
        unbound = tuple(one.name for one in symbols(shaped) if one.name not in dims)
        counts = replace(counts, unbound=unbound)
    nodes = profile.nodes
    float_ops = np.where(nodes.float_ops != 0, nodes.float_ops, counts.float_ops)
    nodes = replace(nodes, float_ops=float_ops)
    result = replace(profile, nodes=nodes, notes=shaped.notes, _kept={})
    return (_repeated(result, shaped, dims) if len(profile.regions) else result), counts


def _repeated(profile: Profile, shaped: Profile, dims: Mapping[str, int]) -> Profile:
    """*profile* with how often each node runs, and notes on what that leaves out."""
    trips = trip_counts(shaped, dims)
    often = times(profile, trips, profile.nodes.float_ops)
    sooner = may_end_sooner(shaped, dims)
    notes = (*profile.notes, *_notes(profile, trips, sooner, often.choices))
    return replace(profile, times=often.of_node, notes=notes, _kept={})


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
