"""What may stand where the cursor is: words of the tables, and names of the loaded profile.

    sc|                                  scope
    scope -max|                          -max_depth
    scope -select micros,by|             bytes
    scope -show_name_regexes conv1/|     conv1/kernel, conv1/bias …    rows of that view
    op -account_type_regexes .*Conv|     Conv2D, Conv2DBackpropInput … types of nodes

Names that begin with what is typed come before names that hold it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit.completion import Completer, Completion

from tfprof.console.escape import OBEYED
from tfprof.errors import UsageError
from tfprof.shell.lines import COMMANDS
from tfprof.tables.options import OPTIONS, Option
from tfprof.tables.outputs import OUTPUTS, option_words
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from tfprof.columns.strings import Strings
    from tfprof.model import Profile

MOST_NAMES = 300

_LIKE_ANYTHING = ".*"
# A word ends at a space, a list splits at a comma and loses its quotes: "." matches them all.
_NOT_IN_A_REGEX = str.maketrans(dict.fromkeys(" ,\"'\n", "."))
_SPECIAL = str.maketrans({special: f"\\{special}" for special in "\\+*?()[]{}|^$"})


class Offer(NamedTuple):
    """What is typed of a word so far, and the words it may become."""

    typed: str
    words: Iterable[str]


def offer(line: str, profile: Profile, first_words: Iterable[str] = COMMANDS) -> Offer:
    """What may follow *line*, the text before the cursor."""
    *before, word = line.split(" ")
    before = [one for one in before if one not in ("", "more")]
    if not before:
        return Offer(word, _beginning(word, first_words))
    last = before[-1]
    option = OPTIONS.get(last[1:]) if last.startswith("-") else None
    if option is None:
        return Offer(word, _beginning(word, _option_words()))
    return _values(option, word, VIEWS.get(before[0], VIEWS["scope"]).name, profile)


def _values(option: Option, word: str, view: str, profile: Profile) -> Offer:
    if option.kind == "bool":
        return Offer(word, _beginning(word, ["true", "false", *_option_words()]))
    if option.kind == "output":
        return Offer(word, _beginning(word, option_words(OUTPUTS)))
    if option.name == "step":
        return Offer(word, _beginning(word, [str(step.number) for step in profile.steps]))
    if option.kind in ("list", "regexes"):
        word = word.rpartition(",")[2].lstrip("\"'")
    if option.kind == "regexes":
        return Offer(word, _names(word, _column(option, view, profile)))
    return Offer(word, _beginning(word, option.choices))


def _option_words() -> list[str]:
    return [f"-{name}" for name in OPTIONS]


def _beginning(word: str, words: Iterable[str]) -> list[str]:
    return [one for one in words if one.startswith(word)]


def _column(option: Option, view: str, profile: Profile) -> Iterable[bytes]:
    """What the regexes of *option* are tried on in this view."""
    if option.name == "account_type_regexes":
        return profile.types
    try:
        labels: Strings = VIEWS[view].draw(profile).label
    except UsageError:  # a profile without call stacks has no code view
        return ()
    return labels.take(slice(1, None))  # all but the root


def _names(word: str, names: Iterable[bytes]) -> list[str]:
    """Regexes for the names that begin with *word*, then for those that hold it."""
    wanted = word.removeprefix(_LIKE_ANYTHING).encode("utf-8", "surrogateescape")
    begin: dict[bytes, None] = {}
    hold: dict[bytes, None] = {}
    for name in names:
        if name.startswith(wanted):
            begin[name] = None
            if len(begin) == MOST_NAMES:
                break
        elif wanted in name and len(hold) < MOST_NAMES:
            hold[name] = None
    return [_regex(name) for name in [*begin, *hold][:MOST_NAMES] if name]


def _regex(name: bytes) -> str:
    """A regex that matches *name* and can be typed, and shown on a terminal."""
    regex = name.decode("utf-8", "replace").translate(_SPECIAL).translate(_NOT_IN_A_REGEX)
    return OBEYED.sub(".", regex)


class NameCompleter(Completer):
    """`offer`, as the terminal asks for it."""

    def __init__(self, profile: Profile, first_words: Iterable[str]) -> None:
        self._profile = profile
        self._first_words = tuple(first_words)

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - Tab is the only event
    ) -> Iterator[Completion]:
        """What Tab offers here."""
        line = document.current_line_before_cursor
        typed, words = offer(line, self._profile, self._first_words)
        for word in words:
            yield Completion(word, start_position=-len(typed))
