"""Runs tasks on processes of this machine or on a Dask cluster, and tries again what got lost.

    tasks ──► waiting ──► in flight, at most two per slot ──► (index, result or Failure)
                 ▲                      │
                 └── lost or too late ──┘

The engine knows nothing of fleets: it is handed a pure function and what to call it with. A result
counts as in flight until the caller takes it, so memory is bounded however slow the caller is.
"""

from __future__ import annotations

import os
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from tfprof.errors import TfprofError, UsageError
from tfprof.fleet.process_pool import LostProcessError, ProcessPool, SuspectedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from types import TracebackType

    from typing_extensions import Self

Task = TypeVar("Task")
Result = TypeVar("Result")

# Seconds that a task has before it is tried again.
TIMEOUT = 600.0
# Systems wait for at most 2**31 milliseconds.
_LONGEST_TIMEOUT = 2_000_000.0
ATTEMPTS = 3
_IN_FLIGHT_PER_SLOT = 2
_TICK_SECONDS = 1.0


class Failure(NamedTuple):
    """Why a task has no result after all attempts."""

    reason: str
    kind: str = "damaged"


class _Suspected(Failure):
    """Maybe the fault of another task that was in flight."""


class Pool(Protocol):
    """Where tasks run."""

    # Seconds after which a task that was submitted will never answer.
    answers_within: float

    def slots(self) -> int:
        """How many tasks run at a time."""

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        """The result, later."""

    def result(self, future: Future[Any]) -> Any:  # noqa: ANN401 - whatever the function returns
        """What the function returned or raised; else TimeoutError or LostProcessError.

        SuspectedError where that may be the fault of another task.
        """

    def close(self) -> None:
        """Stop whatever runs."""


class Engine:
    """A process pool, or a Dask cluster: *scheduler* is its address, or `dask` for a local one."""

    def __init__(
        self,
        processes: int | None = None,
        scheduler: str = "",
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
    ) -> None:
        if processes is not None and processes < 1:
            raise UsageError(f"--processes={processes}: at least one process is needed")
        if timeout <= 0:
            raise UsageError(f"--task_timeout={timeout:g}: a task needs some time")
        timeout = min(timeout, _LONGEST_TIMEOUT)
        self._timeout, self._attempts = timeout, attempts
        count = processes or _cores()
        self._pool: Pool
        if scheduler:
            from tfprof.fleet.dask_pool import DaskPool  # noqa: PLC0415 - who names a scheduler pays

            self._pool = DaskPool(scheduler, count, timeout)
        else:
            self._pool = ProcessPool(count, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything that still runs; results that nobody took are lost."""
        self._pool.close()

    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result | Failure]]:
        """(number of the task, what the function returned), as they complete.

        An error of tfprof that the function raises ends the run; a task that fails otherwise on
        every attempt gets a Failure.
        """
        run = _Run(self._pool, function, tasks, self._attempts, self._timeout)
        while len(run.answered) < len(tasks):
            run.submit()
            yield from run.results()
            yield from run.overdue()


class _Run(Generic[Task, Result]):
    """The tasks of one call of Engine.run: waiting, in flight, answered."""

    def __init__(
        self,
        pool: Pool,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        attempts: int,
        timeout: float,
    ) -> None:
        self._pool, self._function, self._tasks = pool, function, tasks
        self._attempts, self._timeout = attempts, timeout
        self._waiting = deque(range(len(tasks)))
        self._tries = [0] * len(tasks)
        self._flights: dict[Future[Result], tuple[int, float]] = {}  # task, time of submission
        self._replaced: set[Future[Result]] = set()  # another attempt is under way
        self._suspects: deque[int] = deque()  # to be tried with nothing else in flight
        self._tried_alone: set[int] = set()
        self.answered: set[int] = set()

    def submit(self) -> None:
        """Fill the slots."""
        most = _IN_FLIGHT_PER_SLOT * max(1, self._pool.slots())
        while self._waiting and self._in_flight() < most:
            self._submit(self._waiting.popleft())
        if self._suspects and not self._in_flight():
            self._tried_alone.add(self._suspects[0])
            self._submit(self._suspects.popleft())

    def _in_flight(self) -> int:
        return len(self._flights) - len(self._replaced)

    def _submit(self, index: int) -> None:
        if index not in self.answered:
            self._tries[index] += 1
            future = self._pool.submit(self._function, self._tasks[index])
            self._flights[future] = index, time.monotonic()

    def results(self) -> Iterator[tuple[int, Result | Failure]]:
        """What has been completed after a while. Of several attempts, the first answer counts."""
        done, _ = wait(self._flights, _TICK_SECONDS, FIRST_COMPLETED)
        for future in done:
            outcome = self._outcome(future)
            index, _ = self._flights.pop(future)
            if future in self._replaced and isinstance(outcome, Failure):
                self._replaced.remove(future)
                continue
            self._replaced.discard(future)
            yield from self._settle(index, outcome)

    def overdue(self) -> Iterator[tuple[int, Result | Failure]]:
        """Try again what can no longer answer; it is still heard if it does."""
        latest = time.monotonic() - self._pool.answers_within
        for future, (index, submitted) in [*self._flights.items()]:
            if submitted < latest and future not in self._replaced:
                self._replaced.add(future)
                yield from self._settle(index, self._too_late())

    def _settle(
        self, index: int, outcome: Result | Failure
    ) -> Iterator[tuple[int, Result | Failure]]:
        if index in self.answered or (isinstance(outcome, Failure) and self._again(index, outcome)):
            return
        self.answered.add(index)
        if isinstance(outcome, Failure) and self._tries[index] > 1:
            outcome = Failure(f"{outcome.reason}, {self._tries[index]} times", outcome.kind)
        yield index, outcome

    def _again(self, index: int, failure: Failure) -> bool:
        """Whether the task has another attempt."""
        if isinstance(failure, _Suspected):
            again, queue = index not in self._tried_alone, self._suspects
        else:
            again, queue = self._tries[index] < self._attempts, self._waiting
        if again:
            queue.append(index)
        return again

    def _outcome(self, future: Future[Result]) -> Result | Failure:
        try:
            result: Result = self._pool.result(future)
        except TfprofError:
            raise
        except TimeoutError:
            return self._too_late()
        except SuspectedError as problem:
            return _Suspected(f"the processes that read it ended ({problem})")
        except LostProcessError as problem:
            return Failure(f"the process that read it ended ({problem})")
        except Exception as problem:  # noqa: BLE001 - one task is not the end of the run
            return Failure(str(problem))
        return result

    def _too_late(self) -> Failure:
        return Failure(f"no answer within {self._timeout:g} seconds", "timeout")


def _cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
