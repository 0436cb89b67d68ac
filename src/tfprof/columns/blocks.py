"""blocks: the rows of long columns, some thousands at a time.

What is computed for a block stays in the CPU cache. A temporary column of millions of rows is
memory that the system has to map, clear and take back each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS = 1 << 15


def blocks(count: int) -> Iterator[slice]:
    """Slices of *count* rows."""
    return (slice(first, min(first + _ROWS, count)) for first in range(0, count, _ROWS))
