"""Where in the program the nodes of functions were made, as one GraphDebugInfo.

each function's debug info ──► frames of frameworks dropped ──► `node@function`: stack
gradients                  ──► the stack of what they belong to; see gradients
variables                  ──► the stack of what first reads them, as `node@`
calls of the program       ──► the stack of the first such call, as `node@`
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

    *calls* are the nodes that stand for the call of each function; *variables* names the nodes of
    captured handles, by their identity.
    """
    homes = _framework_homes()
    callers = [_of_user(traced.called_from, homes) for traced in functions]
    known = {
        one.name: _stacks(one, homes, caller)
        for traced, caller in zip(functions, callers, strict=True)
        for one in _with_children(traced.function)
    }
    told = {
        f"{node}@{name.decode()}": stack
        for name, stacks in with_gradients(known).items()
        for node, stack in stacks.items()
    }
    for handle, node in variables.items():
        if stack := _first_reader(handle, functions, known):
            told[f"{node}@"] = stack
    for caller, nodes in zip(callers, calls, strict=True):
        if caller:
            told |= {f"{node}@": caller for node in nodes}
    return _message(told)


def _with_children(function: Any) -> Iterator[Any]:  # noqa: ANN401 - what TensorFlow runs
    yield function
    for child in function.children:
        yield from _with_children(child)


def _framework_homes() -> tuple[str, ...]:
    """How the names of files begin that are not the user's."""
    modules = (sys.modules.get(name) for name in _FRAMEWORKS)
    homes = (f"{Path(one.__file__).parent}{os.sep}" for one in modules if one and one.__file__)
    return (*homes, *_NO_FILE, threading.__file__)


def _stacks(function: Any, homes: tuple[str, ...], caller: Stack) -> Stacks:  # noqa: ANN401
    """The stack of each node, outermost frame first."""
    info = function.graph_debug_info
    files = list(info.files)
    frames = {
        number: Frame(files[frame.file_index], frame.line, frame.func, frame.col)
        for number, frame in info.frames_by_id.items()
    }
    traces = {}
    for number, trace in info.traces_by_id.items():
        stack = tuple(frames[one] for one in trace.frame_id if one in frames)
        traces[number] = _of_user(stack, homes, caller)
    return {node: traces[number] for node, number in sorted(info.name_to_trace_id.items())}


def _of_user(stack: Stack, homes: tuple[str, ...], caller: Stack = ()) -> Stack:
    """The frames that are the user's; of a stack without any, the *caller* or the innermost one.

    A thread that a framework made has no frame of who asked for it, but the caller did.
    Who asked for a model to be traced here is of interest only where nothing inside is the user's.
    """
    traced = [place for place, frame in enumerate(stack) if frame.file == keras_models.__file__]
    parts = (stack[traced[-1] :], stack) if traced else (stack,)
    for part in parts:
        if user := tuple(one for one in part if not _is_framework(one.file, homes)):
            return user
    return caller or stack[-1:]


def _is_framework(file: str, homes: tuple[str, ...]) -> bool:
    return file.startswith(homes) or _GENERATED in file


def _first_reader(
    handle: int, functions: Sequence[Traced], known: Mapping[bytes, Stacks]
) -> Stack | None:
    """The stack by which a captured value came into the innermost function that reads it."""
    for traced in functions:
        inputs = traced.function.graph.inputs
        for place, value in traced.captured.items():
            if id(value) == handle and place < len(inputs):
                return _innermost(traced.function, value, inputs[place], known)
    return None


def _innermost(
    function: Any,  # noqa: ANN401 - what TensorFlow runs
    value: Any,  # noqa: ANN401 - a tensor
    inside: Any,  # noqa: ANN401 - what the function sees of it
    known: Mapping[bytes, Stacks],
) -> Stack | None:
    for child in function.children:
        for outer, inner in child.graph.captures:
            # A function that was traced before the one that calls it captured the value itself.
            if outer is value or outer is inside:
                return _innermost(child, value, inner, known)
    return known[function.name].get(inside.op.name)


def _message(told: Mapping[str, Stack]) -> bytes:
    """The GraphDebugInfo of stacks by key; each file, frame and stack is in it once."""
    from tensorflow.core.framework.graph_debug_info_pb2 import GraphDebugInfo  # noqa: PLC0415

    info = GraphDebugInfo()
    files: dict[str, int] = {}
    frames: dict[Frame, int] = {}
    traces: dict[Stack, int] = {}
    for key in sorted(told):
        stack = told[key]
        if stack not in traces:
            for frame in stack:
                if frame not in frames:
                    frames[frame] = len(frames) + 1
                    made = info.frames_by_id[frames[frame]]
                    made.file_index = files.setdefault(frame.file, len(files))
                    made.line, made.func, made.col = frame.line, frame.function, frame.column
            traces[stack] = len(traces) + 1
            info.traces_by_id[traces[stack]].frame_id.extend(frames[frame] for frame in stack)
        info.name_to_trace_id[key] = traces[stack]
    info.files.extend(files)
    return bytes(info.SerializeToString(deterministic=True))
