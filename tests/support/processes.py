"""Processes that run to their end; child.py has those that answer until they are closed."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def run(
    *words: str | Path,
    check: bool = True,
    cwd: Path | None = None,
    env: Mapping[str, str | None] | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """What a command did; one that fails fails the test, unless *check* is False.

    *env* has what differs from our own environment; None takes a variable away.
    """
    every = {**os.environ, **(env or {})}
    environment = {name: text for name, text in every.items() if text is not None}
    ran = subprocess.run(
        words, check=False, capture_output=True, text=True, cwd=cwd, env=environment, input=stdin
    )
    assert not (check and ran.returncode), ran.stdout[-4_000:] + ran.stderr[-4_000:]
    return ran


python = partial(run, sys.executable)
