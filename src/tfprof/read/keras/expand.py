"""Expands the layers of a configuration into nodes, in the order in which they compute.

    Functional    calls of layers that name their inputs       ["dense", 0, 0]: layer, call, output
    Sequential    one layer after the other
    anything else a node of its class, which nothing counts

A layer that is called twice has its nodes twice and its weights once; a nested model likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError
from tfprof.read.keras.graph import Call, Dims, Entry, Graph, Tensor, Type, Unexpandable, row_of
from tfprof.read.keras.model import DTYPES, compute_dtype, is_model, is_operation, label
from tfprof.read.keras.output_shapes import output_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tfprof.read.keras.model import Layer

_DEEPEST: Final = 50
_MOST_WRAPPERS: Final = 8  # each may double what is inside
_FLOAT: Final = 1
_LARGEST: Final = 2**62
# What rows raise for a configuration that Keras would not write.
NOT_MADE_FOR: Final = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
# The parameters of layers with several, in their order.
_PARAMETERS: Final = ("inputs", "query", "value", "key", "x", "x1", "x2")
_TRIPLE: Final = 3  # layer, call, output
_OPERATORS: Final = {"truediv": "TrueDivide", "sub": "Subtract", "mul": "Multiply", "pow": "Power"}
Key = tuple[str, int]  # a layer, and the number of a call of it


class Expansion:
    """The nodes of a model, from its layers by path."""

    def __init__(self, graph: Graph, layers: Mapping[str, Layer], file: str) -> None:
        self._graph, self._layers, self._file = graph, layers, file
        self._depth = self._inside = 0
        self.called: set[str] = set()  # the paths of layers that something calls

    def model(self, entry: Entry, path: str, inputs: list[Tensor] | None) -> list[Tensor]:
        """The outputs of a model for these inputs; None: it has inputs of its own."""
        if self._depth >= _DEEPEST:
            raise InputError(f"{self._file}: its layers are nested more than {_DEEPEST} deep")
        config = entry["config"]
        expand = self._functional if "input_layers" in config else self._sequential
        self._depth += 1
        try:
            return expand(config, path, inputs)
        finally:
            self._depth -= 1

    # --- the two kinds of models ---

    def _sequential(self, config: Entry, path: str, inputs: list[Tensor] | None) -> list[Tensor]:
        x = inputs
        for entry in config["layers"]:
            if entry["class_name"] == "InputLayer":
                x = [self._input(entry)] if x is None else x
                continue
            if x is None:
                shape = config.get("build_input_shape") or _built(entry).get("input_shape")
                x = [self._placeholder(f"{path}_input", shape, _FLOAT)]
            shape = _shape(_built(entry).get("input_shape"))
            if len(x) == 1 and shape is not None:
                x = [self._shaped(x[0], shape)]
            x = self._call(entry, path, x, {})
        return x or []

    def _functional(self, config: Entry, path: str, inputs: list[Tensor] | None) -> list[Tensor]:
        results: dict[Key, list[Tensor]] = {}
        waiting: dict[Key, list[tuple[Key, Entry, Entry]]] = {}
        for at, (name, _, _) in enumerate(_keys(config["input_layers"])):
            if inputs is not None and at < len(inputs):
                results[name, 0] = [inputs[at]]
        ready: list[tuple[Key, Entry, Entry]] = []
        for entry in config["layers"]:
            name = str(entry.get("name") or entry["config"].get("name"))
            if entry["class_name"] == "InputLayer":
                if inputs is None:
                    results[name, 0] = [self._input(entry)]
                continue
            calls = entry.get("inbound_nodes") or []
            # A model of tf_keras counts its definition as the first call.
            first = int(any(isinstance(call, list) for call in calls) and is_model(entry))
            calls = [_with_arguments(entry, call) for call in calls]
            ready += [((name, number), entry, call) for number, call in enumerate(calls, first)]
        ready.reverse()
        while ready:
            key, entry, call = job = ready.pop()
            missing = next((k for k in _needs(call) if k not in results), None)
            if missing is not None:
                waiting.setdefault(missing, []).append(job)
                continue
            tensors = [self._input_of(results, each) for each in _tensors(call)]
            results[key] = self._call(entry, path, tensors, call)
            ready += reversed(waiting.pop(key, []))
        return [
            _output(results[name, call], at)
            for name, call, at in _keys(config["output_layers"])
            if (name, call) in results
        ]

    def _input_of(self, results: Mapping[Key, list[Tensor]], tensor: Entry) -> Tensor:
        """A tensor that a call names, with the shape that it says it has."""
        name, call, at = tensor["keras_history"]
        shape = _shape(tensor.get("shape"))
        x = _output(results[str(name), int(call)], int(at))
        return x if shape is None else self._shaped(x, shape)

    def _shaped(self, x: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        """*x* with the shape that the configuration says it has.

        What an unknown layer returns has this shape, too; its batch is that of its input.
        """
        if not x.opaque_like or None in shape[1:] or not shape or shape[0] is not None:
            return x._replace(shape=shape)
        name, _, number = x.name.partition(":")
        scope = f"{name}/output_{number or 0}"
        call = Call(self._graph, scope, {}, [], {}, {}, _FLOAT, self._run)
        batch = call.shape_of(Tensor(x.opaque_like), 0, 1)
        rest = [[each for each in shape[1:] if each is not None]]
        dims = call.joined(batch, *(rest if shape[1:] else []))
        return call.op("Reshape", Tensor(x.name), dims)._replace(shape=shape)

    # --- layers ---

    def _input(self, entry: Entry) -> Tensor:
        config = entry["config"]
        shape = config.get("batch_shape", config.get("batch_input_shape"))
        name = label(config.get("name") or "input")
        return self._placeholder(name, shape, DTYPES.get(str(config.get("dtype")), _FLOAT))

    def _placeholder(self, name: str, shape: Entry, dtype: int) -> Tensor:
        attributes: dict[str, Any] = {"dtype": Type(dtype)}
        dims = _shape(shape)
        if dims is not None:
            attributes["shape"] = Dims(-1 if each is None else each for each in dims)
        return Tensor(self._graph.add(name, "Placeholder", [], attributes), dims)

    def _call(self, entry: Entry, path: str, inputs: list[Tensor], call: Entry) -> list[Tensor]:
        config = entry["config"]
        name = label(entry.get("name") or config.get("name") or entry["class_name"])
        scope = f"{path}/{name}"
        if is_model(entry):
            return self.model(entry, scope, inputs)
        self.called.add(scope)
        layer = self._layers.get(scope)
        named = {each.name: f"{scope}/{each.name}" for each in layer.weights} if layer else {}
        options = call if isinstance(call, dict) else {}
        dtype = compute_dtype(config.get("dtype"))
        one = Call(self._graph, scope, config, inputs, options, named, dtype, self._run)
        length = len(self._graph)
        row = _row(entry)
        if row is not None and inputs:
            try:
                outputs = _listed(row(one))
                if len(self._graph) == length:  # at inference it passes its inputs on
                    outputs = [one.op("Identity", x)._replace(shape=x.shape) for x in outputs]
            except (Unexpandable, *NOT_MADE_FOR):
                self._graph.cut(length)
            else:
                shapes = output_shapes(
                    _computes(entry), config, [x.shape for x in inputs], len(outputs)
                )
                return [
                    x._replace(shape=x.shape or shape)
                    for x, shape in zip(outputs, shapes, strict=True)
                ]
        return [self.opaque(scope, label(entry["class_name"]), inputs, named)]

    def opaque(
        self, scope: str, kind: str, inputs: list[Tensor], weights: Mapping[str, str]
    ) -> Tensor:
        """A layer whose float operations are unknown: one node."""
        names = [each.name for each in inputs]
        node = self._graph.add(f"{scope}/{kind}", kind, [*names, *weights.values()], {})
        return Tensor(node, None, names[0] if names else "")

    def _run(self, call: Call, kind: str) -> list[Tensor]:
        row = row_of(kind)
        if row is None or self._inside >= _MOST_WRAPPERS:
            raise Unexpandable
        self._inside += 1
        try:
            return _listed(row(call))
        finally:
            self._inside -= 1


def _listed(outputs: Tensor | list[Tensor]) -> list[Tensor]:
    return outputs if isinstance(outputs, list) else [outputs]


def _with_arguments(entry: Entry, call: Entry) -> Entry:
    """A call as Keras 3 writes it; Keras 2 lists (layer, call, output, options) of each input."""
    if not isinstance(call, list):
        return call
    call = [call] if call and isinstance(call[0], str) else call
    shape = _built(entry).get("input_shape")
    shapes = [shape] if len(call) == 1 else shape
    if not isinstance(shapes, list) or len(shapes) != len(call):
        shapes = [None] * len(call)
    kwargs = {}
    for options in (tensor[3] for tensor in call if len(tensor) > _TRIPLE):
        kwargs.update({key: _argument(value) for key, value in options.items()})
    return {"args": list(map(_argument, call, shapes)), "kwargs": kwargs}


def _argument(value: Entry, shape: Entry = None) -> Entry:
    """An argument of Keras 2 as Keras 3 writes it: a tensor, a list of tensors, or a value."""
    if not isinstance(value, list):
        return value
    if len(value) < _TRIPLE or not isinstance(value[0], str):
        return [_argument(each) if isinstance(each, list) else each for each in value]
    if value[0] == "_CONSTANT_VALUE":
        return value[2]
    return {"keras_history": value[:_TRIPLE], "shape": shape}


def _computes(entry: Entry) -> str:
    """The class of a layer; of a function of TensorFlow among the layers, the operation."""
    kind, config = str(entry["class_name"]), entry["config"]
    if kind != "TFOpLambda":
        return kind
    name = str(config.get("function")).rpartition(".")[2]
    return _OPERATORS.get(name, name.title().replace("_", ""))


def _row(entry: Entry) -> Any:  # noqa: ANN401 - a row
    """The row of a layer or an operation of Keras's own; None for anybody else's."""
    module, kind = str(entry.get("module") or "keras"), _computes(entry)
    if kind != entry["class_name"]:
        return row_of(kind, is_layer=False)
    if not (module == "keras" or module.startswith("keras.")) or ">" in str(
        entry.get("registered_name")
    ):
        return None
    return row_of(kind, is_layer=not is_operation(entry))


def _built(entry: Entry) -> dict[str, Any]:
    build = entry.get("build_config")
    return build if isinstance(build, dict) else {}


def _shape(value: Entry) -> tuple[int | None, ...] | None:
    """A shape of the configuration; None: it is none."""
    is_shape = isinstance(value, list) and all(
        each is None or (type(each) is int and 0 <= each < _LARGEST) for each in value
    )
    return tuple(value) if is_shape else None


def _output(outputs: list[Tensor], at: int) -> Tensor:
    """An output of a call; an unknown layer may have any number."""
    if at < len(outputs):
        return outputs[at]
    return outputs[0]._replace(name=f"{outputs[0].name}:{at}", shape=None)


def _keys(value: Entry) -> Iterator[tuple[str, int, int]]:
    """The (layer, call, output) triples in lists and dictionaries."""
    for name, call, output in _inside(value, _is_triple):
        yield name, int(call), int(output)


def _is_triple(value: Entry) -> bool:
    return isinstance(value, list) and len(value) == 3 and isinstance(value[0], str)  # noqa: PLR2004


def _inside(value: Entry, is_wanted: Callable[[Entry], bool]) -> Iterator[Entry]:
    """What is wanted among the values in lists and dictionaries, in order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if is_wanted(each):
            yield each
        elif isinstance(each, dict):
            waiting += [each[key] for key in sorted(each, reverse=True)]
        elif isinstance(each, list):
            waiting += reversed(each)


def _tensors(call: Entry) -> Iterator[dict[str, Any]]:
    """The tensors in the arguments of a call, in the order of its parameters, without masks."""
    named = call["kwargs"]
    others = [key for key in named if key not in _PARAMETERS and not key.endswith("mask")]
    order = [*(key for key in _PARAMETERS if key in named), *others]
    arguments = [call["args"], *(named[key] for key in order)]
    return _inside(
        arguments, lambda each: isinstance(each, dict) and _is_triple(each.get("keras_history"))
    )


def _needs(call: Entry) -> Iterator[Key]:
    for tensor in _tensors(call):
        name, number, _ = tensor["keras_history"]
        yield name, int(number)
