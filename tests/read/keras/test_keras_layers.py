"""Every layer of Keras: an archive costs what the graph of the same model costs.

The graph is TensorFlow's of the model's call. Multiply-adds are equal. Float operations are, unless
DIFFER says why not. What has no number has a reason.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from hostile_archives import archive, layer, model
from model_files import RECORDED
from sampling import sampled
from tfprof.ops.symbols import symbols
from tfprof.read.keras import graph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALLEST: Final = 3
# Classes whose float operations are unknown, and why.
UNKNOWN: Final = {
    "AutoContrast": "it stretches each image by its own extremes, in integers",
    "ContrastLimitedAdaptiveHistogramEqualization": "its histograms depend on the image",
    "MelSpectrogram": "a Fourier transform, whose steps ops/ does not count",
    "TextVectorization": "words are split when the model runs",
    "Activation sparsemax": "it sorts",
}
# Classes that no model here has, and why; a model that has one shows ? for it.
NOT_BUILT: Final = {
    "Equalization": "Keras cannot call it with an input of a model",
    "FlaxLayer": "it runs JAX",
    "JaxLayer": "it runs JAX",
    "Lambda": "it runs a function of the user's",
    "Layer": "the base of all layers",
    "MaxNumBoundingBoxes": "it takes boxes, not tensors",
    "STFTSpectrogram": "it needs SciPy",
    "TFSMLayer": "it runs a SavedModel",
    "TorchModuleWrapper": "it runs PyTorch",
    "Wrapper": "the base of wrappers",
}
# Float operations that a graph has and an archive does not, by case.
DIFFER: Final = {
    r"(\w+ )?(LSTM|GRU|SimpleRNN)( open| state| before| backwards)?|StackedRNNCells"
    r"|Bidirectional (sum|two)"
    r"|ConvLSTM\dD.*": "a loop counts its steps",
    r"Dense relu|\w+ reverse": "one product of two dimensions, to make a matrix of a tensor",
    r"Dense int4|E\w+ int4": "two numbers share a byte; Keras takes them apart with bit operations",
    r"Embedding int8": "Keras checks the indices once more for the scales",
    r"MultiHeadAttention int8": "the configuration does not say that it is quantized",
    r"Adaptive\w+|UpSampling\dD|RepeatVector|GroupQueryAttention|Softmax axis|\w+Transpose open":
        "arithmetic with dimensions and indices",
    r"Normalization given": "Keras repeats the mean for each feature",
    r"MultiHeadAttention causal": "a mask",
    r"CategoryEncoding": "Keras checks the range of the categories",
    r"MixUp|Random\w+": "a random seed is counted up",
}  # fmt: skip
# Multiply-adds with a batch of 3 and 4 steps, of cases whose graphs are no reference: they are not
# counted in full, or Keras's TimeDistributed runs as often as the batch is large.
BY_HAND: Final = {
    "TimeDistributed": 12 * 6 * 5,
    "Model sequence": 12 * (6 + 4) * 16 + 12 * 4 * 3 + 12 * (3 + 2) * 6,
    "Bidirectional sum": 2 * 12 * (6 + 5) * 20,
}


def recorded() -> dict[str, Any]:
    """What Keras said of the cases."""
    with tarfile.open(RECORDED / "layers.tar.xz") as archive:
        file = archive.extractfile("truth.json")
        assert file is not None
        truth: dict[str, Any] = json.load(file)
        return truth


TRUTH: Final = recorded()
CASES: Final = [*TRUTH["cases"]]


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("layers")


def costs(path: Path, *outputs: str) -> tuple[dict[str, Any], bool]:
    """(the numbers for a batch of 3 and other sizes from 4 on, whether every operation counts)."""
    loaded = tfprof.load(path)
    sizes = {symbol.name: SMALLEST + at for at, symbol in enumerate(symbols(loaded.profile))}
    report = loaded.summary(dims=sizes, outputs=outputs)
    return report.total, not report.summary.counts.uncounted


@pytest.mark.sampled
@pytest.mark.parametrize("case", sampled(CASES, 20, "layers"))
def test_an_archive_costs_what_its_graph_costs(case: str, folder: Path) -> None:
    archive, is_whole = costs(folder / f"{case}.keras")
    if case in UNKNOWN:
        assert not is_whole
        return
    assert is_whole
    graph, graph_is_whole = costs(folder / f"{case}.pb", *TRUTH["cases"][case]["outputs"])
    if case in BY_HAND or not graph_is_whole:
        assert archive["multiply_adds"] == BY_HAND[case]
        return
    assert archive["multiply_adds"] == graph["multiply_adds"]
    if any(re.fullmatch(pattern, case) for pattern in DIFFER):
        assert archive["float_ops"] <= graph["float_ops"]
    else:
        assert archive["float_ops"] == graph["float_ops"]


@pytest.mark.sampled
@pytest.mark.parametrize("case", sampled(CASES, 20, "weights of layers"))
@pytest.mark.parametrize("with_h5py", [True, False])
def test_an_archive_has_the_parameters_that_keras_counts(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, with_h5py: bool
) -> None:
    truth = TRUTH["cases"][case]
    if not with_h5py:
        monkeypatch.setitem(sys.modules, "h5py", None)
        if case == "MultiHeadAttention int8":
            truth = TRUTH["cases"]["MultiHeadAttention"]  # only the weights are quantized
    total, _ = costs(folder / f"{case}.keras")
    counters = 1 if case == "Normalization" else 0  # Keras counts examples in it
    assert total["parameters"] == truth["parameters"] - counters
    assert (total.get("trainable") or 0) == truth["trainable"]


def test_every_layer_of_keras_is_counted_or_has_a_reason() -> None:
    built = {case.split()[0] for case in CASES} - {"Model"}
    assert not built & NOT_BUILT.keys()
    assert built | NOT_BUILT.keys() == set(TRUTH["classes"])
    graph.row_of("Dense")
    alone = {case for case in UNKNOWN if " " not in case}
    # Cells on top of each other are part of another layer; an input is a placeholder.
    assert graph.LAYERS.keys() == built - alone - {"StackedRNNCells", "InputLayer"}


def test_many_wrappers_one_after_another(tmp_path: Path) -> None:
    """Twelve layers, each 3 steps of 4 by 4: only wrappers inside wrappers are limited."""
    file = tmp_path / "wrapped.keras"
    given = layer("InputLayer", "x", batch_shape=[None, 3, 4])
    built = {"build_config": {"input_shape": [None, 3, 4]}}
    each = [
        {**layer("TimeDistributed", f"t{at}", layer=layer("Dense", f"d{at}", units=4)), **built}
        for at in range(12)
    ]
    file.write_bytes(archive({"config.json": model(given, *each)}))
    report = tfprof.load(file).summary(dims={"batch": 1})
    assert report.total["multiply_adds"] == 12 * 3 * 4 * 4
    assert not report.total_incomplete
