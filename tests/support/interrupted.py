"""Programs that get a signal in the middle of their work, and the processes that they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import tfprof

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 120.0


def start(text: str, folder: Path, *line: str) -> subprocess.Popen[str]:
    """A process, in a group of its own, that runs *text* as a script."""
    path = [Path(tfprof.__file__).parent.parent, Path(__file__).parent]
    script = folder / "program.py"
    script.write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, script, *line],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Who runs us may have turned it off, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def send(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """(exit code, stderr) after a signal; Ctrl-C reaches the whole group, as at a terminal."""
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a test that fails must end, too
        raise
    return process.returncode, errors


def wait_until(condition: Callable[[], bool]) -> None:
    """Return when *condition* holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    """Whether it runs; one that has ended may stay as a zombie until its new parent looks."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(") ")[2][0] not in "ZX"
