"""The programs of XLA in a trace, whose instructions ran: they are the graph if there is no other.

    /host:metadata   jit_step(7): Hlo Proto ─► read/hlo ─► one node per instruction
    events           program 7, fusion.2 of jit_step ─► the node of fusion.2

A graph that is an HLO file takes the events of its module, by its name: a file does not have the
number that the program had when it ran. If several programs have this name, see `same_programs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import first_rows
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read import hlo
from tfprof.read.functions import InlinedAttributes
from tfprof.read.hlo.attributes import HloAttributes
from tfprof.read.hlo.modules import read_modules
from tfprof.read.hlo.plan import buffer_bytes
from tfprof.read.hlo.shared_weights import Weight, weight_keys
from tfprof.read.merge import with_graph
from tfprof.read.op_log import with_op_log
from tfprof.read.source import decode
from tfprof.read.variable_types import with_variable_types
from tfprof.read.xplane.launches import instruction_keys, is_of_tensorflow
from tfprof.read.xplane.same_programs import Others, others
from tfprof.tables.formats import TRACE

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns
    from tfprof.read.hlo.modules import Modules
    from tfprof.read.xplane.trace import Names, Programs, TraceColumns

_BETWEEN: Final = b"\0"  # a module and an instruction


class InstructionNodes(NamedTuple):
    """The node of each instruction of a profile's programs."""

    key: Strings  # its module or the number of its program, and its name
    node: I64
    modules: Strings  # the names of all modules
    by_number: bool  # whether keys have numbers
    output_bytes: I64  # of each node, as XLA plans it; empty: unknown
    others: Others = Others(np.empty(0, np.int64), ())  # which have names of these modules

    def find(self, names: Names) -> I64:
        """The node of what each of *names* is, or -1."""
        result = np.full(len(names.name), -1, np.int64)
        is_other = np.isin(names.program, self.others.number)
        rows = np.flatnonzero((names.instruction.length > 0) & ~is_other)
        instruction = names.instruction.take(rows)
        if self.by_number:
            wanted = instruction_keys(names.program[rows], instruction)
        else:
            module = names.module.take(rows)
            # What does not say its module is of the only one.
            only = self.modules.take(np.zeros(rows.size * (len(self.modules) == 1), np.int64))
            module = Strings.concat([module, only])
            unnamed = (module.length[: rows.size] == 0) & (len(only) > 0)
            wanted = _keys(module.take(np.arange(rows.size) + rows.size * unnamed), instruction)
        _, first = self.key.intern()
        at = self.key.take(first).find(wanted)
        result[rows] = np.append(self.node[first], -1)[at]
        return result


def with_programs(profile: Profile, trace: TraceColumns) -> tuple[Profile, InstructionNodes | None]:
    """(*profile*, with the programs that ran if it is empty; the nodes of its instructions)."""
    if len(profile) or trace.source is None:
        return profile, _of_files(profile, trace)
    programs = _ran(trace.programs, trace.events.names)
    if not programs.number.size:
        return profile, None
    source = trace.source
    chosen = (hlo.weight_test(trace.weights), trace.of_devices)
    place = (programs.start, programs.end)
    columns = decode(source, TRACE, lambda _: hlo.programs(source, *place, *chosen))
    graph = _with_weights_once(columns)
    profile = with_variable_types(with_graph(profile, graph), graph)
    profile = with_op_log(profile, columns.log)
    profile = replace(profile, devices=columns.devices, planned=columns.planned)
    module, name = _instructions(columns.modules)
    row, node = first_rows(columns.row)
    key = instruction_keys(programs.number[module[row]], name.take(row))
    node = profile.nodes.name.find(columns.graph.name.take(node))
    planned = decode(source, TRACE, lambda _: buffer_bytes(columns.modules, *place))
    size = np.zeros(len(profile), np.int64)
    size[profile.nodes.name.find(columns.graph.name)] = planned[columns.row]
    names = columns.modules.name
    return profile, InstructionNodes(key, node, names, by_number=True, output_bytes=size)


def _with_weights_once(columns: hlo.HloColumns) -> GraphColumns:
    """The graph, which lists a weight of several programs in the largest of them only."""
    graph, modules = columns.graph, columns.modules
    listed, trainable = graph.model_variables, graph.trainable
    if listed is None or trainable is None:
        return graph
    node, (module, _) = graph.name.find(listed), _instructions(modules)
    rows, size = columns.row[node], np.bincount(module).tolist()
    paths = modules.op_name.take(rows)
    shapes = graph.shape.take(np.searchsorted(graph.shape_node, node))
    dtypes = modules.element_type[np.searchsorted(modules.output_of, rows)].tolist()
    of_module = module[rows].tolist()
    weights = [
        Weight(of, path, tuple(shapes[at]), dtype)
        for at, (of, path, dtype) in enumerate(zip(of_module, paths, dtypes, strict=True))
    ]
    held = [*zip(weight_keys(weights), of_module, strict=True)]
    largest: dict[tuple[object, ...], int] = {}
    for weight, of in held:
        largest[weight] = max(largest.get(weight, of), of, key=size.__getitem__)
    listed = listed.take(np.array([largest[weight] == of for weight, of in held], np.bool_))
    trainable = trainable.take(listed.find(trainable) >= 0)
    return replace(graph, model_variables=listed, trainable=trainable)


def holds_programs(trace: TraceColumns) -> bool:
    """Whether programs in the trace become the graph if there is no other."""
    return bool(_ran(trace.programs, trace.events.names).number.size)


def _ran(programs: Programs, names: Names) -> Programs:
    """The *programs* of frameworks other than TensorFlow of which something ran."""
    _, first = names.module.intern()
    distinct = names.module.take(first)
    foreign = distinct.take(~distinct.which(is_of_tensorflow)).find(names.module) >= 0
    wanted = names.program[foreign & (names.instruction.length > 0)]
    _, first = first_rows(programs.number)
    rows = np.sort(first[np.isin(programs.number[first], wanted)])
    return type(programs)(*(column[rows] for column in programs))


def _of_files(profile: Profile, trace: TraceColumns) -> InstructionNodes | None:
    """The nodes of the instructions in HLO files that were read before."""
    keys, nodes, modules = [], [], []
    for source in profile.attribute_sources:
        inlined = source.read
        if not isinstance(inlined, InlinedAttributes):
            continue
        held = inlined.attributes
        if isinstance(held, HloAttributes):
            read = read_modules(held.source.data, held.start, held.end)
            module, name = _instructions(read)
            row, node = first_rows(inlined.row)
            keys.append(_keys(read.name.take(module[row]), name.take(row)))
            nodes.append(source.node[node])
            modules.append(read)
    if not keys:
        return None
    return InstructionNodes(
        *(Strings.concat(keys), np.concatenate(nodes)),
        Strings.concat(read.name for read in modules),
        by_number=False,
        output_bytes=np.empty(0, np.int64),
        others=others(trace, modules),
    )


def _instructions(modules: Modules) -> tuple[I64, Strings]:
    """(module, name) of each instruction."""
    return modules.computation_module[modules.instruction.message], modules.instruction_name


def _keys(module: Strings, instruction: Strings) -> Strings:
    between = Strings.of([_BETWEEN]).take(np.zeros(len(module), np.int64))
    return Strings.beside([module, between, instruction])
