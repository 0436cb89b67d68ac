"""Columns in ordinary pages while files are read.

NumPy asks for huge pages. A virtual machine gives free memory back to its host in huge pages, so
each is fetched from the host again: that takes longer than reading the file.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

try:
    import numpy._core.multiarray as numpy_core
except ImportError:  # NumPy 1.26.0
    import numpy.core.multiarray as numpy_core  # type: ignore[no-redef]

if TYPE_CHECKING:
    from collections.abc import Iterator


_lock = Lock()
_inside = 0  # blocks of all threads, for which NumPy has one choice
_before: object = True


@contextmanager
def small_pages() -> Iterator[None]:
    """Let NumPy ask for no huge pages inside the block."""
    global _inside, _before  # noqa: PLW0603 - as NumPy's choice
    choose = getattr(numpy_core, "_set_madvise_hugepage", lambda chosen: chosen)
    with _lock:
        if not _inside:
            _before = choose(False)  # noqa: FBT003 - it has no name
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                choose(_before)
