"""Snappy blocks: hand-built streams, random elements, and everything that is no stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table_writer import copy, literal, snappy, varint
from tfprof.read.checkpoint.sorted_table import unpacked
from tfprof.wire.decode import WireError


def of(packed: bytes) -> bytes:
    return unpacked(np.frombuffer(packed, np.uint8)).tobytes()


@pytest.mark.parametrize(
    ("packed", "expected"),
    [
        (b"\x00", b""),
        (b"\x03\x08abc", b"abc"),
        (b"\x08\x04ab\x09\x02", b"ab" + b"ababab"),
        (b"\x06\x00a\x05\x01", b"aaaaa" + b"a"),
        (b"\x05\x08abc\x06\x03\x00", b"abc" + b"ab"),
        (b"\x04\x08abc\x03\x02\x00\x00\x00", b"abc" + b"b"),
        (b"\x3d\xf0\x3c" + bytes(61), bytes(61)),
        (b"\x2c" + b"\x9c" + bytes(40) + b"\x01\x28", bytes(44)),
    ],
)
def test_streams_written_by_hand(packed: bytes, expected: bytes) -> None:
    assert of(packed) == expected


@pytest.mark.parametrize(
    ("packed", "problem"),
    [
        (b"", "truncated varint at byte 0"),
        (b"\x80", "truncated varint at byte 0"),
        (b"\x03\x08ab", "truncated element, or more than the stated 3 bytes at byte 1"),
        (b"\x03\xf4\x02", "truncated element, or more than the stated 3 bytes at byte 1"),
        (b"\x09\x00a\x06\x01", "truncated element, or more than the stated 9 bytes at byte 3"),
        (b"\x05\x00a\x05", "copy from before the beginning at byte 3"),
        (b"\x05\x00a\x05\x02", "copy from before the beginning at byte 3"),
        (b"\x02\x08abc", "truncated element, or more than the stated 2 bytes at byte 1"),
        (b"\x04\x08abc", "3 bytes instead of the stated 4 at byte 5"),
    ],
)
def test_what_is_no_stream_says_why(packed: bytes, problem: str) -> None:
    with pytest.raises(WireError, match=problem):
        of(packed)


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A stream of any elements, and what it stands for."""
    elements, expected = [], bytearray()
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.integers(0, 3)) if expected else 0
        if kind == 0:
            data = draw(st.binary(min_size=1, max_size=80)) * draw(st.sampled_from([1, 1, 9, 900]))
            elements.append(literal(data))
            expected += data
            continue
        length = draw(st.integers(4, 11) if kind == 1 else st.integers(1, 64))
        most = min(len(expected), {1: 2047, 2: 65535, 3: 1 << 20}[kind])
        distance = draw(st.integers(1, most))
        elements.append(copy(length, distance, kind))
        for _ in range(length):
            expected.append(expected[-distance])
    return b"".join([varint(len(expected)), *elements]), bytes(expected)


@given(streams())
def test_any_elements_unpack_to_what_they_say(stream: tuple[bytes, bytes]) -> None:
    packed, expected = stream
    assert of(packed) == expected


@given(st.text("ab\n", max_size=300))
def test_what_is_packed_unpacks_again(text: str) -> None:
    assert of(snappy(text.encode())) == text.encode()


@given(st.binary(max_size=60))
def test_any_bytes_unpack_or_are_refused(packed: bytes) -> None:
    try:
        of(packed)
    except WireError:
        return
