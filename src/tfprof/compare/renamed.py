"""The base profile with the names or the call stacks that its nodes have in the new one.

with_shared_columns(): on the very columns of the new one, where these are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, unique_inverse
from tfprof.fleet.join_graphs import joined_stacks
from tfprof.foundation.lazy_dataclasses import fields, replace
from tfprof.read.columns import members

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.compare.match_nodes import Matches
    from tfprof.model import Profile, Stacks

_FRAME: Final = ("file", "function", "line", "function_line", "source")
_OF_NODES: Final = ("op", "device", "stack", "name")
_DRAWN: Final = ("types", "typed_node", "typed_as", "edges", "regions", "stacks", "has_traces")


def with_shared_columns(base: Profile, new: Profile) -> Profile:
    """*base* on the columns of *new* if all that views draw is equal: both are drawn at once."""
    nodes = {name: getattr(new.nodes, name) for name in _OF_NODES}
    drawn = {name: getattr(new, name) for name in _DRAWN}
    pairs = [(getattr(base.nodes, name), column) for name, column in nodes.items()]
    pairs += [(getattr(base, name), part) for name, part in drawn.items()]
    if len(base) != len(new) or not all(_equal(*pair) for pair in pairs):
        return base
    cache = new.structure_cache
    return replace(base, nodes=replace(base.nodes, **nodes), **drawn, structure_cache=cache)


def _equal(part: Any, other: Any) -> bool:  # noqa: ANN401 - a column, or a table of columns
    if part is other:
        return True
    if isinstance(part, (np.ndarray, bool)):
        return np.array_equal(part, other)
    if isinstance(part, Strings):
        rows = np.arange(len(part))
        return len(part) == len(other) and bool(part.same(rows, other, rows).all())
    return all(_equal(getattr(part, f.name), getattr(other, f.name)) for f in fields(part))


def renamed(base: Profile, new: Profile, matches: Matches) -> Profile:
    """*base* itself where no name differs; what is not matched keeps its name."""
    if sum(matches.by.values()) == matches.by["name"]:
        return base
    at = matches.new_of_base
    if np.array_equal(at, np.arange(len(new))):
        named = replace(base, nodes=replace(base.nodes, name=new.nodes.name))
        return with_shared_columns(named, new)
    names = Strings.concat([base.nodes.name, new.nodes.name])
    rows = np.where(at < 0, np.arange(len(base)), len(base) + at)
    return replace(base, nodes=replace(base.nodes, name=names.take(rows)))


def with_new_stacks(base: Profile, new: Profile, matches: Matches) -> Profile:
    """*base* itself where no stack differs."""
    theirs = np.append(new.nodes.stack, -1)[matches.new_of_base]
    # A node of an empty stack is not counted in code view, and stays so.
    node = np.flatnonzero(_has_frames(base, base.nodes.stack) & _has_frames(new, theirs))
    if base.stacks is new.stacks or not node.size:
        return base
    return _with_stacks(base, new.stacks, node, theirs[node])


def _with_stacks(base: Profile, new: Stacks, node: I64, theirs: I64) -> Profile:
    """*base*, where each *node* has its stack among *new*; lines that moved move for all nodes."""
    stacks = joined_stacks(base.stacks, new)
    theirs = theirs + base.stacks.start.size - 1
    pair = first_rows(base.nodes.stack[node] * stacks.start.size + theirs)[1]
    first, second = base.nodes.stack[node[pair]], theirs[pair]
    alike = np.diff(stacks.start)[first] == np.diff(stacks.start)[second]
    old, moved = (members(stacks.start, stack[alike]) for stack in (first, second))
    columns = {name: getattr(stacks, name) for name in _FRAME}
    if alike.all() and all(np.array_equal(each[old], each[moved]) for each in columns.values()):
        return base
    same = (stacks.file[old] == stacks.file[moved]) & (
        stacks.function[old] == stacks.function[moved]
    )
    old, moved = old[same], moved[same]
    place = np.zeros(stacks.file.size, np.int64)  # equal for frames of one line
    for name in ("file", "function", "line"):
        values, number = unique_inverse(columns[name])
        place = unique_inverse(place * values.size + number)[1]
    new_frame = np.full(place.size, -1, np.int64)
    new_frame[place[old]] = moved
    new_frame[place[old[stacks.line[new_frame[place[old]]] != stacks.line[moved]]]] = -1
    frame = np.arange(place.size)
    in_base = frame[: base.stacks.file.size]
    known = new_frame[place[in_base]] >= 0
    frame[in_base[known]] = new_frame[place[in_base[known]]]
    stack = base.nodes.stack.copy()
    stack[node] = theirs
    return replace(
        base,
        nodes=replace(base.nodes, stack=stack),
        stacks=replace(stacks, **{name: column[frame] for name, column in columns.items()}),
    )


def _has_frames(profile: Profile, stack: I64) -> Bool:
    """Whether each *stack* has frames; -1 has none."""
    has: Bool = np.append(np.diff(profile.stacks.start) > 0, False)[stack]
    return has
