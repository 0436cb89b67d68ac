"""Every case of values, run by TensorFlow, and its graphs.

    python value_oracle_worker.py   →  inputs of each case, results of each binding, a GraphDef

A node is named as in `shape_oracle_worker.py`.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.eager import context, execute

from every_op_worker import arguments, registry
from shape_oracle_worker import Builder, bare, builder_of, full_inputs
from shape_variants import bindings, variants
from value_cases import value_cases

MOST_OUTPUTS: Final = 8


def main() -> None:
    defined = registry()
    builders: dict[int, Builder] = {}
    inputs_of: list[list[Any]] = []
    ran: dict[str, list[Any]] = {}
    for number, case in enumerate(value_cases()):
        definition = defined[case.op]
        builder = builder_of(definition, defined, builders)
        inputs = full_inputs(definition, case)
        inputs_of.append(inputs)
        node = bare(definition, case.attributes)
        for letter, several in (("v", variants(inputs)), ("b", bindings(inputs))):
            for place, one in enumerate(several):
                name = f"c{number}/{letter}{place}"
                with suppress(ValueError, TypeError, OverflowError, tf.errors.OpError):
                    builder.add(case.op, case.attributes, one, name)
                    if letter == "b":
                        ran[name] = run(definition, node, one)
    graphs = [builder.graph.as_graph_def() for builder in builders.values()]
    data = b"".join(graph.SerializeToString() for graph in graphs)
    pickle.dump((inputs_of, ran, data), sys.stdout.buffer)


def run(definition: Any, node: Any, inputs: list[Any]) -> list[Any]:
    """What the operation returns, as arrays."""
    tensors = [
        tf.constant(constant, tf.dtypes.as_dtype(kind))
        for constant, (_, kind) in zip(inputs, arguments(definition, node), strict=True)
    ]
    attributes: list[Any] = []
    for name, value in node.attr.items():
        kind = value.WhichOneof("value")
        held = getattr(value, kind)
        if kind == "list":
            held = next((list(items) for _, items in held.ListFields()), [])
        elif kind == "shape":
            held = tf.TensorShape(held)
        attributes += [name, held]
    outputs = execute.quick_execute(
        definition.name, MOST_OUTPUTS, tensors, tuple(attributes), context.context()
    )
    return [output.numpy() for output in outputs]


if __name__ == "__main__":
    main()
