"""Damaged checkpoints: whatever is missing, cut off, flipped or nonsense is refused by name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoint_data import FILES, SHARDED, Opener, read, rewritten, tensors
from tfprof.errors import InputError
from tfprof.read.checkpoint import Checkpoint


def refusal(checkpoint: Checkpoint, name: bytes) -> str:
    """Why the tensor *name* cannot be read; "" where it can."""
    try:
        checkpoint.tensor(name)
    except InputError as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    ("prefix", "problem"),
    [
        ("nothing", "there is no checkpoint nothing: neither nothing.index nor nothing exists"),
        ("no-?????-of-00003", "no-00000-of-00003 does not exist; expected one of the 3 files"),
        ("no-?????-of-00000", "there is no checkpoint no-?????-of-00000"),
    ],
)
def test_no_checkpoint(prefix: str, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        read(prefix)


def test_an_unknown_tensor_brings_the_nearest_name() -> None:
    problem = "one has no tensor 'layer/bia'; did you mean 'layer/bias'"
    with pytest.raises(InputError, match=re.escape(problem)):
        read("one").tensor(b"layer/bia")


def test_a_missing_file_of_values() -> None:
    opener = Opener({name: data for name, data in FILES.items() if "00002-of-00003" not in name})
    checkpoint = Checkpoint.open("several", opener)
    checkpoint.tensor(b"tower_0/label")
    with pytest.raises(InputError, match=r"several\.data-00002-of-00003 does not exist; expected"):
        checkpoint.tensor(b"tower_2/label")


def test_a_missing_table_of_several() -> None:
    opener = Opener({name: data for name, data in FILES.items() if "00001-of-00002" not in name})
    with pytest.raises(InputError, match=r"first_sharded-00001-of-00002 does not exist; expected"):
        Checkpoint.open(SHARDED, opener)


def test_a_tensor_of_which_not_all_slices_are_there() -> None:
    one_of_two = read("first_sharded-00000-of-00002")
    assert one_of_two.tensor(b"whole").shape == (5,)
    with pytest.raises(InputError, match=r"'longer' of .* its pieces hold 4500 of 9000 values"):
        one_of_two.tensor(b"longer")


def test_values_past_the_end_of_their_file() -> None:
    file = "one.data-00000-of-00001"
    checkpoint = read("one", {file: FILES[file][:-1]})
    problem = r"is cut off: tensor 'wide' should fill bytes \d+ to 10258, but there are 10257"
    with pytest.raises(InputError, match=problem):
        checkpoint.tensor(b"wide")


@pytest.mark.parametrize(("dtype", "problem"), [(20, "resource"), (21, "variant"), (99, "unknown")])
def test_types_without_values(dtype: int, problem: str) -> None:
    def change(key: bytes, value: bytes) -> bytes:
        return value + bytes([8, dtype]) if key == b"wide" else value

    checkpoint = read("one", {"one.index": rewritten("one.index", change=change)})
    assert checkpoint.dtype(b"wide") == dtype
    with pytest.raises(InputError, match=rf"'wide' of one is of {problem}.*cannot be read"):
        checkpoint.tensor(b"wide")


@pytest.mark.parametrize(
    ("prefix", "file"), [("one", "one.index"), ("grid", "grid.index"), ("first_dtypes",) * 2]
)
def test_a_table_cut_off_anywhere(prefix: str, file: str) -> None:
    for size in range(len(FILES[file])):
        with pytest.raises(InputError, match=rf"^{re.escape(file)} is (cut off|damaged)"):
            read(prefix, {file: FILES[file][:size]})


@pytest.mark.parametrize(
    ("prefix", "file"), [("one", "one.index"), ("grid", "grid.index"), ("first_dtypes",) * 2]
)
def test_a_table_with_a_flipped_bit(prefix: str, file: str) -> None:
    expected = tensors(read(prefix))
    for at in range(len(FILES[file])):
        damaged = bytearray(FILES[file])
        damaged[at] ^= 1 << at % 8
        try:
            assert tensors(read(prefix, {file: bytes(damaged)})) == expected
        except InputError:
            continue


@pytest.mark.parametrize("prefix", ["several", "objects", "grid"])
def test_a_flipped_bit_in_values_spoils_one_tensor(prefix: str) -> None:
    file = next(name for name in FILES if name.startswith(f"{prefix}.data-"))
    for at in range(len(FILES[file])):
        damaged = bytearray(FILES[file])
        damaged[at] ^= 1 << at % 8
        checkpoint = read(prefix, {file: bytes(damaged)})
        refused = [*filter(None, (refusal(checkpoint, name) for name in checkpoint.names()))]
        assert len(refused) == 1
        assert refused[0].startswith(f"{file} is damaged: tensor ")


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from([("one", "one.index"), ("grid", "grid.index"), (SHARDED, SHARDED)]),
    st.integers(0, 30),
    st.integers(0, 60),
    st.lists(st.sampled_from([0, 1, 8, 10, 18, 34, 42, 127, 128, 255]), max_size=12).map(bytes),
)
def test_nonsense_with_right_checksums_is_refused(
    which: tuple[str, str], entry: int, at: int, patch: bytes
) -> None:
    prefix, file = which
    file = file.replace("?????", "00000")
    number = iter(range(1000))

    def change(_: bytes, value: bytes) -> bytes:
        return value[:at] + patch + value[at + len(patch) :] if next(number) == entry else value

    try:
        tensors(read(prefix, {file: rewritten(file, change=change)}))
    except InputError:
        return
