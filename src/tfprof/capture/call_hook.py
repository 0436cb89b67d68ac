"""Records every function that Python calls during a capture.

All calls of functions go through one method of one class of TensorFlow, which is hooked meanwhile.
What functions call is in their graphs, so calls that are traced into a graph are not recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.capture.method_hook import MethodHook
from tfprof.capture.stacks import Stack, stack_here
from tfprof.capture.tensorflow_internals import Internal, call_method
from tfprof.capture.traced import Traced, python_name
from tfprof.capture.variables import is_variable

if TYPE_CHECKING:
    from collections.abc import Callable


class Calls:
    """The functions that were called between `begin` and `end`, each once."""

    def __init__(self) -> None:
        self._called: dict[bytes, tuple[Any, dict[int, Any], Stack]] = {}
        self._hook: MethodHook | None = None

    def begin(self) -> None:
        """Record all calls from now on; `require_tensorflow` comes first."""
        self._hook = MethodHook(*call_method(), self._record)

    def end(self) -> None:
        """Stop recording; may be called twice."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def functions(self) -> list[Traced]:
        """The recorded functions, in the order of their first calls."""
        functions = []
        for function, handles, stack in self._called.values():
            captured = dict(handles)
            graph = Internal.GRAPH.of(function)
            places = {id(tensor): place for place, tensor in enumerate(Internal.INPUTS.of(graph))}
            for outer, inner in Internal.CAPTURES.of(graph):
                if id(inner) in places and hasattr(outer, "numpy"):
                    captured.setdefault(places[id(inner)], outer)
            name = python_name(Internal.NAME.of(function))
            functions.append(Traced(name, function, captured, stack))
        return functions

    def _record(self, original: Callable[..., Any], function: Any, *inputs: Any) -> Any:  # noqa: ANN401
        import tensorflow as tf  # noqa: PLC0415 - it calls this

        name = Internal.NAME.of(function)
        if name not in self._called and tf.executing_eagerly():
            # Handles identify the variables; other inputs are not kept alive.
            handles = {place: one for place, one in enumerate(inputs) if is_variable(one)}
            self._called[name] = function, handles, stack_here()
        return original(function, *inputs)
