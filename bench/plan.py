"""How often each piece of work is measured, by size, and what the original is spared.

Small sizes are noisy and cheap, so they are repeated more. At 1M nodes the original takes minutes
and 12 GB for a load; there it is asked only for what is named here, once, and the other rows are
ours alone, for the growth they show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_HUGE = 300_000  # from here on the original is asked for little


class Often(NamedTuple):
    """How many measurements of ours and of the original; 0 is none."""

    ours: int
    original: int

    def spared(self) -> Often:
        """The same without the original."""
        return Often(self.ours, 0)


@dataclass(frozen=True)
class Plan:
    """The measurements a row of each kind; `slow` is what takes the original long, and variants."""

    cold: Often
    load: Often
    warm: Often
    slow: Often
    huge: bool = False

    def of(self, kind: str, view: str = "scope") -> Often:
        """How often work of a kind is measured, for a view where it has one."""
        often: Often = getattr(self, kind)
        asked = {"cold": ("scope",), "load": ("scope",), "warm": ("scope", "graph"), "slow": ()}
        return often.spared() if self.huge and view not in asked[kind] else often


_PLANS = (
    (5_000, Plan(cold=Often(5, 3), load=Often(5, 3), warm=Often(15, 9), slow=Often(5, 2))),
    (50_000, Plan(cold=Often(5, 3), load=Often(5, 3), warm=Often(9, 5), slow=Often(3, 1))),
    (_HUGE, Plan(cold=Often(5, 2), load=Often(3, 2), warm=Often(5, 2), slow=Often(2, 1))),
)
_LAST = Plan(cold=Often(3, 1), load=Often(3, 1), warm=Often(5, 1), slow=Often(1, 1), huge=True)


def plan(nodes: int, repeat: int = 0) -> Plan:
    """The plan for a size; *repeat*, if it is given, stands for all its numbers."""
    chosen = next((each for most, each in _PLANS if nodes <= most), _LAST)
    if not repeat:
        return chosen
    often = Often(repeat, repeat)
    return Plan(often, often, often, often, chosen.huge)
