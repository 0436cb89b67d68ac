"""Progress is told on a terminal only, and only of work that takes its time."""

from __future__ import annotations

import gzip
import os
import pty
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Final

import pytest

from profiles import PROFILES
from sampling import sampled
from tfprof.console.progress import line
from tfprof.console.stdio import fitted
from tfprof.foundation.progress_events import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORK: Final = """
import sys, time
from tfprof.console.progress import Progress
with Progress() as progress:
    progress("reading model.pb")
    time.sleep({seconds})
print("done")
"""
CLEAR: Final = "\r\x1b[K"


def on_terminal(command: Sequence[str], stdout: int = subprocess.PIPE) -> str:
    """What a terminal shows on stderr while the work goes on."""
    ours, theirs = pty.openpty()
    shown = b""

    def read() -> None:
        nonlocal shown
        while not shown.endswith(b"|"):
            shown += os.read(ours, 4096)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        subprocess.run(command, check=True, stdout=stdout, stderr=theirs)
    finally:
        os.write(theirs, b"|")
        reader.join()
        os.close(ours)
        os.close(theirs)
    return shown[:-1].decode()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_long_work_is_told_and_wiped_away() -> None:
    shown = on_terminal(python(WORK.format(seconds=1.6)))
    assert re.search(r"tfprof: reading model.pb \(\d s\)", shown)
    assert shown.endswith(CLEAR)


def test_short_work_is_silent() -> None:
    assert on_terminal(python(WORK.format(seconds=0.0))) == ""


def test_without_a_thread_the_work_goes_on() -> None:
    none = """
import threading
def start(_):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
"""
    assert on_terminal(python(none + WORK.format(seconds=0.0))) == ""


def test_no_terminal_no_progress() -> None:
    ran = subprocess.run(python(WORK.format(seconds=1.3)), check=True, capture_output=True)
    assert ran.stderr == b""
    assert ran.stdout == b"done\n"


# The command itself, with one room of it slowed down.
COMMAND: Final = """
import sys, time
{slow}
from tfprof.cli import main
main(sys.argv[1:])
"""
SLOW_RUNS: Final = """
from tfprof.read import add_files
quick = add_files.add_run
def slow(*given):
    time.sleep(0.7)
    return quick(*given)
add_files.add_run = slow
"""
SLOW_ANSWERS: Final = """
from tfprof.results.loaded import Loaded
quick = Loaded.report
def slow(*given):
    time.sleep(1.5)
    return quick(*given)
Loaded.report = slow
"""
SLOW_PIECES: Final = """
from tfprof.results.report import Report
from tfprof.results.result import File
def slow():
    for _ in range(12):
        yield b"x" * 999_999 + b"\\n"
        time.sleep(0.15)
Report.files = lambda report, row, path, width=None: [File(path, report, slow())]
"""
SLOW_UNPACKING: Final = """
import zlib
from tfprof.io import gunzip as gzipped
quick = zlib.decompressobj
class Slow:
    def __init__(self, *given):
        self._it = quick(*given)
    def decompress(self, data):
        time.sleep(0.3)
        return self._it.decompress(data)
    eof = property(lambda self: self._it.eof)
    unused_data = property(lambda self: self._it.unused_data)
zlib.decompressobj = Slow
gzipped.PIECE = 1 << 13
"""


def command(slow: str, *words: str) -> list[str]:
    return [*python(COMMAND.format(slow=slow)), *words]


FILES: Final = PROFILES["handmade"]
GRAPH: Final = f"--graph_path={FILES.graph}"


def test_files_that_are_read_are_counted() -> None:
    runs = ",".join([str(FILES.runs[0])] * 4)
    shown = on_terminal(command(SLOW_RUNS, "scope", GRAPH, f"--run_meta_path={runs}"))
    lines = shown.split(CLEAR)
    third = next(text for text in lines if "(3 of 4)" in text)
    assert third.startswith("tfprof: reading ")
    # Four runs of the same size and a graph: half of the runs, and somewhat more.
    percent = int(third.split()[-3].removesuffix("%"))
    assert 50 <= percent < 80
    assert third.endswith(" MB/s")


def test_answering_is_told() -> None:
    shown = on_terminal(command(SLOW_ANSWERS, "op", GRAPH))
    assert re.search(r"tfprof: answering op \(\d s\)", shown)
    assert CLEAR in shown


def megabytes(shown: str) -> list[int]:
    return [int(number) for number in re.findall(r"tfprof: writing [^\r]* (\d+) MB\r", shown)]


def assert_grows(counted: list[int]) -> None:
    """How much was written at each look: some of the twelve, and ever more."""
    assert counted == sorted(counted)
    assert 0 < counted[0] <= 12
    assert len(set(counted)) > 1


def test_writing_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "report"
    output = f"--output=file:outfile={path}"
    shown = on_terminal(command(SLOW_PIECES, "scope", GRAPH, output))
    assert_grows(megabytes(shown))
    assert path.stat().st_size == 12_000_000


def test_a_report_sent_to_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with path.open("wb") as file:
        shown = on_terminal(command(SLOW_PIECES, "scope", GRAPH), file.fileno())
    assert "tfprof: writing to standard output " in shown
    assert_grows(megabytes(shown))
    assert path.stat().st_size == 12_000_000


def test_a_report_sent_to_a_program_is_not_disturbed() -> None:
    """It may be a pager, whose screen is the same terminal."""
    shown = on_terminal(command(SLOW_PIECES, "scope", GRAPH))
    assert "writing" not in shown


@pytest.mark.sampled
@pytest.mark.parametrize("flag", sampled(["--graph_path=", ""], 1, "flags"))
def test_unpacking_is_told(tmp_path: Path, flag: str) -> None:
    path = tmp_path / "graph.gz"
    nodes = (b'node { name: "x%d" op: "NoOp" }\n' % (number * number) for number in range(20_000))
    path.write_bytes(gzip.compress(b"".join(nodes)))
    shown = on_terminal(command(SLOW_UNPACKING, "scope", f"{flag}{path}"))
    told = [text for text in shown.split(CLEAR) if text.startswith("tfprof: unpacking ")]
    assert told
    percents = [int(text.split()[-3].removesuffix("%")) for text in told]
    assert percents == sorted(percents)
    assert 0 < percents[0] < 100


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("answering op", "tfprof: answering op (4 s)"),
        (Stage("reading graph.pb", 0, 310_000_000), "tfprof: reading graph.pb 310 MB (4 s)"),
        (Stage("reading graph.pb", 0, 3), "tfprof: reading graph.pb (4 s)"),
        (
            Stage("reading run_meta_3 (4 of 100)", 370_000_000, 1_000_000_000),
            "tfprof: reading run_meta_3 (4 of 100) 37% 185 MB/s",
        ),
        (Stage("writing timeline.json_0", 120_400_000), "tfprof: writing timeline.json_0 120 MB"),
    ],
)
def test_what_a_line_says(stage: str, shown: str) -> None:
    assert line(stage, 4.0, 2.0) == shown


def test_a_line_fits_the_terminal() -> None:
    text = "tfprof: reading " + "long/" * 50 + "run_meta (4 of 100) 37% 210 MB/s"
    short = fitted(text, 80)
    assert len(short) == 79
    assert short.startswith("tfprof: reading ")
    assert short.endswith("run_meta (4 of 100) 37% 210 MB/s")
    assert "…" in short
    assert fitted("short", 80) == "short"


def test_a_line_is_escaped_for_the_terminal() -> None:
    shown = on_terminal(python(WORK.replace("model.pb", r"a\x1b[2Jb\nc").format(seconds=1.6)))
    assert r"tfprof: reading a\x1b[2Jb\nc (" in shown
    assert "\x1b[2J" not in shown
