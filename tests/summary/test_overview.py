"""The overview: its numbers by hand and from the original, and how it fits a screen."""

from __future__ import annotations

import json
import os
import pickle
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from draw import inputs, profile
from ours import wire_of
from printed import printed
from processes import python
from profiles import DATA, PROFILES, SAMPLE
from screens import Screen
from tfprof import cli
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.results.loaded import Loaded
from tfprof.results.overview_report import Naming
from tfprof.tables.commands import COMMANDS, answering
from tfprof.tables.formats import GIVES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from oracle import Oracle
    from tfprof.results.overview_report import OverviewReport

RESNET: Final = PROFILES["resnet"]
# Newer Pythons warn of forking a process with threads; this fork becomes a terminal at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

# Two layers, their gradients, and an optimizer with a slot; two steps.
TRAINED: Final = """
x                                      op=Placeholder out=2x3
one/w                                  op=VariableV2 params=3x4 out=3x4 types=_trainable_variables
one/w/slot                             op=VariableV2 params=3x4 out=3x4
one/MatMul                             op=MatMul out=2x4 flops=48 us=100+300 bytes=64+64 peak=32+48 < x, one/w
two/w                                  op=VariableV2 params=4x5 out=4x5 types=_trainable_variables
two/MatMul                             op=MatMul out=2x5 flops=80 us=50+50 < one/MatMul, two/w
two/Relu                               op=Relu out=2x5 flops=10 us=10+10 < two/MatMul
gradients/two/Relu_grad/ReluGrad       op=ReluGrad out=2x5 flops=10 us=20+20 < two/Relu
gradients/two/MatMul_grad/MatMul       op=MatMul out=4x5 flops=80 us=80+80 < gradients/two/Relu_grad/ReluGrad
gradients/one/MatMul_grad/MatMul       op=MatMul out=3x4 flops=48 us=120+120 < gradients/two/MatMul_grad/MatMul
Momentum/update_one/ApplyMomentum      op=ApplyMomentum us=20+20 < one/w, one/w/slot, gradients/one/MatMul_grad/MatMul
"""  # noqa: E501 - a line draws a node
# Hand calculation, one step on average: micros 200+50+10+20+80+120+20 = 500.
MICROS: Final = {"one": 200 + 120, "two": 50 + 10 + 20 + 80, "(other)": 20}
FLOAT_OPS: Final = {"one": 48 + 48, "two": 80 + 10 + 10 + 80, "(other)": 0}
BY_TYPE: Final = {"MatMul": 450, "ReluGrad": 20, "ApplyMomentum": 20, "Relu": 10}


def overview_of(drawing: str, **options: Any) -> OverviewReport:
    return Loaded(profile(drawing)).overview(**options)


def listed(report: OverviewReport, name: str, column: str) -> dict[str, Any]:
    return {row["name"]: row[column] for row in report.rows if row["list"] == name}


# --- numbers ---------------------------------------------------------------------------------


def test_a_small_step_by_hand() -> None:
    report = overview_of(TRAINED, flops="log")
    assert listed(report, "layer", "micros") == MICROS
    assert listed(report, "layer", "float_ops") == FLOAT_OPS
    assert listed(report, "layer", "share") == {
        name: pytest.approx(micros / 500) for name, micros in MICROS.items()
    }
    assert listed(report, "layer", "parameters") == {"one": 12, "two": 20, "(other)": 0}
    assert listed(report, "operation type", "micros") == BY_TYPE
    assert listed(report, "layer", "float_ops_per_second") == {
        "one": 96 * 1_000_000 // 320,
        "two": 180 * 1_000_000 // 160,
        "(other)": None,
    }
    total = report.total
    assert (total["parameters"], total["trainable"]) == (32, 32)  # not the slot
    assert (total["micros"], total["float_ops"]) == (500, 276)
    assert (total["requested_bytes"], total["largest_operation_bytes"]) == (64, 48)
    assert report.overview.steps == (0, 1)
    assert report.overview.trains


def test_wall_time_is_from_the_first_start_to_the_last_end() -> None:
    # Drawn runs follow each other: 400 us in step 0, 600 us in step 1. Two at once take less.
    report = overview_of(TRAINED)
    assert report.total["wall_micros"] == 500
    assert report.total["float_ops_per_second"] == 276 * 1_000_000 // 500


def test_branches_that_ran_in_some_steps_only_have_a_note() -> None:
    """48 and 10 float operations in 100 and 60 us; the second ran in one of two steps."""
    drawing = "a op=MatMul flops=48 us=100+100\nb op=Relu flops=10 us=60+- < a\n"
    report = overview_of(drawing, flops="log")
    assert (report.total["micros"], report.total["float_ops"]) == (160, 58)
    (note,) = (each for each in report.overview.sentences if "mean step" in each)
    assert note.endswith("The mean step has 53 float operations and 130us of operations.")
    assert not any("mean step" in each for each in overview_of(TRAINED).overview.sentences)


def test_without_a_run_there_is_no_time_and_the_model_counts() -> None:
    drawing = re.sub(r" (us|bytes|peak)=\S+", "", TRAINED)
    report = overview_of(drawing)
    assert report.total["micros"] is report.total["wall_micros"] is None
    assert report.total["float_ops"] == 48 + 80 + 10  # the way forward, as in the summary
    assert listed(report, "layer", "float_ops") == {"two": 90, "one": 48}
    text = str(report)
    assert "Time" not in text
    assert "memory" not in text
    assert "/s" not in text


def test_numbers_are_those_of_the_original(oracle: Oracle) -> None:
    steps = [(step, wire_of(run)) for step, run in enumerate(RESNET.runs)]
    oracle.hold(wire_of(RESNET.graph), wire_of(RESNET.op_log), steps)
    select = {"select": ["micros", "bytes", "params", "float_ops"]}
    root = tfprof.GraphNodeProto.FromString(oracle.ask("scope", select).result)
    trainable = {**select, "account_type_regexes": ["_trainable_variables"]}
    report = tfprof.load_sample().overview(rows=100, flops="log")
    assert report.total["micros"] == root.total_exec_micros
    assert report.total["requested_bytes"] == root.total_requested_bytes
    known = tfprof.GraphNodeProto.FromString(oracle.ask("scope", trainable).result)
    assert report.total["parameters"] == report.total["trainable"] == known.total_parameters
    theirs = {}
    row = tfprof.MultiGraphNodeProto.FromString(oracle.ask("op", select).result)
    while row.children:
        (row,) = row.children
        theirs[row.name] = (row.exec_micros, row.float_ops)
    micros = listed(report, "operation type", "micros")
    float_ops = listed(report, "operation type", "float_ops")
    assert micros == {name: numbers[0] for name, numbers in theirs.items() if numbers[0]}
    # All convolutions ran; other types have nodes in initializers, which did not.
    convolutions = [name for name in theirs if name.startswith("Conv2D")]
    assert len(convolutions) == 3
    assert [float_ops[name] for name in convolutions] == [theirs[n][1] for n in convolutions]
    assert all(float_ops[name] <= theirs[name][1] for name in float_ops)


def test_rules_count_what_the_op_log_lacks() -> None:
    loaded = tfprof.load_sample()
    total, logged = (loaded.overview(flops=how).total for how in ("all", "log"))
    root = loaded.scope(select=["float_ops", "micros"], max_depth=1).rows[0]
    assert total["micros"] == root.total_micros
    assert logged["float_ops"] is not None
    assert total["float_ops"] is not None
    # The views count initializers as well, which did not run: a few operations for each of 464,154
    # values, one in 20,000 of all.
    assert logged["float_ops"] < total["float_ops"] < root.total_float_ops
    assert root.total_float_ops - total["float_ops"] < root.total_float_ops // 20_000


def test_what_did_not_run_and_was_not_needed_does_not_count() -> None:
    drawing = """
    x              op=Placeholder out=2x3
    one/w          op=VariableV2 params=3x4 out=3x4
    one/init/Mul   op=Mul out=3x4 < one/w
    one/MatMul     op=MatMul out=2x4 < x, one/w
    one/Relu       op=Relu out=2x4 us=30 < one/MatMul
    """
    # The MatMul was fused into the Relu; 12 multiplications of the initializer did not run.
    assert overview_of(drawing).total["float_ops"] == 2 * 2 * 3 * 4 + 2 * 4


def test_layers_and_lines_of_the_sample_add_up() -> None:
    report = tfprof.load_sample().overview(rows=10_000)
    total = report.total
    for name in ("layer", "operation type"):
        assert sum(listed(report, name, "micros").values()) == total["micros"]
        assert sum(row["share"] for row in report.rows if row["list"] == name) == pytest.approx(1)
    lines = listed(report, "line of code", "micros")
    assert sum(lines.values()) <= total["micros"]
    # The one line with the convolutions: all nodes of these three types, and what goes with them.
    types = listed(report, "operation type", "micros")
    convolutions = sum(micros for name, micros in types.items() if name.startswith("Conv2D"))
    assert convolutions <= lines["resnet_model.py:146:_convolution"] <= 1.01 * convolutions


@pytest.mark.parametrize("model", ["tf2/conv", "tf2/gru_saved_model.pb.gz", "xplane/keras"])
def test_parameters_and_layers_are_those_of_the_summary(model: str) -> None:
    loaded = tfprof.load(DATA / model)
    summary = loaded.summary(dims={} if loaded.steps else {"batch": 1})
    report = loaded.overview(rows=1000)
    assert report.total["parameters"] == summary.total["parameters"]
    assert report.total["trainable"] == summary.total.get("trainable")
    if not loaded.steps:
        assert report.total["float_ops"] == summary.total["float_ops"]
        leaves = {row["path"] for row in summary.rows}
        assert leaves


def test_unknown_float_operations_carry_marks() -> None:
    drawing = """
    x              op=Placeholder out=2x3
    one/w          op=VariableV2 params=3x4 out=3x4
    one/MatMul     op=MatMul out=2x4 us=30 < x, one/w
    two/Mine       op=MyOwnOperation out=2x4 us=70 < one/MatMul
    """
    report = overview_of(drawing)
    assert listed(report, "layer", "float_ops") == {"two": None, "one": 48}
    assert listed(report, "layer", "incomplete") == {"two": ["float_ops"], "one": []}
    assert report.total["float_ops"] == 48
    assert report.total_incomplete == ["float_ops", "float_ops_per_second"]
    text = str(report)
    assert re.search(r"^Float ops +≥ 48 in a step, ≥ ", text, re.MULTILINE)
    assert re.search(r"^two .* \?", text, re.MULTILINE)
    assert "1 MyOwnOperation (no rule)" in " ".join(text.split())


def test_unknown_parameters_carry_marks() -> None:
    drawing = """
    x              op=Placeholder out=2x3
    one/w          op=VariableV2 params=3x4 out=3x4
    one/MatMul     op=MatMul out=2x4 < x, one/w
    two/w          op=VariableV2 params=4x5 out=4x5
    two/b          op=VariableV2
    two/MatMul     op=MatMul out=2x5 < one/MatMul, two/w
    two/Add        op=Add out=2x5 < two/MatMul, two/b
    """
    report = overview_of(drawing)
    assert listed(report, "layer", "parameters") == {"two": 20, "one": 12}
    assert "parameters" in listed(report, "layer", "incomplete")["two"]
    assert "parameters" not in listed(report, "layer", "incomplete")["one"]
    text = str(report)
    assert re.search(r"^Parameters +≥ 32", text, re.MULTILINE)
    assert re.search(r"^two .* ≥ 20$", text, re.MULTILINE)
    assert re.search(r"^one .* 12$", text, re.MULTILINE)


def test_there_is_no_share_of_a_lower_bound() -> None:
    drawing = "x op=Placeholder out=8x8\nl/m op=MatMul out=8x8 < x, x\nl/u op=Mine out=8x8 < l/m"
    text = str(overview_of(drawing))
    assert re.search(r"^MatMul +█+ +1\.02k$", text, re.MULTILINE)
    assert "%" not in text
    whole = "x op=Placeholder out=8x8\nl/m op=MatMul out=8x8 < x, x"
    assert "100.0%" in str(overview_of(whole))


def test_a_variable_has_not_the_shape_of_the_next_node() -> None:
    drawing = """
    x              op=Placeholder out=2x3
    w              op=VarHandleOp
    w/Read         op=ReadVariableOp < w
    y/Mine         op=MyOwnOperation out=2x5 < x, w/Read
    """
    report = overview_of(drawing)
    assert not report.total["parameters"]
    assert "parameters" in report.total_incomplete
    assert Loaded(profile(drawing)).summary().total["parameters"] is None


def test_an_open_batch_counts_as_one_and_says_so() -> None:
    loaded = tfprof.load(DATA / "tf2" / "conv")
    report = loaded.overview()
    # docs/summary.md and README: 978,560 float operations of 8 images.
    assert loaded.overview(dims={"batch": 8}).total["float_ops"] == 978_560
    assert "batch counts as 1; --dim batch=N sets it." in str(report)
    assert "counts as 1" not in str(loaded.overview(dims={"batch": 8}))


def test_a_run_without_a_graph_says_what_is_unknown() -> None:
    report = tfprof.load(run_meta=RESNET.runs[0]).overview()
    text = str(report)
    assert text.startswith("Run without a graph of 3,846 nodes; step 0 on cpu:0\n")
    assert "Without a graph, parameters and float operations are unknown." in text
    assert report.total["parameters"] is report.total["float_ops"] is None
    assert "Operation type" not in text  # a run alone has names, no types


# --- a screen --------------------------------------------------------------------------------


def fits(text: str, lines: int, columns: int) -> None:
    shown = text.splitlines()
    assert len(shown) < lines  # the prompt has a line
    assert max(map(len, shown)) <= columns


def rows_below(text: str, heading: str) -> int:
    _, _, below = text.partition(f"\n{heading}")
    return next(at for at, line in enumerate(below.splitlines()[1:]) if "%" not in line)


@pytest.mark.parametrize(("lines", "columns", "rows"), [(24, 80, 3), (30, 100, 5), (50, 200, 5)])
def test_it_fits_a_terminal(lines: int, columns: int, rows: int) -> None:
    code, sent = Screen(["demo"], (lines, columns)).ends()
    assert code == 0
    # What progress draws on its line is cleared again.
    text = re.sub(r"[^\n]*\r\x1b\[K", "", sent)
    fits(text, lines, columns)
    for heading in ("Layer ", "Operation type", "Line of code"):
        assert rows_below(text, heading) == rows
    assert text.rstrip().endswith("tfprof demo advise")


@pytest.mark.parametrize(("lines", "columns", "rows"), [(24, 60, 3), (27, 80, 4), (60, 40, 5)])
def test_it_fits_other_screens(lines: int, columns: int, rows: int) -> None:
    report = overview_of(TRAINED.replace("Momentum/update_one", "Momentum/update_" + "one" * 30))
    text = str(replace(report, screen=os.terminal_size((columns, lines))))
    fits(text, lines, columns)
    sample = tfprof.load_sample().overview()
    text = str(replace(sample, naming=Naming(), screen=os.terminal_size((columns, lines))))
    fits(text, lines, columns)
    assert rows_below(text, "Operation type") == rows


def test_a_pipe_gets_a_screen_of_24_lines() -> None:
    ran = python("-m", "tfprof", "overview", SAMPLE)
    assert ran.stderr == ""
    lines = [line for line in ran.stdout.splitlines() if str(SAMPLE) not in line]
    fits("\n".join(lines), 24, 80)
    assert rows_below(ran.stdout, "Layer ") == 3


@pytest.mark.parametrize("lines", [24, 30, 50])
@pytest.mark.parametrize("model", ["tf2/conv", "xplane/keras", "xplane/loop", "xplane/eager"])
def test_other_models_fit_as_well(model: str, lines: int) -> None:
    report = tfprof.load(DATA / model).overview()
    text = str(replace(report, screen=os.terminal_size((80, lines))))
    assert "Notes" in text
    body = [line for line in text.splitlines() if "tfprof " not in line[:20]]
    fits("\n".join(body), lines, 80)
    assert len(text.splitlines()) < lines


def test_names_stay_on_their_line() -> None:
    drawing = TRAINED.replace("two/", "two\u202e\\x1b[2J/")
    text = str(overview_of(drawing))
    assert "\u202e" not in text
    assert "\\u202e" in text


# --- as data ---------------------------------------------------------------------------------


def test_every_form(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["overview", str(RESNET.graph), *map(str, RESNET.runs), str(RESNET.op_log)]
    document = json.loads(printed(capfd, *words, "--format=json"))
    report = tfprof.load_sample().overview()
    assert document["schema"] == "tfprof.overview/1"
    assert document["total"] == report.total
    assert document["rows"] == report.rows
    assert document["devices"] == ["cpu:0"]
    csv = printed(capfd, *words, "--format=csv", "--rows=1").splitlines()
    assert csv[0] == ("list,name,share,micros,float_ops,float_ops_per_second,parameters,incomplete")
    assert len(csv) == 4
    assert "| Conv2DBackpropInput | 0.3861 |" in printed(capfd, *words, "--format=md")
    assert printed(capfd, *words, "--output=none") == ""


def test_it_pickles_and_becomes_a_frame() -> None:
    report = overview_of(TRAINED)
    again = pickle.loads(pickle.dumps(report))  # noqa: S301 - our own
    assert str(again) == str(report)
    assert again.rows == report.rows
    frame = report.to_pandas()
    assert frame["share"].dtype == "float64"
    assert report.to_arrow().column("share").to_pylist() == report.to_dict()["share"]
    assert report.to_polars()["share"].to_list() == report.to_dict()["share"]


# --- tfprof PATH… ----------------------------------------------------------------------------


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def ran(*words: object) -> tuple[int, str, str]:
        code = cli.run([*map(str, words)])
        return (code, *capfd.readouterr())

    return ran


def test_paths_alone_are_answered(run: Any, tmp_path: Path) -> None:
    model = DATA / "tf2" / "conv"
    assert run(model)[:2] == run("summary", model)[:2]
    assert run(RESNET.graph, "--depth=1")[:2] == run("summary", RESNET.graph, "--depth=1")[:2]
    runs = (RESNET.graph, *RESNET.runs)
    assert run(*runs)[1].replace("tfprof ", "") == run("overview", *runs)[1].replace("tfprof ", "")
    assert run(SAMPLE)[1].startswith("Training graph of 5,174 nodes")
    assert run(RESNET.runs[0])[1].startswith("Run without a graph")
    assert run(SAMPLE / "model.ckpt")[:2] == run("summary", SAMPLE / "model.ckpt")[:2]
    assert run(RESNET.op_log)[:2] == run("info", RESNET.op_log)[:2]
    for name in ("a.pbtxt", "b.pbtxt"):
        (tmp_path / name).write_bytes(PROFILES["handmade"].graph.read_bytes())
    code, out, _ = run(tmp_path)
    assert code == 0
    assert "2 files for --graph_path" in out


def test_a_saved_profile_is_answered_by_what_is_in_it(run: Any, tmp_path: Path) -> None:
    graph, whole = tmp_path / "graph.tfprof", tmp_path / "all.tfprof"
    assert run("convert", RESNET.graph, "-o", graph)[0] == 0
    assert run("convert", RESNET.graph, *RESNET.runs, "-o", whole)[0] == 0
    assert run(graph)[1].startswith("Layer ")
    assert run(whole)[1].startswith("Training graph of 5,174 nodes; 74% of them ran in steps 0, 1")


def test_which_command_answers_is_in_the_table() -> None:
    assert answering({"run"}).name == answering(GIVES).name == "overview"
    assert answering({"nodes", "model", "float_ops"}).name == "summary"
    assert answering({"values"}).name == answering(()).name == "info"
    for row in COMMANDS.values():
        assert set(row.answers or ()) <= set(GIVES)


def test_words_that_are_neither_command_nor_path(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = f"(there are: {', '.join(COMMANDS)}), and no file of that name"
    for word, hint in (("sumary", "; did you mean 'summary'?"), ("zebra", "")):
        assert run(word) == (2, "", f"tfprof: there is no command {word!r}{hint} {there}\n")
    code, out, err = run("gone.pbtxt")
    assert (code, out) == (3, "")
    assert err.startswith("tfprof: gone.pbtxt does not exist; expected a graph, ")
    (tmp_path / "graph.pbtxt").write_bytes(PROFILES["handmade"].graph.read_bytes())
    named_later = "tfprof: 'scope' is a command: name it first, as in tfprof scope graph.pbtxt\n"
    assert run("graph.pbtxt", "scope") == (2, "", named_later)
    code, out, err = run("graph.pbtxt", "gone.pbtxt")
    assert (code, out) == (3, "")
    assert "gone.pbtxt does not exist" in err


def test_a_command_wins_over_a_file_of_its_name(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scope").write_bytes(PROFILES["handmade"].graph.read_bytes())
    assert run("scope")[0] == 2
    assert run("scope", "scope")[1].startswith("\nDoc:\n")
    assert run("./scope")[:2] == run("summary", "scope")[:2]


def test_the_commands_it_names_can_be_pasted(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "a run"
    folder.mkdir()
    files = inputs(TRAINED)
    (folder / "graph").write_bytes(files.graph)
    for step, data in enumerate(files.runs):
        (folder / f"run_{step}").write_bytes(data)
    for words in (["a run"], ["--graph_path=a run/graph", "--run_meta_path=a run/run_0"]):
        shown = run("overview", *words)[1]
        lines = [line[13:] for line in shown.splitlines() if line[13:].startswith("tfprof ")]
        commands = [shlex.split(line)[1:] for line in lines]
        assert commands == [[command, *words] for command in ("summary", "op", "advise")]
        for command in commands:
            code, out, _ = run(*command)
            assert code == 0
            assert out


# --- elsewhere -------------------------------------------------------------------------------


def test_flags_alone_and_the_command_open_the_shell() -> None:
    graph = str(PROFILES["handmade"].graph)
    for words in ([f"--graph_path={graph}"], ["shell", graph]):
        shown = python("-m", "tfprof", *words, stdin="overview\nshell\n")
        assert shown.stdout.startswith("Graph of 11 nodes and 8 operation types")
        assert re.search(r"^Next +summary$", shown.stdout, re.MULTILINE)
        assert "E: this is the shell: it has one set of files; exit leaves it" in shown.stderr


def test_demo_is_the_overview_of_the_sample(run: Any) -> None:
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    by_hand = run("overview", RESNET.graph, *RESNET.runs, RESNET.op_log)[1]
    assert out.partition("\nNext")[0] == by_hand.partition("\nNext")[0]
    shown = (SAMPLE.parents[2] / "docs" / "overview.md").read_text(encoding="utf-8")
    assert out in shown
    for line in re.findall(r"tfprof (demo \w+)", out):
        assert run(*line.split())[0] == 0
