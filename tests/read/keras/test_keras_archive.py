"""Archives by hand: what is told of them, and that none of them breaks anything but itself."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
import zipfile
from typing import Any, Final

import h5py
import numpy as np
import pytest

from tfprof.errors import InputError
from tfprof.read import Source
from tfprof.read.keras.archive import read_keras
from tfprof.read.keras.weight_rules import weights
from tfprof.read.keras.weights import snake
from tfprof.results.loaded import Loaded

BATCH: Final = [None, 6]
Places = dict[str, tuple[int, ...]]
DENSE: Final[Places] = {"layers/dense/vars/0": (6, 4), "layers/dense/vars/1": (4,)}


def layer(kind: str, name: str, build: Any = None, **config: Any) -> dict[str, Any]:
    built = {} if build is None else {"build_config": {"input_shape": build}}
    return {
        "module": "keras.layers", "class_name": kind, "config": {"name": name, **config}, **built,
    }  # fmt: skip


def model(*layers: Any, name: str = "net", kind: str = "Sequential", **config: Any) -> Any:
    return {"class_name": kind, "config": {"name": name, "layers": list(layers), **config}}


def weights_file(places: Places, dtype: str = "float32") -> bytes:
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        for place, shape in places.items():
            file.create_dataset(place, shape, dtype)
    return made.getvalue()


def archive(config: Any, stored: bytes | None = None, *, packed: bool = False) -> Source:
    """An archive; a configuration that is bytes already stands as it is."""
    made = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    told = config if isinstance(config, bytes) else json.dumps(config).encode()
    with zipfile.ZipFile(made, "w", how) as file:
        file.writestr("metadata.json", "{}")
        file.writestr("config.json", told)
        if stored is not None:
            file.writestr("model.weights.h5", stored)
    return Source("a.keras", np.frombuffer(made.getvalue(), np.uint8))


def parameters(source: Source) -> dict[str, int]:
    report = Loaded(read_keras(source)).summary(depth=1)
    return {row["name"]: row["parameters"] for row in report.rows}


TWO: Final = model(
    layer("Dense", "b", BATCH, units=4),
    layer("Dense", "a", [None, 4], units=2, use_bias=False),
    layer("ReLU", "r"),
)


@pytest.mark.parametrize("packed", [False, True])
def test_weights_belong_to_layers_by_class_and_number(*, packed: bool) -> None:
    places = {**DENSE, "layers/dense_1/vars/0": (4, 2), "optimizer/vars/0": (6, 4)}
    places |= {"layers/dropout/seed_generator/vars/0": (2,)}
    source = archive(TWO, weights_file(places), packed=packed)
    assert parameters(source) == {"b": 28, "a": 8, "r": 0}
    profile = read_keras(source)
    assert [name.decode() for name in profile.nodes.name] == [
        "net/b/kernel", "net/b/bias", "net/a/kernel", "net_input",
        "net/b/kernel/Read/ReadVariableOp", "net/b/MatMul",
        "net/b/bias/Read/ReadVariableOp", "net/b/BiasAdd",
        "net/a/kernel/Read/ReadVariableOp", "net/a/MatMul",
        "net/r/Relu",
    ]  # fmt: skip
    assert profile.notes == ()


def test_without_h5py_the_configuration_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    source = archive(TWO, b"never looked at")
    assert parameters(source) == {"b": 28, "a": 8, "r": 0}
    (note,) = read_keras(source).notes
    assert "install h5py to read them" in str(note)


@pytest.mark.parametrize("declared", [99, 4 << 20])
def test_what_is_packed_costs_no_more_than_it_declares(declared: int) -> None:
    """The size in the directory is checked, but so much is there as the packed bytes hold."""
    source = archive(b"0" * (256 << 20), packed=True)
    data = bytearray(source.data)
    for at in (data.index(b"config.json") - 30, data.rindex(b"config.json") - 46):
        end = at + (26 if data[at : at + 4] == b"PK\3\4" else 28)
        data[end - 4 : end] = declared.to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"config\.json is not what the archive declares"):
            read_keras(Source("a.keras", np.frombuffer(data, np.uint8)))
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_types_are_those_of_the_file() -> None:
    one = model(layer("Dense", "b", BATCH, units=4))
    for dtype, size in (("float16", 2), ("float64", 8), ("V2", 2)):
        report = Loaded(read_keras(archive(one, weights_file(DENSE, dtype)))).summary()
        assert report.total["parameter_bytes"] == 28 * size


def test_layers_of_ones_own_have_what_is_kept_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    own = archive(
        model(layer("Gate", "g"), layer("Dense", "d", BATCH, units=1)),
        weights_file({"layers/gate/inner/vars/0": (7,), "layers/dense/vars/0": (6, 1)}),
    )
    assert parameters(own) == {"g": 7, "d": 6}
    # Whether these are trained is a guess, which does not spoil what is known of others.
    assert Loaded(read_keras(own)).summary().total["trainable"] == 13
    (note,) = read_keras(own).notes
    assert "does not record whether weights of Gate are trainable" in str(note)
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert any("weights of Gate are unknown" in str(note) for note in read_keras(own).notes)
    report = Loaded(read_keras(own)).summary()
    assert [row["parameters"] for row in report.rows] == [None, 7]
    assert report.total["parameters"] == report.total["trainable"] == 7
    assert {"parameters", "trainable", "parameter_bytes"} <= set(report.total_incomplete)
    assert "Parameters        ≥ 7 (≥ 7 trainable, ? not)\n" in str(report)
    assert any(one.startswith("Parameters: at least these.") for one in report.sentences)


def test_weights_that_nobody_knows_are_not_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    config = {"class_name": "Mine", "config": {"name": "mine"}}
    report = Loaded(read_keras(archive(config, b"never looked at"))).summary()
    assert report.total["parameters"] is report.total["parameter_bytes"] is None


@pytest.mark.parametrize("read", [True, False])
def test_a_kernel_that_is_kept_twice_counts_once(
    monkeypatch: pytest.MonkeyPatch, *, read: bool
) -> None:
    inner = layer("Dense", "inner", BATCH, units=4)
    places = {"layer/vars/0": (6, 4), "layer/vars/1": (4,), "vars/0": (6, 4), "vars/1": (1, 4)}
    kept = weights_file({f"layers/spectral_normalization/{at}": of for at, of in places.items()})
    source = archive(model(layer("SpectralNormalization", "s", BATCH, layer=inner)), kept)
    if not read:
        monkeypatch.setitem(sys.modules, "h5py", None)
    total = Loaded(read_keras(source)).summary().total
    assert (total["trainable"], total["non_trainable"]) == (28, 4)


@pytest.mark.parametrize("read", [True, False])
def test_whole_numbers_are_not_trained(monkeypatch: pytest.MonkeyPatch, *, read: bool) -> None:
    policy = {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8"}}
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        file.create_dataset("layers/dense/vars/0", (6, 4), "int8")
        file.create_dataset("layers/dense/vars/1", (4,), "float32")
        file.create_dataset("layers/dense/vars/2", (4,), "float32")
        file.create_dataset("layers/normalization/vars/0", (4,), "float32")
        file.create_dataset("layers/normalization/vars/1", (4,), "float32")
        file.create_dataset("layers/normalization/vars/2", (), "int64")
    config = model(
        layer("Dense", "d", BATCH, units=4, dtype=policy),
        layer("Normalization", "n", [None, 4], axis=[-1]),
    )
    if not read:
        monkeypatch.setitem(sys.modules, "h5py", None)
    report = Loaded(read_keras(archive(config, made.getvalue()))).summary()
    assert (report.total["trainable"], report.total["non_trainable"]) == (4, 36)
    assert report.total["parameter_bytes"] == 24 + 16 + 16 + 32
    assert any("1 integer variable" in one for one in report.sentences)


def test_layers_without_a_rule_are_known_to_be_trained_all_the_same() -> None:
    config = model(layer("ConvLSTM2D", "c"), layer("GroupQueryAttention", "g"))
    places = {"conv_lstm2d/cell/vars/0": (3, 3), "grouped_query_attention/_key_dense/vars/0": (5,)}
    source = archive(config, weights_file({f"layers/{at}": of for at, of in places.items()}))
    assert parameters(source) == {"c": 9, "g": 5}
    assert Loaded(read_keras(source)).summary().total["trainable"] == 14


def test_where_nothing_is_trained_that_is_told() -> None:
    config = model(layer("Dense", "b", BATCH, units=4), trainable=False)
    source = archive(config, weights_file(DENSE))
    report = Loaded(read_keras(source)).summary()
    assert (report.total["trainable"], report.total["non_trainable"]) == (0, 28)
    assert not any("Trainable: unknown" in one for one in report.sentences)


def test_a_model_that_lists_no_layers_has_those_of_its_weights() -> None:
    config = {"class_name": "Mine", "config": {"name": "mine"}}
    stored = weights_file({"first/vars/0": (3, 3), "second/cell/vars/0": (5,), "vars/0": (2,)})
    report = Loaded(read_keras(archive(config, stored))).summary(depth=1)
    assert report.total["parameters"] == 16


def test_what_is_not_trained_is_told() -> None:
    source = archive(
        model(
            layer("BatchNormalization", "norm", [None, 5]),
            layer("Dense", "head", [None, 5], units=1, trainable=False),
        ),
        weights_file(
            {f"layers/batch_normalization/vars/{at}": (5,) for at in range(4)}
            | {"layers/dense/vars/0": (5, 1), "layers/dense/vars/1": (1,)}
        ),
    )
    total = Loaded(read_keras(source)).summary().total
    assert (total["trainable"], total["non_trainable"]) == (10, 16)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("Dense", "dense"), ("Conv2D", "conv2d"), ("Conv2DTranspose", "conv2d_transpose"),
        ("ReLU", "re_lu"), ("LSTM", "lstm"), ("MultiHeadAttention", "multi_head_attention"),
        ("ConvLSTM2D", "conv_lstm2d"), ("GlobalAveragePooling2D", "global_average_pooling2d"),
    ],
)  # fmt: skip
def test_classes_are_spelled_as_keras_spells_them(name: str, spelled: str) -> None:
    assert snake(name) == spelled


NO_MODEL: Final = "its config.json is not that of a Keras model"


@pytest.mark.parametrize(
    "config",
    [
        b"",
        b"{",
        b"[1]",
        b'"text"',
        b"{}",
        b'{"config": []}',
        b'{"config": {"layers": [1]}, "class_name": "A"}',
        b'{"config": {"layers": [{"config": {}}]}, "class_name": "A"}',
        b'{"config": ' * 5_000,
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"config": {"layers": [{"class_name": "Dense", "config": 3}]}, "class_name": "A"}',
    ],
)
def test_a_configuration_of_anything_else_is_refused(config: bytes) -> None:
    with pytest.raises(InputError, match=NO_MODEL):
        read_keras(archive(config))


@pytest.mark.parametrize(
    "odd",
    [
        {"units": -1}, {"units": 10**30}, {"units": "many"}, {"units": None}, {"units": 2.5},
        {"name": "\ud800/^x:0\n"}, {"name": ""}, {"dtype": 3}, {"dtype": {"config": {"name": []}}},
    ],
)  # fmt: skip
def test_an_odd_layer_is_read_as_far_as_it_goes(
    odd: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    config = model(layer("Dense", **{"name": "d", "units": 4, **odd}, build=BATCH))
    profile = read_keras(archive(config))
    kinds = [op.decode() for op in profile.types.take(profile.nodes.op)]
    # What the layer computes with its weights, or one node for what is not known.
    assert kinds[-1] == ("BiasAdd" if kinds.count("VarHandleOp") > 1 else "Dense")


@pytest.mark.parametrize("kind", ["EinsumDense", "MultiHeadAttention", "Bidirectional", "Conv2D"])
@pytest.mark.parametrize("config", [{}, {"layer": 1, "equation": 2}, {"filters": []}])
def test_a_layer_that_does_not_tell_enough_tells_nothing(kind: str, config: dict[str, Any]) -> None:
    assert weights(kind, config, {}) is None
    assert weights(kind, config, {"input_shape": "wide"}) is None


def test_damaged_archives_are_refused() -> None:
    whole = archive(TWO, weights_file({"layers/dense/vars/0": (6, 4)}), packed=True).data
    for length in range(0, whole.size, 97):
        with pytest.raises(InputError):
            read_keras(Source("a.keras", whole[:length]))
    refused = 0
    for at in range(40, whole.size, 13):
        damaged = whole.copy()
        damaged[at] ^= 0xFF
        try:
            read_keras(Source("a.keras", damaged))
        except InputError:
            refused += 1
    assert refused > 10


def test_shapes_that_no_tensor_has_are_refused() -> None:
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        file.create_dataset("vars/0", (2**40, 2**40), "float32", chunks=(1, 1))
    with pytest.raises(InputError, match="has an impossible shape"):
        read_keras(archive(TWO, made.getvalue()))


def test_weights_that_are_no_hdf5_are_refused() -> None:
    with pytest.raises(InputError, match="its weights cannot be read"):
        read_keras(archive(TWO, b"not HDF5"))


def test_what_unpacks_to_far_too_much_is_refused() -> None:
    bomb = b'{"a": "' + b"0" * (80 << 20) + b'"}'
    with pytest.raises(InputError, match=r"config\.json unpacks to 83,886,089 bytes"):
        read_keras(archive(bomb, packed=True))


def test_what_is_no_archive_of_keras_is_refused() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("readme", "hello")
    with pytest.raises(InputError, match=r"has no config\.json"):
        read_keras(Source("a.keras", np.frombuffer(made.getvalue(), np.uint8)))


def test_layers_that_were_not_built_have_unknown_weights() -> None:
    # What Keras 3.14 saves of Sequential([Dense(4), ReLU()]) without an input: no build_config, and
    # groups of weights without any.
    config = model(layer("Dense", "a", units=4), layer("ReLU", "r"))
    report = Loaded(read_keras(archive(config, weights_file({})))).summary()
    assert report.total["parameters"] is None
    said = "The file holds no weights of a (Dense): the model was saved before it was built."
    assert said in report.sentences
    # A layer that is built beside one that is not: at least its own.
    both = model(layer("Dense", "a", BATCH, units=4), layer("Dense", "b", units=2))
    report = Loaded(read_keras(archive(both, weights_file(DENSE)))).summary()
    assert report.total["parameters"] == 28
    assert "parameters" in report.total_incomplete
