"""Advice beside that of the C++ original."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import ours
from tf_wheel import piece
from tfprof.checkers import CHECKERS, Advice, advise
from tfprof.writers.advice import proto, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from case import Case
    from oracle import Oracle

AdviceProto: Final[Any] = piece("tensorflow.core.profiler.tfprof_output_pb2").AdviceProto


def differences(oracle: Oracle, case: Case, checkers: Sequence[str] = tuple(CHECKERS)) -> list[str]:
    """What the two say differently; nothing where they agree, in whatever order of sections."""
    oracle.load(case.graph, case.op_log, case.steps)
    theirs = oracle.advise(checkers)
    mine = advise(ours.load(case), {name: {} for name in checkers})
    read = AdviceProto.FromString
    pairs = {
        "notes": (theirs.stderr.decode(), said(mine)),
        "sections": (sections(theirs.stdout), sections(b"".join(text(mine)))),
        "proto": (read(theirs.result), read(b"".join(proto(mine)))),
    }
    return [f"{what}:\n{a}\nis not\n{b}" for what, (a, b) in pairs.items() if a != b]


def sections(stdout: bytes) -> dict[bytes, bytes]:
    """The text of each section by its heading."""
    nothing, *parts = re.split(rb"\n(\w+Checker):\n", stdout)
    assert not nothing
    return dict(zip(parts[::2], parts[1::2], strict=True))


def said(advice: Advice) -> str:
    return "".join(f"{note.text}\n" * note.times for note in advice.notes)
