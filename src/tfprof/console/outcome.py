"""Outcome: what a command prints, what it notes and which files it wrote."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from tfprof.console import stdio
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.io.write_files import bounded, with_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.model import Note


@dataclass(frozen=True)
class Outcome:
    """The result of a command, to show."""

    stdout: Iterable[bytes] = ()
    notes: Sequence[Note] = ()
    written: list[str] = field(default_factory=list)
    page: str = ""  # text of our own, such as help, instead of stdout
    paged: bool | None = None  # in the user's pager; None: where the screen is too small
    exit_code: int = 0  # of the command line, where only part of it could be done


def show_outcome(outcome: Outcome, *, pager: bool = False) -> None:
    """Print notes, report, and the names of files written; *pager*: there may be a pager."""
    stdio.print_notes(outcome.notes)
    if outcome.page:
        _write([outcome.page.encode("utf-8", "surrogateescape")], outcome, pager=pager)
    elif outcome.stdout:
        from tfprof.console.progress import Progress  # noqa: PLC0415 - help draws none

        bytes_printed = bounded("standard output", outcome.stdout)
        pieces = with_progress("writing to standard output", bytes_printed)
        # On a terminal, also behind a pager, progress would appear among the lines of the report.
        with Progress() if stdio.stdout_is_file() else nullcontext():
            _write(pieces, outcome, pager=pager)
    for path in outcome.written:
        stdio.print_error(f"wrote {path}")


def _write(pieces: Iterable[bytes], outcome: Outcome, *, pager: bool) -> None:
    is_report = not outcome.page
    if not pager or outcome.paged is False or not stdio.stdout_is_terminal():
        stdio.write_stdout(pieces, is_report=is_report)
        return
    from tfprof.console.pager import page_stdout  # noqa: PLC0415 - pipes and files need none

    page_stdout(pieces, is_report=is_report, always=bool(outcome.paged))
