"""What a report shows if nobody says: it fits the files. An explicit option and an era win."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import draw
import paths
import tfprof
from case import GraphDef
from oracle import UNRESTRICTED
from printed import printed
from profiles import PROFILES
from tfprof import cli
from tfprof.query.defaults import fitted_query
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.tables.options import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from oracle import Oracle

# MatMul: 2 * 4 * 3 * 5 = 120 float operations; a/w: 3 * 5 = 15 parameters, z/table: 200.
GRAPH = """
x          op=Placeholder out=4x3
a/w        op=VariableV2 params=3x5 out=3x5
a/MatMul   op=MatMul out=4x5 < x, a/w
z/table    op=VariableV2 params=100x2 out=100x2
"""
RUN = """
a          op=VariableV2 us=1
m          op=MatMul us=40 < a
z          op=Relu us=7 < m
"""
FUNCTIONS = paths.DATA / "tf2" / "session" / "graph.pb"


class Command:
    """Runs the command on files that are drawn, and keeps what it wrote."""

    def __init__(
        self, folder: Path, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self._folder, self._capfd, self._patch = folder, capfd, patch
        self.out = self.err = ""

    def files(self, drawing: str) -> list[str]:
        drawn = draw.inputs(drawing)
        contents = [("graph_path", drawn.graph), ("op_log_path", drawn.op_log)]
        contents += [("run_meta_path", run) for run in drawn.runs]
        for name, data in contents:
            (self._folder / name).write_bytes(data)
        return [f"--{name}={self._folder / name}" for name, data in contents if data]

    def __call__(self, *words: str, drawing: str = GRAPH, lines: str = "") -> list[str]:
        """The lines of the report: the names."""
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        assert cli.run([*words, *self.files(drawing)]) == 0
        self.out, self.err = self._capfd.readouterr()
        rows = self.out.partition("\nProfile:\n")[2].splitlines()[1:]
        return [line.split()[0] for line in rows if line.strip()]


@pytest.fixture
def command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return Command(tmp_path, capfd, monkeypatch)


# --- what is shown -------------------------------------------------------------------------------


def test_a_graph_without_a_run_shows_parameters_and_float_operations(command: Command) -> None:
    names = command("scope")
    assert "node name | # parameters | # float_ops\n" in command.out
    assert "_TFProfRoot (--/215 params, --/120 flops)" in command.out
    assert names == ["_TFProfRoot", "a", "a/MatMul", "a/w", "x", "z", "z/table"]
    assert command("op") == ["MatMul", "Placeholder", "VariableV2"]


def test_without_float_operations_parameters_alone(command: Command) -> None:
    names = command("scope", drawing="a op=VariableV2 params=2\nb op=VariableV2 params=3")
    assert names == ["_TFProfRoot", "b", "a"]
    assert "node name | # parameters\n" in command.out
    assert command("scope", "--flops=log") == [
        *("_TFProfRoot", "z", "z/table", "a", "a/w", "a/MatMul", "x")
    ]
    assert "node name | # parameters\n" in command.out


def test_parameters_lead_where_most_operations_are_not_counted(command: Command) -> None:
    # Of three operations only the product of 2 * 2 numbers, 4, has shapes that are known.
    drawing = """
a          op=Const out=2x2
a/Mul      op=Mul out=2x2 < a, a
x          op=Placeholder out=?x3
z/w        op=VariableV2 params=3x5 out=3x5
z/one      op=MatMul < x, z/w
z/two      op=Relu < z/one
"""
    assert command("scope", drawing=drawing)[1:3] == ["z", "z/w"]
    assert "_TFProfRoot (--/15 params, --/4 flops)" in command.out
    assert "float_ops counts 1 of the graph's 3 operations" in command.err
    # With a size: 2 * 4 * 3 * 5 = 120 of the product, 4 * 5 = 20 of Relu, 4 as before.
    assert command("scope", "--dim=batch=4", drawing=drawing)[1:3] == ["z", "z/one"]
    assert "_TFProfRoot (--/15 params, --/144 flops)" in command.out


def test_a_run_shows_time_and_the_slowest_first(command: Command) -> None:
    assert command("op", drawing=RUN) == ["MatMul", "Relu", "VariableV2"]
    assert "node name | total execution time" in command.out
    assert command("scope", drawing=RUN) == ["_TFProfRoot", "m", "z", "a"]


def test_the_largest_first_of_what_is_selected(command: Command) -> None:
    assert command("scope", "--select=params")[1] == "z"
    assert command("scope", "--select=float_ops")[1] == "a"
    assert command("scope", "--select=params,float_ops")[1] == "z"
    assert command("scope", "--select=float_ops,params")[1] == "a"
    assert command("op", "--select=op_types,occurrence")[0] == "VariableV2"
    assert command("scope", "--select=occurrence,op_types")[1:] == [
        *("a", "a/MatMul", "a/w", "x", "z", "z/table")
    ]
    assert command("scope", "--select=")[1] == "a"


def test_an_explicit_option_wins(command: Command) -> None:
    assert command("scope", "--select=params", "--order_by=name")[1] == "a"
    assert command("scope", "--order_by=params")[1] == "z"
    command("scope", "--select=micros")
    assert "_TFProfRoot (--/0us" in command.out
    command("scope", "--select=float_ops", "--flops=log")
    assert "_TFProfRoot (--/0 flops)" in command.out


def test_rules_count_only_what_the_op_log_does_not(command: Command) -> None:
    # The op log says 7 for the first product; the second, 2 * 4 * 5 * 2 = 80, is counted by rule.
    drawing = f"{GRAPH}\nv op=VariableV2 params=5x2 out=5x2\ny op=MatMul out=4x2 < a/MatMul, v"
    drawing = drawing.replace("op=MatMul out=4x5", "op=MatMul out=4x5 flops=7")
    command("op", "--select=float_ops", drawing=drawing)
    assert "87" in command.out
    command("op", "--select=float_ops", "--flops=log", drawing=drawing)
    assert "87" not in command.out


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_python_has_the_same_defaults(command: Command, view: str) -> None:
    for drawing in (GRAPH, RUN):
        command(view, drawing=drawing)
        loaded = tfprof.load(*[flag.partition("=")[2] for flag in command.files(drawing)])
        report = getattr(loaded, view)()
        assert b"".join(report.pieces("text")).decode() == command.out
        query = report.table().facts["query"]
        command(view, "--format=json", drawing=drawing)
        assert json.loads(command.out)["query"] == query
        assert query["flops"] == "all"


def test_the_shell_lists_what_is_in_force(command: Command) -> None:
    command(lines="\n")
    assert f"{'-order_by':<28}float_ops\n" in command.out
    assert f"{'-select':<28}float_ops,params\n" in command.out
    command(lines="\n", drawing=RUN)
    assert f"{'-order_by':<28}micros\n" in command.out
    assert f"{'-select':<28}micros\n" in command.out
    command(lines="set -select params\n\nset -order_by name\n\n")
    orders = [line.split()[1] for line in command.out.splitlines() if line.startswith("-order")]
    assert orders == ["params", "name"]
    command("--era=original", lines="\n")
    assert f"{'-order_by':<28}name\n" in command.out
    assert f"{'-select':<28}micros\n" in command.out


# --- what a default cuts off ---------------------------------------------------------------------

DEEP = "\n".join(f"{'/'.join('abcdefghijklmnop'[: depth + 1])} op=VariableV2 params=1"
                 for depth in range(16))  # fmt: skip


def test_rows_that_a_default_cuts_off_are_counted(command: Command) -> None:
    # The root is at depth 1, so ten rows are displayed, and 16 + 1 - 10 = 7 are not.
    assert len(command("scope", drawing=DEEP)) == 10
    assert "7 more rows: --max_depth=17 shows them\n" in command.err
    assert len(command("scope", "--max_depth=17", drawing=DEEP)) == 17
    for explicit in ("--max_depth=17", "--max_depth=10", "--era=original", "--era=2017"):
        command("scope", explicit, drawing=DEEP)
        assert "more row" not in command.err
    command("scope", "--hide_name_regexes=.*p", drawing=DEEP)
    assert "6 more rows: --max_depth=16 shows them\n" in command.err
    command("scope", "--hide_name_regexes=.*(l|m|n|o|p)", drawing=DEEP)
    assert "2 more rows: --max_depth=12 shows them\n" in command.err


def test_rows_cut_off_in_the_shell_and_in_data(command: Command) -> None:
    command(drawing=DEEP, lines="scope\n")
    assert "7 more rows: --max_depth=17 shows them\n" in command.err
    command("scope", "--format=json", drawing=DEEP)
    assert "7 more rows: --max_depth=17 shows them" in _notes(command)
    types = "\n".join(f"n{i} op=T{i:02} out=1" for i in range(15))
    shown = command("op", "--select=occurrence", drawing=types)
    assert f"{15 - len(shown)} more rows: --max_depth=14 shows them\n" in command.err
    assert len(command("op", "--select=occurrence", "--max_depth=13", drawing=types)) == 14
    assert len(command("op", "--select=occurrence", "--max_depth=14", drawing=types)) == 15


def _notes(command: Command) -> list[str]:
    return [note["text"] for note in json.loads(command.out)["notes"]]


# --- eras ----------------------------------------------------------------------------------------


def test_the_original_era_is_the_original(oracle: Oracle, command: Command) -> None:
    everything = {**UNRESTRICTED, "max_depth": 10, "select": ["micros"]}
    for drawing in (GRAPH, RUN):
        files = draw.inputs(drawing)
        oracle.load(files.graph, files.op_log, list(enumerate(files.runs)))
        for view in ("scope", "op"):
            theirs = oracle.ask(view, everything).report.decode()
            command(view, "--era=original", drawing=drawing)
            assert command.out.strip() == theirs.strip()
            command("--era=original", drawing=drawing, lines=f"{view}\n")
            assert command.out.strip() == theirs.strip()
            loaded = tfprof.load(*[flag.partition("=")[2] for flag in command.files(drawing)])
            report = getattr(loaded, view)(era="original")
            assert str(report).strip() == theirs.strip()


def test_the_original_era_reads_no_functions(capfd: pytest.CaptureFixture[str]) -> None:
    names = [node.name for node in GraphDef.FromString(FUNCTIONS.read_bytes()).node]
    loaded = tfprof.load(FUNCTIONS, era="original")
    assert list(loaded.profile.nodes.name.texts()) == names
    assert loaded.scope().answer.query.era.name == "original"
    assert len(tfprof.load(FUNCTIONS, era="original", functions=True)) > len(names)
    words = ["scope", f"--graph_path={FUNCTIONS}", "--select=", "--max_depth=99", "--era=original"]
    without = printed(capfd, *words, "--functions=off")
    assert printed(capfd, *words) == without
    assert len(printed(capfd, *words, "--functions=on")) > len(without)


def test_the_original_era_says_where_functions_are_loaded_already() -> None:
    report = tfprof.load(FUNCTIONS).scope(era="original")
    assert any("with functions, unlike the original" in note.text for note in report.notes)
    with pytest.raises(tfprof.UsageError, match="era has no 'orignal'; did you mean 'original'"):
        tfprof.load(FUNCTIONS, era="orignal")


def test_documents_keep_their_defaults(command: Command) -> None:
    command("scope", "--era=2017")
    assert command.out.splitlines() == [
        "_TFProfRoot (--/215 params)",
        "  a/w (3x5, 15/15 params)",
        "  z/table (100x2, 200/200 params)",
    ]
    assert Query.of({"era": "2017"}) == fitted_query(draw.profile(GRAPH), {"era": "2017"})


def test_the_calls_of_tf_profiler_keep_their_defaults(capfd: pytest.CaptureFixture[str]) -> None:
    files = PROFILES["handmade"]
    tfprof.profile(str(files.graph), cmd="scope", options={"show_name_regexes": ["nothing"]})
    out, err = capfd.readouterr()
    assert f"{'-order_by':<28}name\n" in out
    assert f"{'-select':<28}micros\n" in out
    assert "no name" not in err


# --- other names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alias", ["time", "exec_micros"])
def test_time_has_other_names(command: Command, alias: str) -> None:
    command("scope", "--select=micros", "--order_by=micros", "--min_micros=5", drawing=RUN)
    expected = command.out
    written = [f"--select={alias}", f"--order_by={alias}", f"--min_{alias}=5"]
    command("scope", *written, drawing=RUN)
    assert command.out == expected
    line = " ".join(written).replace("--", "-").replace("=", " ")
    command(lines=f"scope {line}\n", drawing=RUN)
    assert command.out == expected
    options: dict[str, Any] = {"select": [alias], "order_by": alias, f"min_{alias}": 5}
    assert str(Loaded(draw.profile(RUN)).scope(**options)) == expected
    assert alias not in OPTIONS["select"].choices
    command("--era=original", lines=f"scope -order_by {alias}\n", drawing=RUN)
    assert "INVALID_ARGUMENT" in command.err  # as the original says
