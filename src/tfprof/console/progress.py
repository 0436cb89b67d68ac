"""A line on the terminal saying what is being done and how far it is, once that takes a second.

tfprof: reading run_meta_3 (4 of 100) 37% 210 MB/s
tfprof: unpacking graph.pb.gz 62% 94 MB/s
tfprof: writing timeline.json_0 120 MB
tfprof: answering graph (3 s)

Another thread draws it, so what is told to it costs nothing; it is wiped away at the end.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from tfprof.foundation.progress_events import Stage, listening

if TYPE_CHECKING:
    from types import TracebackType

_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.2
_CLEAR_LINE = "\r\x1b[K"
_MEGA = 1e6
_COLUMNS = 80  # of a terminal that does not say how wide it is


class Progress:
    """Tell it each stage; it draws only on a terminal, and cleans up behind itself."""

    def __init__(self) -> None:
        self._stage = ""
        self._began = time.monotonic()
        self._counted_from = self._began, ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._listens = ExitStack()

    def __enter__(self) -> Progress:  # noqa: PYI034 - Self is not in Python 3.10
        self._listens.enter_context(listening(self))
        if sys.stderr.isatty():
            _drawing.append(self)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listens.close()
        self._stop()

    def _stop(self) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
        if self in _drawing:
            _drawing.remove(self)

    def __call__(self, stage: str) -> None:
        """Name what is done from now on."""
        if stage == self._stage and _done(stage) < _done(self._stage):
            return  # a file is gone through more than once
        doing = stage.partition(" ")[0]
        if doing != self._counted_from[1]:
            # Bytes that are read are none that were unpacked: each has its own clock.
            self._counted_from = time.monotonic(), doing
        self._stage = stage

    def _draw(self) -> None:
        with suppress(OSError):  # the terminal is gone: no reason to stop
            self._draw_till_done()

    def _draw_till_done(self) -> None:
        if self._done.wait(_QUIET_SECONDS):
            return
        while True:
            now = time.monotonic()
            text = line(self._stage, now - self._began, now - self._counted_from[0])
            sys.stderr.write(f"{_CLEAR_LINE}{_fitted(text, _width())}")
            sys.stderr.flush()
            if self._done.wait(_REDRAW_SECONDS):
                break
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()


_drawing: list[Progress] = []


def stop_drawing() -> None:
    """Stop what an interrupt kept from stopping, or from beginning, by itself."""
    while _drawing:
        _drawing[-1]._stop()  # noqa: SLF001 - a part of the class


def _done(stage: str) -> int:
    return stage.done if isinstance(stage, Stage) else 0


def line(stage: str, seconds: float, of_bytes: float) -> str:
    """What to show of *stage* after so many seconds in all, and so many since bytes count."""
    done, total = (stage.done, stage.total) if isinstance(stage, Stage) else (0, 0)
    rate = f"{done / _MEGA / max(of_bytes, 1e-9):.0f} MB/s"
    if done and total:
        return f"tfprof: {stage} {done / total:.0%} {rate}"
    if done:
        return f"tfprof: {stage} {done / _MEGA:.0f} MB"
    size = f" {total / _MEGA:.0f} MB" if total >= _MEGA else ""
    return f"tfprof: {stage}{size} ({seconds:.0f} s)"


def _fitted(text: str, columns: int) -> str:
    """*text* on one line of the terminal; of what is too long, the beginning and the end."""
    text = "".join(one if one.isprintable() else "?" for one in text)
    if len(text) < columns:
        return text
    kept = max(columns - 2, 0)
    return f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except OSError:
        return _COLUMNS
