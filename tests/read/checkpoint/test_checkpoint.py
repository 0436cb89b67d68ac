"""Checkpoints: every tensor as TensorFlow reads it, and nothing read that is not asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from checkpoint_data import (
    FILES,
    FOLDER,
    SHARDED,
    Opener,
    assert_same,
    mapped,
    original,
    read,
    rewritten,
    tensors,
)
from table_writer import checksum, snappy
from tf_wheel import piece
from tfprof.errors import InputError
from tfprof.read.checkpoint import Checkpoint
from tfprof.read.checkpoint.tensors import DTYPES, STRING
from tfprof.writers.tensor_values import value_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Each checkpoint, and what TensorFlow's reader refuses of it.
REFUSED: Final = {
    "one": set[str](), "several": set[str](), "partitioned": set[str](), "grid": {"strings"},
    "dtypes": set[str](), "objects": set[str](), "golden/ck": set[str](), "first": set[str](),
    "first_dtypes": {"complex64", "complex128", "float16", "uint16", "qint8", "quint8", "qint32"},
    SHARDED: {"rows", "columns", "long", "longer"},
}  # fmt: skip
# What the original shows: float, double, int32, int64.
SHOWN: Final = {1, 2, 3, 9}


# --- the same as TensorFlow ----------------------------------------------------------------


def test_every_tensor_is_what_tensorflow_reads() -> None:
    answers = original(*(FOLDER / prefix for prefix in REFUSED))
    for (prefix, refused), theirs in zip(REFUSED.items(), answers, strict=True):
        ours = Checkpoint.open(str(FOLDER / prefix), mapped)
        assert assert_same(ours, theirs) == refused


def test_slices_of_the_first_format_are_those_of_the_second() -> None:
    assert tensors(read(SHARDED)) == tensors(read("partitioned"))


def test_types_of_the_first_format_are_those_of_the_second() -> None:
    second = tensors(read("dtypes"))
    first = tensors(read("first_dtypes"))
    assert len(first) == 16
    assert first == {name: second[name] for name in first}


def test_there_is_a_sample_of_every_type() -> None:
    assert {dtype for dtype, _, _ in tensors(read("dtypes")).values()} == set(DTYPES)


def test_strings_in_slices() -> None:
    expected = [f"s{number}".encode() for number in range(6)]
    assert read("grid").tensor(b"strings") == (STRING, (6,), expected)


def test_keys_of_slices_with_every_kind_of_byte_and_number() -> None:
    checkpoint = read("odd")
    odd = checkpoint.tensor(b"odd \0\1\xff\0\xff name")
    assert np.asarray(odd.values).tolist() == list(range(35))
    far = checkpoint._stored(b"far")
    assert [int(far.read(part)[0]) for part in far.slices] == list(range(62))
    with pytest.raises(InputError, match=r"'far' of odd is incomplete: its pieces hold 62 of"):
        checkpoint.tensor(b"far")


def printed() -> dict[str, str]:
    """The value text of each node in the answer to the first golden command."""
    answer = (FOLDER / "golden" / "stdout.txt").read_text().split("tfprof> ")[1]
    found = re.split(r"(?m)^ *(\S+) \(.*\)\n", answer.partition("_TFProfRoot")[2])
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_value_texts_are_those_the_original_printed() -> None:
    checkpoint = Checkpoint.open(str(FOLDER / "golden" / "ck"), mapped)
    texts = printed()
    for name in checkpoint.names():
        tensor = checkpoint.tensor(name)
        expected = value_text(tensor) if tensor.dtype in SHOWN else ""
        if name.decode() in texts:
            assert texts[name.decode()] == expected
    assert {"b", "c", "d", "e", "f", "k", "nn", "s/a"} <= texts.keys()
    assert len(texts["f"]) > 10_000


# --- only what is needed -------------------------------------------------------------------


def test_a_file_of_values_is_opened_when_one_of_its_tensors_is_read() -> None:
    opener = Opener(FILES)
    checkpoint = Checkpoint.open("several", opener)
    assert opener.opened == ["several.index"]
    checkpoint.tensor(b"tower_1/weights")
    checkpoint.tensor(b"tower_1/label")
    assert opener.opened == ["several.index", "several.data-00001-of-00003"]


def test_values_are_the_mapped_bytes_themselves() -> None:
    opener = Opener(FILES)
    values = Checkpoint.open("one", opener).tensor(b"huge").values
    stored = np.frombuffer(FILES["one.data-00000-of-00001"], np.uint8)
    assert np.shares_memory(np.asarray(values), stored)


@pytest.mark.parametrize("file", ["several.index", "several.data-00002-of-00003"])
def test_a_checkpoint_may_be_named_by_one_of_its_files(file: str) -> None:
    assert tensors(read(file)) == tensors(read("several"))


# --- rewritten -----------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [None, snappy], ids=["plain", "snappy"])
@pytest.mark.parametrize(("prefix", "file"), [("one", "one.index"), ("first", "first")])
def test_tables_of_small_or_packed_blocks_read_the_same(
    tmp_path: Path, prefix: str, file: str, pack: Callable[[bytes], bytes] | None
) -> None:
    changed = {file: rewritten(file, pack)}
    assert changed[file] != FILES[file]
    assert tensors(read(prefix, changed)) == tensors(read(prefix))
    # The table is a real one: TensorFlow reads it, too.
    assert_same_on_disk(tmp_path, prefix, changed)


def assert_same_on_disk(folder: Path, prefix: str, changed: dict[str, bytes]) -> None:
    for name, data in {**FILES, **changed}.items():
        (folder / name).write_bytes(data)
    (theirs,) = original(folder / prefix)
    refused = assert_same(Checkpoint.open(str(folder / prefix), mapped), theirs)
    # It swaps no bytes of the newest types, which have none to swap.
    small = ("float8", "float4", "int4", "uint4", "int2", "uint2")
    assert all(name.startswith(small) for name in refused)


def big_endian(prefix: str) -> dict[str, bytes]:
    """The checkpoint *prefix* as a machine with the other byte order writes it."""
    messages = piece("tensorflow.core.protobuf.tensor_bundle_pb2")
    data = f"{prefix}.data-00000-of-00001"
    values = bytearray(FILES[data])

    def change(key: bytes, value: bytes) -> bytes:
        if not key:
            return value + b"\x10\x01"  # endianness: BIG
        entry = messages.BundleEntryProto.FromString(value)
        span = slice(entry.offset, entry.offset + entry.size)
        if entry.dtype == STRING:
            values[span], entry.crc32c = swapped_strings(bytes(values[span]))
        else:
            kind = np.dtype(DTYPES[entry.dtype].layout).newbyteorder("little")
            values[span] = np.frombuffer(values[span], kind).byteswap().tobytes()
            entry.crc32c = int.from_bytes(checksum(bytes(values[span])), "little")
        return bytes(entry.SerializeToString())

    index = rewritten(f"{prefix}.index", change=change)
    return {f"{prefix}.index": index, data: bytes(values)}


def swapped_strings(data: bytes) -> tuple[bytes, int]:
    """Strings of less than 128 bytes each, the last one longer, with big-endian checksums."""
    ends = [at for at, byte in enumerate(data) if byte < 128]
    lengths: list[int] = []
    start = after = 0
    while after + 4 + sum(lengths) != len(data):
        after = ends[len(lengths)] + 1
        groups = data[start:after]
        lengths.append(sum((byte & 127) << 7 * at for at, byte in enumerate(groups)))
        start = after
    counted = b"".join(length.to_bytes(4, "big") for length in lengths)
    of_lengths = checksum(counted)[::-1]
    text = data[after + 4 :]
    whole = int.from_bytes(checksum(counted + of_lengths + text), "little")
    return data[:after] + of_lengths + text, whole


@pytest.mark.parametrize("prefix", ["one", "dtypes"])
def test_the_other_byte_order(tmp_path: Path, prefix: str) -> None:
    changed = big_endian(prefix)
    assert tensors(read(prefix, changed)) == tensors(read(prefix))
    assert_same_on_disk(tmp_path, prefix, changed)
