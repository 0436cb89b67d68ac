"""Trains a small Keras model and shows what it costs, and where the time of `fit` goes.

    python examples/keras_fit.py FOLDER        (needs tensorflow; takes seconds on a CPU)

It writes three things that tfprof reads, on any machine and without TensorFlow:

    FOLDER/model.keras       the model, as `model.save` writes it
    FOLDER/exported_model    the same model as a SavedModel, as `model.export` writes it
    FOLDER/log               three batches of `fit`, as `tfprof.capture_callback` records them

No data set is needed: the images are random.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np

import tfprof

BATCH = 32


def main(arguments: list[str] | None = None) -> None:
    """Build a model, train it, and show it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)

    model = build()
    _show("What the model costs for one batch", tfprof.load(model).summary(dims={"batch": BATCH}))

    train(model, folder / "log")
    model.save(folder / "model.keras")
    model.export(folder / "exported_model", verbose=False)

    run = tfprof.load(folder / "log")
    by_type = run.op(select=["micros", "float_ops"], order_by="micros", min_micros=1)
    _show("Where the time of three batches goes, by operation type", by_type)
    by_line = run.code(select=["micros", "float_ops"], order_by="micros", min_micros=1)
    _show("The same by line of Python", by_line)


def build() -> Any:
    """A convolutional network for images of 28 x 28 pixels."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input([28, 28, 1]),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ],
        name="digits",
    )


def train(model: Any, log: Path) -> None:
    """Train on random images; batches 5 to 7 are recorded in *log*."""
    rng = np.random.default_rng(seed=1)
    images = rng.random([10 * BATCH, 28, 28, 1], np.float32)
    digits = rng.integers(10, size=10 * BATCH)
    model.compile("adam", "sparse_categorical_crossentropy")
    record = tfprof.capture_callback(log, batches=(5, 7))
    model.fit(images, digits, batch_size=BATCH, verbose=0, callbacks=[record])


def _show(title: str, report: object) -> None:
    sys.stdout.write(f"\n=== {title} ===\n{report}\n")


if __name__ == "__main__":
    main()
