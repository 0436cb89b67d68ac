"""The errors of tfprof, in one tree.

    TfprofError                1
    ├── UsageError             2   invalid command line, option or argument
    ├── InputError             3   a file is missing, unreadable, damaged or of another kind
    └── OutputError            4   the result cannot be written

An error is raised where it is found and printed once, at the edge, as one sentence. Its number
is the exit code of the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class TfprofError(Exception):
    """The root; never raised itself."""

    exit_code = 1


class UsageError(TfprofError):
    """What was asked for does not exist or does not make sense."""

    exit_code = 2


class InputError(TfprofError):
    """A file cannot be used; the sentence names it and what was expected."""

    exit_code = 3


class OutputError(TfprofError):
    """The result could not be delivered; what was there before is untouched."""

    exit_code = 4


def nearest(word: str, known: list[str]) -> str:
    """A hint such as "; did you mean 'scope'?" where *word* nearly is a known word, else ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake pays for it

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_known(sentence: str, word: str, known: Iterable[str]) -> None:
    """Raise UsageError, beginning with *sentence*, where *word* is none of *known*."""
    words = list(known)
    if word not in words:
        there = ", ".join(words)
        raise UsageError(f"{sentence} {word!r}{nearest(word, words)} (there are: {there})")
