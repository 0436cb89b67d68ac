"""Damaged converted profiles: refused in a sentence, or what they were before."""

from __future__ import annotations

import random

import pytest

import draw
from converted import convert, known, reread, unharmed
from forged import HEAD, put_together, small, small_file, taken_apart, tiny, wide, with_index
from sampling import sampled
from tfprof.errors import InputError
from tfprof.read.detect import detect
from tfprof.tables.formats import FORMATS

_FORMAT_BYTE = 8


def test_every_beginning_of_a_file_is_refused() -> None:
    data = convert(tiny())
    assert unharmed(data, tiny())
    assert not any(unharmed(data[:end], tiny()) for end in range(len(data)))


@pytest.mark.sampled
def test_whatever_bit_is_wrong_it_is_refused_or_no_harm() -> None:
    data = bytearray(convert(tiny()))
    harmless = set()
    for at in range(len(data)):
        # All bits of the format's number: some make it that of an earlier one.
        for bit in sampled(range(8), 8 if at == _FORMAT_BYTE else 1, f"bit of byte {at}"):
            data[at] ^= 1 << bit
            if unharmed(bytes(data), tiny()):
                harmless.add(at)
            data[at] ^= 1 << bit
    # What means nothing stands between two columns.
    means = sum(len(column.stored) for column in taken_apart(bytes(data)).values())
    *_, index = HEAD.unpack(data[: HEAD.size])
    # With another bit, the number of the format is that of an earlier one, which is read as well.
    harmless.remove(_FORMAT_BYTE)
    assert len(harmless) == len(data) - HEAD.size - index - means


def test_bytes_that_are_changed_added_or_lost_are_found() -> None:
    rng = random.Random(7)  # noqa: S311  repeatable, not secret
    found = 0
    for _ in range(1_000):
        data = bytearray(small_file())
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            new = bytes(rng.choice((0, 255, rng.randrange(256))) for _ in range(rng.randrange(4)))
            data[at : at + rng.randrange(4)] = new
        found += not unharmed(bytes(data), small())
    assert found > 900


def test_what_is_behind_the_end_is_refused() -> None:
    for more in (b"\0", bytes(8), small_file()):
        with pytest.raises(InputError, match="it is damaged: it has data after its end"):
            reread(small_file() + more)


@pytest.mark.parametrize("change", [(b"\r\n", b"\n"), (b"\n", b"\r\n"), (b"\x1a", b"")])
def test_a_transfer_as_text_is_told_as_such(change: tuple[bytes, bytes]) -> None:
    data = small_file().replace(*change)
    with pytest.raises(InputError, match=r"it is damaged: its first bytes .* a text-mode transfer"):
        reread(data)
    assert detect(memoryview(data)) is FORMATS["converted"]


def test_a_format_of_the_future_is_told_as_such() -> None:
    stored = taken_apart(small_file())
    sentence = r"^it was written by a newer tfprof \(format 4; this one reads up to 3\)$"
    for data in (put_together(stored, version=4), put_together({}, 4), with_index(b"?", [], 4)):
        with pytest.raises(InputError, match=sentence):
            reread(data)
    with pytest.raises(InputError, match="it is damaged: it has no format"):
        reread(put_together(stored, version=0))


# --- an index that lies ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (b"nodes.op u1 0 3", "its index cannot be read"),
        (b"nodes.op u1 0 3 0 0\n", "its index cannot be read"),
        (b"nodes.op u1 x 3 0\n", "its index cannot be read"),
        (b"nodes.op u1 0 3 zz\n", "its index cannot be read"),
        (b"nodes.op u1 0 " + b"9" * 5000 + b" 0\n", "its index cannot be read"),
        (b"\xff u1 0 3 0\n", "its index cannot be read"),
        (b"\n", "its index cannot be read"),
        (b"nodes.op u3 0 3 0\n", "an invalid entry for the column nodes.op"),
        (b"nodes.op O8 0 3 0\n", "an invalid entry for the column nodes.op"),
        (b"nodes.op u1 0 -3 0\n", "an invalid entry for the column nodes.op"),
        (b"nodes.op u1 9223372036854775808 3 0\n", "an invalid entry for the column nodes.op"),
        (b"nodes.op u1 0 3 0\nnodes.op u1 0 3 0\n", "repeats a column"),
        (b"nodes.op u1 0 4 0\n", "it is cut off"),
        (b"nodes.op u1 0 9999999999999999999 0\n", "it is cut off"),
        (b"nodes.op u1 0 2 0\n", "data after its end"),
        (b"nodes.op u1 0 3 0\n", "there is no column nodes.name.text"),
        (b"nodes.name.text u1 0 3 0\n", "the checksum of the column nodes.name.text"),
        (b"nodes.name.text u1 1 3 352441c2\n", "the column nodes.name.text does not hold text"),
        (b"nodes.name.text +u1 0 3 352441c2\n", "the column nodes.name.text does not hold text"),
    ],
)
def test_an_index_that_cannot_be_is_refused(index: bytes, said: str) -> None:
    twice = index.count(b"\n") > 1
    with pytest.raises(InputError, match=f"^it is damaged: .*{said}"):
        reread(with_index(index, [b"abc"] * (2 if twice else 1)))


def test_columns_that_nobody_asks_for_are_no_harm() -> None:
    stored = taken_apart(small_file())
    assert unharmed(put_together({"more": wide([1, 2]), **stored}), small())


COLUMNS = taken_apart(convert(draw.profile("a us=1")))
SINCE_FORMAT_2 = [name for name in COLUMNS if name.endswith("notes.ours")]
SINCE_FORMAT_3 = [name for name in COLUMNS if name.startswith("regions.") or name == "times"]
# By these a reader tells that the others are there.
FIRST_OF_FORMAT_3 = ("regions.call", "times")


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_earlier_format_is_read(version: int) -> None:
    stored = taken_apart(small_file())
    assert len(SINCE_FORMAT_2) == 2
    assert len(SINCE_FORMAT_3) == 8
    for name in [*SINCE_FORMAT_3, *(SINCE_FORMAT_2 if version == 1 else [])]:
        del stored[name]
    again = reread(put_together(stored, version=version))
    assert [str(note) for note in again.notes] == [str(note) for note in small().notes]
    assert [*again.nodes.name] == [*small().nodes.name]


@pytest.mark.parametrize(
    "name", [name for name in COLUMNS if name not in (*SINCE_FORMAT_2, *FIRST_OF_FORMAT_3)]
)
def test_a_column_that_is_missing_is_refused(name: str) -> None:
    stored = taken_apart(small_file())
    del stored[name]
    if name == "run_shapes.outputs.start":
        # What is then there is a profile to which no run tells any shape.
        assert reread(put_together(stored)).with_run_shapes.notes == small().notes
        return
    with pytest.raises(InputError, match=f"it is damaged: there is no column {name}"):
        known(reread(put_together(stored)))
