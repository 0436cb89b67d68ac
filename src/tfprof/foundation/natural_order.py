"""Names in natural order: layer_2 is before layer_10."""

from __future__ import annotations

import re
import sys
from typing import Any, AnyStr

_LONGEST = 18  # digits; more than any name counts to


def natural(name: AnyStr) -> list[Any]:
    """A key that sorts numbers in names by their size: [text, number, its digits, text, …]."""
    parts = re.split("([0-9]+)" if isinstance(name, str) else b"([0-9]+)", name)
    key: list[Any] = []
    for at, part in enumerate(parts):
        if at % 2:
            key += [int(part[:_LONGEST]), len(part)]
        else:
            # The keys of many names share what these have in common.
            key.append(sys.intern(part) if isinstance(part, str) else part)
    return key
