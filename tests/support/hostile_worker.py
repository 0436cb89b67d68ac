"""The process in which hostile files are read, a copy of it for each row of the catalogue.

Started by `hostile.Worker` as `python hostile_worker.py FD`. A request is a folder and command
lines by name; the replies are tuples as `hostile.Outcome`, and None at the end. Memory and time
of the processor are limited, so what hangs or grows ends the copy, and that is the reply.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tfprof
from hostile import Row, lines_of
from hostile_parts import GRAPH, LOG, RUN
from tfprof import cli
from tfprof.errors import TfprofError

_MEMORY = 2 << 30
_SECONDS = 60  # of the processor, for one command; beyond this it hangs
_SHOWN = 1 << 20
_LINE = b"scope -max_depth 3 -select params,micros\n"


def main() -> None:
    """Answer requests until the other side closes the pipe."""
    warnings.simplefilter("error")
    _warm_up()
    connection = Connection(int(sys.argv[1]))
    while True:
        try:
            folder, lines = connection.recv()
        except EOFError:
            return
        while lines:
            lines = _in_a_copy(connection, Path(folder), lines)
        connection.send(None)


def _warm_up() -> None:
    """Run every command once, so that all it needs is imported and what it keeps is made."""
    kept = os.dup(1), os.dup(2)
    with TemporaryDirectory() as folder:
        row = Row("", {"graph": GRAPH, "run": RUN, "log": LOG})
        row.write(Path(folder))
        for line in lines_of(row, Path(folder)).values():
            _outcome(Path(folder), line)
    for number, stream in enumerate(kept, 1):
        os.dup2(stream, number)
        os.close(stream)


def _in_a_copy(connection: Connection, folder: Path, lines: dict[str, list[str]]) -> dict[str, Any]:
    """Run *lines* in a copy of this process; those that are left where it ended before."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if not child:
        ours.close()
        connection.close()
        _run(theirs, folder, lines)
        os._exit(0)
    theirs.close()
    done = set()
    with suppress(EOFError):
        while True:
            outcome = ours.recv()
            done.add(outcome[0])
            connection.send(outcome)
    _, status = os.waitpid(child, 0)
    left = {name: line for name, line in lines.items() if name not in done}
    if status:
        name = next(iter(left))
        how = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else str(status)
        connection.send((name, how, b"", 0, "", 0.0, 0))
        left.pop(name)
    return left


def _run(replies: Connection, folder: Path, lines: dict[str, list[str]]) -> None:
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    for name, line in lines.items():
        replies.send((name, *_outcome(folder, line)))


def _outcome(folder: Path, line: list[str]) -> tuple[int | str, bytes, int, str, float, int]:
    streams = [folder / "stdout", folder / "stderr"]
    for number, path in enumerate(streams, 1):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.BytesIO(_LINE))
    used = time.process_time()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + _SECONDS, hard))
    Path("/proc/self/clear_refs").write_text("5")  # the most memory so far is that of now
    before = _kilobytes("VmRSS")
    code: int | str
    try:
        code = _html(line[1:]) if line[:1] == ["html"] else cli.run(line)
    except BaseException:  # noqa: BLE001 - whatever it is, it is the answer
        code = "raised"
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    seconds = time.process_time() - used
    memory = (_kilobytes("VmHWM") - before) << 10
    with streams[0].open("rb") as stream:
        stdout = stream.read(_SHOWN)
    files = [streams[0], *folder.glob("OUT*")]
    written = sum(file.stat().st_size for file in files)
    for file in folder.glob("OUT*"):
        if file.suffix not in {".save", ".convert"}:
            file.unlink()
    return code, stdout, written, streams[1].read_text("utf-8", "replace"), seconds, memory


def _html(words: list[str]) -> int:
    """The table that a notebook shows."""
    given: dict[str, Any] = dict(word[2:].split("=", 1) for word in words)
    names = {"graph_path": "graph", "op_log_path": "op_log", "checkpoint_path": "checkpoint"}
    names |= {"profile_path": "profile", "run_meta_path": "run_meta", "trace_path": "trace"}
    files = {names[name]: path for name, path in given.items()}
    if "run_meta" in files:
        files["run_meta"] = files["run_meta"].split(",")
    try:
        report = tfprof.load(**files).scope(max_depth=10_000)
        sys.stdout.write(report._repr_html_())
    except TfprofError as problem:
        sys.stderr.write(f"tfprof: {problem}\n")
        return problem.exit_code
    return 0


def _kilobytes(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1])
    raise LookupError(what)


if __name__ == "__main__":
    main()
