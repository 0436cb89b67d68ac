"""How much memory all processes of a test run take at once, at most: those that a run has started.

A process belongs to the run if its environment names the run, or if a process of the run started
it. What several processes share counts once: of each, its proportional set size.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

_SECONDS: Final = 0.5
_PAUSES: Final = 30  # so many times what a look takes: three percent of one processor
_NAMED: Final = 6
_NAME: Final = "TFPROF_TEST_RUN"


class MemoryPeak:
    """Looks at the processes of this run now and then, until it is asked for the peak."""

    def __init__(self) -> None:
        os.environ[_NAME] = str(os.getpid())
        self._peak: dict[int, int] = {}
        self._largest: list[str] = []
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    @staticmethod
    def is_known_here() -> bool:
        """Whether this system says how much memory a process takes."""
        return Path("/proc/self/smaps_rollup").exists()

    def end(self) -> str:
        """A sentence with the peak, and with the largest processes of that moment."""
        self._ended.set()
        self._thread.join()
        peak = sum(self._peak.values()) / 1e9
        largest = ", ".join(self._largest)
        return f"All processes together took at most {peak:.1f} GB of memory: {largest}, …"

    def _watch(self) -> None:
        while True:
            began = time.thread_time()
            taken = {process: _bytes_of(process) for process in processes_of(os.getpid())}
            if sum(taken.values()) > sum(self._peak.values()):
                self._peak = taken
                largest = sorted(taken, key=taken.__getitem__, reverse=True)[:_NAMED]
                self._largest = [f"{taken[each] / 1e9:.1f} {_name(each)}" for each in largest]
            # A large process takes long to look at.
            if self._ended.wait(max(_SECONDS, _PAUSES * (time.thread_time() - began))):
                return


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


def _name(process: int) -> str:
    """What a process runs: its script, or its program."""
    with suppress(OSError):
        words = Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")
        scripts = [word for word in words if word.endswith(".py")]
        return Path((scripts or words)[0]).name
    return "one that has ended"


def _bytes_of(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
