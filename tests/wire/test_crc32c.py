"""CRC-32C: the standard's vectors, the definition bit by bit, and messages of every length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.wire import crc32c as module
from tfprof.wire.crc32c import crc32c, masked

POLYNOMIAL = 0x82F63B78
FOLD = module._DEGREE


def times_x(power: int) -> int:
    return power >> 1 ^ (POLYNOMIAL if power & 1 else 0)


def by_definition(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = times_x(state)
    return state ^ 0xFFFFFFFF


def of(data: bytes) -> int:
    return crc32c(np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_the_vectors_of_the_standard(data: bytes, expected: int) -> None:
    assert of(data) == expected


def test_a_masked_checksum_is_rotated_and_shifted() -> None:
    assert masked(0) == 0xA282EAD8
    assert masked(0x00008000) == 0xA282EAD9
    assert masked(0xFFFFFFFF) == 0xA282EAD7


def test_the_four_terms_are_a_multiple_of_the_polynomial() -> None:
    power, powers = 1 << 31, []
    for _ in range(FOLD + 1):
        powers.append(power)
        power = times_x(power)
    assert powers[FOLD] ^ powers[484] ^ powers[100] ^ powers[0] == 0


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_pieces_are_as_defined(pieces: list[bytes]) -> None:
    arrays = [np.frombuffer(piece, np.uint8) for piece in pieces]
    assert crc32c(*arrays) == by_definition(b"".join(pieces))


@pytest.mark.parametrize("fold", [FOLD, 8 * FOLD])
@pytest.mark.parametrize("over", [-5, -4, -3, 0, 1, 8, 9, 7_001])
def test_messages_around_the_length_of_a_fold(fold: int, over: int) -> None:
    data = np.random.default_rng(fold + over).integers(0, 256, fold + over, np.uint8).tobytes()
    assert of(data) == by_definition(data)


def test_a_message_of_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).integers(0, 256, 200_001, np.uint8)
    whole = crc32c(data)
    assert whole == by_definition(data.tobytes())
    monkeypatch.setattr(module, "_BLOCK", 4_099)
    assert crc32c(data) == whole
    assert crc32c(data[:70_000], data[70_000:]) == whole
