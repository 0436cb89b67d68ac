"""Many steps: a graph of ten thousand nodes with ten and with a hundred runs of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare import compared
from inputs import inputs
from plan import plan
from rows import Row, Size
from warm import loaded, workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = 10_000
STEPS = (10, 100)
_LOADED = "load, many steps"


def many_steps(out: Path, repeat: int) -> Iterator[Row]:
    """A load of each number of steps; the answer compared is the average of all of them."""
    for steps in STEPS:
        given = inputs(out, Size(NODES, steps), max(STEPS))
        often = plan(NODES, repeat).slow
        outs = given.outs("steps")
        with workers() as pair:
            turns = loaded(pair, given.files(), outs, often)
        answer = compared(*outs, "scope", often)
        yield Row("steps", _LOADED, given.size, turns.each(lambda turn: turn[0]), answer)
        first = turns.each(lambda turn: turn[1])
        name = "scope: first answer, many steps"
        yield Row("steps", name, given.size, first, answer, memory=False)
