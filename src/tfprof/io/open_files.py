"""Files in: the only place that opens an input. Files are mapped, not read; gzip is unpacked.

To detect the format of a gzip file, its first piece is unpacked; the rest when it is read.

Of an archive, the SavedModel in it is the content (see archives.py).

An InputFile is a path whose file `detect_file` opened already: opening it again takes that content,
so that a file is opened, unpacked and detected once. A pickled FileSource holds the path; its file
is opened again when it is needed, and must be the same.
"""

# ruff: noqa: PTH100, PTH113, PTH116, PTH118, PTH119, PTH120
# A report of a small file does without pathlib, which takes 3 ms and 1 MB to import.

from __future__ import annotations

import mmap
import os
import stat
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError, UnreadableError, nearest
from tfprof.foundation.progress_events import Stage, announce
from tfprof.io.archives import Members, is_tar, members_of, tar_members
from tfprof.io.gunzip import MAGIC, GzipError, joined, pieces
from tfprof.io.regular_files import regular
from tfprof.io.tar import Pieces
from tfprof.read import detect
from tfprof.read.source import Source, refuse_unsupported, without_marks
from tfprof.tables.formats import FORMATS
from tfprof.tables.limits import beyond, limit
from tfprof.wire.scalar import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from tfprof.columns.strings import U8
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.tables.formats import Format

_PIECE = 1 << 20
_MOST_NAMES = 1_000  # of a folder, in a hint
_CHANGED = "{} was changed after it was read; load it again"


class InputFile(str):
    """The path of an input, with its format and, until `take` is called, its content."""

    __slots__ = ("_source", "file_format", "others")

    file_format: Format
    others: tuple[str, ...]  # files that are read with it
    _source: Source | None

    def __new__(cls, path: str, file_format: Format, source: Source | None = None) -> InputFile:  # noqa: PYI034 - Self is not in Python 3.10
        """The *source* is None where the file is not open."""
        file = super().__new__(cls, path)
        file.file_format, file._source, file.others = file_format, source, ()
        return file

    def take(self) -> Source | None:
        """The content, once: whoever takes it decides how long it stays in memory."""
        source, self._source = self._source, None
        return source

    def is_current(self) -> bool:
        """Whether the content, if it is still here, is that of the file at the path now."""
        return not isinstance(self._source, FileSource) or self._source.is_at(self)

    def open(self) -> Source | Checkpoint:
        """What the functions of its format take."""
        row = self.file_format
        return open_checkpoint(self) if row.input.by_prefix else open_source(self, row.title)


def open_source(
    path: str, expected: str, *, unpacks: bool = True, is_named: bool = False
) -> Source:
    """The content of the file at *path*; *expected* is for the error where there is none.

    Unless it *unpacks*, a gzip file is unpacked, and damage in it found, when it is read. A file
    that may be a pipe or a device *is_named*: by the user, with a flag.
    """
    if isinstance(path, InputFile) and (source := path.take()):
        return source
    version = _version(path)  # before it is opened: unpacking takes a while
    try:
        data = mapped(path, is_named=is_named and not isinstance(path, InputFile))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; expected {expected}{_near(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; expected {expected}") from None
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem, expected) from None
    is_packed, size = data[:2].tobytes() == MAGIC, data.size
    members: Members | None = None
    if is_packed:
        try:
            rest = pieces(data, lambda at: announce(Stage(f"unpacking {path}", at, size)))
            first = next(rest, b"")
            _refuse_json(path, first)
            if is_tar(first):
                members = tar_members(path, Pieces(chain([first], rest)))
            elif not unpacks and os.path.isfile(_plain(path)):
                return PackedSource(path, first, rest, version)
            else:
                data = joined(chain([first], rest))
        except GzipError as problem:
            raise InputError(f"{path} {problem}") from None
    else:
        members = members_of(path, data)
    in_file = os.path.isfile(_plain(path)) and size > 0
    if members is not None:
        return ArchiveSource(path, members, version)
    return (
        FileSource(path, data, mapped=not is_packed, version=version)
        if in_file
        else Source(str(path), data)
    )


def _refuse_json(path: str, start: bytes) -> None:
    """Raise UnsupportedError where a file begins as no format does: a timeline may be gigabytes."""
    if start[:1] in (b"{", b"["):
        refuse_unsupported(Source(str(path), np.frombuffer(start, np.uint8)))


def _near(path: str) -> str:
    """A hint at a file of a similar name in the same folder, such as tfprof_log for op_log."""
    names: list[str] = []
    with suppress(OSError):
        folder = os.path.dirname(_plain(path)) or "."
        names = [entry.name for entry in islice(os.scandir(folder), _MOST_NAMES)]
    return nearest(os.path.basename(_plain(path)), names)


def _plain(path: str) -> str:
    """*path* without a slash at its end, which only folders have."""
    return path.rstrip(os.sep) or path


def mapped(path: str, *, is_named: bool = False) -> U8:
    """The bytes of the file at *path*, mapped: they are read from the disk where they are used.

    Only if the user named it, what is not a regular file is read, which may take for ever.
    """
    with open(_plain(path), "rb", opener=None if is_named else regular) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return np.frombuffer(_piped(path, file), np.uint8)
        if not status.st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def _piped(path: str, file: BinaryIO) -> bytearray:
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


def open_checkpoint(prefix: str) -> Checkpoint:
    """The checkpoint with this prefix; its tensors are read when they are asked for."""
    from tfprof.read.checkpoint import Checkpoint  # noqa: PLC0415 - few ask for tensors

    if isinstance(prefix, InputFile):
        source = prefix.take()
    else:
        prefix, source = _followed(prefix)
    try:
        return Checkpoint.open(str(prefix), CheckpointFiles(prefix, source))
    except InputError:
        with suppress(OSError, ValueError):
            refuse_unsupported(source or Source(str(prefix), mapped(prefix)))
        raise


def _followed(prefix: str) -> tuple[str, Source | None]:
    """(the prefix that a text file names, None); else the *prefix*, and the file of that name."""
    try:
        # Never unpacked: values may look like a gzip file.
        source = Source(prefix, mapped(prefix, is_named=True))
    except (OSError, ValueError):
        return prefix, None
    if source.format is not FORMATS["checkpoint_state"]:
        return prefix, source
    from tfprof.io.checkpoint_state import latest_checkpoint  # noqa: PLC0415 - few name one

    return latest_checkpoint(prefix, source.data.tobytes()), None


def _unreadable(path: str, problem: Exception, expected: str) -> UnreadableError:
    reason = getattr(problem, "strerror", None) or problem
    return UnreadableError(f"{path} cannot be read ({reason}); expected {expected}")


def checkpoint_files(prefix: str) -> list[str]:
    """The files that a checkpoint with this prefix may consist of."""
    import glob  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    name = glob.escape(Path(prefix).name)
    patterns = (name, f"{name}.index", f"{name}.data-*", f"{name}-?????-of-?????")
    folder = Path(prefix).parent
    return [str(file) for pattern in patterns for file in folder.glob(pattern)]


# --- files that are opened again ------------------------------------------------------------------


# Which version of a file was read: (device and inode, which differ on another machine; size; time
# of the last change in nanoseconds).
_Version = tuple[tuple[int, int], int, int]


def _version(path: str) -> _Version | None:
    """The version of the file at *path* now; None where there is none."""
    try:
        status = os.stat(_plain(path))
    except (OSError, ValueError):  # no file has such a name
        return None
    return (status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns


def _same_version(path: str, name: str, before: _Version | None) -> _Version:
    """The version of the file; raises InputError where it is not the file that was read before."""
    now = _version(path)
    if now is None:
        raise InputError(f"{name} no longer exists; the profile reads parts of it on demand")
    if before is None or now[1:] != before[1:]:
        raise InputError(_CHANGED.format(name))
    return now


class FileSource(Source):
    """A file that is mapped, or unpacked into memory."""

    def __init__(
        self, path: str, data: U8, *, mapped: bool, version: _Version | None = None
    ) -> None:
        """The *version* is that of the file when it was opened; None: as it is now."""
        super().__init__(str(path), data)
        self._path = os.path.abspath(path)  # the process may change its folder
        self._mapped, self._version = mapped, version or _version(path)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}

    def _read(self) -> U8:
        self._version = _same_version(self._path, self.name, self._version)
        return open_source(self._path, "the file that was read before").data

    def is_at(self, path: str) -> bool:
        """Whether *path* is that of the file that was opened, which did not change."""
        return _version(path) == self._version

    def check(self) -> None:
        """Raise InputError if the mapped file was written to.

        A file that was replaced or removed does no harm: the map still shows the old one.
        """
        if self._mapped and self._data is not None:
            self._refuse_changed()

    def _refuse_changed(self) -> None:
        before, now = self._version, _version(self._path)
        if before and now and now[0] == before[0] and now != before:
            raise InputError(_CHANGED.format(self.name))

    def let_go(self) -> None:
        """Free the memory of a mapped file until its bytes are needed again."""
        base = None if self._data is None else self._data.base
        held = base.obj if isinstance(base, memoryview) else None
        if self._mapped and isinstance(held, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            held.madvise(mmap.MADV_DONTNEED)


class PackedSource(FileSource):
    """A gzip file: its format is detected by its first piece, the rest is unpacked on demand."""

    def __init__(
        self, path: str, first: bytes, rest: Iterator[bytes], version: _Version | None
    ) -> None:
        super().__init__(path, np.frombuffer(first, np.uint8), mapped=False, version=version)
        self._first, self._data = self._data, None
        self._rest = [chain([first], rest)]  # until somebody takes it

    @cached_property
    def format(self) -> Format | None:
        """The format by the first piece or, where no row of FORMATS fits that, by all."""
        first = self._first
        if first is None:
            return super().format
        row = detect.detect(buffer_view(first))
        return row if row or self.data.size == first.size else super().format

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_first": None, "_rest": []}

    def _read(self) -> U8:
        self._first = None
        if not self._rest:
            return super()._read()
        try:
            data = joined(self._rest.pop())
        except GzipError as problem:
            raise InputError(f"{self.name} {problem}") from None
        self._refuse_changed()
        return without_marks(data)


class ArchiveSource(FileSource):
    """A SavedModel in an archive, with the files that belong beside it."""

    def __init__(self, path: str, members: Members, version: _Version | None) -> None:
        super().__init__(path, members.data, mapped=False, version=version)
        self.member = members.name
        self.beside = {
            place: Source(f"{path}: {place}", data) for place, data in members.beside.items()
        }

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "beside": {}}


class CheckpointFiles:
    """Opens the files of a checkpoint by name, and rejects changed ones after unpickling."""

    def __init__(self, prefix: str, opened: Source | None) -> None:
        """*opened* is one of the files where it is open already."""
        self._opened = opened
        self._folder = os.path.dirname(os.path.abspath(prefix))
        self._versions: dict[str, _Version | None] = {}

    def __call__(self, name: str) -> U8:
        """The bytes of the file; raises FileNotFoundError, or InputError where it changed."""
        path = os.path.join(self._folder, os.path.basename(name))
        if name in self._versions:
            _same_version(path, name, self._versions[name])
        try:
            if self._opened is None or self._opened.name != name:
                data = mapped(path)
            else:
                data, self._opened = self._opened.data, None
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as problem:
            raise _unreadable(name, problem, "a checkpoint") from None
        self._versions.setdefault(name, _version(path))
        return data

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_opened": None}
