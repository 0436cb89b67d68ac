"""Where things are in this repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT: Final = Path(__file__).resolve().parents[2]
TESTS: Final = ROOT / "tests"
SUPPORT: Final = TESTS / "support"
DATA: Final = TESTS / "data"
MAKE: Final = DATA / "make"
DOCS: Final = ROOT / "docs"
EXAMPLES: Final = ROOT / "examples"


def in_rooms(names: Iterable[str]) -> list[str]:
    """The paths of test files, whatever room they are in, from the top of the repository."""
    return [str(path.relative_to(ROOT)) for name in names for path in TESTS.rglob(f"{name}.py")]
