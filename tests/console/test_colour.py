"""Colour is for a terminal: there it adds escape codes and nothing else; elsewhere it is not."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import PROFILES
from sampling import sampled
from tfprof.console.colour import coloured, wanted
from tfprof.writers.classic_text import _MISSES_STREAM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HANDMADE: Final = PROFILES["handmade"]
CODES: Final = re.compile(rb"\x1b\[[012]m")

# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

REPORT: Final = b"""
Doc:
scope: The nodes are \xff.
param: Number of parameters.

Profile:
node name | # parameters
_TFProfRoot (--/24 params)
  w (3x4, 12/24 params)
  _TFProfRoot (0/0 params)
"""
PAINTED: Final = b"""
<Doc:>
<scope: The nodes are \xff.>
<param: Number of parameters.>

<Profile:>
<node name | # parameters>
{_TFProfRoot (--/24 params)}
  w (3x4, 12/24 params)
  _TFProfRoot (0/0 params)
"""
TABLE: Final = """scope view
node name    total
           micros
──────────────────
_TFProfRoot   24us
  w           12us
──────────────────
Total         24us
"""
OTHERS: Final = (
    b"",
    b"\n",
    b'{"Doc":\n"\nDoc:\n", "\nProfile:\n"}',
    b"\n*****\nTimeline file is written to x.\n",
    b"\nDoc:\nand nothing behind it",
    b"\nProfile:\n_TFProfRoot (1)\n",
    b"a" * 100_000,
    b"a\nb\nc\nd\ne\nf\ng\nh\n\xe2\x94\x80\xe2\x94\x80\n_TFProfRoot 1\n",
)


def drawn(*pieces: bytes) -> bytes:
    """The pieces in colour, < > for dim and { } for bold."""
    text = b"".join(coloured(pieces))
    text = re.sub(rb"\x1b\[2m(.*)\x1b\[0m", rb"<\1>", text)
    return re.sub(rb"\x1b\[1m(.*)\x1b\[0m", rb"{\1}", text)


# --- the function ------------------------------------------------------------------------------


def test_what_explains_is_dim_and_the_root_bold() -> None:
    assert drawn(REPORT) == PAINTED


@given(st.lists(st.integers(0, len(REPORT))))
def test_it_does_not_matter_how_a_report_is_cut(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(REPORT)]
    pieces = [REPORT[start:end] for start, end in pairwise(ends)]
    assert drawn(*pieces) == PAINTED


def test_a_list_has_no_root_and_its_first_row_is_plain() -> None:
    head, _, rows = REPORT.partition(b"_TFProfRoot (--/24 params)\n")
    assert drawn(head, rows) == PAINTED.replace(b"{_TFProfRoot (--/24 params)}\n", b"")
    assert drawn(head) == PAINTED.partition(b"{")[0]


def test_a_root_without_a_legend_is_bold() -> None:
    legend = b"node name | # parameters\n"
    assert drawn(REPORT.replace(legend, b"")) == PAINTED.replace(b"<" + legend[:-1] + b">\n", b"")


def test_a_warning_before_it_is_plain() -> None:
    warning = _MISSES_STREAM.encode()
    assert drawn(warning + REPORT) == warning + PAINTED


def test_what_heads_a_table_is_dim() -> None:
    lines = TABLE.encode().splitlines(keepends=True)
    painted = [b"<%b>\n" % line[:-1] for line in lines[:4]] + [b"{%b}\n" % lines[4][:-1]]
    assert drawn(*lines) == drawn(TABLE.encode()) == b"".join([*painted, *lines[5:]])


@pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
def test_what_is_no_report_is_as_it_was(text: bytes) -> None:
    assert b"".join(coloured([text[:9], text[9:]])) == text


def test_rows_flow_as_they_come() -> None:
    def pieces() -> Iterator[bytes]:
        yield REPORT
        yield b"one"
        raise AssertionError("nobody asked for this yet")

    flow = coloured(pieces())
    while next(flow) != b"one":
        pass


def test_the_environment_may_refuse() -> None:
    assert wanted({"TERM": "xterm"})
    assert wanted({"TERM": "xterm", "NO_COLOR": ""})
    assert not wanted({"TERM": "xterm", "NO_COLOR": "1"})
    assert not wanted({"TERM": "dumb"})
    assert not wanted({})


# --- the command -------------------------------------------------------------------------------

QUESTIONS: Final = (
    *(["scope", "--select=params,micros"], ["graph", "--select=bytes"], ["code"], ["advise"]),
    *(["op", "--select=micros,occurrence"], ["scope", "--format=table", "--max_depth=2"]),
    *(["scope", "--format=json"], ["scope", "--format=md"]),
)


def command(*words: str) -> str:
    return shlex.join([sys.executable, "-m", "tfprof", *words, *HANDMADE.flags()])


def on_terminal(line: str, **environment: str) -> bytes:
    """What a terminal is sent as standard output of *line*."""
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    child = pexpect.spawn(
        "sh",
        ["-c", f"{line} 2>/dev/null"],
        env={**kept, "TERM": "xterm", "PAGER": "cat", **environment},
        encoding="utf-8",
        codec_errors="surrogateescape",
        timeout=60,
        dimensions=(40, 120),
    )
    sent = str(child.read()).encode("utf-8", "surrogateescape")
    child.close()
    assert child.exitstatus == 0
    return sent.replace(b"\r\n", b"\n")


def piped(line: str) -> bytes:
    environment = {**os.environ, "TERM": "xterm"}
    shell = ["sh", "-c", line]
    return subprocess.run(shell, env=environment, capture_output=True, check=True).stdout


@pytest.mark.sampled
@pytest.mark.parametrize("words", sampled(QUESTIONS, 3, "colours"), ids=" ".join)
def test_a_terminal_gets_the_piped_text_and_codes(words: list[str]) -> None:
    plain, sent = piped(command(*words)), on_terminal(command(*words))
    assert CODES.sub(b"", sent) == plain
    assert b"\x1b" not in plain
    assert (b"\x1b[2mDoc:\x1b[0m\n" in sent) == plain.startswith(b"\nDoc:\n")
    assert (b"\x1b[1m_TFProfRoot (" in sent) == (b"\n_TFProfRoot (" in plain)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_may_refuse_codes(environment: dict[str, str]) -> None:
    assert on_terminal(command("scope"), **environment) == piped(command("scope"))


def test_a_file_gets_no_codes_when_a_terminal_looks_on(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    assert on_terminal(command("scope", f"--output=file:outfile={path}")) == b""
    assert path.read_bytes() == piped(command("scope"))


def test_the_shell_answers_in_colour() -> None:
    lines = "echo scope -max_depth 1 | "
    plain, sent = piped(lines + command()), on_terminal(lines + command())
    assert CODES.sub(b"", sent) == plain
    assert b"\x1b[1m_TFProfRoot (" in sent
