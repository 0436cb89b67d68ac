"""Random AttrValues of every kind that TensorFlow's schema has, and tensors with known values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.descriptor import FieldDescriptor

from random_values import chance
from tf_wheel import piece

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

DataType: Final[Any] = piece("tensorflow.core.framework.types_pb2").DataType
FLOATS: Final = (0.0, -0.0, 1.0, -2.5, 0.1, 1e-45, 3.4e38, 1e20, 2.0**-130)
NOT_FINITE: Final = (float("nan"), float("inf"), float("-inf"))
TEXTS: Final = (
    *("", "T", "value", "é日本", 'q"uote', "it's", "back\\slash", "a\nb\tc", "{ x: 1 } # no"),
)
NUMBERS: Final[dict[int, tuple[Any, ...]]] = {
    FieldDescriptor.CPPTYPE_INT32: (0, 1, -1, 127, 128, 2**31 - 1, -(2**31)),
    FieldDescriptor.CPPTYPE_INT64: (0, 1, -1, 300, 2**63 - 1, -(2**63)),
    FieldDescriptor.CPPTYPE_UINT32: (0, 1, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 1, 2**64 - 1),
    FieldDescriptor.CPPTYPE_FLOAT: (*FLOATS, *NOT_FINITE),
    FieldDescriptor.CPPTYPE_DOUBLE: (*FLOATS, *NOT_FINITE, 1e308, 5e-324, 1 / 3),
    FieldDescriptor.CPPTYPE_BOOL: (False, True),
    FieldDescriptor.CPPTYPE_ENUM: (*DataType.values(), 77),
}
DEEP: Final = 5
# By dtype: how NumPy stores it, and the field of a TensorProto that lists its values.
TENSORS: Final = {
    "DT_FLOAT": ("<f4", "float_val"),
    "DT_DOUBLE": ("<f8", "double_val"),
    "DT_INT32": ("<i4", "int_val"),
    "DT_INT16": ("<i2", "int_val"),
    "DT_INT8": ("<i1", "int_val"),
    "DT_UINT8": ("<u1", "int_val"),
    "DT_INT64": ("<i8", "int64_val"),
    "DT_BOOL": ("?", "bool_val"),
    "DT_UINT32": ("<u4", "uint32_val"),
}


def fill(rng: Random, message: Any, depth: int = 0) -> None:
    """Set some fields of *message*, and one of each choice."""
    descriptor = message.DESCRIPTOR
    left_out = {
        field.name
        for oneof in descriptor.oneofs
        for field in rng.sample([*oneof.fields], len(oneof.fields) - 1)
    }
    for field in descriptor.fields:
        is_choice = field.containing_oneof is not None
        often = 1 if is_choice else 0.4 if depth < DEEP else 0.05
        if field.name not in left_out and chance(rng, often):
            _set(rng, message, field, depth)


def _set(rng: Random, message: Any, field: Any, depth: int) -> None:
    inside = field.message_type
    count = rng.choice((0, 1, 2, 5)) if field.is_repeated else 1
    if inside is None and field.is_repeated:
        getattr(message, field.name).extend(_scalar(rng, field) for _ in range(count))
    elif inside is None:
        setattr(message, field.name, _scalar(rng, field))
    elif inside.GetOptions().map_entry:
        for _ in range(count):
            held = getattr(message, field.name)[rng.choice(TEXTS)]
            fill(rng, held, depth + 1)
    elif field.is_repeated:
        for _ in range(count):
            fill(rng, getattr(message, field.name).add(), depth + 1)
    else:
        getattr(message, field.name).SetInParent()
        fill(rng, getattr(message, field.name), depth + 1)


def _scalar(rng: Random, field: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice((b"", rng.randbytes(9), bytes(range(256)), b"plain", b"\\377\xff\0007"))
    if field.type == FieldDescriptor.TYPE_STRING:
        return rng.choice(TEXTS)
    return rng.choice(NUMBERS[field.cpp_type])


def tensor(rng: Random, proto: Any) -> NDArray[Any]:
    """Fill a TensorProto; returns the values that it holds."""
    name = rng.choice([*TENSORS])
    kind, listed = TENSORS[name]
    shape = [rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 1, 2)))]
    size = int(np.prod(shape))
    if kind in ("<f4", "<f8"):
        values = np.array([rng.choice((*FLOATS, *NOT_FINITE)) for _ in range(size)], kind)
    else:
        values = np.frombuffer(rng.randbytes(8 * size), "<u8").astype(kind)
    proto.dtype = DataType.Value(name)
    proto.tensor_shape.SetInParent()
    for dim in shape:
        proto.tensor_shape.dim.add(size=dim)
    if chance(rng, 0.4):
        proto.tensor_content = values.tobytes()
    else:
        cut = rng.randrange(1, size + 1)  # the last value that is listed repeats
        values[cut:] = values[cut - 1]
        getattr(proto, listed).extend(values[:cut].tolist())
    return values.reshape(shape)
