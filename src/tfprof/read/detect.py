"""detect(): the format of a file, by its content; the first row of FORMATS that fits.

Binary formats differ in the first fields of the message and of its submessages: numbers, wire
types, and whether a field that should be a name is readable text. Nothing else is decoded, so a
damaged file is still detected by its beginning.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from functools import cached_property
from typing import TYPE_CHECKING

from tfprof.tables.formats import FORMATS, Format
from tfprof.wire.decode import BYTES, VARINT, WireError
from tfprof.wire.scalar import HeadField, head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


TABLE_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
# The second half breaks where a transfer treats the file as text.
CONVERTED_MAGIC = b"\x89tfp\r\n\x1a\n"
RIEGELI_MAGIC = bytes.fromhex("83af70d10d884a3f")  # the checksum of the first block's header
ZIP_MAGIC = b"PK\3\4"
_EVENT_VERSION, _FIRST_RECORD = b"brain.Event:", 64
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
TFLITE_MAGIC = b"TFL3"
# Named in the directory at the end of the archive.
_KERAS_MEMBER = b"config.json"

_BLANK_OR_COMMENT = re.compile(rb"\s*(?:#[^\n]*)?")
_TEXT_START = re.compile(rb"([A-Za-z_]\w*)\s*[:{<]")
# Each stretch of text matches in one way only, so hostile comments take linear time.
_HLO_BLANK = re.compile(rb"\s*(?://[^\n]*|/\*[^*]*\*+(?:[^*/][^*]*\*+)*/)?")
_HLO_TEXT = re.compile(rb"HloModule\s+[\w.%-]")
_PEEK = 1 << 16
_UTF8 = getincrementaldecoder("utf-8")


def detect(data: memoryview) -> Format | None:
    """The format of *data*, or None where no row fits."""
    start = Start(data, 0, len(data))
    return next((row for row in FORMATS.values() if row.detect and row.detect(start)), None)


class Message:
    """The first few fields of a message; none where the bytes are no message."""

    def __init__(self, data: memoryview, start: int = 0, end: int = 0) -> None:
        self.data, self._start, self._end = data, start, end

    @cached_property
    def fields(self) -> list[HeadField]:
        """The fields."""
        try:
            return head(self.data, self._start, self._end)
        except WireError:
            return []

    def consists_of(self, wire_types: dict[int, int]) -> bool:
        """Whether all fields have these numbers and wire types."""
        return all(wire_types.get(field.number) == field.wire_type for field in self.fields)

    @property
    def wire_types(self) -> list[tuple[int, int]]:
        """(number, wire type) of each field."""
        return [(field.number, field.wire_type) for field in self.fields]

    def has(self, *numbers: int) -> bool:
        """Whether there is a field with one of these *numbers*."""
        return any(field.number in numbers for field in self.fields)

    def submessages(self, number: int) -> Iterator[Message]:
        """The fields of each submessage with this *number*."""
        fields = (field for field in self.fields if field.number == number)
        return (Message(self.data, field.start, field.end) for field in fields)

    def first(self, number: int) -> Message:
        """The fields of the first submessage with this *number*; none where there is none."""
        return next(self.submessages(number), Message(self.data))

    def bytes_of(self, number: int) -> bytes:
        """How the first field with this *number* begins; b"" where it holds no bytes."""
        field = next((field for field in self.fields if field.number == number), None)
        if field is None or field.wire_type != BYTES:
            return b""
        return bytes(self.data[field.start : min(field.end, field.start + _PEEK)])

    def is_text(self, number: int) -> bool:
        """Whether field *number* is there and is a line of text."""
        line = self.bytes_of(number)
        try:
            # Cut short, it may end inside a character.
            text = _UTF8().decode(line, final=len(line) < _PEEK)
        except UnicodeDecodeError:
            return False
        return bool(text) and text.isprintable()


class Start(Message):
    """How a file begins, as text and as a message."""

    @cached_property
    def text_field(self) -> bytes:
        """The name of the first field, where it begins as protobuf text; b"" elsewhere."""
        at = 0
        while (blank := _BLANK_OR_COMMENT.match(self.data, at)) and blank.end() > at:
            at = blank.end()
        field = _TEXT_START.match(bytes(self.data[at : at + _PEEK]))
        return field[1] if field else b""


# --- text and magic numbers -----------------------------------------------------------------------


def _text(*fields: bytes) -> Callable[[Start], bool]:
    """Whether a file is text that begins with one of these fields."""
    return lambda start: start.text_field in fields


is_graph_text = _text(b"node", b"library", b"versions", b"version")
is_meta_graph_text = _text(b"meta_info_def", b"graph_def")
is_saved_model_text = _text(b"saved_model_schema_version", b"meta_graphs")
is_run_text = _text(b"step_stats")
is_op_log_text = _text(b"log_entries", b"id_to_string")


def is_hlo_text(start: Start) -> bool:
    """Whether this is a program of XLA in text format."""
    beginning, at = bytes(start.data[:_PEEK]), 0
    while (blank := _HLO_BLANK.match(beginning, at)) and blank.end() > at:
        at = blank.end()
    return _HLO_TEXT.match(beginning, at) is not None


is_checkpoint_state = _text(b"model_checkpoint_path", b"all_model_checkpoint_paths")


def is_checkpoint(start: Start) -> bool:
    """Whether this is a table of a checkpoint."""
    return bytes(start.data[-8:]) == TABLE_MAGIC


def is_events(start: Start) -> bool:
    """Whether this is an event file: its first record names the version."""
    return _EVENT_VERSION in bytes(start.data[:_FIRST_RECORD])


def is_keras(start: Start) -> bool:
    """Whether this is a Keras archive."""
    is_zip = bytes(start.data[:4]) == ZIP_MAGIC
    return is_zip and _KERAS_MEMBER in bytes(start.data[-_PEEK:])


def is_saved_model_chunked(start: Start) -> bool:
    """Whether this is a Riegeli file, as chunked SavedModels are."""
    return bytes(start.data[:8]) == RIEGELI_MAGIC


def is_hdf5(start: Start) -> bool:
    """Whether this is an HDF5 file."""
    return bytes(start.data[:8]) == HDF5_MAGIC


def is_tflite(start: Start) -> bool:
    """Whether this is a model of TensorFlow Lite."""
    return bytes(start.data[4:8]) == TFLITE_MAGIC


def is_converted(start: Start) -> bool:
    """Whether `tfprof convert` wrote this."""
    return bytes(start.data[:4]) == CONVERTED_MAGIC[:4]


# --- messages -------------------------------------------------------------------------------------

_GRAPH = {1: BYTES, 2: BYTES, 3: VARINT, 4: BYTES, 5: BYTES}
_NODE = _META_GRAPH = dict.fromkeys(range(1, 8), BYTES)
_VERSIONS = {1: VARINT, 2: VARINT, 3: BYTES}
_RUN = dict.fromkeys(range(1, 6), BYTES)
_SESSION = {1: BYTES, 2: VARINT}
_TRACE = dict.fromkeys(range(1, 5), BYTES)
# All that `tfprof save` writes: a small profile is looked at whole.
_PROFILE = {2: VARINT, 5: VARINT, **dict.fromkeys((1, 3, 4, 29, 30, 31, 32), BYTES)}
_LOG_ENTRY = {1: BYTES, 2: VARINT, 3: BYTES, 4: BYTES}
_MAP_ENTRY = {1: VARINT, 2: BYTES}
PLANES = (b"/host:", b"/device:", b"Task Environment")


def is_graph(message: Message) -> bool:
    """Whether this is a GraphDef."""
    if not message.fields or not message.consists_of(_GRAPH):
        return False
    if message.has(1):
        node = message.first(1)
        is_node = node.consists_of(_NODE) and node.is_text(1) and node.is_text(2)
        # A program of XLA is a message of two names, too; computations follow them.
        return is_node and not _is_computation(node.first(3))
    # Without nodes it has the versions of a graph; a library alone could be many things.
    signature = message.first(2).first(1).first(1)
    is_library = signature.is_text(1) or not message.bytes_of(2)
    return message.has(3, 4) and message.first(4).consists_of(_VERSIONS) and is_library


def is_meta_graph(message: Message) -> bool:
    """Whether this is a MetaGraphDef."""
    # The costs of a run look like a graph; the step stats before them do not.
    is_run = _is_step_stats(message.first(1))
    return message.consists_of(_META_GRAPH) and is_graph(message.first(2)) and not is_run


def is_saved_model(start: Start) -> bool:
    """Whether this is a SavedModel."""
    return start.consists_of(_MAP_ENTRY) and is_meta_graph(start.first(2))


def is_trace(start: Start) -> bool:
    """Whether this is an XSpace: one of its planes has a name that planes have."""
    names = (plane.bytes_of(2) for plane in start.submessages(1))
    return start.consists_of(_TRACE) and any(name.startswith(PLANES) for name in names)


def is_hlo(start: Start) -> bool:
    """Whether this is an HloProto or the module in it."""
    module = start if start.is_text(1) else start.first(1)
    return module.is_text(1) and module.is_text(2) and _is_computation(module.first(3))


def _is_computation(message: Message) -> bool:
    return message.is_text(1) and message.first(2).is_text(1) and message.first(2).is_text(2)


def is_profile(start: Start) -> bool:
    """Whether this is a ProfileProto."""
    node = start.first(1)
    # The devices of a timeline are a map from numbers to messages, too; they hold their number.
    is_device = (2, VARINT) in node.first(2).wire_types
    is_node = bool(node.fields) and node.consists_of(_MAP_ENTRY) and not is_device
    return start.consists_of(_PROFILE) and is_node


def is_op_log(start: Start) -> bool:
    """Whether this is an OpLogProto."""
    entry, text = start.first(1), start.first(2)
    return (
        start.consists_of({1: BYTES, 2: BYTES})
        and entry.consists_of(_LOG_ENTRY)
        and text.consists_of(_MAP_ENTRY)
        and (entry.is_text(1) if entry.fields else bool(text.fields))
    )


def is_run(start: Start) -> bool:
    """Whether this is a RunMetadata; one without step stats may hold costs and graphs."""
    if not start.fields or not start.consists_of(_RUN):
        return False
    if start.bytes_of(1):
        return _is_step_stats(start.first(1))
    cost = start.first(2).first(1)
    graphs = (start.first(3), *(start.first(4).first(number) for number in (1, 2, 3)))
    is_session = start.first(5).consists_of(_SESSION)
    is_cost = not cost.fields or cost.is_text(1)
    return is_session and is_cost and all(not graph.fields or is_graph(graph) for graph in graphs)


def _is_step_stats(stats: Message) -> bool:
    device = stats.first(1)
    return (
        bool(device.fields)
        and stats.consists_of({1: BYTES})
        and device.consists_of({1: BYTES, 2: BYTES, 3: BYTES})
        and (device.is_text(1) or device.fields[0].number != 1)
    )
