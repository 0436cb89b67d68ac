"""capture(): what functions do in a while, and all there is to know of them, in one folder.

saved_model.pb                        the functions that were called, as a SavedModel
debug/saved_model_debug_info.pb       the lines of the program that made their nodes
plugins/profile/TIME/HOST.xplane.pb   what ran when, as TensorFlow's profiler writes it

Steps are told by `with run.step():` around each.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import keras_models
from tfprof.capture.called import Calls
from tfprof.capture.needed import tensorflow
from tfprof.capture.saved_model import made_by_capture, saved_model_of
from tfprof.errors import OutputError, UsageError
from tfprof.foundation.arguments import path
from tfprof.io.files import make_folder, write_whole
from tfprof.io.open_files import open_source

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_GRAPH: Final = "saved_model.pb"
_LINES: Final = "debug/saved_model_debug_info.pb"
_EVERY_OPERATION: Final = 3
_STEP: Final = "step"

# TensorFlow has one profiler, and its classes are everybody's.
_capturing = Lock()


class Capture:
    """What is captured while it is entered; `capture` makes one."""

    def __init__(self, folder: str | os.PathLike[str], *, python: bool = False) -> None:
        self.folder = path("folder", folder)
        if not self.folder:
            raise UsageError("the path of the folder to capture into is empty")
        self._python = python
        self._calls = Calls()
        self._steps = 0
        self._entered = False
        self._made: list[Path] = []  # the folders that were not there, the innermost first
        self.model: Any = None  # the Keras model that runs, where that is known

    def __enter__(self) -> Capture:  # noqa: PYI034 - Self is not in Python 3.10
        tf = _tensorflow()
        if not _capturing.acquire(blocking=False):
            raise UsageError("there is a capture already: one can go on at a time")
        try:
            self._prepare()
            self._calls = Calls()
            self._calls.begin()
            self._start(tf)
        except BaseException:
            self._calls.end()
            self._remove_folders()
            _capturing.release()
            raise
        self._entered = True
        return self

    def __exit__(self, *problem: object) -> None:
        if problem == (None, None, None):
            self.finish()
        else:
            self.drop()

    def finish(self) -> None:
        """Stop capturing, and write the folder."""
        with self._ending() as tf:
            self._write(tf)

    def drop(self) -> None:
        """Stop capturing, and keep nothing."""
        with self._ending() as tf:
            with suppress(tf.errors.OpError):
                tf.profiler.experimental.stop(save=False)
            self._remove_folders()

    @contextmanager
    def step(self, number: int | None = None) -> Iterator[int]:
        """A step of the run: what is called inside belongs to it. Steps are counted from 0."""
        number = self._steps if number is None else number
        self._steps = number + 1
        with _tensorflow().profiler.experimental.Trace(_STEP, step_num=number, _r=1):
            yield number

    def _prepare(self) -> None:
        """Make the folder; raises OutputError where it holds a model that is not of a capture."""
        folder = Path(self.folder)
        self._made = [one for one in (folder, *folder.parents) if not one.exists()]
        make_folder(self.folder)
        file = Path(self.folder, _GRAPH)
        if not file.exists() or made_by_capture(_content(str(file))):
            return
        raise OutputError(
            f"{file} is not of a capture, and is not overwritten: capture into another folder"
        )

    def _remove_folders(self) -> None:
        """Remove the folders that were made, unless somebody put something into them."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def _start(self, tf: Any) -> None:  # noqa: ANN401 - a module without types
        options = tf.profiler.experimental.ProfilerOptions(
            host_tracer_level=_Level(_EVERY_OPERATION),
            python_tracer_level=_Level(int(self._python)),
            device_tracer_level=_Level(1),
            delay_ms=_Level(0),
        )
        try:
            tf.profiler.experimental.start(self.folder, options)
        except tf.errors.AlreadyExistsError:
            raise UsageError(
                "TensorFlow's profiler runs already: stop it first, it does one thing at a time"
            ) from None

    @contextmanager
    def _ending(self) -> Iterator[Any]:
        """TensorFlow, with nothing of it replaced; and afterwards others may capture."""
        if not self._entered:
            raise UsageError("this capture was not entered: use it in a with statement")
        self._entered = False
        self._calls.end()
        try:
            yield _tensorflow()
        finally:
            _capturing.release()

    def _write(self, tf: Any) -> None:  # noqa: ANN401
        with suppress(AttributeError):  # older versions have no such call, and wait for less
            tf.test.experimental.sync_devices()
        try:
            tf.profiler.experimental.stop()
        except tf.errors.OpError as problem:
            raise OutputError(f"the trace cannot be written: {problem.message}") from None
        weights = None if self.model is None else keras_models.weights(self.model)
        model, lines = saved_model_of(self._calls.functions(), trained=weights)
        make_folder(str(Path(self.folder, _LINES).parent))
        write_whole(str(Path(self.folder, _LINES)), [lines])
        write_whole(str(Path(self.folder, _GRAPH)), [model])


def capture(folder: str | os.PathLike[str], *, python: bool = False) -> Capture:
    """Capture into *folder* what runs in a with statement; `tfprof.load(folder)` reads it.

    Every function that is called inside is there, with times, shapes, variables and the lines of
    the program. With *python*, the trace has the calls of Python, too; it becomes far larger.
    A folder that a capture was written to gets the new one; a SavedModel is not overwritten.
    Where the program fails inside, nothing is written.
    """
    return Capture(folder, python=python)


class _Level:
    """A whole number, told as such: TensorFlow 2.21 takes an int for a bool and ignores it."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


def _content(file: str) -> bytes:
    return open_source(file, "a SavedModel").data.tobytes()


def _tensorflow() -> Any:  # noqa: ANN401 - a module without types
    return tensorflow("a capture")
