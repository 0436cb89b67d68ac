"""Code view has one row per layer below a line that runs a whole Keras model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from tfprof.capture.keras_layers import layers_of
from tfprof.tables.formats import GRAPH, OP_LOG, RUN, sample_files
from tfprof.views import code_view

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked
    from tfprof.results.report import Report

# What the program prints: the layers of Keras itself, with their classes and parameters.
PROGRAM = """if True:
    import importlib, inspect, json, sys
    import numpy as np, tfprof
    folder, name, recurrent = sys.argv[1:]
    keras = importlib.import_module(name)
    layers = keras.layers
    inner = keras.Sequential([layers.Dense(5), layers.Dense(6)], name="inner")
    start = keras.Input((6, 6, 3))
    x = layers.Conv2D(4, 3, activation="relu")(start)
    x = layers.BatchNormalization()(x)
    x = layers.Flatten()(x)
    if recurrent:
        x = layers.LSTM(4)(layers.Reshape((8, 8))(x))
    x = inner(x)
    x = layers.Dense(3)(x)
    model = keras.Model(start, layers.Dense(2)(x))
    model.compile("sgd", "mse")
    data = np.zeros([4, 6, 6, 3], np.float32), np.zeros([4, 2], np.float32)
    with tfprof.capture(folder) as run, run.step():
        model.fit(*data, batch_size=4, verbose=0)  # the line
    live = tfprof.load(model).code(max_depth=100, select=["params", "float_ops"])  # another

    def described(layer, path=()):
        named = (*path, f"{layer.name} ({type(layer).__name__})")
        yield [*named], layer.count_params()
        for child in getattr(layer, "layers", ()):
            yield from described(child, named)

    rows = [row for layer in model.layers for row in described(layer)]
    print(json.dumps([rows, [[r.depth, r.name, r.total_params] for r in live]]))
"""


def paths(rows: list[tuple[int, str, int]]) -> dict[tuple[str, ...], int]:
    """The parameters of each path of layers, without what is above them."""
    result = {}
    path: list[str] = []
    for depth, name, params in rows:
        path[depth - 1 :] = [name]
        layers = tuple(part.removeprefix("layer ") for part in path if part.startswith("layer "))
        if layers:
            result[layers] = params
    return result


def of_report(report: Report) -> list[tuple[int, str, int]]:
    return [(row.depth, row.name, row.total_params) for row in report.rows]


@pytest.mark.parametrize(
    ("keras", "recurrent"),
    [
        ("keras", ""),
        pytest.param("keras", "recurrent", marks=pytest.mark.whole),
        pytest.param("tf_keras", "recurrent", marks=pytest.mark.whole),
    ],
)
def test_layers_below_the_line_of_fit(
    tensorflow: Forked, tmp_path: Path, keras: str, recurrent: str
) -> None:
    folder, program = tmp_path / "log", tmp_path / "program.py"
    program.write_text(PROGRAM)
    out = tensorflow.script(program, str(folder), keras, recurrent)
    layers, live = json.loads(out.splitlines()[-1])
    # Layers that compute nothing, such as inputs, have no nodes.
    expected = {tuple(path): params for path, params in layers if "InputLayer" not in path[-1]}

    options: dict[str, Any] = {"select": ["params", "micros"], "max_depth": 100}
    loaded = tfprof.load(folder)
    report = loaded.code(**options)
    found = paths(of_report(report))
    forward = {path: n for path, n in found.items() if "(gradient)" not in path[0]}
    assert forward == expected
    assert paths(live) == expected
    texts = enumerate(PROGRAM.splitlines(), 1)
    line = next(number for number, text in texts if text.endswith("# the line"))
    parents = {report.rows[row.parent or 0].name for row in report if row.name.startswith("layer ")}
    lines = {name for name in parents if not name.startswith("layer ")}
    assert lines == {f"program.py:{line}:<module>", f"program.py:{line}:<module> (gradient)"}

    # All frames: the original has no such rows. No number is lost either way.
    every = loaded.code(**options, frames="all")
    assert not paths(of_report(every))
    others = [row for row in report.rows if not row.name.startswith("layer ")]
    for one, other in zip(others, every.rows, strict=True):
        assert one.name == other.name
        assert (one.total_params, one.total_micros) == (other.total_params, other.total_micros)
    assert str(loaded.code(**options, era="original")) == str(every)
    # A saved profile has them, too.
    loaded.save(tmp_path / "saved.pb")
    loaded.convert(tmp_path / "converted.tfprof")
    for name in ("saved.pb", "converted.tfprof"):
        again = tfprof.load(profile=tmp_path / name)
        assert paths(of_report(again.code(**options))) == found


class Layer:
    """As far as a model of Keras matters here."""

    def __init__(self, name: str, *layers: Layer) -> None:
        self.name, self.layers = name, layers


@pytest.mark.parametrize(
    ("scopes", "names"),
    [
        ("dense dense_1 dense_2", "dense dense_1 dense_2"),  # Keras 2
        ("dense_1 dense_1_2 dense_2_1", "dense dense_1 dense_2"),  # Keras 3
        ("dense_1 dense_2", "dense dense"),  # one layer, called twice
        ("dense_1 other", "dense -"),
        ("conv2d_1_2", "conv2d"),
    ],
)
def test_scopes_and_names_of_layers(scopes: str, names: str) -> None:
    model = Layer("net", *(Layer(name) for name in dict.fromkeys(names.split()) if name != "-"))
    nodes = [f"net_1/{scope}/MatMul" for scope in scopes.split()]
    found = layers_of(model, [*nodes, "net", "loss/dense/Sub", "MatMul"])
    expected = {
        node: (f"{name} (Layer)",)
        for node, name in zip(nodes, names.split(), strict=True)
        if name != "-"
    }
    assert found == expected


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("frames", ["auto", "all", "fold"])
def test_long_stacks_are_drawn_as_short_ones(
    together: int, frames: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sample_files()
    arguments = files[GRAPH.name], files[RUN.name], files[OP_LOG.name]

    def drawn() -> str:
        return tfprof.load(*arguments).code(max_depth=99, select=["micros"], frames=frames).text()

    expected = drawn()
    monkeypatch.setattr(code_view, "_TOGETHER", together)
    assert drawn() == expected
