"""Where the operations of functions were created: a GraphDebugInfo as the columns of an op log.

    name_to_trace_id   "MatMul@body_12" ─► trace ─► frames ─► file, line, function

A key names a node and the function whose body contains it; it applies to every body of that
function. Frames of libraries are left out if any of the user's frames remain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.stack_files import library_of
from tfprof.read.columns import OpLogColumns
from tfprof.read.runtime_names import local_names
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.model import Profile
    from tfprof.read.source import Source

# String ids that no op log uses, so a profile can have both.
_FIRST_TEXT: Final = 1 << 40


class Frame(NamedTuple):
    """A line of a call stack."""

    file: str
    line: int
    function: str
    source: str


Stacks = dict[str, tuple[Frame, ...]]


def op_log(profile: Profile, source: Source) -> OpLogColumns:
    """The call stacks that *source* has for nodes of *profile*; raises InputError."""
    return stack_columns(profile, read_stacks(source))


def stack_columns(profile: Profile, stack_of: Stacks) -> OpLogColumns:
    """The stacks of the nodes of *profile*, as an op log has them."""
    stack = [stack_of.get(key, ()) for key in local_names(profile).texts()]
    traced = [node for node, frames in enumerate(stack) if frames]
    # By identity: comparing long stacks for each of many nodes would take too long.
    distinct = {id(frames): frames for frames in stack if frames}
    row = {key: index for index, key in enumerate(distinct)}
    frames = [frame for stack_frames in distinct.values() for frame in stack_frames]
    texts: dict[str, int] = {}

    def ids(parts: Iterable[str]) -> I64:
        return np.array([texts.setdefault(t, _FIRST_TEXT + len(texts)) for t in parts], np.int64)

    nothing = np.empty(0, np.int64)
    return OpLogColumns(
        name=profile.nodes.name.take(np.array(traced, np.int64)),
        float_ops=np.zeros(len(traced), np.int64),
        type_entry=nothing,
        type=Strings.of([]),
        stack=np.array([row[id(stack[node])] for node in traced], np.int64),
        stack_start=np.cumsum([0, *map(len, distinct.values())]),
        frame_file=ids(frame.file for frame in frames),
        frame_line=np.array([frame.line for frame in frames], np.int64),
        frame_function=ids(frame.function for frame in frames),
        frame_function_line=np.zeros(len(frames), np.int64),
        frame_source=ids(frame.source for frame in frames),
        string_id=np.array(list(texts.values()), np.int64),
        string=Strings.of(text.encode("utf-8", "surrogateescape") for text in texts),
    )


def read_stacks(source: Source) -> Stacks:
    """The stack of each key; equal stacks are the same object. Raises InputError."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the schema

    info: Any = message("tensorflow.GraphDebugInfo")()
    try:
        info.ParseFromString(source.data.tobytes())
    except DecodeError as problem:
        raise InputError(f"{source.name} is damaged or not a GraphDebugInfo: {problem}") from None
    files = list(info.files)

    def frame(line: Any) -> Frame:  # noqa: ANN401 - a message has no type
        known = 0 <= line.file_index < len(files)
        return Frame(files[line.file_index] if known else "", line.line, line.func, line.code)

    frames = {number: frame(line) for number, line in info.frames_by_id.items()}
    shared: dict[tuple[Frame, ...], tuple[Frame, ...]] = {}

    def stack(frames: Iterable[Frame]) -> tuple[Frame, ...]:
        # The frames outside the framework; all of them if there are no others.
        every = tuple(frames)
        own = tuple(frame for frame in every if not library_of(frame.file)) or every
        return shared.setdefault(own, own)

    traces = {
        number: stack(frames[frame_id] for frame_id in trace.frame_id if frame_id in frames)
        for number, trace in info.traces_by_id.items()
    }
    old = {key: stack(map(frame, trace.file_line_cols)) for key, trace in info.traces.items()}
    new = {key: traces.get(number, ()) for key, number in info.name_to_trace_id.items()}
    return {**old, **new}
