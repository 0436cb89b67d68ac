"""A process pool that survives its processes: one that dies or hangs is replaced.

    thread of an executor ──task──► process     Each thread owns one process, so it knows which
                          ◄─result─             task a process had when it died or hung.

A `concurrent.futures.ProcessPoolExecutor` breaks as a whole when one process dies, does not say
whose task it was, and cannot end a process that hangs. So tasks go to a ThreadPoolExecutor, whose
threads hand them on: whoever waits for a process that is gone, or waits too long, ends it, raises,
and starts another one for its next task.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from tfprof.errors import TfprofError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

# Not fork: other threads of this process may hold locks.
_CONTEXT = multiprocessing.get_context("spawn")
# A killed process is gone by then, unless it waits for a disk that does not answer.
_PATIENCE_SECONDS = 5.0
_START_SECONDS = 120.0


class LostProcessError(Exception):
    """The process that had the task ended before it answered."""


class SuspectedError(Exception):
    """Processes that had the task, and maybe others, ended before they answered."""


class TaskError(Exception):
    """The text of an exception that a task raised."""


class ProcessPool:
    """Runs tasks in *count* processes, each within *timeout* seconds."""

    # A task always answers, at the latest when its process is ended.
    answers_within = float("inf")

    def __init__(self, count: int, timeout: float) -> None:
        self._count, self._timeout = count, timeout
        self._own = threading.local()
        self._living: set[_Process] = set()
        self._closed = False
        # It unblocks signals in the thread that starts it, so that is none of the pool's.
        resource_tracker.ensure_running()
        self._executor = ThreadPoolExecutor(count, "tfprof-fleet", initializer=_block_ctrl_c)

    def slots(self) -> int:
        """How many tasks run at a time."""
        return self._count

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        """What the function returns or raises; else TimeoutError or LostProcessError."""
        try:
            return self._executor.submit(self._call, function, task)
        except RuntimeError as problem:  # no thread for the process
            raise not_started(str(problem)) from None

    def result(self, future: Future[Any]) -> object:
        """The result of a *future* that is done."""
        return future.result()

    def close(self) -> None:
        """End all processes, also those that hang."""
        self._closed = True
        for process in [*self._living]:
            process.kill()
        self._executor.shutdown(cancel_futures=True)
        for process in [*self._living]:
            self._discard(process)

    def _call(self, function: Callable[[Any], Any], task: object) -> object:
        process: _Process | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = _Process()
            self._living.add(process)
            if self._closed:  # close() may have missed it
                process.kill()
        try:
            succeeded, result = process.call(function, task, self._timeout)
        except BaseException:
            self._own.process = None
            self._discard(process)
            raise
        if succeeded:
            return result
        raise result

    def _discard(self, process: _Process) -> None:
        self._living.discard(process)
        process.end()


class _Process:
    """A process that answers one call at a time."""

    def __init__(self) -> None:
        self._ready = False
        with ExitStack() as at_a_fault, _starting():
            self._connection, theirs = _CONTEXT.Pipe()
            with theirs:
                at_a_fault.callback(self._connection.close)
                self._process = _CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
                self._process.start()
            at_a_fault.pop_all()

    def call(
        self, function: Callable[[Any], Any], task: object, timeout: float
    ) -> tuple[bool, Any]:
        """(True, its result) or (False, its exception)."""
        message = pickle.dumps((function, task), pickle.HIGHEST_PROTOCOL)
        try:
            if not self._ready:
                self._wait_for_start()
            self._connection.send_bytes(message)
            if not self._connection.poll(timeout):
                raise TimeoutError
            answer = self._connection.recv_bytes()
        except (EOFError, ConnectionError):
            self._process.join(_PATIENCE_SECONDS)
            ending = _ending(self._process.exitcode)
            raise LostProcessError(ending) if self._ready else not_started(ending) from None
        succeeded, result = pickle.loads(answer)  # noqa: S301 - from our own process
        return succeeded, result

    def _wait_for_start(self) -> None:
        if not self._connection.poll(_START_SECONDS):
            raise not_started(f"no answer within {_START_SECONDS:g} seconds")
        self._ready = self._connection.recv_bytes() == b"ready"

    def kill(self) -> None:
        """End it; whoever waits for its answer gets LostProcessError."""
        self._process.kill()

    def end(self) -> None:
        """End it and release what it holds."""
        self._process.kill()
        self._process.join(_PATIENCE_SECONDS)
        self._connection.close()


def _ending(code: int | None) -> str:
    """How a process ended, by its exit code."""
    if code is None:
        return "it cannot be ended"
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def not_started(reason: str) -> UsageError:
    """The error of a process that ends before it begins, as in a script that it runs again."""
    return UsageError(
        f"a process of the pool did not start ({reason}); a script that gathers a fleet does so "
        'under `if __name__ == "__main__":`'
    )


@contextmanager
def _starting() -> Iterator[None]:
    """Inside, whatever keeps a process from starting is an error of tfprof."""
    try:
        yield
    except (BrokenPipeError, RuntimeError) as problem:  # it has ended already
        raise not_started(str(problem).strip().partition("\n")[0]) from problem
    except OSError as problem:
        raise UsageError(
            f"a process of the pool did not start: {problem.strerror}; "
            "--processes=N starts at most N processes"
        ) from problem


def _block_ctrl_c() -> None:
    """Ctrl-C reaches every process of a terminal: those started by this thread leave it to us."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(connection: Connection) -> None:
    """What a process of the pool runs, until its parent closes the connection or dies."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection.send_bytes(b"ready")
    with suppress(EOFError, ConnectionError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def _answer(message: bytes) -> bytes:
    """The pickle of (True, result) or (False, exception)."""
    try:
        function, task = pickle.loads(message)  # noqa: S301 - from our own parent
        return pickle.dumps((True, function(task)), pickle.HIGHEST_PROTOCOL)
    except TfprofError as problem:
        return pickle.dumps((False, problem))
    except BaseException as problem:  # noqa: BLE001 - the parent decides
        return pickle.dumps((False, TaskError(f"{type(problem).__name__}: {problem}")))
