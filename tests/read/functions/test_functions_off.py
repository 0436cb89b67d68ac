"""--functions=off: what the original prints of a graph with a function library, byte for byte."""

from __future__ import annotations

import io
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from google.protobuf import text_format

import ours
import paths
import tfprof
from case import Case, GraphDef
from oracle import UNRESTRICTED
from sampling import sampled
from tfprof import cli
from tfprof.errors import UsageError
from tfprof.query.query import Query
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from forked import Forked
    from oracle import Oracle

WORKER: Final = paths.MAKE / "function_graphs_worker.py"
RECORDED: Final = paths.DATA / "tf2" / "session"
MODELS: Final = ("while_v2", "cond_v2", "calls", "recorded")
VIEWS: Final = ("scope", "graph", "op", "code")
ALL: Final = ["micros", "bytes", "params", "float_ops", "occurrence", "device", "op_types"]
OPTIONS: Final[tuple[Mapping[str, Any], ...]] = (
    {"select": ALL},
    {"select": [*ALL, "input_shapes"], "order_by": "micros"},
    {"select": ["float_ops"], "order_by": "float_ops", "min_float_ops": 1},
    {"select": ["params"], "account_type_regexes": ["_trainable_variables", "VarHandleOp"]},
    {"select": ["micros"], "account_displayed_op_only": True, "trim_name_regexes": [".*loop.*"]},
    {"select": ["micros", "bytes"], "max_depth": 3, "hide_name_regexes": [".*/body/.*"]},
)


class Files(NamedTuple):
    """What a program of TensorFlow wrote."""

    graph: Path
    run: Path
    op_log: Path | None

    def case(self, view: str, options: Mapping[str, Any]) -> Case:
        log = b"" if self.op_log is None else self.op_log.read_bytes()
        return Case(view, self.graph.read_bytes(), log, ((0, self.run.read_bytes()),), options)


@pytest.fixture(scope="module")
def built(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("functions")
    tensorflow.script(WORKER, str(folder))
    return folder


@pytest.fixture(params=MODELS)
def files(request: pytest.FixtureRequest) -> Files:
    if request.param == "recorded":
        return Files(RECORDED / "graph.pb", RECORDED / "run_meta.pb", None)
    folder = request.getfixturevalue("built") / request.param
    return Files(folder / "graph.pb", folder / "run_meta", folder / "tfprof_log")


def report(files: Files, graph: Path, view: str, options: Mapping[str, Any]) -> bytes:
    log = None if files.op_log is None else str(files.op_log)
    loaded = tfprof.load(str(graph), [str(files.run)], log, functions=False)
    asked = Query.of({**UNRESTRICTED, **options})
    return ours.with_their_doc(b"".join(text(loaded.report(view, asked).answer)))


@pytest.mark.sampled
def test_every_view_is_the_originals(oracle: Oracle, files: Files, tmp_path: Path) -> None:
    as_text = tmp_path / "graph.pbtxt"
    message = GraphDef.FromString(files.graph.read_bytes())
    as_text.write_text(text_format.MessageToString(message), "utf-8")
    views = [view for view in VIEWS if view != "code" or files.op_log]
    cases = [*product(views, OPTIONS)]
    for view, options in sampled(cases, 6, f"functions off {files.graph}"):
        case = files.case(view, options)
        loaded = oracle.load(case.graph, case.op_log, case.steps)
        theirs = oracle.ask(view, options)
        assert len(theirs.report) > 200, "there is something to compare"
        assert report(files, files.graph, view, options) == theirs.report
        assert report(files, as_text, view, options) == theirs.report
        assert ours.ask(case).coverage == loaded.coverage


def test_on_is_another_graph(files: Files) -> None:
    """What the tests above compare depends on the option."""
    whole = tfprof.load(str(files.graph))
    own = tfprof.load(str(files.graph), functions=False)
    nodes = GraphDef.FromString(files.graph.read_bytes()).node
    assert list(own.profile.nodes.name.texts()) == [node.name for node in nodes]
    assert len(whole) > len(own)


@pytest.mark.parametrize("off", ["--functions=off", "--era=original"])
def test_the_command_line_and_the_shell(
    oracle: Oracle,
    files: Files,
    off: str,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = files.case("scope", {"max_depth": 100, "select": ["micros", "bytes"]})
    oracle.load(case.graph, case.op_log, case.steps)
    expected = oracle.ask("scope", case.options).report
    words = [f"--graph_path={files.graph}", f"--run_meta_path={files.run}", off]
    if files.op_log is not None:
        words.append(f"--op_log_path={files.op_log}")
    asked = ["--max_depth=100", "--select=micros,bytes", "--order_by=name"]
    assert cli.run(["scope", *words, *asked]) == 0
    assert capsysbinary.readouterr().out.strip() == expected.strip()
    line = " ".join(["scope", *asked]).replace("--", "-").replace("=", " ")
    monkeypatch.setattr("sys.stdin", _stdin(f"{line}\n"))
    assert cli.run(words) == 0
    assert capsysbinary.readouterr().out.strip() == expected.strip()


def test_the_shell_takes_it_only_at_its_start(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", _stdin("scope -functions off\n"))
    assert cli.run([f"--graph_path={RECORDED / 'graph.pb'}", "--functions=off"]) == 0
    assert b"scope takes no --functions here: the files" in capsysbinary.readouterr().err


def _stdin(lines: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(lines.encode()))


def test_live_graphs_and_messages(files: Files) -> None:
    message = GraphDef.FromString(files.graph.read_bytes())
    assert len(tfprof.load(message, functions=False)) == len(message.node)
    assert len(tfprof.load(message.SerializeToString(), functions=False)) == len(message.node)
    assert len(tfprof.load(message)) > len(message.node)


def test_a_saved_model_shows_the_nodes_of_its_graph() -> None:
    model = RECORDED.parent / "module" / "saved_model.pb"
    own = tfprof.load(str(model), functions=False)
    assert not len(own.profile.regions)
    assert "StatefulPartitionedCall" in list(own.profile.nodes.name.texts())
    with pytest.raises(UsageError, match="give --signature or --functions=off, not both"):
        tfprof.load(str(model), signature="nested", functions=False)


def test_a_saved_profile_is_what_it_was_saved_as(tmp_path: Path) -> None:
    tfprof.load(str(RECORDED / "graph.pb")).save(tmp_path / "profile")
    with pytest.raises(UsageError, match="--functions=off needs the graph"):
        tfprof.load(profile=tmp_path / "profile", functions=False)


def test_in_python_it_is_true_or_false() -> None:
    value: Any = "off"
    with pytest.raises(UsageError, match="functions takes True or False, not 'off'"):
        tfprof.load(str(RECORDED / "graph.pb"), functions=value)


def test_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["scope", str(RECORDED / "graph.pb"), "--functions=of"]) == 2
    assert "functions has no 'of'; did you mean 'off'?" in capsys.readouterr().err
