"""What a file is, told by its content.

Binary kinds are told apart by the first fields of the message and of what is in them: numbers,
wire types, and whether what should be a name is readable text. Nothing is decoded beyond that, so
a damaged file is still recognised by its beginning.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, NamedTuple

from tfprof.wire.decode import BYTES, VARINT, WireError
from tfprof.wire.message import head

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.wire.message import HeadField

TABLE_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
# What follows the first half is there to be spoilt by a transfer as text.
CONVERTED_MAGIC = b"\x89tfp\r\n\x1a\n"
ZIP_MAGIC = b"PK\3\4"
# Named in the directory at the end of the archive.
_KERAS_MEMBER = b"config.json"


class Kind(NamedTuple):
    """A row of the table."""

    name: str
    title: str  # as a sentence says it: "a …"


GRAPH = Kind("graph", "a GraphDef")
GRAPH_TEXT = Kind("graph_text", "a GraphDef in text format")
META_GRAPH = Kind("meta_graph", "a MetaGraphDef")
META_GRAPH_TEXT = Kind("meta_graph_text", "a MetaGraphDef in text format")
RUN = Kind("run", "a RunMetadata")
RUN_TEXT = Kind("run_text", "a RunMetadata in text format")
OP_LOG = Kind("op_log", "an op log (OpLogProto)")
OP_LOG_TEXT = Kind("op_log_text", "an op log in text format")
PROFILE = Kind("profile", "a saved profile (ProfileProto)")
CONVERTED = Kind("converted", "a converted profile (tfprof convert)")
SAVED_MODEL = Kind("saved_model", "a SavedModel")
CHECKPOINT = Kind("checkpoint", "a checkpoint table")
TRACE = Kind("trace", "a trace (XSpace)")
KERAS = Kind("keras", "a Keras archive")

_BLANK_OR_COMMENT = re.compile(rb"\s*(?:#[^\n]*)?")
_TEXT_START = re.compile(rb"([A-Za-z_]\w*)\s*[:{<]")
_TEXT_KINDS = {
    b"node": GRAPH_TEXT,
    b"library": GRAPH_TEXT,
    b"versions": GRAPH_TEXT,
    b"version": GRAPH_TEXT,
    b"meta_info_def": META_GRAPH_TEXT,
    b"graph_def": META_GRAPH_TEXT,
    b"step_stats": RUN_TEXT,
    b"log_entries": OP_LOG_TEXT,
    b"id_to_string": OP_LOG_TEXT,
}
_PEEK = 1 << 16
_UTF8 = getincrementaldecoder("utf-8")


def kind_of(data: memoryview) -> Kind | None:
    """The kind of file *data* is, or None where nothing known fits."""
    if bytes(data[:4]) == CONVERTED_MAGIC[:4]:
        return CONVERTED
    if bytes(data[:4]) == ZIP_MAGIC and _KERAS_MEMBER in bytes(data[-_PEEK:]):
        return KERAS
    begin = _first_word(data)
    text = _TEXT_START.match(bytes(data[begin : begin + _PEEK]))
    if text and text[1] in _TEXT_KINDS:
        return _TEXT_KINDS[text[1]]
    if bytes(data[-8:]) == TABLE_MAGIC:
        return CHECKPOINT
    fields = _fields(data, 0, len(data))
    if not fields:
        return None
    return next((kind for kind, fits in _BINARY if fits(data, fields)), None)


def _first_word(data: memoryview) -> int:
    """Where the blanks and comments end that a text may begin with."""
    at = 0
    while (found := _BLANK_OR_COMMENT.match(data, at)) and found.end() > at:
        at = found.end()
    return at


def _fields(data: memoryview, start: int, end: int) -> list[HeadField]:
    """The first few fields of a message; none where it is not one."""
    try:
        return head(data, start, end)
    except WireError:
        return []


def _consists_of(fields: Sequence[HeadField], wire_types: dict[int, int]) -> bool:
    return all(wire_types.get(field.number) == field.wire_type for field in fields)


def _first(data: memoryview, fields: Sequence[HeadField], number: int) -> list[HeadField]:
    """The fields of the first submessage with this *number*; none where there is no such."""
    for field in fields:
        if field.number == number:
            return _fields(data, field.start, field.end)
    return []


def _is_text(data: memoryview, fields: Sequence[HeadField], number: int) -> bool:
    """Whether field *number* is there and reads as a line of text."""
    for field in fields:
        if field.number == number:
            seen = bytes(data[field.start : min(field.end, field.start + _PEEK)])
            try:
                # Cut short, it may end inside of a character.
                text = _UTF8().decode(seen, final=field.end - field.start <= _PEEK)
            except UnicodeDecodeError:
                return False
            return bool(text) and text.isprintable()
    return False


_NODE = dict.fromkeys(range(1, 8), BYTES)
_NODE_FIELD, _LIBRARY_FIELD, _PLANE_NAME_FIELD = 1, 2, 2
_PLANES = (b"/host:", b"/device:", b"Task Environment")


def _is_graph(data: memoryview, fields: Sequence[HeadField]) -> bool:
    if not _consists_of(fields, {1: BYTES, 2: BYTES, 3: VARINT, 4: BYTES, 5: BYTES}):
        return False
    node = _first(data, fields, 1)
    if not node:
        # A library alone could be many things; versions are a graph's.
        return all(field.number not in (_NODE_FIELD, _LIBRARY_FIELD) for field in fields)
    return _consists_of(node, _NODE) and _is_text(data, node, 1) and _is_text(data, node, 2)


def _is_meta_graph(data: memoryview, fields: Sequence[HeadField]) -> bool:
    graph = _first(data, fields, 2)
    return (
        _consists_of(fields, dict.fromkeys(range(1, 8), BYTES))
        and bool(graph)
        and _is_graph(data, graph)
        # The costs of a run look like a graph; what stands before them does not.
        and not _is_step_stats(data, _first(data, fields, 1))
    )


def _is_run(data: memoryview, fields: Sequence[HeadField]) -> bool:
    if not _consists_of(fields, dict.fromkeys(range(1, 6), BYTES)):
        return False
    step_stats = next((field for field in fields if field.number == 1), None)
    if step_stats is None or step_stats.start == step_stats.end:
        return True
    return _is_step_stats(data, _fields(data, step_stats.start, step_stats.end))


def _is_step_stats(data: memoryview, stats: Sequence[HeadField]) -> bool:
    device = _first(data, stats, 1)
    return (
        bool(device)
        and _consists_of(stats, {1: BYTES})
        and _consists_of(device, {1: BYTES, 2: BYTES, 3: BYTES})
        and (_is_text(data, device, 1) or device[0].number != 1)
    )


def _is_op_log(data: memoryview, fields: Sequence[HeadField]) -> bool:
    entry, text = _first(data, fields, 1), _first(data, fields, 2)
    return (
        _consists_of(fields, {1: BYTES, 2: BYTES})
        and _consists_of(entry, {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES})
        and _consists_of(text, {1: VARINT, 2: BYTES})
        and (_is_text(data, entry, 1) if entry else bool(text))
    )


def _is_profile(data: memoryview, fields: Sequence[HeadField]) -> bool:
    node = _first(data, fields, 1)
    return (
        _consists_of(fields, {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES, 5: VARINT})
        and bool(node)
        and _consists_of(node, {1: VARINT, 2: BYTES})
    )


def _is_saved_model(data: memoryview, fields: Sequence[HeadField]) -> bool:
    return _consists_of(fields, {1: VARINT, 2: BYTES}) and _is_meta_graph(
        data, _first(data, fields, 2)
    )


def _is_trace(data: memoryview, fields: Sequence[HeadField]) -> bool:
    planes = [field for field in fields if field.number == 1]
    return _consists_of(fields, dict.fromkeys(range(1, 5), BYTES)) and any(
        _is_plane(data, plane) for plane in planes
    )


def _is_plane(data: memoryview, plane: HeadField) -> bool:
    """Whether this is a plane of a trace, with a name that planes have."""
    for field in _fields(data, plane.start, plane.end):
        if field.number == _PLANE_NAME_FIELD and field.wire_type == BYTES:
            name = bytes(data[field.start : min(field.end, field.start + _PEEK)])
            return name.startswith(_PLANES)
    return False


_BINARY: tuple[tuple[Kind, Callable[[memoryview, Sequence[HeadField]], bool]], ...] = (
    (GRAPH, _is_graph),
    (META_GRAPH, _is_meta_graph),
    (SAVED_MODEL, _is_saved_model),
    (PROFILE, _is_profile),
    (OP_LOG, _is_op_log),
    (TRACE, _is_trace),
    (RUN, _is_run),
)
