"""Whole or not at all: pieces become a file beside their destination, which is then moved there.

    pieces ─► a file without a name ─► .tfprof-3f2a… ─► report.txt
              gone with us, also        for a moment     the old one until now
              where we are killed

Where a system has no files without a name, the one beside has its name from the start; then only
being killed leaves it behind. What is no plain file, such as a pipe, is written to as it is.
Who is about to leave at once, without an exception, calls `remove_unfinished` first.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEW_FILE_MODE = 0o666
_NAME_BYTES = 8
# For somebody to read from a pipe: a reader may be about to start.
_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05

_unfinished: set[Path] = set()


def write(path: str, pieces: Iterable[bytes]) -> None:
    """Make *path* a file of *pieces*; raises OSError, and then what was there still is.

    A link stays a link, and what it points to is replaced.
    """
    try:
        before = Path(path).stat()
    except FileNotFoundError:
        before = None
    except ValueError as problem:  # a NUL, or what is no text
        raise OSError(errno.EINVAL, str(problem)) from None
    if before is None or stat.S_ISREG(before.st_mode):
        _replace(Path(path).resolve(), before, pieces)
        return
    with os.fdopen(_opened_device(path, before), "wb") as device:
        device.writelines(pieces)


def remove_unfinished() -> None:
    """Remove whatever is written at this moment; what was there before still is."""
    for path in list(_unfinished):
        with suppress(OSError):
            path.unlink()


def _replace(target: Path, before: os.stat_result | None, pieces: Iterable[bytes]) -> None:
    """Make *target* a file of *pieces*, with the permissions of the one that was there *before*."""
    mode = _NEW_FILE_MODE if before is None else stat.S_IMODE(before.st_mode)
    # A name that nobody else has. It is known before it is used, so that whatever stops us in
    # between, it is removed.
    beside = target.parent / f".tfprof-{os.urandom(_NAME_BYTES).hex()}"
    _unfinished.add(beside)
    try:
        handle, named = _new_file(beside, mode)
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            # Once it is moved, it is whole also after a power cut; and a disk that is full or out
            # of reach may say so only now. That is worth the millisecond or the few it takes.
            os.fsync(handle)
            if not named:
                # Only a call that is told where to look from follows the link, which names the
                # whole way and so is looked for from nowhere.
                os.link(_name_of_open(handle), beside, src_dir_fd=handle)
        if before is not None:
            beside.chmod(mode)  # also what the mask of new files forbids
        beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink()
        _unfinished.discard(beside)


def _new_file(path: Path, mode: int) -> tuple[int, bool]:
    """A file that is to be called *path*, open and empty, and whether it is called so by now."""
    if hasattr(os, "O_TMPFILE") and Path(_name_of_open(0)).parent.is_dir():
        with suppress(OSError):  # not here; or not at all, which the other way tells better
            return os.open(path.parent, os.O_WRONLY | os.O_TMPFILE, mode), False
    # What is there by chance is not opened.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), True


def _name_of_open(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _opened_device(path: str, status: os.stat_result) -> int:
    """A terminal, a pipe or the like, open for writing; raises OSError for a folder or a socket."""
    if stat.S_ISSOCK(status.st_mode):
        raise OSError(errno.ENXIO, "it is a socket")
    if not stat.S_ISFIFO(status.st_mode):
        return os.open(path, os.O_WRONLY)
    patient_until = time.monotonic() + _PATIENCE_SECONDS
    while (handle := _opened_pipe(path)) is None:
        if time.monotonic() > patient_until:
            raise OSError(errno.ENXIO, "it is a pipe that nobody reads from")
        time.sleep(_PAUSE_SECONDS)
    return handle


def _opened_pipe(path: str) -> int | None:
    """A pipe with a name, open for writing; None while nobody reads from it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return None
        raise
    os.set_blocking(handle, True)
    return handle
