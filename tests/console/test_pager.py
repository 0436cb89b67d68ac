"""The pager: what a terminal cannot show at once goes through it, as with git."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from profiles import PROFILES
from sampling import sampled
from screens import SIZES, Screen
from tfprof.console.pager import pager_command

if TYPE_CHECKING:
    from pathlib import Path

NODES: Final = 99
MARKING: Final = "sed s/^/paged:/"
CTRL_C: Final = "\x03"

# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def graph_of(folder: Path, *names: str) -> Path:
    path = folder / "graph.pbtxt"
    path.write_text("".join(f'node {{ name: "{name}" op: "NoOp" }}\n' for name in names))
    return path


def numbered(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graph_of(tmp_path_factory.mktemp("graph"), *numbered(NODES))


@pytest.fixture(scope="module")
def long(graph: Path) -> list[str]:
    """A report of more rows than any screen here has."""
    assert max(rows for rows, _ in SIZES.values()) < NODES
    return ["scope", f"--graph_path={graph}", "--select=params"]


@pytest.fixture(scope="module")
def printed(long: list[str]) -> str:
    """The long report, in a pipe."""
    return piped(long)


def piped(words: list[str], **environment: str) -> str:
    line, env = [sys.executable, "-m", "tfprof", *words], {**os.environ, **environment}
    return subprocess.run(line, env=env, check=True, capture_output=True, text=True).stdout


@pytest.mark.sampled
@pytest.mark.parametrize("size", sampled([*SIZES.values()], 1, "sizes"))
def test_a_report_longer_than_the_screen_is_paged(
    size: tuple[int, int], long: list[str], printed: str
) -> None:
    code, sent = Screen(long, size, PAGER=MARKING).ends()
    assert (code, sent) == (0, "".join(f"paged:{line}\n" for line in printed.splitlines()))
    # The explanations above the rows may wrap: they are no reason for a pager.
    code, sent = Screen([*long, "--max_depth=1"], size, PAGER=MARKING).ends()
    rows = printed.partition("_TFProfRoot")
    assert (code, sent) == (0, f"{rows[0]}_TFProfRoot (--/0 params)\n")


@pytest.mark.sampled
@pytest.mark.parametrize("size", sampled([*SIZES.values()], 1, "sizes"))
def test_a_report_wider_than_the_screen_is_paged(size: tuple[int, int], tmp_path: Path) -> None:
    # "  " before the name and " (0/0 params)" behind it: 105 columns.
    path = graph_of(tmp_path, "n" * 90)
    words = ["scope", f"--graph_path={path}", "--select=params", "--max_depth=2"]
    code, sent = Screen(words, size, PAGER=MARKING).ends()
    assert (code, "paged:  nnn" in sent) == (0, size[1] < 105)


def test_less_shows_it_and_is_left_quietly(long: list[str]) -> None:
    screen = Screen(long).sees("_TFProfRoot", "\r\n:").types(CTRL_C).sees("\r").types("q")
    code, sent = screen.ends()
    assert code == 0
    assert "interrupted" not in sent
    assert "n98 " not in sent


def test_ctrl_c_while_a_long_report_is_written_leaves_the_pager_alone(tmp_path: Path) -> None:
    # The pager answers the interrupt after it has read a little; the rest fills the pipe.
    path = graph_of(tmp_path, *numbered(20_000))
    pager = "trap 'echo the pager has it' INT; head -3; sleep 9 <&- >&- 2>&- & wait; echo it ends"
    screen = Screen(["scope", f"--graph_path={path}", "--select=params"], PAGER=pager)
    screen.sees("Doc:").types(CTRL_C).sees("the pager has it", "it ends")
    code, sent = screen.ends()
    assert (code, "interrupted" in sent) == (0, False)


def test_a_signal_that_ends_the_command_ends_its_pager(long: list[str]) -> None:
    pager = "trap 'echo the pager ends; exit' TERM; head -2; sleep 9 <&- >&- 2>&- & wait"
    screen = Screen(long, PAGER=pager).sees("Doc:")
    screen.child.kill(signal.SIGTERM)
    code, sent = screen.sees("the pager ends").ends()
    assert (code, "Traceback" in sent) == (128 + signal.SIGTERM, False)


def test_a_pager_that_reads_little_is_no_error(long: list[str]) -> None:
    assert Screen(long, PAGER="head -2").ends() == (0, "\nDoc:\n")


def test_less_gets_the_options_of_git_unless_there_are_some(long: list[str]) -> None:
    assert Screen(long, PAGER='echo "<$LESS>"').ends() == (0, "<FRSX>\n")
    assert Screen(long, PAGER='echo "<$LESS>"', LESS="i").ends() == (0, "<i>\n")


NO_PAGER: Final = {
    "flag": (["--no-pager"], {"PAGER": MARKING}),
    "underscore": (["--no_pager"], {"PAGER": MARKING}),
    "era": (["--era=original"], {"PAGER": MARKING}),
    "empty": ([], {"PAGER": ""}),
    "cat": ([], {"PAGER": "cat"}),
    "ours": ([], {"PAGER": MARKING, "TFPROF_PAGER": "cat"}),
    "dumb": ([], {"TERM": "dumb"}),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*NO_PAGER], 3, "no pager"))
def test_who_wants_none_has_none(name: str, long: list[str], printed: str) -> None:
    words, environment = NO_PAGER[name]
    assert Screen([*long, *words], (24, 80), **environment).ends() == (0, printed)


def test_a_pager_of_ours_comes_first(long: list[str]) -> None:
    assert Screen(long, PAGER="cat", TFPROF_PAGER="echo mine").ends() == (0, "mine\n")


@pytest.mark.parametrize("pager", ["no_such_pager", "no_such_pager -R", "less 'open"])
def test_without_its_program_the_report_is_printed(
    pager: str, long: list[str], printed: str
) -> None:
    sentence = f"tfprof: the pager {pager!r} cannot be run\n"
    assert Screen(long, PAGER=pager).ends() == (0, sentence + printed)


def test_a_pipe_has_no_pager(long: list[str], printed: str) -> None:
    assert piped([*long, "--no-pager"], PAGER=MARKING) == printed


def test_help_is_paged_where_it_is_long() -> None:
    assert "\npaged:" in Screen(["help", "scope"], PAGER=MARKING).ends()[1]
    assert "paged:" not in Screen(["--version"], PAGER=MARKING).ends()[1]


def test_the_pager_gets_names_that_no_terminal_obeys(tmp_path: Path) -> None:
    path = graph_of(tmp_path, *(rf"{name}\033[2J" for name in numbered(NODES)))
    sent = Screen(["scope", f"--graph_path={path}", "--select=params"], PAGER=MARKING).ends()[1]
    assert "paged:  n98\\x1b[2J (0/0 params)" in sent
    assert "\x1b[2J" not in sent


def test_which_command_it_is() -> None:
    assert pager_command({"TERM": "xterm"}) == ["less"]
    assert pager_command({"TERM": "xterm", "PATH": ""}) == ["less"]  # of this process
    assert pager_command({"PAGER": "less -i +G"}) == ["less", "-i", "+G"]
    assert pager_command({"PAGER": "less | cat"}) == ["sh", "-c", "less | cat"]
    assert pager_command({"PAGER": " "}) is None
    assert pager_command({}) is None


# --- whose reader goes -------------------------------------------------------------------------

QUIET: Final = {
    "text": "scope {files}",
    "json": "scope {files} --format=json",
    "csv": "scope {files} --format=csv",
    "md": "scope {files} --format=md",
    "table": "scope {files} --format=table",
    "file": "scope {files} --output=file:outfile=/dev/stdout",
    "save": "save {files} -o /dev/stdout",
    "timeline": "graph {files} --output=pprof:outfile=/dev/stdout",
    "explain": "explain {files} --name=.* --most=2000",
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*QUIET], 3, "quiet"))
def test_head_ends_a_command_quietly(name: str) -> None:
    words = QUIET[name].format(files=" ".join(PROFILES["resnet"].flags())).split()
    with subprocess.Popen(
        [sys.executable, "-m", "tfprof", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 128 + 13  # as if by SIGPIPE, which is what git ends with
    assert all(line.startswith("run graph coverage") for line in said.splitlines()), said


def test_head_ends_the_shell_quietly(graph: Path) -> None:
    line = f"yes scope | '{sys.executable}' -m tfprof --graph_path={graph} | head -1"
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("\n", "")
