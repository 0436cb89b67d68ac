"""TraceColumns: what a trace tells of the operations that ran, as the merge takes it.

    events     name op kind function line device start own step shapes      a row an execution
    steps      number start end                       what markers tell, by time
    memory     name step end requested …              a row an execution that allocated

Names are those of the runtime; `read.runtime_names` knows what they are in a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.columns.strings import Strings

if TYPE_CHECKING:
    from typing import Any

    from tfprof.columns.strings import I64
    from tfprof.model import Note

# What an event is of: a node of a function that ran, an operation outside of any, an instruction
# that XLA made, work of an accelerator, or a node of a function that tf.data runs.
NODE, EAGER, COMPILED, KERNEL, DATA = range(5)
# The level of the tracer where the trace does not say it.
UNKNOWN_LEVEL = -1
# The level from which on cheap operations and shapes are in a trace.
FULL_LEVEL = 3


class Events(NamedTuple):
    """A row an execution of an operation."""

    name: Strings  # of the node; behind `_eager/` the type, behind `_tf_data/` the node
    op: Strings
    function: Strings  # what the program called that it ran for: `__inference_step_12`, or empty
    kind: I64
    label: I64  # the same for all that the trace has under one name
    line: I64  # of the thread or stream
    device: I64  # a row of the trace's devices
    start_ns: I64  # since 1970
    own_ps: I64  # less what other rows took meanwhile on the same line
    long_ps: I64
    step: I64  # a row of the steps, -1: in none
    shapes: Strings  # of its inputs, as in "(float[32,64];int32[])"; empty: not told


class Memory(NamedTuple):
    """A row an execution that allocated something, or all of an unknown one's in a step."""

    event: I64  # the execution, or -1
    name: Strings
    step: I64
    end_ns: I64
    requested: I64
    peak: I64
    residual: I64  # not freed when the step ended
    output: I64
    temporary: I64


class TraceColumns(NamedTuple):
    """What a trace tells."""

    lines: Strings  # names of threads and streams
    devices: Strings  # in lower case
    accelerator: I64  # of each device: whether it is one
    step_number: I64  # distinct, in order of time
    events: Events
    memory: Memory
    level: int
    notes: tuple[Note, ...]


def taken(column: Any, rows: I64) -> Any:  # noqa: ANN401 - of either kind, as it was given
    """These rows of a column of numbers or texts."""
    return column.take(rows) if isinstance(column, Strings) else column[rows]
