"""Names out of files never steer a terminal; files and pipes get them as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pexpect
import pytest

from hostile_parts import node
from tfprof.console.escape import visible, visible_text

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE: Final = {
    "clear the screen": (b"a\x1b[2Jb", "a\\x1b[2Jb"),
    "set the title": (b"a\x1b]0;owned\x07b", "a\\x1b]0;owned\\x07b"),
    "a single byte that begins a sequence": (b"a\xc2\x9b2Jb", "a\\x9b2Jb"),
    "go back over what was printed": (b"safe\rb\x08c", "safe\\x0db\\x08c"),
    "turn the text around": ("a\u202eb\u2066c".encode(), "a\\u202eb\\u2066c"),
    "no text at all": (b"a\xff\xfeb", "a\\xff\\xfeb"),
    "nothing": (b"a\x00b\x7fc", "a\\x00b\\x7fc"),
    "what is no harm": ("é/日本 \U0001f600".encode(), "é/日本 \U0001f600"),
}


pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.mark.parametrize(("name", "shown"), HOSTILE.values(), ids=list(HOSTILE))
def test_what_a_terminal_would_obey_is_shown(name: bytes, shown: str) -> None:
    assert b"".join(visible([b"x " + name + b" (1)\n", b"y\n"])).decode() == f"x {shown} (1)\ny\n"


def test_a_sentence_stays_on_one_line() -> None:
    assert visible_text("no file 'a\nb\x1b[0m'") == "no file 'a\\nb\\x1b[0m'"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A graph with every name above, and one that looks like two rows."""
    names = [name for name, _ in HOSTILE.values()]
    names.append(b"one\n  two (9.99b params)")
    path = tmp_path / "graph.pb"
    path.write_bytes(b"".join(node(name, b"Neg") for name in names))
    return path


def on_terminal(graph: Path, code: int) -> bytes:
    """What a terminal is sent by a report of the file."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tfprof", "scope", f"--graph_path={graph}", "--select=params"],
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat"},
        timeout=60,
        dimensions=(50, 400),
    )
    told: Any = child.read()  # bytes, where no encoding is given
    child.close()
    assert child.exitstatus == code
    return bytes(told)


def test_on_a_terminal(graph: Path) -> None:
    told = on_terminal(graph, 0)
    lines = told.decode().replace("\r\n", "\n").split("\n")
    rows = [line for line in lines if line.endswith(" params)")]
    for _, shown in HOSTILE.values():
        assert any(shown in row for row in rows), shown
    assert any("one\\n  two (9.99b params) (0/0 params)" in row for row in rows)
    assert not any(row.startswith("  two") for row in rows)
    assert not [byte for byte in told if byte < 32 and byte not in b"\r\n\t"]


def test_in_a_pipe_and_in_a_file(graph: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tfprof", "scope", f"--graph_path={graph}", "--select=params"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    written = tmp_path / "report"
    subprocess.run([*command, f"--output=file:outfile={written}"], capture_output=True, check=True)
    assert written.read_bytes() == piped
    for name, _ in HOSTILE.values():
        assert name.rpartition(b"/")[2] in piped


def test_sentences_about_files_are_safe_on_a_terminal(tmp_path: Path) -> None:
    told = on_terminal(tmp_path / "a\x1b[2Jb", 3)
    assert b"a\\x1b[2Jb does not exist" in told
    assert b"\x1b[2J" not in told
