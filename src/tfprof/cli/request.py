"""A request: one command with its words and options, checked, ready to run.

    command line    tfprof scope graph.pbtxt --select=params    load() reads the files
    the shell       tfprof> scope -select params                load() returns what is loaded

Both make requests with the same functions, so both have the same commands, spellings and errors.
Everything that can be checked without reading a file is checked here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError, check_known, nearest
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.tables.command_checks import check_takes
from tfprof.tables.command_options import NO_PAGER
from tfprof.tables.commands import COMMANDS, Command
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.formats import INPUTS
from tfprof.tables.limits import LIMITS, raised_limits
from tfprof.tables.options import OPTIONS, Option, without_blanks
from tfprof.tables.outputs import Output, check_output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from tfprof.console.outcome import Outcome

_PATH = {*"./\\~?"}  # what a command has not: the word is a file that is missing


@dataclass(frozen=True, eq=False)
class Request:
    """A command with its words and options; *load* reads the profile that it works on."""

    command: Command
    words: Sequence[str]  # the plain words behind the command
    options: Mapping[str, Any]
    load: Callable[[Request], Any]  # a Loaded or a Fleet
    shell: Any = None  # the Shell that asks; None on the command line
    naming: Sequence[str] = ()  # what stands for the files in other commands, where not words

    @property
    def query_options(self) -> dict[str, Any]:
        """The options that make a Query."""
        return {name: value for name, value in self.options.items() if name in OPTIONS}

    @property
    def input_paths(self) -> list[str]:
        """The files that options name."""
        values = [self.options.get(name) or () for name in INPUTS]
        return [p for value in values for p in ([value] if isinstance(value, str) else value)]


def run_request(request: Request) -> Outcome:
    """Run the command of *request*."""
    outcome: Outcome = load_function(request.command.run)(request)
    settings = {**(request.shell.settings if request.shell else {}), **request.options}
    may_page = not settings.get(NO_PAGER.name) and ERAS[settings.get("era", NOW.name)].pager
    if outcome.paged is None and not may_page:
        outcome = replace(outcome, paged=False)
    no_effect = [name for name in request.command.ignored if request.options.get(name)]
    if not no_effect:
        return outcome
    from tfprof.model import Note  # noqa: PLC0415 - NumPy is loaded by now

    notes = [Note(f"tfprof: {request.command.name} ignores --{name}") for name in no_effect]
    return replace(outcome, notes=[*outcome.notes, *notes])


def limits_of(options: Mapping[str, Any]) -> AbstractContextManager[None]:
    """A context in which the --limit_* among *options* hold."""
    flags = {name: limit.flag.lstrip("-") for name, limit in LIMITS.items()}
    limits = {name: options[flag] for name, flag in flags.items() if flag in options}
    for name, value in limits.items():
        _check_least(flags[name], value)
    return raised_limits(**limits)


def check_first_word(word: str) -> None:
    """Raise UsageError for a *word* that is no command and cannot be a path."""
    near = nearest(word, list(COMMANDS))
    if not any(map(os.path.exists, (word, f"{word}.index"))) and (near or not _PATH & {*word}):
        there = f"(there are: {', '.join(COMMANDS)})"
        raise UsageError(f"there is no command {word!r}{near} {there}, and no file of that name")


def command_named(name: str, commands: Mapping[str, Command] = COMMANDS) -> Command:
    """The row called *name*."""
    check_known("there is no command", name, commands)
    return commands[name]


def make_request(  # noqa: PLR0913, PLR0917 - one parameter per column
    command: Command,
    words: Sequence[str],
    options: Mapping[str, Any],
    load: Callable[[Request], Any],
    settings: Mapping[str, Any] | None = None,
    shell: Any = None,  # noqa: ANN401 - as in Request
) -> Request:
    """A request; raises UsageError for words and options that *command* does not take."""
    # Options not among *options* are those in *settings*. --format becomes an output.
    era = options.get("era") or (settings or {}).get("era", NOW.name)
    options = without_blanks(options, era)
    checked = dict(options)
    if not command.any_option:
        check_takes(command, options)
        for name, value in options.items():
            if name in command.options:
                _check_value(command.options[name], value)
        checked = {**(settings or {}), **_with_format(options)}
    if command.offers and "output" in command.options:
        output = Output("file") if checked.get("outfile") else Output.of(checked.get("output", ""))
        check_output(command.name, output, command.offers, is_list=command.is_list)
    _check_words(command, words)
    return Request(command, words, checked, load, shell)


def _check_value(option: Option, value: Any) -> None:  # noqa: ANN401 - of any kind
    if option.kind == "int" and option.name not in OPTIONS:
        _check_least(option.name, value, min(option.default, 1))
    choices = (OPTIONS.get(option.name) or option).choices
    for word in value if option.kind == "list" else filter(None, [value]):
        if choices:
            check_known(f"{option.name} has no", word, choices)


def _check_least(name: str, value: int, least: int = 1) -> None:
    if value < least:
        raise UsageError(f"--{name} takes a whole number of at least {least}, not {value}")


def _with_format(options: Mapping[str, Any]) -> dict[str, Any]:
    """*options* with --format=KIND as the output that it is."""
    changed = dict(options)
    form = changed.pop("format", None) or "text"
    if form != "text":
        if changed.get("output", "stdout") not in ("", "stdout"):
            raise UsageError(f"--format={form} is for stdout; for a file: {form}:outfile=PATH")
        changed["output"] = form
    return changed


def _check_words(command: Command, words: Sequence[str]) -> None:
    if not words or command.files or command.any_option:
        return
    if command.words is None:
        raise UsageError(f"{words[0]!r} is not expected after {command.name!r}: {command.no_files}")
    check_known(f"{command.name} has no", words[0], command.words())
    if len(words) > 1:
        first = f"{command.name} {words[0]}"
        raise UsageError(f"{words[1]!r} is not expected after {first!r}: it takes one word")
