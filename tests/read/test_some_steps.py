"""steps="2-" and the like: a profile with some of its steps is the profile of these steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import draw
import tfprof
from profiles import PROFILES
from tfprof.compare.steps import with_steps
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from tfprof.model import Profile

DRAWING = """
net/a us=1+2+4+8 bytes=100+10+30+50
net/b us=-+10+-+20
first us=7+-+-+-
never
"""
NUMBERS = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def profile() -> Profile:
    return draw.profile(DRAWING)


def numbers(profile: Profile) -> list[int]:
    return [step.number for step in profile.steps]


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ("", NUMBERS), ("  ", NUMBERS), ("2-", [2, 3]), ("-1", [0, 1]), ("3", [3]), ("0", [0]),
        ("0,2-", [0, 2, 3]), (" 1 - 2 ", [1, 2]), ("3,1,3", [1, 3]), ("1-99", [1, 2, 3]),
        ("2,77", [2]), (2, [2]), ([3, 0], [0, 3]), (range(1, 3), [1, 2]), ("0-", NUMBERS),
        ("-999999999999999999", NUMBERS),
    ],
)  # fmt: skip
def test_which_steps_stay(profile: Profile, steps: Any, kept: list[int]) -> None:
    assert numbers(with_steps(profile, steps)) == kept
    assert numbers(profile) == NUMBERS


def test_all_steps_are_the_same_profile(profile: Profile) -> None:
    assert with_steps(profile, "") is profile
    assert with_steps(profile, "-3") is profile


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ("4-", "no step of base is in '4-': 0 to 3 are recorded"),
        (7, "no step of base is in 7: 0 to 3 are recorded"),
        ("3-1", "steps 3-1: the first comes after the last"),
        ("-", "steps takes numbers such as 2-, -10 or 3,5-7, not '-'"),
        ("2-,", "steps takes numbers such as 2-, -10 or 3,5-7, not '2-,'"),
        ("warm", "steps takes numbers such as 2-, -10 or 3,5-7, not 'warm'"),
        ("٣", "steps takes numbers such as 2-, -10 or 3,5-7, not '٣'"),
        ("1" * 5000, "steps takes numbers such as 2-, -10 or 3,5-7, not '1111"),
        ([0.5], "steps takes a list of whole numbers, not one with 0.5 in it"),
        (None, "steps takes a list of whole numbers, not None"),
        (True, "steps takes a whole number"),
    ],
)
def test_what_is_wrong_is_said(profile: Profile, steps: Any, sentence: str) -> None:
    with pytest.raises(tfprof.UsageError) as error:
        with_steps(profile, steps, "base")
    assert str(error.value).startswith(sentence)
    assert len(str(error.value)) < 200


def test_without_runs_no_step_is_recorded() -> None:
    with pytest.raises(tfprof.UsageError, match="no step is in '2-': none is recorded"):
        with_steps(draw.profile("a"), "2-")


@pytest.mark.parametrize("name", ["handmade", "resnet"])
@pytest.mark.parametrize("view", ["scope", "op"])
def test_one_step_alone_has_the_numbers_that_a_view_of_the_step_has(name: str, view: str) -> None:
    files = PROFILES[name]
    loaded = tfprof.load(files.graph, list(files.runs), files.op_log)
    alone = replace(loaded, profile=with_steps(loaded.profile, str(loaded.steps[1])))
    asked = {"select": ["micros", "bytes", "accelerator_micros"], "max_depth": 99}
    of_step = getattr(loaded, view)(step=loaded.steps[1], **asked)
    assert str(getattr(alone, view)(**asked)) == str(of_step)


def test_numbers_are_means_over_the_steps_that_are_left(profile: Profile) -> None:
    left = with_steps(profile, "1-2")
    # a: (2 + 4) / 2; b has a record in step 1 only; the first step is gone.
    assert left.values("micros", None).tolist() == [3, 10, 0, 0]
    assert left.values("bytes", None).tolist() == [20, 0, 0, 0]
    assert left.covered.tolist() == [True, True, False, False]
