"""The lines of the program that created the nodes of functions, as one GraphDebugInfo.

the debug info of each function ──► without frames of frameworks ──► `node@function`: stack
gradients                       ──► the stack of what they are the gradient of; see gradients
variables                       ──► the stack of their first reader, as `node@`
calls of the program            ──► the stack of the first such call, as `node@`
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import keras_models
from tfprof.capture.gradients import Stacks, with_gradients
from tfprof.capture.stacks import Frame, Stack
from tfprof.capture.tensorflow_internals import Internal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.capture.traced import Traced

_FRAMEWORKS: Final = ("tensorflow", "keras", "tf_keras", "tfprof")
_NO_FILE: Final = ("<frozen", "<__array_function__")
_GENERATED: Final = "__autograph_generated"


def debug_info(
    functions: Sequence[Traced], calls: Sequence[Sequence[str]], variables: Mapping[int, str]
) -> bytes:
    """A GraphDebugInfo.

    *calls* are the nodes that stand for the call of each function; *variables* has the nodes of
    captured handles by their ids.
    """
    prefixes = _framework_prefixes()
    callers = [_of_user(traced.called_from, prefixes) for traced in functions]
    by_function = {
        Internal.NAME.of(function): _stacks(function, prefixes, caller)
        for traced, caller in zip(functions, callers, strict=True)
        for function in _with_children(traced.function)
    }
    by_key = {
        f"{node}@{name.decode()}": stack
        for name, stacks in with_gradients(by_function).items()
        for node, stack in stacks.items()
    }
    for handle, node in variables.items():
        if stack := _first_reader(handle, functions, by_function):
            by_key[f"{node}@"] = stack
    for caller, nodes in zip(callers, calls, strict=True):
        if caller:
            by_key |= {f"{node}@": caller for node in nodes}
    return _message(by_key)


def _with_children(function: Any) -> Iterator[Any]:  # noqa: ANN401 - an AtomicFunction
    yield function
    for child in Internal.CHILDREN.of(function):
        yield from _with_children(child)


def _framework_prefixes() -> tuple[str, ...]:
    """The beginnings of file names that are not the user's."""
    modules = (sys.modules.get(name) for name in _FRAMEWORKS)
    homes = (f"{Path(one.__file__).parent}{os.sep}" for one in modules if one and one.__file__)
    return (*homes, *_NO_FILE, threading.__file__)


def _stacks(function: Any, prefixes: tuple[str, ...], caller: Stack) -> Stacks:  # noqa: ANN401
    """The stack of each node, outermost frame first."""
    info = Internal.DEBUG_INFO.of(function)
    files = list(info.files)
    frames = {
        number: Frame(files[frame.file_index], frame.line, frame.func, frame.col)
        for number, frame in info.frames_by_id.items()
    }
    traces = {}
    for number, trace in info.traces_by_id.items():
        stack = tuple(frames[one] for one in trace.frame_id if one in frames)
        traces[number] = _of_user(stack, prefixes, caller)
    return {node: traces[number] for node, number in sorted(info.name_to_trace_id.items())}


def _of_user(stack: Stack, prefixes: tuple[str, ...], caller: Stack = ()) -> Stack:
    """The user's frames; for a stack without any, the *caller* or the innermost frame.

    The stack of a thread that a framework started does not contain its caller.
    Frames outside of a trace made by keras_models count only if there are none of the user inside.
    """
    traced = [place for place, frame in enumerate(stack) if frame.file == keras_models.__file__]
    parts = (stack[traced[-1] :], stack) if traced else (stack,)
    for part in parts:
        if user := tuple(frame for frame in part if not _is_framework(frame.file, prefixes)):
            return user
    return caller or stack[-1:]


def _is_framework(file: str, prefixes: tuple[str, ...]) -> bool:
    return file.startswith(prefixes) or _GENERATED in file


def _first_reader(
    handle: int, functions: Sequence[Traced], by_function: Mapping[bytes, Stacks]
) -> Stack | None:
    """The stack by which a captured value came into the innermost function that reads it."""
    for traced in functions:
        inputs = Internal.INPUTS.of(Internal.GRAPH.of(traced.function))
        for place, value in traced.captured.items():
            if id(value) == handle and place < len(inputs):
                return _innermost(traced.function, value, inputs[place], by_function)
    return None


def _innermost(
    function: Any,  # noqa: ANN401 - an AtomicFunction
    value: Any,  # noqa: ANN401 - a captured tensor
    inside: Any,  # noqa: ANN401 - the function's own argument for it
    by_function: Mapping[bytes, Stacks],
) -> Stack | None:
    for child in Internal.CHILDREN.of(function):
        for outer, inner in Internal.CAPTURES.of(Internal.GRAPH.of(child)):
            # A function that was traced before its caller captured the value itself.
            if outer is value or outer is inside:
                return _innermost(child, value, inner, by_function)
    return by_function[Internal.NAME.of(function)].get(inside.op.name)


def _message(by_key: Mapping[str, Stack]) -> bytes:
    """The GraphDebugInfo of stacks by key; each file, frame and stack is in it once."""
    info = Internal.GRAPH_DEBUG_INFO.load()()
    files: dict[str, int] = {}
    frames: dict[Frame, int] = {}
    traces: dict[Stack, int] = {}
    for key in sorted(by_key):
        stack = by_key[key]
        if stack not in traces:
            for frame in stack:
                if frame not in frames:
                    frames[frame] = len(frames) + 1
                    message = info.frames_by_id[frames[frame]]
                    message.file_index = files.setdefault(frame.file, len(files))
                    message.line, message.func, message.col = frame[1:]
            traces[stack] = len(traces) + 1
            info.traces_by_id[traces[stack]].frame_id.extend(frames[frame] for frame in stack)
        info.name_to_trace_id[key] = traces[stack]
    info.files.extend(files)
    return bytes(info.SerializeToString(deterministic=True))
