"""The memory that a compiler plans for a program."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class MemoryPlan(NamedTuple):
    """Bytes on one device, by their purpose."""

    arguments: float
    outputs: float
    shared: float  # in both
    temporary: float
    constants: float

    @classmethod
    def of(cls, amounts: Sequence[float]) -> MemoryPlan | None:
        """The plan with these amounts; None if they are none."""
        if len(amounts) != len(cls._fields) or not all(0 <= size < inf for size in amounts):
            return None
        plan = cls(*amounts)
        return plan if plan.shared <= min(plan.arguments, plan.outputs) else None

    @property
    def total(self) -> int:
        """All of it; what is shared counts once."""
        return int(self.arguments + self.outputs - self.shared + self.temporary + self.constants)
