"""Tasks on processes: whatever happens to the processes, every task gets its answer."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

import pytest

from fleet_faults import Job, runs, square
from interrupted import SECONDS, is_alive, send, start, wait_until
from tfprof.errors import InputError, UsageError
from tfprof.fleet import engine as engines
from tfprof.fleet.engine import Engine, Failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def jobs(folder: Path, count: int, *faulty: Job) -> list[Job]:
    """*count* jobs, of which some have faults."""
    by_number = {job.number: job for job in faulty}
    return [by_number.get(number, Job(number, str(folder))) for number in range(count)]


def answers(engine: Engine, tasks: list[Job]) -> dict[int, int | Failure]:
    """What comes back by number of the task; each only once."""
    pairs = [*engine.run(square, tasks)]
    assert len({index for index, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_a_process_that_dies_costs_one_more_run_of_its_own_task(tmp_path: Path) -> None:
    folder = str(tmp_path)
    faulty = [Job(1, folder, "killed"), Job(4, folder, "killed while it answers")]
    tasks = jobs(tmp_path, 8, *faulty, Job(6, folder, "raises"))
    with Engine(processes=2) as engine:
        assert answers(engine, tasks) == {number: number**2 for number in range(8)}
    assert [runs(job) for job in tasks] == [1, 2, 1, 1, 2, 1, 2, 1]
    assert not multiprocessing.active_children()


def test_a_process_that_hangs_is_ended_and_its_task_is_tried_again(tmp_path: Path) -> None:
    faulty = [Job(1, str(tmp_path), "hangs"), Job(2, str(tmp_path), "stopped")]
    with Engine(processes=2, timeout=1) as engine:
        assert answers(engine, jobs(tmp_path, 4, *faulty)) == {0: 0, 1: 1, 2: 4, 3: 9}
        assert all(runs(job) > 1 for job in faulty)
    assert not multiprocessing.active_children()


@pytest.mark.whole
def test_a_task_that_always_fails_is_a_failure_and_the_others_are_not(tmp_path: Path) -> None:
    folder = str(tmp_path)
    faulty = [Job(0, folder, "killed", 9), Job(2, folder, "raises", 9), Job(3, folder, "hangs", 9)]
    with Engine(processes=3, timeout=1, attempts=2) as engine:
        assert answers(engine, jobs(tmp_path, 5, *faulty)) == {
            0: Failure("the process that read it ended (ended by SIGKILL), 2 times", "damaged"),
            1: 1,
            2: Failure("ZeroDivisionError: no such number, 2 times", "damaged"),
            3: Failure("no answer within 1 seconds, 2 times", "timeout"),
            4: 16,
        }


def test_an_error_of_tfprof_ends_the_run_and_its_processes(tmp_path: Path) -> None:
    tasks = [Job(0, str(tmp_path), "hangs"), Job(1, str(tmp_path), "wrong input")]
    with Engine(processes=2) as engine, pytest.raises(InputError, match=r"^x: no such file$"):
        [*engine.run(square, tasks)]
    assert not multiprocessing.active_children()


# Each number of free file descriptors runs out at another step of starting a process.
FEW_FILES: Final = """
import os, resource, sys
from tfprof.errors import UsageError
from tfprof.fleet.engine import Engine
if __name__ == "__main__":
    with Engine(processes=8) as engine:
        own = len(os.listdir("/proc/self/fd")) - 1
        most = own + int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        try:
            print(sorted(engine.run(abs, range(8))))
        except UsageError as problem:
            print(problem)
"""


@pytest.mark.parametrize("room", [1, 2, 5, 8, 9, 12])
def test_without_file_descriptors_no_task_is_to_blame(room: int, tmp_path: Path) -> None:
    child = start(FEW_FILES, tmp_path, str(room))
    said, errors = child.communicate(timeout=60)
    assert said == (
        "a process of the pool did not start: Too many open files; "
        "--processes=N starts at most N processes\n"
    )
    assert errors == ""


def test_without_threads_no_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def start_none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Engine(processes=1) as engine:
        monkeypatch.setattr(threading.Thread, "start", start_none)
        with pytest.raises(UsageError, match=r"did not start \(can't start new thread\)"):
            [*engine.run(abs, range(8))]
        monkeypatch.undo()


class CountingPool:
    """Completes each task at once and counts those whose result nobody has taken."""

    answers_within = float("inf")

    def __init__(self) -> None:
        self.submitted = 0

    def slots(self) -> int:
        return 3

    def submit(self, function: Callable[[Any], Any], task: object) -> Future[Any]:
        self.submitted += 1
        future: Future[Any] = Future()
        future.set_result(function(task))
        return future

    def result(self, future: Future[Any]) -> Any:
        return future.result()

    def close(self) -> None:
        pass


def test_at_most_two_tasks_per_slot_wait_for_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = CountingPool()
    monkeypatch.setattr(engines, "ProcessPool", lambda *_: pool)
    with Engine(processes=3) as engine:
        ahead = [
            pool.submitted - taken
            for taken, _ in enumerate(engine.run(abs, range(100)))  # the first is not yet taken
        ]
    assert max(ahead) == 6
    assert pool.submitted == 100


def test_processes_do_not_run_ahead_of_the_caller(tmp_path: Path) -> None:
    tasks = jobs(tmp_path, 12)

    def started() -> int:
        return sum(map(runs, tasks))

    with Engine(processes=1) as engine:
        results = engine.run(square, tasks)
        next(results)
        wait_until(lambda: started() == 2)
        for taken, _ in enumerate(results, start=2):
            assert started() < taken + 2
    assert started() == 12


HANGING = """
from fleet_faults import Job, square
from tfprof.fleet.engine import Engine
if __name__ == "__main__":
    with Engine(processes=2) as engine:
        [*engine.run(square, [Job(number, {folder!r}, "hangs") for number in range(2)])]
"""


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.whole)]
)
def test_processes_end_with_their_parent(number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with start(HANGING.format(folder=str(folder)), tmp_path) as parent:
        wait_until(lambda: len([*folder.iterdir()]) == 2)
        code, errors = send(parent, number)
    assert code == -number
    assert errors.count("Traceback") == (number == signal.SIGINT)
    processes = [int(path.name.split(".")[1]) for path in folder.iterdir()]
    wait_until(lambda: not any(map(is_alive, processes)))


def test_a_script_that_processes_run_again_is_one_error(tmp_path: Path) -> None:
    text = HANGING.format(folder=str(tmp_path)).replace('if __name__ == "__main__"', "if True")
    with start(text, tmp_path) as parent:
        _, errors = parent.communicate(timeout=SECONDS)
    assert parent.returncode == 1
    assert errors.splitlines()[-1] == (
        "tfprof.errors.UsageError: a process of the pool did not start (exit code 1); a script "
        'that gathers a fleet does so under `if __name__ == "__main__":`'
    )
    assert not [*tmp_path.glob("0.*")]


def test_numbers_that_make_no_sense_are_usage_errors() -> None:
    with pytest.raises(UsageError, match=r"^--processes=0: at least one process is needed$"):
        Engine(processes=0)
    with pytest.raises(UsageError, match=r"^--task_timeout=0: a task needs some time$"):
        Engine(timeout=0)


def test_a_timeout_may_be_long(tmp_path: Path) -> None:
    with Engine(processes=1, timeout=1e12) as engine:
        assert answers(engine, jobs(tmp_path, 1)) == {0: 0}
