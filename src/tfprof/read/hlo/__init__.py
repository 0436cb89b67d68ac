"""HLO: the programs that XLA compiles, one node per instruction.

    bytes ──modules──► instructions ──names, expand──► GraphColumns      attributes, on demand
                            └──name stacks, frames──► types and call stacks, as an op log has them

A file is an HloProto, as XLA dumps it, or the module in it alone. Text is converted first (`text`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.matching import compiled
from tfprof.columns.small_pages import keep_memory
from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.arguments import shown
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import Note, own_notes
from tfprof.read.columns import GraphColumns, OpLogColumns, runs
from tfprof.read.functions import InlinedAttributes
from tfprof.read.hlo.attributes import HloAttributes
from tfprof.read.hlo.expand import Nodes, expanded
from tfprof.read.hlo.frames import Frames, frames
from tfprof.read.hlo.modules import Modules, module_slices, read_modules
from tfprof.read.hlo.name_stacks import PHASES
from tfprof.read.hlo.names import Names, names
from tfprof.read.hlo.parameters import with_bodies
from tfprof.read.hlo.plan import planned
from tfprof.read.hlo.shardings import whole_shapes
from tfprof.read.hlo.weights import FIXED, OPTIMIZER_STATE, STATE, WEIGHT
from tfprof.read.read_files import in_wire
from tfprof.read.source import decode
from tfprof.tables.formats import GRAPH
from tfprof.wire.decode import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.model import Regions
    from tfprof.read.source import Source

_MOST_NAMED: Final = 5
_NO_WEIGHT: Final = (
    "No parameter of the program looks like a weight; --weights=REGEX says which are: {}"
)
_NOT_COUNTED: Final = (
    "Not counted as weights, though others of the same argument are: {}; "
    "--weights=REGEX says which are"
)
_GUESSED: Final = (
    "Counted as weights, since others of the same argument are: {}; "
    "if some are data, --weights=REGEX says which are weights"
)


class HloColumns(NamedTuple):
    """A program: its instructions as a graph, their types and call stacks as an op log."""

    graph: GraphColumns
    log: OpLogColumns
    row: I64  # the instruction of each node
    modules: Modules
    devices: tuple[float, ...]  # these two as in a Profile
    planned: tuple[float, ...]


def read_hlo(source: Source, weights: str | None = None, devices: str = "one") -> HloColumns:
    """The program of a file, on one of its *devices* or on all; raises InputError.

    *weights* is a regex for the paths of weights.
    """
    keep_memory()
    wire = in_wire(source, GRAPH)
    is_weight = weight_test(weights)
    columns = decode(wire, GRAPH, lambda data: programs(wire, *whole(data), is_weight, devices))
    if (columns.modules.entry < 0).all():
        raise InputError(f"{source.name} is a program of XLA without an entry computation")
    return columns


def weight_test(weights: str | None) -> Callable[[bytes], object] | None:
    """Whether a path is that of a weight; raises UsageError."""
    return None if weights is None else compiled(weights).fullmatch


def programs(
    source: Source,
    start: I64,
    end: I64,
    is_weight: Callable[[bytes], object] | None = None,
    devices: str = "one",
) -> HloColumns:
    """The programs in these slices of a file; raises WireError and InputError."""
    first, last = start, end
    start, end = module_slices(source.data, start, end)
    is_inside = start != first  # others are modules alone
    plan = planned(source.data, first[is_inside], last[is_inside])
    modules = read_modules(source.data, start, end)
    stacks = frames(modules)
    named = names(modules, stacks, is_weight)
    nodes = expanded(modules, named.name, named.scope_length)
    placed = with_bodies(modules, named.parameters, named.name, named.scope_length, nodes)
    nodes = nodes._replace(name=placed)
    graph = _graph(modules, named, nodes, HloAttributes(source, start, end), source.name)
    notes = (*graph.notes, *own_notes(_of_devices(modules, devices)))
    shape = graph.shape
    counted: tuple[float, ...] = ()
    if devices == "all":
        shape = whole_shapes(modules, nodes.row[graph.shape_node], shape)
        counted = (float(modules.devices.max(initial=1)),)
    graph = replace(graph, shape=shape, notes=notes)
    return HloColumns(graph, _log(named, stacks, nodes), nodes.row, modules, counted, plan)


def _graph(
    modules: Modules, named: Names, nodes: Nodes, attributes: HloAttributes, file: str
) -> GraphColumns:
    first = np.searchsorted(modules.output_of, np.arange(len(modules.opcode) + 1))
    output_node, output = runs(first[nodes.row], np.diff(first)[nodes.row])
    parameters = named.parameters
    kind = np.full(len(modules.opcode), -1, np.int64)
    kind[parameters.row] = parameters.kind
    holds = np.flatnonzero(np.isin(kind[nodes.row], (WEIGHT, FIXED, STATE)))
    single = first[nodes.row[holds]]
    weights = nodes.name.take(kind[nodes.row] == WEIGHT)
    listed = nodes.name.take(np.isin(kind[nodes.row], (WEIGHT, FIXED)))
    return GraphColumns(
        name=nodes.name,
        op=modules.opcode.take(nodes.row),
        input_node=nodes.input_node,
        input_name=nodes.name.take(nodes.source),
        source=(nodes.source, nodes.slot),
        shape_node=holds,
        shape=modules.output.take(np.where(single < len(modules.output), single, -1)),
        output_node=output_node,
        output_shape=modules.output.take(output),
        attributes=InlinedAttributes(attributes, nodes.row),
        file=file,
        trainable=weights if len(listed) else None,
        model_variables=listed if len(listed) else None,
        regions=nodes.regions,
        notes=tuple(_notes(named)),
    )


def _notes(named: Names) -> list[Note]:
    texts = []
    if named.mixed:
        texts.append(
            f"{plural(named.mixed, 'fusion holds', 'fusions hold')} work of several scopes; "
            f"{'it counts' if named.mixed == 1 else 'each counts'} in the scope with most of it"
        )
    return [*own_notes(texts), *_doubtful(named)]


def _of_devices(modules: Modules, counted: str) -> Iterator[str]:
    devices = int(modules.devices.max(initial=1))
    if devices > 1 and counted == "all":
        yield f"figures are those of all {devices:,} devices; copies of a weight count once"
    elif devices > 1:
        yield (
            f"the program runs on {devices:,} devices at once; figures of the program are those of "
            "one device (--devices=all: of all), times and float operations of runs are sums over "
            "all that were recorded"
        )


def _doubtful(named: Names) -> Iterator[Note]:
    """Notes on parameters that may be weights and do not count, and on the reverse."""
    parameters = named.parameters
    if paths := _listed(parameters.doubtful):
        has_weights = np.isin(parameters.kind, (WEIGHT, FIXED)).any()
        text = _NOT_COUNTED if has_weights else _NO_WEIGHT
        yield Note(text.format(paths), ours=True, caveat=True)
    if paths := _listed(parameters.guessed):
        yield Note(_GUESSED.format(paths), ours=True, caveat=True)


def _listed(paths: list[bytes]) -> str:
    """The first paths, for a message."""
    first = Strings.of(paths[:_MOST_NAMED]).texts()
    return ", ".join(map(shown, first)) + (", …" if len(paths) > _MOST_NAMED else "")


def _phases(phase: I64, regions: Regions) -> I64:
    """The phase of each node: before XLA optimizes, names in a loop begin at the loop."""
    inside = np.flatnonzero(regions.of_node >= 0)
    call = regions.call[regions.of_node[inside]]
    while True:  # from the outermost calls inwards
        heirs = (phase[inside] == 0) & (phase[call] > 0)
        if not heirs.any():
            return phase
        phase[inside[heirs]] = phase[call[heirs]]


def _log(named: Names, stacks: Frames, nodes: Nodes) -> OpLogColumns:
    """The second types, phases and call stacks of nodes, as an op log has them."""
    said = named.stacks
    texts = [*said.primitives, *PHASES, OPTIMIZER_STATE]
    phase = _phases(said.phase[nodes.row], nodes.regions)
    # The first primitive and the first phase are none.
    kinds = np.column_stack([
        np.where(said.primitive > 0, said.primitive, -1)[nodes.row],
        np.where(phase > 0, len(said.primitives) + phase, -1),
    ])  # fmt: skip
    state = np.full(len(named.name), -1, np.int64)
    parameters = named.parameters
    # The name of a parameter is its path, not a primitive.
    state[parameters.row] = np.where(parameters.kind == STATE, len(texts) - 1, -2)
    of_node = state[nodes.row]
    kinds[of_node != -1] = -1
    kinds = np.column_stack([kinds, np.where(of_node >= 0, of_node, -1)])
    entry, column = np.nonzero(kinds >= 0)
    return OpLogColumns(
        name=nodes.name,
        float_ops=np.zeros(len(nodes.name), np.int64),
        type_entry=entry,
        type=Strings.of(texts).take(kinds[entry, column]),
        stack=named.call_stack[nodes.row],
        stack_start=stacks.stack_start,
        **{f"frame_{name}": column for name, column in stacks.columns.items()},
        string_id=stacks.string_id,
        string=stacks.string,
    )
