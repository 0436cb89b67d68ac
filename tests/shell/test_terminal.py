"""The shell on a real terminal: what keys do, and what Tab offers."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from ours import files_loaded
from profiles import PROFILES
from sampling import sampled
from screens import SIZES, Screen
from tfprof.cli.argv import read_words, split_line
from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.shell.editor import MOST_NAMES, offer
from tfprof.tables.commands import COMMANDS, known_options, options_shown, shell_commands
from tfprof.tables.formats import GRAPH_PARTS
from tfprof.tables.options import OPTIONS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HANDMADE: Final = PROFILES["handmade"]
PROMPT: Final = "tfprof>"
ENTER, TAB, UP = "\r", "\t", "\x1b[A"
CTRL_C, CTRL_D, CTRL_E, CTRL_R = "\x03", "\x04", "\x05", "\x12"
NODES: Final = 100_000

# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


class Terminal(Screen):
    """A terminal with the shell in it."""

    def __init__(self, graph: Path, state: Path, **environment: str) -> None:
        usual = {
            "NO_COLOR": "1",  # colour has its own tests
            "PAGER": "cat",
            "XDG_STATE_HOME": str(state),
        }
        words = [f"--graph_path={graph}", "--select=params"]
        super().__init__(words, (40, 120), **{**usual, **environment})
        self.sees(PROMPT)

    def types(self, keys: str, echo: str = "") -> Terminal:
        """Press *keys*, and wait until *echo* is shown; completion is thinking until then."""
        self.child.send(keys)
        return self.sees(echo) if echo else self

    def sees(self, *texts: str) -> Terminal:
        """Wait for each of *texts* in turn."""
        super().sees(*texts)
        return self

    @property
    def passed(self) -> str:
        """What was shown before the text that was last waited for."""
        return str(self.child.before)

    def leaves(self, keys: str = CTRL_D) -> int | None:
        """Press *keys*, which end the shell; its exit code."""
        self.child.send(keys)
        return self.ends()[0]

    def close(self) -> None:
        self.child.close(force=True)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    started = []

    def start(graph: Path = HANDMADE.graph, state: Path = tmp_path, **environment: str) -> Terminal:
        started.append(Terminal(graph, state, **environment))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "graph.pbtxt"
    path.write_text("".join(f'node {{ name: "n{i}" op: "NoOp" }}\n' for i in range(NODES)))
    return path


def test_a_line_is_answered_and_ctrl_d_leaves(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.types(f"scope -max_depth 1{ENTER}").sees("_TFProfRoot (--/31 params)\r\n", PROMPT)
    terminal.types(f"bogus{ENTER}").sees("E: there is no command 'bogus'", PROMPT)
    terminal.types(ENTER).sees("-output                     stdout:\r\n", PROMPT)
    assert terminal.leaves() == 0


@pytest.mark.sampled
@pytest.mark.parametrize("size", sampled([*SIZES.values()], 1, "sizes"))
def test_the_shell_at_every_size(size: tuple[int, int], tmp_path: Path) -> None:
    flags = PROFILES["handmade"].flags()
    screen = Screen(flags, size, XDG_STATE_HOME=str(tmp_path), PAGER="sed s/^/paged:/")
    # Two steps, as in its run_meta_0 and run_meta_1.
    screen.sees("loaded graph.pbtxt, run_meta_0.pbtxt", " nodes, ", " parameters, 2 steps\r\n")
    screen.sees("'help' lists commands", " Ctrl-D exits.\r\n", PROMPT)
    screen.types(f"help{ENTER}").sees("commands", "  summary", PROMPT)
    screen.types(f"?{ENTER}").sees("commands", "  advise", PROMPT)
    screen.types(f"summary -depth 1{ENTER}").sees("Layer", PROMPT)
    screen.types(f"info{ENTER}").sees("graph.pbtxt: a GraphDef in text format", PROMPT)
    screen.types(f"advise{ENTER}").sees("ExpensiveOperationChecker:", PROMPT)
    # Wider than any of these screens.
    screen.types(f"scope -format json{ENTER}").sees('paged:{"schema', PROMPT)
    screen.types(f"scope -format json -no_pager{ENTER}").sees('{"schema')
    assert "paged:" not in str(screen.child.before)
    screen.sees(PROMPT)
    screen.types(f"op -show_name_regexes Mat{TAB}").sees("Mul").types(ENTER)
    screen.sees("MatMul  ", PROMPT).types(CTRL_D)
    assert screen.ends()[0] == 0


def test_tab_walks_down_a_path(start: Callable[..., Terminal]) -> None:
    terminal = start(PROFILES["resnet"].graph)
    terminal.types(f"scope -max_depth 9 -show_name_regexes unit_1_0{TAB}", "/")
    terminal.types(f"sub1/c{TAB}", "onv1/").types(f"{TAB}").sees("Conv2D", "DW")
    terminal.types(f"Conv{TAB}", "2D").types(ENTER).sees("unit_1_0/sub1/conv1/Conv2D (", PROMPT)
    assert terminal.leaves() == 0


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_words_leave(start: Callable[..., Terminal], word: str) -> None:
    assert start().leaves(f"{word}{ENTER}") == 0


def test_tab_completes_commands_options_values_and_names(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.types(f"sc{TAB}", "ope").types(f" -max{TAB}", "_depth").types(f" 9 -sel{TAB}", "ect")
    terminal.types(f" par{TAB}", "ams").types(f" -show_name_regexes net/fc/B{TAB}", "iasAdd")
    terminal.types(ENTER).sees("_TFProfRoot (--/31 params)\r\n  net/fc/BiasAdd (0/0 params)\r\n")
    assert terminal.sees(PROMPT).leaves() == 0


def test_tab_walks_through_names_that_hold_what_is_typed(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.types(f"op -show_name_regexes ari{TAB}", "VariableV2").types(ENTER)
    terminal.sees("\nVariableV2   ", PROMPT)
    terminal.types(f"scope -show_name_regexes atM{TAB}", "net/fc/MatMul ")
    terminal.types(f"{TAB}{TAB}{TAB}").types(ENTER).sees("\r\n  net/fc/MatMul (0/0", PROMPT)


def test_history_is_kept_for_the_next_run(start: Callable[..., Terminal], tmp_path: Path) -> None:
    file = tmp_path / "tfprof" / "history"
    assert start().types(f"set -max_depth 5{ENTER}").sees(PROMPT, PROMPT).leaves() == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "+set -max_depth 5\n" in file.read_text()
    terminal = start()
    terminal.types(UP, "set -max_depth 5").types(ENTER).sees(PROMPT, PROMPT)
    terminal.types(ENTER).sees("-max_depth                  5\r\n", PROMPT)


def test_history_is_searched_and_suggested(start: Callable[..., Terminal]) -> None:
    terminal = start()
    for depth in (5, 6):
        terminal.types(f"set -max_depth {depth}{ENTER}").sees(PROMPT, PROMPT)
    terminal.types(f"set -step -1{ENTER}").sees(PROMPT, PROMPT)
    terminal.types(CTRL_R, "reverse-i-search").types("depth 5", "set -max_")
    terminal.types(ENTER).types(ENTER).sees(PROMPT)
    terminal.types(ENTER).sees("-max_depth                  5\r\n", PROMPT)
    terminal.types("set -max_depth 6" + ENTER).sees(PROMPT, PROMPT)
    terminal.types("set -s", "tep -1").types(f"{CTRL_E}2{ENTER}").sees(PROMPT)
    terminal.types(ENTER).sees("-step                       -12\r\n", PROMPT)


@pytest.mark.parametrize("blocked", ["folder", "file"])
def test_where_history_cannot_be_kept_nothing_is_said(
    start: Callable[..., Terminal], tmp_path: Path, blocked: str
) -> None:
    if blocked == "folder":
        (tmp_path / "tfprof").write_text("in the way")
    else:
        (tmp_path / "tfprof" / "history").mkdir(parents=True)
    terminal = start()
    terminal.types(f"set -max_depth 5{ENTER}").sees(PROMPT, PROMPT)
    terminal.types(UP, "set -max_depth 5").types(ENTER).sees(PROMPT, PROMPT)
    assert "rror" not in terminal.passed
    assert terminal.leaves() == 0


def test_without_a_state_folder_named_it_is_in_the_home(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = start(XDG_STATE_HOME="", HOME=str(tmp_path))
    assert terminal.types(f"set -max_depth 5{ENTER}").sees(PROMPT, PROMPT).leaves() == 0
    assert (tmp_path / ".local" / "state" / "tfprof" / "history").exists()


def test_ctrl_c_drops_the_line(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.types("scope -max_depth 3", "-max_depth 3").types(CTRL_C).sees("-max_depth 3", PROMPT)
    terminal.types(f"scope -max_depth 1{ENTER}").sees("_TFProfRoot (--/31 params)\r\n", PROMPT)
    assert "E:" not in terminal.passed
    assert terminal.leaves() == 0


def test_ctrl_c_stops_a_long_question(start: Callable[..., Terminal], large: Path) -> None:
    # Counted repeats are tried one by one: many seconds of work, if nobody stops it.
    slow = ",".join(f"(a{{{i}}}|b)z" for i in range(300))
    terminal = start(large)
    terminal.types(f"\x1b[200~scope -output none -hide_name_regexes {slow}\n\n\x1b[201~")
    # Progress is drawn after a second: the question is being answered now.
    terminal.sees("tfprof: answering scope (").types(CTRL_C).sees("interrupted\r\n", PROMPT)
    assert "-max_depth" not in terminal.passed  # what was pasted behind it is dropped
    terminal.types(f"scope -max_depth 1{ENTER}").sees("_TFProfRoot", PROMPT)
    assert terminal.leaves() == 0


def test_ctrl_c_stops_a_long_answer(start: Callable[..., Terminal], large: Path) -> None:
    terminal = start(large)
    terminal.types(f"scope{ENTER}").sees("n100 (").types(CTRL_C).sees("interrupted\r\n")
    assert "n99999 (" not in terminal.passed
    terminal.sees(PROMPT).types(f"scope -max_depth 1{ENTER}").sees("_TFProfRoot", PROMPT)
    assert terminal.leaves() == 0


def test_pasted_lines_run_each(start: Callable[..., Terminal], tmp_path: Path) -> None:
    terminal = start()
    terminal.types("\x1b[200~set -max_depth 1\r\nscope\r\n\r\n\x1b[201~")
    terminal.sees("_TFProfRoot (--/31 params)\r\n-max_depth                  1\r\n", PROMPT)
    terminal.types("set -max_depth 2\rscope -select bytes\r\r")  # a terminal that marks no paste
    terminal.sees("_TFProfRoot (--/0B)\r\n", "-max_depth                  2\r\n", PROMPT)
    assert terminal.leaves() == 0
    kept = (tmp_path / "tfprof" / "history").read_text().splitlines()
    lines = ["set -max_depth 1", "scope", "set -max_depth 2", "scope -select bytes"]
    assert [line[1:] for line in kept if line.startswith("+")] == lines


def test_more_is_shown_by_the_pager(start: Callable[..., Terminal]) -> None:
    terminal = start(PAGER="sed s/^/paged:/")
    terminal.types(f"more scope -max_depth 1{ENTER}").sees("paged:_TFProfRoot", PROMPT)
    sentence = "E: there is no command 'scpoe'; did you mean 'scope'?"
    terminal.types(f"more scpoe{ENTER}").sees(sentence, PROMPT)
    assert terminal.leaves() == 0


# --- what Tab offers --------------------------------------------------------------------------


def offered(line: str) -> list[str]:
    return list(offer(line, files_loaded(HANDMADE)).words)


def test_commands_then_options_are_offered() -> None:
    assert offered("") == list(shell_commands())
    assert offered("s") == offered("more s") == ["summary", "scope", "save", "shell", "set"]
    # Only code view has frames to fold.
    assert offered("scope ") == [
        f"-{name}" for name in (*OPTIONS, "worker", "stat", "format") if name != "frames"
    ]
    assert "-frames" in offered("code ")
    assert offered("set -max_depth 3 -a") == ["-account_type_regexes", "-account_displayed_op_only"]
    assert offered("set --max_depth=3 --ord") == ["--order_by="]
    assert offered("scope foo") == offered("bogus ") == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_of_a_command_are_offered(command: str) -> None:
    names = [option.name for option in options_shown(COMMANDS[command])]
    dashed = [word for word in offered(f"{command} ") if word.startswith("-")]
    assert dashed == [f"-{name}" for name in names if name not in GRAPH_PARTS]


# Words behind a command, values, and regexes from the rows that they are tried on.
OFFERS: Final = {
    "help s": ["summary", "scope", "save", "shell", "set"],
    "help lim": ["limits"],
    "demo o": ["op", "overview"],
    "completion z": ["zsh"],
    "op -select micros,fl": ["float_ops"],
    'op -select "pa': ["params"],
    "op -order_by n": ["name"],
    "op -step ": ["0", "1"],
    "scope -output ti": ["timeline:outfile="],
    "op -output ti": [],
    "op --select=micros,fl": ["float_ops"],
    "op --order_by=n": ["name"],
    "summary -de": ["-depth"],
    "op -output no": ["none"],
    "op -account_displayed_op_only t": ["true"],
    "op -max_depth ": [],
    "scope -show_name_regexes net/fc/B": ["net/fc/BiasAdd"],
    "set -hide_name_regexes x,net/fc/B": ["net/fc/BiasAdd"],
    "graph -start_name_regexes fc/M": ["gradients/net/fc/MatMul_grad/MatMul", "net/fc/MatMul"],
    "op -show_name_regexes Mat": ["MatMul"],
    "explain -op Mat": ["MatMul"],
    "explain -name net/fc/B": ["net/fc/BiasAdd"],
    "op -trim_name_regexes .*atM": ["MatMul"],
}


@pytest.mark.parametrize("line", OFFERS)
def test_words_are_offered(line: str) -> None:
    assert offered(line) == OFFERS[line]


def test_regexes_are_offered_from_the_rows_they_are_tried_on() -> None:
    assert all(".py:" in name for name in offered("code -show_name_regexes "))
    device = "/job:localhost/replica:0/task:0/device:gpu:0"
    assert device in offered("op -account_type_regexes .*gpu")
    assert "_TFProfRoot" not in offered("graph -show_name_regexes ")


def test_what_is_offered_can_be_typed_and_matches_its_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    names = ["a'", "a(b)+[c]", "a,b c", "a.b-c_d/e", "a\\\\n"]
    path.write_text("".join(f'node {{ name: "{name}" op: "A" }}\n' for name in names))
    profile = tfprof.load(str(path)).profile
    regexes = list(offer("graph -show_name_regexes a", profile).words)
    rows = [*VIEWS["graph"].draw(profile).label][1:]
    assert len(rows) == len(names)
    for name, regex in zip(rows, regexes, strict=True):
        words = read_words(split_line(f"graph -show_name_regexes {regex}"), known_options())
        part = name[: name.find(b"/") + 1] or name
        assert matches(Strings.of([part]), words.options["show_name_regexes"]).all()


def test_names_are_offered_path_by_path() -> None:
    profile = files_loaded(PROFILES["resnet"])

    def names(typed: str) -> list[str]:
        return list(offer(f"scope -show_name_regexes {typed}", profile).words)

    # The model's blocks are units 0 to 4 of three stages (examples/resnet_model.py).
    assert names("unit_1") == [f"unit_1_{block}/" for block in range(5)]
    assert names("unit_1_0") == ["unit_1_0/"]
    assert {"unit_1_0/sub1/", "unit_1_0/sub2/"} <= set(names("unit_1_0/"))
    assert names("unit_1_0/sub1/co") == ["unit_1_0/sub1/conv1/"]
    assert "unit_1_0/sub1/conv1/Conv2D" in names("unit_1_0/sub1/conv1/")


def test_names_that_contain_what_is_typed_are_offered_where_none_begins_so(large: Path) -> None:
    profile = files_loaded(PROFILES["resnet"])
    held = list(offer("scope -show_name_regexes /gamma/M", profile).words)
    assert 0 < len(held) <= MOST_NAMES
    assert all("/gamma/M" in name for name in held)
    first = list(offer("scope -show_name_regexes init", profile).words)
    assert first
    assert all(name.startswith("init") for name in first)
    flat = tfprof.load(str(large)).profile
    assert len(list(offer("scope -show_name_regexes n", flat).words)) == MOST_NAMES


def test_special_characters_do_not_end_a_path(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { name: "a(1)/b+c/d" op: "A" }\n')
    profile = tfprof.load(str(path)).profile
    word = ""
    for expected in (r"a\(1\)/", r"a\(1\)/b\+c/", r"a\(1\)/b\+c/d"):
        (word,) = offer(f"scope -show_name_regexes {word}", profile).words
        assert word == expected


def test_without_call_stacks_there_is_no_line_to_offer(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { name: "a" op: "A" }\n')
    assert list(offer("code -show_name_regexes ", tfprof.load(str(path)).profile).words) == []
