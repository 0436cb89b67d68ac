"""tf.contrib.tfprof.tfprof_logger: the op log of a graph, as a file or a message."""

from __future__ import annotations

from typing import Any

from tfprof.capture.coerce import run_of
from tfprof.capture.model import Model
from tfprof.compat.classic import write_op_log
from tfprof.console.stdio import print_notes
from tfprof.wire.schema import message
from tfprof.writers.op_log import op_log as op_log_bytes

__all__ = ["merge_default_op_log", "write_op_log"]


def merge_default_op_log(
    graph: Any,  # noqa: ANN401 - any of the forms
    op_log: Any = None,  # noqa: ANN401 - likewise
    run_meta: Any = None,  # noqa: ANN401 - likewise
    add_trace: bool = True,  # noqa: FBT001, FBT002 - as in the original
) -> Any:  # noqa: ANN401 - a message has no type
    """The op log that `write_op_log` writes, as an OpLogProto."""
    reading = Model(graph, op_log, traces=add_trace).read(run_of(run_meta))
    print_notes(reading.notes)
    op_log_proto: Any = message("tensorflow.tfprof.OpLogProto")
    return op_log_proto.FromString(b"".join(op_log_bytes(reading.log)))
