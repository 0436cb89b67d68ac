"""A .keras archive: the layers of a model and their weights, as a graph of layers.

    zip ─┬─ config.json          layers, how each is configured, what takes what from whom
         └─ model.weights.h5     the weights, by class and number of their layers

    net/conv1/Conv2D    a layer: its class is the type, the layers before it and its weights its
    net/conv1/kernel    inputs; a variable with its shape

There is no telling from it what the layers compute, nor how much that is.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Profile
from tfprof.read import graph_def
from tfprof.read.keras_model import Model
from tfprof.read.keras_weights import Bytes, contents
from tfprof.read.merge import with_graph, with_types
from tfprof.read.variable_collections import TYPE, with_trainable
from tfprof.tables.limits import beyond, unpacked_most
from tfprof.wire.decode import buffer_view
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.keras_weights import Contents
    from tfprof.read.source import Source

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.weights.h5"
_LOCAL_HEADER: Final = 30
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_JSON_GROWS: Final = 16
_TYPE_TAG: Final = b"\x30"  # AttrValue.type


def read_keras(source: Source) -> Profile:
    """The layers and weights of the archive *source*; raises InputError."""
    try:
        config, stored = _opened(source)
        model = Model(stored)
        model.read(config)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as problem:
        raise InputError(f"{source.name} is a damaged Keras archive: {problem}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{source.name}: its {CONFIG} is not that of a Keras model") from None
    return _profile(model, source.name)


def _opened(source: Source) -> tuple[Any, Contents | None]:
    """The configuration, and what is known of the weights; None where that is nothing."""
    view = buffer_view(source.data)
    archive = zipfile.ZipFile(io.BufferedReader(Bytes(view)))
    names = set(archive.namelist())
    if CONFIG not in names:
        raise InputError(f"{source.name} has no {CONFIG}; expected a Keras archive")
    config = json.loads(bytes(_member(archive, CONFIG, view, source.name)))
    if WEIGHTS not in names:
        return config, None
    return config, contents(_member(archive, WEIGHTS, view, source.name), source.name)


def _member(archive: zipfile.ZipFile, name: str, view: memoryview, file: str) -> memoryview:
    """The content of a member; what is not packed stays where it is."""
    info = archive.getinfo(name)
    # Other packings take any amount of memory to open, and Keras uses none of them.
    if info.compress_type not in _PACKINGS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile(f"{name} is encrypted or packed in an unusual way")
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size:
        at = info.header_offset
        lengths = int.from_bytes(view[at + 26 : at + 28], "little")
        lengths += int.from_bytes(view[at + 28 : at + 30], "little")
        begin = at + _LOCAL_HEADER + lengths
        if begin + info.file_size > len(view):
            raise zipfile.BadZipFile(f"{name} is cut off")
        return view[begin : begin + info.file_size]
    # What JSON becomes takes many times as much as its text.
    if info.file_size > unpacked_most(len(view)) // (_JSON_GROWS if name == CONFIG else 1):
        raise InputError(
            f"{file}: {name} unpacks to {info.file_size:,} bytes; tfprof accepts "
            f"{beyond('unpack_ratio')}"
        )
    return memoryview(archive.read(info))


def _profile(model: Model, file: str) -> Profile:
    graph: Any = message("tensorflow.GraphDef")()
    node = {layer.path: f"{layer.path}/{layer.kind}" for layer in model.layers}
    trained: list[bytes] = []
    for layer in model.layers:
        names = [f"{layer.path}/{one.name}" for one in layer.held]
        for name, one in zip(names, layer.held, strict=True):
            made = graph.node.add(name=name, op="VarHandleOp")
            if one.shape is not None:
                dims = made.attr["shape"].shape
                dims.dim.extend(dims.Dim(size=length) for length in one.shape)
            made.attr["dtype"].MergeFromString(_TYPE_TAG + bytes([one.type]))
            if one.trained:
                trained.append(name.encode())
        before = [node[one] for one in layer.inputs if one in node]
        graph.node.add(name=node[layer.path], op=layer.kind, input=[*before, *names])
    data = np.frombuffer(graph.SerializeToString(), np.uint8)
    profile = with_graph(Profile(), replace(graph_def.columns(data), file=file))
    if model.tells_trained:
        profile = with_trainable(profile, Strings.of(trained))
        # Where none is trained that is told, too: the type is known, and nothing has it.
        types, _ = with_types(profile.types, Strings.of([TYPE]))
        profile = replace(profile, types=types, _kept={})
    return replace(profile, notes=(*profile.notes, *_notes(model, file)), _kept={})


def _notes(model: Model, file: str) -> Iterator[Note]:
    if model.stored is None:
        yield Note(
            f"{file}: the weights are told from the configuration of the layers; "
            "with h5py installed they are read",
            ours=True,
        )
    if model.untold:
        kinds = ", ".join(dict.fromkeys(model.untold))
        yield Note(f"{file}: the weights of {kinds} are not known without h5py", ours=True)
    if model.guessed and model.tells_trained:
        kinds = ", ".join(dict.fromkeys(model.guessed))
        yield Note(
            f"{file}: whether weights of {kinds} are trained is not told; they count as trainable",
            ours=True,
        )
