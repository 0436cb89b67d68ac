"""SavedModels in all forms: text, several tag sets, of TF-Hub, in archives, beside another file."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import shutil
import tarfile
import tracemalloc
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import tfprof as library
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from command import Command
    from tfprof import Loaded

EVERYTHING = ["params", "float_ops", "op_types", "input_shapes"]


@pytest.fixture(scope="module")
def forms(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("saved_model_forms")


@pytest.fixture(scope="module")
def truth(forms: Path) -> dict[str, int]:
    made: dict[str, int] = json.loads((forms / "truth.json").read_text())
    return made


def products(path: Path, tag: Any = None) -> int:
    profile = library.load(path, tag=tag).profile
    types = list(profile.types.texts())
    return sum(types[kind] == "MatMul" for kind in profile.nodes.op.tolist())


def report(path: Path) -> str:
    return str(library.load(path).scope(select=EVERYTHING))


# --- text and tags ----------------------------------------------------------------------------


def test_every_tag_set_is_the_graph_that_tensorflow_loads(
    forms: Path, truth: dict[str, int]
) -> None:
    for key, count in truth.items():
        folder, _, tags = key.partition(":")
        if folder != "keras2":
            assert products(forms / folder, tags or ",") == count, key


def test_tags_come_in_any_order(forms: Path, truth: dict[str, int]) -> None:
    for tags in ("gpu,serve", ["serve", "gpu"], ("gpu", "serve")):
        assert products(forms / "tags", tags) == truth["tags:serve,gpu"]
    assert products(forms / "hub", []) == truth["hub:"]
    with pytest.raises(UsageError, match="tag takes a text, not 5"):
        products(forms / "tags", 5)


def test_text_is_read_as_binary_is(forms: Path) -> None:
    assert report(forms / "tags_text") == report(forms / "tags")


def test_text_of_a_keras_model_has_its_trainable_variables(tmp_path: Path, forms: Path) -> None:
    from google.protobuf import text_format  # noqa: PLC0415

    from tf_wheel import piece  # noqa: PLC0415

    model: Any = piece("tensorflow.core.protobuf.saved_model_pb2").SavedModel()
    model.ParseFromString((forms / "keras2" / "saved_model.pb").read_bytes())
    shutil.copytree(forms / "keras2", tmp_path / "text")
    (tmp_path / "text" / "saved_model.pb").unlink()
    (tmp_path / "text" / "saved_model.pbtxt").write_text(text_format.MessageToString(model))
    asked: dict[str, Any] = {"select": EVERYTHING, "account_type_regexes": ["_trainable_variables"]}
    binary = library.load(forms / "keras2")
    text = library.load(tmp_path / "text")
    assert str(text.scope(**asked)) == str(binary.scope(**asked))


def test_without_a_tag_serve_is_read_and_the_others_are_named(forms: Path, tfprof: Command) -> None:
    assert tfprof("scope", str(forms / "tags"), "--select=op_types") == 0
    assert "2 more graphs of the SavedModel ignored" in tfprof.err
    assert "--tag=serve,gpu or --tag=train reads another" in tfprof.err


def test_without_a_tag_a_module_of_tf_hub_is_read_as_it_is_used(
    forms: Path, truth: dict[str, int]
) -> None:
    assert products(forms / "hub") == truth["hub:"]


def test_without_a_plain_serve_the_user_chooses(forms: Path, tfprof: Command) -> None:
    assert tfprof("scope", str(forms / "devices")) == 2
    assert "has 2 graphs; choose one with --tag=serve,gpu or --tag=serve,tpu" in tfprof.err
    assert tfprof("scope", str(forms / "devices"), "--tag=serve,tpu") == 0
    assert "--tag=serve,gpu reads another" in tfprof.err
    assert tfprof("info", str(forms / "devices")) == 0
    assert "2 tag sets: --tag=serve,gpu, --tag=serve,tpu" in tfprof.out
    command = tfprof.out.splitlines()[-1].split()
    assert command[-1] == "--tag=serve,gpu"
    assert tfprof(*command[1:]) == 0


def test_a_tag_that_is_not_there(forms: Path, tfprof: Command) -> None:
    assert tfprof("op", str(forms / "tags"), "--tag=gpu") == 2
    assert "no graph with the tags 'gpu'; choose one with --tag=serve or --tag=serve,gpu or" in (
        tfprof.err
    )


def test_a_tag_is_for_a_saved_model(tmp_path: Path) -> None:
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "a" op: "NoOp" }')
    with pytest.raises(UsageError, match=r"has no tags; --tag=serve is for a SavedModel"):
        library.load(graph, tag="serve")
    with pytest.raises(UsageError, match="signature and tag select from a file"):
        library.load(b"", tag="serve")


def test_info_names_the_form(forms: Path, tfprof: Command) -> None:
    assert tfprof("info", str(forms / "tags_text")) == 0
    assert "saved_model.pbtxt: a SavedModel in text format\n" in tfprof.out
    assert tfprof("info", str(forms / "hub")) == 0
    assert "saved_model.pb: a SavedModel, a module of TF-Hub\n" in tfprof.out
    assert "2 tag sets: no tags (--tag=,), --tag=train" in tfprof.out
    assert "not recognised" not in tfprof.out


# --- archives ---------------------------------------------------------------------------------


def packed(folder: Path, path: Path, inside: str = "") -> Path:
    """An archive of what is in *folder*, by the name of *path*."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.writestr(f"{inside}{file.relative_to(folder)}", file.read_bytes())
        return path
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as tar:
        tar.add(folder, inside or ".")
    return path


@pytest.fixture(scope="module")
def plain(forms: Path) -> Loaded:
    return library.load(forms / "keras2")


@pytest.mark.parametrize(
    ("name", "inside"),
    [("m.tar", ""), ("m.tar.gz", "models/1/"), ("m.tgz", ""), ("m.zip", "1/"), ("odd name", "")],
)
def test_an_archive_is_read_as_its_folder_is(
    tmp_path: Path, forms: Path, plain: Loaded, name: str, inside: str
) -> None:
    archive = packed(forms / "keras2", tmp_path / name, inside)
    loaded = library.load(archive)
    # The layers are in keras_metadata.pb, and the call stacks in the debug info.
    assert loaded.profile.layers
    assert loaded.profile.layers == plain.profile.layers
    asked: dict[str, Any] = {"select": ["params"], "account_type_regexes": ["MatMul"]}
    assert str(loaded.code(**asked)) == str(plain.code(**asked))
    assert list(tmp_path.iterdir()) == [archive]


def test_a_pickle_reads_the_archive_again(tmp_path: Path, forms: Path, plain: Loaded) -> None:
    loaded = library.load(packed(forms / "keras2", tmp_path / "m.tar.gz"))
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own
    assert str(again.scope(select=EVERYTHING)) == str(plain.scope(select=EVERYTHING))


def test_info_names_the_archive(tmp_path: Path, forms: Path, tfprof: Command) -> None:
    archive = packed(forms / "hub", tmp_path / "hub.tar.gz", "hub")
    assert tfprof("info", str(archive)) == 0
    assert "hub.tar.gz: a SavedModel in an archive, a module of TF-Hub\n" in tfprof.out
    assert "its name there: hub/saved_model.pb" in tfprof.out
    assert tfprof("scope", str(archive), "--tag=train", "--select=op_types") == 0
    assert "MatMul_1 (MatMul)" in tfprof.out


def tar(files: Mapping[str, bytes | int]) -> bytes:
    """A tar archive; a number stands for so many zeros."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in files.items():
            data = bytes(content) if isinstance(content, int) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_weights_in_an_archive_are_not_held_in_memory(tmp_path: Path, forms: Path) -> None:
    model = (forms / "tags" / "saved_model.pb").read_bytes()
    weights = os.urandom(16 << 20)
    data = tar({"m/variables/variables.data-00000-of-00001": weights, "m/saved_model.pb": model})
    archive = tmp_path / "m.tar.gz"
    archive.write_bytes(gzip.compress(data, 0))
    del data
    tracemalloc.start()
    try:
        library.load(archive)
        assert tracemalloc.get_traced_memory()[1] < len(weights) // 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"notes.txt": b"x"}, "is a tar archive without a SavedModel; unpack it and name a file"),
        (
            {"1/saved_model.pb": b"x", "2/saved_model.pb": b"x"},
            "holds several SavedModels, such as 1/saved_model.pb and 2/saved_model.pb; unpack it",
        ),
        ({"saved_model.pb": b""}, "is empty"),
        ({"saved_model.pb": b"\xff" * 99}, "is damaged"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["tar", "tar.gz"])
def test_an_archive_of_something_else(
    tmp_path: Path, files: dict[str, bytes], what: str, pack: Callable[[bytes], bytes]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(pack(tar(files)))
    with pytest.raises(InputError, match=what):
        library.load(archive)


def test_a_bomb_in_an_archive_is_rejected(tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.gz"
    archive.write_bytes(gzip.compress(tar({"saved_model.pb": 160 << 20}), 1))
    with pytest.raises(InputError, match=r"unpacks to far more.*--limit_unpack_ratio"):
        library.load(archive)


def test_a_saved_model_beside_an_archive_of_keras(
    tmp_path: Path, forms: Path, tfprof: Command
) -> None:
    folder = tmp_path / "my model"
    shutil.copytree(forms / "keras2", folder)
    with zipfile.ZipFile(folder / "model.keras", "w") as archive:
        archive.writestr("config.json", '{"class_name": "Sequential", "config": {"layers": []}}')
    assert tfprof("summary", str(folder)) == 2
    keras, saved = f"'{folder}/model.keras'", f"'{folder}/saved_model.pb'"
    assert tfprof.err.count("\n") == 1
    assert (
        f"name the one to use, --graph_path={keras} (a Keras archive) "
        f"or --graph_path={saved} (a SavedModel)"
    ) in tfprof.err
    assert tfprof("summary", str(folder), f"--graph_path={folder}/saved_model.pb") == 0
