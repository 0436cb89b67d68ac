"""The lines of the program that created the nodes of functions, as one GraphDebugInfo.

the debug info of each function ──► without frames of frameworks ──► `node@function`: stack
layers of a Keras model         ──► frames of their own below a line that created several
gradients                       ──► the stack of what they are the gradient of
variables                       ──► the stack of their first reader, as `node@`
calls of the program            ──► the stack of the first such call, as `node@`

A gradient is created where a tape is asked for it, which says nothing about the model. Its name
contains the operation:

    gradient_tape/net/dense/MatMul/MatMul_1   of net/dense/MatMul
    gradient_tape/net/Rsqrt/RsqrtGrad         of net/Rsqrt
    gradients/MatMul_grad/MatMul              of MatMul, in the gradient of a whole function
"""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import keras_models
from tfprof.capture.call_stacks import source_line
from tfprof.capture.keras_layers import layers_of, layers_of_weights
from tfprof.capture.tensorflow_internals import Internal
from tfprof.capture.traced_functions import Frame, Stack, Traced, python_name
from tfprof.foundation import stack_files
from tfprof.foundation.stack_files import LAYER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfprof.capture.keras_layers import LayerPath

_FRAMEWORKS: Final = ("tensorflow", "keras", "tf_keras", "tfprof")
_NO_FILE: Final = ("<frozen", "<__array_function__")
_GENERATED: Final = "__autograph_generated"
_GRADIENT: Final = re.compile(r"gradient_tape/(?P<of>.+)|gradients/(?P<whole>.+)_grad(?:/.*)?")
_NUMBER: Final = re.compile(rb"_(\d+)$")

Stacks = dict[str, Stack]  # by node


def debug_info(
    functions: Sequence[Traced], calls: Sequence[Sequence[str]], variables: Mapping[int, str]
) -> bytes:
    """A GraphDebugInfo; *calls* are the call nodes of functions, *variables* nodes by handle id."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _FRAMEWORKS)
    homes = (f"{Path(file).parent}{os.sep}" for file in files if file)
    prefixes = (*homes, *_NO_FILE, threading.__file__)
    callers = [_of_user(traced.called_from, prefixes) for traced in functions]
    layers: dict[bytes, dict[str, LayerPath]] = {}
    lines: dict[bytes, Stacks] = {}
    for traced, caller in zip(functions, callers, strict=True):
        for function, inside in _with_children(traced.function, traced.model):
            layers[Internal.NAME.of(function)] = inside
            lines[Internal.NAME.of(function)] = _stacks(function, prefixes, caller)
    by_function = _with_layers(lines, layers)
    unambiguous = _unambiguous(by_function)
    by_key = {
        f"{node}@{name.decode()}": stack
        for name in by_function
        for node, stack in _with_gradients(name, by_function, unambiguous).items()
    }
    in_layers = _of_weights(functions, by_key.values())
    for handle, node in variables.items():
        if stack := in_layers.get(handle) or _first_reader(handle, functions, by_function):
            by_key[f"{node}@"] = stack
    for caller, nodes in zip(callers, calls, strict=True):
        if caller:
            by_key |= {f"{node}@": caller for node in nodes}
    return _message(by_key)


def _with_children(
    function: Any, model: Any, outside: LayerPath = ()
) -> Iterator[tuple[Any, dict[str, LayerPath]]]:
    """A function and those that it calls, each with the layers of its nodes."""
    nodes = Internal.DEFINITION.of(function).node_def
    names = list(Internal.DEBUG_INFO.of(function).name_to_trace_id)
    inside = {} if model is None else layers_of(model, names)
    layers = {**dict.fromkeys(names, outside), **inside}
    yield function, layers
    callers = {value.func.name: node.name for node in nodes for value in node.attr.values()}
    for child in _children(function):
        caller = callers.get(Internal.NAME.of(child).decode(), "")
        yield from _with_children(child, model, layers.get(caller, outside))


def _with_layers(
    lines: Mapping[bytes, Stacks], layers: Mapping[bytes, Mapping[str, LayerPath]]
) -> dict[bytes, Stacks]:
    """The stacks of each function; a line that created several layers has a frame for each."""
    paths: dict[Stack, set[LayerPath]] = {}
    for name, stacks in lines.items():
        for node, stack in stacks.items():
            paths.setdefault(stack, set()).add(layers[name].get(node, ()))
    several = {stack for stack, found in paths.items() if len(found) > 1}
    return {
        name: {
            node: (*stack, *_layer_frames(layers[name].get(node, ()) if stack in several else ()))
            for node, stack in stacks.items()
        }
        for name, stacks in lines.items()
    }


def _of_weights(functions: Sequence[Traced], stacks: Iterable[Stack]) -> dict[int, Stack]:
    """The first of *stacks* that ends in the layers of a weight, by the id of its handle."""
    models = {id(traced.model): traced.model for traced in functions if traced.model is not None}
    first: dict[Stack, Stack] = {}
    for stack in stacks if models else ():
        first.setdefault(tuple(frame for frame in stack if frame.file == LAYER), stack)
    owners = (item for model in models.values() for item in layers_of_weights(model).items())
    found = ((handle, first.get(tuple(_layer_frames(path)))) for handle, path in owners)
    return {handle: stack for handle, stack in found if stack}


def _layer_frames(layers: LayerPath) -> Iterator[Frame]:
    return (Frame(LAYER, 0, layer) for layer in layers)


def _children(function: Any) -> list[Any]:
    """The functions that *function* calls; a Defun of TensorFlow 1 has no call stacks."""
    children = Internal.CHILDREN.of(function)
    return [child for child in children if Internal.DEBUG_INFO.of(child, None) is not None]


def _stacks(function: Any, prefixes: tuple[str, ...], caller: Stack) -> Stacks:
    """The stack of each node, outermost frame first."""
    info = Internal.DEBUG_INFO.of(function)
    files = list(info.files)
    frames = {
        number: Frame(files[frame.file_index], frame.line, frame.func, frame.col)
        for number, frame in info.frames_by_id.items()
    }
    traces = {}
    for number, trace in info.traces_by_id.items():
        stack = tuple(frames[frame_id] for frame_id in trace.frame_id if frame_id in frames)
        traces[number] = _of_user(stack, prefixes, caller)
    return {node: traces[number] for node, number in sorted(info.name_to_trace_id.items())}


def _of_user(stack: Stack, prefixes: tuple[str, ...], caller: Stack = ()) -> Stack:
    """The user's frames; for a stack without any, the *caller* or the innermost frame."""
    # A thread that a framework started does not have its caller on its stack. What traces a Keras
    # model stands outside of the model: it counts only if no frame inside is the user's.
    traced = [place for place, frame in enumerate(stack) if frame.file == keras_models.__file__]
    parts = (stack[traced[-1] :], stack) if traced else (stack,)
    for part in parts:
        user = (frame for frame in part if not frame.file.startswith(prefixes))
        if stack_of_user := tuple(frame for frame in user if _GENERATED not in frame.file):
            return stack_of_user
    return caller or stack[-1:]


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
    function: Any, value: Any, inside: Any, by_function: Mapping[bytes, Stacks]
) -> Stack | None:
    for child in _children(function):
        for outer, inner in Internal.CAPTURES.of(Internal.GRAPH.of(child)):
            # A function that was traced before its caller captured the value itself.
            if outer is value or outer is inside:
                return _innermost(child, value, inner, by_function)
    return by_function[Internal.NAME.of(function)].get(inside.op.name)


def _unambiguous(by_function: Mapping[bytes, Stacks]) -> Stacks:
    """The stacks of non-gradient nodes that are the same in all functions with such a node."""
    stacks_of: dict[str, set[Stack]] = {}
    for stacks in by_function.values():
        for node, stack in stacks.items():
            stacks_of.setdefault(node, set()).add(stack)
    return {
        node: next(iter(stacks))
        for node, stacks in stacks_of.items()
        if len(stacks) == 1 and not _GRADIENT.match(node)
    }


def _with_gradients(
    name: bytes, by_function: Mapping[bytes, Stacks], unambiguous: Stacks
) -> Stacks:
    """The stacks of a function, with gradients changed to the stacks of their operations."""
    stacks = by_function[name]
    gradients = {node: match for node in stacks if (match := _GRADIENT.fullmatch(node))}
    if not gradients:
        return stacks
    forward = _forward(name, by_function)
    if forward is None:
        own = {node: stack for node, stack in stacks.items() if not _GRADIENT.match(node)}
        forward = {**unambiguous, **own}
    scopes = _scopes(forward)
    result = dict(stacks)
    for node, match in gradients.items():
        whole = match["whole"]
        stack = _stack_of(whole or match["of"], forward, scopes, exact=whole is not None)
        result[node] = stack or stacks[node]
    return result


def _forward(name: bytes, by_function: Mapping[bytes, Stacks]) -> Stacks | None:
    """The stacks of the function whose gradient the function *name* is, if it is one."""

    def number(key: bytes) -> int:
        match = _NUMBER.search(key)
        return int(match[1]) if match else 0

    python = python_name(name)
    same = [key for key in by_function if key != name and f"{python_name(key)}_backward" == python]
    # Of several traces, the nearest number: TensorFlow makes a function, and then its gradient.
    nearest = min(same, key=lambda other: abs(number(other) - number(name)), default=None)
    return None if nearest is None else by_function[nearest]


def _scopes(forward: Stacks) -> dict[str, Stack | None]:
    """The stack that all nodes of a scope share; None where they differ."""
    scopes: dict[str, Stack | None] = {}
    for node, stack in forward.items():
        scope = node.rpartition("/")[0]
        while scope:
            scopes[scope] = stack if scopes.get(scope, stack) == stack else None
            scope = scope.rpartition("/")[0]
    return scopes


def _stack_of(
    of: str, forward: Stacks, scopes: Mapping[str, Stack | None], *, exact: bool
) -> Stack | None:
    """The stack of the operation that a gradient belongs to."""
    # The node it stands below, `Rsqrt` for a `RsqrtGrad`, or any node of its scope if all share one
    # line. A node of the same name may be another one by chance.
    if exact and of in forward:
        return forward[of]
    if (stack := forward.get(of.removesuffix("Grad"))) and of.endswith("Grad"):
        return stack
    scope = of.rpartition("/")[0]
    while scope:
        if stack := forward.get(scope) or scopes.get(scope):
            return stack
        scope = scope.rpartition("/")[0]
    return None


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
                    message.code = source_line(frame.file, frame.line)
            traces[stack] = len(traces) + 1
            info.traces_by_id[traces[stack]].frame_id.extend(frames[frame] for frame in stack)
        info.name_to_trace_id[key] = traces[stack]
    info.files.extend(files)
    return bytes(info.SerializeToString(deterministic=True))


def embedded(lines: bytes) -> str:
    """What a GraphDebugInfo says about the machine, as in "the paths of 3 source files"."""
    info = Internal.GRAPH_DEBUG_INFO.load().FromString(lines)
    has_text = any(frame.code for frame in info.frames_by_id.values())
    return stack_files.embedded(info.files, has_text=has_text)


def without_source(lines: bytes) -> bytes:
    """A GraphDebugInfo without source text and absolute paths."""
    info = Internal.GRAPH_DEBUG_INFO.load().FromString(lines)
    info.files[:] = map(stack_files.short_path, info.files)
    for frame in info.frames_by_id.values():
        frame.ClearField("code")
    return bytes(info.SerializeToString(deterministic=True))
