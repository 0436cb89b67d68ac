"""Fleets: many workers into one dataset, and questions to it.

    python bench/fleet.py [--workers 8,16,32] [--steps 5] [--full]

    row                      ours                                      beside it
    gather                   all files of a fleet; peak of a process   nothing
    per worker / smallest    seconds per worker; peak of the reducer   of the smallest fleet
    two processes / one      the smallest fleet by two processes       by one
    files / reading them     files on disk; size of the dataset        reading them; their size
    QUESTION / smallest      a fresh command; its peak                 of the smallest fleet

Files are generated where they are decoded (`generated_files.py`): 100 GB need no disk. With --full
there are 100, 400 and 1,000 workers of 20 steps.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from inputs import HERE, inputs
from machine import described
from rows import OURS_ONLY, Row, Size, Turns
from worker import Measure, WorkerError, environment, timed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from inputs import Inputs

NODES = 10_000
_PROCESSES = 2
_STRAGGLER = b"worker_00007"
_KNOWN_FROM = 8  # workers: the straggler is one of them

GATHER = "fleet: gather"
PER_WORKER = "fleet: per worker / smallest"
TWO_PROCESSES = "fleet: two processes / one"
FILES = "fleet: files / reading them"
_QUESTIONS: Mapping[str, list[str]] = {
    "scope, sum": ["scope", "--stat=sum", "--max_depth=3", "--select=micros,bytes"],
    "scope, p90": ["scope", "--stat=p90", "--max_depth=3", "--select=micros"],
    "op, p50": ["op", "--stat=p50", "--select=micros", "--order_by=micros"],
    "workers": ["workers"],
}
QUESTIONS = tuple(f"fleet: {name} / smallest" for name in _QUESTIONS)


class Fleets(NamedTuple):
    """The sizes to measure."""

    workers: tuple[int, ...] = (8, 16, 32)
    steps: int = 5
    files: int = 40  # on disk


FULL = Fleets((100, 400, 1000), 20, 200)


def fleets(out: Path, sizes: Fleets) -> Iterator[Row]:
    """All rows; what fails is a row as well."""
    given = inputs(out, Size(NODES))
    home = out / "fleet"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    smallest: dict[str, Measure] = {}
    for workers in sizes.workers:
        size, target = Size(NODES, workers * sizes.steps), home / str(workers)
        try:
            yield from _of_size(given, target, workers, sizes.steps, smallest)
        except WorkerError as error:
            yield Row("fleet", GATHER, size, Turns([], [], str(error)), "")
        shutil.rmtree(target, ignore_errors=True)
    yield _two_processes(given, home, sizes)
    yield _from_disk(given, home, sizes)
    shutil.rmtree(home)


def _of_size(
    given: Inputs, target: Path, workers: int, steps: int, smallest: dict[str, Measure]
) -> Iterator[Row]:
    """The rows of one fleet; *smallest* keeps what the first of them measured."""
    size = Size(NODES, workers * steps)
    taken = _gather(given, _source(workers, steps), target, _PROCESSES)
    whole = Measure(taken["seconds"], taken["process"])
    yield Row("fleet", GATHER, size, Turns([whole], []), _checked(target, workers, steps))
    each = Measure(taken["seconds"] / workers, taken["reducer"])
    yield _beside_smallest(PER_WORKER, size, each, smallest)
    for name, (question, words) in zip(QUESTIONS, _QUESTIONS.items(), strict=True):
        command, *options = words
        try:
            measure = timed([sys.executable, "-m", "tfprof", command, str(target), *options])
            row = _beside_smallest(name, size, measure, smallest)
            if question == "workers" and workers >= _KNOWN_FROM and not _names_straggler(target):
                row = Row("fleet", name, size, row.turns, "MISMATCH: another straggler")
        except WorkerError as error:
            row = Row("fleet", name, size, Turns([], [], str(error)), "")
        yield row


def _beside_smallest(name: str, size: Size, measure: Measure, smallest: dict[str, Measure]) -> Row:
    return Row("fleet", name, size, Turns([measure], [smallest.setdefault(name, measure)]), "same")


def _two_processes(given: Inputs, home: Path, sizes: Fleets) -> Row:
    """The smallest fleet once more by each number of processes, in turns."""
    workers = sizes.workers[0]
    sides: tuple[list[Measure], list[Measure]] = ([], [])
    trouble = ""
    for side, processes in ((0, 2), (1, 1), (1, 1), (0, 2)):
        target = home / "processes"
        try:
            taken = _gather(given, _source(workers, sizes.steps), target, processes)
            sides[side].append(Measure(taken["seconds"], taken["process"]))
        except WorkerError as error:
            trouble = str(error)
        shutil.rmtree(target, ignore_errors=True)
    size = Size(NODES, workers * sizes.steps)
    return Row("fleet", TWO_PROCESSES, size, Turns(*sides, trouble), "same files")


def _from_disk(given: Inputs, home: Path, sizes: Fleets) -> Row:
    """Real files: gathering them beside reading their bytes; sizes instead of memory."""
    workers = max(1, sizes.files // sizes.steps)
    size, files, target = Size(NODES, workers * sizes.steps), home / "files", home / "dataset"
    counts = map(str, (NODES, workers, sizes.steps))
    timed([sys.executable, str(HERE / "generated_files.py"), str(files), *counts])
    read, start = 0, time.perf_counter()
    for path in sorted(files.rglob("run_meta_*")):
        read += len(path.read_bytes())
    reading = Measure(time.perf_counter() - start, read)
    try:
        taken = _gather(given, str(files), target, _PROCESSES)
    except WorkerError as error:
        return Row("fleet", FILES, size, Turns([], [reading], str(error)), "")
    stored = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    turns = Turns([Measure(taken["seconds"], stored)], [reading])
    return Row("fleet", FILES, size, turns, "same files")


def _source(workers: int, steps: int) -> str:
    return f"generated://{NODES}/{workers}/{steps}"


def _gather(given: Inputs, source: str, target: Path, processes: int) -> dict[str, Any]:
    words = ["--graph", given.path("graph.pb"), "--op_log", given.path("tfprof_log")]
    command = [sys.executable, str(HERE / "fleet_gather.py"), source, str(target), *words]
    finished = subprocess.run(
        [*command, "--processes", str(processes)],
        capture_output=True,
        env=environment(),
        check=False,
    )
    if finished.returncode:
        lines = finished.stderr.decode(errors="replace").strip().splitlines()
        raise WorkerError(lines[-1] if lines else f"ended with {finished.returncode}")
    taken: dict[str, Any] = json.loads(finished.stdout)
    return taken


def _checked(target: Path, workers: int, steps: int) -> str:
    """Whether the dataset has all steps of all workers."""
    manifest = json.loads((target / "manifest.json").read_bytes())
    counts = (manifest["workers"], manifest["steps"])
    if manifest["skipped"] or counts != (workers, workers * steps):
        return f"MISMATCH: {counts}, {len(manifest['skipped'])} skipped"
    return OURS_ONLY


def _names_straggler(target: Path) -> bool:
    """Whether the first straggler that the command names is the planted one."""
    command = [sys.executable, "-m", "tfprof", "workers", str(target), "--format=json"]
    finished = subprocess.run(command, capture_output=True, env=environment(), check=True)
    stragglers = finished.stdout.partition(b"stragglers")[2]
    return stragglers.partition(b"worker_")[2].startswith(_STRAGGLER.removeprefix(b"worker_"))


def main() -> None:
    """Measure fleets alone."""
    from table import said, tables  # noqa: PLC0415 - it knows the targets, which know these rows

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default=",".join(map(str, Fleets().workers)))
    parser.add_argument("--steps", type=int, default=Fleets().steps)
    parser.add_argument("--files", type=int, default=Fleets().files, help="files on disk")
    parser.add_argument("--full", action="store_true", help="100, 400 and 1,000 workers, 20 steps")
    asked = parser.parse_args()
    sizes = Fleets(tuple(map(int, asked.workers.split(","))), asked.steps, asked.files)
    rows = []
    for row in fleets(HERE / "out", FULL if asked.full else sizes):
        sys.stderr.write(f"{said(row)}\n")
        rows.append(row)
    sys.stdout.write(f"{described()}\n{tables(rows)}")


if __name__ == "__main__":
    main()
