"""A row of the table: what both programs took for one piece of work of one size.

Both take turns, so that a busy minute of the machine is shared by both. A side that fails ends its
own turns; the row then says so and the run goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from worker import Measure, WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plan import Often

T = TypeVar("T")

OURS_ONLY = "ours only"
NUMPY = ", NumPy core"
ANOTHER = ", another question"
_COUNTS = "same"  # how the verdict of a row that counts begins


class Size(NamedTuple):
    """How much there is: nodes in the graph, and steps of them."""

    nodes: int
    steps: int = 1

    @property
    def label(self) -> str:
        """1M, 10k; 10k × 100 of several steps."""
        return short(self.nodes) + (f" × {self.steps}" if self.steps > 1 else "")

    @property
    def amount(self) -> int:
        """What growth is measured by."""
        return self.nodes * self.steps


@dataclass(frozen=True)
class Turns(Generic[T]):
    """What both sides measured; `trouble` is why a side stopped, if one did."""

    ours: list[T]
    original: list[T]
    trouble: str = ""
    others: list[T] = field(default_factory=list)  # a variant of ours

    def each(self, pick: Callable[[T], Measure]) -> Turns[Measure]:
        """One of several things measured in each turn."""
        ours, original, others = (
            [*map(pick, side)] for side in (self.ours, self.original, self.others)
        )
        return Turns(ours, original, self.trouble, others)


@dataclass(frozen=True)
class Row:
    """One line of the table; `answer` is what comparing the two answers gave."""

    phase: str
    name: str
    size: Size
    turns: Turns[Measure]
    answer: str
    memory: bool = True
    variant: str = NUMPY

    def variants(self) -> Iterator[Row]:
        """The row itself, and where a variant of ours was measured as well, its row."""
        yield self
        if self.turns.others:
            turns = Turns(self.turns.others, self.turns.original, self.turns.trouble)
            yield replace(self, name=self.name + self.variant, turns=turns)

    @property
    def verdict(self) -> str:
        """Whether the row counts: it begins with `same`, or says why not."""
        return f"FAILED {self.turns.trouble}" if self.turns.trouble else self.answer

    @property
    def counts(self) -> bool:
        """Whether both answered, and the same."""
        return self.verdict.startswith(_COUNTS)

    @property
    def wrong(self) -> bool:
        """Whether something failed or differs."""
        return not self.counts and self.verdict != OURS_ONLY


def short(nodes: int) -> str:
    """1000000 → 1M, 10000 → 10k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if nodes % size == 0:
            return f"{nodes // size}{letter}"
    return str(nodes)


def take_turns(
    ours: Callable[[], T],
    original: Callable[[], T],
    often: Often,
    other: Callable[[], T] | None = None,
) -> Turns[T]:
    """Ours, the original, ours, … until each had its turns; *other* as often as the original."""
    sides = [(ours, often.ours, "ours"), (original, often.original, "original")]
    if other is not None:
        sides.append((other, max(1, often.original), "the variant"))
    turns: list[list[T]] = [[] for _ in sides]
    troubles: dict[str, str] = {}
    for turn in range(max(often)):
        for taken, (call, wanted, side) in zip(turns, sides, strict=True):
            if turn < wanted and side not in troubles:
                try:
                    taken.append(call())
                except WorkerError as error:
                    troubles[side] = f"{side}: {error}"
    others = turns[2] if other is not None else []
    return Turns(turns[0], turns[1], "; ".join(troubles.values()), others)
