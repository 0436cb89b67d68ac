"""Capture: what functions do during a `with` block, and what they consist of, in one folder.

saved_model.pb                        the functions that were called, as a SavedModel
debug/saved_model_debug_info.pb       the lines of the program that created their nodes
plugins/profile/TIME/HOST.xplane.pb   what ran when, as TensorFlow's profiler writes it
tfprof_notes.txt                      what could not be captured, if anything

The program marks each step with `with run.step():`. It always goes on: what fails here is a note.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import keras_models
from tfprof.capture.debug_info import embedded, without_source
from tfprof.capture.problems import Problems
from tfprof.capture.saved_model import NO_LINES, made_by_capture, saved_model_of
from tfprof.capture.tensorflow_internals import (
    Internal,
    MethodHook,
    Part,
    call_method,
    require_tensorflow,
)
from tfprof.capture.trace_files import NewTraces, traces_in
from tfprof.capture.traced_functions import Traced, model_here, python_name, stack_here
from tfprof.capture.variables import is_variable
from tfprof.console.stdio import print_notes
from tfprof.errors import OutputError, TfprofError, UsageError
from tfprof.foundation.arguments import path
from tfprof.foundation.stack_files import embeds, without_folders
from tfprof.io.open_files import mapped, open_source
from tfprof.io.write_files import make_folder, write_file
from tfprof.model import Note
from tfprof.read.capture_notes import notes_as_bytes
from tfprof.tables.formats import NOTES

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

_GRAPH: Final = "saved_model.pb"
_LINES: Final = "debug/saved_model_debug_info.pb"
_EVERY_OPERATION: Final = 3
_STEP: Final = "step"
_NO_TRACE: Final = "the trace is missing"
_NO_FUNCTIONS: Final = "the functions are missing"
_NO_STEPS: Final = "steps are missing"

# TensorFlow has one profiler per process, and one class of functions.
_capturing = Lock()


class _Calls:
    """The functions that Python calls between `begin` and `end`, each once.

    All calls go through one method of TensorFlow. What functions call is in their graphs, so calls
    that are traced into a graph are not recorded.
    """

    def __init__(self, problems: Problems) -> None:
        self._called: dict[bytes, Traced] = {}
        self._hook: MethodHook | None = None
        self._problems = problems

    def begin(self) -> None:
        """Record all calls from now on; `require_tensorflow` comes first."""
        self._hook = MethodHook(*call_method(), self._record)

    def end(self) -> None:
        """Stop recording; may be called twice."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def functions(self) -> list[Traced]:
        """The recorded functions, in the order of their first calls."""
        functions = []
        for traced in self._called.values():
            with self._problems.noted(f"the function {traced.name} is missing"):
                functions.append(_traced(traced))
        return functions

    def _record(
        self, original: Callable[..., Any], function: Any, *inputs: Any, **named: Any
    ) -> Any:
        import tensorflow as tf  # noqa: PLC0415 - it calls this

        with self._problems.noted("some functions are missing"):
            name = Internal.NAME.of(function)
            if name not in self._called and tf.executing_eagerly():
                # Handles identify the variables; other inputs are not kept alive.
                handles = {place: value for place, value in enumerate(inputs) if is_variable(value)}
                called = Traced(python_name(name), function, handles, stack_here(), model_here())
                self._called[name] = called
        return original(function, *inputs, **named)


def _traced(traced: Traced) -> Traced:
    """A recorded function, with all captured values that are known."""
    graph = Internal.GRAPH.of(traced.function)
    places = {id(tensor): place for place, tensor in enumerate(Internal.INPUTS.of(graph))}
    captured = dict(traced.captured)
    for outer, inner in Internal.CAPTURES.of(graph):
        if id(inner) in places and hasattr(outer, "numpy"):
            captured.setdefault(places[id(inner)], outer)
    return traced._replace(captured=captured)


class Capture:
    """Captures into *folder* what runs in a with statement; `tfprof.load(folder)` reads it.

    The folder has every function that is called inside, with times, shapes, variables and the
    lines of the program. With *python*, the trace has the calls of Python functions, too; it
    becomes far larger. Without *source*, the folder has no source text and no absolute path of a
    source file. The folder may be that of an earlier capture, but no other SavedModel.
    If the program raises an exception inside, nothing is written. If part of the capture fails,
    the program goes on: it gets one warning, and the folder has the rest and a note.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, python: bool = False, source: bool = True
    ) -> None:
        self.folder = path("folder", folder)
        if not self.folder:
            raise UsageError("the path of the folder to capture into is empty")
        self._python, self._source = python, source
        self._problems = Problems()
        self._calls = _Calls(self._problems)
        self._steps = 0
        self._entered = False
        self._records = self._may_write = True  # the functions; saved_model.pb
        self._new_folders: list[Path] = []  # innermost first
        self._new_traces = NewTraces(self.folder)
        self.model: Any = None  # the Keras model that runs, if known

    def __enter__(self) -> Capture:  # noqa: PYI034 - Self is not in Python 3.10
        tf = require_tensorflow("a capture")
        if not _capturing.acquire(blocking=False):
            raise UsageError("a capture is already running: only one can run at a time")
        self._problems = Problems()
        self._calls = _Calls(self._problems)
        try:
            with self._problems.noted("the folder is not prepared", unless=TfprofError):
                self._prepare()
            self._records = False
            with self._problems.noted(_NO_FUNCTIONS):
                require_tensorflow("a capture", Part.FUNCTIONS)
                self._calls.begin()
                self._records = True
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
        """Stop capturing and write the folder."""
        with self._ending() as tf:
            self._write(tf)

    def drop(self) -> None:
        """Stop capturing and write nothing."""
        with self._ending() as tf:
            with suppress(Exception):
                tf.profiler.experimental.stop(save=False)
            self._remove_folders()

    @contextmanager
    def step(self, number: int | None = None) -> Iterator[int]:
        """One step of the run: all calls inside belong to it. Steps are counted from 0."""
        number = self._steps if number is None else number
        self._steps = number + 1
        marker = ExitStack()
        with self._problems.noted(_NO_STEPS):
            trace = require_tensorflow("a capture").profiler.experimental.Trace
            # `tfprof_step` marks our steps: Keras 2 has markers too, and counts batches by epoch.
            marker.enter_context(trace(_STEP, step_num=number, tfprof_step=number, _r=1))
        try:
            yield number
        finally:
            with self._problems.noted(_NO_STEPS):
                marker.close()

    def _prepare(self) -> None:
        """Make the folder; raises OutputError if it holds a model that no capture wrote."""
        folder = Path(self.folder)
        self._new_folders = [place for place in (folder, *folder.parents) if not place.exists()]
        make_folder(self.folder)
        file = Path(self.folder, _GRAPH)
        is_ours = self._may_write = True
        if file.exists():
            # If this cannot be found out, the file stays as it is.
            self._may_write = False
            with self._problems.noted(_NO_FUNCTIONS):
                is_ours = made_by_capture(open_source(str(file), "a SavedModel").data)
                self._may_write = is_ours
        if not is_ours:
            raise OutputError(
                f"{file} was not written by a capture: capture into another folder, to keep it"
            )

    def _remove_folders(self) -> None:
        """Remove the new folders, unless they contain something by now."""
        with suppress(OSError):
            for folder in self._new_folders:
                folder.rmdir()

    def _start(self, tf: Any) -> None:  # a module without types
        is_busy = False
        with self._problems.noted(_NO_TRACE):
            self._new_traces.begin()
            options = tf.profiler.experimental.ProfilerOptions(
                host_tracer_level=_Level(_EVERY_OPERATION),
                python_tracer_level=_Level(int(self._python)),
                device_tracer_level=_Level(1),
                delay_ms=_Level(0),
            )
            try:
                tf.profiler.experimental.start(self.folder, options)
            except tf.errors.AlreadyExistsError:
                is_busy = True
        if is_busy:
            raise UsageError("TensorFlow's profiler is already running: stop it first")

    @contextmanager
    def _ending(self) -> Iterator[Any]:
        """Remove our hook and yield the tensorflow module; then allow another capture."""
        if not self._entered:
            raise UsageError("this capture was not entered: use it in a with statement")
        self._entered = False
        self._calls.end()
        try:
            yield require_tensorflow("a capture")
        finally:
            _capturing.release()

    def _write(self, tf: Any) -> None:
        noted = self._problems.noted
        with noted("what was still running is missing"):
            tf.test.experimental.sync_devices()
        self._write_trace(tf)
        if not self._source:
            with noted("traces may contain absolute paths"):  # programs of XLA have them
                for file in traces_in(self.folder):
                    data = mapped(str(file)).tobytes()
                    if (short := without_folders(data)) != data:
                        write_file(str(file), [short])
        parts: dict[str, Any] = {}
        if self.model is not None:
            with noted("it is unknown which variables are weights of the model"):
                parts["trained"] = keras_models.weights(self.model)
            with noted("the names of layers are missing"):
                parts["layers"] = keras_models.layers(self.model)
        if self._may_write:
            # Functions of an earlier capture do not belong to this trace, nor their lines to ours.
            for name, what in ((_GRAPH, _NO_FUNCTIONS), (_LINES, NO_LINES)):
                with noted(what), suppress(FileNotFoundError, NotADirectoryError):
                    Path(self.folder, name).unlink()
            if self._records:
                with noted(_NO_FUNCTIONS):
                    self._write_functions(parts)
        with noted("the notes are not in the folder"):
            self._write_notes()
        self._problems.warn(f"the capture in {self.folder} is incomplete")

    def _write_trace(self, tf: Any) -> None:
        noted, known = self._problems.noted, len(self._problems.sentences)
        with noted(_NO_TRACE):
            tf.profiler.experimental.stop()
        with noted("it is unknown whether the trace is whole"):
            for sentence in self._new_traces.without_damaged():
                if known == len(self._problems.sentences):  # else TensorFlow said it
                    self._problems.add(f"{_NO_TRACE}: {sentence}")

    def _write_functions(self, model_parts: dict[str, Any]) -> None:
        functions = self._calls.functions()
        try:
            model, lines = saved_model_of(functions, problems=self._problems, **model_parts)
        except Exception:  # noqa: BLE001 - the others may be whole
            functions = [traced for traced in functions if self._is_whole(traced)]
            model, lines = saved_model_of(functions, problems=self._problems, **model_parts)
        with self._problems.noted(NO_LINES):
            lines = lines if self._source else without_source(lines)
            make_folder(str(Path(self.folder, _LINES).parent))
            write_file(str(Path(self.folder, _LINES)), [lines])
            if what := embedded(lines):
                print_notes([Note(f"tfprof: {embeds(self.folder, what, 'source=False')}")])
        write_file(str(Path(self.folder, _GRAPH)), [model])

    def _is_whole(self, traced: Traced) -> bool:
        """Whether a function can be written; if not, it is a problem."""
        with self._problems.noted(f"the function {traced.name} is missing"):
            saved_model_of([traced], problems=Problems())
            return True
        return False

    def _write_notes(self) -> None:
        assert NOTES.beside is not None
        file = Path(self.folder, NOTES.beside[1])
        if self._problems.sentences:
            sentences = (f"the capture is incomplete: {text}" for text in self._problems.sentences)
            write_file(str(file), [notes_as_bytes(sentences)])
        else:
            file.unlink(missing_ok=True)


class _Level:
    """An integer that is not an int: TensorFlow 2.21 mistakes an int for a bool and ignores it."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value
