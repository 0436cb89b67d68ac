"""Files that tfprof does not read: one sentence says what each is and what to do."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
from typing import TYPE_CHECKING

import pytest

import paths
import tfprof as api
from foreign_files import FOREIGN, TIMELINE, mangled
from profiles import DATA, PROFILES
from tfprof.errors import InputError, UnsupportedError
from tfprof.io.find_inputs import choose_inputs
from tfprof.read.detect import detect
from tfprof.read.unsupported import UNSUPPORTED
from tfprof.tables.formats import FORMATS, INPUTS
from wire_parts import field, joined
from xplane_traces import content

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from forked import Forked

HANDMADE = PROFILES["handmade"]
GRAPH = DATA / "checkpoints" / "golden" / "graph.pb"
SAVED_MODEL = gzip.decompress((DATA / "tf2" / "gru_saved_model.pb.gz").read_bytes())


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(FOREIGN[name][0])
    return path


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_has_its_sentence(tfprof: Command, tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    expected = FOREIGN[name][1]
    for words in ([str(path)], ["scope", str(path)], ["info", str(path)]):
        assert tfprof(*words) == 3
        assert tfprof.err.startswith(f"tfprof: {path} is ")
        assert expected in tfprof.err
        assert tfprof.err.count("\n") == 1
        assert len(tfprof.err) - len(str(path)) < 180
    if path.stat().st_size:
        assert tfprof("scope", f"--graph_path={path}") == 3
        assert expected in tfprof.err
        with pytest.raises(InputError) as raised:
            api.load(path)
        assert expected in str(raised.value)
        copied = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - our own
        assert str(copied) == str(raised.value)


@pytest.mark.parametrize("flag", [name for name in INPUTS if name != "graph_path"])
def test_a_file_behind_any_flag(tfprof: Command, tmp_path: Path, flag: str) -> None:
    graph = [] if flag == "profile_path" else [f"--graph_path={GRAPH}"]
    for name in ("model.onnx", "model.pt", "model.pb"):
        path = written(tmp_path, name)
        assert tfprof("scope", *graph, f"--{flag}={path}") == 3
        assert tfprof.err.startswith(f"tfprof: {path} is ")
        assert FOREIGN[name][1] in tfprof.err


def test_every_row_has_an_example(tmp_path: Path) -> None:
    titles = set()
    for name in FOREIGN:
        with pytest.raises(InputError) as raised:
            choose_inputs([str(written(tmp_path, name))], {})
        titles.add(getattr(raised.value, "title", ""))
    # These are made by TensorFlow or from its files, below; archives are opened.
    elsewhere = {
        "a tar archive without a SavedModel",
        "a timeline of TensorBoard's trace viewer",
        "a file of TFRecords: data, not a model",
        "a binary file that was converted as text (bytes became U+FFFD)",
    }
    assert {kind.title for kind in UNSUPPORTED} - titles <= elsewhere


def test_files_beside_a_graph_do_no_harm(tfprof: Command, tmp_path: Path) -> None:
    for name in FOREIGN:
        written(tmp_path, name)
    graph = tmp_path / "graph.pbtxt"
    shutil.copy(HANDMADE.graph, graph)
    (tmp_path / "README").write_text("a text")
    assert choose_inputs([str(tmp_path)], {}) == {"graph_path": str(graph)}
    assert tfprof("info", str(tmp_path)) == 0
    assert tfprof.err == ""
    notes = tfprof.out.split("\nnot read\n")[1].split("\n\n")[0].splitlines()
    # One line per kind.
    assert notes[:2] == [
        "  NO_MODULE.hlo_proto.pb: a sign that there was no program of XLA",
        "  any.json: a JSON file",
    ]
    assert "  frozen.pb and 1 more: a web page (HTML), not the file itself" in notes
    assert len(notes) < len(FOREIGN)
    assert "not recognised: README\n" in tfprof.out
    assert tfprof("info", str(tmp_path), "--format=json") == 0
    document = json.loads(tfprof.out)
    assert "frozen.pb and 1 more: a web page (HTML), not the file itself" in document["not_read"]
    assert document["not_recognised"] == ["README"]


def test_a_folder_of_nothing_else_says_what_there_is(tfprof: Command, tmp_path: Path) -> None:
    path = written(tmp_path, "model.onnx")
    assert tfprof(str(tmp_path)) == 3
    assert (
        f"{tmp_path} is a folder with no file that tfprof reads: {path} is an ONNX model; "
        "tfprof reads TensorFlow and Keras: give the model that it was exported from" in tfprof.err
    )


# --- what a transfer as text leaves ---------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [GRAPH.read_bytes(), SAVED_MODEL, content("keras"), gzip.compress(SAVED_MODEL)],
    ids=["graph", "SavedModel", "trace", "gzip"],
)
def test_a_binary_converted_as_text(tfprof: Command, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.pb"
    path.write_bytes(mangled(data))
    assert mangled(data) != data
    for words in (["scope", str(path)], ["info", str(path)], ["scope", f"--graph_path={path}"]):
        assert tfprof(*words) == 3
        assert (
            "is a binary file that was converted as text (bytes became U+FFFD); they are lost: "
            "copy the original again, in binary mode" in tfprof.err
        )


def test_a_text_with_replaced_characters_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    names = "\N{REPLACEMENT CHARACTER}" * 9
    path.write_text(f'node {{ name: "a" op: "NoOp" device: "{names}" }}\n')
    assert len(api.load(path).profile) == 1


# --- what TensorFlow writes -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log folder with two traces and what TensorFlow computes from them."""
    folder = tmp_path_factory.mktemp("log")
    for session in ("compiled", "keras"):
        trace = folder / "plugins" / "profile" / session / "host.xplane.pb"
        trace.parent.mkdir(parents=True)
        trace.write_bytes(content(session))
    worker = paths.SUPPORT / "trace_tools_worker.py"
    tensorflow.script(worker, str(folder / "plugins" / "profile"))
    return folder


def test_what_stands_beside_a_trace_is_named(tfprof: Command, log: Path) -> None:
    titles = {}
    for file in log.glob("plugins/profile/*/*"):
        if file.name.endswith((".xplane.pb", ".txt")):
            continue
        for words in (["scope", str(file)], ["info", str(file)], ["scope", f"--graph_path={file}"]):
            if not file.stat().st_size and words[-1].startswith("--"):
                continue
            if file.name.endswith(".hlo_proto.pb") and file.stat().st_size:
                assert tfprof(*words) == 0
                continue
            assert tfprof(*words) == 3
            assert "give the .xplane.pb beside it" in tfprof.err
            title = tfprof.err.removeprefix(f"tfprof: {file} is ").partition(";")[0]
            # NO_MODULE where there is no program.
            name = file.name.partition(".")[2]
            titles["hlo_proto.pb" if name.endswith("hlo_proto.pb") else name] = title
    analysis = "an analysis by TensorBoard"
    assert titles == {
        "hlo_proto.pb": "a sign that there was no program of XLA", "input_pipeline.pb": analysis,
        "kernel_stats.json": analysis, "memory_profile.json": analysis, "op_profile.json": analysis,
        "op_stats.pb": analysis, "overview_page.pb": analysis, "pod_viewer.json": analysis,
        "tensorflow_stats.json": analysis, "trace": "a timeline of TensorBoard's trace viewer",
    }  # fmt: skip


@pytest.mark.parametrize("place", ["", "plugins/profile/keras"])
def test_a_folder_of_traces_loads_the_trace(tfprof: Command, log: Path, place: str) -> None:
    folder = log / place
    trace = str(log / "plugins/profile/keras/host.xplane.pb")
    assert choose_inputs([str(folder)], {}) == {"trace_path": (trace,)}
    assert tfprof("scope", trace, "--select=micros", "--order_by=micros") == 0
    alone, errors = tfprof.out, tfprof.err.replace(trace, str(folder))
    assert tfprof("scope", str(folder), "--select=micros", "--order_by=micros") == 0
    assert tfprof.out == alone
    assert tfprof.err.splitlines()[1:] == errors.splitlines()[1:]
    assert tfprof("info", str(folder)) == 0
    assert tfprof.err == ""
    assert "not recognised" not in tfprof.out
    # ALL_HOSTS.op_stats.pb, host.input_pipeline.pb … on one line, HLO and a timeline on two.
    assert tfprof.out.partition("\nnot read\n")[2].split("\n\n")[0].count("  ") == 3 * bool(place)


def test_a_table_of_operations_is_no_graph() -> None:
    """TfStatsDatabase { with_idle = 4, without_idle = 5: records { rank, host, type, name … } }."""
    texts = [*field(2, b"Host"), *field(3, b"MatMul"), *field(4, b"dense/MatMul")]
    record = joined([b"\x08\x01", *texts, b"(\x01"])
    table = joined(field(1, record))
    data = joined([*field(4, table), *field(5, table)])
    assert detect(memoryview(data)) is None
    graph = joined([*field(1, *field(1, b"a"), *field(2, b"NoOp")), *field(4, b"\x08\x1b")])
    assert detect(memoryview(graph)) is FORMATS["graph"]


def test_records_are_named(tfprof: Command, log: Path) -> None:
    for file in (log / "plugins" / "profile").glob("*.tfrecord*"):
        for words in ([str(file)], [f"--graph_path={file}"]):
            assert tfprof("scope", *words) == 3
            assert f"{file} is a file of TFRecords: data, not a model; " in tfprof.err


def test_a_long_timeline_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "host.trace.json.gz"
    # Whoever unpacks all of it finds that it is cut off.
    path.write_bytes(gzip.compress(TIMELINE + bytes(1 << 20))[:-9])
    with pytest.raises(UnsupportedError, match=r"a timeline \(Chrome trace\)"):
        api.load(path)


@pytest.mark.parametrize("data", [b"\x22\x03\x08\xb3\x0f", b"versions { producer: 1971 }"])
def test_a_graph_without_nodes_is_empty(tfprof: Command, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.pb"
    path.write_bytes(data)
    assert tfprof("info", str(path)) == 0
    assert tfprof.out.startswith(f"{path}: a GraphDef")
    assert "  empty: no nodes\n" in tfprof.out
    assert "  no graph: every view needs one\n" in tfprof.out
    assert "next\n" not in tfprof.out
