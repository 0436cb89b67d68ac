"""Shapes inferred from graphs without any: what TensorFlow infers, we do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.read import Source, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.model import Profile

BUILT: Final = (
    "elementwise contractions convolutions arrays gathered slices reductions images variables "
    "gradients flows"
)
GRAPHS: Final = (
    *(f"{name}-{share}" for name in BUILT.split() for share in (0.0, 0.1, 0.3)),
    "MobileNetV2",
    "ResNet50",
)

Shapes = dict[str, list[list[int] | None]]


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("inference")


def read(path: Path) -> Profile:
    return load(Source(path.name, np.fromfile(path, np.uint8)))


def shapes(profile: Profile) -> Shapes:
    """The shapes of all outputs by node; a scalar is [1], as in a profile."""
    start = profile.outputs.start.tolist()
    return {
        name: [profile.outputs.shape[row] or None for row in range(start[node], start[node + 1])]
        for node, name in enumerate(profile.nodes.name.texts())
    }


def of_tensorflow(path: Path) -> Shapes:
    told: Shapes = json.loads(path.with_suffix(".json").read_text())
    return {
        name: [None if one is None else one or [1] for one in outputs]
        for name, outputs in told.items()
    }


def knows(ours: list[int] | None, theirs: list[int] | None) -> bool:
    """Whether ours says all that theirs does; it may say more."""
    if theirs is None:
        return True
    return (
        ours is not None
        and len(ours) == len(theirs)
        and all(known in (-1, dim) for dim, known in zip(ours, theirs, strict=True))
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_all_that_tensorflow_infers_is_inferred(name: str, folder: Path) -> None:
    path = folder / f"{name}.pb"
    profile = read(path)
    assert not len(profile.outputs.shape), "the graph lists no shapes"
    found, expected = shapes(with_inferred_shapes(profile)), of_tensorflow(path)
    assert found.keys() == expected.keys()
    wrong = {
        (node, number): (found[node][number : number + 1], theirs)
        for node, outputs in expected.items()
        for number, theirs in enumerate(outputs)
        if not knows(next(iter(found[node][number : number + 1]), None), theirs)
    }
    assert not wrong
