"""The traces in a capture's folder, which TensorFlow writes: they are whole, or not there.

    plugins/profile/TIME/HOST.xplane.pb

A full disk cuts a trace off, and TensorFlow need not notice.
"""

from __future__ import annotations

import socket
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.io.beside import TRACES
from tfprof.io.open_files import mapped
from tfprof.wire.scalar import WireError, buffer_view, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

_Version = tuple[int, int, int]


class NewTraces:
    """The traces that this process writes into *folder* after `begin`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._before: dict[Path, _Version] | None = None

    def begin(self) -> None:
        """What is there now is of earlier captures."""
        self._before = self._versions()

    def without_damaged(self) -> Iterator[str]:
        """Remove those that are cut off; one sentence each.

        The folder of the session stays: the latest one, it says that earlier traces are not.
        """
        if self._before is None:
            return
        for file, version in self._versions().items():
            if self._before.get(file) != version and not _is_whole(file):
                file.unlink()
                yield f"{file} is cut off after {version[1]:,} bytes"

    def _versions(self) -> dict[Path, _Version]:
        # Another host may be writing its own trace right now.
        name = f"{socket.gethostname()}.xplane.pb"
        return {file: _version(file) for file in traces_in(self._folder) if file.name == name}


def traces_in(folder: str) -> list[Path]:
    """All traces in the folder of a capture, also those of earlier ones."""
    return [file for file in Path(folder, TRACES).glob("*/*.xplane.pb") if file.is_file()]


def _version(file: Path) -> _Version:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_whole(file: Path) -> bool:
    """Whether the planes of a trace fill it; it has one at least."""
    data = mapped(str(file))
    try:
        deque(walk(buffer_view(data), 0, data.size), maxlen=0)
    except WireError:
        return False
    return data.size > 0
