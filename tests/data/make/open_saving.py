"""Saves models twice: with open dimensions as a SavedModel, and traced with sizes as a GraphDef.

    @model("frames B T 12")          an input called frames; letters are open dimensions
    def stacked() -> …

saved("stacked", …)  →  FOLDER/stacked/saved_model.pb    frames is ?x?x12
                        FOLDER/stacked.pb                frames is 3x7x12; TensorFlow's own shapes
and FOLDER/sizes.json: {"stacked": {"batch": 3, "frames_1": 7}}.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import tensorflow as tf

from open_sizes import SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS: Final[list[Model]] = []


class Input(NamedTuple):
    """An input: `[name, dtype, *dimensions]`."""

    name: str
    dtype: str
    dims: list[str]

    @property
    def open_spec(self) -> Any:
        dims = [None if dim in SIZES else int(dim) for dim in self.dims]
        return tf.TensorSpec(dims, self.dtype, self.name)

    @property
    def fixed_spec(self) -> Any:
        dims = [SIZES[dim] if dim in SIZES else int(dim) for dim in self.dims]
        return tf.TensorSpec(dims, self.dtype, self.name)

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each open dimension, as tfprof names them."""
        return {
            f"{self.name}_{axis}" if axis else "batch": SIZES[dim]
            for axis, dim in enumerate(self.dims)
            if dim in SIZES
        }


class Model(NamedTuple):
    """A function that builds a model, and the model's inputs."""

    name: str
    build: Callable[..., Any]
    inputs: list[Input]


def model(*inputs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the function below as a builder of a model with these inputs."""

    def decorate(build: Callable[..., Any]) -> Callable[..., Any]:
        parsed = []
        for text in inputs:
            name, *dims = text.split()
            kinds = ("int32", "int64", "string", "bool")
            dtype = dims.pop(0) if dims[0] in kinds else "float32"
            parsed.append(Input(name, dtype, dims))
        MODELS.append(Model(build.__name__, build, parsed))
        return build

    return decorate


def write(folder: str, save: Callable[[Model, str], Callable[..., Any]]) -> None:
    """Write all models; *save* saves one with open dimensions and returns its function."""
    sizes = {}
    for made in MODELS:
        tf.keras.backend.clear_session()
        path = Path(folder, made.name)
        called = tf.function(save(made, str(path)))
        for part in path.iterdir():  # what is read is the graph
            if part.name != "saved_model.pb":
                shutil.rmtree(part) if part.is_dir() else part.unlink()
        # Below one more function, so that what no output needs is left out.
        whole = tf.function(lambda *given, called=called: called(*given))
        traced = whole.get_concrete_function(*(one.fixed_spec for one in made.inputs))
        graph = traced.graph.as_graph_def(add_shapes=True)
        path.with_suffix(".pb").write_bytes(graph.SerializeToString())
        sizes[made.name] = {name: size for one in made.inputs for name, size in one.sizes.items()}
    Path(folder, "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
