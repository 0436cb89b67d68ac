"""A command that is told to end, or whose streams are gone: no half file, no traceback."""

from __future__ import annotations

import io
import os
import random
import re
import signal
import subprocess
import sys
import termios
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import pexpect
import pytest

from hostile_parts import node
from profiles import PROFILES
from sampling import amount, sampled
from screens import Screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forked import Forked

GRAPH: Final = b"\n\x08\n\x01a\x12\x03Neg"
HANDMADE: Final = PROFILES["handmade"].flags()

# Writes half of the report, says so, and then takes its time.
SLOW = """
import time
import tfprof.writers.classic_text
from tfprof import cli

pieces = tfprof.writers.classic_text.report_text

def slowly(report):
    yield from pieces(report)
    print("half", flush=True)
    time.sleep(60)

tfprof.writers.classic_text.report_text = slowly
cli.main()
"""


def half_way(
    program: str, number: signal.Signals, report: Path, before: Callable[[], object]
) -> tuple[int, str]:
    """(exit code, stderr) of the program that gets a signal while it writes the report."""
    graph = report.with_name("graph.pb")
    graph.write_bytes(GRAPH)
    command = ["scope", f"--graph_path={graph}", f"--output=file:outfile={report}"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,  # noqa: PLW1509 - nothing but two calls
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(number)
        _, told = child.communicate(timeout=60)
    return child.returncode, told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_writing(number: signal.Signals, tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("the old one")
    code, told = half_way(SLOW, number, report, _signals_as_usual)
    assert code == 128 + number
    assert "Traceback" not in told
    assert report.read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.pb", "report"]


def test_who_is_not_to_end_with_the_terminal_does_not(tmp_path: Path) -> None:
    graph, report = tmp_path / "graph.pb", tmp_path / "report"
    graph.write_bytes(GRAPH)
    command = ["scope", f"--graph_path={graph}", f"--output=file:outfile={report}"]
    program = SLOW.replace("time.sleep(60)", "input()")
    with subprocess.Popen(
        [sys.executable, "-c", program, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(signal.SIGHUP)
        child.communicate("it may end now\n", timeout=60)
    assert child.returncode == 0
    assert report.read_text().startswith("\nDoc:")


def _signals_as_usual() -> None:
    """Who runs us may have turned them off, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


# --- at any moment from the very start ------------------------------------------------------------


@pytest.mark.sampled
def test_a_signal_at_any_moment_of_a_command(tmp_path: Path) -> None:
    """Started as users do; while Python itself starts, an interrupt is Python's own affair."""
    target, new = tmp_path / "report", tmp_path / "new"
    command = [sys.executable, "-m", "tfprof", "scope", *HANDMADE]
    began = time.monotonic()
    subprocess.run([*command, f"--output=file:outfile={new}"], check=True, capture_output=True)
    took = time.monotonic() - began
    whole, choice, seen = new.read_bytes(), random.Random(7), Counter[str]()  # noqa: S311 - as it says
    new.unlink()
    # The first one is early, however much slower this machine was before.
    for moment in [0, *(choice.uniform(0, took) for _ in range(amount(20, 10)))]:
        target.write_text("the old one")
        number = choice.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
        with subprocess.Popen(
            [*command, f"--output=file:outfile={target}"],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_signals_as_usual,  # noqa: PLW1509 - nothing but two calls
        ) as child:
            time.sleep(moment)
            child.send_signal(number)
            _, told = child.communicate(timeout=60)
        assert child.returncode in (0, -number, 128 + number) or "Traceback" in told
        places = told.replace("tfprof/report", "")
        assert not re.search(r"tfprof/(?!__init__|__main__)|ignored", places)
        assert target.read_bytes() in (b"the old one", whole)
        assert [path.name for path in tmp_path.iterdir()] == ["report"]
        seen["old" if target.read_bytes() == b"the old one" else "new"] += 1
    assert seen["old"]


def test_interrupts_at_the_prompt(tmp_path: Path) -> None:
    """Ctrl-C at any moment of an answer: the prompt comes back, and no half file does."""
    target, new, graph = tmp_path / "report", tmp_path / "new", tmp_path / "graph.pb"
    names = (b"scope%d/node%d" % (number % 1000, number) for number in range(100_000))
    graph.write_bytes(b"".join(node(name, b"Neg") for name in names))
    line = "graph -select params -max_depth 10000 -output file:outfile="
    state = str(tmp_path / "state")
    child = Screen([f"--graph_path={graph}"], (40, 300), NO_COLOR="1", XDG_STATE_HOME=state).child
    child.logfile_read = shown = io.StringIO()
    child.delaybeforesend = None
    child.expect_exact("tfprof>")
    times = []
    for number in range(100, 104):  # the first one also draws
        child.send(f"{line}{new} -min_params -{number}\r")
        child.expect_exact(f"-{number}")
        began = time.monotonic()
        child.expect_exact(f"tfprof: wrote {new}")
        times.append(time.monotonic() - began)
    latest = 1.5 * sorted(times)[1]
    whole, choice, seen = new.read_bytes(), random.Random(8), Counter[bool]()  # noqa: S311 - as it says
    new.unlink()
    for attempt in range(30):
        target.write_text("the old one")
        began = time.monotonic()
        # Other options each time, so that the answer is not the one that is still known.
        child.send(f"{line}{target} -min_params -{attempt + 1}\r")
        child.expect_exact(f"-{attempt + 1}")
        time.sleep(choice.uniform(0, latest))
        child.send("\x03")
        time.sleep(max(0, 0.1 - (time.monotonic() - began)))
        child.send(f"\rscope -mark{attempt}\r")
        child.expect_exact(f"there is no option -mark{attempt}\r")
        assert target.read_bytes() in (b"the old one", whole)
        held = sorted(path.name for path in tmp_path.iterdir())
        assert held == ["graph.pb", "report", "state"]
        has_ended = target.read_bytes() == whole
        seen[has_ended] += 1
        latest *= 0.7 if has_ended else 1.4  # about half are early, whatever else runs here
    assert min(seen[True], seen[False]) > 1, seen
    child.expect_exact("tfprof>")
    child.send("exit\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    # Who draws how far an answer is does not go on at the prompt.
    assert not re.search(r"Traceback|ignored|\(\d+ s\)", shown.getvalue())
    assert "interrupted" in shown.getvalue()


def test_the_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    """Told to end at the prompt, where the terminal hands over key by key."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tfprof", *HANDMADE],
        env={**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)},
        timeout=60,
        preexec_fn=_signals_as_usual,
    )
    before = termios.tcgetattr(child.fileno())
    child.expect_exact("tfprof>")
    assert termios.tcgetattr(child.fileno()) != before
    child.kill(signal.SIGTERM)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 128 + signal.SIGTERM
    assert b"Traceback" not in (child.before or b"")


# --- streams that are gone ------------------------------------------------------------------------

PRINTS: Final = {
    "text": ["scope", *HANDMADE],
    **{form: ["scope", *HANDMADE, f"--format={form}"] for form in ("json", "csv", "md")},
    "pprof": ["code", *HANDMADE, "--output=pprof:outfile=/dev/null"],
    "advise": ["advise", *HANDMADE],
    "demo": ["demo"],
    "info": ["info", str(PROFILES["handmade"].graph)],
    "help": ["--help"],
    "help of a command": ["help", "scope"],
    "version": ["--version"],
    "completion": ["completion", "bash"],
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*PRINTS], 3, "prints"))
def test_nobody_reads_or_there_is_no_room(name: str, forked: Forked) -> None:
    words = PRINTS[name]
    unread, full = forked(words, unread=1), forked(words, stdout="/dev/full")
    assert (unread.code, full.code) == (141, 4)
    assert "standard output" not in unread.told
    why = "standard output cannot be written: No space left on device"
    assert full.told.endswith(f"tfprof: {why}\n")
    # What cannot be said is no reason to do less.
    unheard, usual = forked(words, unread=2), forked(words)
    assert unheard.code == forked(words, stderr="/dev/full").code == 0
    assert unheard.out == usual.out != b""


CLOSED: Final = {
    ">&-": (4, "tfprof: standard output is closed\n"),
    "<&-": (0, ""),
    "2>&-": (0, ""),
    ">&- 2>&-": (4, ""),
    "<&- >&- 2>&-": (4, ""),
}


@pytest.mark.sampled
@pytest.mark.parametrize("how", sampled([*CLOSED], 1, "closed"))
def test_closed_streams(how: str, tmp_path: Path) -> None:
    graph, target = tmp_path / "graph.pb", tmp_path / "report"
    graph.write_bytes(GRAPH)
    command = f"{sys.executable} -m tfprof scope --graph_path={graph}"
    ran = _in_shell(f"{command} {how}")
    assert (ran.returncode, ran.stderr) == CLOSED[how]
    assert ran.stdout == ("" if ran.returncode else target_text(command))
    # A number of a closed stream goes to the next file that is opened, and nobody prints there.
    assert _in_shell(f"{command} --output=file:outfile={target} {how}").returncode == 0
    assert target.read_text() == target_text(command)


def test_the_shell_without_streams(tmp_path: Path) -> None:
    graph = tmp_path / "graph.pb"
    graph.write_bytes(GRAPH)
    command = f"{sys.executable} -m tfprof --graph_path={graph}"
    assert _in_shell(f"{command} <&-").returncode == 0
    ran = _in_shell(f"echo scope | {command} >&-")
    assert (ran.returncode, ran.stderr) == (4, "tfprof: standard output is closed\n")
    cut = _in_shell(f"(yes scope | head -5000; echo exit) | {command} | head -1")
    assert cut.stderr == ""


def target_text(command: str) -> str:
    """What a command prints with its streams as usual."""
    return _in_shell(command).stdout


def _in_shell(line: str) -> subprocess.CompletedProcess[str]:
    shell = ["/bin/sh", "-c", line]
    return subprocess.run(shell, capture_output=True, text=True, check=False, timeout=60)
