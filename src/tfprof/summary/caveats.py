"""What is to be said below a summary: what it guesses, leaves out and does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.model import BRANCH, LOOP_BODY, Profile
from tfprof.ops.run_counts import may_end_sooner, trip_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.columns.strings import Bool
    from tfprof.summary.parameters import Parameters

_MOST_NAMED: Final = 3


class Gaps(NamedTuple):
    """What the numbers leave open."""

    unknown_outputs: int
    symbols: Sequence[str]  # the numbers are formulas in these
    unfit: Sequence[str]  # there is no formula in these
    dims: Mapping[str, int]  # sizes that the numbers were worked out for
    typed: bool  # whether the types of elements are told
    opaque: bool  # whether nothing is known of what the layers compute
    left_out: int  # nodes that compute, but not for an output


def sentences(profile: Profile, living: Bool, held: Parameters, gaps: Gaps) -> tuple[str, ...]:
    """A sentence for each thing that there is to say."""
    return (
        *_of_parameters(held),
        *_of_dimensions(gaps),
        *_of_functions(profile, living, gaps),
        *_of_nodes(gaps),
    )


def _of_parameters(held: Parameters) -> Iterator[str]:
    if held.guessed and held.node.size:
        are = "is counted as a parameter" if held.node.size == 1 else "are counted as parameters"
        yield (
            f"There are no variables: {_many(held.node.size, 'constant')} that the computation "
            f"takes in {are}, which is a guess."
        )
    elif held.trainable is None and held.node.size:
        yield "Which parameters are trainable is not told."
    if held.unknown.size:
        what = _many(held.unknown.size, "constant" if held.guessed else "variable")
        known = f"; those of known shape are {sum(held.elements.tolist()):,}"
        more = known if held.node.size else ""
        yield f"Parameters are not known: the shape of {what} is not told{more}."
    if held.counters:
        yield (
            f"Not counted as parameters: {_many(held.counters, 'variable')} of whole numbers, "
            "as counters and seeds are."
        )


def _of_dimensions(gaps: Gaps) -> Iterator[str]:
    if gaps.unfit:
        yield f"What stands as ? depends on {', '.join(gaps.unfit)}: give {_given(gaps.unfit)}."
    elif gaps.symbols:
        yield f"Open dimensions: {', '.join(gaps.symbols)}; {_given(gaps.symbols)} gives numbers."
    if gaps.opaque:
        yield "What the layers compute is not told: there are no float operations nor activations."
    if not gaps.typed:
        yield "The types of elements are not told: bytes are those of 32-bit floats."
    if gaps.unknown_outputs:
        unknown = _many(gaps.unknown_outputs, "output")
        yield f"Not in the activation bytes: {unknown} of unknown size."


def _of_functions(profile: Profile, living: Bool, gaps: Gaps) -> Iterator[str]:
    regions = profile.regions
    if not len(regions):
        return
    told = regions.runs(profile.values("occurrence", None)) >= 0
    untold = living[regions.call] & ~told
    shaped, dims = profile.with_run_shapes, dict(gaps.dims)
    trips = trip_counts(shaped, dims)
    open_loops = np.flatnonzero(untold & (regions.kind == LOOP_BODY) & (trips < 0))
    if open_loops.size:
        named = profile.nodes.name.take(regions.call[open_loops[:_MOST_NAMED]])
        more = ", …" if open_loops.size > _MOST_NAMED else ""
        yield (
            f"Counted as if run once, for want of a known number of rounds: "
            f"{', '.join(map(_text, named))}{more}."
        )
    loops = regions.call[untold & (regions.kind == LOOP_BODY)]
    sooner = np.intersect1d(may_end_sooner(shaped, dims), loops)
    if sooner.size:
        some = "loop counts" if sooner.size == 1 else "loops count"
        yield f"{sooner.size:,} {some} as long as the bound allows, and may end sooner."
    branch = regions.kind == BRANCH
    choices = np.setdiff1d(regions.call[untold & branch], regions.call[told & branch])
    if choices.size:
        yield f"Of {_many(choices.size, 'choice')} the branch with the most operations counts."


def _of_nodes(gaps: Gaps) -> Iterator[str]:
    if gaps.left_out:
        yield (
            f"Left out: {_many(gaps.left_out, 'operation')} that no output needs, "
            "as those that initialise, save, report or train."
        )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _given(names: Sequence[str]) -> str:
    return f"--dim {','.join(f'{name}=N' for name in names)}"


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
