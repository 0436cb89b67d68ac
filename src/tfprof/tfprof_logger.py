"""tf.contrib.tfprof.tfprof_logger: what a program knows of its operations, as a file or message."""

from __future__ import annotations

from typing import Any

from tfprof.capture.model import log_of_model
from tfprof.capture.streams import tell
from tfprof.compat.classic import write_op_log
from tfprof.wire.schema import message
from tfprof.writers.op_log import op_log as op_log_bytes

__all__ = ["merge_default_op_log", "write_op_log"]


def merge_default_op_log(
    graph: Any,  # noqa: ANN401 - any of the forms
    op_log: Any = None,  # noqa: ANN401 - likewise
    run_meta: Any = None,  # noqa: ANN401 - likewise
    add_trace: bool = True,  # noqa: FBT001, FBT002 - as in the original
) -> Any:  # noqa: ANN401 - a message has no type
    """What `write_op_log` writes, as an OpLogProto."""
    reading = log_of_model(graph, run_meta, op_log, traces=add_trace)
    tell(reading.notes)
    made: Any = message("tensorflow.tfprof.OpLogProto")
    return made.FromString(b"".join(op_log_bytes(reading.log)))
