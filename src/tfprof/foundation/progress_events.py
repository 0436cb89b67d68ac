"""Stage: what is being done right now, and how far it is; whoever listens is told.

    with listening(show):
        tell(Stage("reading run_meta_3 (4 of 100)", done=310_000_000, total=840_000_000))

A stage is a text, so what takes a text takes it as well. Telling costs next to nothing, and
nothing is kept.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Stage(str):
    """What is being done, as a text; *done* and *total* are bytes, a total of 0 is not known."""

    __slots__ = ("done", "total")

    done: int
    total: int

    def __new__(cls, text: str, done: int = 0, total: int = 0) -> Stage:  # noqa: PYI034 - as in Progress
        """A text that knows how far it is."""
        stage = super().__new__(cls, text)
        stage.done, stage.total = done, total
        return stage


_listener: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)
_current: ContextVar[Stage | None] = ContextVar("current", default=None)


def tell(stage: Stage) -> None:
    """Say what is done from now on."""
    listener = _listener.get()
    _current.set(stage)
    if listener is not None:
        listener(stage)


def tell_further(done: int) -> None:
    """Say that of what is done now, so many bytes are done beside those it began with."""
    listener, stage = _listener.get(), _current.get()
    if listener is not None and stage is not None and stage.total:
        listener(Stage(stage, min(stage.done + done, stage.total), stage.total))


@contextmanager
def listening(listener: Callable[[str], object]) -> Iterator[None]:
    """Have *listener* told all stages of what is done inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
