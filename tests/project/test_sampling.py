"""A run tries a sample that its seed chooses, or everything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import sampling
from paths import ROOT, TESTS
from sampling import (
    EVERY_DAY,
    NO_COMMIT,
    SLICES,
    WHOLE,
    Drawn,
    amount,
    during,
    numbers,
    sampled,
    seed_of_commit,
    slice_of,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = range(1_000)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with during(is_marked=True):
        yield


def test_the_same_seed_draws_the_same_cases_and_another_seed_others() -> None:
    drawn = []
    for seed in (7, 8, 7):
        start(seed, EVERY_DAY)
        drawn.append((sampled(CASES, 20, "a"), numbers(100, 20)))
    assert drawn[0] == drawn[2]
    assert drawn[0][0] != drawn[1][0]
    assert not set(drawn[0][1]) & set(drawn[1][1])


def test_a_sample_is_in_order_and_without_repetition() -> None:
    start(1, EVERY_DAY)
    drawn = sampled(CASES, 20, "a")
    assert len(drawn) == len(set(drawn)) == amount(len(CASES), 20) == 20
    assert drawn == sorted(drawn)
    assert drawn != sampled(CASES, 20, "b")


def test_over_many_seeds_every_case_is_drawn() -> None:
    drawn: set[int] = set()
    for seed in range(400):
        start(seed, EVERY_DAY)
        drawn.update(sampled(CASES, 20, "a"))
    assert drawn == set(CASES)


def test_slices_have_what_is_left_out_every_day() -> None:
    start(5, EVERY_DAY)
    of_day, numbers_of_day = sampled(CASES, 20, "a"), numbers(100, 20)
    for part in (1, SLICES):
        start(5, part)
        assert not {*of_day} & {*sampled(CASES, 20, "a")}
        assert not {*numbers_of_day} & {*numbers(100, 20)}
        assert sorted([*of_day, *sampled(CASES, 20, "a")]) == [*CASES]
        assert [*numbers_of_day, *numbers(100, 20)] == [*range(500_000, 500_100)]
        assert sampled(CASES, 20, "a", again=True) == [*CASES]
        assert sampled("xyz", 20, "a") == []


def test_a_test_of_a_slice_draws_all_cases() -> None:
    start(5, 2)
    with during(is_marked=True):
        assert sampled(CASES, 20, "a") == [*CASES]
        assert len(numbers(100, 20)) == amount(100, 20) == 100
    start(5, EVERY_DAY)
    with during(is_marked=True):
        assert len(sampled(CASES, 20, "a")) == 20


def test_who_draws_cases_has_a_mark() -> None:
    for draw in (lambda: sampled("xyz", 1, "a"), lambda: numbers(3, 1), lambda: amount(3, 1)):
        with during(is_marked=False), pytest.raises(AssertionError, match=r"mark\.sampled"):
            draw()


def test_parameters_that_were_drawn_are_known() -> None:
    """conftest.py refuses a test without a mark whose parameters they are."""
    assert isinstance(sampled("xyz", 1, "a"), Drawn)
    assert isinstance(numbers(3, 1), Drawn)


def test_every_test_is_in_one_slice_and_slices_are_alike() -> None:
    slices = [slice_of(f"test_it[{number}]") for number in range(8_000)]
    assert {*slices} == {*range(1, SLICES + 1)}
    assert all(800 < slices.count(part) < 1_200 for part in {*slices})


def test_a_whole_run_tries_everything() -> None:
    start(1, WHOLE)
    assert sampled(CASES, 20, "a") == [*CASES]
    assert len(numbers(100, 20)) == amount(100, 20) == 100


def test_a_few_cases_are_all_tried() -> None:
    start(1, EVERY_DAY)
    assert sampled("xyz", 20, "a") == ["x", "y", "z"]
    assert len(numbers(5, 20)) == 5


def test_make_knows_all_slices() -> None:
    (line,) = re.findall(r"(?m)^SLICES := (.*)$", (ROOT / "Makefile").read_text())
    assert line.split() == [str(part) for part in range(1, SLICES + 1)]


def test_without_git_the_seed_is_constant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sampling, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert seed_of_commit() == NO_COMMIT
    monkeypatch.setenv("PATH", "")
    assert seed_of_commit() == NO_COMMIT


FAILING = """
import pytest
from sampling import amount, sampled

@pytest.mark.sampled
@pytest.mark.parametrize("case", sampled(range(40), 3, "it"))
def test_it(case):
    assert False

@pytest.mark.sampled
def test_several():
    assert amount(40, 3) == 3

@pytest.mark.whole
def test_long():
    assert False

def test_every_day():
    pass
"""


# One process that asks again and again: importing what conftest.py needs takes seconds.
MANY_RUNS = """
import sys, pytest
for options in sys.stdin.read().splitlines():
    print("RUN")
    sys.modules.pop("test_it", None)
    pytest.main([*options.split(), *sys.argv[1:]])
"""


def test_slices_try_what_is_left_out_and_say_how_to_try_it_again(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILING)
    slices = [f"--seed=5 --slice={part}" for part in range(1, SLICES + 1)]
    asked = ["--seed=5", "--seed=5", *slices, "--seed=5 --whole", "--seed=5 --slice=commit"]
    (tmp_path / "test_unmarked.py").write_text(FAILING.replace("@pytest.mark.sampled\n", ""))
    asked.append("--seed=5 test_unmarked.py")
    wrong = ["--slice=0", "--slice=9", "--slice=x"]
    same = ["test_it.py", "-p", "no:cacheprovider", "--tb=no", "--rootdir", str(tmp_path)]
    same += ["-c", str(ROOT / "pyproject.toml"), "--confcutdir", str(TESTS), "-p", "conftest"]
    ran = subprocess.run(
        [sys.executable, "-c", MANY_RUNS, *same],
        input="\n".join([*asked, *wrong]), env={**os.environ, "PYTHONPATH": str(TESTS)},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    outs = ran.stdout.split("RUN\n")[1:]
    assert outs[len(asked) :] == [""] * len(wrong)
    assert ran.stderr.count(f"--slice takes 1 to {SLICES}, or commit") == len(wrong)
    failed = [{*re.findall(r"(?m)^FAILED \S*::(\S+)", out)} for out in outs]
    of_day, again, *of_slices, _, _, _ = failed[: len(asked)]
    assert "cases: those of every day, samples of seed 5" in outs[0]
    assert "The same cases again: pytest --seed=5 …" in outs[0]
    assert "3 failed, 2 passed, 1 deselected" in outs[0]
    assert again == of_day
    seen = {*of_day}
    for part, (out, here) in enumerate(zip(outs[2:], of_slices, strict=False), 1):
        assert f"cases: slice {part} of {SLICES} of what is left out every day" in out
        assert f"again: make test-slice SLICE={part} ARGS=--seed=5" in out
        assert not here & seen
        seen |= here
    everything = {*(f"test_it[{case}]" for case in range(40)), "test_several", "test_long"}
    assert seen == everything == failed[asked.index("--seed=5 --whole")]
    assert "cases: slice 6 of" in outs[asked.index("--seed=5 --slice=commit")]
    assert re.search(r"test_it\[\d+\] draws its cases: mark it sampled", ran.stderr)
