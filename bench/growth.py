"""Does anything take more than its share when the input grows? Ours alone.

    python bench/growth.py [--sizes 10k,100k] [--shapes chain,stacks] [--all]

Every shape of `growth_shapes` is loaded at each size in a fresh process and asked every kind of
question in every form. A row tells the CPU time and the peak memory of one of them at the largest
size, and its growth: time over time, divided by how much more there was to read and to write.
Linear is 1.0. The exit code is 1 if something grew by more than half again as much.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from growth_child import Measure
from growth_shapes import SHAPES, Shape
from worker import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent

_LETTERS = {"k": 1_000, "m": 1_000_000}
_MOST_GROWTH = 1.5
# Less than this is noise, and shared by whatever is measured.
_LEAST_SECONDS, _LEAST_BYTES = 0.05, 24 << 20
_TRIES = 3


class Run(NamedTuple):
    """A shape at one size."""

    size: int
    read: int
    measures: dict[str, Measure]


def run(shape: Shape, size: int) -> Run:
    """Measure a shape in a fresh process."""
    command = [sys.executable, str(HERE / "growth_child.py"), shape.name, str(size)]
    ran = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True, text=True)
    (_, count, read, _), *rows = map(json.loads, ran.stdout.splitlines())
    return Run(count, read, {name: Measure(*row) for name, *row in rows})


class Growth(NamedTuple):
    """How a task grew from one size to the next."""

    shape: str
    task: str
    size: int
    measure: Measure
    time: float
    memory: float

    @property
    def failed(self) -> bool:
        """Whether it took more than its share."""
        return max(self.time, self.memory) > _MOST_GROWTH


def growths(shape: str, small: Run, large: Run) -> Iterator[Growth]:
    """Each task at two sizes; what has more to write may take longer by as much."""
    for task, after in large.measures.items():
        before = small.measures.get(task)
        if before is None:
            continue
        more = max(large.size / small.size, large.read / small.read)
        if before.written:
            more = max(more, after.written / before.written)
        seconds = after.seconds / max(before.seconds, _LEAST_SECONDS) / more
        memory = after.memory / max(before.memory, _LEAST_BYTES) / more
        yield Growth(shape, task, large.size, after, seconds, memory)


def _least(one: Run, other: Run) -> Run:
    """The lesser measure of each task: what others do on this machine only adds."""
    return one._replace(
        measures={
            task: Measure(
                min(measure.seconds, other.measures[task].seconds),
                min(measure.memory, other.measures[task].memory),
                measure.written,
            )
            for task, measure in one.measures.items()
        }
    )


def measured(shape: Shape, sizes: list[int]) -> list[Growth]:
    """All growths of a shape; what seems to have failed is measured again."""
    runs = [run(shape, size) for size in sizes]
    for _ in range(_TRIES):
        found = [
            row for small, large in pairwise(runs) for row in growths(shape.name, small, large)
        ]
        if not any(row.failed for row in found):
            break
        runs = [_least(one, run(shape, size)) for one, size in zip(runs, sizes, strict=True)]
    return found


def _size(word: str) -> int:
    scale = _LETTERS.get(word[-1:].lower(), 1)
    return int(word.rstrip("kKmM")) * scale


def _line(row: Growth) -> str:
    seconds, memory, written = row.measure
    return (
        f"| {row.shape} | {row.task} | {row.size:,} | {seconds:.2f} s | {row.time:.2f} | "
        f"{memory / 1e6:,.0f} MB | {row.memory:.2f} | {written / 1e6:,.1f} MB |"
        f"{' TOO MUCH' if row.failed else ''}"
    )


def main() -> int:
    """Measure, print, and say whether anything grew too much."""
    parser = argparse.ArgumentParser(description="How time and memory grow with the input.")
    parser.add_argument("--sizes", default="10k,100k")
    parser.add_argument("--shapes", default="", help="parts of the names of shapes")
    parser.add_argument("--all", action="store_true", help="print every row, not the worst alone")
    asked = parser.parse_args()
    sizes = sorted(map(_size, asked.sizes.split(",")))
    failed = 0
    print("| shape | task | of | CPU | growth | memory | growth | written |")
    print("|---|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        if not any(part in shape.name for part in asked.shapes.split(",")):
            continue
        found = measured(shape, sizes)
        failed += sum(row.failed for row in found)
        worst = {max(found, key=lambda row: row.time), max(found, key=lambda row: row.memory)}
        longest = max(found, key=lambda row: row.measure.seconds)
        for row in found:
            if asked.all or row.failed or row in worst or row is longest:
                print(_line(row), flush=True)
    print(f"\n{failed} of these grew too much." if failed else "\nAll growth is linear.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
