"""FIELDS: everything that --select, --order_by and --min_* can name, one row each.

Flags, help, legends, sort keys, thresholds and the Doc block of a report are derived from this
table. To add a metric, add a row here and the code that computes it.

A field with a `unit` is a metric: every graph node has an integer value, and every row of a view
has its own value and a total. The other fields are only displayed.
"""

from __future__ import annotations

from typing import Literal

from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import dataclass

_ACCELERATOR_HELP = (
    "accelerator execution time: Time spent executing on the accelerator. "
    "This is normally measured by the actual hardware library."
)
_CPU_HELP = (
    "cpu execution time: The time from the start to the end of the operation. It's the sum of "
    "actual cpu run time plus the time that it spends waiting if part of computation is launched "
    "asynchronously."
)


@dataclass(frozen=True)
class Field:
    """A row of the table."""

    name: str
    help: str  # the sentence in a report's Doc block
    legend: str  # the heading of its column
    unit: units.Format | None = None
    suffix: str = ""  # after the number in a report line
    bound: Literal["own", "total"] | None = None  # what min_<name> is compared with in a tree
    bound_help: str = ""
    columns: tuple[str, ...] = ()  # the metrics it shows, if other than just itself
    aliases: tuple[str, ...] = ()  # other names of it, for select, order_by and min_*

    @property
    def shows(self) -> tuple[str, ...]:
        """The metrics whose columns appear when this field is selected."""
        return self.columns or (self.name,)


# In the order of the columns of scope and graph view.
# fmt: off
FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        Field("params", "param: Number of parameters (in the Variable).", "# parameters",
              units.count, " params", "own", "at least this many parameters of their own"),
        Field("float_ops",
              "flops: Number of float operations. Note: Please read the implementation for the "
              "math behind it.",
              "# float_ops", units.count, " flops", "own",
              "at least this many float operations of their own"),
        Field("bytes", "requested bytes: The memory requested by the operation, accumulatively.",
              "requested bytes", units.memory, "", "total",
              "at least this many bytes requested in total"),
        Field("peak_bytes",
              "peak bytes: The peak amount of memory that the operation is holding at some point.",
              "peak bytes", units.memory, "", "total",
              "at least this many peak bytes in total"),
        Field("residual_bytes",
              "residual bytes: The memory not de-allocated after the operation finishes.",
              "residual bytes", units.memory, "", "total",
              "at least this many residual bytes in total"),
        Field("output_bytes",
              "output bytes: The memory that is output from the operation (not necessarily "
              "allocated by the operation)",
              "output bytes", units.memory, "", "total",
              "at least this many output bytes in total"),
        Field("micros",
              "total execution time: Sum of accelerator execution time and cpu execution time.\n"
              f"{_CPU_HELP}\n{_ACCELERATOR_HELP}",
              "total execution time", units.micros, "", "total",
              "at least this many microseconds in total, accelerator and cpu",
              columns=("micros", "accelerator_micros", "cpu_micros"),
              aliases=("time", "exec_micros")),
        Field("accelerator_micros", _ACCELERATOR_HELP, "accelerator execution time",
              units.micros, "", "total", "at least this many accelerator microseconds in total"),
        Field("cpu_micros", _CPU_HELP, "cpu execution time",
              units.micros, "", "total", "at least this many microseconds on a cpu"),
        Field("device", "device: which device is placed on.", "assigned devices"),
        Field("op_types",
              "op_types: The attributes of the operation, includes the Kernel name device placed "
              "on and user-defined strings.", "op types"),
        Field("occurrence", "occurrence: The number of times it occurs", "op count (run|defined)",
              units.count, "", "own", "at least this many runs"),
        Field("input_shapes", "input shape: The shape of input tensors", "input shapes"),
        Field("tensor_value", "tensor_value: Not supported now.", ""),
        Field("num_hidden_ops",
              "num_hidden_ops: The number of nodes hidden between a row and the one above it", ""),
    )
}
# fmt: on

FIELD_ALIASES: dict[str, str] = {a: name for name, field in FIELDS.items() for a in field.aliases}
METRICS: tuple[str, ...] = tuple(name for name, field in FIELDS.items() if field.unit)

# The values of order_by; only op and code view, which group nodes, accept "occurrence".
ORDERS: tuple[str, ...] = ("name", "depth", *METRICS)
