"""The shells that tests complete words in."""

from __future__ import annotations

import shutil
from functools import partial

from tools.debian import found_or_installed


def shell(name: str) -> str:
    """The path of the shell called *name*; raises RuntimeError where it cannot be had."""
    return found_or_installed(partial(shutil.which, name), name, name)
