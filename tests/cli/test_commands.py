"""COMMANDS: a row is all that a command needs, and a command takes what its row says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import tfprof
from profiles import PROFILES
from tfprof import cli
from tfprof.tables.command_options import LIMIT_OPTIONS
from tfprof.tables.commands import COMMANDS, known_options

HANDMADE: Final = PROFILES["handmade"]
SOURCES: Final = Path(tfprof.__file__).parent

# A view and a command, each a row, in a program that touches nothing else.
ROWS: Final = r"""
import sys
from types import ModuleType

from tfprof.views import VIEWS, View, scope_view

drawn = ModuleType("tfprof.views.upside_view")
drawn.draw = scope_view.draw
sys.modules["tfprof.views.upside_view"] = drawn
VIEWS["upside"] = View("upside", "upside: The nodes, seen from below.", "nodes from below")

from tfprof.console.outcome import Outcome
from tfprof.tables.commands import COMMANDS, Command
from tfprof.tables.options import Option

greet = ModuleType("greet")
greet.run = lambda request: Outcome(page=f"hello {request.options.get('whom', 'you')}\n")
sys.modules["greet"] = greet
COMMANDS["greet"] = Command(
    "greet",
    "say hello",
    "greet:run",
    "[options]",
    ("greet",),
    {"whom": Option("whom", "text", "you", "whom to greet", ("you", "me"))},
    no_files="it reads none",
)

from tfprof import cli
"""
ASKS: Final = """
import tfprof
from tfprof.shell.editor import offer

def tab(line):
    return ",".join(offer(line, tfprof.load(sys.argv[1]).profile).words)

print(tab("up"), tab("gre"), tab("greet -w"), tab("greet -whom m"), tab("upside -sel"), sep=";")
"""


def ran(program: str, *words: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", ROWS + program, *words]
    return subprocess.run(line, input=lines, capture_output=True, check=False, text=True)


def command(*words: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return ran("sys.exit(cli.run(sys.argv[1:]))", *words, lines=lines)


def test_a_new_row_is_in_the_help() -> None:
    everything = command("help").stdout
    assert "  upside     nodes from below\n" in everything
    assert "  greet      say hello\n" in everything
    assert command("help", "upside").stdout.startswith("tfprof upside: nodes from below\n")
    shown = command("greet", "--help").stdout
    assert "  --whom                       whom to greet [you]\n" in shown
    assert "whom one of: you, me\n" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_new_row_is_completed(shell: str) -> None:
    script = command("completion", shell).stdout
    for word in ("upside", "greet", "whom"):
        assert word in script


def test_a_new_row_runs_on_the_command_line() -> None:
    assert command("greet", "--whom=me").stdout == "hello me\n"
    wrong = command("greet", "--whom=him")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "tfprof: whom has no 'him' (there are: you, me)\n"
    graph = f"--graph_path={HANDMADE.graph}"
    assert "upside: The nodes, seen from below." in command("upside", graph).stdout
    assert "_TFProfRoot" in command("demo", "upside", "--max_depth=1").stdout


def test_a_new_row_runs_in_the_shell() -> None:
    lines = "greet -whom me\nupside -max_depth 1\nhelp greet\n"
    shown = command(f"--graph_path={HANDMADE.graph}", lines=lines)
    assert shown.stdout.startswith("hello me\n\nDoc:\nupside: The nodes, seen from below.")
    assert "tfprof greet: say hello\n" in shown.stdout
    assert ran(ASKS, str(HANDMADE.graph)).stdout == "upside;greet;-whom;me;-select\n"


def test_nothing_compares_the_name_of_a_command() -> None:
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bcommand(\.name)? (==|!=)", text), path
        assert not re.search(r"\bif (row|command)(\.name)? (not )?in [(\[{]", text), path


# --- options -----------------------------------------------------------------------------------


VALUES: Final = {"int": "3", "bool": "true", "output": "stdout"}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_a_command_does_not_take_is_an_error(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = COMMANDS[name]
    if row.any_option:
        return
    known = {option.name: option for option in known_options().values()}
    anywhere = {"help", "version", "no_pager", "no_cache"}
    others = set(known) - set(row.options) - set(row.ignored) - anywhere
    assert others
    for other in sorted(others):
        option = known[other]
        value = option.choices[0] if option.choices else VALUES.get(option.kind, "x")
        assert cli.run([name, f"--{other}={value}"]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith(f"tfprof: {name} takes no --{other}"), shown.err


def test_such_an_error_says_what_the_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["summary", str(HANDMADE.graph), "--order_by=micros", "--max_depth=1", "--step=3"]
    assert cli.run(words) == 2
    assert capsys.readouterr().err == (
        "tfprof: summary takes no --order_by (it takes: --signature, --tag, --weights, --devices, "
        "--functions, --depth, --sort, --rows, --training, "
        "--outputs, --dim, --output, --format); 'tfprof help summary' lists its options\n"
    )
    assert cli.run(["scope", str(HANDMADE.graph), "-o", "x"]) == 2
    assert capsys.readouterr().err == (
        "tfprof: scope takes no --outfile (save, convert, page and fleet do); to write a report: "
        "--output=file:outfile=PATH; 'tfprof help scope' lists its options\n"
    )


def test_views_accept_what_the_original_accepts_and_say_what_has_no_effect(
    capfd: pytest.CaptureFixture[str],
) -> None:
    flags = HANDMADE.flags()
    assert cli.run(["code", *flags]) == 0
    plain = capfd.readouterr()
    ignored = ["--min_occurrence=3", "--account_displayed_op_only"]
    assert cli.run(["code", *flags, *ignored]) == 0
    shown = capfd.readouterr()
    assert shown.out == plain.out
    for name in ("account_displayed_op_only", "min_occurrence"):
        assert f"tfprof: code ignores --{name}\n" in shown.err


def test_limits_are_for_commands_that_read_files() -> None:
    with_limits = {name for name, row in COMMANDS.items() if set(LIMIT_OPTIONS) <= set(row.options)}
    assert with_limits == set(COMMANDS) - {"completion", "help"}
