"""All errors that tfprof raises, with their exit codes.

    TfprofError
    ├── UsageError             2   invalid command line, option or argument
    ├── InputError             3   a file is missing, unreadable, damaged or of the wrong format
    │   └── UnsupportedError   3   a file of a kind that tfprof names but does not read
    └── OutputError            4   the result could not be written completely
        └── ClosedPipeError  141   its reader has gone, as in `| head`; ends without a message

Two exit codes belong to no class: 1 means a broken budget, 5 means out of memory.

An error is raised where the problem is detected and printed once, by the command line, as one
sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

BUDGET_BROKEN: Final = 1
OUT_OF_MEMORY: Final = 5


class TfprofError(Exception):
    """The base class; never raised itself."""

    exit_code: int


class UsageError(TfprofError):
    """The request is invalid."""

    exit_code = 2


class NoNumbersError(UsageError):
    """None of the selected columns has the numbers that an output consists of."""


class InputError(TfprofError):
    """A file cannot be used; the message names it and says what was expected."""

    exit_code = 3


class UnreadableError(InputError):
    """A file that the system does not let tfprof read."""


class UnsupportedError(InputError):
    """A file of a kind that tfprof names but does not read."""

    def __init__(self, name: str, title: str, advice: str) -> None:
        super().__init__(name, title, advice)
        self.name, self.title, self.advice = name, title, advice

    def __str__(self) -> str:
        return f"{self.name} is {self.title}; {self.advice}"


class OutputError(TfprofError):
    """The result could not be written; an existing file is unchanged."""

    exit_code = 4


class ClosedPipeError(OutputError):
    """The reader of a pipe has gone. As with git, a command ends quietly, as if by SIGPIPE."""

    exit_code = 128 + 13


def nearest(word: str, known: list[str]) -> str:
    """A hint such as "; did you mean 'scope'?" if *word* resembles a known one, else ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only for an error message

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_known(sentence: str, word: str, known: Iterable[str]) -> None:
    """Raise UsageError, beginning with *sentence*, where *word* is none of *known*."""
    words = list(known)
    if word not in words:
        there = ", ".join(words)
        raise UsageError(f"{sentence} {word!r}{nearest(word, words)} (there are: {there})")
