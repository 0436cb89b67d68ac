"""A capture never breaks the program that it looks at: its own failures are warnings and notes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof
from printed import printed
from tfprof.capture import debug_info, folder, keras_models, saved_model, variables
from tfprof.io.write_files import write_file

if TYPE_CHECKING:
    from pathlib import Path

profiler = tf.profiler.experimental
FAULTS: Final[dict[str, tuple[Any, str]]] = {
    "folder": (folder, "make_folder"),
    "names of TensorFlow": (folder, "require_tensorflow"),
    "the method of calls": (folder, "call_method"),
    "the hook": (folder, "MethodHook"),
    "a call stack": (folder, "stack_here"),
    "the handle of a variable": (folder, "is_variable"),
    "a recorded function": (folder, "_traced"),
    "the name of a function": (folder, "python_name"),
    "the model": (folder, "saved_model_of"),
    "the graph": (saved_model, "_Graph"),
    "a FunctionDef": (saved_model, "_definitions"),
    "the variables": (saved_model, "of_functions"),
    "a variable": (variables, "_described"),
    "the lines": (saved_model, "debug_info"),
    "the lines of a function": (debug_info, "_stacks"),
    "the weights": (keras_models, "weights"),
    "writing": (folder, "write_file"),
    "the notes": (folder, "notes_as_bytes"),
    "options": (profiler, "ProfilerOptions"),
    "the start": (profiler, "start"),
    "a step": (profiler, "Trace"),
    "the wait": (tf.test.experimental, "sync_devices"),
    "the end": (profiler, "stop"),
}
FEW: Final = {"names of TensorFlow", "the model", "a step", "the end"}
WHOLE: Final = pytest.mark.whole
WITHOUT_TRACE: Final = {"options", "the start", "the end"}
# The last file that is written: nothing could be written after it.
WITHOUT_NOTES: Final = {"writing", "the notes"}


class Broken(Exception):  # noqa: N818 - it stands for any
    """Raised where a test breaks something."""


def breaks(*_: Any, **__: Any) -> Any:
    raise Broken("as another release may")


def make_model() -> Any:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    return model


def fit(model: Any, callback: Any) -> list[str]:
    """Train for 4 batches; returns our warnings."""
    ones = np.ones([8, 3], np.float32), np.ones([8, 4], np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*ones, batch_size=2, verbose=0, callbacks=[callback])
    return [text for one in caught if (text := str(one.message)).startswith("tfprof:")]


@pytest.fixture(scope="module")
def model() -> Any:
    return make_model()


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in FEW else WHOLE) for fault in FAULTS]
)
def test_training_goes_on_whatever_fails(
    fault: str, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = int(model.optimizer.iterations)
    callback = tfprof.capture_callback(tmp_path / "log", batches=(1, 2))
    owner, name = FAULTS[fault]
    real = getattr(owner, name)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, breaks)
        told = fit(model, callback)
        if fault == "the end":  # the profiler still runs
            real(save=False)
    assert int(model.optimizer.iterations) == before + 4
    if fault != "the notes":  # they are needed only if something else fails
        (sentence,) = told
        assert "Broken: as another release may" in sentence
    traces = list((tmp_path / "log").glob("plugins/profile/*/*.xplane.pb"))
    assert len(traces) == (fault not in WITHOUT_TRACE and fault != "names of TensorFlow")
    notes = tmp_path / "log" / "tfprof_notes.txt"
    assert notes.exists() == (fault not in WITHOUT_NOTES and fault != "names of TensorFlow")
    if notes.exists() and traces:
        assert "Broken" in " ".join(
            note.text for note in tfprof.load(tmp_path / "log").profile.notes
        )
    # Nothing is left behind: the next capture is whole.
    assert fit(model, callback) == []
    assert not notes.exists()
    assert (tmp_path / "log" / "saved_model.pb").exists()


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - {"names of TensorFlow"}))
def test_a_program_goes_on_whatever_fails(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weight = tf.Variable(tf.ones([3, 4]))
    function = tf.function(lambda x: tf.matmul(x, weight))
    owner, name = FAULTS[fault]
    real = getattr(owner, name)
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(owner, name, breaks)
        with tfprof.capture(tmp_path / "log") as run, run.step():
            result = function(tf.ones([2, 3]))
        if fault == "the end":
            real(save=False)
    assert result.numpy().tolist() == [[3.0] * 4] * 2
    unused = fault in {"the notes", "the weights"}
    assert len([one for one in caught if "tfprof" in str(one.message)]) == (not unused)


def test_an_error_of_the_program_stays_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "stack_here", breaks)
    function = tf.function(tf.linalg.inv)
    with pytest.raises(tf.errors.InvalidArgumentError), tfprof.capture(tmp_path / "log"):
        function(tf.zeros([2, 2]))
    assert not (tmp_path / "log").exists()


def test_a_function_that_fails_leaves_the_others_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = tf.function(lambda x: x + 1.0), tf.function(lambda x: x * 2.0)
    broken_name = bad.get_concrete_function(tf.ones([2])).name
    real = saved_model._definitions

    def definitions(function: Any) -> Any:
        if function.name == broken_name:
            raise Broken("only this one")
        return real(function)

    monkeypatch.setattr(saved_model, "_definitions", definitions)
    warns = pytest.warns(UserWarning, match="is missing: Broken: only this one")
    with warns, tfprof.capture(tmp_path):
        good(tf.ones([2]))
        bad(tf.ones([2]))
    names = set(tfprof.load(tmp_path / "saved_model.pb").profile.nodes.name.texts())
    assert any(name.endswith("/add") for name in names)
    assert not any(name.endswith("/mul") for name in names)


def test_info_shows_what_could_not_be_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(saved_model, "debug_info", breaks)
    warns = pytest.warns(UserWarning, match="the lines of the program are missing: Broken")
    with warns, tfprof.capture(tmp_path):
        tf.function(lambda x: x + 1.0)(tf.ones([2]))
    out = printed(capfd, "info", tmp_path)
    assert "1 note: the capture is incomplete: the lines of the program are missing: Br" in out
    assert "not recognised" not in out


def test_old_functions_do_not_break_a_capture(tmp_path: Path) -> None:
    """`tf.nn.ctc_loss` calls a Defun of TensorFlow 1."""
    model = keras.Sequential([keras.Input((10, 8)), keras.layers.Dense(5)])

    def loss(labels: Any, logits: Any) -> Any:
        count = tf.shape(logits)[0]
        return tf.nn.ctc_loss(
            tf.cast(labels, tf.int32),
            tf.transpose(logits, [1, 0, 2]),
            tf.fill([count], 3),
            tf.fill([count], 10),
            blank_index=-1,
        )

    model.compile("sgd", loss)
    callback = tfprof.capture_callback(tmp_path, batches=(1, 2))
    data = np.ones([8, 10, 8], np.float32), np.ones([8, 3], np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(*data, batch_size=2, verbose=0, callbacks=[callback])
    assert int(model.optimizer.iterations) == 4
    loaded = tfprof.load(tmp_path)
    assert len(loaded.steps) == 2
    assert any("ctc" in name for name in loaded.profile.nodes.name.texts())
    assert loaded.code(select=["micros"]).rows


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"# tfprof capture notes, version 1\nsomething is missing\n", "something is missing"),
        (b"# tfprof capture notes, version 2\nxyz\n", "newer release"),
    ],
)
def test_notes_beside_a_trace_are_notes_of_the_profile(
    tmp_path: Path, content: bytes, says: str
) -> None:
    with tfprof.capture(tmp_path):
        pass
    (tmp_path / "tfprof_notes.txt").write_bytes(content)
    assert any(says in note.text for note in tfprof.load(tmp_path).profile.notes)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"# tfprof capture notes, version x\n"])
def test_notes_that_are_none_are_an_error_of_one_sentence(tmp_path: Path, content: bytes) -> None:
    with tfprof.capture(tmp_path):
        pass
    (tmp_path / "tfprof_notes.txt").write_bytes(content)
    with pytest.raises(tfprof.InputError, match="does not begin as the notes of a capture do"):
        tfprof.load(tmp_path)


@pytest.mark.parametrize("left", [0, 1, 0.5, -1], ids=["nothing", "a byte", "half", "all but one"])
def test_a_trace_that_is_cut_off_is_removed(
    left: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow need not notice; the trace of another host may be written right now."""
    real, function = profiler.stop, tf.function(lambda x: x + 1.0)
    others = []

    def stop() -> None:
        real()
        (file,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
        data = file.read_bytes()
        size = int(left * len(data)) if 0 < left < 1 else int(left) % len(data)
        file.write_bytes(data[:size])
        others.append(file.with_name("another.xplane.pb"))
        others[0].write_bytes(data[:-1])

    monkeypatch.setattr(profiler, "stop", stop)
    warns = pytest.warns(UserWarning, match=r"the trace is missing: .*\.xplane\.pb is cut off")
    with warns, tfprof.capture(tmp_path):
        function(tf.ones([2]))
    assert [*tmp_path.glob("plugins/profile/*/*.xplane.pb")] == others
    others[0].unlink()
    loaded = tfprof.load(tmp_path)
    assert any("is cut off" in note.text for note in loaded.profile.notes)
    assert loaded.profile.nodes.name.texts()


def test_lines_of_earlier_functions_do_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def capture() -> None:
        with tfprof.capture(tmp_path):
            tf.function(lambda x: x + 1.0)(tf.ones([2]))

    lines = tmp_path / "debug" / "saved_model_debug_info.pb"
    capture()
    assert lines.exists()
    monkeypatch.setattr(
        folder,
        "write_file",
        lambda path, pieces: breaks() if path == str(lines) else write_file(path, pieces),
    )
    with pytest.warns(UserWarning, match="the lines of the program are missing: Broken"):
        capture()
    assert (tmp_path / "saved_model.pb").exists()
    assert not lines.exists()
