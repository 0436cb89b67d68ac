"""Numbers in groups of seven bits: one by one and all at once, they are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import table_writer
from tfprof.wire.decode import WireError
from tfprof.wire.scalar import decode_varint, encode_varint
from tfprof.wire.varint_columns import varint_run


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300)))
def test_numbers_read_one_by_one_and_all_at_once(numbers: list[int]) -> None:
    run = b"".join(map(table_writer.varint, numbers))
    assert b"".join(map(encode_varint, numbers)) == run
    assert varint_run(np.frombuffer(run, np.uint8)).tolist() == numbers
    at = 0
    for number in numbers:
        found, at = decode_varint(memoryview(run), at, len(run))
        assert found == number
    assert at == len(run)


@pytest.mark.parametrize("run", [b"\x80", b"\x01\x80", b"\x80" * 10 + b"\x01"])
def test_a_number_that_is_cut_off_or_too_long(run: bytes) -> None:
    with pytest.raises(WireError, match="varint"):
        varint_run(np.frombuffer(run, np.uint8))
    with pytest.raises(WireError, match="varint"):
        decode_varint(memoryview(run), len(run) - 1 if run[0] == 1 else 0, len(run))
