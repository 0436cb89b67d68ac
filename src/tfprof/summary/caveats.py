"""The lines below a summary: what it guesses, leaves out and does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.columns.strings import Bool, clean_text
from tfprof.foundation.units import plural
from tfprof.read.saved_model import ADDED_UP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.model import Profile
    from tfprof.summary.parameters import Held, Parameters


TRAINABLE_UNKNOWN: Final = "Trainable: unknown. This file does not record it."


class Gaps(NamedTuple):
    """What the numbers leave open."""

    unknown_outputs: int
    symbols: tuple[str, ...]  # the numbers are formulas in these
    unfit: Sequence[str]  # there is no formula in these
    dims: Mapping[str, int]  # sizes that the numbers were computed for
    has_dtypes: bool
    is_opaque: bool  # no operation can be counted
    left_out: int  # nodes that compute, but not for an output
    ran_eagerly: bool  # there are parameters, and no node computes
    untimed: tuple[int, int] = (0, 0)  # microseconds of a step outside the model, and all of them


def caveats(profile: Profile, in_model: Bool, params: Parameters, gaps: Gaps) -> tuple[str, ...]:
    """One sentence per caveat."""
    from tfprof.ops.run_counts import (  # noqa: PLC0415 - an overview has no such caveats
        loop_notes,
        old_loops,
        with_calls,
    )
    from tfprof.ops.symbols import with_recorded_shapes  # noqa: PLC0415

    shaped = with_recorded_shapes(profile, gaps.dims)
    loops = loop_notes(profile, shaped, gaps.dims, with_calls(profile, in_model))
    functions = [f"{clean_text(note)}." for note in loops] if len(profile.regions) else []
    if not profile.steps:
        inside, notes = old_loops(profile)
        functions += [f"{note}." for note in notes if (inside & in_model).any()]
    noted = [clean_text(str(note)) for note in profile.notes if note.caveat]
    added_up = [f"{clean_text(str(n))}." for n in profile.notes if n.text.startswith(ADDED_UP)]
    held = (*of_parameters(params), *of_unread(params))
    sentences = [*held, *_of_numbers(gaps), *noted, *added_up, *functions]
    if gaps.left_out:
        why = "such as those that initialize, save, report or train"
        operations = plural(gaps.left_out, "operation")
        sentences.append(f"Left out: {operations} that no output needs, {why}.")
    outside, recorded = gaps.untimed
    if outside:
        spent = f"Time: {outside:,} us of the {recorded:,} us of a step were spent"
        sentences.append(f"{spent} outside the model, such as gradients, updates and input.")
    return tuple(sentences)


def of_parameters(params: Parameters) -> Iterator[str]:
    """What is unknown, guessed or left out among the parameters."""
    count = params.node.size
    if params.guessed and count:
        verb = "counts as a parameter" if count == 1 else "count as parameters"
        constants = plural(count, "constant")
        yield f"The graph has no variables. {constants} that it computes with {verb}: a guess."
    elif params.trainable is None and count:
        yield TRAINABLE_UNKNOWN
    if params.unknown.size > params.arguments:  # the reader of a program has a note on these
        what = plural(params.unknown.size, "constant" if params.guessed else "variable")
        some = "at least these" if count else "unknown"
        yield f"Parameters: {some}. This file does not record the shape of {what}."
    if params.unneeded.variables:
        yield f"Parameters include {_held(params.unneeded)} that no output needs."
    if params.counters:
        variables = plural(params.counters, "integer variable")
        yield f"Not counted as parameters: {variables}, such as counters and seeds."


def of_unread(params: Parameters) -> Iterator[str]:
    """The variables that are not counted because the model does not read them."""
    if params.unread.variables:
        why = "that the model does not read, such as slots, moving averages and counters"
        yield f"Not counted as parameters: {_held(params.unread)} {why}."


def _held(held: Held) -> str:
    size = f"with {plural(held.values, 'value')}" if held.values else "of unknown size"
    return f"{plural(held.variables, 'variable')} {size}"


def _of_numbers(gaps: Gaps) -> Iterator[str]:
    if gaps.unfit:
        yield f"Numbers shown as ? depend on {', '.join(gaps.unfit)}: give {_option(gaps.unfit)}."
    elif gaps.symbols:
        yield f"Open dimensions: {', '.join(gaps.symbols)}; {_option(gaps.symbols)} gives numbers."
    if gaps.ran_eagerly:
        yield (
            "Float operations and activations: unknown. The graph has variables, but no operation "
            "that computes, as when a program runs eagerly (run_eagerly=True)."
        )
    elif gaps.is_opaque:
        yield "Float operations and activations: unknown. No operation can be counted."
    if not gaps.has_dtypes:
        yield "Dtypes: unknown. Bytes are those of 32-bit floats."
    if gaps.unknown_outputs:
        outputs = plural(gaps.unknown_outputs, "output")
        yield f"Not in the activation bytes: {outputs} of unknown size."


def _option(names: Sequence[str]) -> str:
    return f"--dim {','.join(f'{name}=N' for name in names)}"
