"""Every case as TensorFlow builds it: with all variants and bindings of its inputs.

    python shape_oracle_worker.py < numbers of cases   →  GraphDefs with shapes, one after another

A node is named `CASE/vN` or `CASE/bN`, after the case and the variant or binding. What TensorFlow
rejects is missing.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from every_op_worker import arguments, as_attr, chosen, registry, wanted
from op_shapes import PLAIN, SCALAR
from shape_cases import Case, Content, Holes, Made, cases
from shape_exceptions import RUN
from shape_variants import bindings, is_constant, variants

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_RUNS: Final = 8
_HANDLE: Final = tf.resource.as_datatype_enum


class Builder:
    """A graph, old enough for one operation type, that operations are added to."""

    def __init__(self, defined: dict[str, Any], producer: int) -> None:
        self.graph = tf.Graph()
        self._defined, self._producer = defined, producer
        self._sources: dict[str, Any] = {}
        self._bare: dict[tuple[str, str], Any] = {}  # operations without inputs
        old = tf.compat.v1.GraphDef()
        old.versions.producer = producer
        with self.graph.as_default():
            tf.graph_util.import_graph_def(old, name="")

    def add(self, op: str, attributes: Mapping[str, Any], inputs: list[Any], name: str) -> Any:
        """Add an operation; raises ValueError where TensorFlow rejects it."""
        definition = self._defined[op]
        key = op, repr(attributes)
        if key not in self._bare:
            self._bare[key] = bare(definition, attributes)
        node = tf.compat.v1.NodeDef()
        node.CopyFrom(self._bare[key])
        node.name = self.graph.unique_name(name)
        tensors = []
        for number, (argument, kind) in enumerate(arguments(definition, node)):
            spec = inputs[number] if number < len(inputs) else SCALAR
            tensors.append(self._source(spec, kind, is_written=argument.is_ref))
        return self._create(node, definition, tensors)

    def _create(self, node: Any, definition: Any, tensors: list[Any]) -> Any:
        c_op = ops._create_c_op(self.graph, node, tensors, [], op_def=definition)
        return ops.Operation._from_c_op(c_op, self.graph)

    def _source(self, spec: Any, kind: int, *, is_written: bool) -> Any:
        if isinstance(spec, Made):
            return self.add(
                spec.op, spec.attributes or {}, spec.inputs, f"made{self._producer}"
            ).outputs[spec.output]
        key = repr((spec, kind, is_written))
        if key not in self._sources:
            self._sources[key] = self._new_source(spec, kind, is_written=is_written)
        return self._sources[key]

    def _new_source(self, spec: Any, kind: int, *, is_written: bool) -> Any:
        if isinstance(spec, Holes):
            return self._with_holes(spec, kind)
        if is_constant(spec):
            value = tf.make_tensor_proto(spec, tf.dtypes.as_dtype(kind))
            return self._leaf("Const", kind, value=tf.compat.v1.AttrValue(tensor=value))
        if kind == _HANDLE:
            shape = of_attribute(PLAIN if spec == SCALAR else spec, "shape")
            return self._leaf("VarHandleOp", tf.float32.as_datatype_enum, shape=shape)
        op = "VariableV2" if is_written else "Placeholder"
        return self._leaf(op, kind, shape=of_attribute(spec, "shape"))

    def _leaf(self, op: str, kind: int, **attributes: Any) -> Any:
        definition = self._defined[op]
        node = tf.compat.v1.NodeDef(op=op, name=self.graph.unique_name(f"leaf{self._producer}"))
        node.attr["dtype"].type = kind
        for name, value in attributes.items():
            node.attr[name].CopyFrom(value)
        return self._create(node, definition, []).outputs[0]

    def _with_holes(self, spec: Holes, kind: int) -> Any:
        scalars = [SCALAR if number is None else number for number in spec.numbers]
        attributes = {"N": len(scalars), "T": kind}
        if len(spec.shape) == 1:
            return self._source(Made("Pack", scalars, attributes), kind, is_written=False)
        packed = Made("Pack", scalars, attributes)
        made = Made("Reshape", [packed, list(spec.shape)], {"T": kind})
        return self._source(made, kind, is_written=False)


def builder_of(definition: Any, defined: dict[str, Any], builders: dict[int, Builder]) -> Builder:
    """The one of *builders* whose graph is old enough for an operation; made if need be."""
    producer = (definition.deprecation.version or tf.version.GRAPH_DEF_VERSION) - 1
    if producer not in builders:
        builders[producer] = Builder(defined, producer)
    return builders[producer]


def bare(definition: Any, attributes: Mapping[str, Any]) -> Any:
    """An operation without inputs."""
    node = tf.compat.v1.NodeDef(op=definition.name)
    for attr in definition.attr:
        node.attr[attr.name].CopyFrom(attribute(definition, attr, attributes))
    return node


def attribute(definition: Any, attr: Any, given: Mapping[str, Any]) -> Any:
    """The value of an attribute: the one that is given, or a choice."""
    if attr.name in given:
        return of_attribute(given[attr.name], attr.type)
    return chosen(definition, attr)


def of_attribute(given: Any, kind: str) -> Any:
    """A value as an attribute of this kind."""
    value = tf.compat.v1.AttrValue()
    if isinstance(given, Content):
        value.tensor.CopyFrom(tf.make_tensor_proto(given.numbers))
    elif kind == "shape":
        value.shape.CopyFrom(tf.TensorShape(given_shape(given)).as_proto())
    elif kind == "list(shape)":
        value.list.shape.extend(tf.TensorShape(given_shape(one)).as_proto() for one in given)
    elif kind == "list(type)":
        value.list.type.extend(given)
    elif kind == "list(float)":
        value.list.f.extend(given)
    elif kind == "list(func)":
        value.list.func.extend(tf.compat.v1.NameAttrList(name=name) for name in given)
    elif kind == "type":
        value.type = given
    else:
        return as_attr(given)
    return value


def given_shape(given: Any) -> Any:
    return None if given is None else [None if dim < 0 else dim for dim in given]


def full_inputs(definition: Any, case: Case) -> list[Any]:
    """As many inputs as the operation has, as listed or by default."""
    node = bare(definition, case.attributes)
    listed = wanted(definition) if case.inputs is None else case.inputs
    result = []
    for number, (_, kind) in enumerate(arguments(definition, node)):
        spec = listed[number] if number < len(listed) else SCALAR
        result.append(PLAIN if spec == SCALAR and kind == _HANDLE else spec)
    return result


def main() -> None:
    defined = registry()
    builders: dict[int, Builder] = {}
    inputs_of: dict[int, list[Any]] = {}
    ran: dict[str, Any] = {}
    for number in map(int, sys.stdin.read().split()):
        case = cases()[number]
        if case.op not in defined:
            continue
        definition = defined[case.op]
        builder = builder_of(definition, defined, builders)
        inputs = inputs_of[number] = full_inputs(definition, case)
        for letter, several in (("v", variants(inputs)), ("b", bindings(inputs))):
            for place, one in enumerate(several):
                name = f"c{number}/{letter}{place}"
                with suppress(ValueError, TypeError, OverflowError):  # TensorFlow rejects it
                    builder.add(case.op, case.attributes, one, name)
        if case.op in RUN:
            alone = builder_of(definition, defined, {})
            ran.update(run(alone, case, number, bindings(inputs)))
    graphs = [builder.graph.as_graph_def(add_shapes=True) for builder in builders.values()]
    # Messages one after another are one message with the nodes of all.
    graph = b"".join(graph.SerializeToString() for graph in graphs)
    pickle.dump((inputs_of, ran, graph), sys.stdout.buffer)


def run(builder: Builder, case: Case, number: int, several: list[Any]) -> dict[str, Any]:
    """The shapes that kernels return, by the name of the operation; without those that fail."""
    built: dict[str, Any] = {}
    step = -(-len(several) // MOST_RUNS)
    for place, one in [*enumerate(several)][::step]:
        name = f"c{number}/b{place}"
        with suppress(ValueError, TypeError, OverflowError):
            built[name] = builder.add(case.op, case.attributes, one, name)
    feeds = {
        tensor: sample(tensor)
        for op in builder.graph.get_operations()
        if op.type == "Placeholder"
        for tensor in op.outputs
    }
    result = {}
    with tf.compat.v1.Session(graph=builder.graph) as session:
        for name, operation in built.items():
            numeric = [tensor for tensor in operation.outputs if tensor.dtype != tf.variant]
            try:
                arrays = iter(session.run(numeric, feeds))
            except tf.errors.OpError as problem:
                if name.endswith("/b0"):
                    print(case, problem.message[:200], file=sys.stderr)
                continue
            result[name] = [
                next(arrays).shape if tensor.dtype != tf.variant else ()
                for tensor in operation.outputs
            ]
    return result


def sample(tensor: Any) -> Any:
    """Numbers that most kernels accept: unit matrices where they are square."""
    shape = tensor.shape.as_list() if tensor.shape.rank else []  # old graphs: unknown
    if len(shape) > 1 and shape[-1] == shape[-2] and tensor.dtype.is_floating:
        return np.broadcast_to(np.eye(shape[-1]), shape)
    return np.full(shape, not tensor.dtype.is_integer, tensor.dtype.as_numpy_dtype)


if __name__ == "__main__":
    main()
