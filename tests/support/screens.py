"""A command on a terminal of a given size: what it is sent, and what keys do."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Final

import pexpect

if TYPE_CHECKING:
    from collections.abc import Sequence

# Rows and columns.
SIZES: Final = {"80x24": (24, 80), "100x30": (30, 100), "200x50": (50, 200)}
_PAGERS: Final = ("TFPROF_PAGER", "PAGER", "LESS", "NO_COLOR")
_STYLE: Final = re.compile(r"\x1b\[\d*m")


def _signals_as_usual() -> None:
    """Who runs us may have turned interrupts off, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Screen:
    """tfprof on a terminal; it has no pager variables but those in *environment*."""

    def __init__(
        self, words: Sequence[str], size: tuple[int, int] = (24, 80), **environment: str
    ) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in _PAGERS}
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "tfprof", *words],
            env={**kept, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **environment},
            encoding="utf-8",
            codec_errors="backslashreplace",
            timeout=60,
            preexec_fn=_signals_as_usual,
            dimensions=size,
        )

    def types(self, keys: str) -> Screen:
        """Press *keys*."""
        self.child.send(keys)
        return self

    def sees(self, *texts: str) -> Screen:
        """Wait for each of *texts* in turn."""
        for text in texts:
            self.child.expect_exact(text)
        return self

    def ends(self) -> tuple[int | None, str]:
        """(exit code, what was sent until the end), without colour."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus, _STYLE.sub("", str(self.child.before).replace("\r\n", "\n"))
