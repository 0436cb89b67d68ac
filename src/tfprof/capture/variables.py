"""The variables that functions read: their names, shapes and whether they are trainable.

A function has a variable as the handle that it captured. The name is the path of the variable in
its Keras model if it has one, such as `net/dense/kernel`, else its name in TensorFlow.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.capture.keras_models import copies, tensorflow_variable
from tfprof.capture.tensorflow_internals import Internal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.capture.traced_functions import Traced


class Variable(NamedTuple):
    """What a SavedModel records of a variable."""

    name: str
    dtype: int  # a number of the DataType enum
    shape: Any  # a TensorShapeProto
    trainable: bool


def of_weights(weights: Iterable[tuple[Any, bool]]) -> dict[int, Variable]:
    """The variables of a model by the id of their handles."""
    variables = {}
    for weight, trainable in weights:
        if (behind := tensorflow_variable(weight)) is not None:
            described = _described(weight, behind)
            variables[id(behind.handle)] = described._replace(trainable=trainable)
    return variables


def of_functions(functions: Sequence[Traced]) -> dict[int, Variable]:
    """The variables that functions read, by the id of their handles, in order of first use."""
    # All live variables of Keras: it keeps no list of them, and only they know their paths.
    kind: Any = getattr(sys.modules.get("keras"), "Variable", None)
    objects = gc.get_objects() if isinstance(kind, type) else ()
    live = (item for item in objects if issubclass(type(item), kind))
    pairs = ((tensorflow_variable(variable), variable) for variable in live)
    of_keras = {id(behind.handle): variable for behind, variable in pairs if behind is not None}
    variables: dict[int, Variable] = {}
    for behind in _captured(functions):
        handle = id(behind.handle)
        variables.setdefault(handle, _described(of_keras.get(handle, behind), behind))
    return variables


def of_handle(handle: Any, name: str) -> Variable | None:  # a tensor
    """A variable that only its handle describes; None for other resources."""
    if not is_variable(handle):
        return None
    data = Internal.HANDLE_DATA.of(handle).shape_and_type[0]
    return Variable(name, data.dtype, data.shape, trainable=False)


def is_variable(tensor: Any) -> bool:
    """Whether *tensor* is the handle of a variable, not of a table or an iterator."""
    data = Internal.HANDLE_DATA.of(tensor, None)
    return data is not None and data.is_set and bool(data.shape_and_type)


def _described(variable: Any, behind: Any) -> Variable:
    path = getattr(variable, "path", None)
    name = path if isinstance(path, str) else behind.name.partition(":")[0]
    # Integers have no gradient; the counters of Keras 2 are trainable only by default.
    has_gradient = behind.dtype.is_floating or behind.dtype.is_complex
    trainable = has_gradient and bool(getattr(variable, "trainable", False))
    return Variable(name, behind.dtype.as_datatype_enum, behind.shape.as_proto(), trainable)


def _captured(functions: Sequence[Traced]) -> list[Any]:
    """The variables that functions and their callees read, in the order of their captures."""
    captured = []
    for traced in functions:
        variables = Internal.VARIABLES.of(Internal.GRAPH.of(traced.function))
        by_handle = {id(part.handle): part for variable in variables for part in copies(variable)}
        handles = map(id, traced.captured.values())
        captured += [by_handle[handle] for handle in handles if handle in by_handle]
    return captured
