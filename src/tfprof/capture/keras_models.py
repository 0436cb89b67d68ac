"""Keras models and layers: recognised without Keras, traced for inference, and their weights.

The weights are those that `count_params` counts. Random states, metrics and optimizer slots are
variables, but no weights.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from inspect import signature
from typing import Any, Final

from tfprof.capture.tensorflow_internals import Internal
from tfprof.columns.keras_layer import KerasLayer
from tfprof.errors import UsageError
from tfprof.model import Note

_KERAS: Final = ("keras", "tf_keras")
_COLOUR: Final = re.compile(r"\x1b\[\d*m")
_MOST_LAYERS, _DEEPEST = 100_000, 50
_WHERE: Final = "Exception encountered when calling"


def is_model(value: object) -> bool:
    """Whether *value* is a layer of Keras; every model is one."""
    layers = (base for base in type(value).__mro__ if base.__name__ == "Layer")
    return any(layer.__module__.partition(".")[0] in _KERAS for layer in layers)


def weights(model: Any) -> list[tuple[Any, bool]]:  # a Keras model
    """(variable, whether it is trainable) of each weight."""
    trainable = {id(weight) for weight in model.trainable_weights}
    return [(weight, id(weight) in trainable) for weight in model.weights]


def layers(model: Any) -> list[KerasLayer]:  # a Keras model
    """The model and the layers in it, each after what holds it, in the order of `layers`."""
    listed: list[KerasLayer] = []
    waiting = [(model, "", 0)]
    while waiting and len(listed) < _MOST_LAYERS:
        layer, around, depth = waiting.pop()
        path = f"{around}/{str(layer.name).replace('/', '_')}".lstrip("/")
        listed.append(KerasLayer(path, type(layer).__name__, _output_shape(layer)))
        inside = getattr(layer, "layers", None)
        if not isinstance(inside, (list, tuple)):
            flatten = Internal.INNER_LAYERS.of(layer, lambda **_: ())
            inside = flatten(include_self=False, recursive=False)
        if depth < _DEEPEST:
            waiting += [(each, path, depth + 1) for each in reversed(list(inside))]
    return listed


def _output_shape(layer: Any) -> tuple[int, ...] | None:
    """The shape of the output of a layer in a functional model; None if it is called elsewhere."""
    with suppress(Exception):  # a layer without one output raises errors of several kinds
        return tuple(-1 if size is None else int(size) for size in layer.output.shape)
    return None


def tensorflow_variable(variable: Any) -> Any:  # of Keras, or of TensorFlow
    """The tf.Variable behind a variable of Keras; None where there is none."""
    for candidate in (getattr(variable, "value", None), variable):
        first = copies(candidate)[0]
        if hasattr(first, "handle"):
            return first
    return None


def copies(variable: Any) -> tuple[Any, ...]:  # of TensorFlow
    """The parts of a distributed variable, which alone have handles; for others, itself."""
    values = getattr(variable, "values", None)
    return values if isinstance(values, tuple) and values else (variable,)


def traced(model: Any) -> Any:  # a ConcreteFunction
    """The model traced for inference with the input shapes it was built for; raises UsageError."""
    keras = sys.modules.get("keras")
    backend = keras.backend.backend() if keras is not None else "tensorflow"
    if backend != "tensorflow":
        raise UsageError(
            f"Keras runs on {backend} here: tfprof reads models of its tensorflow backend only"
        )
    if not model.built:
        raise UsageError(f"the model {model.name} is not built yet: call it once, or build it")
    import tensorflow as tf  # noqa: PLC0415 - the model has imported it

    positional, named = _inputs(model)

    def call(positional: Any, named: Any) -> Any:
        return model(*positional, **named, training=False)

    function = tf.function(call, autograph=False)
    try:
        return function.get_concrete_function(positional, named)
    except Exception as problem:
        raise UsageError(
            f"the model {model.name} cannot be traced with the inputs that it was built for "
            f"({_reason(problem)}): give tf.function(model).get_concrete_function(...) with the "
            "inputs it takes"
        ) from problem


def size_caveats(model: Any) -> tuple[Note, ...]:
    """A caveat if the batch is not open, as for a model that was only ever called."""
    import tensorflow as tf  # noqa: PLC0415

    shapes = [spec.shape for spec in tf.nest.flatten(_inputs(model)) if hasattr(spec, "shape")]
    if not shapes or any(not shape.rank or shape[0] is None for shape in shapes):
        return ()
    sizes = " and ".join("x".join(str(dim or "?") for dim in shape) for shape in shapes)
    text = (
        f"Sizes: those of inputs of {sizes}, which the model was built with. For an open batch, "
        "load tf.function(model).get_concrete_function(...) with None as its size."
    )
    return (Note(text, ours=True, caveat=True),)


def _reason(problem: Exception) -> str:
    """The first line of an error of Keras that says what is wrong, without colours."""
    lines = _COLOUR.sub("", str(problem)).strip().splitlines() or [type(problem).__name__]
    reasons = [line for line in lines if line and not line.startswith(_WHERE)]
    return (reasons or lines)[0].rstrip(".")


def _inputs(model: Any) -> tuple[Any, Any]:
    """(positional, named) inputs of the model, with a TensorSpec in place of each tensor."""
    import tensorflow as tf  # noqa: PLC0415

    def as_spec(tensor: Any) -> Any:
        if getattr(tensor, "sparse", False):
            return tf.SparseTensorSpec(tensor.shape, tensor.dtype)
        return tf.TensorSpec(tensor.shape, tensor.dtype, name=tensor.name)

    if getattr(model, "inputs", None):  # functional and sequential models have them
        only = model.inputs[0] if len(model.inputs) == 1 else model.inputs
        return [tf.nest.map_structure(as_spec, Internal.INPUT_STRUCTURE.of(model, only))], {}
    spec = model.save_spec() if callable(getattr(model, "save_spec", None)) else None
    if spec is not None:  # Keras 2 keeps the inputs of the first call
        positional, named = spec
        return list(positional), {name: named[name] for name in named if name != "training"}
    build = (model.get_build_config() or {}) if hasattr(model, "get_build_config") else {}
    if (shape := build.get("input_shape")) is not None:
        return [_of_shape(model, shape, next(iter(signature(model.call).parameters), None))], {}
    shapes = build.get("shapes_dict") or {}
    if not shapes:
        raise UsageError(
            f"the model {model.name} does not record the shapes of its inputs: "
            "give tf.function(model).get_concrete_function(...) with the inputs it takes"
        )
    named = {name.removesuffix("_shape"): shape for name, shape in shapes.items()}
    return [], {name: _of_shape(model, shape, name) for name, shape in named.items()}


def _of_shape(model: Any, shape: Any, name: str | None) -> Any:
    """The TensorSpec of a shape; for a list or dictionary of shapes, the same of TensorSpecs."""
    import tensorflow as tf  # noqa: PLC0415

    if isinstance(shape, dict):
        return {key: _of_shape(model, one, str(key)) for key, one in shape.items()}
    if any(isinstance(part, (list, tuple, dict)) for part in shape):
        return [_of_shape(model, part, name) for part in shape]
    dtype = getattr(model, "input_dtype", None) or getattr(model, "compute_dtype", "float32")
    return tf.TensorSpec(shape, dtype, name=name)
