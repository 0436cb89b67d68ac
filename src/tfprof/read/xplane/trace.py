"""TraceColumns: the executions in a trace, as the reader passes them to the merge.

    events     what line device start own step shapes      one row per execution
    names      name op function kind label                 one row per thing that ran, often
    steps      number start end                            from markers, by time
    memory     name step end requested …                   one row per execution that allocated

Names are those of the runtime; `read.runtime_names` maps them to names of a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import first_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tfprof.model import Note
    from tfprof.read.source import Source

# Kinds of executions: a node of a function, an operation outside functions, an XLA instruction, a
# kernel on an accelerator, a node of a function that tf.data runs.
NODE, EAGER, COMPILED, KERNEL, DATA = range(5)
# The level of the tracer if the trace does not record it.
UNKNOWN_LEVEL = -1
# From this level on, a trace includes cheap operations and shapes.
FULL_LEVEL = 3


class Names(NamedTuple):
    """What ran: one row for many executions, in the order in which they begin to appear."""

    name: Strings  # of the node; `_eager/` and the type; `_tf_data/` and the node
    op: Strings
    function: Strings  # the function that the program called: `__inference_step_12`, or empty
    kind: I64
    label: I64  # the same for all events with the same name in the trace
    program: I64  # of XLA: its number, 0 if unknown
    module: Strings  # the name of the program, empty if unknown
    instruction: Strings  # its name in the program; empty if it is none

    @classmethod
    def plain(cls, name: Strings, op: Strings, function: Strings, kind: I64, label: I64) -> Names:
        """Names of operations outside XLA programs."""
        none = Strings(np.empty(0, np.uint8), *np.zeros((2, len(name)), np.int64))
        return cls(name, op, function, kind, label, np.zeros(len(name), np.int64), none, none)

    @classmethod
    def joined(cls, tables: Sequence[Names]) -> Names:
        """The rows of all *tables*."""
        columns = zip(*tables, strict=True)
        return cls(*(_concatenated(column) for column in columns))

    def used(self, what: I64) -> tuple[Names, I64]:
        """(the rows among *what* in order of appearance, the row of each of *what* there)."""
        rows, first = first_rows(what)
        rows = rows[np.argsort(first)]
        index = np.empty(len(self.name), np.int64)
        index[rows] = np.arange(rows.size)
        return Names(*(taken(column, rows) for column in self)), index[what]


class Events(NamedTuple):
    """One row per execution of an operation."""

    what: I64  # a row of the names
    line: I64  # of the thread or stream
    device: I64  # a row of the trace's devices
    start_ns: I64  # since 1970
    own_ps: I64  # self time: without other rows inside it on the same line
    long_ps: I64
    step: I64  # a row of the steps, or -1
    shapes: Strings  # of its inputs, such as "(float[32,64];int32[])"; empty if unknown
    names: Names

    @property
    def name(self) -> Strings:
        """The name of each execution."""
        return self.names.name.take(self.what)

    @property
    def op(self) -> Strings:
        """The operation type of each execution."""
        return self.names.op.take(self.what)

    @property
    def function(self) -> Strings:
        """The function that the program called for each execution."""
        return self.names.function.take(self.what)

    @property
    def kind(self) -> I64:
        """The kind of each execution."""
        return self.names.kind[self.what]

    def take(self, rows: I64) -> Events:
        """These rows; names that none of them has are left out."""
        columns = self._replace(
            **{
                name: taken(column, rows)
                for name, column in zip(self._fields, self, strict=True)
                if name != "names"
            }
        )
        names, what = self.names.used(columns.what)
        return columns._replace(what=what, names=names)


class Memory(NamedTuple):
    """One row per execution that allocated, or per operation and step if that is unknown."""

    event: I64  # the execution, or -1
    name: Strings
    step: I64
    end_ns: I64
    requested: I64
    peak: I64
    residual: I64  # not freed by the end of the step
    output: I64
    temporary: I64


class Programs(NamedTuple):
    """The programs of XLA that a trace holds."""

    number: I64
    start: I64  # of the HloProto in the file
    end: I64


class TraceColumns(NamedTuple):
    """The columns of a trace."""

    devices: Strings  # in lower case
    accelerator: I64  # whether each device is one
    step_number: I64  # distinct, in order of time
    events: Events
    memory: Memory
    level: int
    notes: tuple[Note, ...]
    programs: Programs
    peaks: tuple[float, ...] = ()  # as in a Profile
    source: Source | None = None  # the file, in which the programs are read later
    weights: str | None = None  # these two as in `read_hlo`
    of_devices: str = "one"


def _concatenated(columns: Sequence[Any]) -> Any:  # noqa: ANN401 - the same type as each
    join: Any = Strings.concat if isinstance(columns[0], Strings) else np.concatenate
    return join(columns)


def taken(column: Any, rows: I64) -> Any:  # noqa: ANN401 - the same type as the column
    """These rows of a column of numbers or strings."""
    return column.take(rows) if isinstance(column, Strings) else column[rows]
