"""What a command says without the cache that a test asks it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cached import Asking, Said


def without_cache(asking: Asking, *words: str) -> Said:
    """What the command says if there is no cache."""
    asking.use("off")
    said = asking.ask(*words)
    asking.use(asking.folder)
    return said
