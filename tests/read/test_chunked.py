"""Chunked SavedModels: what TensorFlow's C++ reads is read to the model that was chunked."""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any, Final

import brotli
import pytest

import paths
import tfprof
from chunked_models import SIGNATURE, cpb, highway_hash, riegeli
from sampling import sampled
from tf_wheel import piece
from tfprof.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked

DATA: Final = paths.DATA / "tf2"
SavedModel: Any = piece("tensorflow.core.protobuf.saved_model_pb2").SavedModel
EVERYTHING: Final = ["params", "float_ops", "op_types", "input_shapes"]


def saved(name: str) -> Any:
    return SavedModel.FromString((DATA / name / "saved_model.pb").read_bytes())


def written(tmp_path: Path, data: bytes) -> Path:
    (tmp_path / "saved_model.cpb").write_bytes(data)
    return tmp_path


def report(path: Path) -> str:
    return str(tfprof.load(path).scope(select=EVERYTHING, flops="all"))


def test_the_writer_has_the_checksums_of_the_first_bytes_of_every_file() -> None:
    assert riegeli([]) == SIGNATURE
    assert highway_hash(b"") == int.from_bytes(SIGNATURE[40:48], "little")


@pytest.mark.sampled
@pytest.mark.parametrize("most", sampled([200, 500, 2_000, 20_000], 2, "chunks"))
@pytest.mark.parametrize("packed", [None, brotli.compress], ids=["plain", "brotli"])
@pytest.mark.parametrize("name", ["module", "conv"])
def test_chunks_are_merged(tmp_path: Path, name: str, packed: Any, most: int) -> None:
    each = most % 3 + 1
    chunked = written(tmp_path, cpb(saved(name), most, packed, each))
    assert report(chunked) == report(DATA / name)


@pytest.mark.whole
def test_tensorflow_reads_what_the_tests_write(tmp_path: Path, tensorflow: Forked) -> None:
    files = {
        "plain": cpb(saved("module"), 500),
        "together": cpb(saved("conv"), 500, None, 4),
        "brotli": cpb(saved("conv"), 2_000, brotli.compress, 2),
    }
    files["broken"] = files["plain"][:-2] + bytes([files["plain"][-2] ^ 1]) + files["plain"][-1:]
    for name, data in files.items():
        (tmp_path / name).mkdir()
        written(tmp_path / name, data)
    worker = paths.SUPPORT / "chunked_worker.py"
    out = tensorflow.script(worker, *(str(tmp_path / name) for name in files))
    assert out.decode().split() == ["read", "read", "read", "damaged"]


def test_a_constant_of_several_blocks_is_not_needed(tmp_path: Path) -> None:
    model = saved("module")
    large = model.meta_graphs[0].graph_def.node.add(name="large", op="Const")
    large.attr["value"].tensor.tensor_content = bytes(300_000)
    small = model.meta_graphs[0].graph_def.node.add(name="small", op="Const")
    small.attr["value"].tensor.tensor_content = b"12345678" * 100
    plain = SavedModel.FromString(model.SerializeToString())
    chunked = written(tmp_path, cpb(model, 500))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "saved_model.pb").write_bytes(plain.SerializeToString())
    assert report(chunked) == report(tmp_path / "plain")


def test_a_pickle_reads_the_file_again(tmp_path: Path) -> None:
    loaded = tfprof.load(written(tmp_path, cpb(saved("module"), 500)))
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own
    assert str(again.scope(select=EVERYTHING)) == str(loaded.scope(select=EVERYTHING))


def test_without_brotli_a_sentence_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunked = written(tmp_path, cpb(saved("module"), 500, brotli.compress))
    monkeypatch.setitem(sys.modules, "brotli", None)
    with pytest.raises(InputError, match=r"is compressed with Brotli: pip install 'brotli>=1\.2'"):
        tfprof.load(chunked)


def test_another_compression_is_named(tmp_path: Path) -> None:
    data = riegeli([b"x"], lambda _: b"", compression=b"z")
    with pytest.raises(InputError, match=r"compressed with another method than Brotli; save the"):
        tfprof.load(written(tmp_path, data))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (SIGNATURE, "no records"),
        (SIGNATURE[:50], "chunk longer than the file"),
        (riegeli([b""]), "no part of a model"),
        (riegeli([b"\x0a"]), "truncated varint"),
        (riegeli([b"\x1a\x02\x08\x05"]), "no record 5 for a part"),
        (riegeli([b"x"])[:-1], "chunk longer than the file"),
        (riegeli([b"x"], lambda _: b"\x05"), "saved_model.cpb"),
    ],
)
def test_damage_is_one_sentence(tmp_path: Path, data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        tfprof.load(written(tmp_path, data))
    assert "\n" not in str(caught.value)
