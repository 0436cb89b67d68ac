"""Write a file completely or not at all: beside its destination first, then moved there.

    pieces ─► a file without a name ─► .tfprof-3f2a… ─► report.txt
              vanishes with the         for a moment     the old file until now
              process, even if killed

On a system without unnamed files, the new file has its name from the start; then a killed process
leaves it behind. A pipe or a device is written to directly. Code that ends the process without an
exception calls `remove_unfinished` first. Progress counts the bytes written.
"""

# ruff: noqa: PTH101, PTH105, PTH108, PTH110, PTH112, PTH116, PTH118, PTH120, PTH121
# A report of a small file does without pathlib, which takes 3 ms and 1 MB to import.

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tfprof.errors import ClosedPipeError, OutputError
from tfprof.foundation.progress_events import Stage, announce
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_NEW_FILE_MODE = 0o666
_NAME_BYTES = 8
# How long to wait for a reader of a pipe: one may be about to start.
_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05

_unfinished: set[str] = set()


def write_file(
    path: str, pieces: Iterable[bytes], inputs: Iterable[str] = (), mode: int | None = None
) -> None:
    """Make *path* a file of *pieces*, but not where it is one of *inputs*.

    Without a *mode*, the file has the permissions of the old one, or those that the process gives
    to new files. On an OutputError the old file is unchanged. A link stays a link, and its target
    is replaced.
    """
    if any(_same_file(path, file) for file in inputs):
        raise OutputError(f"{path} is an input of this result and is not overwritten")
    pieces = with_progress(f"writing {path}", bounded(path, pieces))
    try:
        place = path.rstrip(os.sep) or path
        before = _status(place)
        if before is None or stat.S_ISREG(before.st_mode):
            _replace(os.path.realpath(place), before, pieces, mode)
            return
        with os.fdopen(_opened_device(path, before), "wb") as device:
            device.writelines(pieces)
    except OSError as problem:
        raise _unwritable(path, problem) from None


def with_progress(stage: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*; after each, progress shows how many bytes this *stage* has written."""
    written = 0
    for piece in pieces:
        yield piece
        written += len(piece)
        announce(Stage(stage, written))


def bounded(name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces*; raises OutputError that names *name* once they exceed the limit on outputs."""
    written, most = 0, limit("output_bytes")
    for piece in pieces:
        written += len(piece)
        if written > most:
            raise OutputError(f"{name} is too large: a result may have {beyond('output_bytes')}")
        yield piece


def make_folder(path: str) -> None:
    """Make the folder *path* where there is none; raises OutputError where it is not writable."""
    from pathlib import Path  # noqa: PLC0415

    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        raise _no_folder(path, problem) from None
    _check_writable(path, path)


def check_folder(path: str) -> None:
    """Raise OutputError where `make_folder` would; nothing is made."""
    from pathlib import Path  # noqa: PLC0415

    try:
        ways = (way for way in (Path(path), *Path(path).absolute().parents) if os.path.lexists(way))
        nearest = next(ways)
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except (OSError, ValueError) as problem:
        raise _no_folder(path, problem) from None
    _check_writable(path, nearest)


def _no_folder(path: str, problem: Exception) -> OutputError:
    reason = getattr(problem, "strerror", None) or problem
    return OutputError(f"the folder {path} cannot be made: {reason}")


def _check_writable(path: str, folder: Path | str) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        flags = os.statvfs(folder).f_flag if hasattr(os, "statvfs") else 0
        is_read_only = flags & getattr(os, "ST_RDONLY", 0)
        reason = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise OutputError(f"the folder {path} cannot be written to: {reason}")


def remove_unfinished() -> None:
    """Remove files that are being written; the old ones are unchanged."""
    for path in list(_unfinished):
        with suppress(OSError):
            os.unlink(path)


def _same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _unwritable(path: str, problem: Exception) -> OutputError:
    folder = os.path.dirname(path) or "."
    if isinstance(problem, FileNotFoundError) and not os.path.exists(folder):
        return OutputError(f"{path} cannot be written: there is no folder {folder}")
    if isinstance(problem, BrokenPipeError) and _same_file(path, "/dev/stdout"):
        return ClosedPipeError(f"{path} was closed before everything was written")
    if isinstance(problem, IsADirectoryError):
        return OutputError(f"{path} cannot be written: it is a folder")
    reason = getattr(problem, "strerror", None) or problem
    return OutputError(f"{path} cannot be written: {reason}")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except ValueError as problem:  # a NUL, or no text
        raise OSError(errno.EINVAL, str(problem)) from None


def _replace(
    target: str, before: os.stat_result | None, pieces: Iterable[bytes], wanted: int | None
) -> None:
    """Make *target* a file of *pieces*, with the permissions *wanted*, else those of *before*."""
    if wanted is None and before is not None:
        wanted = stat.S_IMODE(before.st_mode)
    mode = _NEW_FILE_MODE if wanted is None else wanted
    # A unique name. It is noted before it is used, so that it is removed whatever stops us.
    beside = os.path.join(os.path.dirname(target), f".tfprof-{os.urandom(_NAME_BYTES).hex()}")
    _unfinished.add(beside)
    try:
        handle, named = _new_file(beside, mode)
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            # Once moved, the file is complete even after a power cut; and a full or unreachable
            # disk may report that only now. This is worth a few milliseconds.
            os.fsync(handle)
            if not named:
                # Python follows the /proc link only where src_dir_fd is set. The path is
                # absolute, so the descriptor itself is not used.
                os.link(f"/proc/self/fd/{handle}", beside, src_dir_fd=handle)
        if wanted is not None:
            os.chmod(beside, mode)  # also the bits that the umask removes
        os.replace(beside, target)
    finally:
        with suppress(OSError):
            os.unlink(beside)
        _unfinished.discard(beside)


def _new_file(path: str, mode: int) -> tuple[int, bool]:
    """(a new empty file for *path*, open; whether it has that name already)."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not supported here; other errors come again below
            return os.open(os.path.dirname(path), os.O_WRONLY | os.O_TMPFILE, mode), False
    # A file that exists by chance is not opened.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), True


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
