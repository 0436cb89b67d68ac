"""A program that writes a fleet and is killed in the middle of it.

    python fleet_kills.py FOLDER …    prints how many operations on files it takes to write into a
                                      copy of each FOLDER, which becomes FOLDER.after
    stdin: FOLDER 7                   a process that writes into a copy of FOLDER, FOLDER.7, is
                                      killed before its 7th operation

Together the numbers are every state that a killed process can leave, except for unfinished files
that have no name yet.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from typing import Any, Final

from fleet_parts import GRAPH, OTHER_GRAPH, SKIPPED, graph_files, part
from tfprof.fleet.writer import Writer

OPERATIONS: Final = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.chmod"}
NEVER: Final = 0
NEW: Final = {
    "0000000000000003": ("w3", {0: [1, 2], 1: [3]}, GRAPH),
    "0000000000000004": ("w4", {0: [4]}, OTHER_GRAPH),
}


def write(folder: str) -> None:
    """Add those of two parts and two graphs that a fleet does not have, and commit."""
    writer = Writer.at(folder)
    for key, contents in NEW.items():
        if writer.has(key) is None:
            writer.add_part(key, *part(*contents))
    for graph in sorted(writer.missing_graphs):
        writer.add_graph(graph, *graph_files(graph))
    writer.commit([SKIPPED], ["a note"])


def write_until(folder: str, last: int) -> int:
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
    write(folder)
    return done


def write_in_process(folder: str, last: int) -> int:
    """Run `write_until` in another process; its result modulo 256, or the negative signal."""
    process = os.fork()
    if not process:
        os._exit(write_until(folder, last))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main() -> None:
    """Do what the lines of stdin say."""
    for _, times, graph in NEW.values():  # what is imported and made once is no operation
        graph_files(graph)
        part("w", times, graph)
    for folder in sys.argv[1:]:
        shutil.copytree(folder, f"{folder}.after")
        print(write_in_process(f"{folder}.after", NEVER), flush=True)
    for line in sys.stdin:
        folder, number = line.split()
        shutil.copytree(folder, f"{folder}.{number}")
        code = write_in_process(f"{folder}.{number}", int(number))
        assert code == -signal.SIGKILL, f"{line.strip()}: {code}"


if __name__ == "__main__":
    main()
