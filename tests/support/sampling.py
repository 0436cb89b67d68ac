"""How many of its cases a test tries: a sample every day, the others in slices.

    pytest              every day: tests not marked `whole`, and samples of those with many cases
    pytest --slice=3    of what is left out every day, the third of SLICES parts
    pytest --whole      everything
    pytest --seed=N     the samples of another run: N stands in its first lines

The seed, which is that of the commit unless it is given, says which cases are in the samples. What
is left out is in one slice each: tests marked `whole`, and of tests marked `sampled` the parameters
that were not drawn. A test that draws its cases while it runs is in one slice with all of them.

A test that has too many cases takes them from `sampled`, one of random cases takes their numbers
from `numbers`; both are marked `sampled`. A test that cannot be made smaller is marked `whole`.
"""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from zlib import crc32

from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

NO_COMMIT: Final = 1
"""The seed where there is no git."""

SLICES: Final = 8
EVERY_DAY: Final = 0
WHOLE: Final = -1

_NUMBERS: Final = 100_000


class Drawn(list[T]):
    """Cases that were drawn: a test whose parameters they are needs a mark."""


class Run(NamedTuple):
    """Which cases are tried: `part` is EVERY_DAY, a slice from 1 to SLICES, or WHOLE."""

    seed: int = NO_COMMIT
    part: int = WHOLE
    is_marked: bool = True  # the test that runs may draw cases


_run: list[Run] = [Run()]


def seed_of_commit() -> int:
    """The first 24 bits of the commit that is checked out."""
    try:
        ran = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - wherever git is
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return NO_COMMIT
    return int(ran.stdout[:6], 16)


def start(seed: int, part: int) -> None:
    """Set which cases this run tries; called before tests are collected."""
    _run[0] = Run(seed, part)


@contextmanager
def during(*, is_marked: bool) -> Iterator[None]:
    """While a test runs: in a slice, it tries all cases that it draws now."""
    before = _run[0]
    part = before.part if before.part == EVERY_DAY else WHOLE
    _run[0] = before._replace(part=part, is_marked=is_marked)
    yield
    _run[0] = before


def run() -> Run:
    """Which cases this run tries."""
    return _run[0]


def seed() -> int:
    """The number that chooses this run's samples and random cases."""
    return _run[0].seed


def is_whole() -> bool:
    """Whether the tests of this run try all their cases."""
    return _run[0].part != EVERY_DAY


def slice_of(test: str) -> int:
    """The slice that a test is in if it is left out every day."""
    return 1 + crc32(test.encode()) % SLICES


def rng(name: str) -> Random:
    """Random numbers that are the same in every run with this seed."""
    return Random(f"{name} {seed()}")  # noqa: S311 - repeatable, not secret


def amount(total: int, count: int) -> int:
    """How many of *total* cases a test tries, if a sample has *count*."""
    _needs_mark()
    return total if is_whole() else min(total, count)


def sampled(cases: Sequence[T], count: int, name: str, *, again: bool = False) -> Drawn[T]:
    """In their order, the cases that this run tries; tests with another *name* draw others.

    With *again*, a slice has those of the sample once more: their tests draw cases in turn.
    """
    _needs_mark()
    every: Sequence[int] = range(len(cases))
    drawn = {*(every if count >= len(cases) else rng(name).sample(every, count))}
    if run().part == WHOLE or (again and is_whole()):
        return Drawn(cases)
    return Drawn(case for place, case in enumerate(cases) if (place in drawn) != is_whole())


def numbers(total: int, count: int) -> Drawn[int]:
    """The numbers of those of *total* random cases that this run tries; a sample has *count*."""
    _needs_mark()
    first, count = seed() * _NUMBERS, min(total, count)
    if run().part == EVERY_DAY:
        return Drawn(range(first, first + count))
    return Drawn(range(first if run().part == WHOLE else first + count, first + total))


def again() -> str:
    """The options that make another run try what this one tried."""
    part = run().part
    return f"--seed={seed()}" + {EVERY_DAY: "", WHOLE: " --whole"}.get(part, f" --slice={part}")


def _needs_mark() -> None:
    assert run().is_marked, "a test that draws its cases needs a mark: @pytest.mark.sampled"
