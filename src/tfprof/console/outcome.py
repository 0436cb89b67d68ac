"""Outcome: what a command prints, what it notes and which files it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.model import Note


@dataclass(frozen=True)
class Outcome:
    """What came of a question, for the edge to show."""

    stdout: Iterable[bytes] = ()
    notes: Sequence[Note] = ()
    written: list[str] = field(default_factory=list)
