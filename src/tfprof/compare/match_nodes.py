"""match_nodes(): which node of one profile is which node of another.

    equal names        whatever their operation types
    renamed scopes     (match_scopes)     a/conv/kernel ↔ b/conv/kernel
    structure          (match_structure)  same type and shapes, same place between matched nodes

Pairs beyond equal names have the same operation type. A wrong pair is worse than none: where
names and neighbours do not decide, nodes stay unmatched. `Matches.by` counts pairs by what differs
in their names: nothing, the scope, the numbers in it (a_1/b_2), or everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import Strings
from tfprof.compare.joint_graph import SEED, JointGraph, hash_without_suffixes
from tfprof.compare.match_scopes import match_scopes
from tfprof.compare.match_structure import match_structure
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, U64
    from tfprof.model import Profile

RULES: Final = ("name", "scope renamed", "suffix", "structure")


@dataclass(frozen=True, eq=False)
class Matches(Frozen):
    """The pairs, from either side, and how many pairs each rule has made."""

    base_of_new: I64  # per node of the new profile; -1: only in it
    new_of_base: I64
    by: dict[str, int]  # by rule, in the order of RULES


def match_nodes(base: Profile, new: Profile) -> Matches:
    """The nodes of both profiles that are the same; no node is in two pairs."""
    names, base_names = new.nodes.name, base.nodes.name
    new_of_base = np.arange(len(new)) if names is base_names else names.find(base_names)
    named = np.flatnonzero(new_of_base >= 0)
    by = dict.fromkeys(RULES, 0) | {"name": int(named.size)}
    if named.size < min(len(base), len(new)):
        found = _match_rest(base, new, named, new_of_base[named])
        by |= _rules(base.nodes.name.take(found[0]), new.nodes.name.take(found[1]))
        new_of_base[found[0]] = found[1]
    base_of_new = np.full(len(new), -1, np.int64)
    known = np.flatnonzero(new_of_base >= 0)
    base_of_new[new_of_base[known]] = known
    return Matches(base_of_new, new_of_base, by)


def _match_rest(base: Profile, new: Profile, named: I64, same: I64) -> tuple[I64, I64]:
    """(base node, new node) of the pairs whose names differ."""
    graph = JointGraph(base, new)
    graph.pair(named, same + len(base))
    rest = np.flatnonzero(graph.partner[: len(base)] < 0)
    for rule in (match_scopes, match_structure):
        if graph.is_open:
            rule(graph)
    rest = rest[graph.partner[rest] >= 0]
    rest = rest[graph.op[rest] == graph.op[graph.partner[rest]]]  # two types may have one hash
    return rest, graph.partner[rest] - len(base)


def _rules(base: Strings, new: Strings) -> dict[str, int]:
    """How many of these pairs of names differ in what."""
    suffix = hash_without_suffixes(base) == hash_without_suffixes(new)
    scope = ~suffix & (_last_part(base) == _last_part(new))
    counts = (suffix.sum(), scope.sum(), (~suffix & ~scope).sum())
    return dict(zip(("suffix", "scope renamed", "structure"), map(int, counts), strict=True))


def _last_part(names: Strings) -> U64:
    """A hash of what follows the last slash of each name."""
    begin = np.zeros(len(names), np.int64)
    row, slash = names.positions(b"/")
    begin[row] = slash + 1  # the last one stays
    return Strings(names.blob, names.start + begin, names.length - begin).hashes(SEED)
