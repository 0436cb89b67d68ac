"""Sorted tables: what is written is found again; what is damaged is refused, at every bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table_writer import snappy, table
from tfprof.errors import InputError
from tfprof.read.checkpoint.sorted_table import SortedTable

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = {b"": b"header", **{f"layer_{n}/w".encode(): b"v" * n for n in range(20)}}

each_packing = pytest.mark.parametrize("pack", [None, snappy], ids=["plain", "snappy"])


def read(data: bytes) -> SortedTable:
    return SortedTable("some.index", np.frombuffer(data, np.uint8))


def contents(data: bytes) -> dict[bytes, bytes]:
    return {key: value.tobytes() for key, value in read(data)}


@each_packing
@given(entries=st.dictionaries(st.binary(max_size=6), st.binary(max_size=200), max_size=30))
def test_entries_are_found_again(
    pack: Callable[[bytes], bytes] | None, entries: dict[bytes, bytes]
) -> None:
    data = table(entries.items(), pack)
    found = read(data)
    assert [key for key, _ in found] == sorted(entries)
    assert contents(data) == entries
    for key in {*entries, b"", b"a", b"zzzzzzzz", *(key + b"\0" for key in entries)}:
        value = found.get(key)
        assert (value if value is None else value.tobytes()) == entries.get(key)


def test_only_the_blocks_asked_for_are_read() -> None:
    data = bytearray(table(ENTRIES.items()))
    damaged = data.index(b"v" * 19)
    data[damaged] ^= 1
    found = read(bytes(data))
    assert found.get(b"layer_1/w") is not None
    with pytest.raises(InputError, match=r"some\.index is damaged: the block at byte \d+ does not"):
        found.get(b"layer_19/w")


@each_packing
def test_a_table_cut_off_anywhere_is_refused(pack: Callable[[bytes], bytes] | None) -> None:
    data = table(ENTRIES.items(), pack)
    for size in range(len(data)):
        with pytest.raises(InputError, match=r"some\.index is (cut off|damaged)"):
            contents(data[:size])


@each_packing
def test_a_flipped_bit_is_refused_or_changes_nothing(pack: Callable[[bytes], bytes] | None) -> None:
    data = table(ENTRIES.items(), pack)
    refused = 0
    bits = range(0, 8 * len(data), 5)
    for bit in bits:
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert contents(bytes(damaged)) == ENTRIES
        except InputError:
            refused += 1
    # All but the padding of the footer and the block that nobody reads count.
    assert refused > len(bits) - 8 * 60 // 5


def test_an_unknown_compression_is_named() -> None:
    with pytest.raises(InputError, match=r"is compressed in an unknown way \(kind 7\)"):
        contents(table(ENTRIES.items(), kind=7))


def test_another_file_is_no_table() -> None:
    with pytest.raises(InputError, match=r"not a checkpoint: at byte 52 of 100 there is no footer"):
        contents(bytes(100))


@given(
    st.integers(0, 200),
    st.lists(st.sampled_from([0, 1, 3, 127, 128, 255]), max_size=6).map(bytes),
    st.booleans(),
)
def test_nonsense_with_a_right_checksum_is_refused(at: int, patch: bytes, packed: bool) -> None:  # noqa: FBT001
    def spoil(content: bytes) -> bytes:
        content = snappy(content) if packed else content
        return content[:at] + patch + content[at + len(patch) :]

    try:
        contents(table(ENTRIES.items(), spoil, kind=int(packed)))
    except InputError:
        return
