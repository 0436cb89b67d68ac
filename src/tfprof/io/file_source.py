"""Files as sources, which a pickle holds as a path: the file is opened again when it is needed."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import InputError
from tfprof.read.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8


class Version(NamedTuple):
    """What tells a file from the one that was read under its name."""

    file: tuple[int, int]  # device and inode, which differ on another machine
    size: int
    modified_ns: int


def version(path: str) -> Version | None:
    """The version of the file at *path* now; None where there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return Version((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)


def same_version(path: str, name: str, before: Version | None) -> Version:
    """The version of the file; raises InputError where it is not the file that was read before."""
    now = version(path)
    if now is None:
        raise InputError(
            f"{name} does not exist any more; the profile reads parts of it when they are needed"
        )
    if before is None or now[1:] != before[1:]:
        raise _changed(name)
    return now


def _changed(name: str) -> InputError:
    return InputError(f"{name} was changed after it was read; load it again")


class FileSource(Source):
    """A file that is mapped, or unpacked into memory."""

    def __init__(self, path: str, data: U8, content: Callable[[str], U8], *, mapped: bool) -> None:
        """*content* reads the file again, elsewhere."""
        super().__init__(str(path), data)
        self._path = os.path.abspath(path)  # noqa: PTH100 - the process may change its folder
        self._content, self._mapped = content, mapped
        self._version = version(path)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}

    def _read(self) -> U8:
        self._version = same_version(self._path, self.name, self._version)
        return self._content(self._path)

    def check(self) -> None:
        """Raise InputError if the mapped file was written to.

        A file that was replaced or removed does no harm: the map still shows the old one.
        """
        if not self._mapped or self._data is None:
            return
        before, now = self._version, version(self._path)
        if before and now and now.file == before.file and now != before:
            raise _changed(self.name)

    def let_go(self) -> None:
        """Free the memory of a mapped file until its bytes are needed again."""
        base = None if self._data is None else self._data.base
        held = base.obj if isinstance(base, memoryview) else None
        if self._mapped and isinstance(held, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            held.madvise(mmap.MADV_DONTNEED)


class CheckpointFiles:
    """Opens the files of a checkpoint by name, and holds them to their version after unpickling."""

    def __init__(self, prefix: str, content: Callable[[str], U8], opened: Source | None) -> None:
        """*content* maps a file; *opened* is one of the files where it is open already."""
        self._opened = opened
        self._folder = Path(prefix).absolute().parent
        self._content = content
        self._versions: dict[str, Version | None] = {}

    def __call__(self, name: str) -> U8:
        """The bytes of the file; raises FileNotFoundError, or InputError where it changed."""
        path = str(self._folder / Path(name).name)
        if name in self._versions:
            same_version(path, name, self._versions[name])
        try:
            data = self._taken(name, path)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise InputError(f"{name} cannot be read ({reason}); expected a checkpoint") from None
        self._versions.setdefault(name, version(path))
        return data

    def _taken(self, name: str, path: str) -> U8:
        """The bytes that are open already, once; else those of the file."""
        if self._opened is None or self._opened.name != name:
            return self._content(path)
        data, self._opened = self._opened.data, None
        return data

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_opened": None}
