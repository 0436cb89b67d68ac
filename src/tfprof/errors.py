"""Every way tfprof can refuse, in one tree.

    TfprofError                1
    ├── UsageError             2   the words of the command or the options are off
    ├── InputError             3   a file is missing, unreadable, damaged or of another kind
    └── OutputError            4   the result could not be written whole

An error is raised where it is found and printed once, at the edge, as one sentence. Its number
is the exit code of the command.
"""

from __future__ import annotations


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
    """A hint such as "; did you mean 'scope'?" when *word* nearly is a known one, else ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake pays for it

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
