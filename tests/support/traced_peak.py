"""How much memory Python takes at most for a piece of work."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def peak_and(work: Callable[[], T]) -> tuple[int, T]:
    """(the most bytes at once, what *work* returns)."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()
