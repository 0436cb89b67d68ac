"""Writes subgraphs as a GraphDef: the operators as nodes of TensorFlow's operation types.

    net/conv/kernel         VarHandleOp   a constant that the operator computes with
    net/conv/Conv2D         CONV_2D       as the rows of `operators` expand it
    net/conv/BiasAdd, Relu                its bias and its fused activation
    net/while/While         WHILE         its subgraphs are functions: subgraph_1, subgraph_2

Subgraphs that signatures run are the graph itself. Variables belong to it, too; a node in a
function refers to one by its name.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError
from tfprof.read.functions.calls import op_outputs
from tfprof.read.keras.graph import Call, Dims, Graph, Operand, Tensor, Type, Unexpandable
from tfprof.read.keras.layers.activation import activated
from tfprof.read.tflite.flatbuffer import BOOL, FLOAT, INT8, INT32
from tfprof.read.tflite.model import Operator, Row
from tfprof.tables.limits import LIMITS, limit
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.tflite.model import Model
    from tfprof.read.tflite.model import Tensor as Stored

_UNSAFE: Final = re.compile(r"[\x00-\x20:;^\\]+")
_NUMBERED: Final = re.compile(r":\d*$")
# Of the names that the converter joins for fused operations, this one belongs to the weights.
_PRODUCT: Final = re.compile(r"[^/]*(?:conv|depthwise|matmul|einsum|dot)[^/]*", re.IGNORECASE)
_ACTIVATIONS: Final = {1: ("Relu",), 2: ("Maximum", "Minimum"), 3: ("Relu6",), 4: ("Tanh",)}
_INTEGERS: Final = frozenset({3, 4, 5, 6, 9, 29, 30, 31})
_FLOATS: Final = frozenset({1, 2, 8, 14, 18, 19})
# The attribute that names the dtype of the outputs, where it is not the usual one.
_TYPED_BY: Final = {"Cast": "DstT", "ArgMax": "output_type", "ArgMin": "output_type",
                    "Real": "Tout", "Imag": "Tout", "ComplexAbs": "Tout"}  # fmt: skip
_SHARE, _BYTES_PER_NODE = 100, 64
_ON_VARIABLES: Final = ("READ_VARIABLE", "ASSIGN_VARIABLE")
# The activations of Keras that some operators are.
_NAMED: Final = {name: name for name in ("gelu", "hard_swish", "sigmoid", "tanh")}
# What rows raise for an operator that no converter writes.
_NOT_MADE_FOR: Final = (ArithmeticError, LookupError, TypeError, ValueError)


class Part(Graph):
    """The nodes of a subgraph, or of several."""

    def __init__(self, file: str, operators: int, names: dict[str, int]) -> None:
        super().__init__(file, operators)
        self._again = names  # no two nodes of a file have the same name


class Builder:
    """The graph, variables and functions of a model."""

    def __init__(self, model: Model, file: str) -> None:
        self.model, self.file = model, file
        self._names: dict[str, int] = {}
        self.variables, self.main = self.part(), self.part()
        self._functions: list[Any] = []
        self._variable: dict[object, str] = {}
        self.uses: dict[int, dict[str, None]] = {}  # variables, by subgraph
        self.calls: dict[int, dict[int, None]] = {}  # subgraphs, by subgraph
        self.integer: set[tuple[int, int]] = set()  # operators that compute with integers
        self._nodes = 0

    def part(self) -> Part:
        """Nodes whose names no others have."""
        return Part(self.file, 10**6, self._names)

    def variable(self, key: object, name: str, dtype: int, shape: tuple[int, ...] | None) -> str:
        """The variable of this key; a new one gets this name."""
        if key not in self._variable:
            attributes: dict[str, Any] = {"dtype": Type(dtype)}
            if shape is not None and min(shape, default=0) >= 0:
                attributes["shape"] = Dims(shape)
            self._variable[key] = self.variables.add(name, "VarHandleOp", [], attributes)
        return self._variable[key]

    def count(self, nodes: int) -> None:
        """Count nodes; raises InputError if there are more than a file of this size can need."""
        self._nodes += nodes
        most = limit("function_nodes") // _SHARE + self.model.size // _BYTES_PER_NODE
        if self._nodes > most:
            raise InputError(
                f"{self.file}: its operators expand to more than {most:,} nodes "
                f"({LIMITS['function_nodes'].flag} raises this limit)"
            )

    def root(self, number: int, prefix: str) -> list[str]:
        """Write a subgraph into the graph itself; its outputs, and nodes with effects."""
        body = Body(self, number, self.main, prefix)
        for at in body.subgraph.inputs:
            if at >= 0:
                stored = body.subgraph.tensors[at]
                attributes: dict[str, Any] = {"dtype": Type(stored.type)}
                if stored.shape is not None:
                    attributes["shape"] = Dims(stored.shape)
                name = self.main.add(prefix + clean(stored.name), "Placeholder", [], attributes)
                body.refs[at] = Tensor(name, _sides(stored))
        return [*(each.name for each in body.outputs()), *body.effects]

    def function(self, number: int) -> None:
        """Write a subgraph as a function."""
        graph = self.part()
        body = Body(self, number, graph, "")
        function: Any = message("tensorflow.FunctionDef")()
        function.signature.name = function_name(number)
        for place, at in enumerate(body.subgraph.inputs):
            name = f"{function_name(number)}_argument_{place}"
            function.signature.input_arg.add(name=name)
            if at >= 0:
                body.refs[at] = Tensor(name, _sides(body.subgraph.tensors[at]))
        returned = [each.name for each in body.outputs()]
        kinds = {node.name: node.op for node in graph.nodes}
        for place, name in enumerate(returned):
            function.signature.output_arg.add(name=f"output_{place}")
            function.ret[f"output_{place}"] = _in_function(name, kinds)
        for node in graph.nodes:
            node.input[:] = [_in_function(name, kinds) for name in node.input]
        function.node_def.extend(graph.nodes)
        self._functions.append(function)

    def called_by(self, roots: Iterable[int]) -> dict[int, None]:
        """The subgraphs that these ones call, directly or not, and themselves; all are written."""
        waiting = list(roots)
        reached = dict.fromkeys(waiting)
        while waiting:
            number = waiting.pop()
            if number not in self.uses:
                self.function(number)
            for each in self.calls[number]:
                if each not in reached:
                    reached[each] = None
                    waiting.append(each)
        return reached

    def graph_def(self) -> Any:  # noqa: ANN401 - a message
        """The GraphDef."""
        graph: Any = message("tensorflow.GraphDef")()
        graph.node.extend([*self.variables.nodes, *self.main.nodes])
        graph.library.function.extend(self._functions)
        return graph


class Body:
    """A subgraph whose operators become nodes."""

    def __init__(self, builder: Builder, number: int, graph: Part, prefix: str) -> None:
        self.builder, self.number, self.graph, self.prefix = builder, number, graph, prefix
        self.subgraph = builder.model.subgraphs[number]
        self.refs: dict[object, Tensor] = {}
        self.unpacked: dict[int, int] = {}  # tensors that are a constant with another dtype
        self.effects: list[str] = []
        self.uses = builder.uses.setdefault(number, {})
        self.calls = builder.calls.setdefault(number, {})

    def outputs(self) -> list[Tensor]:
        """Expand all operators; the outputs of the subgraph."""
        from tfprof.read.tflite.operators import expand  # noqa: PLC0415 - its rows need this module

        for number, operator in enumerate(self.subgraph.operators):
            step, length, refs = Step(self, operator), len(self.graph), len(self.refs)
            try:
                outputs = expand(step)
            except (Unexpandable, *_NOT_MADE_FOR):
                self.graph.cut(length)
                for key in list(self.refs)[refs:]:
                    del self.refs[key]
                outputs = [step.out(operator.row.name, *step.values())]
            self.builder.count(len(self.graph) - length)
            for place, at in enumerate(operator.outputs):
                if at >= 0 and outputs:
                    new = outputs[place] if place < len(outputs) else _output(outputs[0], place)
                    self.refs[at] = new._replace(shape=_sides(self.subgraph.tensors[at]))
            if any(self.stored(at).is_quantized for at in operator.outputs if at >= 0):
                self.builder.integer.add((self.number, number))
        last = Step(self, Operator(Row(""), [], [], None))
        return [last.value(at) for at in self.subgraph.outputs if at >= 0]

    def stored(self, at: int) -> Stored:
        """A tensor of the file."""
        return self.subgraph.tensors[at]

    @cached_property
    def values_of(self) -> dict[int, int]:
        """A tensor that was read from, or is assigned to, the variable of each handle."""
        pairs = [
            (each.inputs[0], (each.outputs or each.inputs[1:])[0])
            for each in self.subgraph.operators
            if each.row.name in _ON_VARIABLES and len(each.inputs) + len(each.outputs) > 1
        ]
        return {handle: value for handle, value in pairs if value >= 0}


class Step:
    """One operator: what rows ask of it, and build nodes with."""

    def __init__(self, body: Body, operator: Operator) -> None:
        self.body, self._operator, self._options = body, operator, operator.options
        self.row, self.inputs, self.targets = operator.row, operator.inputs, operator.outputs
        self.outputs = [body.stored(at) for at in self.targets if at >= 0]
        self.dtype = self.outputs[0].type if self.outputs else 1
        self.scope = body.prefix + self._scope()
        self.call = Call(body.graph, self.scope, _NAMED, [], {}, {}, self.dtype, _no_layers)

    def _scope(self) -> str:
        """The scope of what the operator computes: that of its output, or of its weights."""
        weights = [self.body.stored(at).name for at in self.inputs[1:2] if at >= 0]
        texts = [tensor.name for tensor in self.outputs[:1]] + weights
        for text in texts:
            names = [part for part in text.split(";") if "/" in part]
            products = [part for part in names if _PRODUCT.fullmatch(part.rpartition("/")[2])]
            if names:
                return clean((products or names)[-1 if products else 0]).rpartition("/")[0]
        return clean(texts[0] if texts else self.row.name.lower())

    # --- options ---

    def number(self, field: int, default: int = 0) -> int:
        """An option that is an int32."""
        return int(self._option(field, INT32, default))

    def small(self, field: int) -> int:
        """An option that is a byte."""
        return int(self._option(field, INT8, 0))

    def flag(self, field: int) -> bool:
        """An option that is true or false."""
        return bool(self._option(field, BOOL, 0))

    def real(self, field: int) -> float:
        """An option that is a float."""
        return float(self._option(field, FLOAT, 0.0))

    def numbers(self, field: int) -> list[int]:
        """An option that is a list."""
        return self._options.numbers(field) if self._options else []

    def text(self, field: int) -> str:
        """An option that is a text."""
        return self._options.text(field) if self._options else ""

    def _option(self, field: int, form: Any, default: Any) -> Any:  # noqa: ANN401 - by its form
        return self._options.number(field, form, default) if self._options else default

    def flex(self) -> dict[str, bytes]:
        """The attributes of an operation of TensorFlow."""
        attributes = self.body.builder.model.flex_attributes(self._operator)
        return {key: value for key, value in attributes.items() if key != "_output_shapes"}

    # --- tensors ---

    def has(self, place: int) -> bool:
        """Whether the operator has an input here."""
        return place < len(self.inputs) and self.inputs[place] >= 0

    def dims(self, place: int) -> tuple[int, ...]:
        """The shape of an input of known rank; raises Unexpandable."""
        shape = self.body.stored(self.inputs[place]).shape if self.has(place) else None
        if shape is None:
            raise Unexpandable
        return shape

    def x(self, place: int = 0) -> Tensor:
        """An input; raises Unexpandable if it is left out."""
        if not self.has(place):
            raise Unexpandable
        return self.value(self.inputs[place])

    def values(self) -> list[Tensor]:
        """All inputs that are not left out."""
        return [self.value(at) for at in self.inputs if at >= 0]

    def value(self, at: int) -> Tensor:
        """A tensor: computed before, or a constant."""
        body = self.body
        if at in body.refs:
            return body.refs[at]
        stored = body.stored(body.unpacked.get(at, at))
        if stored.data is not None and is_weight(stored):
            return self._read(at, "weights", None)
        values = body.builder.model.values(stored) if stored.data is not None else None
        if values is not None:
            number = float(values.item()) if stored.type == 1 else values.tolist()
            body.refs[at] = self.call.constant(number)._replace(shape=_sides(stored))
        else:
            # A string, or the state of an operator.
            body.refs[at] = self.op("Const", dtype=stored.type, shapes=[stored.shape])
        return body.refs[at]

    def weight(self, place: int, name: str, shape: tuple[int, ...] | None = None) -> Tensor:
        """A weight of this name; TensorFlow's layout of it has this *shape*."""
        at = self.inputs[place] if self.has(place) else -1
        if at < 0:
            raise Unexpandable
        if self.body.stored(self.body.unpacked.get(at, at)).data is not None:
            return self._read(at, name, shape)
        return self.value(at) if shape is None else self.op("Reshape", self.value(at), shape)

    def _read(self, at: int, name: str, shape: tuple[int, ...] | None) -> Tensor:
        """The value of the variable that is this constant."""
        body = self.body
        stored = body.stored(body.unpacked.get(at, at))
        shape = stored.shape if shape is None else shape
        key = "read", at, shape
        if key not in body.refs:
            names = f"{self.scope}/{name}"
            variable = body.builder.variable(stored.key, names, stored.weight_type, shape)
            body.uses[variable] = None
            attributes = {"dtype": Type(stored.weight_type), "_output_shapes": listed([shape])}
            read = f"{variable}/Read/ReadVariableOp"
            read = body.graph.add(read, "ReadVariableOp", [variable], attributes)
            body.refs[key] = Tensor(read, shape)
        return body.refs[key]

    # --- nodes ---

    def op(self, kind: str, *inputs: Operand, **more: Any) -> Tensor:  # noqa: ANN401 - attributes
        """Add a node; its output shapes, if *shapes* does not say, follow from its inputs."""
        shapes = more.pop("shapes", None)
        if shapes is not None:
            more["_output_shapes"] = listed(shapes)
        return self.call.op(kind, *inputs, **more)

    def out(self, kind: str, *inputs: Operand, **more: Any) -> Tensor:  # noqa: ANN401 - attributes
        """Add a node whose outputs have the shapes of the operator's."""
        typed = {_TYPED_BY[kind]: Type(self.dtype)} if kind in _TYPED_BY else {}
        shapes = [tensor.shape for tensor in self.outputs]
        return self.op(kind, *inputs, shapes=shapes or None, **typed, **more)

    def activated(self, y: Tensor, field: int) -> Tensor:
        """*y* after the activation that an option names."""
        kinds = _ACTIVATIONS.get(self.small(field), ())
        for kind in kinds:
            y = self.out(kind, y, *([1.0] if len(kinds) > 1 else []))
        return y

    def named(self, name: str, x: Tensor) -> Tensor:
        """*x* after an activation of Keras."""
        return activated(self.call, x, name)

    def biased(self, y: Tensor, place: int) -> Tensor:
        """*y* and the bias, if there is one."""
        return self.out("BiasAdd", y, self.weight(place, "bias")) if self.has(place) else y

    def variable(self, container: str, name: str) -> Tensor:
        """The handle of a variable that has a name of its own."""
        at = self.body.values_of.get(self.targets[0])
        stored = None if at is None else self.body.stored(at)
        dtype, shape = (stored.type, stored.shape) if stored else (1, None)
        key, label = (container, name), self.body.prefix + clean(name or "variable")
        variable = self.body.builder.variable(key, label, dtype, shape)
        self.body.uses[variable] = None
        return Tensor(variable)

    def function(self, number: int) -> bytes:
        """An attribute: the function that is this subgraph."""
        if not 0 <= number < len(self.body.builder.model.subgraphs):
            raise Unexpandable
        self.body.calls[number] = None
        return attribute(func={"name": function_name(number)})


def is_weight(stored: Stored) -> bool:
    """Whether a constant is a weight: not a single number, a shape or an index."""
    return stored.elements > 1 and (stored.type in _FLOATS or stored.is_quantized)


def clean(name: str) -> str:
    """The name of a tensor as that of a node."""
    return _UNSAFE.sub("_", _NUMBERED.sub("", name)).strip("/") or "tensor"


def function_name(number: int) -> str:
    """The name of the function that is a subgraph."""
    return f"subgraph_{number}"


def attribute(**value: Any) -> bytes:  # noqa: ANN401 - a field of AttrValue
    """An AttrValue in wire format."""
    return bytes(message("tensorflow.AttrValue")(**value).SerializeToString())


def listed(shapes: Iterable[tuple[int, ...] | None]) -> bytes:
    """The attribute that lists the shapes of outputs."""
    rows = [
        {"unknown_rank": True} if shape is None
        else {"dim": [{"size": max(size, -1)} for size in shape]}
        for shape in shapes
    ]  # fmt: skip
    return attribute(list={"shape": rows})


def _sides(stored: Stored) -> tuple[int | None, ...] | None:
    shape = stored.shape
    return None if shape is None else tuple(None if size < 0 else size for size in shape)


def _output(first: Tensor, place: int) -> Tensor:
    return Tensor(f"{first.name}:{place}" if place else first.name)


def _in_function(name: str, kinds: dict[str, str]) -> str:
    """An input as functions write it: `node:1` of a type with several outputs names that one."""
    node, _, number = name.partition(":")
    outputs = op_outputs().get(kinds.get(node, "").encode())
    if not outputs or not number or int(number) >= len(outputs):
        return name
    return f"{node}:{outputs[int(number)].decode()}:0"


def _no_layers(*_: object) -> list[Tensor]:
    raise Unexpandable
