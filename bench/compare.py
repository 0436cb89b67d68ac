"""Whether two answers are the same bytes, and in words what differs on purpose.

Reports and timelines are compared as they are, pprof files unpacked. Our graph view names itself in
its Doc line, where the original prints the scope view's sentence: the row says so. Equal answers
are removed, others stay to be looked at.
"""

from __future__ import annotations

import filecmp
import gzip
from typing import TYPE_CHECKING, TypeAlias

from rows import OURS_ONLY

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

    from plan import Often

    _Stream: TypeAlias = BufferedReader | gzip.GzipFile

VARIANT = ".other"  # how the file ends that a variant of ours writes
_CHUNK = 1 << 20
_SCOPE_DOC = (
    b"\nscope: The nodes in the model graph are organized by their names,"
    b" which is hierarchical like filesystem.\n"
)
_GRAPH_DOC = (
    b"\ngraph: The nodes in the model graph are organized by their operation input and output.\n"
)


def compared(ours: Path, original: Path, view: str, often: Often) -> str:
    """The verdict on two answers of a view: `same`, `MISMATCH`, or that only ours was asked."""
    other = ours.with_suffix(VARIANT)
    if other.exists():
        if not (ours.exists() and filecmp.cmp(ours, other, shallow=False)):
            return "MISMATCH: two of ours differ"
        other.unlink()
    if not often.original:
        ours.unlink(missing_ok=True)
        return OURS_ONLY
    if not (ours.exists() and original.exists()):
        return "MISMATCH: no file"
    try:
        with _opened(ours) as left, _opened(original) as right:
            verdict = _streams(left, right, view)
    except (EOFError, gzip.BadGzipFile) as error:
        return f"MISMATCH: {error}"
    if verdict.startswith("same"):
        ours.unlink()
        original.unlink()
    return verdict


def _opened(path: Path) -> _Stream:
    """The file, unpacked if it is packed."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")


def _streams(left: _Stream, right: _Stream, view: str) -> str:
    head, verdict = right.read(_CHUNK), "same"
    if not head:
        return "MISMATCH: the original wrote nothing"
    if view == "graph" and _SCOPE_DOC in head:
        head, verdict = head.replace(_SCOPE_DOC, _GRAPH_DOC, 1), "same but the Doc line (Q23)"
    while head:
        if left.read(len(head)) != head:
            return "MISMATCH"
        head = right.read(_CHUNK)
    return "MISMATCH" if left.read(1) else verdict
