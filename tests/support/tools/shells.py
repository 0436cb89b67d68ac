"""The shells that tests complete words in: found or installed from Debian, never done without."""

from __future__ import annotations

import shutil

from tools.debian import found_or_installed


def shell(name: str) -> str:
    """The path of the shell called *name*; raises RuntimeError where it cannot be had."""
    return found_or_installed(f"{name} on PATH", lambda: shutil.which(name), (name,))
