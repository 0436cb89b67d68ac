"""The line editor of the prompt: keys, Tab and history. Only a terminal needs it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.shortcuts import CompleteStyle

from tfprof.shell.completion import NameCompleter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyPressEvent

    from tfprof.model import Profile


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
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return LineHistory(str(path))
