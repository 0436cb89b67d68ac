"""Names in natural order: layer_2 is before layer_10."""

from __future__ import annotations

import re
from typing import AnyStr

_LONGEST = 18  # digits; more than any name counts to


def natural(name: AnyStr) -> list[tuple[int, int, AnyStr]]:
    """A key that sorts numbers in names by their size."""
    parts = re.split("([0-9]+)" if isinstance(name, str) else b"([0-9]+)", name)
    empty = name[:0]
    return [
        (int(part[:_LONGEST]), len(part), empty) if at % 2 else (0, 0, part)
        for at, part in enumerate(parts)
    ]
