"""Installs what tests drive and pip does not bring: shells, Chromium, Go's pprof, npm's packages.

    python tests/support/tools/install.py       `make` runs it

It says what it downloads. What cannot be installed is named and is no error: the tests that need
it say so again.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.chromium import chromium
from tools.go_pprof import command
from tools.node import package
from tools.shells import shell

if TYPE_CHECKING:
    from collections.abc import Callable


def problem(install: Callable[[], object]) -> str:
    """Why it could not be installed; nothing if it could."""
    try:
        install()
    except RuntimeError as refusal:
        return f"{refusal}\n"
    return ""


def main() -> None:
    shells = [partial(shell, name) for name in ("zsh", "fish")]
    installs: list[Callable[[], object]] = [*shells, chromium, command, partial(package, "eslint")]
    for install in installs:
        sys.stderr.write(problem(install))


if __name__ == "__main__":
    main()
