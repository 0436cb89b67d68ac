"""Filters that match nothing, as remarks: what they say, and what would match.

    no name matches 'unit_1' (a regex matches the whole name): try '.*unit_1.*'
    no node has the type 'Variable'; there is 'VariableV2'

A filter that matches something costs nothing here: its matches are known from the answer.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.columns.unique import unique
from tfprof.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.model import Profile
    from tfprof.query.query import Query
    from tfprof.views.drawing import Drawing

_MOST: Final = 5  # remarks on one filter, and names in one remark
_MOST_COMPARED: Final = 5_000  # names that a misspelled one is compared with


def unmatched(profile: Profile, drawing: Drawing, query: Query) -> Iterator[str]:
    """A remark on each regex of every filter that matches nothing at all."""
    if query.account_types is not None:
        types = Strings.concat([profile.types, Strings.of([drawing.filler])])
        if not matches(types, query.account_types).any():
            yield from (no_type(one, profile.types) for one in query.account_types[:_MOST])
    for names in (query.start_names, query.trim_names, query.show_names, query.hide_names):
        if names and not drawing.labels_match(names).any():
            below_root = drawing.label.take(slice(1, None))
            yield from (no_name(name, below_root) for name in names[:_MOST])
    if query.devices is not None:
        used = unique(profile.nodes.device)
        devices = profile.types.take(used[used >= 0])
        patterns = [f"(?i:{pattern})" for pattern in query.devices]
        if not matches(Strings.concat([devices, Strings.of([b""])]), patterns).any():
            yield from (no_name(one, devices, "device") for one in query.devices[:_MOST])


def no_name(pattern: str, names: Strings, noun: str = "name", *, list_known: bool = False) -> str:
    """The sentence that no name matches *pattern*, with a regex that does, or a name near it.

    With *list_known*, it lists some names where none is near.
    """
    sentence = f"no {noun} matches {pattern!r}"
    plain = pattern.strip("^$")
    around = f".*({plain}).*" if "|" in plain else f".*{plain}.*"
    with suppress(UsageError):  # it may be too large, or not valid without its anchors
        for candidate in (around, f"(?i){around}") if plain.strip(".*") else ():
            if matches(names, [candidate]).any():
                return f"{sentence} (a regex matches the whole name): try {candidate!r}"
    some = islice(filter(None, names), _MOST_COMPARED)
    known = [name.decode("utf-8", "replace") for name in some]
    there = _there(known) if list_known and known else ""
    return sentence + (nearest(pattern, known) or there)


def no_type(pattern: str, types: Strings) -> str:
    """The sentence that no node has a type that matches *pattern*, with the types that are near."""
    known = [name.decode("utf-8", "replace") for name in dict.fromkeys(filter(None, types))]
    plain = pattern.strip(".*^$")
    near = [name for name in known if plain and name.startswith(plain)]
    near = near or [name for name in known if plain and plain in name]
    near = near or [name for name in known if plain and plain.lower() in name.lower()]
    if not near:
        return f"no node has the type {pattern!r}{nearest(pattern, known)}"
    return f"no node has the type {pattern!r}{_there(near)}"


def _there(near: Sequence[str]) -> str:
    more = ", …" if len(near) > _MOST else ""
    return f"; there {'is' if len(near) == 1 else 'are'} {', '.join(map(repr, near[:_MOST]))}{more}"


def no_match(sentences: Sequence[str]) -> UsageError:
    """The error of a command that has nothing to show without a match."""
    return UsageError("; ".join(sentences[:_MOST]))
