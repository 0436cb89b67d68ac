"""A run tries a sample that its seed chooses, or everything."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import sampling
from sampling import NO_COMMIT, ROOT, amount, numbers, sampled, seed_of_commit, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = range(1_000)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    whole, seed = sampling.is_whole(), sampling.seed()
    yield
    start(whole=whole, seed=seed)


def test_the_same_seed_draws_the_same_cases_and_another_seed_others() -> None:
    drawn = []
    for seed in (7, 8, 7):
        start(whole=False, seed=seed)
        drawn.append((sampled(CASES, 20, "a"), numbers(100, 20)))
    assert drawn[0] == drawn[2]
    assert drawn[0][0] != drawn[1][0]
    assert not set(drawn[0][1]) & set(drawn[1][1])


def test_a_sample_is_in_order_and_without_repetition() -> None:
    start(whole=False, seed=1)
    drawn = sampled(CASES, 20, "a")
    assert len(drawn) == len(set(drawn)) == amount(len(CASES), 20) == 20
    assert drawn == sorted(drawn)
    assert drawn != sampled(CASES, 20, "b")


def test_over_many_seeds_every_case_is_drawn() -> None:
    drawn: set[int] = set()
    for seed in range(400):
        start(whole=False, seed=seed)
        drawn.update(sampled(CASES, 20, "a"))
    assert drawn == set(CASES)


def test_a_whole_run_tries_everything() -> None:
    start(whole=True, seed=1)
    assert sampled(CASES, 20, "a") == [*CASES]
    assert len(numbers(100, 20)) == amount(100, 20) == 100


def test_a_few_cases_are_all_tried() -> None:
    start(whole=False, seed=1)
    assert sampled("xyz", 20, "a") == ["x", "y", "z"]
    assert len(numbers(5, 20)) == 5


def test_without_git_the_seed_is_constant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sampling, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert seed_of_commit() == NO_COMMIT
    monkeypatch.setenv("PATH", "")
    assert seed_of_commit() == NO_COMMIT


FAILING = """
import pytest
from sampling import sampled

@pytest.mark.parametrize("case", sampled(range(40), 3, "it"))
def test_it(case):
    assert not case

@pytest.mark.whole
def test_long():
    pass
"""


@pytest.mark.whole
def test_a_failure_says_how_to_try_the_same_again(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(FAILING)

    def ran(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(file)]
        command += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
        command += ["-p", "conftest"]
        return subprocess.run(
            command, cwd=ROOT / "tests", capture_output=True, text=True, check=False
        ).stdout

    first = ran("--seed=5")
    assert "cases: a sample of seed 5; --whole tries all" in first
    assert "The same cases again: pytest --seed=5 …" in first
    assert "3 failed, 1 deselected" in first
    failed = [line for line in first.splitlines() if line.startswith("FAILED")]
    assert [line for line in ran("--seed=5").splitlines() if line.startswith("FAILED")] == failed
    assert "39 failed, 2 passed" in ran("--seed=5", "--whole", "--tb=no", "-q")
