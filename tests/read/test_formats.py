"""FORMATS: each row is whole, and a new row is all that a new format needs."""

from __future__ import annotations

import inspect
import pickle
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
from case import GraphDef
from profiles import PROFILES
from tfprof.foundation.dotted import load_function
from tfprof.io.open_files import open_source
from tfprof.read import Source, graph_def, load_files
from tfprof.read.describe import Description
from tfprof.tables.formats import (
    FORMATS,
    GIVES,
    GRAPH,
    GRAPH_PARTS,
    INPUTS,
    Format,
    Input,
    expected_formats,
    expected_inputs,
)

if TYPE_CHECKING:
    from command import Command
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns
    from tfprof.read.detect import Start

HANDMADE = PROFILES["handmade"]
MAGIC = b"made up: "


# --- the rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", FORMATS.values(), ids=FORMATS)
def test_every_function_of_a_row_is_there(row: Format) -> None:
    for function in filter(None, (row.detect, row.read, row.add, row.describe)):
        assert isinstance(function, partial)
        assert callable(load_function(*function.args))
    assert set(row.gives) <= set(GIVES)
    assert row.title.startswith(("a ", "an "))


def test_a_source_pickles() -> None:
    source = open_source(str(HANDMADE.graph), "a graph")
    assert source.format is FORMATS["graph_text"]
    copy = pickle.loads(pickle.dumps(source))  # noqa: S301 - our own bytes
    assert (copy.name, copy.data.tobytes()) == (source.name, source.data.tobytes())
    assert copy.format is source.format
    copy.check()
    copy.let_go()


def test_every_input_is_a_parameter_of_load() -> None:
    parameters = inspect.signature(tfprof.load).parameters
    others = {*GRAPH_PARTS, "era", "progress"}
    assert {row.parameter for row in INPUTS.values()} == parameters.keys() - others


def test_sentences_list_formats_and_inputs() -> None:
    assert expected_formats(GRAPH) == (
        "a GraphDef, a MetaGraphDef, a SavedModel, a Keras archive, an event file of TensorBoard, "
        "a Keras HDF5 file, a TensorFlow Lite model or a program of XLA (HloProto)"
    )
    assert expected_inputs() == (
        "a graph, a RunMetadata, a trace, an op log, a checkpoint or a saved profile"
    )


def test_few_files_name_a_flag() -> None:
    """The table, and pages of help that show command lines."""
    files = Path(tfprof.__file__).parent.rglob("*.py")
    naming = [path.name for path in files if GRAPH.name in path.read_text(encoding="utf-8")]
    assert len(naming) <= 4, naming


# --- a made-up format -----------------------------------------------------------------------------


def detect(start: Start) -> bool:
    return bytes(start.data[: len(MAGIC)]) == MAGIC


def read(source: Source) -> GraphColumns:
    words = source.data.tobytes().removeprefix(MAGIC).decode().split()
    graph = GraphDef()
    for name, op in zip(words[::2], words[1::2], strict=True):
        graph.node.add(name=name, op=op)
    return graph_def.columns(np.frombuffer(graph.SerializeToString(), np.uint8))


def describe(source: Source) -> Description:
    return Description({"words": len(source.data.tobytes().split())})


def format_of(made: Input) -> Format:
    add = FORMATS["graph"].add
    return Format("made_up", "a made-up graph", made, ("nodes",), detect, read, add, describe)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a made-up format, which has a row for the time of the test."""
    monkeypatch.setitem(FORMATS, "made_up", format_of(GRAPH))
    path = tmp_path / "graph.made_up"
    path.write_bytes(MAGIC + b"a MatMul b Relu c Relu")
    return path


def names(profile: Profile) -> list[bytes]:
    return profile.nodes.name.tolist()


def test_python_loads_it(made_up: Path) -> None:
    assert names(tfprof.load(made_up).profile) == [b"a", b"b", b"c"]
    assert names(tfprof.load(made_up.parent).profile) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("named", ["--graph_path={}", "{}", "folder"])
def test_a_command_reads_it(command: Command, made_up: Path, named: str) -> None:
    words = [str(made_up.parent) if named == "folder" else named.format(made_up)]
    assert command("op", *words, "--select=occurrence", "--order_by=occurrence") == 0
    last = command.out.splitlines()[-2:]
    assert [line.split() for line in last] == [["Relu", "0|2"], ["MatMul", "0|1"]]


def test_info_describes_it(command: Command, made_up: Path) -> None:
    (made_up.parent / "notes").write_text("of nobody")
    assert command("info", str(made_up.parent)) == 0
    assert command.out.startswith(f"{made_up}: a made-up graph\n  8 words\n\nnot recognised: notes")
    assert f"tfprof op {made_up} --select=occurrence" in command.out


def test_errors_name_it(command: Command, made_up: Path) -> None:
    assert command("scope", f"--run_meta_path={made_up}") == 3
    assert f"{made_up} is a made-up graph; expected a RunMetadata" in command.err
    assert command("scope", f"--graph_path={HANDMADE.runs[0]}") == 3
    assert "a program of XLA (HloProto) or a made-up graph" in command.err


def test_an_input_of_its_own_reads_it(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input without a fallback rejects a file that no row fits."""
    made: Any = Input("made_path", "text", "", "made up", parameter="made", title="a made-up file")
    monkeypatch.setitem(FORMATS, "made_up", format_of(made))
    assert names(load_files({made: [source_of(made_up)]})) == [b"a", b"b", b"c"]
    made_up.write_bytes(b"neither")
    with pytest.raises(tfprof.InputError, match="is not recognised; expected a made-up graph"):
        load_files({made: [source_of(made_up)]})


def source_of(path: Path) -> Source:
    return Source(str(path), np.fromfile(path, np.uint8))
