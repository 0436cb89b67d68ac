"""Reads the values of a TensorProto, which the first checkpoint format stores slices as.

    float_val 5   double_val 6   int_val 7   string_val 8   … 18      one field per family of types

Fixed-width numbers are packed; others are varints, sign-extended to 64 bits for any dtype. Half
floats are stored as their bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.read.checkpoint.tensors import DType, Values, from_bits, from_bytes
from tfprof.wire.decode import WireError
from tfprof.wire.message import Message
from tfprof.wire.varint_columns import varint_run

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

# float_val, double_val, scomplex_val, dcomplex_val and float8_val: bytes as in memory.
_FIXED_WIDTH = {5, 6, 9, 12, 18}
_STRING = 8


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
