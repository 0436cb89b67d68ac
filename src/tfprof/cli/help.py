"""Help pages, written from the tables that also read the command line.

    help_text()             all commands, files and options
    page("scope")           one command: what it shows, and the options it takes
    page("limits")          the --limit_* options

A new row of COMMANDS or OPTIONS appears here by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.request import Request, command_named
from tfprof.console.outcome import Outcome
from tfprof.console.stdio import stdout_columns
from tfprof.tables.command_options import FORMAT, LIMIT_OPTIONS, NO_CACHE, NO_PAGER
from tfprof.tables.commands import COMMANDS, options_shown
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.options import OPTIONS, Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.tables.commands import Command

LIMITS_PAGE = "limits"
_LIMITS_LINE = (
    f"  --{'limit_*':<26} limits on work and memory per file: see 'tfprof help {LIMITS_PAGE}'"
)


def run_help(request: Request) -> Outcome:
    """The help page that the words of *request* name."""
    return help_outcome(page(request.words[0]) if request.words else help_text())


def help_outcome(text: str) -> Outcome:
    """*text*, fitted to the terminal where one shows it."""
    columns = stdout_columns()
    return Outcome(page=text if columns is None else fitted(text, columns))


def fitted(text: str, columns: int) -> str:
    """*text* with long lines broken between words; examples stay whole, to be copied."""
    import re  # noqa: PLC0415 - only a terminal needs it
    import textwrap  # noqa: PLC0415

    lines: list[str] = []
    wrap = textwrap.TextWrapper(columns, break_long_words=False, break_on_hyphens=False)
    for line in text.splitlines():
        beside = re.match(r" +\S+ +|usage: |", line)
        indent = beside.end() if beside and beside.end() < columns // 2 else 2
        wrap.subsequent_indent = " " * indent
        lines += [line] if line.startswith("  tfprof ") or not line else wrap.wrap(line)
    return _text(*lines)


def page(topic: str, commands: Mapping[str, Command] = COMMANDS) -> str:
    """The page about *topic*: one of *commands*, or the limits."""
    if topic == LIMITS_PAGE:
        return limits_help()
    return command_help(command_named(topic, commands))


def help_text() -> str:
    """The page about everything."""
    graph, runs = list(INPUTS)[:2]
    return _text(
        "Where a TensorFlow model's parameters, float operations, time and memory go.",
        "",
        "usage: tfprof FILES or FOLDER                      the answer that fits them",
        "       tfprof COMMAND FILES or FOLDER [options]    tfprof recognises files by content",
        f"       tfprof COMMAND --{graph}=PATH [--{runs}=PATHS] [options]",
        f"       tfprof --{graph}=PATH [--{runs}=PATHS] [options]    the tfprof> prompt",
        "",
        "commands",
        *_command_lines(COMMANDS),
        "",
        "files (gzip-compressed ones too)",
        *_option_lines(INPUTS.values()),
        "",
        "options (--name=value, --name value or -name value)",
        *_option_lines([*GRAPH_PARTS.values(), *OPTIONS.values(), FORMAT, NO_PAGER, NO_CACHE]),
        _LIMITS_LINE,
        "",
        *_choice_lines([FORMAT, *OPTIONS.values()]),
        "Lists are comma-separated. A regex matches a whole name or type, in RE2's syntax.",
        "",
        "exit codes: 0 done, 1 a budget is broken, 2 invalid command line, 3 unusable input, "
        "4 output failed, 5 out of memory, 130 interrupted, 141 reader of a pipe gone",
    )


def shell_help(commands: Mapping[str, Command]) -> str:
    """The page about the shell, which has these commands."""
    return _text(
        "commands",
        *_command_lines(commands),
        "",
        "'help COMMAND' explains a command and its options: -name value, for that line only.",
        "An empty line shows the options in force, which 'set' changes.",
    )


def command_help(command: Command) -> str:
    """The page about *command*."""
    name = f"tfprof {command.name}"
    files = [option for option in command.options.values() if option.name in INPUTS]
    limits = [_LIMITS_LINE] if set(LIMIT_OPTIONS) & set(command.options) else []
    others = options_shown(command)
    lines = [f"{name}: {command.summary}", "", f"usage: {name} {command.usage}".rstrip()]
    for paragraph in command.details:
        lines += ["", paragraph]
    if files:
        lines += ["", "files, where tfprof does not recognise them by content"]
        lines += _option_lines(files)
    if others or limits:
        lines += ["", "options", *_option_lines(others), *limits]
    if choices := _choice_lines(others):
        lines += ["", *choices]
    lines += command.closing
    if command.examples:
        lines += ["", "examples", *(f"  tfprof {example}" for example in command.examples)]
    return _text(*lines)


def limits_help() -> str:
    """The page about the limits."""
    return _text(
        "Limits on the work and memory that an input file can cause.",
        "Every command that reads files takes these options; docs/limits.md says what each guards.",
        "",
        *_option_lines(LIMIT_OPTIONS.values()),
    )


def _command_lines(commands: Mapping[str, Command]) -> list[str]:
    width = max(map(len, commands))
    return [f"  {name:<{width}} {row.summary}" for name, row in commands.items()]


def _option_lines(options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        default = ",".join(option.default) if option.kind in ("list", "regexes") else option.default
        shown = option.fitted or (str(default).lower() if option.kind == "bool" else str(default))
        lines.append(f"  --{option.name:<26} {option.help}{f' [{shown}]' if shown else ''}")
    return lines


def _choice_lines(options: Iterable[Option]) -> list[str]:
    return [
        f"{option.name} {'any' if option.kind == 'list' else 'one'} of: {', '.join(option.choices)}"
        for option in options
        if option.choices and option.kind != "output"
    ]


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"
