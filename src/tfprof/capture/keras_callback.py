"""A Keras callback that captures some batches of `fit`, `evaluate` or `predict`.

model.fit(data, callbacks=[tfprof.capture_callback("log", batches=(5, 8))])

The first batches are slow, because Keras traces functions in them; so the capture begins later.
The class derives from the callback class of every Keras that the program has loaded. Whatever fails
in a capture is a warning, and training goes on.
"""

from __future__ import annotations

import sys
import weakref
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture.folder import Capture
from tfprof.capture.problems import reason, warn
from tfprof.capture.tensorflow_internals import Internal
from tfprof.console.stdio import print_notes
from tfprof.errors import UsageError
from tfprof.foundation.arguments import whole_number
from tfprof.foundation.units import plural
from tfprof.model import Note

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

_WARM: Final = (5, 8)
_TRAINING: Final = "training"
_BATCH: Final = ("batch", "batches")
_KERAS_NAME: Final = {_TRAINING: "train", "evaluation": "test", "prediction": "predict"}


def capture_callback(
    folder: str | os.PathLike[str],
    *,
    batches: tuple[int, int] = _WARM,
    python: bool = False,
    source: bool = True,
) -> Any:  # a keras.callbacks.Callback
    """A callback that captures the first to the last of *batches* into *folder*.

    It works with `fit`, `evaluate` and `predict`. Batches are counted from 0 over all epochs. Each
    is a step of the capture, or as many as Keras runs in one call. If Keras knows that there are
    fewer, the callback captures the last ones. All else is as in `capture`.
    """
    try:
        first, last = batches
    except (TypeError, ValueError):
        raise UsageError(f"batches takes the first and the last batch, not {batches!r}") from None
    first, last = (whole_number("batches", number, least=0) for number in (first, last))
    if last < first:
        raise UsageError(f"batches takes the first and the last batch: {last} is before {first}")
    # TensorFlow loads keras, too, if the program uses tf_keras.
    modules = [name for name in ("keras", "tf_keras") if name in sys.modules] or ["keras"]
    return _callback_class(*modules)(Capture(folder, python=python, source=source), first, last)


class _Batches:
    """The work of the callback; the methods that Keras calls are in the class below."""

    def __init__(self, capture: Capture, first: int, last: int) -> None:
        super().__init__()
        self._capture, self._asked = capture, (first, last)
        self._first, self._last = first, last
        self._work = ""  # what is going on; Keras also evaluates during training
        self._begun = self._done = 0  # batches before this epoch, and in all
        self._step = ExitStack()
        # Keras does not report a failed training: an open capture is dropped with the callback.
        self._open: Any = None

    def begin(self, work: str) -> None:
        """Start to count."""
        if self._work == _TRAINING and work != _TRAINING:
            return
        self._drop()
        self._work, self._begun, self._done = work, 0, 0
        self._first, self._last = self._asked
        if work != _TRAINING:
            self._choose(1)

    def begin_epoch(self, epoch: int) -> None:
        """Continue the count: Keras numbers batches from 0 in each epoch."""
        if not self._done:
            self._choose(_keras_number(self, "epochs") - epoch)
        self._begun = self._done

    def begin_batch(self, work: str, batch: int) -> None:
        """Begin the capture with the first batch, and a step with each batch or call of Keras."""
        if work != self._work:
            return
        number = self._begun + batch
        model = getattr(self, "model", None)
        per_call = max(int(Internal.BATCHES_PER_CALL.of(model, None) or 1), 1)
        if self._open is None and self._first < number + per_call and number <= self._last:
            self._capture.model = model
            self._capture.__enter__()
            self._open = weakref.finalize(self, self._capture.drop)
        if self._open is not None:
            self._step.enter_context(self._capture.step(number))

    def end_batch(self, work: str, batch: int) -> None:
        """End the step, and write the folder after the last one."""
        if work != self._work:
            return
        self._step.close()
        self._done = self._begun + batch + 1
        if self._done > self._last:
            self._finish()

    def end(self, work: str) -> None:
        """Write the steps so far, if there were fewer batches."""
        if work != self._work:
            return
        self._work = ""
        if self._done > self._first:
            self._finish()
            # A batch in which the data ran out is begun and never ended: it is no step.
            self._step.close()
        else:
            self._drop()
            _print(
                f"nothing was captured: {work} had {plural(self._done, *_BATCH)}, and the first to "
                f"capture is batch {self._first}, counted from 0"
            )

    def _choose(self, epochs: int) -> None:
        """Choose the last batches instead, if Keras knows that there are too few."""
        count = epochs * _keras_number(self, "steps")
        if not 0 < count <= self._first:
            return
        asked = f"{self._first} to {self._last}"
        # The first batch is slow, so it is left out if there are others.
        first = max(count - 1 - self._last + self._first, min(1, count - 1))
        self._first, self._last = first, count - 1
        _print(
            f"{self._work} has {plural(count, *_BATCH)}: capturing {first} to {count - 1} "
            f"instead of {asked}"
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

    def give_up(self, problem: Exception) -> None:
        """Warn of a problem, and capture no further batch."""
        self._first = self._last = -1
        with suppress(Exception):
            self._drop()
        warn(f"nothing was captured: {reason(problem)}")


def _print(sentence: str) -> None:
    print_notes([Note(f"tfprof: {sentence}")])


def _keras_number(callback: Any, name: str) -> int:  # a callback of Keras
    """A parameter that Keras gives to its callbacks; 0 if unknown."""
    return (getattr(callback, "params", None) or {}).get(name) or 0


def _methods(work: str) -> dict[str, Any]:
    name = _KERAS_NAME[work]
    methods: dict[str, Callable[..., None]] = {
        f"on_{name}_begin": lambda self, *_, **__: self.begin(work),
        f"on_{name}_batch_begin": lambda self, batch, *_, **__: self.begin_batch(work, batch),
        f"on_{name}_batch_end": lambda self, batch, *_, **__: self.end_batch(work, batch),
        f"on_{name}_end": lambda self, *_, **__: self.end(work),
    }
    return {name: _safe(method) for name, method in methods.items()}


def _safe(method: Callable[..., None]) -> Callable[..., None]:
    """A method of the callback that never stops the training."""

    def safe(self: Any, *args: Any, **kwargs: Any) -> None:  # as Keras calls it
        try:
            method(self, *args, **kwargs)
        except Warning:  # the program turns warnings into errors
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, training is worth more
            self.give_up(problem)

    return safe


@cache
def _callback_class(*modules: str) -> type[Any]:
    """The class of the callback, for models of any of these modules."""
    try:
        bases = [import_module(name).callbacks.Callback for name in modules]
    except ModuleNotFoundError:
        raise UsageError("a callback needs Keras, which is not installed") from None
    methods = {name: method for work in _KERAS_NAME for name, method in _methods(work).items()}
    methods["on_epoch_begin"] = _safe(lambda self, epoch, *_, **__: self.begin_epoch(epoch))
    return type("CaptureCallback", (_Batches, *bases), methods)
