"""Hostile SavedModels, what stands beside them, Keras archives, and profiles with functions."""

from __future__ import annotations

import io
import json
import zipfile
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from hostile import Content, Row
from hostile_functions import FEW, call, function, inner, library
from hostile_parts import (
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    PROFILE,
    number,
    part,
    saved_input,
    saved_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FUNCTION: Final = function(
    b"f", inner(b"n", b"Abs", inputs=[b"a"]), arguments=[b"a"], returns=[(b"o", b"n:y:0")]
)
CALLING: Final = GRAPH + call(b"c", b"f", b"s/mul") + library(_FUNCTION)


# --- SavedModels ----------------------------------------


def saved_model(graph: bytes, *more: bytes) -> bytes:
    """A SavedModel with one MetaGraphDef."""
    return number(1, 1) + part(2, part(1, part(4, b"serve")), part(2, graph), *more)


def signature(name: bytes, *tensors: bytes) -> bytes:
    """A signature with these outputs."""
    outputs = [
        part(2, part(1, b"o%d" % at), part(2, part(1, one))) for at, one in enumerate(tensors)
    ]
    return part(5, part(1, name), part(2, *outputs))


def _saved(name: str, *more: bytes, **expected: Any) -> Row:
    files = {"saved_model.pb": saved_model(CALLING, *more)}
    return Row(f"saved model: {name}", files, **expected)


def _models() -> Iterator[Row]:
    sound = signature(b"serving_default", b"c:0")
    yield _saved("sound", sound, shows=b"c/n (", commands=FEW)
    names = (b"", b":", b"nobody:0", b"c:99999999999", b"\xff\xfe", b"^c", b"s/mul:0:0")
    odd = signature(b"\x1b[31m", *names), signature(b"", *names)
    yield _saved("signatures of nothing", *odd, part(5), shows=b"mul (")
    many = [signature(b"s%d" % at, b"c:0") for at in range(20_000)]
    yield _saved("20,000 signatures", *many, shows=b"c/n (", commands=("scope", "summary"))
    inside = {"a graph": b"\x12", "a signature": b"\x2a", "objects": b"\x3a"}
    for (name, length), (what, tag) in product(LENGTHS.items(), inside.items()):
        yield _saved(f"{what} of length {name}", tag + length, refused="is damaged or cut off",
                     commands=("scope",))  # fmt: skip
    # Objects that are each other's children, captures of nobody, functions without end.
    numbers = (0, 1, -1, 2**31, INT64_MAX, INT64_MIN)
    child = [part(1, number(1, one), part(2, b"x")) for one in numbers]
    objects = [part(1, *child, part(7, number(1, 1), part(2, b"\xff"), number(3, 1)))] * 100
    captures = part(2, *(number(2, one) for one in numbers)), part(2, part(2, b"\x00\x01\x63"))
    concrete = [part(2, part(1, name), *captures) for name in (b"f", b"", b"g")]
    held = signature(b"s", b"c:0"), part(7, *objects, *concrete)
    yield _saved("objects that hold each other", *held, shows=b"c/n (", commands=FEW)


def _debug() -> Iterator[Row]:
    graph = saved_model(CALLING, signature(b"s", b"c:0"))

    def beside(name: str, *parts: bytes, graph: bytes = graph, **expected: Any) -> Row:
        files = {"saved_model.pb": graph, "debug/saved_model_debug_info.pb": b"".join(parts)}
        return Row(f"debug info: {name}", files, **expected)

    fixed = b"\x09" + (1).to_bytes(8, "little")  # the key of a map
    named = part(5, part(1, b"n@f"), b"\x11" + (1).to_bytes(8, "little"))
    for index in (5, -1, 2**31 - 1, -(2**31)):
        frame = part(4, fixed, part(2, number(1, index), number(2, index), part(4, b"\x1b[31m")))
        trace = part(6, fixed, part(2, part(2, (1).to_bytes(8, "little") * 3)))
        yield beside(f"file {index}", part(1, b"a.py"), frame, trace, named,
                     commands=(*FEW, "code", "code json"))  # fmt: skip
    yield beside("no message", b"\xff" * 100, refused="is damaged or not a GraphDebugInfo",
                 commands=("scope",))  # fmt: skip
    # One long stack that many nodes have: told once, and looked at once.
    frame = part(4, fixed, part(2, number(2, 7), part(4, b"g")))
    trace = part(6, fixed, part(2, part(2, (1).to_bytes(8, "little") * 50_000)))
    many = saved_model(
        GRAPH + b"".join(call(b"c%d" % at, b"f", b"x") for at in range(3_000)) + library(_FUNCTION)
    )
    yield beside("a stack of 50,000 frames that 3,000 nodes have", frame, trace, named, graph=many,
                 commands=("scope",), memory_a_byte=400)  # fmt: skip


# --- Keras archives ----------------------------------------


def archive(files: Mapping[str, bytes], packing: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as opened:
        for name, data in files.items():
            opened.writestr(zipfile.ZipInfo(name), data, packing)
    return made.getvalue()


def layer(kind: str, name: str, **config: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": {"name": name, **config},
            "build_config": {"input_shape": [None, 8]}}  # fmt: skip


def model(*layers: Any) -> bytes:
    """The configuration of a Sequential of these."""
    config = {"name": "net", "layers": layers}
    return json.dumps({"class_name": "Sequential", "config": config}).encode()


_CONFIG: Final = model(layer("Dense", "d", units=4))
NO_CONFIGS: Final = {
    "nested a million deep": b"[" * 1_000_000,
    "no UTF-8": b'{"class_name": "\xff\xfe"}',
    "a number of 10,000 digits": b'{"config": ' + b"9" * 10_000 + b"}",
    "a list": b"[]",
    "a layer that is a number": model(7),
    "a layer without a class": model({"config": {}}),
}
_NO_MODEL: Final = "its config.json is not that of a Keras model"


def _keras(name: str, file: Content, **expected: Any) -> Row:
    return Row(f"keras: {name}", {"graph.keras": file}, **expected)


def _configured(name: str, config: bytes, **expected: Any) -> Row:
    return _keras(name, archive({"config.json": config}), **expected)


def _twice(depth: int) -> bytes:
    """A model that calls the next one two times, and so on."""

    def tensor(name: str) -> dict[str, Any]:
        return {"args": [{"config": {"shape": [None, 8], "keras_history": [name, 0, 0]}}],
                "kwargs": {}}  # fmt: skip

    inner: dict[str, Any] = {**layer("Dense", "f", units=8), "name": "f"}
    for _ in range(depth):
        given = {**layer("InputLayer", "x", batch_shape=[None, 8]), "name": "x"}
        called = {**inner, "inbound_nodes": [tensor("x"), tensor("x")]}
        config = {"name": "f", "layers": [given, called], "input_layers": [["x", 0, 0]],
                  "output_layers": [["f", 1, 0]]}  # fmt: skip
        inner = {"class_name": "Functional", "config": config, "name": "f"}
    return json.dumps(inner).encode()


def _archives() -> Iterator[Row]:
    yield _configured("sound", _CONFIG, shows=b"net/d/kernel (", commands=FEW)
    slip = {"../../evil": b"x", "/etc/evil": b"x", "config.json": _CONFIG, "..\\evil": b"x"}
    yield _keras("names that lead elsewhere", archive(slip), shows=b"net/d/kernel (", commands=FEW)
    for what, packing in {"lzma": zipfile.ZIP_LZMA, "bzip2": zipfile.ZIP_BZIP2}.items():
        yield _keras(f"packed by {what}", archive({"config.json": _CONFIG}, packing),
                     refused="has an unsupported compression", commands=("scope",))  # fmt: skip
    sound = archive({"config.json": _CONFIG})
    locked = bytearray(sound)
    locked[6] |= 1
    locked[sound.index(b"PK\x01\x02") + 8] |= 1
    yield _keras("encrypted", bytes(locked), refused="is encrypted", commands=("scope",))

    def bomb() -> bytes:
        lists = b"[" + b"[]," * 20_000_000 + b"0]"
        return archive({"config.json": lists}, zipfile.ZIP_DEFLATED)

    yield _keras(
        "a configuration of 60 MB in 60 KB", bomb, refused="unpacks to", commands=("scope",)
    )
    zeros = {"config.json": _CONFIG, "model.weights.h5": bytes(100 << 20)}
    yield _keras("weights of 100 MB in 100 KB", lambda: archive(zeros, zipfile.ZIP_DEFLATED),
                 refused="unpacks to", commands=("scope",))  # fmt: skip
    for name, weights in {"nothing": b"", "garbage": b"\x89HDF\r\n\x1a\n" + b"\xff" * 500}.items():
        files = {"config.json": _CONFIG, "model.weights.h5": weights}
        yield _keras(f"weights of {name}", archive(files), refused="its weights cannot be read",
                     commands=("scope",))  # fmt: skip
    for at in (0, 4, 30, len(sound) // 2, len(sound) - 30, len(sound) - 1):
        yield _keras(f"cut off at {at}", sound[:at], refused="graph.keras", commands=("scope",))
    for name, config in {
        **NO_CONFIGS,
        "objects nested 100,000 deep": b'{"config":' * 100_000 + b"1" + b"}" * 100_000,
        "nothing": b"",
    }.items():
        yield _configured(name, config, refused=_NO_MODEL, commands=("scope",))
    deep = b'{"class_name":"Sequential","config":{"name":"n","layers":[' * 3_000
    yield _configured("models in models, 3,000 deep", deep + b"]}}" * 3_000, refused=_NO_MODEL,
                      commands=("scope",))  # fmt: skip
    odd: list[Any] = [float("nan"), float("inf"), -1, 2**63, 2**70, True, None, "4", [4], {}, 0]
    sized = [
        *(layer("Dense", f"d{at}", units=one) for at, one in enumerate(odd)),
        *(layer("Conv2D", f"c{at}", filters=one, kernel_size=[one, 3], groups=one)
          for at, one in enumerate(odd)),
        *(layer("Embedding", f"e{at}", input_dim=one, output_dim=one)
          for at, one in enumerate(odd)),
    ]  # fmt: skip
    yield _configured("sizes of all kinds", model(*sized), shows=b"net/", commands=FEW)
    names = ("", "/", "a/b", "\x1b[31m", "a\nb", "\u202ex", "^a", "a:0", "</script>", "d", "d")
    yield _configured("names of all kinds", model(*(layer("Dense", one, units=4) for one in names)),
                      shows=b"net/", commands=FEW)  # fmt: skip
    sources: tuple[Any, ...] = ("d", "nobody", 7, None, [])
    takes = [{"args": [{"config": {"keras_history": [one, 0, 0]}}]} for one in sources]
    circle = [{**layer("Dense", name, units=4), "name": name, "inbound_nodes": takes}
              for name in ("d", "e")]  # fmt: skip
    yield _configured(
        "layers that take from themselves", model(*circle), shows=b"net/", commands=FEW
    )
    wrapped = layer("TimeDistributed", "t", layer=layer("Dense", "d", units=4))
    for _ in range(50):
        wrapped = layer("Bidirectional", "b", layer=wrapped)
    yield _configured(
        "wrappers in wrappers, doubling 50 times", model(wrapped), shows=b"net/", commands=FEW
    )
    steps = {**layer("GRU", "g", units=4), "build_config": {"input_shape": [None, 3, 8]}}
    for _ in range(50):
        steps = {**layer("Bidirectional", "b", layer=steps), "build_config": steps["build_config"]}
    yield _configured(
        "a GRU in wrappers, doubling 50 times", model(steps), shows=b"net/", commands=FEW
    )
    yield _configured("models that call each other twice, 30 deep", _twice(30),
                      refused="its layers expand to more than", commands=("scope",))  # fmt: skip


# --- profiles with functions ----------------------------------------


def region(call: int, kind: int, returns: int, prefix: int) -> bytes:
    """A body in a ProfileProto."""
    return part(
        29, number(1, call), number(2, kind), number(3, returns), part(4, b"f"), number(5, prefix)
    )


def _profiles() -> Iterator[Row]:
    inside = saved_node(9, b"w/n", number(29, 1), saved_input(0, 0), op=b"Abs")
    asking = saved_node(10, b"r", saved_input(0, 0), saved_input(1, 9), op=b"Reshape")
    for name, numbers in {
        "sound": (0, 0, 1, 2),
        "called by nobody": (99, 0, 1, 2),
        "called by itself": (9, 0, 1, 2),
        "of a kind that is none": (0, 9, 1, 2),
        "of a kind below 0": (0, -1, 1, 2),
        "with a long prefix": (0, 0, 1, 100),
        "with a prefix below 0": (0, 0, 1, -1),
    }.items():
        yield Row(f"profile: a body {name}",
                  {"profile": PROFILE + inside + asking + region(*numbers)}, shows=b"w/n (",
                  commands=FEW)  # fmt: skip
    for kind in range(4):
        for returns in (INT64_MAX, 1 << 40, -1, INT64_MIN):
            yield Row(f"profile: a body of kind {kind} that returns {returns}",
                      {"profile": PROFILE + inside + asking + region(0, kind, returns, 2) * 2},
                      shows=b"w/n (", commands=FEW)  # fmt: skip
    for of in (2, 99, INT64_MAX, INT64_MIN):
        yield Row(f"profile: a node of body {of}",
                  {"profile": PROFILE + saved_node(9, b"w/n", number(29, of)) + region(0, 0, 1, 2)},
                  shows=b"w/n (", commands=FEW)  # fmt: skip


ROWS: Final = [*_models(), *_debug(), *_archives(), *_profiles()]
