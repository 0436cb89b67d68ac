"""What is in a file, as facts: the `describe` functions of FORMATS, for `tfprof info`.

A fact has a name and a value: how many there are, their names, how many of each name, or a text.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.read import read_graph, read_op_log, read_run, read_saved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.source import Source

Value = int | str | list[str] | dict[str, int]

_VARIABLES = frozenset({b"Variable", b"VariableV2", b"VarHandleOp", b"AutoReloadVariable"})


class Description(NamedTuple):
    """What is in a file."""

    facts: Mapping[str, Value]
    lacks: frozenset[str] = frozenset()  # of what its format gives
    variables: Sequence[str] = ()  # the op types of the variables in it


def describe_graph(source: Source) -> Description:
    """The nodes and variables of a graph."""
    columns = read_graph(source)
    parameters = np.zeros(len(columns.name), np.int64)
    parameters[columns.shape_node] = columns.shape.elements()
    ops, first = columns.op.intern()
    return _nodes(ops, columns.op.take(first), parameters)


def describe_saved_model(source: Source) -> Description:
    """The nodes, variables and signatures of a SavedModel."""
    from tfprof.read.saved_model import signatures_of  # noqa: PLC0415 - few files need it

    graph = describe_graph(source)
    names = [signature.name.decode("utf-8", "replace") for signature in signatures_of(source)]
    return graph._replace(facts={**graph.facts, "signatures": names})


def describe_keras(source: Source) -> Description:
    """The layers and weights of a Keras archive, as nodes and variables."""
    from tfprof.read.keras.archive import read_keras  # noqa: PLC0415 - few files need it

    return nodes_of(read_keras(source))


def describe_tflite(source: Source) -> Description:
    """The operators and signatures of a TensorFlow Lite model, and its nodes and variables."""
    from tfprof.read.tflite import contents  # noqa: PLC0415 - few files need it

    graph, (operators, names) = describe_graph(source), contents(source)
    signatures = {"signatures": names} if names else {}
    return graph._replace(facts={**graph.facts, "operators": operators, **signatures})


def describe_run(source: Source) -> Description:
    """The executions of a RunMetadata."""
    columns = read_run(source)
    if columns is None:
        return Description({"step_stats": "no"}, frozenset({"run"}))
    return Description(_executions(len(columns.name), 1, columns.device))


def describe_trace(source: Source) -> Description:
    """The executions of a trace."""
    from tfprof.read.xplane import read_trace  # noqa: PLC0415 - few files need it

    columns = read_trace(source)
    steps = max(columns.step_number.size, 1)
    return Description(_executions(len(columns.events.name), steps, columns.devices))


def describe_op_log(source: Source) -> Description:
    """The entries of an op log."""
    columns = read_op_log(source)
    logged, lacks = _logged(columns.stack, columns.float_ops)
    facts: dict[str, Value] = {"entries": len(columns.name), **logged}
    types = sorted(set(columns.type))
    if types:
        facts["types"] = [name.decode("utf-8", "replace") for name in types]
    return Description(facts, lacks)


def describe_profile(source: Source) -> Description:
    """The nodes, executions and log entries of a saved or converted profile."""
    profile = read_saved(source)
    nodes, steps = profile.nodes, profile.steps
    graph = nodes_of(profile)
    facts = dict(graph.facts)
    if steps:
        devices = (name for step in steps for name in step.devices)
        facts |= _executions(sum(step.node.size for step in steps), len(steps), devices)
    logged, lacks = _logged(nodes.stack, nodes.float_ops)
    return Description(facts | logged, lacks if steps else lacks | {"run"}, graph.variables)


def describe_checkpoint(checkpoint: Checkpoint) -> Description:
    """The variables of a checkpoint, and their dtypes, most frequent first."""
    from tfprof.read.checkpoint.tensors import DTYPES, OPAQUE  # noqa: PLC0415 - few files need it

    def dtype(number: int) -> str:
        return DTYPES[number].name if number in DTYPES else OPAQUE.get(number, f"type {number}")

    names = list(checkpoint.names())
    dtypes = Counter(dtype(checkpoint.dtype(name)) for name in names)
    facts: dict[str, Value] = {
        "variables": len(names),
        "parameters": sum(prod(checkpoint.shape(name)) for name in names),
    }
    return Description({**facts, **({"dtypes": dict(dtypes.most_common())} if dtypes else {})})


def describe_nothing(_: Source) -> Description:
    """No facts: the file belongs to another, which mentions it."""
    return Description({})


def nodes_of(profile: Profile) -> Description:
    """The nodes of a profile, and the variables among them."""
    return _nodes(profile.nodes.op, profile.types, profile.values("params", None))


def _nodes(ops: I64, types: Strings, parameters: I64) -> Description:
    """Nodes that have these rows of *types*, and the variables among them."""
    used = np.unique(ops)
    kinds = [kind for kind in used.tolist() if types[kind] in _VARIABLES]
    facts: dict[str, Value] = {"nodes": ops.size, "op_types": used.size}
    is_variable = np.isin(ops, kinds)
    if kinds:
        facts["variables"] = int(is_variable.sum())
        facts["parameters"] = int(parameters[is_variable].sum())
    return Description(facts, variables=sorted(types[kind].decode() for kind in kinds))


def _executions(count: int, steps: int, devices: Iterable[bytes]) -> dict[str, Value]:
    names = sorted({name.decode("utf-8", "replace") for name in devices})
    return {"executions": count, "steps": steps, "devices": names}


def _logged(stack: I64, float_ops: I64) -> tuple[dict[str, Value], frozenset[str]]:
    """(the facts of an op log, the parts that it lacks)."""
    counts = {"stacks": int((stack >= 0).sum()), "float_ops": int((float_ops > 0).sum())}
    lacks = frozenset(name for name, count in counts.items() if not count)
    return {f"nodes_with_{name}": count for name, count in counts.items()}, lacks
