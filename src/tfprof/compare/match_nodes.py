"""match_nodes(): which node of one profile is which node of another.

rule                    pairs
name                    nodes of equal names, whatever their operation types
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
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
    new_of_base = new.nodes.name.find(base.nodes.name)
    base_of_new = np.full(len(new), -1, np.int64)
    known = np.flatnonzero(new_of_base >= 0)
    base_of_new[new_of_base[known]] = known
    return Matches(base_of_new, new_of_base, dict.fromkeys(RULES, 0) | {"name": int(known.size)})
