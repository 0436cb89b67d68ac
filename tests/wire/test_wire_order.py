"""Fields come back by message, in whatever order the messages stand in the file."""

from __future__ import annotations

import numpy as np
import pytest

from tfprof.wire.decode import BYTES, VARINT, scan


@pytest.mark.parametrize("count", [2, 5, 12, 13, 40, 5_000])
@pytest.mark.parametrize("seed", range(4))
def test_messages_in_another_order_than_their_bytes(count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Each message: its number, then that number again and again, as far as it goes.
    texts = [b"\x08%c" % (number % 100) * (1 + number % 3) for number in range(count)]
    texts = [text + b"\x12\x01%c" % (number % 90) for number, text in enumerate(texts)]
    length = np.array([*map(len, texts)])
    place = random.permutation(count)  # of each message among the bytes
    begin = np.cumsum(length[np.argsort(place)]) - length[np.argsort(place)]
    start = begin[place]
    buffer = np.frombuffer(b"".join(texts[one] for one in np.argsort(place)), np.uint8)
    found = scan(buffer, start, start + length, {1: VARINT, 2: BYTES})
    assert found[1].message.tolist() == [
        number for number in range(count) for _ in range(1 + number % 3)
    ]
    assert found[1].value.tolist() == [number % 100 for number in found[1].message.tolist()]
    assert found[2].message.tolist() == list(range(count))
    assert [row[0] for row in found[2].strings(buffer)] == [number % 90 for number in range(count)]


def test_columns_of_one_field_are_not_those_of_another() -> None:
    buffer = np.frombuffer(b"\x08\x01\x10\x02" * 100 + b"\x08\x01" * 20, np.uint8)
    start = 4 * np.arange(100)
    found = scan(buffer, start, start + 4, {1: VARINT, 2: VARINT})
    found[1].message[:] = -1
    assert found[2].message.tolist() == list(range(100))
