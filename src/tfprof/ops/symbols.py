"""Symbols: names for the open dimensions of a graph's inputs.

    images  ?x28x28x3      batch                 the first dimension of all inputs is one symbol
    tokens  ?x?            batch, tokens_1       any other is named after its input and its axis

Inputs are placeholders of the graph itself, not of the functions that it calls.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import UsageError, nearest
from tfprof.foundation.arguments import shown, whole_number
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.classes import of_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile

BATCH: Final = "batch"
_MOST_NAMED: Final = 8
_LONGEST: Final = 200  # bytes of a node's name
# What a SavedModel puts before the name of an input.
_SERVING: Final = "serving_default_"


@dataclass(frozen=True)
class Symbol:
    """An open dimension: its name, and the (node, axis) pairs that it stands for."""

    name: str
    places: tuple[tuple[int, int], ...]


def symbols(profile: Profile) -> tuple[Symbol, ...]:
    """The open dimensions of a graph's inputs: first `batch`, if any, then as they appear."""
    return profile.cached("symbols", lambda: _symbols(profile))


def _symbols(profile: Profile) -> tuple[Symbol, ...]:
    is_input = of_class(profile, "graph input") & (profile.regions.of_nodes(len(profile)) < 0)
    batch: list[tuple[int, int]] = []
    others: dict[str, Symbol] = {}
    again: Counter[str] = Counter()
    for node in np.flatnonzero(is_input).tolist():
        for axis, length in enumerate(_dims(profile, node)):
            if length < 0 and axis == 0:
                batch.append((node, 0))
            elif length < 0:
                name = _name(profile, node, axis, others, again)
                others[name] = Symbol(name, ((node, axis),))
    first = (Symbol(BATCH, tuple(batch)),) if batch else ()
    return (*first, *others.values())


def _dims(profile: Profile, node: int) -> list[int]:
    """The dimensions of an input: as declared, or from its attribute; [] where there are none."""
    declared = int(profile.outputs.start[node])
    if declared < int(profile.outputs.start[node + 1]):
        return profile.outputs.shape[declared]
    return profile.nodes.shape[node]


def _name(
    profile: Profile, node: int, axis: int, taken: Mapping[str, object], again: Counter[str]
) -> str:
    """A name of letters, digits and underscores that no other symbol has.

    *again* counts how often a taken name was wanted.
    """
    text = profile.nodes.name[node][:_LONGEST].decode("utf-8", "replace").removeprefix(_SERVING)
    name = f"{re.sub(r'[^A-Za-z0-9_]', '_', text)}_{axis}"
    unique = name
    while unique in taken:
        again[name] += 1
        unique = f"{name}_{again[name] + 1}"
    return unique


def _with_shapes_of(profile: Profile, step: int | None) -> Profile:
    """*profile* with the shapes that runs recorded; those of this step, if it has its own."""
    for steps, read in profile.step_shapes:
        if step in steps:
            return profile.cached(("shapes of steps", *steps), partial(read, profile))
    return profile.with_run_shapes


def with_recorded_shapes(
    profile: Profile, dims: Mapping[str, int], step: int | None = None
) -> Profile:
    """*profile* with the shapes that runs recorded, unless *dims* set what these would fill in."""
    shaped = _with_shapes_of(profile, step)
    if not dims or shaped is profile:
        return shaped
    still_open = {symbol.name for symbol in symbols(shaped)}
    filled_in = {symbol.name for symbol in symbols(profile)} - still_open
    return shaped if filled_in.isdisjoint(dims) else profile


def bound(profile: Profile, dims: Mapping[str, int]) -> dict[int, dict[int, int]]:
    """*dims* as lengths of the axes of input nodes; raises UsageError."""
    known = {symbol.name: symbol for symbol in symbols(profile)}
    sizes: dict[int, dict[int, int]] = {}
    for name, size in dims.items():
        if name not in known:
            more = [] if len(known) <= _MOST_NAMED else ["…"]
            listed = ", ".join([*known][:_MOST_NAMED] + more)
            there = f"there are: {listed}" if known else "there is none"
            near = nearest(name, [*known])
            raise UsageError(f"no dimension of the inputs is called {shown(name)}{near} ({there})")
        length = whole_number(f"dim {name}", size, least=1)
        for node, axis in known[name].places:
            sizes.setdefault(node, {})[axis] = length
    return sizes
