"""Tasks that go wrong by real means, for the engines of a fleet: what a process runs in tests.

A task is a Job. Each time it runs it leaves a file in the job's folder, so that a fault strikes on
the first run only, whichever process has the second, and tests can count the runs.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from tfprof.errors import InputError

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


def _send_half(self: Connection, message: Any) -> None:
    os.write(self.fileno(), bytes(message)[: len(message) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
