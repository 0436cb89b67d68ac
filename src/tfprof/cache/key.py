"""What identifies the files of a load: if the key is the same, so is the profile.

Of each file: path, device, inode, size, the times of the last change of content and of status, and
a hash of its head and tail. Then the options that change what is read, the limits in force, and
which tfprof reads it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import tfprof
from tfprof.cache.digest import digest
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.io.regular_files import regular
from tfprof.kernels.core import CORE
from tfprof.tables.limits import LIMITS, limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BOUND: Final = "cache_bytes"  # the limit that bounds the cache itself
FORMAT: Final = 3  # of entries; increase it whenever their columns change
SMALLEST: Final = 2_000_000  # bytes in all; below, reading the files is as fast
_ENDS: Final = 1 << 16
# A file that was changed so recently may change again and have the same times.
_TICK_NS: Final = 100_000_000
_WHOLE_SECONDS_NS: Final = 2_000_000_000  # where times of a file system have no fractions
_CODE: Final = (".py", ".so", ".pyd")
# Folders without code that makes what entries hold. To look at all takes a millisecond more.
_OTHER_ROOMS: Final = frozenset(
    ("__pycache__", "capture", "compat", "console", "fleet", "page", "sample", "shell")
)


class NamedFile(NamedTuple):
    """A file that a load names."""

    input: str
    path: str  # as it was given, which messages show
    place: str  # absolute: the process may change its folder


class Identity(NamedTuple):
    """Which files are read, and how."""

    files: tuple[NamedFile, ...]
    beside: tuple[str, ...]  # files that are read too if they exist
    versions: tuple[tuple[int, int] | None, ...]  # of all of them when they were named
    options: tuple[tuple[str, object], ...]
    limits: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls,
        files: Iterable[tuple[str, str]],
        beside: Iterable[str],
        options: Mapping[str, object],
    ) -> Identity:
        """That of files that are read now."""
        limits = tuple((name, limit(name)) for name in LIMITS if name != BOUND)
        named = tuple(NamedFile(name, str(path), _absolute(str(path))) for name, path in files)
        others = tuple(map(_absolute, beside))
        versions = _versions(named, others)
        return cls(named, others, versions, tuple(sorted(options.items())), limits)

    @property
    def size(self) -> int:
        """The bytes of all of them."""
        return sum(version[0] for version in self.versions if version)

    def paths(self) -> list[tuple[str, str]]:
        """(input, path) of each file: as it was given, if that is still the same file."""
        return [
            (file.input, file.path if _absolute(file.path) == file.place else file.place)
            for file in self.files
        ]

    def has_same_versions(self) -> bool:
        """Whether sizes and times of change are as before, also on another machine."""
        return _versions(self.files, self.beside) == self.versions

    def key(self) -> str | None:
        """The key of the files as they are now; None where they are not cached."""
        now = time.time_ns()
        try:
            if sum(os.stat(file.place).st_size for file in self.files) < SMALLEST:  # noqa: PTH116
                return None
            facts = [FORMAT, tfprof.__version__, CORE, _code(), self.options, self.limits]
            for file in self.files:
                facts += (file.input, file.path, file.place, *_facts(file.place, now))
            for path in self.beside:
                there = os.path.exists(path)  # noqa: PTH110
                facts += (path, *(_facts(path, now) if there else ()))
        except (OSError, ValueError):
            return None
        return digest(repr(facts).encode("utf-8", "surrogatepass"), 16)


def _absolute(path: str) -> str:
    """*path* from the root; `link/..` stays, which is not the folder that the link is in."""
    try:
        return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118
    except OSError:  # the folder of the process is gone
        return path


def _versions(
    files: Iterable[NamedFile], beside: Iterable[str]
) -> tuple[tuple[int, int] | None, ...]:
    """(size, last change) of each file; None where there is none."""
    return tuple(map(_version, (*(file.place for file in files), *beside)))


def _version(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _facts(path: str, now: int) -> tuple[object, ...]:
    """What a change of a file changes; raises OSError for a file that is not cached."""
    # Of a pipe, only the reader of the profile takes what is in it.
    handle = regular(path, os.O_RDONLY)
    try:
        status = os.fstat(handle)
        times = (status.st_mtime_ns, status.st_ctime_ns)
        whole = all(ns % 1_000_000_000 == 0 for ns in times)
        if now - max(times) < (_WHOLE_SECONDS_NS if whole else _TICK_NS):
            raise OSError("changed a moment ago")
        head = os.read(handle, _ENDS)
        os.lseek(handle, max(0, status.st_size - _ENDS), os.SEEK_SET)
        ends = digest(head + os.read(handle, _ENDS), 16)
    finally:
        os.close(handle)
    return (status.st_dev, status.st_ino, status.st_size, *times, ends)


def _code() -> tuple[int, int]:
    """(number of our files of code, last change): a checkout changes without a new version.

    Raises OSError where they are in no folder but in a zip.
    """
    count = newest = 0
    folders = [os.path.dirname(tfprof.__file__)]  # noqa: PTH120
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_CODE):
                    count, newest = count + 1, max(newest, entry.stat().st_mtime_ns)
                elif "." not in entry.name and entry.name not in _OTHER_ROOMS and entry.is_dir():
                    folders.append(entry.path)
    return count, newest
