"""Live objects that hold traced functions, and the functions that they hold.

    ConcreteFunction                  itself
    tf.function                       all it was traced for; with an input signature, that
    what tf.saved_model.load gives    its signatures
    Keras model or layer              traced here, for inference; see keras_models

A function is what TensorFlow runs: its FunctionDef, the graph it was made from and the functions
it calls. Its last inputs are what it captured: variables and constants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.capture import keras_models
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.capture.stacks import Stack

# How TensorFlow calls what it makes of the Python function `f`: a number behind it, and for its
# gradient another. Numbers before that are the program's own.
_PYTHON_NAME: Final = re.compile(
    r"__(?:inference|forward)_(?:__backward_(?P<gradient>.*)_\d+|(?P<plain>.*))_\d+"
)


class Traced(NamedTuple):
    """A function that was traced, by the name of its Python function."""

    name: str
    function: Any  # what TensorFlow runs: definition, graph, children and debug info
    captured: Mapping[int, Any]  # by the place among its inputs, where a value is known
    called_from: Stack = ()  # where the program called it first, if that was seen

    @classmethod
    def of(cls, name: str, concrete: Any) -> Traced:  # noqa: ANN401 - a ConcreteFunction
        """The function that is run for a ConcreteFunction."""
        function, captured = concrete.inference_fn, concrete.captured_inputs
        first = len(function.cached_definition.signature.input_arg) - len(captured)
        return cls(name, function, dict(enumerate(captured, first)))


def is_traceable(given: object) -> bool:
    """Whether *given* is one of the live objects above."""
    return (
        _is_concrete(given)
        or hasattr(given, "get_concrete_function")
        or _has_signatures(given)
        or keras_models.is_model(given)
    )


def concrete_functions(given: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any of the forms
    """(name, ConcreteFunction) of each function of a live object; raises UsageError."""
    if _is_concrete(given):
        return [(python_name(given.name), given)]
    if keras_models.is_model(given):
        return [(given.name, keras_models.traced(given))]
    if hasattr(given, "get_concrete_function"):
        return _of_function(given)
    if _has_signatures(given):
        return _of_signatures(given)
    raise UsageError(
        f"there is no traced function in {type(given).__module__}.{type(given).__qualname__}: "
        "give a tf.function, a ConcreteFunction or a Keras model"
    )


def python_name(name: str | bytes) -> str:
    """What the Python function is called that TensorFlow has under *name*.

    >>> python_name(b"__inference_train_step_153"), python_name("__inference___backward_f_7_9")
    ('train_step', 'f_backward')
    """
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    found = _PYTHON_NAME.fullmatch(text)
    if found is None:
        return text
    return found["plain"] if found["gradient"] is None else f"{found['gradient']}_backward"


def _is_concrete(given: object) -> bool:
    return hasattr(given, "inference_fn") and hasattr(given, "captured_inputs")


def _has_signatures(given: object) -> bool:
    signatures = getattr(given, "signatures", None)
    return isinstance(signatures, Mapping) and hasattr(given, "graph_debug_info")


def _of_function(given: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - a tf.function
    """All that a tf.function was traced for."""
    name = getattr(given, "__name__", None) or "function"
    listed: Callable[[], Sequence[Any]] | None = getattr(
        given, "_list_all_concrete_functions", None
    )
    concrete = [] if listed is None else list(listed())
    if not concrete:
        raise UsageError(
            f"{name} was not traced yet: call it once, or give it an input_signature, or give "
            f"{name}.get_concrete_function(...)"
        )
    return [(name, one) for one in concrete]


def _of_signatures(given: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - a loaded SavedModel
    if not given.signatures:
        raise UsageError("what was loaded from a SavedModel has no signatures; give its folder")
    return list(given.signatures.items())
