"""Damaged saved profiles: each is read or refused in a sentence; nothing else happens."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import ours
from case import VIEWS
from converted import source
from random_cases import make_case
from sampling import amount
from saved_profiles import reread, save
from tfprof.errors import InputError, TfprofError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import load
from tfprof.wire.decode import WireError
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from tfprof.model import Profile


def usable(profile: Profile) -> bool:
    """Whether every view draws it, every field of it can be shown, and it can be saved."""
    select = ["micros", "bytes", "params", "float_ops", "occurrence", "device", "op_types"]
    for view in VIEWS:
        try:
            report = answer(profile, view, Query.of({"select": [*select, "input_shapes"]}))
        except TfprofError:
            continue
        assert b"".join(text(report))
    assert save(reread(save(profile))) == save(profile)
    return True


def readable(data: bytes) -> bool:
    """Whether the file is read; otherwise it is refused in a sentence that names it."""
    try:
        return usable(reread(data))
    except WireError:
        with pytest.raises(InputError, match=r"^it is .*a saved profile \(ProfileProto\)"):
            load(saved=source(data))
        return False


def small_file() -> bytes:
    """A file of some 1,000 bytes with everything in it."""
    for seed in range(1_000):
        case = make_case(seed, "code")
        profile = ours.load(case)
        data = save(profile)
        if 500 < len(data) < 1_500 and profile.steps and profile.has_traces:
            return data
    pytest.fail("no such case")


def test_every_beginning_of_a_file_is_read_or_refused() -> None:
    data = small_file()
    count = sum(readable(data[:end]) for end in range(1, len(data)))
    assert 0 < count < len(data) / 10


@pytest.mark.sampled
def test_a_file_with_wrong_bytes_is_read_or_refused() -> None:
    rng = random.Random(5)  # noqa: S311  repeatable, not secret
    data = small_file()

    def damaged() -> bytes:
        wrong = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(wrong))
            wrong[at : at + rng.choice((0, 1, 1, 3))] = bytes(
                [rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))]
            )
        return bytes(wrong)

    tries = amount(300, 40)
    assert 0 < sum(readable(damaged()) for _ in range(tries)) < tries
