"""A callback of Keras that captures some batches of `fit`.

model.fit(data, callbacks=[tfprof.capture_callback("log", batches=(5, 8))])

The first batches are slow, because functions are traced in them; so capturing begins later. The
class is made when it is asked for, from that of whichever Keras the program uses.
"""

from __future__ import annotations

import sys
import weakref
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tfprof.arguments import whole_number
from tfprof.capture.folder import Capture
from tfprof.capture.streams import tell
from tfprof.errors import UsageError
from tfprof.model import Note

if TYPE_CHECKING:
    import os

_WARM: Final = (5, 8)


def capture_callback(
    folder: str | os.PathLike[str], *, batches: tuple[int, int] = _WARM, python: bool = False
) -> Any:  # noqa: ANN401 - a keras.callbacks.Callback
    """A callback that captures the first to the last of *batches* of `fit` into *folder*.

    Batches are counted from 0, on and on over the epochs; each is a step of the capture. The rest
    is as in `capture`.
    """
    try:
        first, last = batches
    except (TypeError, ValueError):
        raise UsageError(f"batches takes the first and the last batch, not {batches!r}") from None
    first, last = (whole_number("batches", one, least=0) for one in (first, last))
    if last < first:
        raise UsageError(f"batches takes the first and the last batch: {last} is before {first}")
    return _callback_class()(Capture(folder, python=python), first, last)


class _Batches:
    """What the callback does; Keras calls these methods."""

    def __init__(self, capture: Capture, first: int, last: int) -> None:
        super().__init__()
        self._capture, self._first, self._last = capture, first, last
        self._batch = 0
        self._step = ExitStack()
        # Keras does not say when training fails: what it left open is dropped with the callback.
        self._open: Any = None

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ANN401, ARG002
        """Count from here on; what training that failed left open is dropped."""
        self._batch = 0
        self._step.close()
        if self._open is not None:
            self._open()
            self._open = None

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ANN401, ARG002
        """Begin at the first batch, and each step with its batch."""
        if self._batch == self._first:
            self._capture.__enter__()
            self._open = weakref.finalize(self, self._capture.drop)
        if self._open is not None:
            self._step.enter_context(self._capture.step(self._batch))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ANN401, ARG002
        """End each step with its batch, and write after the last one."""
        self._step.close()
        if self._batch == self._last:
            self._finish()
        self._batch += 1

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ANN401, ARG002
        """Write what there is, where training was shorter."""
        self._finish()
        if self._batch <= self._first:
            batches = f"training had {self._batch} batches, and the first to capture is"
            tell([Note(f"tfprof: nothing was captured: {batches} {self._first}")])

    def _finish(self) -> None:
        if self._open is not None:
            self._open.detach()
            self._open = None
            self._capture.finish()


@cache
def _callback_class() -> type[Any]:
    """The class of the callback."""
    name = next((one for one in ("keras", "tf_keras") if one in sys.modules), "keras")
    try:
        keras = import_module(name)
    except ModuleNotFoundError:
        raise UsageError("a callback needs Keras, which is not installed") from None
    return type("CaptureCallback", (_Batches, keras.callbacks.Callback), {})
