"""Profiles, reports and summaries pickle, copy and give the same bytes in another process."""

from __future__ import annotations

import copy
import gzip
import io
import json
import multiprocessing
import os
import pickle
import shutil
import zipfile
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from profiles import DATA, PROFILES, SAMPLE, content
from sampling import sampled
from tfprof.columns.frozen import _Packed
from tfprof.errors import InputError, TfprofError
from tfprof.model import Profile
from tfprof.read import Source
from tfprof.results.loaded import Loaded
from tfprof.results.report import Report
from tfprof.results.summary_report import SummaryReport
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOLDEN: Final = DATA / "checkpoints" / "golden"
VIEWS: Final = ("scope", "graph", "op", "code")
FIELDS: Final = ["params", "micros", "bytes", "float_ops", "device", "op_types", "input_shapes"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The arguments of load() for every kind of input; all files are small."""
    folder = tmp_path_factory.mktemp("samples")
    handmade, session = PROFILES["handmade"], DATA / "tf2" / "session"
    parts = {"run_meta": list(handmade.runs), "op_log": handmade.op_log}
    other_layout = folder / "other.pbtxt"
    other_layout.write_bytes(content(handmade.graph).replace(b"\n", b"\n\n"))
    packed = folder / "graph.pbtxt.gz"
    packed.write_bytes(gzip.compress(content(handmade.graph)))
    whole = tfprof.load(session / "graph.pb", session / "run_meta.pb")
    whole.save(folder / "saved")
    whole.convert(folder / "converted")
    trace, first = DATA / "xplane" / "loop", DATA / "checkpoints" / "first"
    return {
        "text": {"graph": handmade.graph, **parts},
        "text of another layout": {"graph": other_layout, **parts},
        "gzip": {"graph": packed, **parts},
        "binary": {"graph": session / "graph.pb", "run_meta": session / "run_meta.pb"},
        "bytes": {"graph": (session / "graph.pb").read_bytes()},
        "functions": {"graph": DATA / "tf2" / "chosen.pb.gz"},
        "SavedModel": {"graph": DATA / "tf2" / "module"},
        "Keras archive": {"graph": keras_archive(folder / "net.keras")},
        "trace": {"graph": trace / "graph.pb.gz", "trace": trace / "trace.xplane.pb.gz"},
        "saved profile": {"profile": folder / "saved"},
        "converted profile": {"profile": folder / "converted"},
        "checkpoint": {"graph": GOLDEN / "graph.pb", "checkpoint": GOLDEN / "ck"},
        "first checkpoint format": {"graph": GOLDEN / "graph.pb", "checkpoint": first},
    }


NAMES: Final = (
    *("text", "text of another layout", "gzip", "binary", "bytes", "functions", "SavedModel"),
    *("Keras archive", "trace", "saved profile", "converted profile"),
    *("checkpoint", "first checkpoint format"),
)


def keras_archive(path: Path) -> Path:
    build = {"module": "keras.layers", "registered_name": None}
    layers = [
        {
            "class_name": "Dense", "config": {"name": name, "units": units},
            "build_config": {"input_shape": [None, inputs]}, **build,
        }
        for name, inputs, units in (("first", 6, 4), ("last", 4, 2))
    ]  # fmt: skip
    config = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("metadata.json", "{}")
        file.writestr("config.json", json.dumps(config))
    return path


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProcessPoolExecutor]:
    """Another process that shares nothing with this one, in another folder."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=os.chdir, initargs=("/",)) as pool:
        yield pool


def outputs(thing: object) -> dict[str, bytes]:
    """The text, data and summary of *thing*, or the message of the error they raise."""
    if isinstance(thing, Profile):
        thing = Loaded(thing)
    if isinstance(thing, Loaded):
        made = {view: _output(lambda view=view: _reported(thing, view)) for view in VIEWS}
        return {**made, "summary": _output(lambda: _pieces(thing.summary()))}
    assert isinstance(thing, (Report, SummaryReport))
    return {"pieces": _output(lambda: _pieces(thing))}


def _reported(loaded: Loaded, view: str) -> bytes:
    fields = [*FIELDS, *(["tensor_value"] if loaded.checkpoint and view == "scope" else [])]
    return _pieces(_ask(loaded, view, fields))


def _ask(loaded: Loaded, view: str, fields: list[str]) -> Report:
    report: Report = getattr(loaded, view)(select=fields, max_depth=1000)
    return report


def _pieces(result: Report | SummaryReport) -> bytes:
    return b"".join(b"".join(result.pieces(form)) for form in ("text", "json", "csv"))


def _output(make: Any) -> bytes:
    try:
        return bytes(make())
    except TfprofError as problem:
        return str(problem).encode()


def unpickled(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 - our own


def outputs_of_pickle(data: bytes) -> dict[str, bytes]:
    return outputs(unpickled(data))


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*NAMES], 3, "pickled"))
def test_a_spawned_process_gives_the_same_bytes(
    name: str, samples: dict[str, dict[str, Any]], elsewhere: ProcessPoolExecutor
) -> None:
    assert set(samples) == set(NAMES)
    loaded = tfprof.load(**samples[name])
    things = [loaded, loaded.profile, _ask(loaded, "scope", FIELDS), loaded.summary()]
    fresh = [pickle.dumps(thing) for thing in things]
    expected = [outputs(thing) for thing in things]
    assert any(len(text) > 500 for text in expected[0].values())
    used = [pickle.dumps(thing) for thing in things]  # caches are filled by now
    for data, answers in zip([*fresh, *used], [*expected, *expected], strict=True):
        assert elsewhere.submit(outputs_of_pickle, data).result() == answers


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*NAMES], 3, "copied"))
def test_copies_give_the_same_bytes(name: str, samples: dict[str, dict[str, Any]]) -> None:
    loaded = tfprof.load(**samples[name])
    expected = outputs(loaded)
    for make in (copy.copy, copy.deepcopy):
        assert outputs(make(loaded)) == expected
        report = make(_ask(loaded, "scope", FIELDS))
        assert outputs(report) == outputs(_ask(loaded, "scope", FIELDS))
        assert outputs(make(loaded.summary())) == outputs(loaded.summary())


def test_a_pickle_of_a_pickle_works(samples: dict[str, dict[str, Any]]) -> None:
    for name in ("binary", "text", "text of another layout", "gzip", "checkpoint"):
        loaded = tfprof.load(**samples[name])
        again = unpickled(pickle.dumps(unpickled(pickle.dumps(loaded))))
        assert outputs(again) == outputs(loaded)


def test_a_relative_path_is_found_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: ProcessPoolExecutor
) -> None:
    shutil.copytree(GOLDEN, tmp_path / "golden")
    monkeypatch.chdir(tmp_path)
    loaded = tfprof.load("golden/graph.pb", checkpoint="golden/ck")
    data, expected = pickle.dumps(loaded), outputs(loaded)
    assert elsewhere.submit(outputs_of_pickle, data).result() == expected


# --- what a pickle holds --------------------------------------------------------------------------


def big_graph(path: Path) -> int:
    """Write a graph with 4 MB of attributes; its size."""
    graph: Any = message("tensorflow.GraphDef")()
    for number in range(4):
        node = graph.node.add(name=f"constant_{number}", op="Const")
        node.attr["value"].s = np.random.default_rng(number).bytes(1 << 20)
    path.write_bytes(graph.SerializeToString())
    return path.stat().st_size


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_pickled_as_its_path(tmp_path: Path, packed: bool) -> None:  # noqa: FBT001
    path = tmp_path / "graph.pb"
    size = big_graph(path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes(), 1))
    loaded = tfprof.load(path)
    before = loaded.profile.attributes[1].tolist()
    data = pickle.dumps([loaded, loaded.profile, loaded.scope(select=["params"])])
    assert len(data) < size / 100
    again = unpickled(data)[0]
    assert again.profile.attributes[1].tolist() == before


@pytest.mark.parametrize("form", ["save", "convert"])
def test_a_whole_profile_is_pickled_as_its_path(tmp_path: Path, form: str) -> None:
    size = big_graph(tmp_path / "graph.pb")
    getattr(tfprof.load(tmp_path / "graph.pb"), form)(tmp_path / "whole")
    loaded = tfprof.load(profile=tmp_path / "whole")
    assert len(pickle.dumps(loaded)) < size / 100


def test_bytes_in_memory_are_pickled(tmp_path: Path) -> None:
    size = big_graph(tmp_path / "graph.pb")
    loaded = tfprof.load((tmp_path / "graph.pb").read_bytes())
    (tmp_path / "graph.pb").unlink()
    data = pickle.dumps(loaded)
    assert size < len(data) < 1.01 * size + 10_000
    again = unpickled(data)
    assert again.profile.attributes[1].tolist() == loaded.profile.attributes[1].tolist()


def test_a_checkpoint_is_pickled_as_its_path() -> None:
    loaded = tfprof.load(SAMPLE / "graph.pbtxt.gz", checkpoint=SAMPLE / "model.ckpt")
    assert loaded.checkpoint is not None
    name = loaded.checkpoint.names()[0]
    values = loaded.checkpoint.tensor(name).values
    data = pickle.dumps(loaded.checkpoint)
    assert len(data) < 2_000
    again = unpickled(data)
    assert np.array_equal(again.tensor(name).values, values)


def test_answers_leave_nothing_in_a_pickle() -> None:
    loaded = tfprof.load_sample()
    before = len(pickle.dumps(loaded))
    for view in VIEWS:
        loaded_report = _ask(loaded, view, FIELDS)
        assert len(loaded_report.rows) > 1
    loaded.summary()
    assert len(pickle.dumps(loaded)) <= before + 100


def test_columns_stay_read_only() -> None:
    loaded = tfprof.load_sample()
    report = _ask(loaded, "code", FIELDS)
    for again in (unpickled(pickle.dumps(report)), copy.deepcopy(report)):
        writeable = [name for name, column in arrays(again) if column.flags.writeable]
        assert writeable == []


def arrays(thing: object, name: str = "") -> Iterator[tuple[str, Any]]:
    """(name, array) of every array that is part of *thing*."""
    if isinstance(thing, np.ndarray):
        yield name, thing
    elif isinstance(thing, (tuple, list)):
        for number, part in enumerate(thing):
            yield from arrays(part, f"{name}[{number}]")
    elif type(thing).__module__.startswith("tfprof.") and not isinstance(thing, (_Packed, Source)):
        for part, value in vars(thing).items():
            yield from arrays(value, f"{name}.{part}")


# --- files that are gone or changed ---------------------------------------------------------------


@pytest.fixture
def moved(tmp_path: Path) -> tuple[Path, bytes]:
    """A graph file, and the pickle of a profile that was read from it."""
    path = tmp_path / "graph.pb"
    shutil.copy(DATA / "tf2" / "session" / "graph.pb", path)
    return path, pickle.dumps(tfprof.load(path))


def test_a_file_that_is_gone_is_one_sentence_when_it_is_needed(moved: tuple[Path, bytes]) -> None:
    path, data = moved
    path.unlink()
    again = unpickled(data)
    assert len(again.scope(select=["params"], flops="log")) > 1
    with pytest.raises(InputError) as raised:
        again.scope(select=["float_ops"], flops="all")
    assert str(raised.value) == f"{path} no longer exists; the profile reads parts of it on demand"


def test_a_file_that_changed_is_one_sentence(moved: tuple[Path, bytes]) -> None:
    path, data = moved
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError) as raised:
        _ = unpickled(data).profile.attributes
    assert str(raised.value) == f"{path} was changed after it was read; load it again"


def test_a_file_that_changed_after_it_was_opened_again(moved: tuple[Path, bytes]) -> None:
    path, data = moved
    again = unpickled(data)
    assert len(again.profile.attributes[0])
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="was changed after it was read; load it again"):
        _ = again.profile.attributes


def test_a_checkpoint_that_changed_is_one_sentence(tmp_path: Path) -> None:
    golden = shutil.copytree(GOLDEN, tmp_path / "golden")
    loaded = tfprof.load(golden / "graph.pb", checkpoint=golden / "ck")
    assert loaded.checkpoint is not None
    name = loaded.checkpoint.names()[0]
    data = pickle.dumps(loaded)
    os.utime(golden / "ck.index", ns=(1, 1))
    with pytest.raises(InputError, match=r"ck.index was changed after it was read; load it again"):
        unpickled(data).checkpoint.tensor(name)
    (golden / "ck.index").unlink()
    with pytest.raises(InputError, match=r"ck.index no longer exists"):
        unpickled(data).checkpoint.tensor(name)


def test_a_pipe_is_pickled_as_its_bytes() -> None:
    graph = (DATA / "tf2" / "session" / "graph.pb").read_bytes()
    reader, writer = os.pipe()
    with io.FileIO(writer, "w") as file:
        assert len(graph) < 1 << 16
        file.write(graph)
    loaded = tfprof.load(f"/dev/fd/{reader}")
    os.close(reader)
    again = unpickled(pickle.dumps(loaded))
    assert outputs(again) == outputs(loaded)
