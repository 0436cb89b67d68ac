"""XPlane: reads traces of the TensorFlow 2 profiler into steps of a Profile.

    read_trace(source) ──► TraceColumns ──► with_trace(profile, trace) ──► Profile

read_trace   which events are operations, how long each took, in which step
merge        the graph node of each operation
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.from_text import read_wire
from tfprof.read.xplane.merge import with_trace
from tfprof.read.xplane.read_trace import columns
from tfprof.read.xplane.trace import TraceColumns
from tfprof.tables.formats import TRACE

if TYPE_CHECKING:
    from tfprof.read.source import Source

__all__ = ["TraceColumns", "columns", "read_trace", "with_trace"]


def read_trace(source: Source) -> TraceColumns:
    """The columns of a trace; raises InputError."""
    return read_wire(source, TRACE, lambda data: columns(data, source.name))
