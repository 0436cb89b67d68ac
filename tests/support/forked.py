"""Commands and scripts, run many times in children of a process that has imported what they need.

Forked(folder)                  runs commands of tfprof; one can be stopped at any moment
Forked(folder, "tensorflow")    runs scripts that need TensorFlow, whose import takes seconds
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType


class Ran(NamedTuple):
    """How a child ended: below zero, the signal that killed it."""

    code: int
    seconds: float
    out: bytes
    told: str


class Forked:
    """Runs commands and programs; *folder* is for what they print, *ready* is imported before."""

    def __init__(self, folder: Path, ready: str = "tfprof") -> None:
        self._folder = folder
        self._worker = subprocess.Popen(
            [sys.executable, paths.SUPPORT / "forked_worker.py", ready],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "CUDA_VISIBLE_DEVICES": "-1",
                # The same kernels on every processor: oneDNN's return other shapes of what is
                # reserved. Captures, in processes of their own, have what the machine has.
                "TF_ENABLE_ONEDNN_OPTS": "0",
            },
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
