"""Progress is told on a terminal only, and only of work that takes its time."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

WORK = """
import sys, time
from tfprof.progress import Progress
with Progress() as progress:
    progress("reading model.pb")
    time.sleep({seconds})
print("done")
"""


def on_terminal(seconds: float) -> str:
    """What a terminal shows on stderr while the work goes on."""
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", WORK.format(seconds=seconds)],
        check=True,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.write(theirs, b"|")
    shown = b""
    while not shown.endswith(b"|"):
        shown += os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    return shown[:-1].decode()


def test_long_work_is_told_and_wiped_away() -> None:
    shown = on_terminal(1.6)
    assert "tfprof: reading model.pb (1 s)" in shown
    assert shown.endswith("\r\x1b[K")


def test_short_work_is_silent() -> None:
    assert on_terminal(0.0) == ""


def test_no_terminal_no_progress() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WORK.format(seconds=1.3)], check=True, capture_output=True
    )
    assert ran.stderr == b""
    assert ran.stdout == b"done\n"
