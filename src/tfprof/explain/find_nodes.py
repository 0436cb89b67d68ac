"""The nodes to explain, by name, operation type and layer; an error suggests what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.matching import matches
from tfprof.columns.strings import clean_text
from tfprof.errors import UsageError, nearest
from tfprof.foundation.arguments import shown
from tfprof.query.unmatched import no_match, no_name, no_type
from tfprof.summary.scopes import scopes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile

_MOST_NAMED: Final = 5
_MOST_COMPARED: Final = 5_000  # names that a misspelled one is compared with


def find_nodes(
    profile: Profile, name: str | Sequence[str] = (), op: str | Sequence[str] = (), layer: str = ""
) -> I64:
    """The nodes of the graph that fit all of these; raises UsageError where none does."""
    names, ops = _patterns("name", name), _patterns("op", op)
    if not isinstance(layer, str):
        raise UsageError(f"layer takes a text, not {shown(layer)}")
    if not names and not ops and not layer:
        raise UsageError("say which nodes to explain: --name REGEX, --op REGEX or --layer NAME")
    if not len(profile):
        raise UsageError("there is nothing to explain: the files have no nodes")
    # A run has nodes, but no graph.
    in_graph = profile.in_graph if profile.in_graph.any() else np.ones(len(profile), np.bool_)
    chosen = in_graph.copy()
    if layer:
        chosen &= _in_layer(profile, layer)
    if ops:
        used, number = np.unique(profile.nodes.op, return_inverse=True)
        types = profile.types.take(used)
        fits = matches(types, ops)
        if not fits.any():
            raise no_match([no_type(pattern, types) for pattern in ops])
        chosen &= fits[number]
    if names:
        fits = matches(profile.nodes.name, names)
        if not (fits & in_graph).any():
            raise no_match([no_name(name, profile.nodes.name) for name in names])
        chosen &= fits
    if not chosen.any():
        raise UsageError("no node fits all of --name, --op and --layer at once")
    return np.flatnonzero(chosen)


def _patterns(name: str, value: object) -> list[str]:
    patterns = [value] if isinstance(value, str) else value
    if isinstance(patterns, (list, tuple)) and all(isinstance(text, str) for text in patterns):
        return list(patterns)
    raise UsageError(f"{name} takes a regex or a list of regexes, not {shown(value)}")


def _in_layer(profile: Profile, layer: str) -> Bool:
    """Which nodes are in a scope of this name, in the summary or in the graph."""
    for tree in (scopes(profile), scopes(profile, renamed=False)):
        names = [tree.name(scope).decode("utf-8", "replace") for scope in range(len(tree))]
        inside = [bool(name) and f"/{name}".endswith(f"/{layer}") for name in names]
        if any(inside):
            break
    else:
        parts = [name.rpartition("/")[2] for name in names]
        raise UsageError(f"there is no layer {layer!r}{_near(layer, [*names, *parts])}")
    for scope, parent in enumerate(tree.parent):
        inside[scope] = inside[scope] or (parent >= 0 and inside[parent])
    return np.array(inside, np.bool_)[tree.of_node]


def _near(text: str, known: Iterable[str]) -> str:
    """A hint: names that contain the text, or else one that resembles it."""
    names = list(dict.fromkeys(filter(None, known)))
    plain = text.strip(".*^$").lower()
    containing = [name for name in names if plain and plain in name.lower()]
    if containing:
        more = ", …" if len(containing) > _MOST_NAMED else ""
        return clean_text(f"; near it: {', '.join(containing[:_MOST_NAMED])}{more}")
    return clean_text(nearest(text, names[:_MOST_COMPARED]))
