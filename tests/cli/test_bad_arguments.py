"""Arguments of the Python API: each in several forms; the rest is refused in one sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from hostile_parts import device, node, run, stat
from profiles import PROFILES, content
from tfprof import model_analyzer
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Callable

HANDMADE: Final = PROFILES["handmade"]
Builder: Final = tfprof.ProfileOptionBuilder
QUIET: Final = {**Builder.time_and_memory(), "output": "none"}
A_DICTIONARY: Final = "options takes a dictionary, such as ProfileOptionBuilder().build(), not "
FOR_CHECKERS: Final = "options takes a dictionary that has a dictionary of options for each checker"


def profile(**arguments: Any) -> Any:
    return tfprof.profile(**{"graph": HANDMADE.graph, "options": QUIET, **arguments})


def context(*arguments: Any, **named: Any) -> tfprof.ProfileContext:
    return tfprof.ProfileContext(*arguments, **named)


@pytest.fixture(scope="module")
def loaded() -> tfprof.Loaded:
    return tfprof.load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log)


def refused(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(tfprof.UsageError) as refusal:
        call()
    assert str(refusal.value) == sentence


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (1, "1"),
        ("", "''"),
        ("params", "'params'"),
        ([], "[]"),
        ([("select", ["params"])], "[('select', ['params'])]"),
        (Builder, repr(Builder)),
        (range(9999), "range(0, 9999)"),
        (np.zeros(3), "array([0., 0., 0.])"),
    ],
)
def test_options_that_are_no_dictionary(options: Any, told: str) -> None:
    refused(lambda: profile(options=options), A_DICTIONARY + told)
    refused(lambda: Builder(options), A_DICTIONARY + told)
    refused(lambda: tfprof.Profiler(b"").profile_graph(options), A_DICTIONARY + told)
    refused(lambda: context().add_auto_profiling("op", options, [1]), A_DICTIONARY + told)


def test_a_sentence_stays_short_and_on_one_line() -> None:
    with pytest.raises(tfprof.UsageError) as refusal:
        profile(options=[["a\nb" * 1000]] * 1000)
    assert len(str(refusal.value)) < 1000
    with pytest.raises(tfprof.UsageError) as refusal:
        profile(options={"select": np.zeros((50, 50))})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("none", [None, 0])
def test_no_options_are_those_of_trainable_variables(
    none: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    profile(options=none)
    given = capsys.readouterr().out
    profile(options=Builder.trainable_variables_parameter())
    assert "_trainable_variables" in given
    assert capsys.readouterr().out == given


def test_only_profile_has_default_options() -> None:
    for call in (tfprof.Profiler(b"").profile_graph, Builder):
        refused(partial(call, 0), A_DICTIONARY + "0")  # type: ignore[arg-type]


def test_a_builder_is_as_good_as_what_it_builds() -> None:
    builder = Builder(QUIET).with_max_depth(1)
    ran = {"run_meta": HANDMADE.runs[0]}
    assert profile(**ran, options=builder) == profile(**ran, options=builder.build())
    assert profile(**ran, options=builder) != profile(**ran)
    again = Builder(builder).with_max_depth(7)
    assert again.build() == {**QUIET, "max_depth": 7}
    assert builder.build()["max_depth"] == 1
    assert model_analyzer.print_model_analysis(HANDMADE.graph, options=builder).name


@pytest.mark.parametrize("method", ["file", "timeline", "pprof"])
def test_builders_take_paths(method: str) -> None:
    to = getattr(Builder(), f"with_{method}_output")
    assert to(Path("a") / "b").build()["output"] == f"{method}:outfile={Path('a') / 'b'}"
    with pytest.raises(tfprof.UsageError, match=r"takes a string or a pathlib.Path, not None"):
        to(None)


@pytest.mark.parametrize("cmd", [["op"], None, b"op", 3])
def test_commands_that_are_no_text(cmd: Any) -> None:
    refused(lambda: profile(cmd=cmd), f"cmd takes one of scope, graph, op, code, not {cmd!r}")


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        *((make(1), make(0)) for make in (int, np.bool_, np.int64, np.array)),
        (np.array(1, bool), np.array(0, bool)),
        ("true", "false"),
    ],
)
def test_what_is_true_and_what_is_false(loaded: tfprof.Loaded, yes: Any, no: Any) -> None:
    texts = [
        loaded.scope(show_name_regexes=["w.*"], account_displayed_op_only=value).text()
        for value in (yes, True, no, False)
    ]
    assert texts[0] == texts[1] != texts[2] == texts[3]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.array([1, 0]), "array([1, 0])"),
        (np.array([True]), "array([ True])"),
        (2, "2"),
        (None, "None"),
        (1.0, "1.0"),
        ("maybe", "'maybe'"),
        ([], "[]"),
    ],
)
def test_what_is_neither_true_nor_false(loaded: tfprof.Loaded, value: Any, told: str) -> None:
    sentence = f"account_displayed_op_only takes true or false, not {told}"
    refused(lambda: loaded.op(account_displayed_op_only=value), sentence)
    refused(lambda: profile(options={"account_displayed_op_only": value}), sentence)


def test_python_has_no_dashes(loaded: tfprof.Loaded) -> None:
    refused(lambda: loaded.op(max_depth="x"), "max_depth takes a whole number of 64 bits, not 'x'")


@pytest.mark.parametrize("option", ["output", "dump_to_file"])
def test_a_report_goes_nowhere_by_itself(
    loaded: tfprof.Loaded, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tfprof.UsageError, match=r"print\(report\)"):
        loaded.op(**{option: "x"})
    assert not list(tmp_path.iterdir())


# --- steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["0", 1.5, None, -1, 2**63, True, np.array([1, 2])])
def test_steps_that_are_none(step: Any) -> None:
    profiler = tfprof.Profiler(HANDMADE.graph)
    told = "array([1, 2])" if isinstance(step, np.ndarray) else repr(step)
    refused(
        lambda: profiler.add_step(step, HANDMADE.runs[0]),
        f"step takes a whole number from 0 to 9223372036854775807, not {told}",
    )
    assert profiler.loaded.steps == ()


@pytest.mark.parametrize("step", [0, 2**63 - 1, np.int64(7), np.uint8(200)])
def test_steps_that_are_some(step: Any) -> None:
    profiler = tfprof.Profiler(HANDMADE.graph)
    profiler.add_step(step, HANDMADE.runs[0])
    assert profiler.loaded.steps == (int(step),)
    assert tfprof.load(profile=profiler.serialize_to_string()).steps == (int(step),)


@pytest.mark.parametrize("name", ["trace_steps", "dump_steps", "profile_steps"])
@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (5, "5"),
        (["1"], "one with '1' in it"),
        ([1, 2.5], "one with 2.5 in it"),
        ("12", "one with '1' in it"),
        ([None], "one with None in it"),
    ],
)
def test_lists_of_steps_that_are_none(name: str, steps: Any, told: str) -> None:
    def call() -> None:
        if name == "profile_steps":
            context().add_auto_profiling("op", QUIET, steps)
        else:
            context("folder", **{name: steps})

    refused(call, f"{name} takes a list of whole numbers, not {told}")


def test_steps_may_come_from_anything_that_lists_them() -> None:
    for steps in (iter([1]), {1: "a"}, {1}, np.arange(3), range(3)):
        assert context("folder", trace_steps=steps, dump_steps=[-1]).profiler is not None
    with pytest.raises(tfprof.UsageError, match="up to 100 steps"):
        context("folder", trace_steps=(step for step in range(101)))


# --- a ProfileContext --------------------------------------------------------------------------


def test_folders_of_a_context_that_are_none() -> None:
    for folder in (5, b"d"):
        told = f"profile_dir takes a string or a pathlib.Path, not {folder!r}"
        refused(partial(context, folder), told)
    refused(
        lambda: context().add_auto_profile_dump(None, [1]),  # type: ignore[arg-type]
        "outdir takes a string or a pathlib.Path, not None",
    )


def test_not_enabled_nothing_is_looked_at() -> None:
    off = context(5, 7, "x", enabled=False)
    off.add_auto_profiling("nothing", 5, 5)  # type: ignore[arg-type]
    off.add_auto_profile_dump(None, None)  # type: ignore[arg-type]
    off.dump_next_step()
    with off as entered:
        assert entered is off
    assert off.profiler is None


@pytest.mark.parametrize("enabled", [True, False])
def test_a_context_is_entered_before_it_is_left(*, enabled: bool) -> None:
    refused(
        lambda: context("folder", enabled=enabled).__exit__(None, None, None),
        "this ProfileContext was not entered: use it in a with statement",
    )


# --- checkers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (5, ", not 5"),
        ([], ", not []"),
        (["JobChecker"], ", not ['JobChecker']"),
        ("JobChecker", ", not 'JobChecker'"),
        ({5: {}}, ", not for 5"),
        ({"JobChecker": None}, "; for JobChecker it has None"),
        ({"OperationChecker": 5}, "; for OperationChecker it has 5"),
        ({"OperationChecker": {5: "1"}}, "; for OperationChecker it has {5: '1'}"),
    ],
)
def test_checkers_that_are_none(options: Any, told: str) -> None:
    refused(lambda: tfprof.Profiler(b"").advise(options), FOR_CHECKERS + told)
    refused(lambda: tfprof.advise("nowhere", options=options), FOR_CHECKERS + told)


@pytest.mark.parametrize("options", [None, {}])
def test_no_checkers(options: Any) -> None:
    assert not tfprof.advise(HANDMADE.graph, options=options).checkers


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, b"folder", 5])
def test_paths_that_are_none(loaded: tfprof.Loaded, given: Any) -> None:
    told = f"takes a string or a pathlib.Path, not {given!r}"
    refused(lambda: tfprof.write_op_log(HANDMADE.graph, given), f"log_dir {told}")
    refused(lambda: tfprof.Profiler(b"")._write_profile(given), f"filename {told}")
    refused(lambda: loaded.save(given), f"path {told}")
    if given is not None:
        refused(lambda: tfprof.load(HANDMADE.graph, checkpoint=given), f"checkpoint {told}")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"graph": ""}, "a graph"),
        ({"run_meta": ""}, "a RunMetadata"),
        ({"op_log": ""}, "an op log"),
        ({"graph": "", "run_meta": b""}, "a graph"),
        ({"profile": ""}, "a saved profile"),
        ({"checkpoint": ""}, "a checkpoint"),
    ],
)
def test_empty_paths(arguments: dict[str, Any], what: str) -> None:
    refused(lambda: tfprof.load(**arguments), f"the path of {what} is empty")
    if arguments.keys() <= {"graph", "run_meta", "op_log"}:
        refused(lambda: profile(**arguments), f"the path of {what} is empty")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"trace": 5}, "trace takes a string or a pathlib.Path, not 5"),
        ({"graph": HANDMADE.graph, "progress": None}, "progress takes a function, not None"),
    ],
)
def test_arguments_of_load(arguments: dict[str, Any], sentence: str) -> None:
    refused(lambda: tfprof.load(**arguments), sentence)


def test_a_saved_profile_in_memory(loaded: tfprof.Loaded, tmp_path: Path) -> None:
    loaded.save(tmp_path / "saved")
    saved = (tmp_path / "saved").read_bytes()
    made: Any = message("tensorflow.tfprof.ProfileProto").FromString(saved)
    expected = loaded.scope(flops="log").text()
    for given in (tmp_path / "saved", saved, bytearray(saved), memoryview(saved), made):
        assert tfprof.load(profile=given).scope(flops="log").text() == expected
    refused(
        lambda: tfprof.load(profile=5),
        "profile takes a ProfileProto message, its bytes or the path of a file, not int",
    )
    with pytest.raises(tfprof.InputError, match=r"^the profile given is empty; expected a saved"):
        tfprof.load(profile=b"")
    with pytest.raises(tfprof.InputError, match=r"^the profile given is a GraphDef"):
        tfprof.load(profile=content(HANDMADE.graph))
    for graph in (HANDMADE.graph, content(HANDMADE.graph)):
        with pytest.raises(tfprof.UsageError, match=r"do not set|not both"):
            tfprof.load(graph, profile=saved)


def test_a_profile_is_never_saved_over_what_it_is_made_from(tmp_path: Path) -> None:
    graph, ran = tmp_path / "graph", tmp_path / "run"
    graph.write_bytes(content(HANDMADE.graph))
    ran.write_bytes(content(HANDMADE.runs[0]))
    (tmp_path / "link").symlink_to(graph)
    profiler = tfprof.Profiler(graph)
    profiler.add_step(0, ran)
    for path in (graph, ran, tmp_path / "link"):
        before = path.read_bytes()
        for write in (tfprof.load(graph, ran).save, profiler._write_profile):
            with pytest.raises(tfprof.OutputError, match=r"is an input .* not overwritten$"):
                write(path)
        assert path.read_bytes() == before


# --- names that are no text --------------------------------------------------------------------


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_reports_of_names_that_are_no_text(view: str) -> None:
    loaded = tfprof.load(node(b"a\xff", b"Name") + node("é".encode(), b"Name"))
    report = getattr(loaded, view)(select=["params"])
    report.text().encode()
    report._repr_html_().encode()
    names = [report.rows[0].name]
    root = report.proto()
    assert root.name == names[0]
    if view == "op":
        held = [one.name for one in root.children[0].graph_nodes]
        assert sorted(held) == ["a\ufffd", "é"]
    else:
        assert "a\\xff (" in str(report)
        assert [one.name for one in root.children] == ["a\ufffd", "é"]
        assert [row.name for row in report.rows[1:]] == ["a\ufffd", "é"]


def test_a_type_that_is_no_text_is_printed_and_a_message() -> None:
    report = tfprof.load(node(b"a", b"\xffX")).op(select=["float_ops"])
    assert "not counted: 1 \\xffX" in report.text()
    assert report.proto().children[0].name == "\ufffdX"


def test_a_device_that_is_no_text_is_in_a_message() -> None:
    ran = run(device(b"/job:\xff/cpu:0", stat(b"a", 1, 2)))
    report = tfprof.load(node(b"a", b"Name"), ran).scope(select=["device"])
    assert report.proto().children[0].devices == ["/job:\ufffd/cpu:0"]


def test_long_lists_of_types_that_are_no_text() -> None:
    graph = b"".join(node(bytes([code]), bytes([0xFF, code])) for code in range(1, 120))
    last, depth = tfprof.load(graph).op(max_depth=1000).proto(), 0
    while last.children:
        (last,) = last.children
        depth += 1
    assert depth == 119
    assert last.name.startswith("\ufffd")
