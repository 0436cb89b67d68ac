"""Looking on while functions run: every function that Python calls while somebody looks.

All calls of functions end up in one method of one class of TensorFlow, and that one attribute is
replaced while somebody looks. What functions call is in their graphs, so calls that are traced
into a graph are passed over.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Final

from tfprof.capture.stacks import Stack, stack_here
from tfprof.capture.traced import Traced, python_name
from tfprof.capture.variables import is_variable
from tfprof.errors import UsageError

_RUN: Final = "call_flat"


class Calls:
    """The functions that were called between `begin` and `end`, each once."""

    def __init__(self) -> None:
        self._called: dict[bytes, tuple[Any, dict[int, Any], Stack]] = {}
        self._replaced: tuple[type, Any] | None = None

    def begin(self) -> None:
        """Look at all calls from now on; raises UsageError where this TensorFlow has no such."""
        import tensorflow as tf  # noqa: PLC0415 - who looks on has it

        function = getattr(tf.function(lambda: None).get_concrete_function(), "inference_fn", None)
        original = vars(type(function)).get(_RUN)
        if original is None:
            raise UsageError(
                f"functions cannot be captured with TensorFlow {tf.__version__}, but with 2.21"
            )

        @wraps(original)
        def looked_at(called: Any, *inputs: Any) -> Any:  # noqa: ANN401 - tensors
            if called.name not in self._called and tf.executing_eagerly():
                self._add(called, inputs)
            return original(called, *inputs)

        self._replaced = type(function), original
        setattr(type(function), _RUN, looked_at)

    def end(self) -> None:
        """Look at no more calls; may be called twice."""
        if self._replaced is not None:
            owner, original = self._replaced
            setattr(owner, _RUN, original)
            self._replaced = None

    def functions(self) -> list[Traced]:
        """What was called, in the order of first calls."""
        found = []
        for function, handles, stack in self._called.values():
            captured = dict(handles)
            places = {id(tensor): place for place, tensor in enumerate(function.graph.inputs)}
            for outer, inner in function.graph.captures:
                if id(inner) in places and hasattr(outer, "numpy"):
                    captured.setdefault(places[id(inner)], outer)
            found.append(Traced(python_name(function.name), function, captured, stack))
        return found

    def _add(self, called: Any, inputs: tuple[Any, ...]) -> None:  # noqa: ANN401
        """Note a function; its handles tell the variables, other inputs are not kept alive."""
        handles = {place: one for place, one in enumerate(inputs) if is_variable(one)}
        self._called[called.name] = called, handles, stack_here()
