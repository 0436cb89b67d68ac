"""Names what ran on accelerators, by the first of these that an event has.

tf_op         net/dense/Relu:Relu                  the node, if the name can be TensorFlow's; JAX
                                                   writes `XlaModule:` or `jit(f)/dot_general:…`
annotation    net/w:While#…#::net/Add:AddV2#…#     the innermost node (TensorFlow 2.2 to 2.4)
hlo_op        fusion.1 of module jit_step          jit_step/fusion.1; its type is its category on a
                                                   TPU, else its name up to the number
TensorFlow Ops, a line of the device               the operation at that time
none          MemcpyD2D                            the event's own name

A TPU has the instruction in the metadata of the event, and the module on the line `XLA Modules`.
If several programs have the same module name, their numbers follow: jit_step(5), jit_step(6).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import combined, intern_rows, unique_inverse
from tfprof.read.expansion_limits import bounded
from tfprof.read.xplane import launches
from tfprof.read.xplane.compiled_nodes import XLA
from tfprof.read.xplane.event_kinds import node_and_op
from tfprof.read.xplane.launches import either
from tfprof.read.xplane.nesting import LineEvents
from tfprof.read.xplane.planes import TENSORFLOW_OPS, XLA_MODULES, blank

if TYPE_CHECKING:
    from tfprof.read.xplane.event_table import EventTable

# The names that nodes of TensorFlow can have; those of JAX have brackets.
_NODE = re.compile(rb"[A-Za-z0-9._][\w.\\/>-]*")
_DETAILS = re.compile(rb"#[^#]*#")
_NUMBER = re.compile(rb"(?<=.)\.\d+(?:\..*)?\Z", re.DOTALL)
_PROGRAM = re.compile(rb"(.+)\((\d+)\)")
_PS_IN_NS = 1000


class Kernels(NamedTuple):
    """The events of accelerators, and what each of them ran: a row of the strings."""

    event: I64
    what: I64
    name: Strings
    op: Strings
    function: Strings  # that XLA compiled; empty if unknown
    program: I64  # of XLA: its number, 0 if unknown
    module: Strings  # its name
    instruction: Strings


class _Texts(NamedTuple):
    """What one event says of itself; all may be empty."""

    tf_op: bytes
    annotation: bytes
    module: bytes  # its name
    program: bytes  # its name, made unique
    instruction: bytes
    category: bytes
    source_name: bytes  # the node that the instruction comes from, by its HLO
    source_op: bytes
    opcode: bytes
    operation: bytes  # on the line of operations
    operation_type: bytes
    own: bytes


def kernels(table: EventTable) -> Kernels:
    """Everything that ran on accelerators."""
    event = np.flatnonzero(table.on_device)
    if not event.size:
        none = Strings.of([])
        return Kernels(event, event, none, none, none, event, none, none)
    program, texts = _columns(table, event)
    bounded(texts[0], table.file, *texts[1:])
    row, distinct = combined(unique_inverse(program)[1], intern_rows(*texts)[0])
    columns = [column.take(distinct) for column in texts]
    named = [_named(_Texts(*values)) for values in zip(*columns, strict=True)]
    name, op, function = (Strings.of(values) for values in zip(*named, strict=True))
    module, instruction = (columns[_Texts._fields.index(n)] for n in ("module", "instruction"))
    return Kernels(event, row, name, op, function, program[distinct], module, instruction)


def _named(texts: _Texts) -> tuple[bytes, bytes, bytes]:
    """(name, type, function) of one event."""
    function = launches.function_of(texts.module)
    node, op = node_and_op(texts.tf_op)
    if op and _NODE.fullmatch(node):
        return node, op, function
    if texts.annotation:
        return (*_annotated(texts.annotation), b"")
    if texts.instruction:
        if function and texts.source_name:
            of_node = not texts.source_name.startswith(XLA)
            return texts.source_name, texts.source_op or texts.opcode, function if of_node else b""
        program = function or texts.program
        name = program + b"/" + texts.instruction if program else texts.instruction
        kind = texts.category or texts.opcode or without_number(texts.instruction)
        return name, kind, b""
    if texts.operation:
        return texts.operation, texts.operation_type or texts.operation, b""
    return texts.own, texts.own, b""


def without_number(instruction: bytes) -> bytes:
    """The name of an instruction up to its number: `custom-call` of `custom-call.3`."""
    return _NUMBER.sub(b"", instruction)


def _annotated(annotation: bytes) -> tuple[bytes, bytes]:
    """(name, type) of the innermost node of an annotation, or of its first word."""
    parts = _DETAILS.sub(b"", annotation).split(b"::")
    for part in reversed(parts):
        node, op = node_and_op(part)
        if op:
            return node, op
    return parts[0] or annotation, parts[0] or annotation


def _columns(table: EventTable, event: I64) -> tuple[I64, list[Strings]]:
    """(the number of the program, the fields of _Texts) of each event."""
    space, kind = table.space, table.space.event_kind[event]

    each, none = np.arange(event.size), blank(event.size)
    every_kind = np.arange(len(space.kind))

    def said(stat: bytes) -> Strings:
        """The stat of each event or, without one, of its metadata."""
        of_kind = space.kind_stats.texts(stat, every_kind)
        return either(table.texts(stat, event), each, of_kind.take(kind))

    of_kind = np.append(space.kind_stats.numbers(b"program_id", every_kind), 0)[kind]
    number = table.numbers(b"program_id", event)
    number = np.where(number != 0, number, of_kind)
    category = said(b"hlo_category")
    # The metadata of a TPU's events have the name of the instruction as their display name.
    display = space.kind_display.take(kind).where(category.length > 0)
    instruction = either(said(b"hlo_op"), each, display)
    known = launches.instructions(space, number)
    at = known.find(launches.instruction_keys(number, instruction))
    operation_kind, held = (
        np.append(space.event_kind, -1)[_around(table, event, line)]
        for line in (TENSORFLOW_OPS, XLA_MODULES)
    )
    module = either(said(b"hlo_module"), each, either(space.kind, held, none))
    name, program = _programs(module.where(instruction.length > 0), number)
    return number, [
        said(b"tf_op"),
        said(b"annotation"),
        name,
        program,
        instruction,
        category,
        either(known.op_name, at, none),
        either(known.op_type, at, none),
        either(known.opcode, at, none),
        either(space.kind, operation_kind, none),
        either(space.kind_display, operation_kind, none),
        either(space.kind, kind, none),
    ]


def _programs(module: Strings, number: I64) -> tuple[Strings, Strings]:
    """(the name of each module without its number, with the number if the name is not unique)."""
    ids, first = module.intern()
    numbers, index = unique_inverse(number)
    pair = ids * numbers.size + index
    distinct, inverse = unique_inverse(pair)
    programs: list[tuple[bytes, int]] = []
    for value in distinct.tolist():
        text = module[int(first[value // numbers.size])]
        match, program = _PROGRAM.fullmatch(text), int(numbers[value % numbers.size])
        programs.append((match[1], program or int(match[2])) if match else (text, program))
    several: dict[bytes, set[int]] = {}
    for name, program in programs:
        several.setdefault(name, set()).add(program)
    shown = (
        b"%b(%d)" % (name, program) if len(several[name]) > 1 else name
        for name, program in programs
    )
    return Strings.of(name for name, _ in programs).take(inverse), Strings.of(shown).take(inverse)


def _around(table: EventTable, event: I64, line: bytes) -> I64:
    """The event on the *line* of the same device that contains the start of each, or -1."""
    space = table.space
    outer = np.flatnonzero(space.line.which(line.__eq__)[space.event_line])
    if not outer.size:
        return np.full(event.size, -1, np.int64)
    # Lines of a device may begin at different times.
    since = (space.line_ns - int(space.line_ns.min())) * _PS_IN_NS

    def on_lines(rows: I64) -> LineEvents:
        of_line = space.event_line[rows]
        start = since[of_line] + space.event_ps[rows]
        return LineEvents(space.line_plane[of_line], start, space.event_long_ps[rows])

    return np.append(outer, -1)[on_lines(outer).spans().around(on_lines(event))]
