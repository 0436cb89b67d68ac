r"""A family of operations: those with a name from a list, or of a certain make.

    Family("Const Identity", [r"TensorArray\w*", r"(Audio|Image)Summary"])

New versions of TensorFlow add operations to families that there are, and rarely a family.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_LONGEST = 200


class Family:
    """What `op in family` asks: names, and patterns that match whole names but for a version."""

    def __init__(self, names: str, patterns: Iterable[str]) -> None:
        self._names = frozenset(names.split())
        self._pattern = re.compile(f"(?:{'|'.join(patterns)})(?:V[0-9]+)?")

    def __contains__(self, op: object) -> bool:
        # A name without end is of no family, and not worth the time of a pattern.
        name = str(op)
        return name in self._names or (
            len(name) <= _LONGEST and self._pattern.fullmatch(name) is not None
        )
