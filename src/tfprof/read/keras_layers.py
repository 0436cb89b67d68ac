"""The layers of a Keras model, as files record them: names, classes, shapes of outputs.

    collection tfprof_layers     captures and live models: one JSON object per layer
    keras_metadata.pb            beside a SavedModel of tf_keras: SavedMetadata ─ 1 SavedObject*
                                 ├─ 2 node_id       in the order of model.layers
                                 ├─ 3 node_path     root.layer-1.layer-0: a layer in a nested model
                                 ├─ 4 identifier    _tf_keras_layer
                                 └─ 5 metadata      JSON with "name" and "class_name"

A model comes before its layers. What cannot be read is left out: it only names rows.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.keras_layer import KerasLayer
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.wire.decode import BYTES, VARINT, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import U8
    from tfprof.read.source import Source

_MOST, _DEEPEST, _LONGEST, _LONGEST_PATH = 100_000, 50, 500, 2_000
_LAYER, _METRIC, _INPUT = b"_tf_keras_", b"_tf_keras_metric", b"_tf_keras_input_layer"
_OF_KERAS: Final = ".keras_api"  # metrics and lists; its layers appear elsewhere, too


def layers_as_texts(layers: Iterable[KerasLayer]) -> list[bytes]:
    """One JSON object per layer."""
    return [json.dumps(layer._asdict()).encode() for layer in layers]


def layers_from_texts(texts: Iterable[bytes]) -> tuple[KerasLayer, ...]:
    """The layers in JSON objects, without those that are none."""
    entries = (_loaded(text) for text in islice(texts, _MOST))
    layers = (known_layer(*map(entry.get, KerasLayer._fields)) for entry in entries)
    return tuple(layer for layer in layers if layer is not None)


def known_layer(path: Any, kind: Any, shape: Any) -> KerasLayer | None:  # noqa: ANN401 - out of a file
    """The layer that these describe, None if they do not; null is an open dimension."""
    if not isinstance(path, str) or not isinstance(kind, str) or not path:
        return None
    if len(path) > _LONGEST_PATH or path.count("/") > _DEEPEST:
        return None
    sizes = [-1 if size is None else size for size in shape] if isinstance(shape, list) else None
    if sizes is None or any(type(size) is not int or abs(size) >= 1 << 62 for size in sizes):
        return KerasLayer(path, kind[:_LONGEST], None)
    return KerasLayer(path, kind[:_LONGEST], tuple(sizes))


def read_layers(source: Source) -> tuple[KerasLayer, ...]:
    """The layers in a keras_metadata.pb; raises InputError."""
    try:
        return tuple(islice(_in_metadata(source.data), _MOST))
    except WireError as problem:
        raise InputError(f"{source.name} is damaged: {problem}") from None


def _in_metadata(data: U8) -> Iterator[KerasLayer]:
    entry = scan(data, *whole(data), {1: BYTES})[1]
    count = entry.start.size
    part = scan(data, entry.start, entry.end, {2: VARINT, 3: BYTES, 4: BYTES, 5: BYTES})
    place, kind, text = (Strings(data, *part[n].last_slice(count)).tolist() for n in (3, 4, 5))
    path_at: dict[str, str] = {}  # by place
    for row in part[2].last(count).argsort(kind="stable").tolist():
        where = place[row].decode("utf-8", "replace")
        is_layer = kind[row].startswith(_LAYER) and kind[row] != _METRIC
        if not is_layer or _OF_KERAS in where or len(where) > _LONGEST:
            continue
        around = where
        while around and around not in path_at:  # a list may hold a layer
            around = around.rpartition(".")[0]
        if bool(around) != bool(path_at):  # the first is the model, which holds all others
            continue
        metadata = _loaded(text[row])
        name, shape = str(metadata.get("name")), metadata.get("batch_input_shape")
        shape = shape.get("items") if isinstance(shape, dict) else shape  # a tuple
        path = "/".join([*filter(None, [path_at.get(around)]), name.replace("/", "_")])
        layer = known_layer(
            path, metadata.get("class_name"), shape if kind[row] == _INPUT else None
        )
        if layer is not None:
            path_at[where] = layer.path
            yield layer


def _loaded(text: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
