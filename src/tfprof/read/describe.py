"""What is in a file, as facts: the `describe` functions of FORMATS, for `tfprof info`.

A fact has a name and a value: how many there are, their names, how many of each name, or a text.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.read import read_graph, read_op_log, read_run, read_saved
from tfprof.read.left_out import VARIABLES
from tfprof.read.read_files import in_wire, read_saved_model
from tfprof.read.source import decode
from tfprof.tables.formats import GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.columns import GraphColumns
    from tfprof.read.source import Source

Value = int | str | list[str] | dict[str, int]


class Description(NamedTuple):
    """What is in a file."""

    facts: Mapping[str, Value]
    lacks: frozenset[str] = frozenset()  # of what its format gives
    variables: Sequence[str] = ()  # the op types of the variables in it
    flags: Sequence[str] = ()  # that a command needs to read it


def describe_graph(source: Source) -> Description:
    """The nodes and variables of a graph."""
    return _graph(read_graph(source))


def _graph(columns: GraphColumns) -> Description:
    parameters = np.zeros(len(columns.name), np.int64)
    parameters[columns.shape_node] = columns.shape.elements()
    ops, first = columns.op.intern()
    nodes = _nodes(ops, columns.op.take(first), parameters)
    caveats = " ".join(str(note) for note in columns.notes if note.caveat)
    return nodes._replace(facts={**nodes.facts, **({"caveats": caveats} if caveats else {})})


def describe_saved_model(source: Source) -> Description:
    """The nodes, variables and signatures of a SavedModel, and its tag sets if it has several."""
    from tfprof.read import saved_model  # noqa: PLC0415 - few files need it

    wire = in_wire(source, GRAPH)
    _, sets = decode(wire, GRAPH, saved_model.tag_sets)
    tag = saved_model.default_tag(sets)
    shown = sets[0] if tag is None else tag
    meta, _ = decode(wire, GRAPH, lambda data: saved_model.graph_of_tag(data, shown))
    names = [each.name.decode("utf-8", "replace") for each in saved_model.signatures(meta)]
    graph = _graph(read_saved_model(wire, tag=shown))
    facts: dict[str, Value] = {**graph.facts, "signatures": names}
    if len(flags := saved_model.tag_flags(sets)) > 1:
        facts["tag_sets"] = ["no tags (--tag=,)" if flag == "--tag=," else flag for flag in flags]
    return graph._replace(facts=facts, flags=flags[:1] if tag is None else ())


def describe_keras(source: Source) -> Description:
    """The layers and weights of a Keras archive, as nodes and variables."""
    from tfprof.read.keras.archive import read_keras  # noqa: PLC0415 - few files need it

    return nodes_of(read_keras(source))


def describe_events(source: Source) -> Description:
    """The records of event files, their graph, and their runs by tag."""
    from tfprof.read.events import read_parts  # noqa: PLC0415 - few files need it

    columns = read_parts(source)
    graph, model = columns.graph, columns.model
    described = _graph(graph) if graph else nodes_of(model) if model else Description({})
    facts: dict[str, Value] = {**described.facts, "records": columns.records}
    if columns.runs:
        facts["runs"] = [run.part.tag.decode("utf-8", "replace") for run in columns.runs]
    gives = {"nodes": graph or model, "model": columns.layers, "run": columns.runs}
    lacks = frozenset(name for name, given in gives.items() if not given)
    if columns.notes:
        facts["notes"] = "; ".join(columns.notes)
    return Description(facts, lacks, described.variables)


def describe_hdf5(source: Source) -> Description:
    """The same of an HDF5 file; what its optimizer keeps is no part of the model."""
    from tfprof.read.keras.hdf5 import optimizer_parameters, read_hdf5  # noqa: PLC0415

    model, count = nodes_of(read_hdf5(source)), optimizer_parameters(source)
    apart = {"optimizer_parameters": count} if count else {}
    return model._replace(facts={**model.facts, **apart})


def describe_tflite(source: Source) -> Description:
    """The operators and signatures of a TensorFlow Lite model, and its nodes and variables."""
    from tfprof.read.tflite import contents  # noqa: PLC0415 - few files need it

    graph, (operators, names) = describe_graph(source), contents(source)
    signatures = {"signatures": names} if names else {}
    return graph._replace(facts={**graph.facts, "operators": operators, **signatures})


def describe_hlo(source: Source) -> Description:
    """The instructions of a program, its name and the parameters that are weights."""
    from tfprof.read.hlo import read_hlo  # noqa: PLC0415 - few files need it

    program = read_hlo(source)
    modules, graph = program.modules, _graph(program.graph)
    facts: dict[str, Value] = {
        "program": ", ".join(modules.name.texts()),
        **graph.facts,
        "devices": int(modules.devices.max(initial=1)),
        **_planned(program.planned),
    }
    lacks = frozenset() if program.log.stack_start.size > 1 else frozenset({"stacks"})
    return graph._replace(facts=facts, lacks=lacks)


def describe_run(source: Source) -> Description:
    """The executions of a RunMetadata."""
    columns = read_run(source)
    if columns is None:
        return Description({"step_stats": "no"}, frozenset({"run"}))
    return Description(_executions(len(columns.name), 1, columns.device))


def describe_trace(source: Source) -> Description:
    """The executions of a trace, and the memory plan of its programs."""
    from tfprof.model import Profile  # noqa: PLC0415 - few files need it
    from tfprof.read.xplane import read_trace  # noqa: PLC0415 - likewise
    from tfprof.read.xplane.programs import holds_programs, with_programs  # noqa: PLC0415 - likewise

    columns = read_trace(source)
    steps = max(columns.step_number.size, 1)
    facts = _executions(columns.events.what.size, steps, columns.devices)
    if not holds_programs(columns):
        return Description(facts, frozenset({"nodes", "stacks"}))
    # The programs of JAX that ran are a graph.
    programs, _ = with_programs(Profile(), columns)
    return Description(facts | _planned(programs.planned))


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
    """The variables of a checkpoint, by what they are, and dtypes, most frequent first."""
    from tfprof.read.checkpoint.object_graph import MODEL  # noqa: PLC0415 - few files need it
    from tfprof.read.checkpoint.tensors import DTYPES, OPAQUE  # noqa: PLC0415
    from tfprof.read.checkpoint.variables import totals, variables  # noqa: PLC0415

    def dtype(number: int) -> str:
        return DTYPES[number].name if number in DTYPES else OPAQUE.get(number, f"type {number}")

    dtypes = Counter(dtype(checkpoint.dtype(name)) for name in checkpoint.names())
    found = variables(checkpoint)[0]
    of_model = [each for each in found if each.role == MODEL]
    facts: dict[str, Value] = {
        "variables": len(of_model),
        "parameters": sum(prod(each.shape) for each in of_model),
        **({"dtypes": dict(dtypes.most_common())} if dtypes else {}),
        **totals(found),
    }
    return Description(facts, frozenset({"nodes"}))


def describe_nothing(_: Source) -> Description:
    """No facts: the file belongs to another, which mentions it."""
    return Description({})


def nodes_of(profile: Profile) -> Description:
    """The nodes of a profile, and the variables among them."""
    return _nodes(profile.nodes.op, profile.types, profile.values("params", None))


def _nodes(ops: I64, types: Strings, parameters: I64) -> Description:
    """Nodes that have these rows of *types*, and the variables among them."""
    if not ops.size:
        return Description({"nodes": "empty: no nodes"}, frozenset({"nodes", "model"}))
    used = np.unique(ops)
    kinds = [kind for kind in used.tolist() if types[kind] in VARIABLES]
    facts: dict[str, Value] = {"nodes": ops.size, "op_types": used.size}
    is_variable = np.isin(ops, kinds)
    if kinds:
        facts["variables"] = int(is_variable.sum())
        facts["parameters"] = int(parameters[is_variable].sum())
    return Description(facts, variables=sorted(types[kind].decode() for kind in kinds))


def _executions(count: int, steps: int, devices: Iterable[bytes]) -> dict[str, Value]:
    names = sorted({name.decode("utf-8", "replace") for name in devices})
    return {"executions": count, "steps": steps, "devices": names}


def _planned(amounts: Sequence[float]) -> dict[str, Value]:
    """The fact of a memory plan, if these amounts are one."""
    from tfprof.columns.memory_plan import MemoryPlan  # noqa: PLC0415 - few files have one

    plan = MemoryPlan.of(amounts)
    if plan is None:
        return {}
    parts = {name: int(size) for name, size in plan._asdict().items() if size}
    return {"planned_bytes": {"in all": plan.total, **parts}}


def _logged(stack: I64, float_ops: I64) -> tuple[dict[str, Value], frozenset[str]]:
    """(the facts of an op log, the parts that it lacks)."""
    counts = {"stacks": int((stack >= 0).sum()), "float_ops": int((float_ops > 0).sum())}
    lacks = frozenset(name for name, count in counts.items() if not count)
    return {f"nodes_with_{name}": count for name, count in counts.items()}, lacks
