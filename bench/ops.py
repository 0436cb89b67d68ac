"""The operations of the generated graph: one row an op, with what it costs and carries.

`OPS` says how many kernels an op launches on the accelerator, how long it takes and how many float
operations an output element needs; `attributes` gives the op's NodeDef attributes, ready spelled.
"""

from __future__ import annotations

from functools import cache
from math import prod
from struct import pack
from typing import NamedTuple

from encode import Enum, Message, Packed, Value, block, text, wire

Shape = tuple[int, ...]

FLOAT = Enum("DT_FLOAT", 1)
INT32 = Enum("DT_INT32", 3)


class Op(NamedTuple):
    """What an op is like: kernels per execution, microseconds, flops per element, attributes."""

    kernels: int = 0
    micros: int = 2
    flops: int = 0
    outputs: int = 1
    fixed: Message = ()


def _ints(*values: int) -> Message:
    return ((1, "list", ((3, "i", Packed(values)),)),)


def _string(value: bytes) -> Message:
    return ((2, "s", value),)


_TYPED: Message = ((0, "T", ((6, "type", FLOAT),)),)
_LAYOUT: Message = ((0, "data_format", _string(b"NHWC")),)
_CONVOLUTION: Message = (
    *_TYPED,
    *_LAYOUT,
    (0, "dilations", _ints(1, 1, 1, 1)),
    (0, "padding", _string(b"SAME")),
    (0, "strides", _ints(1, 2, 2, 1)),
    (0, "use_cudnn_on_gpu", ((5, "b", True),)),
)
_NORM: Message = (
    *_TYPED,
    *_LAYOUT,
    (0, "is_training", ((5, "b", True),)),
)
_ASSIGN: Message = (
    *_TYPED,
    (0, "use_locking", ((5, "b", True),)),
    (0, "validate_shape", ((5, "b", True),)),
)
_VARIABLE: Message = (
    (0, "container", _string(b"")),
    (0, "dtype", ((6, "type", FLOAT),)),
    (0, "shared_name", _string(b"")),
)
_RANDOM: Message = (
    (0, "T", ((6, "type", INT32),)),
    (0, "dtype", ((6, "type", FLOAT),)),
    (0, "seed", ((3, "i", 87654321),)),
    (0, "seed2", ((3, "i", 42),)),
)
_ADDN: Message = (
    (0, "N", ((3, "i", 2),)),
    *_TYPED,
)

OPS: dict[bytes, Op] = {
    b"Add": Op(kernels=1, micros=28, flops=1, fixed=_TYPED),
    b"AddN": Op(kernels=1, micros=35, flops=2, fixed=_ADDN),
    b"ApplyMomentum": Op(kernels=1, micros=12, fixed=_TYPED),
    b"Assign": Op(micros=4, fixed=_ASSIGN),
    b"AssignAdd": Op(micros=3, fixed=_TYPED),
    b"AssignSub": Op(kernels=1, micros=4, fixed=_TYPED),
    b"BiasAdd": Op(kernels=1, micros=24, flops=1, fixed=(*_TYPED, *_LAYOUT)),
    b"BiasAddGrad": Op(kernels=1, micros=31, flops=1, fixed=(*_TYPED, *_LAYOUT)),
    b"Const": Op(micros=1),
    b"Conv2D": Op(kernels=2, micros=420, flops=1152, fixed=_CONVOLUTION),
    b"Conv2DBackpropFilter": Op(kernels=2, micros=640, flops=1152, fixed=_CONVOLUTION),
    b"Conv2DBackpropInput": Op(kernels=2, micros=510, flops=1152, fixed=_CONVOLUTION),
    b"Fill": Op(micros=2, fixed=_TYPED),
    b"FusedBatchNorm": Op(kernels=2, micros=75, flops=10, outputs=5, fixed=_NORM),
    b"FusedBatchNormGrad": Op(kernels=2, micros=96, flops=12, outputs=5, fixed=_NORM),
    b"Identity": Op(micros=2, fixed=_TYPED),
    b"L2Loss": Op(kernels=1, micros=14, flops=3, fixed=_TYPED),
    b"Mul": Op(kernels=1, micros=8, flops=1, fixed=_TYPED),
    b"NoOp": Op(micros=1, outputs=0),
    b"Placeholder": Op(fixed=((0, "dtype", ((6, "type", FLOAT),)),)),
    b"RandomUniform": Op(fixed=_RANDOM),
    b"Relu": Op(kernels=1, micros=21, flops=1, fixed=_TYPED),
    b"ReluGrad": Op(kernels=1, micros=26, flops=2, fixed=_TYPED),
    b"ScalarSummary": Op(micros=9, fixed=_TYPED),
    b"ShapeN": Op(micros=2, outputs=2, fixed=_ADDN),
    b"Split": Op(micros=44, outputs=4, fixed=((0, "num_split", ((3, "i", 4),)), *_TYPED)),
    b"Sub": Op(kernels=1, micros=7, flops=1, fixed=_TYPED),
    b"VariableV2": Op(micros=1, fixed=_VARIABLE),
}


def dims(shape: Shape) -> Message:
    """A TensorShapeProto."""
    return tuple((2, "dim", ((1, "size", size),)) for size in shape)


def _constant(shape: Shape) -> Message:
    """The value of a Const: a scalar as a float, anything else as raw integers (a shape)."""
    if not shape:
        half = Packed((0.5,))
        tensor: Message = ((1, "dtype", FLOAT), (2, "tensor_shape", ()), (5, "float_val", half))
    else:
        tensor = (
            (1, "dtype", INT32),
            (2, "tensor_shape", dims((len(shape),))),
            (4, "tensor_content", pack(f"<{len(shape)}i", *shape)),
        )
    return ((0, "dtype", ((6, "type", tensor[0][2]),)), (0, "value", ((8, "tensor", tensor),)))


class Spelled(NamedTuple):
    """All attributes of a node, as they stand in a NodeDef."""

    wire: bytes
    text: bytes


def _location(variable: bytes) -> Message:
    return ((1, "list", ((2, "s", b"loc:@" + variable),)),)


def attributes(op: bytes, shape: Shape, variable: bytes = b"") -> Spelled:
    """The attributes of a node; `variable` is what it must be placed with, if anything."""
    return _spell(op, shape, variable) if variable else _shared(op, shape)


@cache
def _shared(op: bytes, shape: Shape) -> Spelled:
    return _spell(op, shape, b"")


def _spell(op: bytes, shape: Shape, variable: bytes) -> Spelled:
    row = OPS[op]
    named: dict[str, Value] = {name: value for _, name, value in row.fixed}
    if variable:
        named["_class"] = _location(variable)
    if row.outputs:
        shapes = tuple((7, "shape", dims(each)) for each in output_shapes(op, shape))
        named["_output_shapes"] = ((1, "list", shapes),)
    if op in {b"VariableV2", b"Placeholder"}:
        named["shape"] = ((7, "shape", dims(shape)),)
    if op == b"Const":
        named |= {name: value for _, name, value in _constant(shape)}
    # Protobuf prints maps by key; the bytes follow the same order.
    entries = [((1, "key", name.encode()), (2, "value", named[name])) for name in sorted(named)]
    return Spelled(
        b"".join(block(b"\x2a", wire(entry)) for entry in entries),
        "".join(f"  attr {{\n{text(entry, 4)}  }}\n" for entry in entries).encode(),
    )


@cache
def output_shapes(op: bytes, shape: Shape) -> tuple[Shape, ...]:
    """The shape of each output: the first is the node's, the others are per channel."""
    if op == b"Split":
        return (shape,) * OPS[op].outputs
    if op == b"Const" and shape:
        return ((len(shape),),)
    return (shape,) * min(1, OPS[op].outputs) + (shape[-1:],) * (OPS[op].outputs - 1)


@cache
def elements(shape: Shape) -> int:
    """How many elements a tensor of this shape has."""
    return prod(shape)
