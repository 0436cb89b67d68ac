"""Files in: the only place that opens an input. Files are mapped, not read; gzip is unpacked.

An InputFile is a path whose file `detect_file` opened already: opening it again takes that content,
so that a file is opened, unpacked and detected once.
"""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.progress_events import Stage, announce
from tfprof.io.file_source import CheckpointFiles, FileSource
from tfprof.io.gunzip import MAGIC, GzipError, unpacked
from tfprof.read.source import Source
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from typing import BinaryIO

    from tfprof.columns.strings import U8
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.tables.formats import Format

_PIECE = 1 << 20


class InputFile(str):
    """The path of an input, its format, and its content until somebody opens it."""

    __slots__ = ("_source", "file_format")

    file_format: Format
    _source: Source | None

    def __new__(cls, path: str, file_format: Format, source: Source | None = None) -> InputFile:  # noqa: PYI034 - Self is not in Python 3.10
        """The *source* is None where the file is not open."""
        file = super().__new__(cls, path)
        file.file_format, file._source = file_format, source
        return file

    def take(self) -> Source | None:
        """The content, once: whoever takes it decides how long it stays in memory."""
        source, self._source = self._source, None
        return source

    def open(self) -> Source | Checkpoint:
        """What the functions of its format take."""
        row = self.file_format
        return open_checkpoint(self) if row.input.by_prefix else open_source(self, row.title)


def open_source(path: str, expected: str) -> Source:
    """The content of the file at *path*; *expected* is for the error where there is none."""
    if isinstance(path, InputFile) and (source := path.take()):
        return source
    try:
        data = mapped(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; expected {expected}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; expected {expected}") from None
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem, expected) from None
    packed = data[:2].tobytes() == MAGIC
    in_file = Path(path).is_file() and data.size > 0
    if packed:
        data = _unpacked(path, data)
    if not in_file:
        return Source(str(path), data)
    return FileSource(path, data, _content, mapped=not packed)


def _content(path: str) -> U8:
    """The content of a file that was opened before, unpacked; raises InputError."""
    return open_source(path, "the file that was read before").data


def mapped(path: str) -> U8:
    """The bytes of the file at *path*, mapped: they are read from the disk where they are used."""
    with Path(path).open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return np.frombuffer(_piped(path, file), np.uint8)
        if not status.st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _piped(path: str, file: BinaryIO) -> bytearray:
    """All bytes of a pipe or a device."""
    most = limit("piped_bytes")
    data = bytearray()
    while piece := file.read(_PIECE):
        data += piece
        if len(data) > most:
            raise InputError(
                f"{path} is not a regular file and is too long; "
                f"tfprof accepts {beyond('piped_bytes')}"
            )
    return data


def _unpacked(path: str, data: U8) -> U8:
    try:
        return unpacked(data, lambda at: announce(Stage(f"unpacking {path}", at, data.size)))
    except GzipError as problem:
        raise InputError(f"{path} {problem}") from None


def open_checkpoint(prefix: str) -> Checkpoint:
    """The checkpoint with this prefix; its tensors are read when they are asked for."""
    from tfprof.read.checkpoint import Checkpoint  # noqa: PLC0415 - few ask for tensors

    source = prefix.take() if isinstance(prefix, InputFile) else None
    files = CheckpointFiles(prefix, mapped, source)
    return Checkpoint.open(str(prefix), files)


def _unreadable(path: str, problem: Exception, expected: str) -> InputError:
    reason = getattr(problem, "strerror", None) or problem
    return InputError(f"{path} cannot be read ({reason}); expected {expected}")


def checkpoint_files(prefix: str) -> list[str]:
    """The files that a checkpoint with this prefix may consist of."""
    import glob  # noqa: PLC0415

    name = glob.escape(Path(prefix).name)
    patterns = (name, f"{name}.index", f"{name}.data-*", f"{name}-?????-of-?????")
    folder = Path(prefix).parent
    return [str(file) for pattern in patterns for file in folder.glob(pattern)]
