"""Frees the pages of a mapped file behind whoever reads it: memory does not grow with the file."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.byte_words import U8


def release_pages(buffer: U8, begin: int, end: int) -> None:
    """Free the pages of buffer[begin:end] if it maps a file; they are read again when needed."""
    held: object = buffer
    while isinstance(held, np.ndarray):
        held = held.base
    if isinstance(held, memoryview):
        held = held.obj
    if not isinstance(held, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED") or held.closed:
        return
    before = _address(buffer) - _address(np.frombuffer(held, np.uint8))
    first = -(-(before + begin) // mmap.PAGESIZE) * mmap.PAGESIZE
    size = (before + end) // mmap.PAGESIZE * mmap.PAGESIZE - first
    if size > 0:
        held.madvise(mmap.MADV_DONTNEED, first, size)


def _address(buffer: U8) -> int:
    address: int = buffer.__array_interface__["data"][0]
    return address
