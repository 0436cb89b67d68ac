"""Every checkpoint cut off and with bits flipped: tensor by tensor the same, or refused by name.

A table is damaged at every byte, a small one in each bit; so are small files of values. All have
checksums: what is cut off is refused, and no tensor ever has other values. How many damaged files
are tried stands in the tables below, 104,000 in all: they are not to become less.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import pytest

import checkpoint_data as checkpoints
from checkpoint_data import FILES, SHARDED, Opener, comparable
from profiles import SAMPLE
from sampling import amount, sampled
from sweeps import Damage, cut, everywhere, flipped, is_sentence, or_refusal, some, spread
from tfprof.read.checkpoint import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

Contents = dict[bytes, object]


def contents(checkpoint: Checkpoint) -> Contents:
    """Each tensor, or why it cannot be read."""
    return {
        name: or_refusal(lambda name=name: comparable(checkpoint.tensor(name)))  # type: ignore[misc]
        for name in checkpoint.names()
    }


def read(file: str, damaged: bytes) -> Checkpoint:
    """The checkpoint that *file* belongs to, with this one in its place."""
    prefix = SHARDED if file.startswith("first_sharded") else file.partition(".")[0]
    return checkpoints.read(prefix, {file: damaged})


def refusals(file: str, damage: Damage, before: Contents) -> int:
    """How many tensors are refused; what is not refused is as it was."""
    after = or_refusal(lambda: contents(read(file, damage.data)))
    if isinstance(after, str):
        assert is_sentence(after, file), damage.what
        return len(before)
    assert after.keys() == before.keys(), damage.what
    others = [after[name] for name in before if after[name] != before[name]]
    for one in others:
        assert isinstance(one, str), damage.what
        assert is_sentence(one, file), damage.what
    return len(others)


# A sample tries so many of what is damaged everywhere.
SOME: Final = 160
# How many damaged ones of each are tried: nine a byte of what is small.
EVERYWHERE: Final = {
    "dtypes.index": 7_884,
    "grid.index": 4_257,
    "objects.index": 2_259,
    "odd.index": 24_597,
    "one.index": 4_014,
    "partitioned.index": 6_219,
    "several.index": 2_565,
    "first_dtypes": 12_690,
    "grid.data-00000-of-00001": 1_008,
    "objects.data-00000-of-00001": 1_692,
    "several.data-00000-of-00003": 972,
    "several.data-00001-of-00003": 972,
    "several.data-00002-of-00003": 972,
}
EVERY_BYTE: Final = {"first": 22_280, "first_sharded-00000-of-00002": 9_930}
HERE_AND_THERE: Final = {
    "first_sharded-00001-of-00002": 200,
    **{f"{name}.data-00000-of-00001": 200 for name in ("dtypes", "odd", "one")},
    **{f"partitioned.data-0000{part}-of-00002": 200 for part in (0, 1)},
}


def test_every_file_is_damaged() -> None:
    assert {*EVERYWHERE, *EVERY_BYTE, *HERE_AND_THERE} == {*FILES}


@pytest.mark.sampled
@pytest.mark.parametrize("file", EVERYWHERE)
def test_a_small_file_damaged_anywhere(file: str) -> None:
    numbers = everywhere(FILES[file])
    assert len(numbers) == EVERYWHERE[file]
    damages = some(FILES[file], numbers, SOME, file)
    assert swept(file, damages) == amount(len(numbers), SOME)


@pytest.mark.sampled
@pytest.mark.parametrize("file", EVERY_BYTE)
def test_a_table_damaged_at_every_byte(file: str) -> None:
    data = FILES[file]
    assert 2 * len(data) == EVERY_BYTE[file]
    places = [*sampled(range(len(data)), SOME // 2, file)]
    cuts = (cut(data, at) for at in places)
    flips = (flipped(data, at, at * 5 % 8) for at in places)
    assert swept(file, chain(cuts, flips)) == amount(EVERY_BYTE[file], SOME)


@pytest.mark.sampled
@pytest.mark.parametrize("file", HERE_AND_THERE)
def test_a_larger_file_damaged_here_and_there(file: str) -> None:
    places = amount(HERE_AND_THERE[file] // 2, SOME // 8)
    assert swept(file, spread(FILES[file], range(64), places)) == 2 * places


def swept(file: str, damages: Iterable[Damage]) -> int:
    """How many were tried; what is cut off was refused, and few flipped bits were no harm."""
    before = contents(read(file, FILES[file]))
    tried = harmless = 0
    for damage in damages:
        tried += 1
        if not refusals(file, damage, before):
            harmless += 1
            assert len(damage.data) == len(FILES[file]) or file == _HALF_READ, damage.what
    if ".data-" not in file:
        assert harmless <= 8 * _MEANINGLESS
    elif file != _HALF_READ:
        assert not harmless
    return tried


# The block of filters, of which there are none, its place, and what fills the end of a table up.
_MEANINGLESS: Final = 13 + 3 + 35
# One of its tensors is refused for what the table says of it, and so its values are never read.
_HALF_READ: Final = "odd.data-00000-of-00001"


# --- the bundled sample --------------------------------------------------------------------------

_SAMPLE: Final = {path.name: path.read_bytes() for path in SAMPLE.glob("model.ckpt.*")}


def described(checkpoint: Checkpoint) -> list[tuple[bytes, int, tuple[int, ...]]]:
    """All that the table tells but for the places of values."""
    names = checkpoint.names()
    return [(name, checkpoint.dtype(name), checkpoint.shape(name)) for name in names]


@pytest.mark.sampled
def test_the_table_of_the_sample() -> None:
    file = "model.ckpt.index"
    data, tried = _SAMPLE[file], 0
    before = described(Checkpoint.open("model.ckpt", Opener(_SAMPLE)))
    for damage in spread(data, range(len(data) - 48, len(data)), amount(400, SOME // 4)):
        tried += 1
        opener = Opener({file: damage.data})
        after = or_refusal(lambda: described(Checkpoint.open("model.ckpt", opener)))  # noqa: B023
        if isinstance(after, str):
            assert is_sentence(after, file), damage.what
        else:
            assert after == before, damage.what
            assert len(damage.data) == len(data), damage.what
    assert tried == amount(800, SOME // 2)


@pytest.mark.sampled
def test_the_values_of_the_sample() -> None:
    file = "model.ckpt.data-00000-of-00001"
    data, tried = _SAMPLE[file], 0
    before = contents(Checkpoint.open("model.ckpt", Opener(_SAMPLE)))
    for damage in spread(data, range(64), amount(20, 5)):
        tried += 1
        files = _SAMPLE | {file: damage.data}
        after = contents(Checkpoint.open("model.ckpt", Opener(files)))
        refused = [after[name] for name in before if after[name] != before[name]]
        assert refused, damage.what
        assert len(refused) == 1 or len(damage.data) < len(data), damage.what
        assert all(is_sentence(str(one), f"{file} is ") for one in refused), damage.what
    assert tried == amount(40, 10)
