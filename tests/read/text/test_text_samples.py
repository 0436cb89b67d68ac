"""A graph in text holds what the same graph in binary holds: every sample graph, in some layout.

.pb ──► message ──┬─ serialized ──► binary ──► summary, four views, saved and converted bytes
                  └─ printed ─────► text   ──► the same
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from google.protobuf import text_format

import model_files
import paths
import sampling
import tfprof
from case import GraphDef
from random_text import LAYOUTS
from tf_wheel import piece
from tfprof.errors import TfprofError
from tfprof.read.detect import detect
from tfprof.tables.formats import GRAPH, sample_files
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tfprof.results.loaded import Loaded

MetaGraphDef: Final[Any] = piece("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef
SavedModel: Final[Any] = piece("tensorflow.core.protobuf.saved_model_pb2").SavedModel
KINDS: Final = {
    "graph": GraphDef, "graph_text": GraphDef, "meta_graph": MetaGraphDef,
    "saved_model": SavedModel,
}  # fmt: skip
DATA: Final = paths.DATA
FIELDS: Final = ["params", "float_ops", "op_types", "input_shapes"]
LARGE: Final = 1 << 20
"""Weights of more bytes take seconds in text: only a whole run compares them."""


def graph_files(folder: Path) -> list[tuple[str, bytes]]:
    """The name and the content of every graph in a folder."""
    files = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if sampling.is_whole() or path.stat().st_size < LARGE:
            data = path.read_bytes()
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            form = detect(memoryview(data)) if data else None
            if form is not None and form.name in KINDS:
                files.append((str(path.relative_to(folder)), data))
    return files


def graphs(data: bytes) -> list[Message]:
    """The GraphDef or the MetaGraphDefs in a file."""
    form = detect(memoryview(data))
    assert form is not None
    kind = KINDS[form.name]
    if form.message:
        return [text_format.Parse(data, kind())]
    message = kind.FromString(data)
    return [*message.meta_graphs] if kind is SavedModel else [message]


def answers(data: bytes, folder: Path) -> dict[str, Any]:
    """All that tfprof says of a graph, and the files that it makes of it."""
    try:
        loaded = tfprof.load(data)
    except TfprofError as problem:
        return {"error": str(problem)}
    said = {view: _answer(lambda view=view: _report(loaded, view)) for view in VIEWS}
    said["summary"] = _answer(lambda: str(loaded.summary()))
    said["notes"] = str(loaded.profile.notes)
    loaded.save(folder / "saved")
    loaded.convert(folder / "converted")
    return {
        **said,
        "saved": (folder / "saved").read_bytes(),
        "converted": (folder / "converted").read_bytes(),
    }


def _report(loaded: Loaded, view: str) -> str:
    options = {"select": FIELDS, "max_depth": 1000, "flops": "all", "account_type_regexes": [".*"]}
    return str(getattr(loaded, view)(**options))


def _answer(make: Any) -> Any:
    try:
        return make()
    except TfprofError as problem:
        return str(problem)


def check(name: str, data: bytes, folder: Path) -> None:
    """The graphs in *data* give the same answers in a layout, which every commit draws anew."""
    layout = sampling.rng(f"layout of {name}").choice([*LAYOUTS])
    for graph in graphs(data):
        expected = answers(graph.SerializeToString(), folder)
        text = text_format.MessageToString(graph, **LAYOUTS[layout]).encode()
        found = answers(text, folder)
        assert found.keys() == expected.keys(), (name, layout, found.get("error"))
        for part, said in expected.items():
            assert found[part] == said, (name, layout, part)


NO_GRAPHS: Final = ("events", "hdf5")  # of all recorded models
PARTS: Final = {"layers": 8, "open_functions": 5, "open_layers": 5}  # others are one test


def parts_of(archive: str) -> int:
    """How many tests the graphs of an archive are for."""
    return PARTS.get(archive, 1) if sampling.is_whole() else 1


@pytest.mark.sampled
def test_the_samples_in_files(tmp_path: Path) -> None:
    samples = [*graph_files(DATA), *graph_files(Path(sample_files()[GRAPH.name]).parent)]
    assert len(samples) > 20
    for name, data in sampling.sampled(samples, 3, "text samples"):
        check(name, data, tmp_path)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("archive", "part"),
    [
        (name, part)
        for name in model_files.WORDS
        if name not in NO_GRAPHS
        for part in range(parts_of(name))
    ],
)
def test_the_recorded_models(archive: str, part: int, tmp_path: Path) -> None:
    samples = graph_files(model_files.unpacked(archive, tmp_path / "models"))
    assert len(samples) > 3
    for name, data in sampling.sampled(samples, 1, archive)[part :: parts_of(archive)]:
        check(name, data, tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_meta_graph_has_its_signatures_and_trainable_variables(
    layout: str, tmp_path: Path
) -> None:
    data = (DATA / "tf2" / "module" / "saved_model.pb").read_bytes()
    (meta,) = graphs(data)
    text, binary = tmp_path / "text", tmp_path / "binary"
    text.write_bytes(text_format.MessageToString(meta, **LAYOUTS[layout]).encode())
    binary.write_bytes(meta.SerializeToString())
    for signature in ("chosen", "nested"):
        found, expected = (tfprof.load(each, signature=signature) for each in (text, binary))
        assert str(found.summary()) == str(expected.summary())
        assert found.summary().total["trainable"] == expected.summary().total["trainable"]
        assert str(found.scope()) == str(expected.scope())
    assert "Trainable: unknown" not in str(tfprof.load(text, signature="nested").summary())
