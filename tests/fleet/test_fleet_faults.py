"""A dataset has the same bytes whatever happens to the processes that make it."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
from typing import TYPE_CHECKING, Any

import pytest

from dask_cluster import cluster
from fleet_faults import FaultyEngine
from fleet_files import write_fleet
from folders import contents
from interrupted import is_alive, send, start, wait_until
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.engine import Engine
from tfprof.fleet.gather import gather

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.whole  # test_fleet_engine.py and test_fleet_dask.py have samples

# More than a file takes on a busy machine, with all that a new process imports.
TIMEOUT = 15.0


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    write_fleet(folder, workers=3, steps=2)
    return folder


@pytest.fixture
def expected(logs: Path, tmp_path: Path) -> dict[str, bytes]:
    """The dataset that one process makes without faults."""
    with Engine(processes=1) as engine:
        gather([str(logs)], str(tmp_path / "expected"), engine=engine)
    return contents(tmp_path / "expected")


def gathered_with_faults(logs: Path, faults: dict[int, str], **options: Any) -> dict[str, bytes]:
    target, runs = logs.parent / "fleet", logs.parent / "runs"
    runs.mkdir()
    with FaultyEngine(runs, faults, timeout=TIMEOUT, **options) as engine:
        outcome = gather([str(logs)], str(target), engine=engine)
    assert not outcome.skipped
    for number in faults:
        assert len([*runs.glob(f"{number}.*")]) > 1
    return contents(target)


def test_a_process_is_killed(logs: Path, expected: dict[str, bytes]) -> None:
    faults = {2: "killed", 3: "killed while it answers"}
    assert gathered_with_faults(logs, faults, processes=1) == expected
    assert not multiprocessing.active_children()


def test_a_process_is_killed_and_others_hang(logs: Path, expected: dict[str, bytes]) -> None:
    faults = {1: "killed", 3: "hangs", 4: "stopped"}
    assert gathered_with_faults(logs, faults, processes=3) == expected
    assert not multiprocessing.active_children()


def test_a_worker_of_dask_is_killed_and_another_hangs(
    logs: Path, expected: dict[str, bytes]
) -> None:
    with cluster(2, threads=2) as made:
        faults = {1: "killed", 3: "hangs"}
        actual = gathered_with_faults(logs, faults, scheduler=made.scheduler_address)
    assert actual == expected


# The command `tfprof` with a task that hangs.
HANGING = """
import sys
from pathlib import Path
from dask_cluster import cluster
from fleet_faults import FaultyEngine
from tfprof import cli
from tfprof.cli import fleet
if __name__ == "__main__":
    runs, *line = sys.argv[1:]
    fleet.Engine = lambda *options: FaultyEngine(Path(runs), {1: "hangs"}, *options)
    cli.main(line)
"""

INTERRUPTED = "tfprof: interrupted\ntfprof: the same command with --resume goes on\n"


@pytest.mark.parametrize(
    ("number", "scheduler"), [(signal.SIGINT, ""), (signal.SIGKILL, ""), (signal.SIGINT, "dask")]
)
def test_a_command_that_ends_early_leaves_the_old_state_and_no_process(
    logs: Path, tmp_path: Path, number: signal.Signals, scheduler: str
) -> None:
    fleet, twin, runs = tmp_path / "fleet", tmp_path / "twin", tmp_path / "runs"
    later = {path: path.rename(tmp_path / path.parent.name) for path in logs.glob("*/run_meta_1")}
    with Engine(processes=1) as engine:
        gather([str(logs)], str(fleet), engine=engine)
        shutil.copytree(fleet, twin)
        for path, aside in later.items():
            aside.rename(path)
        gather([str(logs)], str(twin), engine=engine)
    old, expected = contents(fleet), contents(twin)
    runs.mkdir()
    line = ["fleet", str(logs), "-o", str(fleet), "--processes=2", f"--scheduler={scheduler}"]
    with start(HANGING, tmp_path, str(runs), *line) as command:
        # All tasks but one are done.
        wait_until(lambda: any(runs.iterdir()) and len([*(fleet / "steps").iterdir()]) == 3 + 2)
        code, errors = send(command, number)
    assert code == (128 + number if number != signal.SIGKILL else -number)
    assert errors == (INTERRUPTED if number == signal.SIGINT else "")
    processes = [int(path.name.split(".")[1]) for path in runs.iterdir()]
    wait_until(lambda: not any(map(is_alive, processes)))
    assert {**contents(fleet), **old} == contents(fleet)
    assert len(Dataset.open(str(fleet)).manifest.parts) == 3
    with Engine(processes=1) as engine:
        outcome = gather([str(logs)], str(fleet), resume=True, engine=engine)
    assert outcome.decoded == 1
    assert contents(fleet) == expected
