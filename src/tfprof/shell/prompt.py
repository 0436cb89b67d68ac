"""The tfprof> prompt: one profile, loaded once, asked line by line.

    help, ?                      the commands; of one: help scope
    an empty line                the options in force
    set -select params           changes them
    scope -max_depth 3           runs a command, with these options for this line only
    more scope -max_depth 9      runs it, and shows its output in the pager
    exit, quit, Ctrl-D           leaves

On a terminal lines are edited, completed and remembered. From a pipe or a file there is no prompt,
and an error does not stop the lines that follow.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.argv import Words, read_words, split_line
from tfprof.cli.help import help_outcome, page, shell_help
from tfprof.cli.request import Request, command_named, limits_of, make_request, run_request
from tfprof.cli.result_commands import loading_notes
from tfprof.console import stdio
from tfprof.console.detached import run_detached
from tfprof.console.escape import visible_text
from tfprof.console.outcome import Outcome, show_outcome
from tfprof.console.progress import stop_drawing
from tfprof.console.signals import interruptible, stay_at_prompt
from tfprof.errors import TfprofError, UsageError
from tfprof.foundation import after_answer
from tfprof.foundation.arguments import expand_home
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import first_few, plural
from tfprof.query.query import Query
from tfprof.read.describe import nodes_of
from tfprof.shell.original import options_block, original_error, original_help
from tfprof.tables.command_options import NO_PAGER
from tfprof.tables.commands import Command, known_options, shell_commands
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.writers.info import MOST_NAMES, fact_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prompt_toolkit import PromptSession

    from tfprof.results.loaded import Loaded

PROMPT = "tfprof> "
_ERROR = "E: "
_HINT = "'help' lists commands, 'help scope' explains one. Tab completes, Ctrl-D exits."


class LeaveShell(Exception):  # noqa: N818 - not an error
    """Raised by `exit` and `quit`."""


class Shell:
    """A loaded profile, the options in force, and how outcomes are shown."""

    def __init__(
        self,
        loaded: Loaded,
        settings: Mapping[str, Any],
        show: Callable[[Outcome], None] = show_outcome,
    ) -> None:
        self.loaded = loaded
        self.settings = dict(settings)
        self.first_settings = dict(settings)
        self._show = show

    def run(self, text: str) -> bool:
        """Run a line and print its error; False where it says to leave; may raise StdoutError."""
        try:
            plain, options = self._words(text.rstrip("\r\n"))
            with after_answer.collect_apart():
                with limits_of(options):
                    self._show(self.outcome(plain, options))
                run_detached(after_answer.take(), caller_stays=True)
        except LeaveShell:
            return False
        except stdio.StdoutError:
            raise
        except TfprofError as problem:
            stdio.print_error(str(problem), _ERROR)
        except MemoryError:
            stdio.print_error("out of memory", _ERROR)
        return True

    def outcome(self, plain: list[str], options: dict[str, Any]) -> Outcome:
        """Run the command that the words of a line name."""
        if not plain:
            if not options:
                return Outcome(page=options_block(self.loaded.profile, self.settings))
            raise UsageError(f"no command given (commands: {', '.join(shell_commands())})")
        if options.pop("help", False):
            plain = ["help", *plain[:1]]
        command = command_named(plain[0], shell_commands())
        words = [expand_home(word) if command.files else word for word in plain[1:]]
        if command.files == "load":
            _check_no_files(command, words, options)
        settings = {n: value for n, value in self.settings.items() if n in command.options}
        return run_request(
            make_request(command, words, options, lambda _: self.loaded, settings, self)
        )

    def _words(self, text: str) -> Words:
        """The words of a line, read as those of the command line are."""
        line = split_line(text)
        if not text.strip():
            return Words([], {})
        if not ERAS[self.settings.get("era", NOW.name)].original_errors:
            return read_words(line, known_options())
        if error := original_error(text.lstrip(" ").removeprefix("more ")):
            raise UsageError(error)
        plain, options = read_words(line, known_options())
        row = shell_commands()[plain[0]]
        # The original accepts every option after every command.
        return Words(
            plain, {n: v for n, v in options.items() if row.any_option or n in row.options}
        )


def _check_no_files(command: Command, words: list[str], options: Mapping[str, Any]) -> None:
    """Reject files in a line: the shell has loaded its own."""
    loaded = "the files of this shell are loaded"
    for name in (*INPUTS, *GRAPH_PARTS):
        if name in options:
            raise UsageError(f"{command.name} takes no --{name} here: {loaded}")
    if words:
        raise UsageError(f"{words[0]!r} is not expected after {command.name!r}: {loaded}")


def run_prompt(request: Request) -> Outcome:
    """Run lines from standard input until they end or one says to leave."""
    if request.shell:
        raise UsageError("this is the shell: it has one set of files; exit leaves it")
    settings = request.query_options
    Query.of(settings)  # reports an invalid option before any file is read
    pager = stdio.is_interactive() and not request.options.get(NO_PAGER.name)
    shell = Shell(request.load(request), settings, partial(show_outcome, pager=pager))
    stdio.print_notes(loading_notes(shell.loaded))
    if stdio.is_interactive():
        from tfprof.shell.editor import session  # noqa: PLC0415 - a pipe needs no editor

        _converse(shell, session(shell.loaded.profile))
    else:
        for line in stdio.stdin_lines():
            if not shell.run(line):
                break
    return Outcome()


def greeting(shell: Shell) -> list[str]:
    """What is loaded, and how to go on."""
    profile, files = shell.loaded.profile, shell.loaded.inputs
    names = files if len(files) == 1 else [Path(file).name for file in files]
    # A run may name nodes that the graph does not have.
    nodes, facts = int(profile.in_graph.sum()) or len(profile), nodes_of(profile).facts
    held = fact_lines({name: facts[name] for name in ("variables", "parameters") if name in facts})
    return [
        f"loaded {first_few(names, MOST_NAMES)}",
        ", ".join([plural(nodes, "node"), *held, plural(len(profile.steps), "step")]),
        _HINT,
    ]


def _converse(shell: Shell, session: PromptSession[str]) -> None:
    """Run what is typed. Ctrl-C drops the line or stops its command, and the prompt comes back."""
    stay_at_prompt()
    for line in greeting(shell):
        stdio.write_stderr(f"{stdio.fitted(visible_text(line), stdio.stdout_screen().columns)}\n")
    while True:
        try:
            # Ctrl-C is a key here; one that comes before the editor is ready does nothing.
            lines = session.prompt(PROMPT, handle_sigint=False).split("\n")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            with interruptible():
                if not all(shell.run(line) for line in lines):
                    return
        except KeyboardInterrupt:
            stop_drawing()
            stdio.after_interrupt()


# --- the commands that only the shell has --------------------------------------------------------


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
    """The commands, or the page of one; --era=original has the original's help."""
    if request.words:
        return help_outcome(page(request.words[0], shell_commands()))
    era = ERAS[request.shell.settings.get("era", NOW.name)]
    return (
        Outcome(page=original_help())
        if era.original_errors
        else help_outcome(shell_help(shell_commands()))
    )


def run_more(request: Request) -> Outcome:
    """What another command prints, in the pager."""
    outcome: Outcome = request.shell.outcome(list(request.words), dict(request.options))
    return replace(outcome, paged=True)


def run_exit(request: Request) -> Outcome:
    """Leave."""
    raise LeaveShell(request.command.name)
