"""Hostile event files: lengths, checksums, what events hold, and folders of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from event_records import VERSION, WHEN, checksum, event_file, record, scalar, stored, tagged
from hostile import FEW, Row
from hostile_parts import (
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LENGTHS,
    META_GRAPH,
    RUN,
    nested,
    node,
    number,
    part,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED: Final = "is a damaged event file: "
_FILE: Final = event_file(part(4, GRAPH))
_MODEL: Final = b"graph_keras_model"
_TRACE: Final = b"graph_run_metadata_graph"


def _events(name: str, data: bytes, **expected: object) -> Row:
    return Row(f"events: {name}", {"graph": data}, **expected)  # type: ignore[arg-type]


def _records() -> Iterator[Row]:
    for size in (1 << 40, (1 << 63) - 1, (1 << 64) - 1, (1 << 64) - 16, (1 << 64) - 12):
        length = size.to_bytes(8, "little")
        cut = "ends inside a record"
        yield _events(
            f"a record of {size} bytes", _FILE + length + checksum(length), notes=cut, commands=FEW
        )
        yield _events(f"{size} bytes, wrongly", _FILE + length + bytes(4) + b"x", refused=_DAMAGED)
    yield _events("empty records", _FILE + record(b"") * 100_000, shows=b"s/mul", commands=FEW)
    yield _events("empty events", _FILE + record(WHEN) * 100_000, shows=b"s/mul", commands=FEW)
    yield _events("a version alone", VERSION, refused="without a graph", commands=("scope",))
    yield _events("zeros behind it", _FILE + bytes(100_000), notes="ends inside a record")
    yield _events("noise behind it", _FILE + bytes(20) + b"x", refused=_DAMAGED)
    yield _events("another checksum", _FILE[:-4] + bytes(4), refused="wrong checksum of a record")


def _fields() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        for what, event in {
            "a graph": b"\x22" + length,
            "a summary": b"\x2a" + length,
            "a value": part(5, b"\x0a" + length),
            "metadata": part(5, part(1, b"\x4a" + length)),
            "a plugin": part(5, part(1, part(9, b"\x0a" + length))),
            "a tag": part(8, b"\x0a" + length),
            "a run": part(8, b"\x12" + length),
            "a tensor": part(5, part(1, part(9, part(1, part(1, _MODEL))), b"\x42" + length)),
        }.items():
            data = event_file(part(4, GRAPH), event)
            yield _events(f"{what} of length {name}", data, refused=_DAMAGED, blames="graph")
    yield _events("a group", event_file(b"\x0b\x0c"), refused=_DAMAGED)
    yield _events(
        "a scalar of many values", event_file(part(4, GRAPH), part(5, part(1) * 200_000)),
        shows=b"s/mul", commands=FEW,
    )  # fmt: skip
    yield _events("no graph in it", event_file(part(4), part(9)), commands=FEW, refused="graph")


def _graphs() -> Iterator[Row]:
    other = part(4, node(b"other", b"NoOp"))
    yield _events(
        "many graphs", event_file(*[other] * 2_000, part(9, META_GRAPH)),
        notes="the last is read, 2,000 earlier ones ignored", shows=b"s/mul", commands=FEW,
    )  # fmt: skip
    yield _events(
        "more graphs than anybody has", VERSION + record(WHEN + other) * 100_002,
        refused="holds more than 100,000 graphs and runs", commands=("scope",),
    )  # fmt: skip
    yield _events("a damaged graph", event_file(part(4, b"\x0a\x7f")), refused="damaged")
    functions = part(4, part(2, GRAPH)) + part(4) + part(4, part(2))
    trace = event_file(stored(_TRACE, b"\x1b[31m", functions))
    yield _events("a trace", trace, shows=b"s/mul", notes="the largest function in the trace")
    nothing = event_file(stored(_TRACE, b"", b""))
    yield _events("a trace of nothing", nothing, refused="without a graph", commands=("scope",))


def _models() -> Iterator[Row]:
    for name, text in {
        "no JSON": b"{",
        "a number": b"1",
        "a list": b"[]",
        "nothing": b"",
        "no layers": b'{"class_name": "Sequential"}',
        "deep": b"[" * 100_000,
        "layers of nothing": json.dumps({"class_name": "S", "config": {"layers": [1]}}).encode(),
    }.items():
        data = event_file(stored(_MODEL, b"keras", text))
        yield _events(f"a model: {name}", data, refused="the model that Keras stored in it")
        with_graph = event_file(part(4, GRAPH), stored(_MODEL, b"keras", text))
        yield _events(
            f"a graph and a model: {name}", with_graph, notes="is damaged, and is ignored"
        )
    many = stored(_MODEL, b"keras", b'{"class_name": "M", "config": {"name": "m"}}')
    yield _events("a model of one's own", event_file(many), notes="are unknown", commands=FEW)


def _runs() -> Iterator[Row]:
    for step in (-1, INT64_MAX, INT64_MIN):
        data = event_file(part(4, GRAPH), tagged(b"\xff\x1b[2J" * 1_000, RUN, step))
        yield _events(f"a run of step {step}", data, shows=b"s/mul", notes="steps by the tags")
    yield _events(
        "runs of one step", event_file(part(4, GRAPH), *[tagged(b"t", RUN, 3)] * 300),
        notes="and 292 more", commands=FEW,
    )  # fmt: skip
    yield _events("a run of nothing", event_file(part(4, GRAPH), tagged(b"", b"")), commands=FEW)
    yield _events("an empty run", event_file(part(4, GRAPH), part(8)), commands=FEW)
    yield _events(
        "a damaged run", event_file(part(4, GRAPH), tagged(b"t", b"\x0a\x7f")), refused="damaged"
    )
    yield _events("runs in runs", event_file(part(4, GRAPH), tagged(b"t", nested(2_000, 1))))
    scalars = [number(2, step) + stored(b"scalars", b"", b"") for step in range(3)]
    data = event_file(part(4, GRAPH), *scalars, scalar(1))
    yield _events("scalars of plugins", data, shows=b"s/mul", commands=FEW)


ROWS: Final = [*_records(), *_fields(), *_graphs(), *_models(), *_runs()]
