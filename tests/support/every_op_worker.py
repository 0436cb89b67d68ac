"""Graphs with one operation of each named type.

    python every_op_worker.py < names, one per line   →  a line with the names of all operations,
                                                          then a GraphDef with shapes

Types are taken from the registry: a float wherever there is a choice. An input is a placeholder,
a variable where the operation writes to it, or a constant where its value tells a shape.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

from op_shapes import ATTRIBUTES, IMAGE, PLAIN, SCALAR, WANTS

TYPES: Final = ("float32", "complex64", "int32", "int64", "qint8")
# What an optimizer has for each element; the rest is a scalar.
ELEMENTS: Final = re.compile(r"var|m|v|vhat|accum\w*|linear|mg|ms|mom|gradient\w*|grad|delta")


def registry() -> dict[str, Any]:
    listed, buffer = op_def_pb2.OpList(), pywrap_tf_session.TF_GetAllOpList()
    listed.ParseFromString(pywrap_tf_session.TF_GetBuffer(buffer))
    return {op.name: op for op in listed.op}


def main() -> None:
    defined = registry()
    sys.stdout.buffer.write(f"{' '.join(defined)}\n".encode())
    for name in sys.stdin.read().split():
        # Messages one after another are one message with the nodes of all.
        sys.stdout.buffer.write(built(name, around(defined[name])))


def built(name: str, needs: Any) -> bytes:
    graph = tf.Graph()  # one each: how new a graph is decides which operations it may have
    with graph.as_default():
        tf.graph_util.import_graph_def(needs, name=name.replace("_", "u"))
    data: bytes = graph.as_graph_def(add_shapes=True).SerializeToString()
    return data


def around(op: Any) -> Any:
    """A graph of the operation and what it needs."""
    graph = tf.compat.v1.GraphDef()
    graph.versions.producer = (op.deprecation.version or tf.version.GRAPH_DEF_VERSION) - 1
    node = graph.node.add(op=op.name, name="it")
    for attr in op.attr:
        node.attr[attr.name].CopyFrom(chosen(op, attr))
    shapes = wanted(op)
    for number, (argument, kind) in enumerate(arguments(op, node)):
        source = graph.node.add(name=f"input_{number}")
        node.input.append(source.name)
        shape = shapes[number] if number < len(shapes) else SCALAR
        fill(source, shape, kind, is_written=argument.is_ref)
    return graph


def as_attr(given: Any) -> Any:
    """A value as an attribute."""
    value = tf.compat.v1.AttrValue()
    if isinstance(given, bytes):
        value.s = given
    elif isinstance(given, list):
        value.list.i.extend(given)
    elif isinstance(given, bool):
        value.b = given
    else:
        value.i = given
    return value


def chosen(op: Any, attr: Any) -> Any:
    """A value of an attribute: the one listed, the default, the first allowed or something."""
    listed: Any = ATTRIBUTES.get(f"{plain(op.name)}.{attr.name}", ATTRIBUTES.get(attr.name))
    if listed is None and attr.HasField("default_value"):
        return attr.default_value
    value = tf.compat.v1.AttrValue()
    allowed = attr.allowed_values.list
    if attr.type == "type":
        kinds = [tf.dtypes.as_dtype(name).as_datatype_enum for name in TYPES]
        kinds = [kind for kind in kinds if not allowed.type or kind in allowed.type]
        value.type = (kinds or allowed.type)[0]
    elif attr.type == "shape":
        value.shape.CopyFrom(tf.TensorShape(PLAIN).as_proto())
    elif attr.type == "list(int)":
        listed = listed or []
        deep = "3D" in op.name and len(listed) == len(IMAGE)  # one more where an image has depth
        value.list.i.extend([*listed[:2], *listed[1:]] if deep else listed)
    elif attr.type.startswith("list"):
        getattr(value.list, "type" if attr.type == "list(type)" else attr.type[5]).extend(
            listed or []
        )
    elif attr.type == "string":
        value.s = listed or (allowed.s[0] if allowed.s else b"")
    elif attr.type == "bool":
        value.b = False
    elif attr.type == "func":
        value.func.name = "a_function"
    elif attr.type == "float":
        value.f = 1
    else:
        value.i = 2
    return value


def arguments(op: Any, node: Any) -> list[tuple[Any, int]]:
    """(argument, type) of each input."""
    found: list[tuple[Any, int]] = []
    for argument in op.input_arg:
        if argument.type_list_attr:
            kinds = list(node.attr[argument.type_list_attr].list.type)
        else:
            kind = argument.type or node.attr[argument.type_attr].type
            kinds = [kind] * (node.attr[argument.number_attr].i if argument.number_attr else 1)
        found += [(argument, kind) for kind in kinds]
    return found


def wanted(op: Any) -> list[Any]:
    """The shapes of the inputs; all alike if none are listed."""
    name = plain(op.name)
    if re.match(r"(Resource)?(Sparse)?Apply", name):
        rows = (2, 6) if "Sparse" in name else PLAIN
        own = {"grad": rows, "delta": rows, "indices": (2,)}
        return [
            own.get(one.name, PLAIN if ELEMENTS.fullmatch(one.name) else SCALAR)
            for one in op.input_arg
        ]
    beginnings = (name[:length] for length in range(len(name), 0, -1))
    return next((WANTS[one] for one in beginnings if one in WANTS), [PLAIN] * 9)


def plain(name: str) -> str:
    """The name of the operation that this one is a form of."""
    name = re.sub(r"^_*(Mkl(Native|Dummy)?)?(PadWith)?", "", name)
    return re.sub(r"^Fused(?!Pad|Resize|BatchNorm)", "", name)


def fill(source: Any, shape: Any, kind: int, *, is_written: bool) -> None:
    """Make the node a variable, a constant or a placeholder."""
    source.attr["dtype"].type = kind
    if isinstance(shape, (list, int)):
        source.op = "Const"
        source.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(shape, tf.dtypes.as_dtype(kind)))
        return
    source.op = "VariableV2" if is_written else "Placeholder"
    if kind == tf.resource.as_datatype_enum:
        source.op = "VarHandleOp"  # a scalar that knows the shape of what it is a handle of
        source.attr["dtype"].type = tf.float32.as_datatype_enum
        shape = PLAIN
    source.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())


if __name__ == "__main__":
    main()
