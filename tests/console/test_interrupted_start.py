"""Ctrl-C while tfprof starts: from its first line on, at every import, there is no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from profiles import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

# Python runs this before anything else. At each import it forks a process that gets Ctrl-C there;
# how that ends is a line of the file ENDS. To find the two modules that start tfprof is Python's
# own affair: before the first line of them, nobody else can do anything about Ctrl-C.
HOOK: Final = """
import posix
import sys

state = "python"

def interrupt(event, arguments):
    global state
    if event != "import" or state == "interrupted":
        return
    name = arguments[0]
    if name == "tfprof":
        state = "tfprof"
    elif state == "tfprof" and name != "tfprof.__main__":
        child = posix.fork()
        if child == 0:
            state = "interrupted"
            posix.kill(posix.getpid(), 2)
            return
        code = posix.waitstatus_to_exitcode(posix.waitpid(child, 0)[1])
        ends = posix.open(posix.environ[b"ENDS"], posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT)
        posix.write(ends, b"%s %d\\n" % (name.encode(), code))
        posix.close(ends)

sys.addaudithook(interrupt)
"""
STARTS: Final = {
    "module": ["-m", "tfprof"],
    "script": ["-c", "from tfprof.__main__ import main; main()"],
}


@pytest.mark.parametrize("how", STARTS)
def test_an_interrupt_at_each_import(how: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    ends = tmp_path / "ends"
    ran = subprocess.run(
        [sys.executable, *STARTS[how], "scope", *PROFILES["handmade"].flags(), "--no-cache"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "ENDS": str(ends)},
        # Who runs us may have turned it off, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    ended = dict(line.split() for line in ends.read_text().splitlines())
    assert {"tfprof.cli", "tfprof.writers.numbers"} <= ended.keys()
    assert set(ended.values()) == {str(-signal.SIGINT), str(128 + signal.SIGINT)}
    assert "Traceback" not in ran.stderr


def test_importing_the_entry_point_leaves_signals_alone() -> None:
    program = """
import signal
before = signal.getsignal(signal.SIGINT)
import tfprof.__main__
assert before is signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
