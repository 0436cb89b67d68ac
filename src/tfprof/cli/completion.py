"""Completion: scripts that make Tab complete tfprof's command line in a shell.

    tfprof sc|                           scope
    tfprof scope --max|                  --max_depth=
    tfprof scope --select=micros,by|     --select=micros,bytes
    tfprof scope --graph|                --graph… and behind it files

The words come from COMMANDS; completion_bash.py, completion_zsh.py and completion_fish.py put them
into a fixed frame for their shell. The tfprof> prompt takes what it offers from here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from tfprof.tables.commands import COMMANDS, HELP, OUTFILE, PROMPT, VERSION
from tfprof.tables.formats import INPUTS
from tfprof.tables.outputs import OUTPUTS, option_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.tables.options import Option

NO_COMMAND = "none"  # stands for a line without a command, which has all options

Shape = Literal["nothing", "anything", "one", "list", "file", "files", "output"]


class Slot(NamedTuple):
    """What an option takes behind its equals sign."""

    shape: Shape
    words: tuple[str, ...] = ()


def slot(option: Option) -> Slot:
    """What may be completed as the value of *option*."""
    if option.name in INPUTS or option is OUTFILE:
        return Slot("files" if option.kind == "list" else "file")
    if option in (HELP, VERSION):
        return Slot("nothing")
    if option.kind == "bool":
        return Slot("one", ("true", "false"))
    if option.kind == "output":
        return Slot("output", option_words(option.choices or OUTPUTS))
    if option.choices:
        return Slot("list" if option.kind == "list" else "one", option.choices)
    return Slot("anything")


def options_of_commands() -> dict[str, list[Option]]:
    """The options of each command, and of a line without one."""
    return {
        **{
            name: [] if row.any_option else [*row.options.values(), HELP]
            for name, row in COMMANDS.items()
        },
        NO_COMMAND: [*PROMPT.options.values(), HELP, VERSION],
    }


def word_arguments() -> dict[str, list[str]]:
    """The plain words that each command takes, where it takes no files."""
    return {
        name: [] if row.words is None else list(row.words())
        for name, row in COMMANDS.items()
        if not row.files
    }


def commands_per_option(options: dict[str, list[Option]]) -> dict[Option, list[str]]:
    """Each option, and the commands that have it with the same choices."""
    commands: dict[Option, list[str]] = {}
    for command, taken in options.items():
        for option in taken:
            commands.setdefault(option, []).append(command)
    return commands


def summaries() -> dict[str, str]:
    """The summary of each command."""
    return {row.name: row.summary for row in COMMANDS.values()}


def filled(frame: str, **parts: Iterable[str]) -> str:
    """*frame* with the lines of each part where its name stands, as in @options@."""
    lines = []
    for line in frame.splitlines():
        name = line.strip().strip("@")
        indent = line[: len(line) - len(line.lstrip())]
        is_part = line.strip() == f"@{name}@" and name in parts
        lines += [f"{indent}{part}" for part in parts[name]] if is_part else [line]
    return "\n".join(lines) + "\n"
