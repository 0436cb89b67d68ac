"""Errors of requests that a command does not take: an option, or a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.errors import UsageError
from tfprof.tables.command_options import NO_CACHE, NO_PAGER, OUTFILE
from tfprof.tables.commands import COMMANDS, options_shown
from tfprof.tables.formats import INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.tables.commands import Command

_FEW: Final = 4  # commands that an error names
_LONGEST_LIST: Final = 13  # longer lists of options do not help in an error


def check_takes(command: Command, options: Iterable[str]) -> None:
    """Raise UsageError for an option that *command* does not take."""
    for name in options:
        if name in (*command.options, *command.ignored, NO_PAGER.name, NO_CACHE.name):
            continue
        sentence = f"{command.name or 'the prompt'} takes no --{name}"
        if name in INPUTS and not command.files:
            raise UsageError(f"{sentence}: {command.no_files}")
        takers = [row.name for row in COMMANDS.values() if row.files and name in row.options]
        own = [f"--{option.name}" for option in options_shown(command)]
        if 0 < len(takers) <= _FEW:
            first = f"{', '.join(takers[:-1])} and " * (len(takers) > 1)
            sentence += f" ({first}{takers[-1]} {'do' if first else 'does'})"
        elif 0 < len(own) <= _LONGEST_LIST:
            sentence += f" (it takes: {', '.join(own)})"
        if name == OUTFILE.name and "output" in command.options:
            sentence += "; to write a report: --output=file:outfile=PATH"
        page = " ".join(filter(None, ["tfprof help", command.name]))
        raise UsageError(f"{sentence}; '{page}' lists its options")


def check_answers_fleets(command: Command) -> None:
    """Raise UsageError where *command* does not answer for a fleet."""
    if not command.of_fleets:
        others = ", ".join(row.name for row in COMMANDS.values() if row.of_fleets)
        raise UsageError(f"{command.name or 'the prompt'} takes no fleet; these do: {others}")
