"""Files out: written beside their destination and moved there when complete.

A failed write leaves the old file in place. Progress counts the bytes written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.errors import OutputError
from tfprof.foundation.progress_events import Stage, announce
from tfprof.io import atomic_write
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def write_whole(path: str, pieces: Iterable[bytes]) -> None:
    """Write *pieces* to *path*: all of them, or nothing and the old file stays."""
    try:
        atomic_write.write(path, told(f"writing {path}", bounded(path, pieces)))
    except OSError as problem:
        raise _unwritable(path, problem) from None


def told(stage: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
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


def write_apart(path: str, pieces: Iterable[bytes], inputs: Iterable[str]) -> None:
    """Write *pieces* to *path* as `write_whole` does, but never over one of *inputs*."""
    if any(same_file(path, file) for file in inputs):
        raise OutputError(f"{path} is an input of this result and is not overwritten")
    write_whole(path, pieces)


def make_folder(path: str) -> None:
    """Make the folder *path* where there is none; raises OutputError where it is not writable."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise OutputError(f"the folder {path} cannot be made: {reason}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise OutputError(f"the folder {path} cannot be written to: no permission")


def same_file(path: str, other: str) -> bool:
    """Whether two paths name one existing file."""
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def _unwritable(path: str, problem: Exception) -> OutputError:
    if isinstance(problem, FileNotFoundError) and not Path(path).parent.exists():
        return OutputError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    if isinstance(problem, IsADirectoryError):
        return OutputError(f"{path} cannot be written: it is a folder")
    reason = getattr(problem, "strerror", None) or problem
    return OutputError(f"{path} cannot be written: {reason}")
