"""Tasks on a Dask cluster, through its executor.

Dask handles lost workers, the queue and the dashboard. tfprof handles what hangs. Each task runs in
a thread of its own, and after the timeout its worker takes the next task. If a worker does not
answer at all, the engine submits its task again to another one.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
import warnings
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from tfprof import __version__
from tfprof.errors import OutputError, TfprofError, UsageError
from tfprof.fleet.packages import need
from tfprof.fleet.process_pool import SuspectedError, TaskError, not_started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

LOCAL: Final = "dask"
_CONNECT_SECONDS = 10.0
# A cluster that starts workers on demand has none at first.
_NO_WORKERS_SECONDS = 120.0
_LOOK_SECONDS = 1.0
_SLOW_DISK: Final = "Creating scratch directories is taking a surprisingly long time"


class DaskPool:
    """The workers of the *scheduler* at an address, or a local cluster of *count* processes."""

    def __init__(self, scheduler: str, count: int, timeout: float) -> None:
        if scheduler != LOCAL and "://" not in scheduler:
            raise UsageError(
                f"--scheduler={scheduler}: give its address, such as tcp://host:8786, or {LOCAL} "
                "for a cluster on this machine"
            )
        distributed = need("distributed")
        # What matters of its log reaches the user as a sentence.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._distributed, self._scheduler, self._timeout = distributed, scheduler, timeout
        self._count = count
        # A task waits for at most one other on its worker, and each has its timeout there.
        self.answers_within = 3 * timeout
        self._cluster = _local_cluster(distributed, count) if scheduler == LOCAL else None
        try:
            self._client = _connect(distributed, scheduler, self._cluster)
            self._executor = self._client.get_executor(pure=False)
            self._threads, self._looked_at, self._seen_at = 0, 0.0, time.monotonic()
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def slots(self) -> int:
        """How many tasks run at a time: the threads of all workers that are there now."""
        now = time.monotonic()
        if now - self._looked_at > _LOOK_SECONDS:
            self._threads = sum(self._ask(self._client.nthreads).values())
            self._looked_at = now
        if self._threads:
            self._seen_at = now
        elif now - self._seen_at > _NO_WORKERS_SECONDS:
            raise OutputError(f"the Dask scheduler at {self._scheduler} has no workers")
        return self._threads

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        """What the function returns or raises, for result()."""
        future: Future[Any] = self._ask(
            self._executor.submit, _within, self._timeout, function, task
        )
        return future

    def result(self, future: Future[Any]) -> object:
        """The result of a *future* that is done; TimeoutError or SuspectedError if it has none."""
        try:
            return future.result()
        except CancelledError:
            raise self._gone() from None
        except self._distributed.KilledWorker as problem:
            # Dask blames every task of a worker that dies, also those that wait there.
            raise SuspectedError(f"{problem.allowed_failures + 1} workers of Dask") from None

    def close(self) -> None:
        """Forget all tasks; a local cluster ends, other workers finish what they are at."""
        client = getattr(self, "_client", None)
        if client is not None:
            if self._cluster is not None:
                # Dask fails to end a worker that it has just begun to start.
                with suppress(TimeoutError):
                    client.wait_for_workers(self._count, timeout=_CONNECT_SECONDS)
            client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _ask(self, request: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
        try:
            return request(*arguments)
        except TfprofError:
            raise
        except (OSError, RuntimeError, ValueError):
            raise self._gone() from None

    def _gone(self) -> OutputError:
        return OutputError(
            f"the Dask scheduler at {self._scheduler} has gone; what was read so far is kept for "
            "--resume"
        )

    def _check_versions(self) -> None:
        """The same bytes come out only where the same tfprof runs."""
        try:
            versions = {*self._client.run(_version).values()}
        except Exception as problem:  # noqa: BLE001 - whatever the workers raise
            raise UsageError(
                f"workers of the Dask scheduler at {self._scheduler} cannot run tfprof: {problem}"
            ) from None
        if versions - {__version__}:
            raise UsageError(
                f"workers of the Dask scheduler at {self._scheduler} have tfprof "
                f"{', '.join(sorted(versions))}, and this is tfprof {__version__}"
            )


def _local_cluster(distributed: Any, count: int) -> Any:  # noqa: ANN401 - Dask has no types
    try:
        with _fewer_warnings():
            return distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError as problem:
        raise not_started(str(problem).strip().partition("\n")[0]) from None


@contextmanager
def _fewer_warnings() -> Iterator[None]:
    """Processes started here do not mention a slow disk, nor what Ctrl-C leaves to clean up."""
    before = [*sys.warnoptions]  # for new processes; this one has its filters
    sys.warnoptions += ["ignore::UserWarning:multiprocessing.resource_tracker"]
    sys.warnoptions += [f"ignore:{_SLOW_DISK}"]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _SLOW_DISK)
            yield
    finally:
        sys.warnoptions[:] = before


def _connect(distributed: Any, scheduler: str, cluster: Any) -> Any:  # noqa: ANN401 - likewise
    try:
        return distributed.Client(
            scheduler if cluster is None else cluster,
            timeout=_CONNECT_SECONDS,
            set_as_default=False,
        )
    except (OSError, ValueError):
        raise UsageError(
            f"--scheduler={scheduler}: no Dask scheduler answers there within "
            f"{_CONNECT_SECONDS:g} seconds"
        ) from None


def _version() -> str:
    return __version__


def _within(timeout: float, function: Callable[[Any], Any], task: object) -> object:
    """Call *function* on a worker; raises TimeoutError where that takes too long."""
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def call() -> None:
        try:
            answers.put((True, function(task)))
        except TfprofError as problem:
            answers.put((False, problem))
        except BaseException as problem:  # noqa: BLE001 - the engine decides
            answers.put((False, TaskError(f"{type(problem).__name__}: {problem}")))

    threading.Thread(target=call, daemon=True).start()
    try:
        succeeded, result = answers.get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError from None
    if succeeded:
        return result
    raise result
