"""Advice as text, one section per checker, and as an AdviceProto.

(an empty line)
ExpensiveOperationChecker:
top 1 operation type: MatMul, cpu: 1.21ms, accelerator: 1.24sec, total: 1.24sec (100.00%)
top 1 graph node: net, cpu: 0us, accelerator: 0us, total: 0us

A checker without findings still has its heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.wire.scalar import encode_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.checkers import Advice


def text(advice: Advice) -> Iterator[bytes]:
    """The sections, one piece each."""
    for checker, reports in advice.sections.items():
        lines = "".join(f"{report}\n" for report in reports)
        yield f"\n{checker}:\n{lines}".encode("utf-8", "surrogateescape")


def proto(advice: Advice) -> Iterator[bytes]:
    """An AdviceProto in pieces: 1 map of name to Checker, and in a Checker 2 reports."""
    for checker, reports in advice.sections.items():
        inside = b"".join(_field(2, report) for report in reports)
        yield _field(1, _field(1, checker) + _field(2, inside))


def _field(number: int, value: str | bytes) -> bytes:
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return encode_bytes(number, data)
