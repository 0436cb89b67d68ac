"""What fails in a capture's own work: the program goes on, and is warned once.

    with problems.noted("the functions are missing"):     an exception inside becomes a sentence
        …
    problems.warn("the capture in log is incomplete")     all sentences as one warning

The sentences are also written into the folder, where `tfprof info` and `load` find them.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tfprof.errors import TfprofError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 20


def reason(problem: Exception) -> str:
    """An exception as part of a sentence, on one line."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, TfprofError) else f"{type(problem).__name__}: {text}"


class Problems:
    """The sentences of one capture, each once."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Add a sentence."""
        if sentence not in self.sentences and len(self.sentences) < _MOST:
            self.sentences.append(sentence)

    @contextmanager
    def noted(self, what: str, unless: type[Exception] | tuple[()] = ()) -> Iterator[None]:
        """Catch what fails inside, *unless* it is of this kind; *what* is the consequence."""
        try:
            yield
        except unless:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, the program is worth more
            self.add(f"{what}: {reason(problem)}")

    def warn(self, title: str) -> None:
        """Warn of all problems, if there are any."""
        if self.sentences:
            warn(f"{title}: {'; '.join(self.sentences)}")


def warn(sentence: str) -> None:
    """Warn the program that a capture did not do all of its work."""
    warnings.warn(f"tfprof: {sentence}", stacklevel=2)
