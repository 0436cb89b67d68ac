"""Files in, files out: the only place that opens one.

Input files are mapped, not read whole; gzip-compressed ones are unpacked. A result is written
beside its destination and moved there when it is whole, so a failed write leaves what was there.
Whoever listens to stages is told how far unpacking and writing are.
"""

from __future__ import annotations

import mmap
import os
import stat
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError, OutputError
from tfprof.foundation.progress_events import Stage, announce
from tfprof.io import atomic_write as whole
from tfprof.io.gunzip import MAGIC, GzipError, unpacked
from tfprof.read import Source
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from tfprof.columns.strings import U8
    from tfprof.read.checkpoint import Checkpoint

_PIECE = 1 << 20


def mapped(path: str) -> U8:
    """The bytes of the file at *path*, read from the disk as they are looked at."""
    with Path(path).open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return np.frombuffer(_piped(path, file), np.uint8)
        if not status.st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _piped(path: str, file: BinaryIO) -> bytearray:
    """All that comes out of a pipe or a device."""
    most = limit("piped_bytes")
    data = bytearray()
    while piece := file.read(_PIECE):
        data += piece
        if len(data) > most:
            raise InputError(
                f"{path} is no plain file and goes on and on; "
                f"tfprof accepts {beyond('piped_bytes')}"
            )
    return data


def open_source(path: str, expected: str) -> Source:
    """The content of the file at *path*; *expected* says what it should have been."""
    try:
        data = mapped(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; expected {expected}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; expected {expected}") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read ({reason}); expected {expected}") from None
    if data[:2].tobytes() == MAGIC:
        return Source(path, _unpacked(path, data))
    return Source(path, data, _unchanged(path), partial(_let_go, data))


def _let_go(data: U8) -> None:
    """Give back the memory that the pages of a mapped file take, until they are looked at again."""
    held = data.base.obj if isinstance(data.base, memoryview) else None
    if isinstance(held, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)


def _unchanged(path: str) -> Callable[[], None]:
    """A check that the file at *path* was not written to since now.

    A file that was replaced or removed is no harm: its map still shows the old one.
    """
    before = _version(path)

    def check() -> None:
        now = _version(path)
        if before and now and now[0] == before[0] and now != before:
            raise InputError(f"{path} was changed after it was read; load it again")

    return check


def _version(path: str) -> tuple[tuple[int, int], int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns


def open_checkpoint(path: str) -> Checkpoint:
    """The checkpoint with this prefix; its tensors are read when they are asked for."""
    from tfprof.read.checkpoint import Checkpoint  # noqa: PLC0415 - few ask for tensors

    return Checkpoint.open(path, _part_of_checkpoint)


def _part_of_checkpoint(path: str) -> U8:
    try:
        return mapped(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read ({reason}); expected a checkpoint") from None


def checkpoint_files(prefix: str) -> list[str]:
    """The files that a checkpoint with this prefix may consist of."""
    import glob  # noqa: PLC0415

    name = glob.escape(Path(prefix).name)
    patterns = (name, f"{name}.index", f"{name}.data-*", f"{name}-?????-of-?????")
    folder = Path(prefix).parent
    return [str(file) for pattern in patterns for file in folder.glob(pattern)]


def _unpacked(path: str, data: U8) -> U8:
    try:
        return unpacked(data, lambda at: announce(Stage(f"unpacking {path}", at, data.size)))
    except GzipError as problem:
        raise InputError(f"{path} {problem}") from None


def write_whole(path: str, pieces: Iterable[bytes]) -> None:
    """Write *pieces* to *path*: all of them, or nothing and the old file stays."""
    try:
        whole.write(path, told(f"writing {path}", bounded(path, pieces)))
    except OSError as problem:
        raise _unwritable(path, problem) from None


def told(stage: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*, and whoever listens is told how many bytes of them this *stage* has written."""
    written = 0
    for piece in pieces:
        yield piece
        written += len(piece)
        announce(Stage(stage, written))


def bounded(name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*, for what is called *name*; raises OutputError once they are more than may be."""
    written, most = 0, limit("output_bytes")
    for piece in pieces:
        written += len(piece)
        if written > most:
            raise OutputError(f"{name} was given up: a result may have {beyond('output_bytes')}")
        yield piece


def write_apart(path: str, pieces: Iterable[bytes], inputs: Iterable[str]) -> None:
    """Write *pieces* to *path* as `write_whole` does, but never over one of *inputs*."""
    if any(same_file(path, one) for one in inputs):
        raise OutputError(f"{path} is an input of what is written and is not overwritten")
    write_whole(path, pieces)


def make_folder(path: str) -> None:
    """Make the folder *path* where there is none; raises OutputError unless files can be put in."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise OutputError(f"the folder {path} cannot be made: {reason}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise OutputError(f"the folder {path} cannot be written to: no permission")


def same_file(one: str, other: str) -> bool:
    """Whether two names stand for one file that is there."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def _unwritable(path: str, problem: Exception) -> OutputError:
    if isinstance(problem, FileNotFoundError) and not Path(path).parent.exists():
        return OutputError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    if isinstance(problem, IsADirectoryError):
        return OutputError(f"{path} cannot be written: it is a folder")
    reason = getattr(problem, "strerror", None) or problem
    return OutputError(f"{path} cannot be written: {reason}")
