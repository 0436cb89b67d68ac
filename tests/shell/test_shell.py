"""The shell on a pipe: lines in, reports out, errors on stderr."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tfprof
from profiles import DATA, PROFILES
from tfprof import cli
from tfprof.cli.argv import Words, read_words, split_line
from tfprof.cli.help import shell_help
from tfprof.shell.prompt import Shell, greeting
from tfprof.tables.commands import COMMANDS, known_options, shell_commands
from tfprof.tables.eras import NOW
from tfprof.tables.outputs import OUTPUTS, Output
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HANDMADE = PROFILES["handmade"]
ORIGINAL = [f"--graph_path={HANDMADE.graph}", "--era=original"]
TRANSCRIPT = DATA / "shell" / "transcript.txt"
TRANSCRIPT_GRAPH = f"--graph_path={DATA / 'checkpoints' / 'golden' / 'graph.pb'}"
# Of loading the handmade graph; what is asked of it is the matter here.
ODD = "1 of 12 inputs name nodes that the graph does not have, such as 'missing'\n"
HELP_OF_ORIGINAL = (DATA / "shell" / "help.txt").read_text()
HELP = shell_help(shell_commands())


def read_line(text: str) -> Words:
    return read_words(split_line(text), known_options())


class Piped:
    """Runs the shell in this process on lines from a pipe, and keeps what it wrote."""

    def __init__(self, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capfd, self._patch = capfd, patch
        self.out = self.err = ""

    def __call__(self, *lines: str, flags: list[str] | None = None, text: bytes = b"") -> int:
        text = text or "".join(f"{line}\n" for line in lines).encode()
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        return self.command(*(flags or [f"--graph_path={HANDMADE.graph}"]))

    def command(self, *words: str) -> int:
        code = cli.run(words)
        self.out, told = self._capfd.readouterr()
        self.err = told.removeprefix(ODD)
        return code


@pytest.fixture
def piped(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Piped:
    return Piped(capfd, monkeypatch)


# --- as the original --------------------------------------------------------------------------


def recorded() -> Iterator[tuple[str, str]]:
    """(line, what the original answered, stdout and stderr as they came)."""
    for answered in TRANSCRIPT.read_text().split("tfprof> ")[1:]:
        line, _, said = answered.partition("\n")
        yield line, said


def test_recorded_session(tmp_path: Path, piped: Piped) -> None:
    original = [TRANSCRIPT_GRAPH, "--era=original"]
    assert piped.command("scope", *original, "--max_depth=3", "--select=") == 0
    as_set_then = piped.out
    assert piped.command("scope", *original) == 0
    # Where we answer differently, and why.
    ours = {
        # Q26: depths have 64 bits.
        "scope -max_depth 99999999999": piped.out,
        # What cannot be answered is refused, with the reason.
        "scope -step 3": "E: there is no step 3 (steps: none, as there is no run)\n",
        "scope -order_by occurrence -output none": (
            "E: scope view has one node per row and cannot order by occurrence; "
            "op and code view can\n"
        ),
        # There are more output types.
        "scope -output bogus": (
            "E: INVALID_ARGUMENT: E.g. Unknown output type: bogus, "
            f"Valid types: {','.join(sorted(OUTPUTS))}\n\n"
        ),
        # An older option is taken, and what to use now is told.
        "scope -viz": (
            "-viz never drew anything. Please use -output timeline:outfile=<filename>\n"
            + as_set_then
        ),
        # What was written is told.
        "scope -output file:outfile=x=y.txt -max_depth 1": "tfprof: wrote x=y.txt\n",
        # Q15: the sections of advice are in a fixed order.
        "advise -max_depth 3": (
            "Missing RunMetadata info. Skip ExpensiveOperationChecker\n"
            "Missing run_meta for ExpensiveOperationChecker\n"
            "Missing op_log (code traces) for ExpensiveOperationChecker\n"
            "\nAcceleratorUtilizationChecker:\n"
            "\nOperationChecker:\n"
            "\nExpensiveOperationChecker:\n"
        ),
    }
    lines = [line for line, _ in recorded()]
    assert set(ours) <= set(lines)
    expected = "".join(ours.get(line, said) for line, said in recorded())
    # Q20: output keys do not outlive their output type.
    assert expected.count("stdout:outfile=zz\n") == 1
    expected = expected.replace("stdout:outfile=zz\n", "stdout:\n")
    ran = subprocess.run(
        [sys.executable, "-m", "tfprof", TRANSCRIPT_GRAPH, "--era=original"],
        input="".join(f"{line}\n" for line in lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.stdout == expected
    assert [path.name for path in tmp_path.iterdir()] == ["x=y.txt"]


def test_help_is_the_original_s_in_its_era(piped: Piped) -> None:
    assert piped("help", flags=ORIGINAL) == 0
    assert piped.out == HELP_OF_ORIGINAL
    assert piped("set -era original", "more help", "help -max_depth 3") == 0
    assert piped.out == HELP_OF_ORIGINAL * 2


def test_the_shell_greets_with_what_is_loaded() -> None:
    sample = tfprof.load_sample()
    # The numbers of the sample's README.
    first, second, _ = greeting(Shell(sample, {}))
    assert first.startswith("loaded graph.pbtxt.gz, run_meta_0.gz, run_meta_1.gz, tfprof_log.gz")
    assert second == "5,174 nodes, 253 variables with 930,581 parameters, 2 steps"
    (path,) = sample.inputs[:1]
    assert greeting(Shell(tfprof.load(path), {}))[0] == f"loaded {path}"


@pytest.mark.parametrize("line", ["help", "?", "more ?", "help -max_depth 3"])
def test_help_lists_the_commands(piped: Piped, line: str) -> None:
    assert piped(line) == 0
    lines = piped.out.splitlines()
    assert lines[0] == "commands"
    listed = {name: row.summary for name, row in shell_commands().items()}
    assert dict(text.split(maxsplit=1) for text in lines[1 : lines.index("")]) == listed
    assert {"summary", "info", "advise", "scope", "set", "exit", "?"} <= set(listed)
    assert piped("? scope", "help scope") == 0
    first, second = piped.out[: len(piped.out) // 2], piped.out[len(piped.out) // 2 :]
    assert first == second
    assert first.startswith("tfprof scope: ")


@pytest.mark.parametrize("blank", ["", " ", "    ", "\t", " \r"])
def test_a_blank_line_shows_the_options(piped: Piped, blank: str) -> None:
    """Q19: the original crashes on a line of spaces."""
    assert piped(blank) == 0
    names = [line.split()[0] for line in piped.out.splitlines()]
    assert names == [f"-{name}" for name in NOW.block]
    assert all(line[27] == " " for line in piped.out.splitlines())
    assert piped.err == ""


def test_output_keys_do_not_outlive_their_output(piped: Piped) -> None:
    """Q20."""
    piped("set -output file:outfile=zz", "set -output stdout", "", "scope -output file")
    assert piped.out.endswith("-output                     stdout:\n")
    assert piped.err == "E: output file needs a file, as in file:outfile=PATH\n"


@pytest.mark.parametrize("depth", [2**31, 2**32 + 2, 2**63 - 1])
def test_depths_have_64_bits(piped: Piped, depth: int) -> None:
    """Q26."""
    piped(f"set -max_depth {depth}", "", f"scope -max_depth {2**63}")
    assert piped.out.startswith(f"-max_depth                  {depth}\n")
    assert piped.err == (
        "E: --max_depth takes a whole number of 64 bits, not '9223372036854775808'\n"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("file:outfile", "Visualize format: -output timeline:key=value,key=value,..."),
        ("file:=", "Visualize format: -output timeline:key=value,key=value,..."),
        ("none:outfile=x", "Unrecognized options outfile for output_type: none\n"),
        ("timeline:", "Missing required output_options for timeline\nE.g. -output timeline:outf"),
    ],
)
def test_outputs_that_the_original_rejects(piped: Piped, text: str, sentence: str) -> None:
    piped(f"scope -output {text}", flags=ORIGINAL)
    assert piped.out == ""
    assert piped.err.startswith(f"E: INVALID_ARGUMENT: {sentence}")


def test_output_is_spelled_plainly() -> None:
    for text in ("file:outfile=a=b", "file:outfile=x,outfile=a=b,"):
        output = read_line(f"scope -output {text}").options["output"]
        assert Output.of(output) == Output("file", "a=b")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        *((word, True) for word in ("", " -max_depth 3", " true", " T", " Yes", " y", " 1")),
        *((word, False) for word in (" FALSE", " f", " no", " N", " 0")),
    ],
)
def test_the_optional_value(words: str, value: bool) -> None:  # noqa: FBT001
    line = read_line(f"set -account_displayed_op_only{words}")
    assert line.options["account_displayed_op_only"] is value


def test_lists_lose_their_quotes() -> None:
    assert read_line("""set -hide_name_regexes '"a,,b"'""").options == {
        "hide_name_regexes": ("a", "b")
    }


# --- as the command ---------------------------------------------------------------------------


ASKED = [
    "-max_depth 4 -select params,float_ops",
    "-select micros,bytes,device,op_types,occurrence -order_by micros",
    "-step 1 -min_micros 1 -account_displayed_op_only",
    "-show_name_regexes .*[aeiou].* -hide_name_regexes .*x.*,y -trim_name_regexes .*bn.*",
    "-start_name_regexes .*e.* -account_type_regexes .*a.* -output stdout",
]


@pytest.mark.parametrize(("profile", "asked"), [("handmade", ASKED), ("resnet", ASKED[1:2])])
def test_each_line_reports_what_the_command_does(
    piped: Piped, profile: str, asked: list[str]
) -> None:
    flags = PROFILES[profile].flags()
    lines = [f"{command} {options}" for command in VIEWS for options in asked]
    lines += ["advise", "summary -depth 1 -format csv"]
    assert piped.command("scope", "--output=none", "--select=", "--era=original", *flags) == 0
    loading = piped.err
    assert "run graph coverage: " in loading
    printed = notes = ""
    for line in lines:
        assert piped.command(*line.split(), *flags) == 0
        printed += piped.out
        assert loading in piped.err
        notes += piped.err.replace(loading, "").replace(ODD, "")
    assert piped(*lines, flags=flags) == 0
    assert piped.out == printed
    # Notes of loading are told once.
    assert piped.err == f"{loading}{notes}"


def bare(sentence: str) -> str:
    """An error without what only the command line or only the shell can say."""
    if word := re.match(r"'?(.+?)'? (?:does not exist; expected|is not expected after) ", sentence):
        return word[1]
    for end in ("; did you mean 'exit'", " (there are: "):
        sentence = sentence.partition(end)[0]
    return sentence.strip()


def test_what_the_original_rejects_gets_the_sentence_of_the_command(
    piped: Piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rejected = [line for line, said in recorded() if said.startswith("E: ")]
    told = 0
    for line in rejected:
        code = piped.command(*line.split(), TRANSCRIPT_GRAPH)
        command = piped.err.removeprefix("tfprof: ")
        assert piped(line, flags=[TRANSCRIPT_GRAPH]) == 0
        if code and "\t" not in line:
            assert bare(piped.err.removeprefix("E: ")) == bare(command), line
            told += 1
    assert told > 15


@pytest.mark.parametrize(
    "line",
    [
        "scope -select param", "scope -max_depth x", "scope -format tabel", "scope -step 9",
        "op -show_name_regexes (b", "summary -depth 0", "explain -name nothing", "advise -bogus",
        "code -select micros",
    ],
)  # fmt: skip
def test_an_error_has_the_sentence_of_the_command_line(piped: Piped, line: str) -> None:
    code = piped.command(*line.split(), f"--graph_path={HANDMADE.graph}")
    sentence = piped.err.splitlines()[-1].removeprefix("tfprof: ")
    assert code == 2
    assert piped(line) == 0
    assert piped.err == f"E: {sentence}\n"


@pytest.mark.parametrize(
    "line",
    [
        "scope --select=params --max_depth=2",
        "scope -select params -max_depth 2",
        "scope --select params --max-depth 2",
        "scope -select=params -max_depth=2",
        "scope -max_depth '2' --select='params'",
        """scope --max_depth "2" --select="params" """,
    ],
)
def test_options_are_spelled_as_on_the_command_line(piped: Piped, line: str) -> None:
    graph = f"--graph_path={HANDMADE.graph}"
    assert piped.command("scope", graph, "--select=params", "-max_depth=2") == 0
    expected = piped.out
    assert piped(line) == 0
    assert (piped.out, piped.err) == (expected, "")


def test_the_shell_has_every_command(piped: Piped, tmp_path: Path) -> None:
    assert set(COMMANDS) < set(shell_commands())
    graph = f"--graph_path={HANDMADE.graph}"
    for line, words in (
        ("summary -depth 1", ["summary", "--depth=1", graph]),
        ("scope --format=json", ["scope", "--format=json", graph]),
        ("completion bash", ["completion", "bash"]),
    ):
        assert piped.command(*words) == 0
        expected = piped.out
        assert piped(line) == 0
        assert piped.out == expected
    assert piped(f"convert -o {tmp_path / 'c'}", f"save --outfile={tmp_path / 's'}") == 0
    assert piped.err == f"tfprof: wrote {tmp_path / 'c'}\ntfprof: wrote {tmp_path / 's'}\n"
    assert piped.command("info", str(HANDMADE.graph)) == 0
    expected = piped.out
    assert piped("info", f"info {HANDMADE.graph}") == 0
    assert piped.out == expected * 2


def test_help_of_a_command(piped: Piped) -> None:
    for command in (*COMMANDS, "limits"):
        assert piped.command("help", command) == 0
        expected = piped.out
        assert piped(f"help {command}") == 0
        if command != "help":
            assert piped.out == expected
    assert piped("scope --help", "help scope", "more help scope") == 0
    assert piped.out.count("tfprof scope: ") == 3
    assert piped("help set") == 0
    assert piped.out.startswith("tfprof set: ")


def test_reset_restores_the_options_of_the_start(piped: Piped) -> None:
    flags = [f"--graph_path={HANDMADE.graph}", "--max_depth=7", "--select=micros"]
    assert piped("set -max_depth 2 -select params", "reset", "", flags=flags) == 0
    assert piped.out.startswith("-max_depth                  7\n")
    assert "-select                     micros\n" in piped.out


def test_a_format_replaces_the_output_in_force(piped: Piped) -> None:
    lines = ("set -output none -select micros", "set --format=csv", "scope", "scope --format=json")
    assert piped(*lines) == 0
    assert piped.err == ""
    assert piped.out.startswith("row,parent,depth,")
    assert '"view": "scope"' in piped.out


def test_options_in_force_that_a_command_does_not_take_are_left_out(piped: Piped) -> None:
    assert piped("set -order_by params -account_displayed_op_only", "summary", "advise") == 0
    assert "takes no" not in piped.err


def test_files_are_written_as_by_the_command(piped: Piped, tmp_path: Path) -> None:
    kinds = COMMANDS["scope"].options["output"].choices
    for kind in (name for name in kinds if OUTPUTS[name].file != "never"):
        one, two = tmp_path / f"{kind}1", tmp_path / f"{kind}2"
        piped.command("scope", *HANDMADE.flags(), f"--output={kind}:outfile={one}")
        assert piped(f"scope -output {kind}:outfile={two}", flags=HANDMADE.flags()) == 0
        made = [sorted(path.parent.glob(f"{path.name}*")) for path in (one, two)]
        assert [path.read_bytes() for path in made[0]] == [path.read_bytes() for path in made[1]]
        assert len(made[1]) == 1
        assert f"tfprof: wrote {made[1][0]}\n" in piped.err


def test_flags_are_the_first_options(piped: Piped) -> None:
    flags = [*HANDMADE.flags(), "--max_depth=2", "--select=params,bytes", "--step", "1"]
    assert piped("", "scope", flags=flags) == 0
    shown = dict(line.split(maxsplit=1) for line in piped.out.splitlines()[:12])
    assert shown["-max_depth"] == "2"
    assert shown["-step"] == "1"
    assert "-select                     bytes,params\n" in piped.out
    report = piped.out.partition("\nDoc:")
    assert piped.command("scope", *flags) == 0
    assert piped.out == "".join(report[1:])


def test_set_stays_and_other_options_go_with_their_line(piped: Piped) -> None:
    piped("set -select params", "scope -max_depth 1", "scope -bogus 1 -max_depth 3", "")
    assert "_TFProfRoot (--/31 params)\n-max_depth                  10\n" in piped.out
    assert "-select                     params\n" in piped.out
    assert "Profile:" in piped.out
    assert piped.err == "E: there is no option -bogus\n"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("scope -step 7", "there is no step 7 (steps: none, as there is no run)"),
        ("op -show_name_regexes a,(b", "'(b' is not a valid regex: missing ): (b"),
        ("code", "No code trace information: code view needs an op log with call stacks"),
        ("scope -output file:outfile=no/such/folder", "no/such/folder cannot be written: there is"),
        ("advise -output pprof:outfile=x", "advise has no output pprof"),
        ("op -output timeline:outfile=x", "op view doesn't support timeline yet"),
        ("scope\0", "the line is not UTF-8 text, or contains a NUL character"),
        ("scpoe", "there is no command 'scpoe'; did you mean 'scope'? (there are: "),
        ("help scpoe", "there is no command 'scpoe'; did you mean 'scope'? (there are: "),
        ("scope -max_dept 3", "there is no option -max_dept; did you mean '--max_depth'?"),
        ("scope -select param", "select has no 'param'; did you mean 'params'? (there are: "),
        ("summary -order_by micros", "summary takes no --order_by (it takes: --"),
        ("scope graph.pb", "'graph.pb' is not expected after 'scope': the files of this"),
        ("scope --graph_path=x", "scope takes no --graph_path here: the files of this shell are"),
        ("save", "save needs -o PATH or --output=file:outfile=PATH"),
        ("reset now", "'now' is not expected after 'reset'"),
        ("set -output bogus", "unknown output type 'bogus' (there are: "),
        ("-max_depth 3", "no command given (commands: "),
    ],
)
def test_what_is_refused_is_told_and_the_shell_goes_on(
    piped: Piped, line: str, sentence: str
) -> None:
    assert piped(line, "help") == 0
    assert piped.err.startswith(f"E: {sentence}")
    assert piped.err.count("\n") == 1
    assert piped.out == HELP


def test_bytes_that_are_no_text_are_refused(piped: Piped) -> None:
    assert piped(text=b"scope -show_name_regexes a\xff\nhelp") == 0
    assert piped.err == "E: the line is not UTF-8 text, or contains a NUL character\n"
    assert piped.out == HELP


def test_an_input_is_not_overwritten(piped: Piped, tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_bytes(HANDMADE.graph.read_bytes())
    piped(f"scope -output file:outfile={path}", "help", flags=[f"--graph_path={path}"])
    assert piped.err.startswith(f"E: {path} is an input")
    assert piped.out == HELP
    assert path.read_bytes() == HANDMADE.graph.read_bytes()


@pytest.mark.parametrize("word", ["exit", "quit", " exit "])
def test_words_that_leave(piped: Piped, word: str) -> None:
    assert piped("help", word, "help") == 0
    assert piped.out == HELP


def test_no_lines_no_answers(piped: Piped) -> None:
    assert piped() == 0
    assert (piped.out, piped.err) == ("", "")


def test_lines_may_end_in_any_way(piped: Piped) -> None:
    assert piped(text=b"help\r\nhelp -max_depth 3\r\nhelp") == 0
    assert piped.out == HELP * 3


def test_bad_files_and_options_end_it_before_it_begins(piped: Piped, tmp_path: Path) -> None:
    graph = f"--graph_path={HANDMADE.graph}"
    for flags, code in (([f"--graph_path={tmp_path / 'no'}"], 3), ([graph, "--select=x"], 2)):
        assert piped("help", flags=flags) == code
        assert piped.out == ""


def test_a_closed_output_ends_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tfprof", *PROFILES["resnet"].flags()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write("scope\n" * 3)
        process.stdin.close()
        err = process.stderr.read()
    assert process.returncode == 141  # as if by SIGPIPE, and as quiet
    assert "standard output" not in err


def test_a_pipe_gets_no_editor_and_no_control_codes() -> None:
    program = (
        "import sys; from tfprof import cli; code = cli.run(sys.argv[1:]);"
        "sys.exit(code or 'prompt_toolkit' in sys.modules)"
    )
    line = [sys.executable, "-c", program, f"--graph_path={HANDMADE.graph}"]
    ran = subprocess.run(line, input=b"help\nfoo\n\n", check=True, capture_output=True)
    assert b"\x1b" not in ran.stdout + ran.stderr
    assert b"tfprof>" not in ran.stdout + ran.stderr
