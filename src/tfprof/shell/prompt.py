"""The tfprof> prompt: one profile, loaded once, asked line by line.

    an empty line                the options in force
    set -select params           changes them
    scope -max_depth 3           asks, with these options for this line only
    more scope -max_depth 9      asks, and shows the answer a page at a time
    exit, quit, Ctrl-D           leaves

On a terminal lines are edited, completed and remembered. From a pipe or a file they are read as
they are, nothing but answers comes out, and an error stops neither.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.console.outcome import Outcome
from tfprof.console.progress import stop_drawing
from tfprof.console.signals import interruptible, stay_at_prompt
from tfprof.errors import OutputError, TfprofError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.query import Query
from tfprof.shell.lines import COMMANDS, options_block, read_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from tfprof.model import Profile

Ask = Callable[[str, Query], Outcome]
Show = Callable[[Outcome], None]

PROMPT = "tfprof> "
LEAVE = ("exit", "quit")
MORE = "more"

_ADDRESS = "https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core/profiler"
# What the original answers, to the letter; what tfprof itself takes is in `tfprof --help`.
HELP = f"""\
See {_ADDRESS}/README.md for profiler tutorial.
See {_ADDRESS}/g3doc/command_line.md for command line tool tutorial.
profiler --profile_path=<ProfileProto binary file> # required

Or:

profiler --graph_path=<GraphDef proto file>  # Contains model graph info (no needed for eager \
execution)
         --run_meta_path=<RunMetadata proto file>  # Contains runtime info. Optional.
         --run_log_path=<OpLogProto proto file>  # Contains extra source code, flops, custom type \
info. Optional


To skip interactive mode, append one of the following commands:
  scope: Organize profiles based on name scopes.
  graph: Organize profiles based on graph node input/output.
  op: Organize profiles based on operation type.
  code: Organize profiles based on python codes (need op_log_path).
  advise: Auto-profile and advise. (experimental)
  set: Set options that will be default for follow up commands.
  help: Show helps.
"""


class Shell:
    """The options in force, and how questions are answered and answers shown."""

    def __init__(self, options: Mapping[str, Any], ask: Ask, show: Show) -> None:
        self._options = dict(options)
        self._ask = ask
        self._show = show

    def run(self, text: str, page: Show | None = None) -> bool:
        """Do what a line says; False where it says to leave.

        *page* shows what the line asks to see a page at a time. What is refused is told, and the
        next line may come; only where standard output is gone OutputError is raised.
        """
        text = text.rstrip("\r\n")
        if text.strip() in LEAVE:
            return False
        first, _, after = text.lstrip(" ").partition(" ")
        wants_pages = first == MORE
        try:
            outcome = self._outcome(after if wants_pages else text)
        except (TfprofError, MemoryError) as problem:
            _refuse(problem)
            return True
        try:
            (page if page and wants_pages else self._show)(outcome)
        except OutputError:
            raise
        except (TfprofError, MemoryError) as problem:
            _refuse(problem)
        return True

    def _outcome(self, text: str) -> Outcome:
        if not text.strip():
            return Outcome([options_block(self._options).encode()])
        line = read_line(text)
        options = self._options | line.options
        if line.command == "set":
            self._options = options
            return Outcome()
        if line.command == "help":
            return Outcome([HELP.encode()])
        return self._ask(line.command, Query.of(options))


def run(profile: Profile, options: Mapping[str, Any], ask: Ask, show: Show) -> None:
    """Run lines from standard input, until they end or one says so."""
    shell = Shell(options, ask, show)
    if sys.stdin is None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        _converse(shell, _session(profile), show)
        return
    for line in sys.stdin.buffer:
        if not shell.run(line.decode("utf-8", "surrogateescape")):
            return


def _converse(shell: Shell, session: PromptSession[str], show: Show) -> None:
    """Run what is typed; Ctrl-C drops the line or stops the answer, and the prompt comes back."""
    stay_at_prompt()
    while True:
        try:
            # Here Ctrl-C is a key; one that comes before it is one ends nothing.
            lines = session.prompt(PROMPT, handle_sigint=False).split("\n")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            with interruptible():
                if not all(shell.run(line, lambda outcome: _page(outcome, show)) for line in lines):
                    return
        except KeyboardInterrupt:
            stop_drawing()
            sys.stdout.flush()
            sys.stderr.write("\ninterrupted\n")


def _session(profile: Profile) -> PromptSession[str]:
    # Only who sits at a terminal pays for its editor.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory  # noqa: PLC0415
    from prompt_toolkit.shortcuts import CompleteStyle  # noqa: PLC0415

    from tfprof.shell.completion import NameCompleter  # noqa: PLC0415

    return PromptSession(
        history=_history(),
        auto_suggest=AutoSuggestFromHistory(),
        completer=NameCompleter(profile, (*COMMANDS, MORE, *LEAVE)),
        complete_style=CompleteStyle.MULTI_COLUMN,
        complete_while_typing=False,
        key_bindings=_paste_runs(),
        enable_suspend=True,
    )


def _paste_runs() -> KeyBindings:
    """Pasted lines run as typed ones do: at the end of the line."""
    from prompt_toolkit.key_binding import KeyBindings  # noqa: PLC0415
    from prompt_toolkit.keys import Keys  # noqa: PLC0415

    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(text.removesuffix("\n"))
        if text.endswith("\n"):
            event.current_buffer.validate_and_handle()

    return bindings


def _history() -> History:
    """Lines typed before, kept in the user's state folder; where that cannot be, for now only."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory  # noqa: PLC0415

    class LineHistory(FileHistory):
        """An entry a line, also where several were pasted; a full disk is no reason to stop."""

        def append_string(self, string: str) -> None:
            for line in filter(str.strip, string.split("\n")):
                super().append_string(line)

        def load_history_strings(self) -> Iterable[str]:
            with suppress(OSError):
                yield from super().load_history_strings()

        def store_string(self, string: str) -> None:
            with suppress(OSError, UnicodeError):
                super().store_string(string)

    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = Path(home) / "tfprof" / "history"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return LineHistory(str(path))


def _page(outcome: Outcome, show: Show) -> None:
    """Show an answer through the user's pager."""
    import pydoc  # noqa: PLC0415

    pydoc.pager(b"".join(outcome.stdout).decode("utf-8", "replace"))
    show(replace(outcome, stdout=()))


def _refuse(problem: BaseException) -> None:
    sentence = "out of memory" if isinstance(problem, MemoryError) else str(problem)
    if sys.stderr.isatty():
        from tfprof.console.escape import visible_text  # noqa: PLC0415 - as in the command

        sentence = visible_text(sentence)
    with suppress(OSError):  # nobody hears it: no reason to stop
        sys.stderr.write(f"E: {sentence}\n")
