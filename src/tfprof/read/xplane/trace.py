"""TraceColumns: the executions in a trace, as the reader passes them to the merge.

    events     name op kind function line device start own step shapes      one row per execution
    steps      number start end                       from markers, by time
    memory     name step end requested …              one row per execution that allocated

Names are those of the runtime; `read.runtime_names` maps them to names of a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.columns.strings import I64, Strings

if TYPE_CHECKING:
    from typing import Any

    from tfprof.model import Note

# Kinds of executions: a node of a function, an operation outside functions, an XLA instruction, a
# kernel on an accelerator, a node of a function that tf.data runs.
NODE, EAGER, COMPILED, KERNEL, DATA = range(5)
# The level of the tracer if the trace does not record it.
UNKNOWN_LEVEL = -1
# From this level on, a trace includes cheap operations and shapes.
FULL_LEVEL = 3


class Events(NamedTuple):
    """One row per execution of an operation."""

    name: Strings  # of the node; `_eager/` and the type; `_tf_data/` and the node
    op: Strings
    function: Strings  # the function that the program called: `__inference_step_12`, or empty
    kind: I64
    label: I64  # the same for all events with the same name in the trace
    line: I64  # of the thread or stream
    device: I64  # a row of the trace's devices
    start_ns: I64  # since 1970
    own_ps: I64  # self time: without other rows inside it on the same line
    long_ps: I64
    step: I64  # a row of the steps, or -1
    shapes: Strings  # of its inputs, such as "(float[32,64];int32[])"; empty if unknown


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


class TraceColumns(NamedTuple):
    """The columns of a trace."""

    devices: Strings  # in lower case
    accelerator: I64  # whether each device is one
    step_number: I64  # distinct, in order of time
    events: Events
    memory: Memory
    level: int
    notes: tuple[Note, ...]


def taken(column: Any, rows: I64) -> Any:  # noqa: ANN401 - the same type as the column
    """These rows of a column of numbers or strings."""
    return column.take(rows) if isinstance(column, Strings) else column[rows]
