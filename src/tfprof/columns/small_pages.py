"""Memory of columns while files are read: ordinary pages, and memory kept for reuse.

NumPy asks for huge pages. A virtual machine gives free memory back to its host in huge pages, so
each is fetched from the host again: that takes longer than reading the file.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

try:
    import numpy._core.multiarray as numpy_core
except ImportError:  # NumPy 1.26.0
    import numpy.core.multiarray as numpy_core  # type: ignore[no-redef]

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGE = 1 << 24  # temporary arrays are mostly smaller

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


def keep_memory() -> None:
    """Make the allocator keep freed memory for the next array."""
    # The C library returns a large array to the system as soon as it is freed, and the next one
    # faults in its pages again; that can take longer than the work. It stops doing so for sizes up
    # to the largest that was ever freed.
    np.empty(_LARGE, np.uint8)
