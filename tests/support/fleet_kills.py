"""A program that writes a fleet and is killed in the middle of it.

    python fleet_kills.py WRITE FOLDER …   prints how many operations on files WRITE takes in a
                                           copy of each FOLDER, FOLDER.after
    stdin: FOLDER 7                        a process that does so in another copy, FOLDER.7, is
                                           killed before its 7th operation

Together the numbers are every state that a killed process can leave, except for unfinished files
that have no name yet.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fleet_engine import HereEngine
from fleet_parts import GRAPH, OTHER_GRAPH, SKIPPED, graph_files, part
from tfprof.fleet.gather import gather
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: Final = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.chmod"}
NEVER: Final = 0
NEW: Final = {
    "0000000000000003": ("w3", {0: [1, 2], 1: [3]}, GRAPH),
    "0000000000000004": ("w4", {0: [4]}, OTHER_GRAPH),
}


def write_parts(folder: str) -> None:
    """Add those of two parts and two graphs that a fleet does not have, and commit."""
    writer = Writer.at(folder)
    for key, contents in NEW.items():
        if writer.has(key) is None:
            writer.add_part(key, *part(*contents))
    for graph in sorted(writer.missing_graphs):
        writer.add_graph(graph, *graph_files(graph))
    writer.commit([SKIPPED], ["a note"])


def gather_runs(folder: str) -> int:
    """Gather the files beside *folder*, or go on; how many parts were decoded."""
    engine = HereEngine()
    gather([str(Path(folder).parent / "runs")], folder, resume=True, engine=engine)
    return engine.ran.count("decode")


WRITES: Final[dict[str, Callable[[str], Any]]] = {"parts": write_parts, "gather": gather_runs}


def write_until(write: str, folder: str, last: int) -> int:
    """How many operations writing takes; it is killed before operation *last*."""
    done = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal done
        # Modules that are imported meanwhile are files of other folders.
        if event in OPERATIONS and any(folder in str(argument) for argument in arguments[:2]):
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    WRITES[write](folder)
    return done


def write_in_process(write: str, folder: str, last: int) -> int:
    """Run `write_until` in another process; its result modulo 256, or the negative signal."""
    process = os.fork()
    if not process:
        os._exit(write_until(write, folder, last))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main() -> None:
    """Do what the lines of stdin say."""
    for _, times, graph in NEW.values():  # what is imported and made once is no operation
        graph_files(graph)
        part("w", times, graph)
    write, *folders = sys.argv[1:]
    for folder in folders:
        shutil.copytree(folder, f"{folder}.after")
        print(write_in_process(write, f"{folder}.after", NEVER), flush=True)
    for line in sys.stdin:
        folder, number = line.split()
        shutil.copytree(folder, f"{folder}.{number}")
        code = write_in_process(write, f"{folder}.{number}", int(number))
        assert code == -signal.SIGKILL, f"{line.strip()}: {code}"


if __name__ == "__main__":
    main()
