"""Hashes of the cache; hashlib would import OpenSSL for them, which takes longer than a lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b


def digest(data: bytes, size: int) -> str:
    """The hash of *data*: *size* bytes in hexadecimal."""
    return blake2b(data, digest_size=size).hexdigest()
