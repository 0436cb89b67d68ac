"""The tables of a .tflite file: subgraphs, tensors, operators, signatures.

    Model ─┬─ operator_codes   what the operators are: a builtin code, or the name of a custom one
           ├─ subgraphs ─┬─ tensors     shape, type, buffer: those with bytes in it are constants
           │             └─ operators   code, tensors in and out, options
           ├─ buffers          bytes here, or beyond the tables if the file is larger than 2 GB
           └─ signature_defs   name ─► subgraph

Numbers of fields are those of TensorFlow Lite's schema.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.read.tflite.flatbuffer import (
    BOOL,
    EMPTY,
    INT8,
    UINT32,
    UINT64,
    FlatBufferError,
    Table,
)
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import U8

# DataType of each TensorType; what weights of integers are has types of its own.
_TYPES: Final = (1, 19, 3, 4, 9, 7, 10, 5, 8, 6, 2, 18, 23, 20, 21, 22, 17, 29, 14, 31, 30)
_QUANTIZED: Final = {3: 13, 5: 15, 9: 99}
_NUMPY: Final = {1: "<f4", 3: "<i4", 9: "<i8", 10: "?"}
_CUSTOM: Final = 32
FLEX: Final = "Flex"  # before the type of an operation of TensorFlow
_MOST_AXES: Final = 32  # of an array in any NumPy
_MOST_VALUES: Final = 1000
_LONGEST_OPTIONS: Final = 4096  # in bytes, without weights
_LONGEST_NAME: Final = 4096  # every operator that computes a tensor repeats its name
_MOST_DIMENSIONS: Final = 254  # as in TensorFlow
_PER_OPERATOR: Final = 64
_INT32: Final = (-(2**31), 2**31 - 1)


class Row(NamedTuple):
    """A builtin operator: its name, the operation type that it is, and the attributes of that."""

    name: str
    kind: str = ""
    words: tuple[str, ...] = ()


class Tensor(NamedTuple):
    """A tensor of a subgraph."""

    name: str
    shape: tuple[int, ...] | None  # -1: open; None: unknown
    type: int  # a DataType
    data: tuple[int, int] | None  # (first byte, length) of a constant; empty if in another file
    key: tuple[int, int]  # the same for the same constant in another subgraph
    is_quantized: bool

    @property
    def weight_type(self) -> int:
        """The DataType of a weight."""
        return _QUANTIZED.get(self.type, self.type) if self.is_quantized else self.type

    @property
    def sides(self) -> tuple[int | None, ...] | None:
        """The shape; None is an open dimension."""
        return self.shape and tuple(None if size < 0 else size for size in self.shape)

    @property
    def elements(self) -> int:
        """How many elements a constant has."""
        return prod(self.shape or ())


class Operator(NamedTuple):
    """An operator of a subgraph."""

    row: Row
    inputs: list[int]  # numbers of tensors; -1: left out
    outputs: list[int]
    options: Table
    custom: tuple[int, int] = (0, 0)  # (first byte, length) of the options of a custom operator

    @property
    def hides_weights(self) -> bool:
        """Whether its options are so long that they hold weights, as of a compiled model."""
        return self.custom[1] > _LONGEST_OPTIONS and not self.row.name.startswith(FLEX)


NOTHING: Final = Operator(Row(""), [], [], EMPTY)


class Subgraph(NamedTuple):
    """The operators of a subgraph, in the order in which they run."""

    tensors: list[Tensor]
    inputs: list[int]
    outputs: list[int]
    operators: list[Operator]


class Model:
    """A .tflite file; raises FlatBufferError."""

    def __init__(self, data: U8) -> None:
        self._data, self.size = data, data.size
        root = Table.root(data)
        codes = [_operator(code) for code in root.tables(1)]
        self._buffers = [_buffer(table, len(data)) for table in root.tables(4)]
        self.external = self.sparse = 0  # constants in other files, sparse ones
        self.subgraphs = [self._subgraph(table, codes) for table in root.tables(2)]
        if not self.subgraphs:
            raise FlatBufferError(0, "no subgraph in the model")
        signatures = [(table.text(2), table.number(4, UINT32)) for table in root.tables(7)]
        self.signatures = {name: at for name, at in signatures if at < len(self.subgraphs)}

    def _subgraph(self, table: Table, codes: Sequence[Row]) -> Subgraph:
        again: dict[int, int] = {}
        tensors = [self._tensor(each, again) for each in table.tables(0)]

        def known(numbers: list[int]) -> list[int]:
            return [number if -1 <= number < len(tensors) else -1 for number in numbers]

        operators = [
            Operator(
                codes[code] if (code := each.number(0, UINT32)) < len(codes) else Row("UNKNOWN"),
                known(each.numbers(1)),
                known(each.numbers(2)),
                each.table(4) or each.table(12) or EMPTY,
                each.span(5, charged=True),
            )
            for each in table.tables(3, _PER_OPERATOR)
        ]
        return Subgraph(tensors, known(table.numbers(1)), known(table.numbers(2)), operators)

    def _tensor(self, table: Table, again: dict[int, int]) -> Tensor:
        shape, signature = tuple(table.numbers(0)), tuple(table.numbers(7))
        if len(signature) == len(shape):
            shape = signature
        buffer, type_ = table.number(2, UINT32), table.number(1, INT8)
        data = self._buffers[buffer] if buffer < len(self._buffers) else None
        if table.number(10, UINT32):
            self.external += 1
            data = (0, 0)
        self.sparse += table.table(6) is not None
        quantization = table.table(4)
        known = bool(shape) or data is not None or table.number(8, BOOL, default=False)
        known &= len(shape) <= _MOST_DIMENSIONS
        again[buffer] = again.get(buffer, -1) + 1
        return Tensor(
            table.text(3)[:_LONGEST_NAME],
            tuple(max(size, -1) for size in shape) if known else None,
            _TYPES[type_] if 0 <= type_ < len(_TYPES) else 0,
            data,
            (buffer, again[buffer]),
            quantization is not None and quantization.span(2)[1] > 0,
        )

    def flex_attributes(self, operator: Operator) -> dict[str, bytes]:
        """The attributes of an operation of TensorFlow, from the options of the operator.

        A FlexBuffer of two texts: the type, and the NodeDef behind its length.
        """
        start, length = operator.custom
        options = self._data[start : start + length].tobytes()
        kind = operator.row.kind.encode() + b"\0"
        for width in (1, 2, 4, 8) if kind in options else ():
            at = options.index(kind) + len(kind)
            at += -at % width
            end = at + width + int.from_bytes(options[at : at + width], "little")
            node: Any = message("tensorflow.NodeDef")()
            with suppress(DecodeError):
                node.ParseFromString(options[at + width : end])
            if node.op == operator.row.kind:
                node.attr.pop("_output_shapes", None)
                return {key: value.SerializeToString() for key, value in node.attr.items()}
        return {}

    def values(self, tensor: Tensor) -> np.ndarray[Any, Any] | None:
        """The numbers of a small constant; None: unknown."""
        dtype = np.dtype(_NUMPY.get(tensor.type, "V1"))
        (start, length), shape = tensor.data or (0, 0), tensor.shape or ()
        is_small = 0 < tensor.elements <= _MOST_VALUES and min(shape, default=0) >= 0
        is_small &= len(shape) <= _MOST_AXES
        if tensor.type not in _NUMPY or not is_small or length != tensor.elements * dtype.itemsize:
            return None
        values = np.frombuffer(self._data, dtype, tensor.elements, start).reshape(shape)
        return values if tensor.type == 1 else values.clip(*_INT32)


@cache
def builtin_operators() -> list[Row]:
    """The builtin operators by their codes."""
    lines = Path(__file__).with_name("operators.txt").read_text(encoding="ascii").splitlines()
    rows = (line.split() for line in lines)
    return [Row(name, kind[0] if kind else "", tuple(kind[1:])) for name, *kind in rows]


def _operator(code: Table) -> Row:
    number = max(code.number(0, INT8), code.number(3))
    rows = builtin_operators()
    if number == _CUSTOM:
        name = code.text(1) or "CUSTOM"
        return Row(name, name.removeprefix(FLEX))
    return rows[number] if 0 <= number < len(rows) else Row(f"BUILTIN_{number}")


def _buffer(table: Table, size: int) -> tuple[int, int] | None:
    """(first byte, length) of what is in a buffer; None: nothing."""
    start, length = table.span(0)
    offset, beyond = table.number(1, UINT64), table.number(2, UINT64)
    if offset > 1:  # 0 and 1 are placeholders
        if offset + beyond > size:
            raise FlatBufferError(offset, f"a buffer of {beyond:,} bytes goes beyond the end")
        start, length = offset, beyond
    return (start, length) if length else None
