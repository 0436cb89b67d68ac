"""A command that is told to end leaves no half file, and the old one as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Writes half of the report, says so, and then takes its time.
SLOW = """
import time
import tfprof.report
from tfprof import cli

pieces = tfprof.report.FORMS["text"]

def slowly(report):
    yield from pieces(report)
    print("half", flush=True)
    time.sleep(60)

tfprof.report.FORMS["text"] = slowly
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_writing(number: signal.Signals, tmp_path: Path) -> None:
    graph, report = tmp_path / "graph.pb", tmp_path / "report"
    graph.write_bytes(b"\n\x08\n\x01a\x12\x03Neg")
    report.write_text("the old one")
    command = ["scope", f"--graph_path={graph}", f"--output=file:outfile={report}"]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_signals_as_usual,  # noqa: PLW1509 - nothing but two calls
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(number)
        _, told = child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert "Traceback" not in told
    assert report.read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.pb", "report"]


def test_who_is_not_to_end_with_the_terminal_does_not(tmp_path: Path) -> None:
    graph, report = tmp_path / "graph.pb", tmp_path / "report"
    graph.write_bytes(b"\n\x08\n\x01a\x12\x03Neg")
    command = ["scope", f"--graph_path={graph}", f"--output=file:outfile={report}"]
    program = SLOW.replace("time.sleep(60)", "time.sleep(0.5)")
    with subprocess.Popen(
        [sys.executable, "-c", program, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=60)
    assert child.returncode == 0
    assert report.read_text().startswith("\nDoc:")


def _signals_as_usual() -> None:
    """Who runs us may have turned them off, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
