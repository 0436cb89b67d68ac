"""Reads a .keras archive: the layers of a model and their weights, as a graph of layers.

    zip ─┬─ config.json          the layers, their configuration and connections
         └─ model.weights.h5     the weights, by class and number of their layers

    net/conv1/Conv2D    a layer: its type is its class, its inputs are the previous layers
    net/conv1/kernel    and its weights; a weight is a variable with a shape

The archive does not contain what the layers compute, so float operations are unknown.
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
from tfprof.read.keras_weights import Bytes, Contents, contents
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.variable_collections import TYPE
from tfprof.tables.limits import beyond, unpacked_most
from tfprof.wire.decode import buffer_view
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.source import Source

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.weights.h5"
_LOCAL_HEADER: Final = 30
_COMPRESSIONS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
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
    """(the configuration, the weights or None if they cannot be read)."""
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
    """The content of a member; an uncompressed one is a view of the file."""
    info = archive.getinfo(name)
    # Other compression methods may need any amount of memory, and Keras does not use them.
    if info.compress_type not in _COMPRESSIONS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile(f"{name} is encrypted or has an unsupported compression")
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size:
        at = info.header_offset
        lengths = int.from_bytes(view[at + 26 : at + 28], "little")
        lengths += int.from_bytes(view[at + 28 : at + 30], "little")
        begin = at + _LOCAL_HEADER + lengths
        if begin + info.file_size > len(view):
            raise zipfile.BadZipFile(f"{name} is cut off")
        return view[begin : begin + info.file_size]
    # Parsed JSON takes many times the memory of its text.
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
        names = [f"{layer.path}/{weight.name}" for weight in layer.weights]
        for name, weight in zip(names, layer.weights, strict=True):
            variable = graph.node.add(name=name, op="VarHandleOp")
            if weight.shape is not None:
                dims = variable.attr["shape"].shape
                dims.dim.extend(dims.Dim(size=length) for length in weight.shape)
            variable.attr["dtype"].MergeFromString(_TYPE_TAG + bytes([weight.type]))
            if weight.trained:
                trained.append(name.encode())
        before = [node[path] for path in layer.inputs if path in node]
        graph.node.add(name=node[layer.path], op=layer.kind, input=[*before, *names])
    data = np.frombuffer(graph.SerializeToString(), np.uint8)
    profile = with_graph(Profile(), replace(graph_def.columns(data), file=file))
    if model.knows_trained:
        # If no weight is trainable, the type exists without nodes, so that this is known, too.
        profile = with_extra_type(profile, Strings.of(trained), TYPE)
    return replace(profile, notes=(*profile.notes, *_notes(model, file)))


def _notes(model: Model, file: str) -> Iterator[Note]:
    if model.stored is None:
        yield Note(
            f"{file}: the weights are derived from the configuration of the layers; "
            "install h5py to read them",
            ours=True,
        )
    if model.unknown:
        kinds = ", ".join(dict.fromkeys(model.unknown))
        yield Note(f"{file}: the weights of {kinds} are unknown without h5py", ours=True)
    if model.guessed and model.knows_trained:
        kinds = ", ".join(dict.fromkeys(model.guessed))
        yield Note(
            f"{file}: the file does not record whether weights of {kinds} are trainable; "
            "they count as trainable",
            ours=True,
        )
