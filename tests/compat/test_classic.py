"""The calls of tf.profiler: what they take, print, return, refuse and leave alone."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from processes import python
from profiles import PROFILES
from small_model import EVERYTHING, QUIET, SHOWN, VIEWS, a_log, model, printed, runs, v1
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path


HANDMADE: Final = PROFILES["handmade"]


# --- forms of what is given ------------------------------------------------------------------


def test_a_graph_in_every_form(tmp_path: Path) -> None:
    nodes = model().as_graph_def(add_shapes=True)
    meta = v1.MetaGraphDef(graph_def=nodes)
    binary, text = tmp_path / "graph.pb", tmp_path / "graph.pbtxt"
    binary.write_bytes(nodes.SerializeToString())
    text.write_text(str(nodes))
    ours: Any = message("tensorflow.GraphDef")()
    ours.MergeFromString(nodes.SerializeToString())
    asked = {**EVERYTHING, "account_type_regexes": ["VarHandleOp", "Square", "MatMul"]}
    expected = printed(lambda: tfprof.profile(model(), options=asked))
    assert "weights (4x5, 20/20 params" in expected
    data = nodes.SerializeToString()
    for given in (nodes, meta, ours, data, bytearray(data), str(nodes).encode(), binary, str(text)):
        assert printed(partial(tfprof.profile, given, options=asked)) == expected


@pytest.mark.parametrize("resource", [True, False])
def test_a_meta_graph_tells_its_trainable_variables(resource: bool, tmp_path: Path) -> None:  # noqa: FBT001
    with v1.Graph().as_default() as graph:
        v1.get_variable("weights", [4, 5], use_resource=resource)
        v1.get_variable("steps", [7], use_resource=resource, trainable=False)
        meta = v1.train.export_meta_graph(str(tmp_path / "model.meta"))
    asked = {**tfprof.ProfileOptionBuilder.trainable_variables_parameter(), "output": "none"}
    shown = {"account_type_regexes": ["_trainable_variables"], "select": ["params"]}
    forms = (meta, meta.SerializeToString(), tmp_path / "model.meta")
    for given in (graph, *forms):
        assert tfprof.profile(given, options=asked).total_parameters == 20
        assert tfprof.load(given).scope(**shown).to_dict()["total_params"][0] == 20
    assert tfprof.profile(meta.graph_def, options=asked).total_parameters == 0


def test_a_run_and_an_op_log_in_every_form(tmp_path: Path) -> None:
    run, log = runs()[0], a_log()
    graph = model()
    asked = {**EVERYTHING, "select": [*SHOWN, "op_types"]}
    expected = printed(lambda: tfprof.profile(graph, run, log, options=asked))
    assert "mine" in expected
    paths = tmp_path / "run", tmp_path / "log.pbtxt"
    paths[0].write_bytes(run.SerializeToString())
    paths[1].write_text(str(log))
    ours = tfprof.OpLogProto.FromString(log.SerializeToString())
    for one, other in (
        (run.SerializeToString(), log.SerializeToString()),
        (str(run).encode(), str(log).encode()),
        paths,
        (str(paths[0]), ours),
    ):
        assert printed(partial(tfprof.profile, graph, one, other, options=asked)) == expected


def test_a_run_that_holds_a_cost_graph() -> None:
    run = v1.RunMetadata.FromString(runs()[0].SerializeToString())
    run.cost_graph.node.add(name="_SOURCE", device="/cpu:0")
    expected = tfprof.profile(model(), runs()[0], options=QUIET)
    assert expected.total_exec_micros > 0
    assert tfprof.profile(model(), run, options=QUIET) == expected


@pytest.mark.parametrize("graph", [v1.GraphDef(), b"", v1.Graph()])
def test_nothing_in_it(graph: Any) -> None:
    assert tfprof.profile(graph, options=QUIET) == tfprof.GraphNodeProto(name="_TFProfRoot")


def test_files_are_profiled_without_tensorflow() -> None:
    program = (
        "import sys, tfprof\n"
        "tfprof.profile(sys.argv[1], sys.argv[2], sys.argv[3], 'code', {'select': ['micros']})\n"
        "tfprof.Profiler(sys.argv[1]).advise()\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    done = python("-c", program, HANDMADE.graph, HANDMADE.runs[0], HANDMADE.op_log)
    assert "_TFProfRoot" in done.stdout


# --- what is left alone ----------------------------------------------------------------------


def test_neither_graph_nor_op_log_is_changed() -> None:
    graph, log = model(), a_log()
    nodes = graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True)
    for cmd in VIEWS:
        tfprof.profile(graph, runs()[0], log, cmd, QUIET)
    profiler = tfprof.Profiler(graph, log)
    profiler.add_step(0, runs()[0])
    tfprof.advise(graph, runs()[0], None)
    after = graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True)
    assert after == nodes
    assert log == a_log()
    assert graph.get_tensor_by_name("product:0").shape.as_list() == [None, 5]


def test_options_are_not_changed() -> None:
    given = {"select": ["params"], "output": "none"}
    tfprof.profile(model(), options=given)
    assert given == {"select": ["params"], "output": "none"}


@pytest.mark.parametrize("profiler", [tfprof, v1.profiler])
def test_operations_made_after_a_run_have_the_shapes_of_the_graph(profiler: Any) -> None:
    """The original has written what the run told into the graph, where later ones inherit it."""
    graph = model()
    profiler.profile(graph, runs()[0], options=QUIET)
    with graph.as_default():
        late = v1.negative(graph.get_tensor_by_name("product:0"))
    assert late.shape.as_list() == ([None, 5] if profiler is tfprof else [3, 5])


# --- what comes back -------------------------------------------------------------------------


def test_messages_are_of_our_own_classes() -> None:
    result = tfprof.profile(model(), options=QUIET)
    assert isinstance(result, tfprof.GraphNodeProto)
    assert not isinstance(result, v1.profiler.GraphNodeProto)
    theirs = v1.profiler.GraphNodeProto.FromString(result.SerializeToString())
    assert theirs.total_parameters == result.total_parameters == 20


def test_a_message_comes_back_with_a_timeline_of_graph_view(tmp_path: Path) -> None:
    output = {"output": f"timeline:outfile={tmp_path / 'timeline'}"}
    with_file = tfprof.profile(model(), runs()[0], cmd="graph", options={**EVERYTHING, **output})
    assert with_file == tfprof.profile(model(), runs()[0], cmd="graph", options=QUIET)
    assert with_file.children


# --- streams ---------------------------------------------------------------------------------


def test_reports_go_through_the_streams_of_python(capfd: pytest.CaptureFixture[str]) -> None:
    graph = model()
    print("before")
    tfprof.profile(graph)
    print("after")
    lines = capfd.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert any("weights" in line for line in lines)
    redirected = printed(lambda: tfprof.profile(graph))
    assert redirected.splitlines() == lines[1:-1]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("output", ["none", "file"])
def test_nothing_is_printed_unless_asked(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, output: str
) -> None:
    where = f"file:outfile={tmp_path / 'report'}" if output == "file" else "none"
    assert tfprof.profile(model(), options={**EVERYTHING, "output": where}).children
    assert capfd.readouterr().out == ""
    assert (tmp_path / "report").exists() == (output == "file")


def test_names_that_are_no_text_stop_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    graph = b"\n\x0a\n\x02\xff\xfe\x12\x04Name"
    assert "\\xff\\xfe" in printed(lambda: tfprof.profile(graph, options=EVERYTHING))
    assert tfprof.profile(graph, options=EVERYTHING) == tfprof.GraphNodeProto()
    out, err = capfdbinary.readouterr()
    assert b"\xff\xfe" in out
    assert err.startswith(b"Cannot parse returned proto: ")


def test_without_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert tfprof.profile(model()).total_parameters == 20


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"graph": 7}, "graph takes a tf.Graph, a tf.function, .* a GraphDef message, .* not int$"),
        ({"graph": v1.RunMetadata()}, "graph takes .* not a RunMetadata message$"),
        ({"run_meta": v1.GraphDef()}, "run_meta takes a RunMetadata message.* not a GraphDef"),
        ({"op_log": [1]}, "op_log takes an OpLogProto message.* not list$"),
        ({"flops": "most"}, "flops has no 'most'"),
        ({"options": {"order_by": "speed"}}, "order_by has no 'speed'"),
        ({"options": {"select": ["param"]}}, "select has no 'param'; did you mean 'params'"),
        ({"options": {"output": "timeline"}}, "output timeline needs a file"),
        # Before anything else.
        ({"graph": "nowhere", "cmd": "scoop", "options": {"select": ["nothing"]}},
         "^unknown cmd: scoop; did you mean 'scope'"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tfprof.UsageError, match=sentence):
        tfprof.profile(**{"graph": model(), **arguments})


def test_what_has_a_graph_is_not_one() -> None:
    with v1.Session(graph=model()) as session:
        with pytest.raises(tfprof.UsageError, match=r"Session \(give its \.graph\)$"):
            tfprof.profile(session)
        assert tfprof.profile(session.graph, options=QUIET).children


class Layer(v1.Module):  # type: ignore[misc]
    """What can be called and has variables, as models of Keras are."""

    def __call__(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (Layer(), " (give tf.function(it).get_concrete_function(...) with what it takes)"),
        (v1.function(lambda x: x), ": call it once, or give it an input_signature"),
    ],
    ids=["model", "function"],
)
def test_what_a_graph_can_be_made_of_is_told_how(given: Any, hint: str) -> None:
    with pytest.raises(tfprof.UsageError, match=re.escape(hint)):
        tfprof.profile(given)
    with pytest.raises(tfprof.UsageError, match=r"Layer|Function$"):
        tfprof.profile(model(), run_meta=given)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(tfprof.InputError, match="does not exist"):
        tfprof.profile(tmp_path / "nowhere")
    (tmp_path / "empty").touch()
    with pytest.raises(tfprof.InputError, match="is empty"):
        tfprof.profile(tmp_path / "empty")


def test_a_report_never_replaces_what_it_is_made_from(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    path.write_bytes(model().as_graph_def().SerializeToString())
    with pytest.raises(tfprof.OutputError, match="is an input"):
        tfprof.profile(path, options={**EVERYTHING, "output": f"file:outfile={path}"})


# --- options ---------------------------------------------------------------------------------


def test_options_that_do_not_exist_are_told_and_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    tfprof.profile(model(), options={**QUIET, "min_param": 1, "speed": 1})
    assert capsys.readouterr().err.splitlines()[:2] == [
        "tfprof: unknown option 'min_param' is ignored; did you mean 'min_params'?",
        "tfprof: unknown option 'speed' is ignored",
    ]


def test_options_left_out_hide_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    tfprof.profile(model(), options={"select": ["params"]})
    out = capsys.readouterr().out
    assert "weights (4x5, 20/20 params)" in out
    assert "-account_type_regexes       .*\n" in out


def test_a_number_is_as_good_as_true() -> None:
    options = {**QUIET, "account_displayed_op_only": 1, "show_name_regexes": ["weights"]}
    assert tfprof.profile(model(), options=options).total_parameters == 20


@pytest.mark.parametrize("flops", ["tensorflow", "all", "log"])
def test_who_counts_float_operations(flops: Any) -> None:
    graph = v1.Graph()
    with graph.as_default():
        v1.nn.relu(v1.square(v1.ones([2, 3]), name="square"), name="relu")
    profiler = tfprof.Profiler(graph, flops=flops)
    alone = tfprof.profile(graph, options=QUIET, flops=flops)
    assert alone.total_float_ops == {"tensorflow": 6, "all": 12, "log": 0}[flops]
    assert profiler.profile_name_scope(QUIET).total_float_ops == alone.total_float_ops
