"""Files without options: told by content, each put where its option would have put it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from case import RunMetadata
from profiles import DATA, PROFILES, SAMPLE
from tfprof import cli
from tfprof.errors import InputError, UsageError
from tfprof.io.find_inputs import choose_inputs, detect_file, detect_files, exists
from tfprof.io.open_files import InputFile
from tfprof.read.detect import detect
from tfprof.tables.formats import FORMATS, INPUTS

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

HANDMADE, CHECKPOINTS = PROFILES["handmade"], DATA / "checkpoints"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved profile."""
    path = tmp_path_factory.mktemp("saved") / "profile"
    assert cli.run(["save", *HANDMADE.flags(), f"--output=file:outfile={path}"]) == 0
    return path


def test_every_input_has_a_format_and_a_title() -> None:
    detected = {row.input.name for row in FORMATS.values() if row.detect}
    assert detected == set(INPUTS)
    assert all(row.title and row.help and row.parameter for row in INPUTS.values())


def test_a_run_with_costs_is_no_graph() -> None:
    run = RunMetadata()
    stats = run.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    stats.node_stats.add(node_name="a", all_start_micros=1)
    # Its node has the number 0, which is not written, so it has the fields of a graph's node.
    run.cost_graph.node.add(name="a", device="/job:localhost/replica:0/task:0/device:CPU:0")
    data = run.SerializeToString()
    assert detect(memoryview(data)) is FORMATS["run"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (HANDMADE.graph, "graph_text"),
        (HANDMADE.runs[0], "run_text"),
        (HANDMADE.op_log, "op_log_text"),
        (SAMPLE / "graph.pbtxt.gz", "graph_text"),
        (SAMPLE / "run_meta_0.gz", "run"),
        (SAMPLE / "tfprof_log.gz", "op_log"),
        (CHECKPOINTS / "golden" / "graph.pb", "graph"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_file_is_told_by_its_content(path: Path, name: str) -> None:
    file = detect_file(str(path))
    assert (file, file.file_format.name) == (str(path), name)


def test_a_saved_profile_is_told_by_its_content(saved: Path) -> None:
    assert detect_file(str(saved)).file_format is FORMATS["profile"]


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("one", "one"),
        ("one.index", "one"),
        ("one.data-00000-of-00001", "one"),
        ("several.data-00002-of-00003", "several"),
        ("first", "first"),
        ("first_sharded-00001-of-00002", "first_sharded-?????-of-00002"),
        ("first_sharded-?????-of-00002", "first_sharded-?????-of-00002"),
    ],
)
def test_a_checkpoint_goes_by_its_prefix(name: str, prefix: str) -> None:
    path = str(CHECKPOINTS / name)
    assert exists(path)
    file = detect_file(path)
    assert (file, file.file_format.name) == (str(CHECKPOINTS / prefix), "checkpoint")


def test_a_folder_is_searched_in_natural_order_and_checkpoints_are_one() -> None:
    files = list(detect_files(str(SAMPLE)))
    assert [file.rpartition("/")[2] for file in files if isinstance(file, InputFile)] == [
        *("graph.pbtxt.gz", "model.ckpt", "run_meta_0.gz", "run_meta_1.gz", "tfprof_log.gz")
    ]
    assert [file for file in files if not isinstance(file, InputFile)] == ["README.md"]


def test_run_2_stands_before_run_10(tmp_path: Path) -> None:
    for number in (10, 9, 2):
        shutil.copy(HANDMADE.runs[0], tmp_path / f"run_{number}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    paths = tuple(str(tmp_path / f"run_{number}") for number in (2, 9, 10))
    assert choose_inputs([str(tmp_path)], {}) == {"run_meta_path": paths}
    (gone,) = (file for file in detect_files(str(tmp_path)) if file == "gone")
    assert not isinstance(gone, InputFile)


def test_words_are_the_options_they_stand_for(tfprof: Command) -> None:
    words = ["--select=micros,params,float_ops,op_types"]
    assert tfprof("scope", *HANDMADE.flags(), *words) == 0
    printed = tfprof.out
    run_0, run_1 = map(str, HANDMADE.runs)
    # Only the order among runs counts.
    assert tfprof("scope", run_0, str(HANDMADE.op_log), *words, str(HANDMADE.graph), run_1) == 0
    assert tfprof.out == printed
    assert f"--run_meta_path={run_0},{run_1}" in tfprof.err
    assert tfprof("scope", str(HANDMADE.graph.parent), *words) == 0
    assert tfprof.out == printed
    assert tfprof("scope", f"--graph_path={HANDMADE.graph}", run_0, run_1,
                  str(HANDMADE.op_log), *words) == 0  # fmt: skip
    assert tfprof.out == printed


def test_a_checkpoint_and_a_saved_profile_by_word(tfprof: Command, saved: Path) -> None:
    words = ["--account_type_regexes=_checkpoint_variables", "--select=params", "--max_depth=1"]
    assert tfprof("scope", str(SAMPLE / "graph.pbtxt.gz"), str(SAMPLE / "model.ckpt"), *words) == 0
    assert tfprof.out.endswith("_TFProfRoot (--/930.58k params)\n")
    assert tfprof("op", str(saved)) == 0
    printed = tfprof.out
    assert tfprof("op", f"--profile_path={saved}") == 0
    assert tfprof.out == printed


def test_the_order_of_runs_is_that_of_the_words() -> None:
    first, second = map(str, HANDMADE.runs)
    assert choose_inputs([second, first], {})["run_meta_path"] == (second, first)


def test_two_graphs_are_one_too_many(tfprof: Command) -> None:
    graphs = [str(HANDMADE.graph), str(SAMPLE / "graph.pbtxt.gz")]
    assert tfprof("scope", *graphs) == 2
    assert f"{graphs[0]} and {graphs[1]} are each a graph" in tfprof.err


def test_an_option_and_a_word_for_the_same_input_conflict() -> None:
    with pytest.raises(UsageError, match=r"--graph_path is set and .*/graph.pbtxt is a graph"):
        choose_inputs([str(HANDMADE.graph)], {"graph_path": "other"})


def test_an_option_and_a_word_win_over_what_a_folder_holds(saved: Path) -> None:
    folder = str(HANDMADE.graph.parent)
    assert "graph_path" not in choose_inputs([folder], {"graph_path": "other"})
    run = str(HANDMADE.runs[1])
    assert choose_inputs([folder, run], {})["run_meta_path"] == (run,)
    assert choose_inputs([folder, str(saved)], {}) == {"profile_path": str(saved)}
    assert choose_inputs([str(saved.parent)], {"graph_path": "g"}) == {}


def test_a_saved_profile_and_a_graph_are_one_too_many(saved: Path) -> None:
    with pytest.raises(UsageError, match=r"saved profile, which holds everything, and .* a graph"):
        choose_inputs([str(saved), str(HANDMADE.graph)], {})


def test_a_word_that_is_no_file(tfprof: Command) -> None:
    for word in ("nothing", "x" * 5000, "a\0b"):
        assert tfprof("scope", word, *HANDMADE.flags()) == 3
        assert "expected a graph, " in tfprof.err
    assert tfprof("demo", str(HANDMADE.graph)) == 2
    assert f"demo has no {str(HANDMADE.graph)!r} (there are: scope, " in tfprof.err


def test_files_that_are_nothing_known(tfprof: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert tfprof("scope", str(tmp_path / "empty")) == 3
    assert "is empty; expected a graph" in tfprof.err
    assert tfprof("scope", str(SAMPLE / "README.md")) == 3
    assert "is not recognised; expected a graph" in tfprof.err
    assert tfprof("scope", str(tmp_path)) == 3
    none = "is a folder with no file that tfprof reads; expected a graph, a RunMetadata"
    assert f"{tmp_path} {none}" in tfprof.err


def test_hdf5_of_anything_else_is_refused(tfprof: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.h5"
    model.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(88))  # the signature, as HDF5's format has it
    assert tfprof("summary", str(model)) == 3
    assert f"{model} is a damaged HDF5 file: " in tfprof.err


def test_a_pipe_is_not_looked_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    advice = "is not a regular file; name it with a flag, as in --graph_path="
    with pytest.raises(InputError, match=advice):
        detect_file(str(tmp_path / "pipe"))
    assert next(detect_files(str(tmp_path))) == "pipe"


def test_a_trace_whose_first_plane_is_empty_is_no_saved_profile() -> None:
    """XSpace { planes { id: 1 name: "/host:CPU" } }: an entry of ProfileProto.nodes looks alike."""
    plane = b"\x08\x01\x12\x09/host:CPU"
    assert detect(memoryview(b"\x0a" + bytes([len(plane)]) + plane)) is FORMATS["trace"]
    node = b"\x08\x01\x12\x03\x0a\x01a"  # nodes { key: 1 value { name: "a" } }
    assert detect(memoryview(b"\x0a" + bytes([len(node)]) + node)) is FORMATS["profile"]


EXPORTS = """
import sys, jax
from jax import export
for count in (1, 50):
    arrays = [jax.ShapeDtypeStruct((4, 4), "float32")] * count
    exported = export.export(jax.jit(lambda arrays: [array + 1 for array in arrays]))(arrays)
    open(f"{sys.argv[1]}/{count}", "wb").write(exported.serialize())
"""


@pytest.mark.whole
@pytest.mark.xdist_group("jax")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="JAX needs Python 3.11")
def test_what_jax_exports_is_named(tfprof: Command, tmp_path: Path) -> None:
    command = [sys.executable, "-c", EXPORTS, str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
    for count in (1, 50):
        assert tfprof("scope", str(tmp_path / str(count))) == 3
        assert "is a program of MLIR in bytecode (StableHLO); give its HLO" in tfprof.err


def test_a_graph_is_no_trace(tfprof: Command) -> None:
    graph = CHECKPOINTS / "golden" / "graph.pb"
    assert tfprof("scope", f"--trace_path={graph}") == 3
    assert f"{graph} is a GraphDef; expected a trace (XSpace)" in tfprof.err
