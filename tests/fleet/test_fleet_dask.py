"""Tasks on a real Dask cluster of several processes, which die, hang and go away."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from dask_cluster import cluster
from fleet_faults import Job, runs, square
from tfprof import __version__
from tfprof.errors import InputError, OutputError, UsageError
from tfprof.fleet import dask_pool
from tfprof.fleet.engine import Engine, Failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def engine_on(workers: int, **options: Any) -> Iterator[Engine]:
    """An engine on a cluster of its own."""
    with cluster(workers) as made, Engine(scheduler=made.scheduler_address, **options) as engine:
        yield engine


def test_a_worker_is_killed(tmp_path: Path) -> None:
    folder = str(tmp_path)
    faulty = {2: Job(2, folder, "killed"), 3: Job(3, folder, "raises")}
    tasks = [faulty.get(number, Job(number, folder)) for number in range(8)]
    with engine_on(2) as engine:
        pairs = sorted(engine.run(square, tasks))
    assert pairs == [(number, number**2) for number in range(8)]
    assert all(runs(job) > 1 for job in faulty.values())


@pytest.mark.whole
def test_a_cluster_of_this_machine_with_tasks_that_always_fail(tmp_path: Path) -> None:
    folder = str(tmp_path)
    faulty = {1: Job(1, folder, "killed", 99), 4: Job(4, folder, "hangs", 99)}
    tasks = [faulty.get(number, Job(number, folder)) for number in range(12)]
    # Four new workers start within three times the timeout, also on a busy machine.
    with Engine(processes=2, scheduler="dask", timeout=15, attempts=1) as engine:
        outcomes = dict(engine.run(square, tasks))
    killed, hung = outcomes.pop(1), outcomes.pop(4)
    assert outcomes == {number: number**2 for number in range(12) if number not in faulty}
    # The second time they are tried alone, to be sure who is to blame.
    assert killed == Failure("the processes that read it ended (4 workers of Dask), 2 times")
    assert isinstance(hung, Failure)
    assert hung.kind == "timeout"


@pytest.mark.whole
def test_a_worker_that_stops_is_given_up_and_its_tasks_are_not(tmp_path: Path) -> None:
    folder = str(tmp_path)
    tasks = [Job(number, folder, "stopped" if number == 1 else "") for number in range(8)]
    with cluster(2) as made:
        with Engine(scheduler=made.scheduler_address, timeout=2) as engine:
            pairs = sorted(engine.run(square, tasks))
        stopped = min(tmp_path.glob("1.*"), key=lambda path: path.stat().st_mtime_ns)
        os.kill(int(stopped.name.split(".")[1]), signal.SIGCONT)  # so that the cluster can close
    assert pairs == [(number, number**2) for number in range(8)]


@pytest.mark.whole
def test_tasks_that_always_hang_hold_no_worker(tmp_path: Path) -> None:
    folder = str(tmp_path)
    tasks = [Job(number, folder, "hangs" if number < 2 else "", 99) for number in range(4)]
    with engine_on(1, timeout=4, attempts=2) as engine:
        outcomes = dict(engine.run(square, tasks))
    late = Failure("no answer within 4 seconds, 2 times", "timeout")
    assert outcomes == {0: late, 1: late, 2: 4, 3: 9}


@pytest.mark.whole
def test_an_error_of_tfprof_ends_the_run(tmp_path: Path) -> None:
    tasks = [Job(0, str(tmp_path), "wrong input")]
    with engine_on(1) as engine, pytest.raises(InputError, match=r"^x: no such file$"):
        [*engine.run(square, tasks)]


@pytest.mark.whole
def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "__version__", "99")
    with cluster(1) as made, pytest.raises(UsageError) as raised:
        Engine(scheduler=made.scheduler_address)
    assert str(raised.value) == (
        f"workers of the Dask scheduler at {made.scheduler_address} have tfprof {__version__}, "
        "and this is tfprof 99"
    )


@pytest.mark.whole
def test_a_scheduler_without_workers_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "_NO_WORKERS_SECONDS", 0.5)
    reason = r"^the Dask scheduler at tcp://\S+ has no workers$"
    with engine_on(0) as engine, pytest.raises(OutputError, match=reason):
        [*engine.run(square, [Job(0, str(tmp_path))])]


@pytest.mark.whole
def test_a_scheduler_that_goes_away_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "_CONNECT_SECONDS", 2)
    with cluster(1) as made, Engine(scheduler=made.scheduler_address) as engine:
        answers = engine.run(square, [Job(0, str(tmp_path)), Job(1, str(tmp_path), "hangs")])
        assert next(answers) == (0, 0)
        made.close()
        with pytest.raises(OutputError, match=r"^the Dask scheduler at tcp://\S+ has gone; "):
            next(answers)


def test_an_address_where_nobody_listens_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    for scheduler in (address, "nothing://there"):
        with pytest.raises(UsageError) as raised:
            Engine(scheduler=scheduler)
        assert str(raised.value) == (
            f"--scheduler={scheduler}: no Dask scheduler answers there within 0.2 seconds"
        )


def test_a_word_that_is_no_address_is_one_error() -> None:
    with pytest.raises(UsageError, match=r"^--scheduler=desk: give its address, such as tcp://"):
        Engine(scheduler="desk")
