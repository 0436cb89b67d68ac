"""Tab in real shells: each is given its script and asked what it offers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final, Protocol

import pexpect
import pytest

from sampling import sampled
from tfprof import cli
from tfprof.foundation.dotted import load_function
from tfprof.tables.command_options import LIMIT_OPTIONS
from tfprof.tables.commands import COMMANDS, COMPLETION_SHELLS
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.options import OPTIONS
from tfprof.views import VIEWS
from tools.shells import shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TAB, ENTER, CTRL_X = "\t", "\r", "\x18"

# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

OFFERS: Final = {
    "tfprof ": list(COMMANDS),
    "tfprof sc": ["scope"],
    "tfprof --graph_path=x sc": ["scope"],
    "tfprof help s": ["summary", "scope", "save", "shell"],
    "tfprof completion ": list(COMPLETION_SHELLS),
    "tfprof help l": ["limits"],
    "tfprof demo ": [*VIEWS, "overview", "summary", "advise", "page"],
    "tfprof scope --sel": ["--select"],
    "tfprof scope --max": ["--max_depth"],
    "tfprof scope --select=fl": ["float_ops"],
    "tfprof scope --select=params,mi": ["params,micros"],
    "tfprof scope --select params,mi": ["params,micros"],
    "tfprof scope --select=occ": ["occurrence"],
    "tfprof code --select=o": ["op_types", "output_bytes"],
    "tfprof scope --order_by=o": ["output_bytes"],
    "tfprof op --order_by=o": ["occurrence", "output_bytes"],
    "tfprof op --order_by o": ["occurrence", "output_bytes"],
    "tfprof --order_by=o": ["occurrence", "output_bytes"],
    "tfprof op --format=j": ["json"],
    "tfprof op --output=p": ["pprof:outfile=", "proto:outfile="],
    "tfprof op --output=time": [],
    "tfprof scope --output=time": ["timeline:outfile="],
    "tfprof save --output=": ["file:outfile="],
    "tfprof op --output=st": ["stdout"],
    "tfprof code --account_d": [],
    "tfprof scope --account_d": ["--account_displayed_op_only"],
    "tfprof scope --account_displayed_op_only --max": ["--max_depth"],
    "tfprof demo --graph": [],
    "tfprof op --max_depth=": [],
    "tfprof op --max_depth=3 --min_p": ["--min_peak_bytes", "--min_params"],
    "tfprof --ver": ["--version"],
}
FILES: Final = {
    "tfprof ru": "<run_meta>",
    "tfprof sub/in": "<sub/inner.pb>",
    "tfprof op gr": "<op><graph.pbtxt>",
    "tfprof op --graph_path=gr": "<op><--graph_path=graph.pbtxt>",
    "tfprof op --graph_path gr": "<op><--graph_path><graph.pbtxt>",
    "tfprof op --run_meta_path=ru": "<op><--run_meta_path=run_meta>",
    "tfprof op --run_meta_path=gone,ru": "<op><--run_meta_path=gone,run_meta>",
    "tfprof op --output=file:outfile=gr": "<op><--output=file:outfile=graph.pbtxt>",
    "tfprof op --graph_path=sub/in": "<op><--graph_path=sub/inner.pb>",
}
WORDS: Final = {
    "tfprof sc": "<scope>",
    "tfprof scope --select par": "<scope><--select><params>",
    "tfprof scope --select=params,mi": "<scope><--select=params,micros>",
    "tfprof scope --output=ti": "<scope><--output=timeline:outfile=>",
    "tfprof scope --account_d": "<scope><--account_displayed_op_only>",
}


class Shell(Protocol):
    """A shell that was given its script."""

    def offers(self, line: str) -> list[str]:
        """The words that the last one of *line* may become."""

    def completes(self, line: str, arguments: str) -> bool:
        """Whether Tab behind *line* and then Enter runs tfprof with *arguments*."""

    def close(self) -> None:
        """Leave it."""


def script(name: str) -> str:
    return str(load_function(COMPLETION_SHELLS[name])())


def run_in(folder: Path, name: str, *words: str) -> str:
    """What a shell prints that runs in the folder and has nothing to complain of."""
    ran = subprocess.run(
        [shell(name), *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert ran.stderr == ""
    return ran.stdout


def bare(word: str) -> str:
    """A word as all shells would offer it: no option before a value, no sign behind an option."""
    option = re.fullmatch("(--[a-z_]+)=?", word)
    return option[1] if option else re.sub("^--[a-z_]+=", "", word)


class Terminal:
    """An interactive shell in which tfprof shows its arguments."""

    def __init__(self, name: str, words: list[str], folder: Path, setup: str) -> None:
        (folder / "tab").write_text(script(name))
        (folder / "setup").write_text(setup)
        self.child = pexpect.spawn(
            shell(name),
            words,
            cwd=str(folder),
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"},
            encoding="utf-8",
            timeout=20,
            dimensions=(100, 200),
        )
        self.child.send(f"source ./setup; echo SET''UP{ENTER}")
        self.child.expect_exact("SETUP\r\n")

    def completes(self, line: str, arguments: str) -> bool:
        self.child.send(f"{line}{TAB}{ENTER}")
        self.child.expect(r"ran:(\S*)\r\n")
        return isinstance(self.child.match, re.Match) and self.child.match[1] == arguments

    def close(self) -> None:
        self.child.close(force=True)


SHOWS = """tfprof() { printf 'ran:'; printf '<%s>' "$@"; echo; }"""


class Bash:
    def __init__(self, folder: Path) -> None:
        setup = f"source ./tab; {SHOWS}; bind 'set enable-bracketed-paste off'"
        self._terminal = Terminal("bash", ["--norc", "--noprofile", "-i"], folder, setup)
        self._folder = folder
        self.completes, self.close = self._terminal.completes, self._terminal.close

    def offers(self, line: str) -> list[str]:
        asks = (
            "source ./tab; COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) "
            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'; "
            "_tfprof; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        return run_in(self._folder, "bash", "--norc", "-c", asks, "bash", line).split()


# What is added to the list of matches is also written down.
ZSH: Final = r"""
PS1='> '; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D
source ./tab
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    local -a hits
    builtin compadd -A hits "$@"
    print -rl -- $IPREFIX$^hits >> ./hits
    builtin compadd "$@"
}
forget() { BUFFER=; print -n DONE }
zle -N forget; bindkey '^X' forget; LISTMAX=1000
"""


class Zsh:
    def __init__(self, folder: Path) -> None:
        self._terminal = Terminal("zsh", ["-f", "-i"], folder, f"{ZSH}\n{SHOWS}")
        self._hits = folder / "hits"
        self.completes, self.close = self._terminal.completes, self._terminal.close

    def offers(self, line: str) -> list[str]:
        self._hits.write_text("")
        self._terminal.child.send(f"{line}{TAB}{CTRL_X}")
        self._terminal.child.expect_exact("DONE")
        return self._hits.read_text().split()


class Fish:
    def __init__(self, folder: Path) -> None:
        (folder / "tab").write_text(script("fish"))
        self._folder = folder

    def offers(self, line: str) -> list[str]:
        asks = "source ./tab; complete -C $argv[1]"
        told = run_in(self._folder, "fish", "--no-config", "-c", asks, line)
        return [offer.split("\t")[0] for offer in told.splitlines()]

    def completes(self, line: str, arguments: str) -> bool:
        """Asked of the function behind Tab: what it puts in the place of the last word."""
        (word,) = self.offers(line)
        run = [*line.split()[1:-1], word]
        return "".join(f"<{one}>" for one in run) == arguments

    def close(self) -> None:
        """Nothing is left running."""


@pytest.fixture(scope="module", params=list(COMPLETION_SHELLS))
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "sub").mkdir()
    for name in ("graph.pbtxt", "run_meta", "sub/inner.pb"):
        (folder / name).touch()
    kinds: dict[str, Callable[[Path], Shell]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}
    started = kinds[request.param](folder)
    yield started
    started.close()


@pytest.mark.sampled
@pytest.mark.parametrize("line", sampled([*OFFERS], 10, "offers"))
def test_words_of_the_tables_are_offered(asked: Shell, line: str) -> None:
    assert sorted(map(bare, asked.offers(line))) == sorted(OFFERS[line])


@pytest.mark.sampled
@pytest.mark.parametrize("command", sampled([*COMMANDS], 6, "commands"))
def test_the_options_of_a_command_are_those_of_its_help(asked: Shell, command: str) -> None:
    others = () if command == "help" else ("help", "no_pager", "no_cache")
    options = [f"--{name}" for name in (*COMMANDS[command].options, *others)]
    assert sorted(map(bare, asked.offers(f"tfprof {command} --"))) == sorted(options)


def test_without_a_command_all_options_are_offered(asked: Shell) -> None:
    others = (*GRAPH_PARTS, "format", "no_pager", "no_cache", "help", "version")
    options = [f"--{name}" for name in (*INPUTS, *OPTIONS, *LIMIT_OPTIONS, *others)]
    assert sorted(map(bare, asked.offers("tfprof --"))) == sorted(options)


@pytest.mark.sampled
@pytest.mark.parametrize("line", sampled([*WORDS, *FILES], 12, "words"))
def test_tab_completes(asked: Shell, line: str) -> None:
    assert asked.completes(line, {**WORDS, **FILES}[line])


@pytest.mark.parametrize("kind", [Bash, Zsh])
def test_behind_an_option_its_value_can_be_typed_at_once(
    kind: type[Bash | Zsh], tmp_path: Path
) -> None:
    started = kind(tmp_path)
    assert started.completes(f"tfprof scope --sel{TAB}par", "<scope><--select=params>")
    keys = f"tfprof sc{TAB}--sel{TAB}par{TAB},mi"
    assert started.completes(keys, "<scope><--select=params,micros>")
    started.close()


@pytest.mark.parametrize("name", COMPLETION_SHELLS)
def test_the_command_prints_the_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["completion", name]) == 0
    assert capsys.readouterr().out == script(name)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["completion"], "completion needs one shell (there are: bash, zsh, fish)"),
        (["completion", "bash", "zsh"], "'zsh' is not expected after 'completion bash'"),
        (["completion", "bsh"], "completion has no 'bsh'; did you mean 'bash'?"),
    ],
)
def test_a_shell_that_is_none_is_refused(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("name", COMPLETION_SHELLS)
def test_the_script_can_be_sourced_twice_and_says_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "tab").write_text(script(name))
    twice = "source ./tab; source ./tab"
    ready = "autoload -U compinit; compinit -u -D; " if name == "zsh" else ""
    assert run_in(tmp_path, name, "-c", ready + twice) == ""
    assert str(sys.prefix) not in script(name)
