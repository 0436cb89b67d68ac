"""Where the operations of functions were made: a GraphDebugInfo, as an op log tells it.

    name_to_trace_id   "MatMul@body_12" ─► trace ─► frames ─► file, line, function

A key names a node and the function whose body it is in. Every body of that function is told it.
Frames inside TensorFlow and Keras are left out where a frame of the user's remains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.read.columns import OpLogColumns
from tfprof.read.functions.local_names import local_names
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Profile
    from tfprof.read.source import Source

# Numbers of texts that no op log uses, so both can be read.
_FIRST_TEXT: Final = 1 << 40
_FRAMEWORK: Final = re.compile(
    r"[/\\]site-packages[/\\](tensorflow|keras|tf_keras)[/\\]|<frozen |<embedded "
)


class Frame(NamedTuple):
    """A line of a call stack."""

    file: str
    line: int
    function: str
    source: str


Stacks = dict[str, tuple[Frame, ...]]


def op_log(profile: Profile, source: Source) -> OpLogColumns:
    """The call stacks of the nodes of *profile* in a GraphDebugInfo; raises InputError."""
    return stack_columns(profile, read_stacks(source))


def stack_columns(profile: Profile, known: Stacks) -> OpLogColumns:
    """The stacks of the nodes of *profile*, as an op log has them."""
    stack = [known.get(key, ()) for key in local_names(profile).texts()]
    traced = [node for node, frames in enumerate(stack) if frames]
    # By identity: to compare long stacks for each of many nodes would take as long as all of them.
    distinct = {id(frames): frames for frames in stack if frames}
    row = {key: place for place, key in enumerate(distinct)}
    frames = [frame for one in distinct.values() for frame in one]
    texts: dict[str, int] = {}

    def number(parts: Iterable[str]) -> I64:
        return np.array([texts.setdefault(t, _FIRST_TEXT + len(texts)) for t in parts], np.int64)

    nothing = np.empty(0, np.int64)
    return OpLogColumns(
        name=profile.nodes.name.take(np.array(traced, np.int64)),
        float_ops=np.zeros(len(traced), np.int64),
        type_entry=nothing,
        type=Strings.of([]),
        stack=np.array([row[id(stack[node])] for node in traced], np.int64),
        stack_start=np.cumsum([0, *map(len, distinct.values())]),
        frame_file=number(frame.file for frame in frames),
        frame_line=np.array([frame.line for frame in frames], np.int64),
        frame_function=number(frame.function for frame in frames),
        frame_function_line=np.zeros(len(frames), np.int64),
        frame_source=number(frame.source for frame in frames),
        string_id=np.array(list(texts.values()), np.int64),
        string=Strings.of(text.encode("utf-8", "surrogateescape") for text in texts),
    )


def read_stacks(source: Source) -> Stacks:
    """The stack of each key; equal stacks are one object. Raises InputError."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the schema

    held: Any = message("tensorflow.GraphDebugInfo")()
    try:
        held.ParseFromString(source.data.tobytes())
    except DecodeError as problem:
        raise InputError(f"{source.name} is damaged or no GraphDebugInfo: {problem}") from None
    files = list(held.files)

    def frame(one: Any) -> Frame:  # noqa: ANN401 - a message has no type
        known = 0 <= one.file_index < len(files)
        return Frame(files[one.file_index] if known else "", one.line, one.func, one.code)

    frames = {number: frame(one) for number, one in held.frames_by_id.items()}
    same: dict[tuple[Frame, ...], tuple[Frame, ...]] = {}

    def stack(frames: Iterable[Frame]) -> tuple[Frame, ...]:
        found = _of_user(frames)
        return same.setdefault(found, found)

    traces = {
        number: stack(frames[one] for one in trace.frame_id if one in frames)
        for number, trace in held.traces_by_id.items()
    }
    old = {key: stack(map(frame, one.file_line_cols)) for key, one in held.traces.items()}
    new = {key: traces.get(number, ()) for key, number in held.name_to_trace_id.items()}
    return {**old, **new}


def _of_user(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    """The frames outside of the framework; all where there are no others."""
    every = tuple(frames)
    return tuple(one for one in every if not _FRAMEWORK.search(one.file)) or every
