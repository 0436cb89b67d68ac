"""Findings: what one checker hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfprof.model import Note


class Findings(NamedTuple):
    """Reports, each one or more lines, and what was missing to say more."""

    reports: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
