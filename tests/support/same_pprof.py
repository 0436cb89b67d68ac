"""pprof files beside those of the C++ original."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any, Final

import ours
from oracle import OUTFILE
from tf_wheel import piece
from tfprof.errors import UsageError
from tfprof.writers.pprof import hint, pprof

if TYPE_CHECKING:
    from case import Case
    from oracle import Oracle
    from tfprof.query.counted import Answer

Message: Final[Any] = piece("tensorflow.core.profiler.profile_pb2").Profile

ASKED = {"output": f"pprof:outfile={OUTFILE}"}

GZIP_HEADER = bytes.fromhex("1f8b0800000000000003")


def report_of(case: Case) -> Answer:
    return ours.answered(case, output="none")


def differences(oracle: Oracle, case: Case) -> list[str] | None:
    """What the two write differently; None where both write nothing."""
    oracle.load(case.graph, case.op_log, case.steps)
    theirs = oracle.ask(case.view, case.options)
    try:
        file = b"".join(pprof(report_of(case)))
    except UsageError as refusal:
        return [f"refused: {refusal}"] if theirs.files else None
    if theirs.stdout.decode() != hint(OUTFILE):
        return [f"stdout: {theirs.stdout!r} is not {hint(OUTFILE)!r}"]
    found = []
    expected, got = (gzip.decompress(data) for data in (theirs.files[OUTFILE], file))
    if expected != got:
        found = [f"{Message.FromString(expected)}\nis not\n{Message.FromString(got)}"]
    if file[: len(GZIP_HEADER)] != theirs.files[OUTFILE][: len(GZIP_HEADER)]:
        found.append(f"gzip header: {file[: len(GZIP_HEADER)].hex()}")
    return found
