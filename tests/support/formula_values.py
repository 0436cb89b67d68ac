"""What the formula of an explanation comes to."""

from __future__ import annotations

import math
import re
from typing import Final

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def value_of(text: str) -> int:
    """What a formula comes to, with Python's own arithmetic."""
    powers = re.sub(f"[{_RAISED}]+", lambda m: f"**{''.join(map(_digit, m[0]))}", text)
    code = powers.replace("·", "*").replace("⌊", "floor(").replace("⌋", ")").replace("^", "**")
    assert re.fullmatch(r"[\d.+\-*/() e]|(?:floor|[\d.+\-*/() e])+", code), text
    return int(eval(code, {"floor": math.floor}))  # noqa: S307 - numbers and operators only


def _digit(raised: str) -> str:
    return str(_RAISED.index(raised))
