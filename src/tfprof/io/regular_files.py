"""The one way to open a file that nobody named: it is a regular file, or an error says what it is.

    with open(path, "rb", opener=regular) as file:

Opening a named pipe waits until somebody writes to it, and reading takes away what others wait for.
"""

# ruff: noqa: PTH116
# A report of a small file does without pathlib, which takes 3 ms and 1 MB to import.

from __future__ import annotations

import errno
import os
import stat
from typing import Final

_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0)


def regular(path: str, flags: int) -> int:
    """The regular file at *path*, open; raises OSError for anything else, and never waits."""
    # Who writes to a pipe goes on once somebody opens it, so it is looked at before.
    _check(os.stat(path))
    try:
        handle = os.open(path, flags | _WITHOUT_WAITING)
    except BlockingIOError:  # another process has a lease on it, which it gives up when asked
        handle = os.open(path, flags)
    try:
        _check(os.fstat(handle))  # another file may have its place by now
    except OSError:
        os.close(handle)
        raise
    return handle


def is_special(path: str) -> bool:
    """Whether there is a pipe, a socket or a device at *path*."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode) in _KINDS
    except (OSError, ValueError):
        return False


def _check(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        what = _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")
        raise OSError(errno.EINVAL, f"it is {what}")
