"""How much memory all processes of a test run take at once, at most: those that a run has started.

A process belongs to the run if its environment names the run, or if a process of the run started
it. What several processes share counts once: of each, its proportional set size.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

_SECONDS: Final = 0.5
_NAME: Final = "TFPROF_TEST_RUN"


class MemoryPeak:
    """Looks at the processes of this run twice a second, until it is asked for the peak."""

    def __init__(self) -> None:
        os.environ[_NAME] = str(os.getpid())
        self._peak = 0
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    @staticmethod
    def is_known_here() -> bool:
        """Whether this system says how much memory a process takes."""
        return Path("/proc/self/smaps_rollup").exists()

    def end(self) -> int:
        """The peak in bytes."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._peak = max(self._peak, sum(map(_bytes_of, processes_of(os.getpid()))))


def processes_of(run: int) -> set[int]:
    """The processes of the run that this process began."""
    mark = f"{_NAME}={run}".encode()
    parents: dict[int, int] = {}
    found = {run}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):  # one may end while we look
                parents[int(folder.name)] = _parent(folder)
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.add(int(folder.name))
    grows = True
    while grows:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
        grows = bool(more)
    return found


def _parent(folder: Path) -> int:
    # The name, in parentheses, may contain anything; the state and the parent come after it.
    return int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def _bytes_of(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
