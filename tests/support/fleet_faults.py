"""Tasks that go wrong by real means, for the engines of a fleet: what a process runs in tests.

A Job leaves a file in its folder each time it runs, so that a fault strikes on the first run only,
whichever process has the second, and tests can count the runs. A FaultyEngine plants such faults
in the tasks of a real gather.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from tfprof.errors import InputError
from tfprof.fleet.engine import Engine, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Task = TypeVar("Task")
Result = TypeVar("Result")

LONG = 3600.0


class Job(NamedTuple):
    """A number to square, the fault on the way, and how often it strikes."""

    number: int
    folder: str
    fault: str = ""
    strikes: int = 1


def runs(job: Job) -> int:
    """How often the job has been started."""
    return len([*Path(job.folder).glob(f"{job.number}.*")])


def square(job: Job) -> int:
    """The square of the job's number, unless the fault strikes."""
    tempfile.mkstemp(prefix=f"{job.number}.{os.getpid()}.", dir=job.folder)
    if runs(job) <= job.strikes:
        strike(job.fault)
    return job.number**2


def strike(fault: str) -> None:
    """Do what *fault* names to this process."""
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif fault == "hangs":
        time.sleep(LONG)
    elif fault == "killed while it answers":
        Connection._send = _send_half  # type: ignore[attr-defined]
    elif fault == "raises":
        raise ZeroDivisionError("no such number")
    elif fault == "wrong input":
        raise InputError("x: no such file")


@dataclass(frozen=True)
class Planted(Generic[Result]):
    """*function* with a fault for some tasks, by number, on their first run."""

    function: Callable[[Any], Result]
    folder: str
    faults: Mapping[int, str]

    def __call__(self, numbered: tuple[int, Any]) -> Result:
        number, task = numbered
        if fault := self.faults.get(number):
            square(Job(number, self.folder, fault))
        return self.function(task)


class FaultyEngine(Engine):
    """An engine whose first run has faults; *folder* gets a file each time a faulty task runs."""

    def __init__(
        self, folder: Path, faults: Mapping[int, str], *positional: Any, **options: Any
    ) -> None:
        super().__init__(*positional, **options)
        self._folder, self._faults = str(folder), faults

    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result | Failure]]:
        planted = Planted(function, self._folder, self._faults)
        self._faults = {}
        yield from super().run(planted, [*enumerate(tasks)])


def _send_half(self: Connection, message: Any) -> None:
    os.write(self.fileno(), bytes(message)[: len(message) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
