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
from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.model import KerasLayer
from tfprof.wire.decode import BYTES, VARINT, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.read.source import Source

_MOST, _DEEPEST, _LONGEST = 100_000, 50, 500
_LAYER, _METRIC, _INPUT = b"_tf_keras_", b"_tf_keras_metric", b"_tf_keras_input_layer"
_OF_KERAS: Final = ".keras_api"  # metrics and lists; its layers appear elsewhere, too


def layers_as_texts(layers: Iterable[KerasLayer]) -> list[bytes]:
    """One JSON object per layer."""
    return [json.dumps(layer._asdict()).encode() for layer in layers]


def layers_from_texts(texts: Iterable[bytes]) -> tuple[KerasLayer, ...]:
    """The layers in JSON objects, without those that are none."""
    entries = (_loaded(text) for text in texts)
    fields = ((entry.get("path"), entry.get("kind"), entry.get("shape")) for entry in entries)
    return tuple(known_layer(*each) for each in fields if _is_named(*each[:2]))[:_MOST]


def read_layers(source: Source) -> tuple[KerasLayer, ...]:
    """The layers in a keras_metadata.pb; raises InputError."""
    try:
        return tuple(_in_metadata(source))[:_MOST]
    except WireError as problem:
        raise InputError(f"{source.name} is damaged: {problem}") from None


def _in_metadata(source: Source) -> Iterator[KerasLayer]:
    data = source.data
    entry = scan(data, *whole(data), {1: BYTES})[1]
    count = entry.start.size
    part = scan(data, entry.start, entry.end, {2: VARINT, 3: BYTES, 4: BYTES, 5: BYTES})
    place, kind, text = (Strings(data, *part[n].last_slice(count)).tolist() for n in (3, 4, 5))
    paths: dict[str, str] = {}  # by place
    for row in part[2].last(count).argsort(kind="stable").tolist():
        where = place[row].decode("utf-8", "replace")
        if not kind[row].startswith(_LAYER) or kind[row] == _METRIC or _OF_KERAS in where:
            continue
        metadata = _loaded(text[row])
        name, class_name = metadata.get("name"), metadata.get("class_name")
        if len(where) > _LONGEST or not _is_named(name, class_name) or "/" in name:
            continue
        around = where
        while around and around not in paths:  # a list may hold a layer
            around = around.rpartition(".")[0]
        path = f"{paths[around]}/{name}" if around else name
        if bool(around) != bool(paths) or not _is_named(path, class_name):
            continue
        paths[where] = path
        shape = metadata.get("batch_input_shape") if kind[row] == _INPUT else None
        shape = shape.get("items") if isinstance(shape, dict) else shape  # a tuple
        yield known_layer(path, class_name, shape)


def _loaded(text: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _is_named(path: object, kind: object) -> bool:
    """Whether these are the path of a layer and its class."""
    named = isinstance(path, str) and isinstance(kind, str)
    return named and 0 < len(path) <= _LONGEST * 4 and path.count("/") <= _DEEPEST  # type: ignore[arg-type, union-attr]


def known_layer(path: str, kind: str, shape: Any) -> KerasLayer:  # noqa: ANN401 - out of a file
    """The layer with the shape of its output, if that is one; null is an open dimension."""
    sizes = [-1 if size is None else size for size in shape] if isinstance(shape, list) else [""]
    is_shape = all(type(size) is int and -1 <= size < 1 << 62 for size in sizes)
    return KerasLayer(path, kind[:_LONGEST], tuple(sizes) if is_shape else None)
