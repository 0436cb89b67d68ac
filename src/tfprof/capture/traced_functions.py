"""Live objects that hold traced functions, and the functions that they hold.

    ConcreteFunction                    itself
    tf.function                         all it was traced for; with an input signature, that
    result of tf.saved_model.load       its signatures
    Keras model or layer                traced here, for inference; see keras_models

TensorFlow runs an AtomicFunction: a FunctionDef, the graph it was made from and the functions it
calls. Its last inputs are the variables and constants that it captured. Call stacks of the program
have the outermost frame first.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from traceback import walk_stack
from typing import Any, NamedTuple

from tfprof.capture import keras_models
from tfprof.capture.tensorflow_internals import Internal
from tfprof.errors import UsageError
from tfprof.read import called_functions


class Frame(NamedTuple):
    """One line of a call stack."""

    file: str
    line: int
    function: str
    column: int = 0


Stack = tuple[Frame, ...]


def stack_here() -> Stack:
    """The call stack of the caller."""
    above = walk_stack(sys._getframe(1))  # noqa: SLF001 - as the standard library does
    frames = [Frame(each.f_code.co_filename, line, each.f_code.co_name) for each, line in above]
    return tuple(reversed(frames))


def model_here() -> Any:  # of Keras, or None
    """The Keras model whose methods, such as `fit`, are on the call stack; the outermost."""
    above = walk_stack(sys._getframe(1))  # noqa: SLF001 - as above
    owners = [frame.f_locals.get("self") for frame, _ in above]
    return next((owner for owner in reversed(owners) if keras_models.is_model(owner)), None)


class Traced(NamedTuple):
    """A traced function, by the name of its Python function."""

    name: str
    function: Any  # an AtomicFunction
    captured: Mapping[int, Any]  # the captured values that are known, by input position
    called_from: Stack = ()  # where the program called it first, if a capture saw that
    model: Any = None  # the Keras model that it runs, if known

    @classmethod
    def of(cls, name: str, concrete: Any) -> Traced:  # a ConcreteFunction
        """The function that a ConcreteFunction runs."""
        function = Internal.INFERENCE_FUNCTION.of(concrete)
        captured = Internal.CAPTURED_INPUTS.of(concrete)
        first = len(Internal.DEFINITION.of(function).signature.input_arg) - len(captured)
        return cls(name, function, dict(enumerate(captured, first)))


def is_traceable(value: object) -> bool:
    """Whether *value* is one of the live objects above."""
    signatures = getattr(value, "signatures", None)  # of a loaded SavedModel
    return (
        _is_concrete(value)
        or hasattr(value, "get_concrete_function")
        or (isinstance(signatures, Mapping) and hasattr(value, "graph_debug_info"))
        or keras_models.is_model(value)
    )


def concrete_functions(holder: Any) -> list[tuple[str, Any]]:  # see above
    """(name, ConcreteFunction) of each function of a live object; raises UsageError."""
    if _is_concrete(holder):
        return [(python_name(holder.name), holder)]
    if keras_models.is_model(holder):
        return [(holder.name, keras_models.traced(holder))]
    if hasattr(holder, "get_concrete_function"):
        # All that a tf.function was traced for, the latest trace for each input signature.
        # Saving a function traces it again, and so does a first trace that created variables.
        name = getattr(holder, "__name__", None) or "function"
        concrete = Internal.CONCRETE_FUNCTIONS.of(holder, list)()
        if not concrete:
            raise UsageError(
                f"{name} was not traced yet: call it once, or give it an input_signature, or give "
                f"{name}.get_concrete_function(...)"
            )
        latest = {repr(trace.structured_input_signature): trace for trace in concrete}
        return [(name, trace) for trace in latest.values()]
    if not holder.signatures:
        raise UsageError("the loaded SavedModel has no signatures: give its folder instead")
    return list(holder.signatures.items())


def python_name(name: str | bytes) -> str:
    """The name of the Python function behind a function of TensorFlow.

    >>> python_name(b"__inference_train_step_153"), python_name("__inference___backward_f_7_9")
    ('train_step', 'f_backward')
    """
    full = name if isinstance(name, bytes) else name.encode("utf-8", "replace")
    return (called_functions.python_name(full) or full).decode("utf-8", "replace")


def _is_concrete(value: object) -> bool:
    try:
        kind = sys.modules["tensorflow"].types.experimental.ConcreteFunction
    except (KeyError, AttributeError):  # TensorFlow is not imported
        return False
    return isinstance(value, kind)
