"""Tensors of checkpoints: a dtype, a shape and the values, flat and in row-major order.

DTYPES has a row for each dtype that can be read. Types that NumPy lacks (bfloat16 and the 8-bit and
4-bit floats) become 32-bit floats, which represent their values exactly.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tfprof.wire.decode import WireError
from tfprof.wire.scalar import Message
from tfprof.wire.varint_columns import varint_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8


Slice = tuple[tuple[int, int], ...]


Array = NDArray[Any]
F32 = NDArray[np.float32]
Values = Array | list[bytes]
ByteOrder = Literal["little", "big"]

STRING = 7
# TensorProto's field for each family of types, which the first checkpoint format uses.
_FLOAT, _DOUBLE, _INT, _STRING, _COMPLEX64, _INT64, _BOOL, _COMPLEX128, _HALF = range(5, 14)
_UINT32, _UINT64, _FLOAT8 = 16, 17, 18
# Names of dtypes that have no readable values, for messages.
OPAQUE = {20: "resource", 21: "variant"}
# float_val, double_val, scomplex_val, dcomplex_val and float8_val: bytes as in memory.
_FIXED_WIDTH = {5, 6, 9, 12, 18}


class Tensor(NamedTuple):
    """A tensor: its dtype as TensorFlow's number, its shape, its values in row-major order."""

    dtype: int
    shape: tuple[int, ...]
    values: Values


class Stored(NamedTuple):
    """A tensor to be read with read(None) or, if it has slices, slice by slice."""

    dtype: int
    shape: tuple[int, ...]
    slices: tuple[Slice, ...]
    read: Callable[[Slice | None], Values]


def called(name: bytes) -> str:
    """The name of a tensor in messages."""
    return f"tensor {name.decode('utf-8', 'backslashreplace')!r}"


class DType(NamedTuple):
    """A dtype: how values are stored in a file, and how to decode them."""

    name: str
    layout: str  # the NumPy dtype, without byte order
    proto_field: int
    decode: Callable[[Array], Array] | None = None


def _low_bits(count: int, bits: Array) -> Array:
    """Numbers in the *count* low bits of a byte, signed if the byte is."""
    return bits << 8 - count >> 8 - count


@cache
def _small_floats(exponent_bits: int, fraction_bits: int, bias: int, special: str) -> F32:
    """The value of each byte; *special* determines which are not finite numbers."""
    byte = np.arange(256)
    exponent = byte >> fraction_bits & (1 << exponent_bits) - 1
    fraction = byte & (1 << fraction_bits) - 1
    highest = 1 << exponent_bits + fraction_bits
    normal = exponent > 0
    whole = fraction + np.where(normal, 1 << fraction_bits, 0)
    power = np.maximum(exponent, 1) - bias - fraction_bits
    value: F32 = np.ldexp(whole.astype(np.float32), power.astype(np.int32))
    top = exponent == (1 << exponent_bits) - 1
    if special == "ieee":
        value[top] = np.where(fraction[top] == 0, np.inf, np.nan)
    elif special == "one nan":
        value[top & (fraction == (1 << fraction_bits) - 1)] = np.nan
    elif special == "no -0":
        value[highest] = np.nan
    negative = byte & highest > 0
    # Unlike a product, this also flips the sign of a NaN.
    value[negative] = -value[negative]
    return value


def _float8(exponent_bits: int, bias: int, special: str) -> Callable[[Array], Array]:
    return lambda bits: _small_floats(exponent_bits, 7 - exponent_bits, bias, special)[bits]


DTYPES: dict[int, DType] = {
    1: DType("float", "f4", _FLOAT),
    2: DType("double", "f8", _DOUBLE),
    3: DType("int32", "i4", _INT),
    4: DType("uint8", "u1", _INT),
    5: DType("int16", "i2", _INT),
    6: DType("int8", "i1", _INT),
    STRING: DType("string", "O", _STRING),
    8: DType("complex64", "c8", _COMPLEX64),
    9: DType("int64", "i8", _INT64),
    10: DType("bool", "u1", _BOOL, lambda bits: bits != 0),
    11: DType("qint8", "i1", _INT),
    12: DType("quint8", "u1", _INT),
    13: DType("qint32", "i4", _INT),
    14: DType("bfloat16", "u2", _HALF, lambda bits: (bits.astype("u4") << 16).view("f4")),
    15: DType("qint16", "i2", _INT),
    16: DType("quint16", "u2", _INT),
    17: DType("uint16", "u2", _INT),
    18: DType("complex128", "c16", _COMPLEX128),
    19: DType("half", "u2", _HALF, lambda bits: bits.view(np.float16)),
    22: DType("uint32", "u4", _UINT32),
    23: DType("uint64", "u8", _UINT64),
    24: DType("float8_e5m2", "u1", _FLOAT8, _float8(5, 15, "ieee")),
    25: DType("float8_e4m3fn", "u1", _FLOAT8, _float8(4, 7, "one nan")),
    26: DType("float8_e4m3fnuz", "u1", _FLOAT8, _float8(4, 8, "no -0")),
    27: DType("float8_e4m3b11fnuz", "u1", _FLOAT8, _float8(4, 11, "no -0")),
    28: DType("float8_e5m2fnuz", "u1", _FLOAT8, _float8(5, 16, "no -0")),
    29: DType("int4", "i1", _INT, partial(_low_bits, 4)),
    30: DType("uint4", "u1", _INT, partial(_low_bits, 4)),
    31: DType("int2", "i1", _INT, partial(_low_bits, 2)),
    32: DType("uint2", "u1", _INT, partial(_low_bits, 2)),
    33: DType("float4_e2m1fn", "u1", _INT, lambda bits: _small_floats(2, 1, 1, "finite")[bits]),
}


def from_bytes(dtype: DType, data: U8, byte_order: ByteOrder = "little") -> Array:
    """The values packed in *data*; a view where possible."""
    on_disk = np.dtype(dtype.layout).newbyteorder(byte_order)
    values: Array = np.ascontiguousarray(data).view(on_disk)
    return from_bits(dtype, values.astype(on_disk.newbyteorder("="), copy=False))


def from_bits(dtype: DType, bits: Array) -> Array:
    """The values of these bits, which are as wide as the dtype."""
    return bits if dtype.decode is None else dtype.decode(bits)


def values_of(data: U8, dtype: DType) -> Values:
    """The values of the TensorProto *data*; raises WireError."""
    parts = Message(data).parts(dtype.proto_field)
    if dtype.proto_field == _STRING:
        return [part.tobytes() for part in parts]
    run = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint8), *parts])
    if dtype.proto_field in _FIXED_WIDTH:
        if run.size % np.dtype(dtype.layout).itemsize:
            raise WireError(run.size, f"truncated value of type {dtype.name}")
        return from_bytes(dtype, run)
    return from_bits(dtype, varint_run(run).astype(dtype.layout))
