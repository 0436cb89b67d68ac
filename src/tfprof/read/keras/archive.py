"""Reads a .keras archive: the layers of a model and their weights, as a graph of layers.

    zip ─┬─ config.json          the layers, their configuration and connections
         └─ model.weights.h5     the weights, by class and number of their layers

    net/conv1/kernel    a weight of a layer: a variable with a shape
    net/conv1/Conv2D    what the layer computes, as operations of TensorFlow (see expand.py)
    net/mine/Mine       a layer of somebody's own: one node, whose float operations are unknown

h5py reads the path, shape and type of the weights. It is optional: without it, the weights are
derived from the configuration of the layers.
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
from tfprof.foundation.units import first_few
from tfprof.model import Note, Profile, own_notes
from tfprof.read import graph_def
from tfprof.read.keras.expand import NOT_MADE_FOR, Expansion
from tfprof.read.keras.graph import Dims, Graph, Type
from tfprof.read.keras.h5_process import contents
from tfprof.read.keras.model import Contents, Model
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.saved_model import TRAINABLE
from tfprof.tables.limits import beyond, unpacked_most
from tfprof.wire.decode import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.source import Source

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.weights.h5"
_LOCAL_HEADER: Final = 30
_COMPRESSIONS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_JSON_GROWS: Final = 16
PIECE: Final = 1 << 15  # zeros are packed a thousandfold: it unpacks to 32 MB
_MOST_NAMED: Final = 4


def read_keras(source: Source) -> Profile:
    """The layers and weights of the archive *source*; raises InputError."""
    try:
        config, stored = _opened(source)
        model = Model(stored)
        model.read(config)
        return profile_of(config, model, source.name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as problem:
        raise InputError(f"{source.name} is a damaged Keras archive: {problem}") from None
    except (*NOT_MADE_FOR, RecursionError):
        raise InputError(f"{source.name}: its {CONFIG} is not that of a Keras model") from None


def _opened(source: Source) -> tuple[Any, Contents | None]:
    """(the configuration, the weights or None if they cannot be read)."""
    view = buffer_view(source.data)
    archive = zipfile.ZipFile(io.BufferedReader(Bytes(view)))
    names = set(archive.namelist())
    if CONFIG not in names:
        raise InputError(f"{source.name} has no {CONFIG}; expected a Keras archive")
    config = json.loads(bytes(member(archive, CONFIG, view, source.name)))
    if WEIGHTS not in names:
        return config, None
    stored = member(archive, WEIGHTS, view, source.name)
    return config, contents(stored, source.name, ": its weights cannot be read")


def member(archive: zipfile.ZipFile, name: str, view: memoryview, file: str) -> memoryview:
    """The content of a member; an uncompressed one is a view of the file."""
    info = archive.getinfo(name)
    # Other compression methods may need any amount of memory, and Keras does not use them.
    if info.compress_type not in _COMPRESSIONS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile(f"{name} is encrypted or has an unsupported compression")
    at = info.header_offset
    lengths = int.from_bytes(view[at + 26 : at + 28], "little")
    lengths += int.from_bytes(view[at + 28 : at + 30], "little")
    begin = at + _LOCAL_HEADER + lengths
    stored = view[begin : begin + info.compress_size]
    if len(stored) < info.compress_size:
        raise zipfile.BadZipFile(f"{name} is cut off")
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size:
        return stored
    # Parsed JSON takes many times the memory of its text.
    if info.file_size > unpacked_most(len(view)) // (_JSON_GROWS if name == CONFIG else 1):
        raise InputError(
            f"{file}: {name} unpacks to {info.file_size:,} bytes; tfprof accepts "
            f"{beyond('unpack_ratio')}"
        )
    data = _unpacked(stored, info.file_size)
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"{name} is not what the archive declares")
    return memoryview(data)


def _unpacked(stored: memoryview, most: int) -> bytearray:
    """What is packed in *stored*, as far as the piece that goes beyond so many bytes."""
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    data = bytearray()
    for at in range(0, len(stored), PIECE):
        data += unpacker.decompress(stored[at : at + PIECE])
        if unpacker.eof or len(data) > most:
            break
    return data


def profile_of(
    config: Any,  # noqa: ANN401 - out of a file
    model: Model,
    file: str,
    unread: str = "install h5py to read them",
) -> Profile:
    """The layers of a model as a graph; *unread* says why stored weights are not used."""
    graph = Graph(file, len(model.layers))
    trained: list[bytes] = []
    for layer in model.layers:
        for weight in layer.weights:
            attributes: dict[str, Any] = {"dtype": Type(weight.type)}
            if weight.shape is not None:
                attributes["shape"] = Dims(weight.shape)
            name = graph.add(f"{layer.path}/{weight.name}", "VarHandleOp", [], attributes)
            if weight.trained:
                trained.append(name.encode())
    expansion = Expansion(graph, {layer.path: layer for layer in model.layers}, file)
    if model.lists_layers:
        expansion.model(config, model.title, None)
    for layer in model.layers:
        if layer.path not in expansion.called and layer.kind != "InputLayer":
            names = {weight.name: f"{layer.path}/{weight.name}" for weight in layer.weights}
            kind = layer.kind if model.records_layers else "Layer"
            expansion.opaque(layer.path, kind, [], names)
    data = np.frombuffer(graph.data(), np.uint8)
    profile = with_graph(Profile(), replace(graph_def.columns(data), file=file))
    if model.knows_trained:
        # If no weight is trainable, the type exists without nodes, so that this is known, too.
        profile = with_extra_type(profile, Strings.of(trained), TRAINABLE)
    notes = (*profile.notes, *own_notes(_notes(model, file, unread)), *_caveats(model))
    return replace(profile, notes=notes, layers=tuple(model.named))


def _notes(model: Model, file: str, unread: str) -> Iterator[str]:
    if not model.records_layers:
        yield f"{file} holds weights only: what the layers compute is not recorded"
    if model.stored is None:
        yield f"{file}: the weights are derived from the configuration of the layers; {unread}"
    if model.unknown:
        kinds = ", ".join(dict.fromkeys(model.unknown))
        yield f"{file}: the weights of {kinds} are unknown; {unread}"


def _caveats(model: Model) -> Iterator[Note]:
    if model.guessed and model.knows_trained:
        kinds = ", ".join(dict.fromkeys(model.guessed))
        text = f"The file does not record whether weights of {kinds} are trainable"
        yield Note(f"{text}: they count as trainable.", ours=True, caveat=True)
    if model.unbuilt:
        text = f"The file holds no weights of {first_few(model.unbuilt, _MOST_NAMED)}"
        yield Note(f"{text}: the model was saved before it was built.", ours=True, caveat=True)


class Bytes(io.RawIOBase):
    """Bytes in memory as a file."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = memoryview(data), 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position."""
        start = (0, self._at, len(self._data))[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        """The current position."""
        return self._at

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or all; a size beyond the end allocates nothing."""
        rest = len(self._data) - self._at
        piece = self._data[self._at : self._at + (rest if size < 0 else min(size, rest))]
        self._at += len(piece)
        return bytes(piece)

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - anything that can be written to
        """Read into *buffer*; the number of bytes read."""
        piece = self._data[self._at : self._at + len(buffer)]
        memoryview(buffer).cast("B")[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
