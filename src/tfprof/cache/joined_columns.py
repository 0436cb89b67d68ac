"""The columns of the files of an entry, read where they are needed and compared with checksums."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from tfprof.cache.folder import open_file
from tfprof.errors import TfprofError
from tfprof.read.columnar.coding import Columns, Damage, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8


class _FileBytes:
    """The bytes of an open file, read where they are needed.

    Of a file that was cut off or cannot be read, they are short, and so no checksum fits.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.size = os.fstat(handle).st_size

    def __getitem__(self, wanted: slice) -> U8:
        begin, end, _ = wanted.indices(self.size)
        column = np.empty(end - begin, np.uint8)
        view, at = memoryview(column), 0  # type: ignore[arg-type]
        with suppress(OSError):
            while at < column.size and (count := os.preadv(self._handle, [view[at:]], begin + at)):
                at += count
        return column if at == column.size else column[:at]

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self._handle)


class _CacheFile:
    """What `Columns` takes: a file with a name."""

    def __init__(self, path: str, handle: int) -> None:
        self.name, self.data = path, _FileBytes(handle)


def open_columns(path: str) -> Columns | None:
    """The columns of a file of the cache; None where there is none that can be used."""
    handle = open_file(path)
    if handle is None:
        return None
    try:
        return Columns(_CacheFile(path, handle))  # type: ignore[arg-type]
    except (Damage, TfprofError, OSError):
        return None


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
