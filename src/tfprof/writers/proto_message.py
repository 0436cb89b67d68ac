"""A report as the message that the original returns, and the tensors that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError, Message

from tfprof.wire.schema import message
from tfprof.writers.proto import message_name, proto, rows, tensor_protos

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.results.report import Report

# How deep protobuf reads messages inside one another: it stops at 100, and shapes are some.
_PROTOBUF_DEPTH = 90


def proto_message(report: Report, *, repaired: bool) -> Message:
    """A GraphNodeProto or MultiGraphNodeProto.

    Bytes that are not UTF-8 are replaced where *repaired*, or else raise DecodeError.
    """
    try:
        return _message(report, repaired=False)
    except DecodeError:
        if not repaired:
            raise
    return _message(report, repaired=True)


def _message(report: Report, *, repaired: bool) -> Message:
    answer, tensors = report.answer, tensor_protos(report)
    kind = message(f"tensorflow.tfprof.{message_name(answer)}")
    if int(answer.tree.depth.max()) < _PROTOBUF_DEPTH:
        return kind.FromString(proto(answer, tensors, repaired=repaired))
    return _nested(kind, answer.tree.parent.tolist(), rows(answer, tensors, repaired=repaired))


def _nested(kind: type[Message], parents: list[int], own: Iterable[bytes]) -> Message:
    """Nested messages, built row by row: works at any depth, but is slower than parsing."""
    messages: list[Any] = []
    for parent, fields in zip(parents, own, strict=True):
        messages.append(messages[parent].children.add() if messages else kind())
        messages[-1].MergeFromString(fields)
    root: Message = messages[0]
    return root
