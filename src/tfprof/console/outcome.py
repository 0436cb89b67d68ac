"""Outcome: what a command prints, what it notes and which files it wrote."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from tfprof.console.stdio import page_stdout, print_error, print_notes, stdout_is_file, write_stdout
from tfprof.foundation.lazy_dataclasses import dataclass, field, replace
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
    paged: bool = False  # to be shown in the user's pager
    exit_code: int = 0  # of the command line, where only part of it could be done


def show_outcome(outcome: Outcome) -> None:
    """Print notes, report, and the names of the files that were written."""
    if outcome.page:
        write_stdout([outcome.page.encode("utf-8", "surrogateescape")])
        return
    print_notes(outcome.notes)
    if outcome.stdout:
        _write_report(outcome.stdout)
    for path in outcome.written:
        print_error(f"wrote {path}")


def page_outcome(outcome: Outcome) -> None:
    """Print an outcome, its text in the user's pager."""
    page_stdout([outcome.page.encode("utf-8", "surrogateescape"), *outcome.stdout])
    show_outcome(replace(outcome, stdout=(), page=""))


def _write_report(pieces: Iterable[bytes]) -> None:
    """Print a report; where it goes to a file, show progress."""
    from tfprof.console.progress import Progress  # noqa: PLC0415 - help draws none

    pieces = with_progress("writing to standard output", bounded("standard output", pieces))
    # On a terminal, also behind a pager, progress would appear among the lines of the report.
    with Progress() if stdout_is_file() else nullcontext():
        write_stdout(pieces, is_report=True)
