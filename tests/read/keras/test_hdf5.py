"""Keras's HDF5 files say what Keras says of the models in them."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np
import pytest

import tfprof
from hdf5_worker import MODELS
from sampling import sampled
from tfprof import cli
from tfprof.errors import InputError, UsageError
from tfprof.read import Source
from tfprof.read.keras import h5_process
from tfprof.read.keras.hdf5 import read_hdf5
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES: Final = [f"{build.__name__}-{keras}" for build in MODELS for keras in (2, 3)]
each_model = pytest.mark.parametrize("name", sampled(NAMES, 3, "HDF5 files"))


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("hdf5")


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return said


def rows(report: Any) -> list[list[Any]]:
    """Name, class, parameters and output shape of the layers."""
    kept = [row for row in report.rows if row["depth"] == 1 and row["name"] != "(other)"]
    return [[row[key] for key in ("name", "type", "parameters", "output_shape")] for row in kept]


@pytest.mark.sampled
@each_model
@pytest.mark.parametrize("end", [".h5", "-bare.h5"])
def test_a_model_has_the_layers_and_parameters_that_keras_counts(
    name: str, end: str, folder: Path, truth: dict[str, Any]
) -> None:
    loaded = tfprof.load(folder / f"{name}{end}")
    report, said = loaded.summary(depth=1), truth[name]
    assert report.total["parameters"] == said["parameters"]
    layers = rows(report)
    assert [row[:3] for row in layers] == [row[:3] for row in said["layers"]]
    if "own" in name:  # which does not say what it returns, nor which of its weights are trained
        assert report.total["trainable"] == said["trainable"] + 3
        assert any("weights of Gate are trainable" in str(note) for note in loaded.notes)
        return
    assert report.total["trainable"] == said["trainable"]
    assert loaded.notes == ()
    for layer, expected in zip(layers, said["layers"], strict=True):
        assert layer[3] == expected[3] or expected[3] is None, layer[0]


@pytest.mark.sampled
@each_model
def test_it_computes_what_the_archive_does(name: str, folder: Path) -> None:
    totals = [tfprof.load(folder / f"{name}{end}").summary().total for end in (".h5", ".keras")]
    for key in ("parameters", "trainable", "multiply_adds", "float_ops", "activation_bytes"):
        assert totals[0][key] == totals[1][key], key


@pytest.mark.sampled
@each_model
def test_weights_alone_are_layers_and_parameters(
    name: str, folder: Path, truth: dict[str, Any]
) -> None:
    ends = [".weights.h5", "-old_weights.h5"] if name.endswith("2") else [".weights.h5"]
    for end in ends:
        loaded = tfprof.load(folder / f"{name}{end}")
        report = loaded.summary(depth=1)
        assert report.total["parameters"] == truth[name]["parameters"]
        assert "trainable" not in report.total
        assert "Trainable: unknown. This file does not record it." in report.sentences
        assert any("holds weights only" in str(note) for note in loaded.notes)
        counts = sorted(row[2] for row in rows(report) if row[2])
        assert counts == sorted(row[2] for row in truth[name]["layers"] if row[2])
        if end != ".weights.h5":  # the old layout has all layers by their names, in order
            assert [row[0] for row in rows(report)] == [row[0] for row in truth[name]["layers"]]
        elif name.endswith("3"):  # the new one has names and classes of those with weights
            named = {(row[0], row[2]) for row in rows(report)}
            assert named == {(row[0], row[2]) for row in truth[name]["layers"] if row[2]}


@pytest.mark.parametrize("name", ["images-2", "images-3"])
def test_what_the_optimizer_keeps_is_no_part_of_the_model(
    name: str, folder: Path, truth: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    for end in (".h5", ".weights.h5", "-bare.h5"):
        assert cli.run(["info", str(folder / f"{name}{end}")]) == 0
        said = capfd.readouterr().out
        assert f"variables with {truth[name]['parameters']:,} parameters\n" in said
        apart = f"  {truth[name]['optimizer']:,} optimizer parameters\n"
        assert (apart in said) == ("bare" not in end)


# --- by hand -------------------------------------------------------------------------------------


def file_of(write: Callable[[Any], None]) -> Source:
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        write(file)
    return Source("a.h5", np.frombuffer(made.getvalue(), np.uint8))


def weights_of(file: Any, layers: dict[str, dict[str, tuple[int, ...]]]) -> None:
    """Weights in the old layout."""
    file.attrs["layer_names"] = [name.encode() for name in layers]
    for name, stored in layers.items():
        group = file.create_group(name)
        group.attrs["weight_names"] = [weight.encode() for weight in stored]
        for weight, shape in stored.items():
            group.create_dataset(weight, shape, "float32")


def keras_1(file: Any) -> None:
    """As Keras 1.2 wrote it: a list of layers, and other names for almost everything."""
    image = {"batch_input_shape": [None, 8, 8, 3], "name": "convolution2d_1", "trainable": True}
    image |= {"nb_filter": 4, "nb_row": 3, "nb_col": 2, "subsample": [1, 1], "bias": True}
    image |= {"border_mode": "valid", "dim_ordering": "tf", "activation": "relu"}
    dense = {"name": "dense_1", "output_dim": 5, "bias": True, "activation": "linear"}
    layers = [
        {"class_name": "Convolution2D", "config": image},
        {"class_name": "MaxPooling2D", "config": {
            "name": "maxpooling2d_1", "pool_size": [2, 2], "strides": [2, 2],
            "border_mode": "valid", "dim_ordering": "tf",
        }},
        {"class_name": "Dropout", "config": {"name": "dropout_1", "p": 0.5}},
        {"class_name": "Flatten", "config": {"name": "flatten_1"}},
        {"class_name": "Dense", "config": dense},
    ]  # fmt: skip
    file.attrs["keras_version"] = b"1.2.1"
    file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": layers}).encode()
    convolution = {"convolution2d_1_W": (3, 2, 3, 4), "convolution2d_1_b": (4,)}
    dense_1 = {"dense_1_W": (36, 5), "dense_1_b": (5,)}
    plain: dict[str, dict[str, tuple[int, ...]]] = {"maxpooling2d_1": {}, "flatten_1": {}}
    groups = {"convolution2d_1": convolution, **plain, "dense_1": dense_1}
    weights_of(file.create_group("model_weights"), groups)


def test_a_model_of_keras_1() -> None:
    report = Loaded(read_hdf5(file_of(keras_1))).summary(depth=1)
    assert [row[:3] for row in rows(report)] == [
        ["convolution2d_1", "Conv2D", 3 * 2 * 3 * 4 + 4],
        ["maxpooling2d_1", "MaxPooling2D", 0],
        ["dropout_1", "Dropout", 0],
        ["flatten_1", "Flatten", 0],
        ["dense_1", "Dense", 36 * 5 + 5],
    ]
    # A window of 3x2 on an image of 8x8 has 6x7 places; half of each side are 3x3.
    assert report.total["multiply_adds"] == f"{6 * 7 * 3 * 2 * 3 * 4 + 3 * 3 * 4 * 5}*batch"
    assert report.total["trainable"] == report.total["parameters"] == 261


def test_names_in_pieces_are_one_list() -> None:
    def write(file: Any) -> None:
        weights_of(file, {f"layer_{at}": {"kernel:0": (at + 1,)} for at in range(12)})
        names = list(file.attrs["layer_names"])
        del file.attrs["layer_names"]
        for at in range(12):  # as Keras does where they are too long for one attribute
            file.attrs[f"layer_names{at}"] = names[at : at + 1]

    report = Loaded(read_hdf5(file_of(write))).summary(depth=1)
    assert [row[0] for row in rows(report)] == [f"layer_{at}" for at in range(12)]
    assert report.total["parameters"] == sum(range(13))


def test_without_h5py_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    source = file_of(keras_1)
    monkeypatch.setitem(sys.modules, "h5py", None)
    said = r"which tfprof reads with h5py: pip install 'tfprof\[keras\]'"
    with pytest.raises(InputError, match=said):
        read_hdf5(source)


def test_other_hdf5_files_are_named() -> None:
    source = file_of(lambda file: file.create_dataset("measured/speed", (5,), "float32"))
    said = "is an HDF5 file of data, without a Keras model or its weights; give the model"
    with pytest.raises(InputError, match=said):
        read_hdf5(source)


def test_data_beside_a_model_is_no_second_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = file_of(lambda file: file.create_dataset("measured/speed", (5,), "float32"))
    (tmp_path / "measured.h5").write_bytes(data.data.tobytes())
    (tmp_path / "model.h5").write_bytes(file_of(keras_1).data.tobytes())
    assert cli.run(["summary", str(tmp_path)]) == 0
    assert f"--graph_path={tmp_path / 'model.h5'}\n" in capsys.readouterr().err
    (tmp_path / "second.h5").write_bytes(file_of(keras_1).data.tobytes())
    assert cli.run(["summary", str(tmp_path)]) == 2
    assert "name the one to use" in capsys.readouterr().err


# --- nothing leads out of the file, and nothing ends this process ---------------------------------


def test_links_are_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file.create_dataset("kernel:0", (1000,), "float32")

    def write(file: Any) -> None:
        weights_of(file, {"a": {"kernel:0": (3,)}, "b": {}, "c": {}, "d": {}})
        file["b"].attrs["weight_names"] = [b"kernel:0", b"soft", b"a/kernel:0", b"again/kernel:0"]
        file["b/kernel:0"] = h5py.ExternalLink(str(other), "kernel:0")
        file["b/soft"] = h5py.SoftLink("/a/kernel:0")
        file["b/a"], file["b/again"] = file["a"], file["/"]  # cycles
        layout = h5py.VirtualLayout((1000,), "float32")
        layout[:] = h5py.VirtualSource(str(other), "kernel:0", (1000,))
        file["c"].create_virtual_dataset("virtual", layout)
        file["c"].attrs["weight_names"] = [b"virtual"]

    report = Loaded(read_hdf5(file_of(write))).summary(depth=1)
    assert report.total["parameters"] == 3


def test_the_process_that_reads_can_end_at_any_time() -> None:
    source = file_of(keras_1)
    first = read_hdf5(source)
    (worker,) = h5_process._workers
    worker.process.kill()
    worker.process.wait()
    assert len(read_hdf5(source)) == len(first)
    assert h5_process._workers[0].process.pid != worker.process.pid


def test_a_file_that_takes_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = file_of(keras_1)
    read_hdf5(source)
    process = h5_process._workers[0].process
    os.kill(process.pid, signal.SIGSTOP)  # as if it were in an endless loop
    monkeypatch.setattr(h5_process, "_SECONDS", 0.2)
    with pytest.raises(InputError, match="is a damaged HDF5 file: HDF5's library fails on it"):
        read_hdf5(source)
    monkeypatch.undo()
    assert process.poll() is not None
    assert len(read_hdf5(source)) > 0


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("Timer.start", RuntimeError("can't start new thread")),
        ("_started", BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")),
    ],
)
def test_without_a_thread_or_process_no_file_is_blamed(
    what: str, problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(f"tfprof.read.keras.h5_process.{what}", fail)
    with pytest.raises(UsageError, match=r"^HDF5's library did not start \((can't|Resource)"):
        read_hdf5(file_of(keras_1))
    monkeypatch.undo()
    assert len(read_hdf5(file_of(keras_1))) > 0


def test_the_process_that_reads_opens_no_file() -> None:
    read_hdf5(file_of(keras_1))
    process = h5_process._workers[0].process.pid
    limits = Path(f"/proc/{process}/limits").read_text()
    (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
    assert line.split()[3:5] == ["0", "0"]


@pytest.mark.sampled
def test_damaged_files_are_refused() -> None:
    data = file_of(keras_1).data
    for length in sampled(range(0, data.size - 1, 97), 20, "cut off HDF5"):
        with pytest.raises(InputError, match=r"^a\.h5"):
            read_hdf5(Source("a.h5", data[:length]))
