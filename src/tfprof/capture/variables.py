"""The variables that functions read: their names, shapes and whether training changes them.

A function knows a variable by the handle that it captured. The name is the path of the variable
in its Keras model where it has one, such as `net/dense/kernel`, else its name in TensorFlow.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.capture.keras_models import copies, tensorflow_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.capture.traced import Traced


class Variable(NamedTuple):
    """What is told of a variable."""

    name: str
    dtype: int  # as TensorFlow's messages number it
    shape: Any  # a TensorShapeProto
    trainable: bool


def of_weights(weights: Iterable[tuple[Any, bool]]) -> dict[int, Variable]:
    """The variables of a model by the identity of their handles."""
    found = {}
    for weight, trainable in weights:
        if (behind := tensorflow_variable(weight)) is not None:
            described = _described(weight, behind)
            found[id(behind.handle)] = described._replace(trainable=trainable)
    return found


def of_functions(functions: Sequence[Traced]) -> dict[int, Variable]:
    """The variables that functions read by the identity of their handles, in their order."""
    of_keras = {
        id(behind.handle): variable
        for variable in _keras_variables()
        if (behind := tensorflow_variable(variable)) is not None
    }
    found: dict[int, Variable] = {}
    for behind in _captured(functions):
        handle = id(behind.handle)
        found.setdefault(handle, _described(of_keras.get(handle, behind), behind))
    return found


def of_handle(handle: Any, name: str) -> Variable | None:  # noqa: ANN401 - a tensor
    """What the handle itself tells of a variable that nobody holds; None of other resources."""
    if not is_variable(handle):
        return None
    told = handle._handle_data.shape_and_type[0]  # noqa: SLF001 - it is nowhere else
    return Variable(name, told.dtype, told.shape, trainable=False)


def is_variable(tensor: Any) -> bool:  # noqa: ANN401
    """Whether *tensor* is the handle of a variable, not of a table or an iterator."""
    data = getattr(tensor, "_handle_data", None)
    return data is not None and data.is_set and bool(data.shape_and_type)


def _described(variable: Any, behind: Any) -> Variable:  # noqa: ANN401
    path = getattr(variable, "path", None)
    name = path if isinstance(path, str) else behind.name.partition(":")[0]
    trainable = bool(getattr(variable, "trainable", False))
    return Variable(name, behind.dtype.as_datatype_enum, behind.shape.as_proto(), trainable)


def _captured(functions: Sequence[Traced]) -> list[Any]:
    """The variables that functions read, and those they call, in the order they captured them."""
    found = []
    for function in functions:
        every = [one for each in function.function.graph.variables for one in copies(each)]
        known = {id(one.handle): one for one in every}
        found += [known[id(one)] for one in function.captured.values() if id(one) in known]
    return found


def _keras_variables() -> list[Any]:
    """All variables of Keras that live; Keras keeps no list, and its paths are nowhere else."""
    keras = sys.modules.get("keras")
    kind = getattr(keras, "Variable", None)
    if not isinstance(kind, type):
        return []
    return [one for one in gc.get_objects() if issubclass(type(one), kind)]
