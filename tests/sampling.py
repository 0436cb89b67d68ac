"""How much of a long test one run tries: a sample in `make test`, everything in `make test-all`.

    pytest             a sample; the commit chooses it, so the same commit always tries the same
    pytest --seed=N    the sample of another run: N stands in its first lines
    pytest --whole     everything: every sweep, all random cases, tests marked `whole`

A test that has too many cases takes them from `sampled`. A test of random cases takes their
numbers from `numbers`. A test that cannot be made smaller is marked `whole`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

ROOT: Final = Path(__file__).parents[1]
NO_COMMIT: Final = 1
"""The seed where there is no git."""

_NUMBERS: Final = 100_000
_run: dict[str, int] = {"whole": False, "seed": NO_COMMIT}


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


def start(*, whole: bool, seed: int) -> None:
    """Set how much this run tries; called before tests are collected."""
    _run.update(whole=whole, seed=seed)


def is_whole() -> bool:
    """Whether this run tries everything."""
    return bool(_run["whole"])


def seed() -> int:
    """The number that chooses this run's samples and random cases."""
    return _run["seed"]


def rng(name: str) -> Random:
    """Random numbers that are the same in every run with this seed."""
    return Random(f"{name} {seed()}")  # noqa: S311 - repeatable, not secret


def amount(total: int, count: int) -> int:
    """How many of *total* cases this run tries, if a sample has *count*."""
    return total if is_whole() else min(total, count)


def sampled(cases: Sequence[T], count: int, name: str) -> list[T]:
    """In their order, all cases or *count* of them; tests with another *name* draw others."""
    places: Sequence[int] = range(len(cases))
    if amount(len(cases), count) < len(cases):
        places = sorted(rng(name).sample(places, count))
    return [cases[place] for place in places]


def numbers(total: int, count: int) -> range:
    """The numbers of *total* random cases, or of the first *count* of them."""
    first = seed() * _NUMBERS
    return range(first, first + amount(total, count))


def again() -> str:
    """The option that makes another run try what this one tried."""
    return f"--seed={seed()}{' --whole' if is_whole() else ''}"
