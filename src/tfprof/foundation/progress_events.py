"""Progress events: readers announce what they are doing and how far they are; a listener shows it.

    with listening(show):
        announce(Stage("reading run_meta_3 (4 of 100)", done=310_000_000, total=840_000_000))

A Stage is a str, so it works wherever a str does. Announcing costs next to nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Stage(str):
    """What is being done, as text; *done* and *total* are bytes, and total 0 means unknown."""

    __slots__ = ("done", "total")

    done: int
    total: int

    def __new__(cls, text: str, done: int = 0, total: int = 0) -> Stage:  # noqa: PYI034 - as in Progress
        """A text with the bytes done so far and in all."""
        stage = super().__new__(cls, text)
        stage.done, stage.total = done, total
        return stage


_listener: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)
_current: ContextVar[Stage | None] = ContextVar("current", default=None)


def announce(stage: Stage) -> None:
    """Announce to the listener that *stage* begins."""
    listener = _listener.get()
    _current.set(stage)
    if listener is not None:
        listener(stage)


def announce_bytes(done: int) -> None:
    """Announce that *done* more bytes are done since the current stage began."""
    listener, stage = _listener.get(), _current.get()
    if listener is not None and stage is not None and stage.total:
        listener(Stage(stage, min(stage.done + done, stage.total), stage.total))


@contextmanager
def listening(listener: Callable[[str], object]) -> Iterator[None]:
    """Call *listener* with every stage announced inside the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
