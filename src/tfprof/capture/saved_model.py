"""Traced functions as the bytes of a SavedModel: what captures write and live objects go through.

    variables      VarHandleOp, one each, by their path ─┐
    arguments      Placeholder ──────────────────────────┼──► call node, named after the function
    constants      Const, or a Placeholder if large ─────┘         │ f
    the library    all functions with the shapes of all nodes ◄────┘

The signature of each function names the outputs of its call node. Trainable variables are listed
in the collection of that name, the weights of a Keras model in `model_variables`, and its layers
in `tfprof_layers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture.debug_info import debug_info
from tfprof.capture.tensorflow_internals import Internal
from tfprof.capture.variables import Variable, of_functions, of_handle, of_weights
from tfprof.read.keras_layers import layers_as_texts
from tfprof.read.saved_model import LAYERS

if TYPE_CHECKING:
    from tfprof.capture.problems import Problems
    from tfprof.capture.traced_functions import Traced
    from tfprof.columns.keras_layer import KerasLayer
    from tfprof.columns.strings import U8

MADE_BY: Final = "tfprof capture"
_TRAINABLE: Final = "trainable_variables"
NO_LINES: Final = "the lines of the program are missing"
_LARGEST_CONSTANT: Final = 1024  # elements
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.\\/>-]")
_NOT_IN_FRONT: Final = re.compile(r"^[^A-Za-z0-9.]+")
_Weights = Sequence[tuple[Any, bool]] | None


def saved_model_of(
    functions: Sequence[Traced],
    weights: _Weights = None,
    *,
    trained: _Weights = None,
    layers: Sequence[KerasLayer] = (),
    problems: Problems | None = None,
) -> tuple[bytes, bytes]:
    """(a SavedModel, its GraphDebugInfo) of functions.

    *weights* (variable, trainable) are the only variables, whether a function reads them or not;
    every other captured value becomes a Placeholder. *trained* are listed as the weights of a
    model among all variables, and *layers* as its layers. With *problems*, a failure to find call
    stacks is one of them.
    """
    graph = _Graph(functions, weights, trained, layers)
    calls = [graph.call(traced) for traced in functions]
    lines = b""
    with problems.noted(NO_LINES) if problems is not None else nullcontext():
        lines = debug_info(functions, calls, graph.captured)
    return graph.saved_model(), lines


def made_by_capture(data: U8) -> bool:
    """Whether these are the bytes of a SavedModel from `saved_model_of`."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with TensorFlow

    try:
        graphs = Internal.SAVED_MODEL.load().FromString(data.tobytes()).meta_graphs
    except DecodeError:
        return False
    return any(graph.meta_info_def.meta_graph_version == MADE_BY for graph in graphs)


class _Graph:
    """The top level of the SavedModel, as it grows."""

    def __init__(
        self,
        functions: Sequence[Traced],
        weights: _Weights,
        trained: _Weights,
        layers: Sequence[KerasLayer],
    ) -> None:
        self._message = Internal.SAVED_MODEL.load()(saved_model_schema_version=1)
        self._meta = self._message.meta_graphs.add()
        self._meta.meta_info_def.meta_graph_version = MADE_BY
        self._meta.meta_info_def.tags.append("serve")
        self._node = self._meta.graph_def.node
        definitions = self._meta.graph_def.library.function
        # The FunctionDefs of all functions and their callees, sorted by name, with all shapes.
        by_name: dict[str, Any] = {}
        for traced in functions:
            for definition in _definitions(traced.function):
                by_name.setdefault(definition.signature.name, definition)
        definitions.extend([by_name[name] for name in sorted(by_name)])
        self._definition = {function.signature.name: function for function in definitions}
        self._names: set[str] = set()
        self.captured: dict[int, str] = {}  # the node of each captured value, by the value's id
        self._only_weights = weights is not None
        self._variables = of_functions(functions)
        model = of_weights(trained or ())
        variables = {**self._variables, **model} if weights is None else of_weights(weights)
        self._meta.collection_def[_TRAINABLE].bytes_list.SetInParent()  # if only an empty list
        for handle, variable in variables.items():
            self._add_variable(handle, variable)
        for handle in model:
            trainable = variables[handle].trainable
            self._list("model_variables", self.captured[handle], trainable=trainable)
        held = self.captured if weights is not None else model
        self._unread = {self.captured[handle] for handle in held}
        if layers:
            values = self._meta.collection_def[LAYERS.decode()].bytes_list.value
            values.extend(layers_as_texts(layers))

    def saved_model(self) -> bytes:
        return bytes(self._message.SerializeToString(deterministic=True))

    def call(self, traced: Traced) -> list[str]:
        """Add the call node of a function; returns the nodes that belong to this call alone."""
        definition = self._definition[Internal.NAME.of(traced.function).decode()]
        name = self._unique(traced.name)
        signature = self._meta.signature_def[name]
        tensors = Internal.INPUTS.of(Internal.GRAPH.of(traced.function))
        inputs = []
        for place, argument in enumerate(definition.signature.input_arg):
            tensor = tensors[place]
            if place in traced.captured:
                source = self._captured(traced.captured[place], tensor)
            else:
                given = definition.arg_attr[place].attr["_user_specified_name"].s
                source = self._placeholder(
                    given.decode("utf-8", "replace") or argument.name, tensor
                )
                _set_info(signature.inputs[source], source, tensor)
            self._unread.discard(source)
            inputs.append(source)
            assert tensor.dtype.as_datatype_enum == argument.type, "both are in the same order"
        node = self._node.add(name=name, op="StatefulPartitionedCall", input=inputs)
        # Weights that no function reads are part of the model, too: this makes them reachable.
        node.input.extend(f"^{weight}" for weight in sorted(self._unread))
        self._unread.clear()
        outputs = Internal.OUTPUT_TYPES.of(Internal.FUNCTION_TYPE.of(traced.function))
        self._finish_call(node, definition, outputs)
        return [name, *signature.inputs]

    def _finish_call(self, node: Any, definition: Any, outputs: Sequence[Any]) -> None:
        node.attr["f"].func.name = definition.signature.name
        node.attr["Tin"].list.type.extend(arg.type for arg in definition.signature.input_arg)
        node.attr["Tout"].list.type.extend(arg.type for arg in definition.signature.output_arg)
        if "_XlaMustCompile" in definition.attr:
            node.attr["_XlaMustCompile"].CopyFrom(definition.attr["_XlaMustCompile"])
        _set_shapes(node, outputs)
        signature = self._meta.signature_def[node.name]
        for place, (argument, tensor) in enumerate(
            zip(definition.signature.output_arg, outputs, strict=True)
        ):
            _set_info(signature.outputs[argument.name], f"{node.name}:{place}", tensor)
        if not outputs:  # how SavedModels name an operation without outputs
            signature.outputs["done"].name = node.name

    def _captured(self, value: Any, inside: Any) -> str:  # tensors
        """The node of a captured value, which the function has as its argument *inside*."""
        if id(value) in self.captured:
            return self.captured[id(value)]
        variable = self._variables.get(id(value)) or of_handle(value, inside.op.name)
        if variable is not None and not self._only_weights:
            return self._add_variable(id(value), variable)
        name = "captured" if variable is None else variable.name
        constant = None if variable is not None else _small_value(value)
        self.captured[id(value)] = self._placeholder(name, inside, constant)
        return self.captured[id(value)]

    def _add_variable(self, handle: int, variable: Variable) -> str:
        node = self._node.add(name=self._unique(variable.name), op="VarHandleOp")
        node.attr["dtype"].type = variable.dtype
        node.attr["shape"].shape.CopyFrom(variable.shape)
        node.attr["shared_name"].s = node.name.encode()
        node.attr["_output_shapes"].list.shape.add()  # a handle is a scalar
        self.captured[handle] = node.name
        if variable.trainable:
            self._list(_TRAINABLE, node.name, trainable=True)
        return str(node.name)

    def _list(self, collection: str, variable: str, *, trainable: bool) -> None:
        message = Internal.VARIABLE_DEF.load()(
            variable_name=f"{variable}:0", trainable=trainable, is_resource=True
        )
        values = self._meta.collection_def[collection].bytes_list.value
        values.append(message.SerializeToString(deterministic=True))

    def _placeholder(self, name: str, tensor: Any, value: Any = None) -> str:
        """The name of a new node like *tensor*; with a *value*, a constant."""
        op = "Placeholder" if value is None else "Const"
        node = self._node.add(name=self._unique(name), op=op)
        node.attr["dtype"].type = tensor.dtype.as_datatype_enum
        if value is not None:
            node.attr["value"].tensor.CopyFrom(value)
        # No attribute `shape`: it would make the node count as one that holds parameters.
        _set_shapes(node, [tensor])
        return str(node.name)

    def _unique(self, name: str) -> str:
        """*name* as a valid node name that no other node has."""
        base = _NOT_IN_FRONT.sub("", _NOT_IN_NAMES.sub("_", name.strip("<>"))) or "function"
        unique, count = base, 0
        while unique in self._names:
            count += 1
            unique = f"{base}_{count}"
        self._names.add(unique)
        return unique


def _definitions(function: Any) -> Iterator[Any]:  # an AtomicFunction
    # The shapes of a function's own nodes are only in the graph that it was made from.
    graph = Internal.GRAPH.of(function).as_graph_def(add_shapes=True)
    original = Internal.DEFINITION.of(function)
    definition = type(original)()
    definition.CopyFrom(original)
    shapes = {node.name: node.attr["_output_shapes"].list for node in graph.node}
    for node in definition.node_def:
        if node.name in shapes and "_output_shapes" not in node.attr:
            node.attr["_output_shapes"].list.CopyFrom(shapes[node.name])
    yield definition
    yield from graph.library.function


def _small_value(value: Any) -> Any:  # a TensorProto, or None
    """The value of a captured tensor, if it has one and it is small."""
    import tensorflow as tf  # noqa: PLC0415

    if not hasattr(value, "numpy") or value.dtype in (tf.resource, tf.variant):
        return None
    if value.shape.num_elements() > _LARGEST_CONSTANT:
        return None
    return tf.make_tensor_proto(value.numpy(), value.dtype)


def _set_shapes(node: Any, tensors: Sequence[Any]) -> None:
    shapes = node.attr["_output_shapes"].list.shape
    shapes.extend(tensor.shape.as_proto() for tensor in tensors)


def _set_info(info: Any, name: str, tensor: Any) -> None:  # a TensorInfo
    info.name = name if ":" in name else f"{name}:0"
    info.dtype = tensor.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(tensor.shape.as_proto())
