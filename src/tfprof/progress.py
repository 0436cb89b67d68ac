"""A line on the terminal saying what is being done, once that has taken a second."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.2
_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Tell it each stage; it draws only on a terminal, and cleans up behind itself."""

    def __init__(self) -> None:
        self._stage = ""
        self._began = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Progress:  # noqa: PYI034 - Self is not in Python 3.10
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def __call__(self, stage: str) -> None:
        """Name what is done from now on."""
        self._stage = stage

    def _draw(self) -> None:
        if self._done.wait(_QUIET_SECONDS):
            return
        while True:
            seconds = time.monotonic() - self._began
            sys.stderr.write(f"{_CLEAR_LINE}tfprof: {self._stage} ({seconds:.0f} s)")
            sys.stderr.flush()
            if self._done.wait(_REDRAW_SECONDS):
                break
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()
