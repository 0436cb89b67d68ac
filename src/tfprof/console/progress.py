"""A progress line on the terminal, for work that takes more than a second.

tfprof: reading run_meta_3 (4 of 100) 37% 210 MB/s
tfprof: unpacking graph.pb.gz 62% 94 MB/s
tfprof: writing timeline.json_0 120 MB
tfprof: answering graph (3 s)

Another thread draws it, so naming a stage costs nothing; it disappears at the end.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, suppress

from tfprof.console.stdio import draw_status, stderr_is_terminal
from tfprof.foundation.progress_events import Stage, listening

_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.2
_MEGA = 1e6


class Progress:
    """Call it with each stage; it draws only on a terminal, and clears its line at the end."""

    def __init__(self) -> None:
        self._stage = ""
        self._began = time.monotonic()
        self._counted_from = self._began, ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._listens = ExitStack()

    def __enter__(self) -> Progress:  # noqa: PYI034 - Self is not in Python 3.10
        self._listens.enter_context(listening(self))
        if stderr_is_terminal():
            _drawing.append(self)
            with suppress(RuntimeError):  # no more threads: then nothing is drawn
                self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listens.close()
        self._stop()

    def _stop(self) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
        if self in _drawing:
            _drawing.remove(self)

    def __call__(self, stage: str) -> None:
        """Name what happens from now on."""
        done, known = (getattr(each, "done", 0) for each in (stage, self._stage))
        if stage == self._stage and done < known:
            return  # some files are read more than once
        doing = stage.partition(" ")[0]
        if doing != self._counted_from[1]:
            # Bytes read are not bytes unpacked: each has its own clock.
            self._counted_from = time.monotonic(), doing
        self._stage = stage

    def _draw(self) -> None:
        pause = _QUIET_SECONDS
        with suppress(OSError):  # a terminal that is gone does not stop the work
            while not self._done.wait(pause):
                now = time.monotonic()
                draw_status(line(self._stage, now - self._began, now - self._counted_from[0]))
                pause = _REDRAW_SECONDS
            if pause == _REDRAW_SECONDS:
                draw_status("")


_drawing: list[Progress] = []


def stop_drawing() -> None:
    """Stop drawing where an interrupt kept a Progress from starting or stopping itself."""
    while _drawing:
        _drawing[-1]._stop()  # noqa: SLF001 - a part of the class


def line(stage: str, seconds: float, of_bytes: float) -> str:
    """The line for *stage*: *seconds* since it began, *of_bytes* since its first byte."""
    done, total = (stage.done, stage.total) if isinstance(stage, Stage) else (0, 0)
    rate = f"{done / _MEGA / max(of_bytes, 1e-9):.0f} MB/s"
    if done and total:
        return f"tfprof: {stage} {done / total:.0%} {rate}"
    if done:
        return f"tfprof: {stage} {done / _MEGA:.0f} MB"
    size = f" {total / _MEGA:.0f} MB" if total >= _MEGA else ""
    return f"tfprof: {stage}{size} ({seconds:.0f} s)"
