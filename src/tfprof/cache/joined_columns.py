"""The columns of the files of an entry, read where they are needed and compared with checksums."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from tfprof.cache.folder import open_file
from tfprof.errors import TfprofError
from tfprof.read.columnar.coding import Columns, Damage, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8


class _FileBytes:
    """The bytes of a file of the cache, read where they are needed.

    Of a file that was cut off, was replaced or cannot be read, they are short, and so no checksum
    fits. A closed file is opened for each read: a program may hold many profiles.
    """

    def __init__(self, path: str, handle: int) -> None:
        status = os.fstat(handle)
        self._path, self._handle = path, handle
        self._identity = status.st_dev, status.st_ino
        self.size = status.st_size

    def __getitem__(self, wanted: slice) -> U8:
        begin, end, _ = wanted.indices(self.size)
        column = np.empty(end - begin, np.uint8)
        view, at = memoryview(column), 0  # type: ignore[arg-type]
        with suppress(OSError), self._opened() as handle:
            while at < column.size and (count := os.preadv(handle, [view[at:]], begin + at)):
                at += count
        return column if at == column.size else column[:at]

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file; raises OSError where it is gone."""
        if self._handle >= 0:
            yield self._handle
            return
        handle = open_file(self._path)
        if handle is None:
            raise OSError("it is gone")
        try:
            status = os.fstat(handle)
            if (status.st_dev, status.st_ino) != self._identity:
                raise OSError("it was replaced")
            yield handle
        finally:
            os.close(handle)

    def close(self) -> None:
        """From now on, open the file for each read."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                os.close(handle)

    def __del__(self) -> None:
        self.close()


class _CacheFile:
    """What `Columns` takes: a file with a name."""

    def __init__(self, path: str, handle: int) -> None:
        self.name, self.data = path, _FileBytes(path, handle)


def open_columns(path: str, *, stays_open: bool = False) -> Columns | None:
    """The columns of a file of the cache; None where there is none that can be used.

    What *stays_open* can be read after another process has removed or replaced the file.
    """
    handle = open_file(path)
    if handle is None:
        return None
    file = _CacheFile(path, handle)
    try:
        columns = Columns(file)  # type: ignore[arg-type]
    except (Damage, TfprofError, OSError):
        return None
    if not stays_open:
        file.data.close()
    return columns


class JoinedColumns(Columns):
    """The columns of several files."""

    def __init__(self) -> None:
        self._files: dict[str, Columns] = {}  # by column, the file that has it
        self.values: set[str] = set()  # the first two words of all names

    def add(self, file: Columns) -> None:
        """Also have the columns of *file*."""
        self._files |= dict.fromkeys(file, file)
        self.values |= {".".join(name.split(".", 2)[:2]) for name in file}

    def remove(self, name: str) -> None:
        """Remove the file that has a column that begins so; whoever comes next writes it anew."""
        for file in {self._files[column] for column in self._files if column.startswith(name)}:
            with suppress(OSError):
                os.unlink(file.name)  # noqa: PTH108

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def stored(self, name: str) -> Stored:
        """The index entry of a column, of the file that has it."""
        if name not in self._files:
            raise Damage(f"there is no column {name}")
        return self._files[name].stored(name)

    def raw(self, name: str) -> tuple[Stored, U8]:
        """As the file has it that has the column."""
        self.stored(name)
        return self._files[name].raw(name)
