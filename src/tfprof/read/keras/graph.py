"""Graph and Call: what a row of LAYERS builds nodes with; and the table itself.

    @layer("Flatten")
    def flatten(call): return call.reshaped(call.x, None, -1)

    call.op("MatMul", call.x, call.weight("kernel"))      net/dense/MatMul < net/dense/kernel/Read
    call.op("BiasAdd", …)                                 net/dense/BiasAdd

A Tensor names an output of a node; its shape is what the configuration says of it. Shapes of other
outputs follow from the rules in ops/, like those of any graph.

A row returns the output, or the outputs. What it needs and does not find in the configuration
raises Unexpandable, KeyError, TypeError and the like: the layer is then one node of its class,
whose float operations are unknown, as those of a class without a row.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.tables.limits import LIMITS, limit
from tfprof.wire.scalar import encode_varint
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

FLOAT, INT32, INT64, BOOL = 1, 3, 9, 10
_TYPE, _TENSOR = b"\x30", b"\x42"  # AttrValue.type and AttrValue.tensor
_MOST_CONSTANT: Final = 1000
_SHARE, _NODES_OF_LAYER = 100, 300
# The attribute that names the dtype of the outputs, where it is not T.
_TYPED_BY: Final = {
    "Const": "dtype", "Placeholder": "dtype", "VarHandleOp": "dtype", "ReadVariableOp": "dtype",
    "GatherV2": "Tparams", "Shape": "out_type", "LookupTableFindV2": "Tout",
}  # fmt: skip


class Unexpandable(Exception):  # noqa: N818 - not an error: what the layer computes is unknown
    """The configuration does not determine what the layer computes."""


class Tensor(NamedTuple):
    """An output of a node."""

    name: str
    shape: tuple[int | None, ...] | None = None  # None, or an open dimension: unknown
    opaque_like: str = ""  # of a layer that is unknown: its first input


class Type(int):
    """A DataType as an attribute."""


class Dims(tuple[int, ...]):
    """A shape as an attribute; -1 is an open dimension."""

    __slots__ = ()


Entry: TypeAlias = Any  # an object of the configuration, which may be anything
# A constant is of floats if it is a float, else of integers.
Operand: TypeAlias = "Tensor | float | Sequence[int] | Sequence[Sequence[int]]"


class Graph:
    """A GraphDef in the making."""

    def __init__(self, file: str, layers: int, names: dict[str, int] | None = None) -> None:
        """*layers* are those of the configuration; models may call each other many times.

        Graphs may share the *names* of their nodes: no two of these have the same name.
        """
        self._file = file
        self._most = limit("function_nodes") // _SHARE + layers * _NODES_OF_LAYER
        self._nodes: list[Any] = []
        self._again: dict[str, int] = {} if names is None else names
        self._node_type: Any = message("tensorflow.NodeDef")

    def __len__(self) -> int:
        return len(self._nodes)

    def cut(self, length: int) -> None:
        """Drop all nodes but the first ones."""
        for node in self._nodes[length:]:
            del self._again[node.name]
        del self._nodes[length:]

    def add(self, name: str, op: str, inputs: Sequence[str], attributes: Mapping[str, Any]) -> str:
        """Add a node; the name that it gets."""
        if len(self._nodes) >= self._most:
            raise InputError(
                f"{self._file}: its layers expand to more than {self._most:,} nodes "
                f"({LIMITS['function_nodes'].flag} raises this limit)"
            )
        wanted = name
        while name in self._again:
            self._again[wanted] += 1
            name = f"{wanted}_{self._again[wanted]}"
        self._again[name] = 0
        node = self._node_type(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            _set(node.attr[key], value)
        self._nodes.append(node)
        return name

    @property
    def nodes(self) -> list[Any]:
        """The NodeDefs."""
        return self._nodes

    def data(self) -> bytes:
        """The GraphDef in wire format."""
        graph: Any = message("tensorflow.GraphDef")()
        graph.node.extend(self._nodes)
        return bytes(graph.SerializeToString())


def _set(attribute: Any, value: Any) -> None:  # noqa: ANN401 - an AttrValue
    if isinstance(value, Type):
        attribute.MergeFromString(_TYPE + encode_varint(value))
    elif isinstance(value, Dims):
        attribute.shape.SetInParent()
        for length in value:
            attribute.shape.dim.add(size=length)
    elif isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    elif isinstance(value, float):
        attribute.f = value
    elif isinstance(value, str):
        attribute.s = value.encode()
    elif isinstance(value, bytes):
        attribute.MergeFromString(value)
    else:
        attribute.list.i.extend(value)


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a layer: its configuration, its inputs, and its weights by name."""

    graph: Graph
    scope: str
    config: Mapping[str, Any]
    inputs: list[Tensor]
    options: Mapping[str, Any]  # arguments that are not tensors
    weights: Mapping[str, str]  # the node of each
    dtype: int
    run: Callable[[Call, str], list[Tensor]]  # expands a call of a layer of this class

    @property
    def x(self) -> Tensor:
        """The first input."""
        return self.inputs[0]

    @property
    def rank(self) -> int:
        """The rank of the first input."""
        return len(self.sides)

    @property
    def sides(self) -> tuple[int | None, ...]:
        """The shape of the first input."""
        return known(self.x)

    def op(self, kind: str, *inputs: Operand, dtype: int | None = None, **more: Any) -> Tensor:  # noqa: ANN401 - attributes
        """Add a node of an operation type; numbers among its inputs are constants."""
        attributes = {_TYPED_BY.get(kind, "T"): Type(self.dtype if dtype is None else dtype)}
        names = [(x if isinstance(x, Tensor) else self.constant(x)).name for x in inputs]
        return Tensor(self.graph.add(f"{self.scope}/{kind}", kind, names, {**attributes, **more}))

    def constant(self, value: Operand) -> Tensor:
        """Add a small constant; raises Unexpandable."""
        is_real = isinstance(value, float)
        array = np.asarray(value, np.float32 if is_real else np.int32)
        if array.size > _MOST_CONSTANT:
            raise Unexpandable
        dims = b"".join(b"\x12" + _sized(b"\x08" + encode_varint(size)) for size in array.shape)
        dtype = FLOAT if is_real else INT32
        tensor = b"\x08" + encode_varint(dtype) + b"\x12" + _sized(dims)
        tensor += b"\x22" + _sized(array.tobytes())
        return self.op("Const", dtype=dtype, value=_TENSOR + _sized(tensor))

    def weight(self, name: str) -> Tensor:
        """The value of a weight; raises KeyError if the layer has none of this name."""
        variable, dtype = self.weights[name], {"dtype": Type(self.dtype)}
        read = f"{variable}/Read/ReadVariableOp"
        return Tensor(self.graph.add(read, "ReadVariableOp", [variable], dtype))

    def has(self, name: str) -> bool:
        """Whether the layer has a weight of this name."""
        return name in self.weights

    def within(self, config: Entry, prefix: str = "", *inputs: Tensor) -> Call:
        """The same for a layer inside of this one, whose weights have this prefix."""
        if not isinstance(config, dict):
            raise Unexpandable
        names = [name for name in self.weights if name.startswith(prefix)]
        weights = {name.removeprefix(prefix): self.weights[name] for name in names}
        return replace(self, config=config, inputs=list(inputs), options={}, weights=weights)

    def inner(
        self, entry: Entry, *inputs: Tensor, prefix: str = "", scope: str = ""
    ) -> list[Tensor]:
        """Call a layer inside of this one."""
        call = self.within(entry["config"], prefix, *inputs)
        scope = f"{self.scope}/{scope}" if scope else self.scope
        return self.run(replace(call, scope=scope), str(entry["class_name"]))

    # --- shapes ---

    def shape_of(self, x: Tensor, begin: int = 0, end: int | None = None) -> Tensor:
        """Some dimensions of a tensor, as a vector."""
        shape = self.op("Shape", x, dtype=INT32)
        if begin == 0 and end is None:
            return shape
        masks = {"end_mask": 1} if end is None else {}
        return self.op("StridedSlice", shape, [begin], [end or 0], [1], dtype=INT32, **masks)

    def joined(self, *parts: Operand, axis: int = 0, dtype: int | None = INT32) -> Tensor:
        """Tensors one after the other."""
        return self.op("ConcatV2", *parts, axis, dtype=dtype, N=len(parts))

    def reshaped(self, x: Tensor, *dims: int | Tensor | list[int] | None) -> Tensor:
        """*x* in another shape: dimensions, and vectors of dimensions; None is the batch."""
        parts: list[Operand] = [
            self.shape_of(x, 0, 1) if part is None else [part] if isinstance(part, int) else part
            for part in dims
        ]
        return self.op("Reshape", x, parts[0] if len(parts) == 1 else self.joined(*parts))

    def expanded(self, x: Tensor, axis: int) -> Tensor:
        """*x* with another dimension of 1."""
        return self.op("ExpandDims", x, axis)

    def reduced(self, kind: str, x: Tensor, axes: Sequence[int], *, keep: bool = True) -> Tensor:
        """Sum, Mean, Max or the like over axes."""
        return self.op(kind, x, list(axes), keep_dims=keep)

    def biased(self, x: Tensor, kind: str = "BiasAdd", layout: str = "NHWC") -> Tensor:
        """*x* and the bias, if the layer has one."""
        if not self.has("bias"):
            return x
        return self.op(kind, x, self.weight("bias"), data_format=layout)


def known(x: Tensor) -> tuple[int | None, ...]:
    """The shape of a tensor of known rank; raises Unexpandable."""
    if x.shape is None:
        raise Unexpandable
    return x.shape


def _sized(data: bytes) -> bytes:
    return encode_varint(len(data)) + data


Row: TypeAlias = "Callable[[Call], Tensor | list[Tensor]]"
FAMILIES: Final = "activation attention convolution dense normalization recurrent reshaping"
LAYERS: Final[dict[str, Row]] = {}
OPERATIONS: Final[dict[str, Row]] = {}  # keras.ops: the same for operations that are not layers


def layer(*names: str, table: dict[str, Row] = LAYERS) -> Callable[[Row], Row]:
    """Make the function below the row of these layers; names are separated by spaces."""

    def decorate(row: Row) -> Row:
        for name in " ".join(names).split():
            assert name not in table, f"two rows for {name}"
            table[name] = row
        return row

    return decorate


operation: Final = partial(layer, table=OPERATIONS)


def row_of(kind: str, *, is_layer: bool = True) -> Row | None:
    """The row of a class; None: there is none."""
    for family in FAMILIES.split():
        import_module(f"tfprof.read.keras.layers.{family}")
    return (LAYERS if is_layer else OPERATIONS).get(kind)
