"""Which programs of a trace are those of an HLO file, if several have the name of its module.

    file     jit_step    dot.1 dot f32[64,64]
    trace    jit_step(7) dot.1 dot f32[64,64]     this one
             jit_step(8) dot.1 dot f32[8,8]       compiled again for other shapes

The number of a program is not in its file, so instructions are compared: names, opcodes, shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.unique import unique
from tfprof.foundation.arguments import shown
from tfprof.read.hlo.modules import module_slices, read_modules
from tfprof.read.source import decode
from tfprof.tables.formats import TRACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import I64
    from tfprof.read.hlo.modules import Modules
    from tfprof.read.xplane.trace import TraceColumns


class Others(NamedTuple):
    """Programs of a trace that have the name of another one in a file."""

    number: I64
    notes: tuple[str, ...]  # where it is unknown which of them is the one of the file


def others(trace: TraceColumns, files: Sequence[Modules]) -> Others:
    """The programs of *trace* that are not those of *files*; raises InputError."""
    # The first module of a name takes the events.
    first: dict[bytes, tuple[Modules, int]] = {}
    for modules in files:
        for module, name in enumerate(modules.name):
            first.setdefault(name, (modules, module))
    names = trace.events.names
    result: list[int] = []
    notes = []
    for name, place in first.items():
        is_named = names.module.which(name.__eq__) & (names.instruction.length > 0)
        number = unique(names.program[is_named])
        if number.size <= 1:
            continue
        fits = _fit(trace, number, _instructions(*place))
        result += number[fits < fits.max()].tolist()
        if not fits.any():
            text = shown(name.decode("utf-8", "replace"))
            notes.append(
                f"{number.size:,} programs in the trace are named {text}; "
                "all count for the program of that name in the graph"
            )
    return Others(np.array(result, np.int64), tuple(notes))


def _fit(trace: TraceColumns, number: I64, wanted: set[bytes]) -> I64:
    """How many of the *wanted* instructions each program has, by its number."""
    fits = np.zeros(number.size, np.int64)
    held, source = trace.programs, trace.source
    rows = np.flatnonzero(np.isin(held.number, number))
    if source is None or not rows.size:
        return fits
    place = held.start[rows], held.end[rows]
    read = decode(source, TRACE, lambda data: read_modules(data, *module_slices(data, *place)))
    for module, of in enumerate(np.searchsorted(number, held.number[rows]).tolist()):
        fits[of] = len(wanted & _instructions(read, module))
    return fits


def _instructions(modules: Modules, module: int) -> set[bytes]:
    """The name, opcode and shapes of each instruction of a module."""
    rows = np.flatnonzero(modules.computation_module[modules.instruction.message] == module)
    first = np.searchsorted(modules.output_of, [rows, rows + 1])
    begin, end = modules.output.start[first]
    names, opcodes = (column.take(rows) for column in (modules.instruction_name, modules.opcode))
    return {
        b"%b %b %b" % (name, opcode, modules.output.dim[low:high].tobytes())
        for name, opcode, low, high in zip(
            names, opcodes, begin.tolist(), end.tolist(), strict=True
        )
    }
