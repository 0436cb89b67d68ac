"""A callback of Keras that captures some batches of `fit`, `evaluate` or `predict`.

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

from tfprof.capture.folder import Capture
from tfprof.capture.streams import tell
from tfprof.errors import UsageError
from tfprof.foundation.arguments import whole_number
from tfprof.model import Note

if TYPE_CHECKING:
    import os

_WARM: Final = (5, 8)
_TRAINING: Final = "training"
_KERAS_NAME: Final = {_TRAINING: "train", "evaluation": "test", "prediction": "predict"}


def capture_callback(
    folder: str | os.PathLike[str], *, batches: tuple[int, int] = _WARM, python: bool = False
) -> Any:  # noqa: ANN401 - a keras.callbacks.Callback
    """A callback that captures the first to the last of *batches* into *folder*.

    It is for `fit`, `evaluate` and `predict`. Batches are counted from 0, on and on over the
    epochs; each is a step of the capture, or as many as Keras runs at once. Where Keras knows that
    there are fewer, the last ones are taken. The rest is as in `capture`.
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
    """What the callback does; Keras calls these methods through those of the class below."""

    def __init__(self, capture: Capture, first: int, last: int) -> None:
        super().__init__()
        self._capture, self._asked = capture, (first, last)
        self._first, self._last = first, last
        self._work = ""  # what is going on: Keras evaluates in the midst of training, too
        self._begun = self._done = 0  # batches before this epoch, and in all
        self._step = ExitStack()
        # Keras does not say when training fails: what it left open is dropped with the callback.
        self._open: Any = None

    def begin(self, work: str) -> None:
        """Count from here on; what failed before and was left open is dropped."""
        if self._work == _TRAINING and work != _TRAINING:
            return
        self._work, self._begun, self._done = work, 0, 0
        self._first, self._last = self._asked
        self._drop()
        if work != _TRAINING:
            self._choose(1)

    def begin_epoch(self, epoch: int) -> None:
        """Keras numbers batches from 0 in each epoch, and here they go on."""
        if not self._done:
            self._choose(_keras_number(self, "epochs") - epoch)
        self._begun = self._done

    def begin_batch(self, work: str, batch: int) -> None:
        """Begin with the first batch, and each step with its batch, or the batches run at once."""
        if work != self._work:
            return
        number = self._begun + batch
        at_once = max(getattr(getattr(self, "model", None), "steps_per_execution", 1), 1)
        if self._open is None and self._first < number + at_once and number <= self._last:
            self._capture.model = getattr(self, "model", None)
            self._capture.__enter__()
            self._open = weakref.finalize(self, self._capture.drop)
        if self._open is not None:
            self._step.enter_context(self._capture.step(number))

    def end_batch(self, work: str, batch: int) -> None:
        """End each step with its batch, and write after the last one."""
        if work != self._work:
            return
        self._step.close()
        self._done = self._begun + batch + 1
        if self._done > self._last:
            self._finish()

    def end(self, work: str) -> None:
        """Write what there is, where there were fewer batches."""
        if work != self._work:
            return
        self._work = ""
        if self._done > self._first:
            self._finish()
            # A batch that data ran out in is begun, and as it is not ended it is no step.
            self._step.close()
        else:
            self._drop()
            tell(
                [
                    Note(
                        f"tfprof: nothing was captured: {work} had {_counted(self._done)}, and the "
                        f"first to capture is batch {self._first}, counted from 0"
                    )
                ]
            )

    def _choose(self, epochs: int) -> None:
        """Where it is known that there are fewer batches, take the last ones instead."""
        count = epochs * _keras_number(self, "steps")
        if not 0 < count <= self._first:
            return
        asked = f"{self._first} to {self._last}"
        # The first batch is slow, so it is left out where there are others.
        first = max(count - 1 - self._last + self._first, min(1, count - 1))
        self._first, self._last = first, count - 1
        tell(
            [
                Note(
                    f"tfprof: {self._work} has {_counted(count)}: instead of {asked}, "
                    f"{first} to {count - 1} are captured"
                )
            ]
        )

    def _drop(self) -> None:
        self._step.close()
        if self._open is not None:
            self._open()
            self._open = None

    def _finish(self) -> None:
        if self._open is not None:
            self._open.detach()
            self._open = None
            self._capture.finish()


def _keras_number(callback: Any, name: str) -> int:  # noqa: ANN401 - a callback of Keras
    """A number that Keras tells its callbacks; 0 where it does not know it."""
    return (getattr(callback, "params", None) or {}).get(name) or 0


def _counted(batches: int) -> str:
    return "1 batch" if batches == 1 else f"{batches} batches"


def _methods(work: str) -> dict[str, Any]:
    """The methods that Keras calls while it does this *work*."""
    return {
        f"on_{_KERAS_NAME[work]}_begin": lambda self, *_, **__: self.begin(work),
        f"on_{_KERAS_NAME[work]}_batch_begin": (
            lambda self, batch, *_, **__: self.begin_batch(work, batch)
        ),
        f"on_{_KERAS_NAME[work]}_batch_end": (
            lambda self, batch, *_, **__: self.end_batch(work, batch)
        ),
        f"on_{_KERAS_NAME[work]}_end": lambda self, *_, **__: self.end(work),
    }


@cache
def _callback_class() -> type[Any]:
    """The class of the callback."""
    name = next((one for one in ("keras", "tf_keras") if one in sys.modules), "keras")
    try:
        keras = import_module(name)
    except ModuleNotFoundError:
        raise UsageError("a callback needs Keras, which is not installed") from None
    methods = {name: one for work in _KERAS_NAME for name, one in _methods(work).items()}
    methods["on_epoch_begin"] = lambda self, epoch, *_, **__: self.begin_epoch(epoch)
    return type("CaptureCallback", (_Batches, keras.callbacks.Callback), methods)
