"""The command, run many times and stopped at any moment, in children of a process that waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType


class Ran(NamedTuple):
    """How a child ended: below zero, the signal that killed it."""

    code: int
    seconds: float
    out: bytes
    told: str


class Forked:
    """Runs commands and programs; *folder* is for what they print."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._worker = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forked_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Forked:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._worker.communicate()

    def __call__(
        self, words: Sequence[str] | str, signal: int = 0, after: float = 0, **like: Any
    ) -> Ran:
        """Run a command, or a program where *words* is a text."""
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        out, told = self._folder / "stdout", self._folder / "stderr"
        asked = {
            "program" if isinstance(words, str) else "words": words,
            "signal": signal,
            "after": after,
            "stdout": str(out),
            "stderr": str(told),
            **like,
        }
        self._worker.stdin.write(json.dumps(asked) + "\n")
        self._worker.stdin.flush()
        ended = json.loads(self._worker.stdout.readline())
        return Ran(ended["code"], ended["seconds"], out.read_bytes(), told.read_text())
