"""The line editor of the prompt: keys, history, and what Tab offers. Only a terminal needs it.

Tab offers words of the tables, and names of the loaded profile:

    sc|                                  scope
    scope -max|                          -max_depth
    scope --select=micros,by|            bytes
    scope -show_name_regexes conv1/|     conv1/kernel, conv1/bn/ …     parts of rows of that view
    op -account_type_regexes .*Conv|     Conv2D, Conv2DBackpropInput … types of nodes

Where no name begins with what is typed, names that contain it are offered.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.shortcuts import CompleteStyle

from tfprof.cli.argv import option_spelled
from tfprof.cli.completion import slot
from tfprof.console.escape import OBEYED
from tfprof.errors import UsageError
from tfprof.io.regular_files import regular
from tfprof.tables.command_options import NODE_TYPES
from tfprof.tables.commands import Command, options_shown, shell_commands
from tfprof.tables.formats import GRAPH_PARTS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyPressEvent

    from tfprof.columns.strings import Strings
    from tfprof.model import Profile
    from tfprof.tables.options import Option

MOST_NAMES = 300

_LIKE_ANYTHING = ".*"
# A word ends at a space, a list splits at a comma and loses its quotes: "." matches them all.
_NOT_IN_A_REGEX = str.maketrans(dict.fromkeys(" ,\"'\n", "."))
_ESCAPED = re.compile(r"\\(.)")
_SPECIAL = str.maketrans({special: f"\\{special}" for special in "\\+*?()[]{}|^$"})


class Offer(NamedTuple):
    """The part of the line that is completed, and the words it may become."""

    typed: str
    words: Iterable[str]


def offer(line: str, profile: Profile) -> Offer:
    """What may follow *line*, the text before the cursor."""
    *before, word = line.split(" ")
    before = [text for text in before if text not in ("", "more")]
    commands = shell_commands()
    if not before:
        return Offer(word, _beginning(word, commands))
    if before[0] not in commands:
        return Offer(word, ())
    command = commands[before[0]]
    # Files are loaded when the shell starts.
    options = {row.name: row for row in options_shown(command) if row.name not in GRAPH_PARTS}
    spelled, equals, value = word.partition("=")
    if equals and (option := option_spelled(spelled, options)):
        return _values(option, value, command, profile)
    option = None if "=" in before[-1] else option_spelled(before[-1], options)
    following = (f"-{name}" for name in options)
    if word.startswith("--"):
        rows = options.values()
        following = (f"--{row.name}{'' if row.kind == 'bool' else '='}" for row in rows)
    if option and option.kind == "bool":
        return Offer(word, _beginning(word, [*slot(option).words, *following]))
    if option:
        return _values(option, word, command, profile)
    plain = command.words() if command.words and len(before) == 1 else ()
    return Offer(word, _beginning(word, [*plain, *following]))


def _values(option: Option, word: str, command: Command, profile: Profile) -> Offer:
    if option.name == "step":
        return Offer(word, _beginning(word, [str(step.number) for step in profile.steps]))
    if option.kind in ("list", "regexes"):
        word = word.rpartition(",")[2].lstrip("\"'")
    if option.kind == "regexes":
        return Offer(word, _names(word, _column(option, command.name, profile)))
    return Offer(word, _beginning(word, slot(option).words))


def _beginning(word: str, words: Iterable[str]) -> list[str]:
    return [text for text in words if text.startswith(word)]


def _column(option: Option, view: str, profile: Profile) -> Iterable[bytes]:
    """The names that the regexes of *option* are matched with in this view."""
    if option.name in ("account_type_regexes", NODE_TYPES.name):
        return profile.types
    try:
        labels: Strings = VIEWS.get(view, VIEWS["scope"]).draw(profile).label
    except UsageError:  # a profile without call stacks has no code view
        return ()
    return labels.take(slice(1, None))  # all but the root


def _names(word: str, names: Iterable[bytes]) -> list[str]:
    """Regexes for the next parts of names that begin with *word*, or for names that contain it."""
    typed = _ESCAPED.sub(r"\1", word.removeprefix(_LIKE_ANYTHING))
    wanted = typed.encode("utf-8", "surrogateescape")
    begin: dict[bytes, None] = {}
    contain: dict[bytes, None] = {}
    for name in names:
        if name.startswith(wanted):
            # As a file system: net/ stands for all that is inside, and for net itself.
            below = name.find(b"/", len(wanted)) + 1
            begin[name[:below] if below else name] = None
            if len(begin) == MOST_NAMES:
                break
        elif wanted in name and len(contain) < MOST_NAMES:
            contain[name] = None
    offered = [name for name in begin if name and name + b"/" not in begin] or filter(None, contain)
    texts = [name.decode("utf-8", "replace") for name in offered]
    # A regex that can be typed, and shown on a terminal.
    return [re.sub(OBEYED, ".", t.translate(_SPECIAL).translate(_NOT_IN_A_REGEX)) for t in texts]


class NameCompleter(Completer):
    """`offer`, in the form that the editor asks for."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - Tab is the only event
    ) -> Iterator[Completion]:
        """What Tab offers here."""
        typed, words = offer(document.current_line_before_cursor, self._profile)
        for word in words:
            # Behind a path that is typed, the menu shows the next part.
            shown = word[typed.rfind("/") + 1 :] if word.startswith(typed) else word
            yield Completion(word, start_position=-len(typed), display=shown)


def session(profile: Profile) -> PromptSession[str]:
    """The editor of lines about *profile*."""
    return PromptSession(
        history=_history(),
        auto_suggest=AutoSuggestFromHistory(),
        completer=NameCompleter(profile),
        complete_style=CompleteStyle.MULTI_COLUMN,
        complete_while_typing=False,
        key_bindings=_paste_runs(),
        enable_suspend=True,
    )


def _paste_runs() -> KeyBindings:
    """Pasted lines run at their line ends, as typed ones do."""
    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(text.removesuffix("\n"))
        if text.endswith("\n"):
            event.current_buffer.validate_and_handle()

    return bindings


def _history() -> History:
    """Earlier lines, from the user's state folder; without one, those of this session."""

    class LineHistory(FileHistory):
        """One entry per line, also for a paste of several; a full disk does not stop the shell."""

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
        os.close(regular(str(path), os.O_RDONLY))
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return LineHistory(str(path))
