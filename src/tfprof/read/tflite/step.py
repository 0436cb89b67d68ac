"""Step: one operator, what rows ask of it, and the nodes that they build with it.

step.x(), step.weight(1, "kernel")    its inputs; a constant is a variable, or a small Const
step.op("Square", x)                  a node in its scope
step.out("Conv2D", x, kernel)         a node whose outputs have the shapes of the operator's
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from tfprof.read.keras.graph import Call, Dims, Operand, Tensor, Type, Unexpandable
from tfprof.read.tflite.flatbuffer import INT8
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfprof.read.keras.graph import Graph
    from tfprof.read.tflite.model import Model, Operator
    from tfprof.read.tflite.model import Tensor as Stored

_UNSAFE: Final = re.compile(r"[\x00-\x20:;^\\]+")
_NUMBERED: Final = re.compile(r":\d*$")
# Of the names that the converter joins for fused operations, this one belongs to the weights.
_PRODUCT: Final = re.compile(r"[^/]*(?:conv|depthwise|matmul|einsum|dot)[^/]*", re.IGNORECASE)
_ACTIVATIONS: Final = {1: ("Relu",), 2: ("Maximum", "Minimum"), 3: ("Relu6",), 4: ("Tanh",)}
_LONGEST: Final = 500
_ON_VARIABLES: Final = ("READ_VARIABLE", "ASSIGN_VARIABLE")
_FLOATS: Final = frozenset({1, 2, 8, 14, 18, 19})
# The attribute that names the dtype of the outputs, where it is not the usual one.
_TYPED_BY: Final = {
    "Cast": "DstT", "ArgMax": "output_type", "ArgMin": "output_type", "Real": "Tout",
    "Imag": "Tout", "ComplexAbs": "Tout",
}  # fmt: skip


class Variables(NamedTuple):
    """The variables of a model; several subgraphs may use the same."""

    graph: Graph
    names: dict[object, str]


class Body:
    """A subgraph whose operators become nodes."""

    def __init__(
        self, model: Model, number: int, graph: Graph, variables: Variables, prefix: str
    ) -> None:
        self.model, self.graph, self.prefix = model, graph, prefix
        self.subgraph, self._variables = model.subgraphs[number], variables
        self.refs: dict[object, Tensor] = {}
        self.unpacked: dict[int, int] = {}  # tensors that are a constant with another dtype
        self.effects: list[str] = []
        self.uses: dict[str, None] = {}  # variables
        self.calls: dict[int, None] = {}  # subgraphs

    def stored(self, at: int) -> Stored:
        """A tensor of the file."""
        return self.subgraph.tensors[at]

    def variable(self, key: object, name: str, dtype: int, shape: tuple[int, ...] | None) -> str:
        """The variable of this key; a new one gets this name."""
        graph, names = self._variables
        if key not in names:
            attributes: dict[str, Any] = {"dtype": Type(dtype)}
            if shape is not None and min(shape, default=0) >= 0:
                attributes["shape"] = Dims(shape)
            names[key] = graph.add(name, "VarHandleOp", [], attributes)
        self.uses[names[key]] = None
        return names[key]

    @cached_property
    def values_of(self) -> dict[int, int]:
        """A tensor that was read from, or is assigned to, the variable of each handle."""
        pairs = [
            (each.inputs[0], (each.outputs or each.inputs[1:])[0])
            for each in self.subgraph.operators
            if each.row.name in _ON_VARIABLES
            and each.inputs
            and len(each.inputs) + len(each.outputs) > 1
        ]
        return {handle: value for handle, value in pairs if value >= 0}


class Step:
    """One operator: what rows ask of it, and build nodes with."""

    def __init__(self, body: Body, operator: Operator) -> None:
        self.body, self.operator, self.options = body, operator, operator.options
        self.row, self.inputs, self.targets = operator.row, operator.inputs, operator.outputs
        self.outputs = [body.stored(at) for at in self.targets if at >= 0]
        self.dtype = self.outputs[0].type if self.outputs else 1
        self.scope = body.prefix + self._scope()
        self.call = Call(body.graph, self.scope, {}, [], {}, {}, self.dtype, lambda *_: [])

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
        values = body.model.values(stored) if stored.data is not None else None
        if values is not None:
            number = float(values.item()) if stored.type == 1 else values.tolist()
            body.refs[at] = self.call.constant(number)._replace(shape=stored.sides)
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
            variable = body.variable(stored.key, names, stored.weight_type, shape)
            attributes = {"dtype": Type(stored.weight_type), "_output_shapes": _listed([shape])}
            read = f"{variable}/Read/ReadVariableOp"
            read = body.graph.add(read, "ReadVariableOp", [variable], attributes)
            body.refs[key] = Tensor(read, shape)
        return body.refs[key]

    def hidden_weights(self) -> Tensor:
        """What the options of a custom operator hold, of unknown shape."""
        variable = self.body.variable(self.operator.custom, f"{self.scope}/options", 1, None)
        read = f"{variable}/Read/ReadVariableOp"
        attributes = {"dtype": Type(1), "_output_shapes": _listed([None])}
        return Tensor(self.body.graph.add(read, "ReadVariableOp", [variable], attributes), None)

    # --- nodes ---

    def op(self, kind: str, *inputs: Operand, **more: Any) -> Tensor:  # noqa: ANN401 - attributes
        """Add a node; its output shapes, if *shapes* does not say, follow from its inputs."""
        shapes = more.pop("shapes", None)
        if shapes is not None:
            more["_output_shapes"] = _listed(shapes)
        return self.call.op(kind, *inputs, **more)

    def out(self, kind: str, *inputs: Operand, **more: Any) -> Tensor:  # noqa: ANN401 - attributes
        """Add a node whose outputs have the shapes of the operator's."""
        typed = {_TYPED_BY[kind]: Type(self.dtype)} if kind in _TYPED_BY else {}
        shapes = [tensor.shape for tensor in self.outputs]
        return self.op(kind, *inputs, shapes=shapes or None, **typed, **more)

    def activated(self, y: Tensor, field: int) -> Tensor:
        """*y* after the activation that an option names."""
        kinds = _ACTIVATIONS.get(self.options.number(field, INT8), ())
        for kind in kinds:
            y = self.out(kind, y, *([1.0] if len(kinds) > 1 else []))
        return y

    def biased(self, y: Tensor, place: int) -> Tensor:
        """*y* and the bias, if there is one."""
        return self.out("BiasAdd", y, self.weight(place, "bias")) if self.has(place) else y

    def function(self, number: int) -> bytes:
        """An attribute: the function that is this subgraph."""
        if not 0 <= number < len(self.body.model.subgraphs):
            raise Unexpandable
        self.body.calls[number] = None
        return attribute(func={"name": function_name(number)})


def is_weight(stored: Stored) -> bool:
    """Whether a constant is a weight: not a single number, a shape or an index."""
    return stored.elements > 1 and (stored.type in _FLOATS or stored.is_quantized)


def clean(name: str) -> str:
    """The name of a tensor as that of a node."""
    return _UNSAFE.sub("_", _NUMBERED.sub("", name)).strip("/")[-_LONGEST:] or "tensor"


def function_name(number: int) -> str:
    """The name of the function that is a subgraph."""
    return f"subgraph_{number}"


def attribute(**value: Any) -> bytes:  # noqa: ANN401 - a field of AttrValue
    """An AttrValue in wire format."""
    return bytes(message("tensorflow.AttrValue")(**value).SerializeToString())


def _listed(shapes: Iterable[tuple[int, ...] | None]) -> bytes:
    """The attribute that lists the shapes of outputs."""
    rows = [
        {"unknown_rank": True} if shape is None else {"dim": [{"size": size} for size in shape]}
        for shape in shapes
    ]
    return attribute(list={"shape": rows})


Row: TypeAlias = "Callable[[Step], Tensor | list[Tensor]]"
ROWS: Final[dict[str, Row]] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Make the function below the row of these operators."""

    def decorate(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return decorate
