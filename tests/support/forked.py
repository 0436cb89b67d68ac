"""Commands and scripts, run many times in children of a process that has imported what they need.

Forked(folder)                  runs commands of tfprof; one can be stopped at any moment
Forked(folder, "tensorflow")    runs scripts that need TensorFlow, whose import takes seconds
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import paths
from child import QUIET_TENSORFLOW, JsonChild

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Ran(NamedTuple):
    """How a child ended: below zero, the signal that killed it."""

    code: int
    seconds: float
    out: bytes
    told: str


class Forked(JsonChild):
    """Runs commands and programs; *folder* is for what they print, *ready* is imported before."""

    def __init__(self, folder: Path, ready: str = "tfprof") -> None:
        self._folder = folder
        # Captures, in processes of their own, have oneDNN where the machine has it.
        command = (sys.executable, paths.SUPPORT / "forked_worker.py", ready)
        super().__init__(command, OPENBLAS_NUM_THREADS="1", **QUIET_TENSORFLOW)

    def __call__(
        self, words: Sequence[str] | str, signal: int = 0, after: float = 0, **like: Any
    ) -> Ran:
        """Run a command, or a program where *words* is a text."""
        out, told = self._folder / "stdout", self._folder / "stderr"
        asked = {
            "program" if isinstance(words, str) else "words": words,
            "signal": signal,
            "after": after,
            "stdout": str(out),
            "stderr": str(told),
            **like,
        }
        ended = self.ask(asked)
        return Ran(ended["code"], ended["seconds"], out.read_bytes(), told.read_text())

    def script(self, path: Path, *words: str, stdin: bytes = b"") -> bytes:
        """Run a script as `python path words` does; what it prints."""
        given = self._folder / "stdin"
        given.write_bytes(stdin)
        program = f"import runpy, sys; sys.argv[:] = {[str(path), *words]!r}\n"
        program += f"sys.path.insert(0, {str(path.parent)!r})\n"
        program += "runpy.run_path(sys.argv[0], run_name='__main__')"
        ran = self(program, stdin=str(given))
        assert ran.code == 0, ran.told
        return ran.out
