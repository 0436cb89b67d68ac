"""Hostile lists of Keras layers beside a SavedModel, and in the SavedModel of a capture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from hostile import Row
from hostile_archives import CALLING, saved_model, signature
from hostile_parts import number, part

if TYPE_CHECKING:
    from collections.abc import Iterator


def _layers() -> Iterator[Row]:
    """keras_metadata.pb beside a SavedModel."""
    graph = saved_model(CALLING, signature(b"s", b"c:0"))

    def beside(name: str, *entries: bytes, **expected: Any) -> Row:
        files = {"saved_model.pb": graph, "keras_metadata.pb": b"".join(entries)}
        return Row(f"keras metadata: {name}", files, commands=("summary",), **expected)

    def entry(at: int, path: bytes, metadata: bytes) -> bytes:
        layer = (part(3, path), part(4, b"_tf_keras_layer"), part(5, metadata))
        return part(1, number(2, at), *layer)

    root = entry(0, b"root", b'{"name": "c", "class_name": "Model"}')
    yield beside("no message", b"\xff" * 100, refused="is damaged")
    yield beside("no JSON", entry(0, b"root", b"{"), entry(1, b"root.a", b"[]" * 99))
    deep = b"[" * 100_000 + b"]" * 100_000
    yield beside("deep JSON", root, entry(1, b"root.a", deep))
    yield beside("names that are none", root,
                 entry(1, b"root.a", b'{"name": 7, "class_name": null}'),
                 entry(-1, b"root.\xff", b'{"name": "\\u001b[31m/x", "class_name": "\\u0007"}'),
                 entry(2, b"elsewhere", b'{"name": "b", "class_name": "B"}'))  # fmt: skip
    layers = (entry(at, b"root" + b".a" * at, b'{"name": "n", "class_name": "N"}')
              for at in range(1, 3_000))  # fmt: skip
    yield beside("3,000 layers in each other", root, *layers)


def _collections() -> Iterator[Row]:
    """The list of layers that a capture writes."""
    model = {"path": "c", "kind": "Model", "shape": None}
    lists: dict[str, list[Any]] = {
        "no objects": [7, None, "text", [model]],
        "parts that are none": [{"path": 7, "kind": []}, {"path": "", "kind": ""}, {"path": "/"}],
        "shapes that are none": [model, {"path": "c/n", "kind": "N", "shape": [2**70, "x", -9]}],
        "50 names deep and more": [model, {"path": "c" + "/n" * 5_000, "kind": "N", "shape": [1]}],
    }
    for name, layers in lists.items():
        values = part(2, *(part(1, json.dumps(layer).encode()) for layer in layers))
        collection = part(4, part(1, b"tfprof_layers"), part(2, values))
        graph = saved_model(CALLING, signature(b"s", b"c:0"), collection)
        yield Row(f"layers: {name}", {"saved_model.pb": graph}, commands=("summary",))


ROWS: Final = [*_layers(), *_collections()]
