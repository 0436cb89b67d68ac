"""Work for after the answer: the command line collects it, a program has no such moment."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_work: list[tuple[Callable[[], None], Callable[[], bool]]] = []
_collects = False


@contextmanager
def collect() -> Iterator[None]:
    """Inside, `later` keeps work until `take` takes it; what is left in the end is dropped."""
    global _collects  # noqa: PLW0603 - a process that answers one question
    before, _collects = _collects, True
    try:
        yield
    finally:
        _collects = before
        _work.clear()


@contextmanager
def collect_apart() -> Iterator[None]:
    """Inside, `take` takes only what came inside; what it leaves there is dropped.

    So a prompt keeps the profile of its own files, but none that one of its commands loads.
    """
    global _work  # noqa: PLW0603 - as above
    before, _work = _work, []
    try:
        yield
    finally:
        _work = before


def later(work: Callable[[], None], is_needed: Callable[[], bool]) -> bool:
    """Whether *work* is done after the answer, if it is needed then; if not, nobody does it."""
    if _collects:
        _work.append((work, is_needed))
    return _collects


def take() -> list[Callable[[], None]]:
    """The work collected so far that is needed."""
    taken = [work for work, is_needed in _work if is_needed()]
    _work.clear()
    return taken
