"""The commands that only the shell has: set, reset, help, more, exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.help import help_outcome, page
from tfprof.console.outcome import Outcome
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.query import Query
from tfprof.shell.original import ORIGINAL_HELP
from tfprof.tables.commands import shell_commands

if TYPE_CHECKING:
    from tfprof.cli.request import Request


class LeaveShell(Exception):  # noqa: N818 - not an error
    """The line says to leave."""


def run_set(request: Request) -> Outcome:
    """Change the options in force."""
    settings = {**request.shell.settings, **request.query_options}
    Query.of(settings)  # an invalid one changes nothing
    request.shell.settings = settings
    return Outcome()


def run_reset(request: Request) -> Outcome:
    """Restore the options of the start."""
    request.shell.settings = dict(request.shell.first_settings)
    return Outcome()


def run_help(request: Request) -> Outcome:
    """The original's help, or the page of a command."""
    if not request.words:
        return Outcome(page=ORIGINAL_HELP)
    return help_outcome(page(request.words[0], shell_commands()))


def run_more(request: Request) -> Outcome:
    """What another command prints, in the pager."""
    outcome: Outcome = request.shell.outcome(list(request.words), dict(request.options))
    return replace(outcome, paged=True)


def run_exit(request: Request) -> Outcome:
    """Leave."""
    raise LeaveShell(request.command.name)
