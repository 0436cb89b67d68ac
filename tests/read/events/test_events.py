"""Event files that TensorFlow and Keras wrote: the graph, the steps, the layers, the damage."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
from event_records import WHEN, checksum, ends, event_file, record, scalar, stored, tagged
from hostile_parts import GRAPH, META_GRAPH, RUN, number, part
from tfprof.errors import InputError, UsageError
from tfprof.read import Source, load
from tfprof.read.events import read_events
from tfprof.wire.crc32c import crc32c, crc32c_words, masked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command import Command
    from tfprof.model import Profile


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("events")


@pytest.fixture(scope="module")
def truth(folder: Path) -> Any:
    return json.loads((folder / "truth.json").read_text(encoding="utf-8"))


def file_in(folder: Path) -> Path:
    (file,) = folder.rglob("*.tfevents.*")
    return file


def source(data: bytes) -> Source:
    return Source("events.out.tfevents.1.vm", np.frombuffer(data, np.uint8))


def of_graph(profile: Profile) -> list[str]:
    names = profile.nodes.name.take(np.flatnonzero(profile.in_graph))
    return [name.decode() for name in names]


def notes(profile: Profile) -> str:
    return "\n".join(map(str, profile.notes))


def by_type(loaded: Any) -> dict[str, int]:
    report = loaded.op(select=["occurrence"], max_depth=10)
    return {row.name: row.own_defined for row in report.rows[1:]}


# --- TensorFlow 1 ---------------------------------------------------------------------------------


def test_a_file_writer_gives_graph_and_steps(folder: Path, truth: Any) -> None:
    loaded = tfprof.load(file_in(folder / "writer"))
    assert of_graph(loaded.profile) == truth["nodes"]["writer"]
    assert loaded.steps == (10, 20)
    assert "10 is 'after 10', 20 is 'after 20'" in notes(loaded.profile)
    # The GraphDef and the MetaGraphDef of FileWriter are one graph.
    assert "several graphs" not in notes(loaded.profile)


def test_every_execution_of_a_run_is_read(folder: Path, truth: Any) -> None:
    file = file_in(folder / "writer")
    runs = read_events(Source(str(file), np.fromfile(file, np.uint8))).runs
    columns = {run.step: run.columns for run in runs}
    assert {step: len(run.name) for step, run in columns.items() if run} == {
        int(step): count for step, count in truth["executions"].items()
    }


@pytest.mark.parametrize("kind", ["writer", "meta"])
def test_collections_say_what_is_trainable(folder: Path, kind: str) -> None:
    # A kernel of 8x4, a bias of 4; and a variable of 4 that is not trained.
    report = tfprof.load(folder / kind).summary()
    assert (report.total["trainable"], report.total["non_trainable"]) == (36, 4)


def test_of_several_files_the_last_graph_counts_and_all_runs(folder: Path, truth: Any) -> None:
    loaded = tfprof.load(folder / "restarted")
    assert of_graph(loaded.profile) == truth["nodes"]["restarted"]
    assert "several graphs: the last is read, 2 earlier ones ignored" in notes(loaded.profile)
    assert loaded.steps == (0, 1)  # both runs have step 0
    assert "0 is 'first', 1 is 'second'" in notes(loaded.profile)


def test_the_last_file_is_the_last_by_the_time_in_its_name(folder: Path, tmp_path: Path) -> None:
    train = tmp_path / "train"
    train.mkdir()
    # Made in another order.
    for time, kind in ((10, "graph"), (9, "traced"), (8, "writer"), (11, "scalars")):
        shutil.copy(file_in(folder / kind), train / f"events.out.tfevents.{time}.vm")
    for logs in (tmp_path, train):
        assert tfprof.load(logs).inputs[0] == str(train / "events.out.tfevents.10.vm")


def test_no_file_of_a_folder_is_overwritten(folder: Path) -> None:
    loaded = tfprof.load(folder / "restarted")
    assert sorted(loaded.inputs) == sorted(map(str, (folder / "restarted").iterdir()))


def test_files_of_one_folder_may_be_named(folder: Path, command: Command) -> None:
    files = sorted(map(str, (folder / "restarted").iterdir()))
    assert command("op", *files, "--select=occurrence") == 0
    assert command("op", files[0], str(file_in(folder / "writer"))) == UsageError.exit_code
    assert "different runs" in command.err


# --- TensorFlow 2 ---------------------------------------------------------------------------------


def test_the_graph_of_a_function_has_its_library(folder: Path) -> None:
    loaded = tfprof.load(folder / "graph")
    # A product of 2x8 and 8x4, then 2x4 times ReLU and an addition.
    flops = 2 * 2 * 8 * 4 + 2 * 4 + 2 * 4
    assert loaded.op(select=["float_ops"]).rows[0].total_float_ops == flops
    outside = tfprof.load(folder / "graph", functions=False)
    assert "MatMul" in by_type(loaded)
    assert "MatMul" not in by_type(outside)


def test_an_exported_trace_has_the_function_that_ran(folder: Path) -> None:
    loaded = tfprof.load(folder / "traced")
    assert by_type(loaded)["MatMul"] == by_type(loaded)["Relu"] == 1
    assert "the largest function in the trace 'the_trace' is read" in notes(loaded.profile)
    # It has no step stats, and does not record the shape of the variable.
    assert loaded.steps == ()
    assert "?" in str(loaded.summary())


# --- Keras ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["keras2", "keras3", "plain3"])
def test_layers_are_those_that_keras_lists(folder: Path, truth: Any, name: str) -> None:
    rows = tfprof.load(folder / name).summary(depth=1).rows
    layers = [[row["name"], row["type"], row["parameters"]] for row in rows if row["type"]]
    for layer, expected in zip(layers, truth[name]["layers"], strict=True):
        assert layer[:2] == expected[:2]
        # The function of Keras 3 that was traced does not have the shapes of variables.
        assert layer[2] in ([expected[2]] if name != "keras3" else [None, 0])


def test_without_a_trace_the_model_is_the_graph(folder: Path, truth: Any) -> None:
    loaded = tfprof.load(folder / "plain3")
    assert loaded.summary().total["trainable"] == truth["plain3"]["params"]
    assert "an event file has no weights" in notes(loaded.profile)


@pytest.mark.parametrize(("name", "steps"), [("keras2", 1), ("keras3", 1), ("plain3", 0)])
def test_traces_of_the_callback_are_steps(folder: Path, name: str, steps: int) -> None:
    assert len(tfprof.load(folder / name).steps) == steps


@pytest.mark.parametrize("name", ["keras2", "keras3"])
def test_a_layer_of_a_graph_has_its_time(folder: Path, name: str) -> None:
    rows = tfprof.load(folder / name).summary(depth=1).rows
    assert {row["name"] for row in rows if row["micros"]} >= {"conv", "head"}


# --- folders --------------------------------------------------------------------------------------


def test_scalars_alone_are_an_error_with_a_sentence(folder: Path, command: Command) -> None:
    assert command("scope", str(folder / "scalars")) == InputError.exit_code
    assert "is an event file without a graph, Keras model or run (101 records)" in command.err


def test_scalars_beside_a_trace_do_no_harm(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "keras2" / "plugins", tmp_path / "plugins")
    shutil.copytree(folder / "scalars", tmp_path / "train")
    assert tfprof.load(tmp_path).steps == (0,)


def test_a_graph_beside_event_files_wins(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "writer", tmp_path / "log")
    (tmp_path / "log" / "graph.pb").write_bytes(GRAPH)
    assert of_graph(tfprof.load(tmp_path / "log").profile) == ["w", "x", "s/mul"]


def test_a_graph_and_an_event_file_that_are_named_conflict(
    folder: Path, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "graph.pb").write_bytes(GRAPH)
    files = [str(tmp_path / "graph.pb"), str(file_in(folder / "writer"))]
    assert command("scope", *files) == UsageError.exit_code
    assert "are each a graph: name the one to use" in command.err
    assert command("scope", files[0], str(folder / "writer")) == 0


def test_logs_of_several_runs_are_named(folder: Path, tmp_path: Path, command: Command) -> None:
    for name in ("first", "second"):
        shutil.copytree(folder / "writer", tmp_path / name)
    assert command("scope", str(tmp_path)) == UsageError.exit_code
    assert "hold event files of different runs: name one of them" in command.err


def test_runs_beside_an_event_file_come_after_its_steps(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(RUN)
    loaded = tfprof.load(file_in(folder / "writer"), tmp_path / "run")
    assert loaded.steps == (10, 20, 21)


def test_info_says_what_is_in_it(folder: Path, command: Command) -> None:
    assert command("info", str(folder / "writer"), str(folder / "scalars")) == 0
    nodes = len(of_graph(tfprof.load(folder / "writer").profile))
    assert f"  {nodes} nodes of " in command.out
    records = "  7 records\n  2 runs: after 10, after 20"
    assert f"  3 variables with 40 parameters\n{records}" in command.out
    assert "an event file of TensorBoard\n  101 records\n" in command.out
    assert "several" not in command.out
    assert "no run" not in command.out


# --- records --------------------------------------------------------------------------------------


def test_a_file_may_be_cut_off_anywhere(folder: Path, truth: Any) -> None:
    data = file_in(folder / "writer").read_bytes()
    *whole, last = ends(data)
    for end in (*range(whole[-1] + 1, last, 997), last - 1):
        profile = load(source(data[:end]))
        assert of_graph(profile) == truth["nodes"]["writer"]
        assert [step.number for step in profile.steps] == [10]
        assert "ends inside a record" in notes(profile)
    for end in (whole[-1], last):
        assert "ends inside a record" not in notes(load(source(data[:end])))


def test_zeros_behind_the_last_record_are_a_crash(folder: Path) -> None:
    data = file_in(folder / "writer").read_bytes()
    profile = load(source(data + bytes(5000)))
    assert [step.number for step in profile.steps] == [10, 20]
    assert "ends inside a record" in notes(profile)


def test_checksums_of_lengths_are_checked() -> None:
    data = bytearray(event_file(part(4, GRAPH), scalar(1), scalar(2)))
    at = ends(bytes(data))[1]  # of the first scalar
    for place in range(at, at + 12):
        wrong = bytearray(data)
        wrong[place] ^= 1
        with pytest.raises(InputError, match=f"checksum of a record's length at byte {at}"):
            load(source(bytes(wrong)))


def test_checksums_of_what_is_used_are_checked() -> None:
    model = stored(b"graph_keras_model", b"keras", b"{the model}")
    for used, place in ((part(4, GRAPH), b"s/mul"), (tagged(b"t", RUN), b"CPU"), (model, b"the")):
        data = bytearray(event_file(used))
        data[data.index(place)] ^= 1
        with pytest.raises(InputError, match="damaged event file: wrong checksum of a record at"):
            load(source(bytes(data)))
    data = bytearray(event_file(part(4, GRAPH), scalar(1)))
    data[-5] ^= 1
    assert len(load(source(bytes(data)))) == 3


def test_fields_may_stand_in_any_order() -> None:
    event = part(8, part(2, RUN), part(1, b"t")) + number(2, 7) + WHEN
    data = event_file(part(9, META_GRAPH)) + record(event)
    profile = load(source(data))
    assert of_graph(profile) == ["w", "x", "s/mul"]
    assert [step.number for step in profile.steps] == [7]


def test_a_run_that_a_plugin_stored_is_a_step() -> None:
    run = number(2, 3) + stored(b"graph_run_metadata", b"batch_3", RUN)
    profile = load(source(event_file(part(4, GRAPH), run)))
    assert [step.number for step in profile.steps] == [3]
    assert "3 is 'batch_3'" in notes(profile)


def test_many_records_are_walked_in_blocks() -> None:
    scalars = b"".join(record(WHEN + scalar(step)) for step in (1, 2)) * 40_000
    data = event_file(part(4, GRAPH)) + scalars + record(WHEN + tagged(b"t", RUN, 5))
    columns = read_events(source(data))
    assert columns.records == 2 + 80_000 + 1
    assert [run.step for run in columns.runs] == [5]


def test_checksums_of_many_words() -> None:
    words = np.random.default_rng(1).integers(0, 1 << 63, 64, dtype=np.uint64)
    words[:4] = 0, 1, 255, 1 << 63
    expected = [masked(crc32c(word[None].view(np.uint8))) for word in words]
    assert crc32c_words(words).tolist() == expected
    # As TensorFlow writes it: the first record of a file has 24 bytes.
    assert checksum((24).to_bytes(8, "little")).hex() == "a37f4b22"


# --- afterwards -----------------------------------------------------------------------------------


def test_a_pickled_profile_reads_its_attributes_again(folder: Path) -> None:
    loaded = tfprof.load(folder / "writer")
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own
    asked = {"select": ["float_ops", "micros"], "max_depth": 10}
    assert str(again.scope(**asked)) == str(loaded.scope(**asked))


def test_a_file_may_grow_after_it_was_read(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.out.tfevents.1.vm"
    shutil.copy(file_in(folder / "graph"), file)
    loaded = tfprof.load(file)
    with file.open("ab") as more:
        more.write(record(WHEN + scalar(1)))
    assert loaded.op(select=["float_ops"]).rows[0].total_float_ops > 0


def test_a_packed_file_is_read(folder: Path, tmp_path: Path, truth: Any) -> None:
    packed = tmp_path / "events.out.tfevents.1.vm.gz"
    packed.write_bytes(gzip.compress(file_in(folder / "writer").read_bytes()))
    assert of_graph(tfprof.load(packed).profile) == truth["nodes"]["writer"]
