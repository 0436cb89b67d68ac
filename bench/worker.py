"""A measured process: it is asked one thing at a time and answers with seconds and peak memory.

    parent                              child
    Worker.ask("load", graph=…)  ──►    serve({"load": load, …}) calls load(graph=…)
    Measure(seconds, peak)       ◄──    the function returns its own seconds

Requests and replies are JSON lines. The parent must stay small: the kernel counts the memory of
the process that starts a child towards the child's peak.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_KIB = 1024
_HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib would only add to the start-up measured


class WorkerError(Exception):
    """A measured process failed; the text is the last line it wrote."""


class Measure(NamedTuple):
    """One measurement."""

    seconds: float
    peak: int


def environment() -> dict[str, str]:
    """The environment of every measured process.

    An installed package has its bytecode beside it, as TensorFlow has here; ours is kept in the
    output folder, whatever the caller's own wishes are.
    """
    source = os.path.join(_HERE, os.pardir, "src")  # noqa: PTH118
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONPYCACHEPREFIX": os.path.join(_HERE, "out", "bytecode"),  # noqa: PTH118
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TFPROF_CACHE": "off",
    }


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def timed(command: Sequence[str], **variables: str) -> Measure:
    """A fresh process from start to exit: wall time and its own peak memory."""
    environ = {**environment(), **variables}
    with tempfile.TemporaryFile() as log:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env=environ)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise WorkerError(f"ended with {child.returncode}: {_last_line(log)}")
    return Measure(seconds, usage.ru_maxrss * _KIB)


class Worker:
    """The parent's end of a process that runs `serve`."""

    def __init__(self, script: Path, python: str = sys.executable, **variables: str) -> None:
        """Remember the script, the Python that runs it and variables; nothing starts yet."""
        self._variables = variables
        self._command = [python, str(script), "serve"]
        self._child: subprocess.Popen[str] | None = None
        self._end = "never started"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker

    def fresh(self) -> Worker:
        """The same worker with a new process."""
        self.stop()
        self._log.seek(0)
        self._log.truncate()
        self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**environment(), **self._variables},
            text=True,
        )
        return self

    def ask(self, command: str, **arguments: object) -> Measure:
        """What the command took."""
        if self._child is None or self._child.stdin is None or self._child.stdout is None:
            raise WorkerError(self._end)
        try:
            self._child.stdin.write(json.dumps([command, arguments]) + "\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self._child.wait()
            self.stop()
            self._end = f"ended with {code}: {_last_line(self._log)}"
            raise WorkerError(self._end)
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(reply["error"])
        return Measure(reply["seconds"], reply["peak"])

    def stop(self) -> None:
        """End the process: killed, as the original takes seconds to tidy up."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


def serve(commands: Mapping[str, Callable[..., float]]) -> None:
    """The child's end: answer until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the original prints to descriptor 1 itself
    for line in sys.stdin:
        command, arguments = json.loads(line)
        try:
            seconds = commands[command](**arguments)
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent reports it
            reply: dict[str, object] = {"error": f"{type(error).__name__}: {error}"}
        else:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
            reply = {"seconds": seconds, "peak": peak}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
