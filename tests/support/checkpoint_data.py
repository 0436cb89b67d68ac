"""The checkpoints of the test data: read by us, read by TensorFlow, rewritten."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import paths
from table_writer import table
from tfprof.read.checkpoint import Checkpoint
from tfprof.read.checkpoint.sorted_table import SortedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tfprof.columns.strings import U8
    from tfprof.read.checkpoint.tensors import Tensor

FOLDER: Final = paths.DATA / "checkpoints"
FILES: Final = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}
SHARDED: Final = "first_sharded-?????-of-00002"
WORKER: Final = paths.SUPPORT / "checkpoint_worker.py"


class Opener:
    """Files in memory; remembers what was asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.opened: list[str] = []

    def __call__(self, name: str) -> U8:
        if name not in self.files:
            raise FileNotFoundError(name)
        self.opened.append(name)
        return np.frombuffer(self.files[name], np.uint8)


def mapped(name: str) -> U8:
    """A file on disk."""
    return np.memmap(name, np.uint8, "r")


def read(prefix: str, changed: Mapping[str, bytes] | None = None) -> Checkpoint:
    """The checkpoint *prefix* of the test data, with some files changed."""
    return Checkpoint.open(prefix, Opener({**FILES, **(changed or {})}))


def tensors(checkpoint: Checkpoint) -> dict[bytes, tuple[int, tuple[int, ...], Any]]:
    """All that is in a checkpoint, ready to be compared."""
    return {name: comparable(checkpoint.tensor(name)) for name in checkpoint.names()}


def comparable(tensor: Tensor) -> tuple[int, tuple[int, ...], Any]:
    values = tensor.values
    return tensor.dtype, tensor.shape, values if isinstance(values, list) else values.tobytes()


def original(*prefixes: Path) -> list[dict[str, dict[str, Any]]]:
    """What TensorFlow reads from each of the checkpoints; checkpoint_worker.py says how."""
    answer = subprocess.run(
        [sys.executable, str(WORKER), *map(str, prefixes)], stdout=subprocess.PIPE, check=True
    )
    return [json.loads(line) for line in answer.stdout.splitlines()]


def assert_same(ours: Checkpoint, theirs: dict[str, dict[str, Any]]) -> set[str]:
    """The names are those TensorFlow finds, and so are the values; gives what it refused."""
    assert list(ours.names().texts()) == sorted(theirs)
    for text, expected in theirs.items():
        name = text.encode()
        tensor = ours.tensor(name)
        assert ours.has(name)
        assert ours.dtype(name) == tensor.dtype == expected["dtype"]
        assert ours.shape(name) == tensor.shape == tuple(expected["shape"])
        if isinstance(tensor.values, list):
            if "strings" in expected:
                assert tensor.values == [*map(base64.b64decode, expected["strings"])]
        elif "bytes" in expected:
            values = np.frombuffer(base64.b64decode(expected["bytes"]), expected["kind"])
            widened = values.astype(tensor.values.dtype)
            np.testing.assert_array_equal(tensor.values, widened)
            if widened.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(tensor.values), np.signbit(widened))
    return {name for name, found in theirs.items() if not {"bytes", "strings"} & found.keys()}


def rewritten(
    file: str,
    pack: Callable[[bytes], bytes] | None = None,
    change: Callable[[bytes, bytes], bytes] = lambda _, value: value,
) -> bytes:
    """The table *file* in small blocks, packed and with other values."""
    found = SortedTable(file, np.frombuffer(FILES[file], np.uint8))
    return table([(key, change(key, value.tobytes())) for key, value in found], pack)
