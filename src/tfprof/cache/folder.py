"""The cache's folder: where it is, which files in it are ours, how large it may grow.

    $TFPROF_CACHE, $XDG_CACHE_HOME/tfprof or ~/.cache/tfprof
        KEY.profile          the columns of a profile
        KEY.3f2a…            what was worked out from it later

Files are replaced, never changed, so any number of processes can use the folder at once. A file
that somebody else owns or can write to is not read. The time of a file is that of its last use.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from tfprof.foundation.named_tuples import NamedTuple
from tfprof.io.regular_files import regular

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE: Final = "TFPROF_CACHE"
PROFILE: Final = "profile"
_OFF: Final = ("off", "0", "no", "none", "false")
_ON: Final = ("on", "1", "yes", "true")
_KEY, _PART = 32, 16  # hexadecimal digits of a key and of an addition
_HEX: Final = {*"0123456789abcdef"}
_UNFINISHED: Final = ".tfprof-"  # as io/write_files.py calls them
_PATIENCE_SECONDS: Final = 3600.0
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
FOR_US_ALONE: Final = 0o600  # said for each file: a folder may have rules that overrule the umask

_is_off: ContextVar[bool] = ContextVar("cache_is_off", default=False)


class EntryFiles(NamedTuple):
    """The files of one entry."""

    key: str
    files: list[str]
    size: int
    used: float  # seconds since 1970


@contextmanager
def cache_off(*, off: bool = True) -> Iterator[None]:
    """Inside, neither used nor written, if *off*."""
    token = _is_off.set(off or _is_off.get())
    try:
        yield
    finally:
        _is_off.reset(token)


def cache_folder() -> str | None:
    """The folder of the cache, which may not exist; None where the cache is off."""
    named = os.environ.get(VARIABLE, "")
    word = named.strip().lower()
    if _is_off.get() or word in _OFF or not hasattr(os, "preadv"):
        return None
    if word and word not in _ON:
        # The process may change its folder.
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG ignores relative paths.
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111 - which raises no error
        # As root with the home of another user, or without a home, there is no cache.
        base = os.path.join(home, ".cache") if _is_home(home) else ""  # noqa: PTH118
    elif _is_root_at_a_user(base):
        return None
    return os.path.join(base, "tfprof") if base else None  # noqa: PTH118


def _is_home(folder: str) -> bool:
    with suppress(OSError):
        return not hasattr(os, "geteuid") or os.stat(folder).st_uid == os.geteuid()  # noqa: PTH116
    return False


def _is_root_at_a_user(folder: str) -> bool:
    """Whether root would make *folder* among the files of a user, who could not use it then."""
    while not os.path.exists(folder):  # noqa: PTH110
        folder = os.path.dirname(folder)  # noqa: PTH120
    return hasattr(os, "geteuid") and not os.geteuid() and os.stat(folder).st_uid != 0  # noqa: PTH116


def make_folder(folder: str) -> None:
    """Make the *folder*, for this user alone; raises OSError where it is not ours."""
    missing = []
    way = folder
    while not os.path.lexists(way):
        missing.append(way)
        way = os.path.dirname(way)  # noqa: PTH120
    for place in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(place, 0o700)  # noqa: PTH102 - its mode
    if not is_ours(os.stat(folder)):  # noqa: PTH116
        raise PermissionError(folder)


def is_ours(status: os.stat_result) -> bool:
    """Whether this user owns a file or folder, and nobody else can write to it."""
    return _is_owned(status) and not status.st_mode & _OTHERS_WRITE


def _is_owned(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def why_unused(folder: str) -> str:
    """Why a *folder* that exists is not used as the cache; nothing if it is."""
    with suppress(OSError):
        status = os.stat(folder)  # noqa: PTH116
        if not stat.S_ISDIR(status.st_mode):
            return "it is not a folder"
        if not _is_owned(status):
            return "it belongs to another user"
        if status.st_mode & _OTHERS_WRITE:
            return f"other users can write to it; 'chmod go-w {folder}' mends that"
    return ""


def open_file(path: str) -> int | None:
    """A file of the cache, open; None where there is none or it is not ours."""
    with suppress(OSError):
        if not is_ours(os.stat(os.path.dirname(path))):  # noqa: PTH116, PTH120
            return None
        handle = regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        if is_ours(os.fstat(handle)):
            return handle
        os.close(handle)
    return None


def parts_of(folder: str, key: str) -> list[str]:
    """The files of the entry *key*, beside its profile."""
    with suppress(OSError), os.scandir(folder) as found:
        names = [file.name for file in found if _key_of(file.name) == key]
        return sorted(name for name in names if not name.endswith(PROFILE))
    return []


def _key_of(name: str) -> str | None:
    """The key of the entry that a file belongs to; None for a file that is not of the cache."""
    key, _, part = name.partition(".")
    is_ours = len(key) == _KEY and (part == PROFILE or len(part) == _PART)
    return key if is_ours and {*key, *part.removeprefix(PROFILE)} <= _HEX else None


def note_use(path: str) -> None:
    """From now on, the file is the one that was used last."""
    with suppress(OSError):
        os.utime(path)


def entries(folder: str) -> list[EntryFiles]:
    """The entries in *folder*, the one that was used last first."""
    files: dict[str, list[tuple[str, os.stat_result]]] = {}
    with suppress(OSError), os.scandir(folder) as found:
        for file in found:
            if key := _key_of(file.name):
                with suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    files.setdefault(key, []).append((file.path, status))
    every = [
        EntryFiles(
            key,
            [path for path, _ in of],
            sum(status.st_size for _, status in of),
            max(status.st_mtime for _, status in of),
        )
        for key, of in files.items()
    ]
    return sorted(every, key=lambda entry: -entry.used)


def remove_oldest(folder: str, most: int) -> None:
    """Remove the entries that were not used for longest, until the others have *most* bytes."""
    left = most
    for entry in entries(folder):
        left -= entry.size
        if left < 0:
            _remove(entry.files)
    with suppress(OSError), os.scandir(folder) as found:
        old = time.time() - _PATIENCE_SECONDS
        _remove(
            [f.path for f in found if f.name.startswith(_UNFINISHED) and f.stat().st_mtime < old]
        )


def remove_oldest_parts(folder: str, key: str, most: int, most_bytes: int) -> None:
    """Of the entry *key*, remove what was added longest ago, until that many additions are left."""
    parts: list[tuple[float, int, str]] = []
    for name in parts_of(folder, key):
        with suppress(OSError):
            path = os.path.join(folder, name)  # noqa: PTH118
            status = os.stat(path)  # noqa: PTH116
            parts.append((status.st_mtime, status.st_size, path))
    size = 0
    for number, (_, of_part, path) in enumerate(sorted(parts, reverse=True)):
        size += of_part
        if number >= most or size > most_bytes:
            _remove([path])


def clear(folder: str) -> list[EntryFiles]:
    """Remove all entries; returns those that cannot be removed."""
    for entry in entries(folder):
        _remove(entry.files)
    return entries(folder)


def _remove(files: list[str]) -> None:
    for file in files:
        with suppress(OSError):
            os.unlink(file)  # noqa: PTH108
