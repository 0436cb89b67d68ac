"""Known models have the multiply-adds that are published for them, and nothing is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from model_files import APPLICATIONS as MODELS
from tfprof.ops.counting import count
from tfprof.ops.table import rules
from tfprof.read import Source, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.model import Profile
    from tfprof.ops.table import Which


# Multiply-adds of one image, of 224 by 224 unless said otherwise.
PUBLISHED: Final = {
    # As first published, with the stride in the first convolution of a block; the one with the
    # stride in the second has 4.1 billion. He and others, table 1, round it to 3.8.
    "ResNet50": 3.86e9,  # Hu and others, Squeeze-and-Excitation Networks, 2018, section 4
    "MobileNet": 569e6,  # Howard and others, MobileNets, 2017, table 8
    "Xception": 8.38e9,  # of 299 by 299; Zoph and others, Transferable Architectures, 2018
    # What torchvision says of its own, which are the same networks.
    "MobileNetV2": 0.301e9,
    "EfficientNetB0": 0.386e9,
    "InceptionV3": 5.713e9,  # of 299 by 299
    "VGG16": 15.470e9,
    "VGG19": 19.632e9,
    "DenseNet121": 2.834e9,
    "ConvNeXtTiny": 4.456e9,
    "DenseNet169": 3.36e9,
    "DenseNet201": 4.291e9,
    "MobileNetV3Small@224": 0.057e9,
    "MobileNetV3Large@224": 0.217e9,
    "EfficientNetB1": 0.687e9,  # of 240 by 240
    "EfficientNetB2@288": 1.088e9,
    "EfficientNetB3": 1.827e9,  # of 300 by 300
    # He and others, Deep Residual Learning, 2015, table 1
    "ResNet101": 7.6e9,
    "ResNet152": 11.3e9,
    # Zoph and others, Transferable Architectures, 2018, tables 2 and 3
    "InceptionResNetV2": 13.2e9,  # of 299 by 299
    "NASNetMobile": 564e6,  # and the README of tensorflow/models, research/slim/nets/nasnet
    "EfficientNetV2B0": 0.72e9,  # the README of google/automl/efficientnetv2
}


@pytest.fixture(scope="module")
def models(model_folder: Callable[[str], Path]) -> dict[str, Profile]:
    folder = model_folder("keras")
    files = {name: np.fromfile(folder / f"{name}.pb", np.uint8) for name in MODELS}
    return {name: load(Source(name, data)) for name, data in files.items()}


def contracted(profile: Profile, which: Which) -> int:
    """The float operations of products and convolutions."""
    table = rules(which)
    marked = [
        number
        for number, op in enumerate(profile.types.texts())
        if op in table and (table[op].contraction or table[op].multiply_adds)
    ]
    return int(count(profile, which).float_ops[np.isin(profile.nodes.op, marked)].sum())


@pytest.mark.parametrize("name", PUBLISHED)
def test_multiply_adds_are_those_published(name: str, models: dict[str, Profile]) -> None:
    assert contracted(models[name], "all") / 2 == pytest.approx(PUBLISHED[name], rel=0.01)


def test_products_of_a_transformer_are_exact(models: dict[str, Profile]) -> None:
    tokens, features, wide, words, blocks = 128, 256, 1024, 1000, 2
    projections = 4 * tokens * features * features  # queries, keys, values, outputs
    attention = 2 * tokens * tokens * features  # queries times keys, weights times values
    dense = 2 * tokens * features * wide
    expected = 2 * (blocks * (projections + attention + dense) + tokens * features * words)
    assert contracted(models["transformer"], "all") == expected == 501_743_616
    # TensorFlow counts no Einsum, which is what attention is.
    assert contracted(models["transformer"], "tensorflow") == expected - 2 * blocks * attention


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_left_out(name: str, models: dict[str, Profile]) -> None:
    counts = count(models[name], "all")
    assert counts.uncounted == ()
    assert counts.ops > (50 if name.startswith("VGG") else 90)
    # What is not a product is there, and small.
    products = contracted(models[name], "all")
    assert products < int(counts.float_ops.sum()) < 1.1 * products


@pytest.mark.parametrize("name", MODELS)
def test_tensorflow_alone_counts_less(name: str, models: dict[str, Profile]) -> None:
    original, ours = (count(models[name], which) for which in ("tensorflow", "all"))
    assert 0 < int(original.float_ops.sum()) < int(ours.float_ops.sum())
    assert {kind.why for kind in original.uncounted} == {"no rule"}
