"""What a ProfileContext leaves behind, which is nothing, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from processes import python
from profiled_sessions import TIMES, Model, base_session, context, steps_of_profiler, tensorflow
from tfprof.errors import OutputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


# --- nothing is left ---------------------------------------------------------------------------


def test_run_is_put_back(model: Model, tmp_path: Path) -> None:
    v1 = tensorflow().compat.v1
    before = v1.Session.run
    with context(tmp_path):
        assert v1.Session.run is not before
        assert v1.Session.run.__name__ == "run"
    assert v1.Session.run is before
    with pytest.raises(ZeroDivisionError), context(tmp_path, trace_steps=[0]):
        model.run(1 // 0)
    assert v1.Session.run is before


def test_a_run_that_fails_is_no_step_of_the_profile(model: Model, tmp_path: Path) -> None:
    errors = tensorflow().errors
    with context(tmp_path, trace_steps=[0, 1], dump_steps=[]) as profiled:
        with pytest.raises(errors.InvalidArgumentError):
            model.session.run(model.y)  # nothing is fed
        model.run()
    assert steps_of_profiler(profiled) == [1]


def test_who_replaced_run_later_keeps_it(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    with context(tmp_path, trace_steps=[0, 1], dump_steps=[]) as profiled:
        below = base_session().run

        def above(session: Any, *arguments: Any, **named: Any) -> Any:
            calls.append(session)
            return below(session, *arguments, **named)

        with monkeypatch.context() as patch:
            patch.setattr(base_session(), "run", above)
            model.run()
            profiled.__exit__(None, None, None)
            model.run()
            assert base_session().run is above
        base_session().run = below.__wrapped__
    assert len(calls) == 2
    assert steps_of_profiler(profiled) == [0]


def test_a_run_below_somebodys_wrapper_counts_once(model: Model, tmp_path: Path) -> None:
    before = base_session().run
    try:
        with context(tmp_path, trace_steps=[0], dump_steps=[]) as first:
            below = base_session().run

            def above(session: Any, *arguments: Any, **named: Any) -> Any:
                return below(session, *arguments, **named)

            base_session().run = above
        with context(tmp_path, trace_steps=[0, 1], dump_steps=[]) as second:
            model.run()
            model.run()
            assert steps_of_profiler(second) == [0, 1]
        assert base_session().run is above
    finally:
        base_session().run = before
    assert steps_of_profiler(first) == []


def test_sessions_have_the_context_while_it_is_active(model: Model, tmp_path: Path) -> None:
    """As TensorFlow's own sets it; `model` checks that nothing is left."""
    assert not hasattr(base_session(), "profile_context")
    with context(tmp_path) as profiled:
        assert base_session().profile_context is profiled
        assert model.session.profile_context is profiled
    assert not hasattr(base_session(), "profile_context")
    with pytest.raises(ZeroDivisionError), context(tmp_path):
        model.run(1 // 0)
    assert not hasattr(base_session(), "profile_context")
    with context(tmp_path, enabled=False):
        assert not hasattr(base_session(), "profile_context")


def test_not_enabled_it_does_nothing(model: Model, tmp_path: Path) -> None:
    before = base_session().run
    folder = tmp_path / "nothing"
    with context(folder, trace_steps=[0], dump_steps=[0], enabled=False) as profiled:
        assert base_session().run is before
        profiled.add_auto_profiling("op", TIMES, [0])
        profiled.trace_next_step()
        profiled.dump_next_step()
        model.run()
        with context("", enabled=False), context(tmp_path, trace_steps=[0], dump_steps=[]) as real:
            model.run()
    assert profiled.profiler is None
    assert not folder.exists()
    assert steps_of_profiler(real) == [0]


def test_tensorflow_is_imported_when_a_context_is_entered() -> None:
    program = """if True:
        import sys, tfprof
        context = tfprof.ProfileContext("folder")
        assert "tensorflow" not in sys.modules
        sys.modules["tensorflow"] = None
        with context:
            print("entered")
    """
    ran = python("-c", program, check=False)
    assert not ran.stdout
    assert ran.stderr.splitlines()[-1] == (
        "tfprof.errors.UsageError: a ProfileContext needs TensorFlow, which is not installed"
    )


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"profile_dir": ""}, "Must have a directory for profile."),
        ({"dump_steps": [1]}, "Must have a directory for profile."),
        ({"trace_steps": [1]}, "Must have a directory for profile."),
        ({"debug": True}, "Must have a directory for profile."),
        ({"profile_dir": "d", "trace_steps": range(101)}, "Only support tracing up to 100 steps."),
    ],
)
def test_what_cannot_be_made(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        context(**given)
    assert str(refusal.value) == sentence


def test_a_hundred_steps_can_be_traced() -> None:
    assert context("d", trace_steps=range(100)).profiler is not None


def test_what_cannot_be_asked_for() -> None:
    bare = context()
    with pytest.raises(UsageError, match=r"^unknown cmd: opp; did you mean 'op'\?"):
        bare.add_auto_profiling("opp", TIMES, [1])
    bare.add_auto_profiling("op", TIMES, [1])
    with pytest.raises(UsageError, match=r"^No autoprofiler for command: op, was run$"):
        bare.get_profiles("op")
    with pytest.raises(UsageError, match="there is no directory to dump into"):
        bare.dump_next_step()
    with pytest.raises(UsageError, match=r"^Must have a directory for profile\.$"):
        bare.add_auto_profile_dump("", [1])


def refused(profiled: Any, sentence: str) -> None:
    with pytest.raises(OutputError, match=sentence), profiled:
        pytest.fail("entered")


def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(tmp_path: Path) -> None:
    before = base_session().run
    (tmp_path / "file").write_text("in the way")
    refused(context(tmp_path / "file" / "dir", trace_steps=[1], dump_steps=[0]), "cannot be made")
    assert base_session().run is before
    assert not hasattr(base_session(), "profile_context")
    with context() as bare, pytest.raises(OutputError, match="cannot be made"):
        bare.add_auto_profile_dump(tmp_path / "file" / "dir", [0])
    early = context()
    early.add_auto_profile_dump(tmp_path / "file" / "dir", [0])
    refused(early, "cannot be made")


def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    refused(context(tmp_path), "cannot be written to")


def test_a_dump_that_fails_loses_no_values(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of these files is a folder by now, which cannot be replaced."""
    in_the_way = [tmp_path / name for name in ("profile_0", "profile_1", "more/graph.pbtxt", "r")]
    for folder in in_the_way:
        folder.mkdir(parents=True)
    asked = {**TIMES, "output": f"file:outfile={tmp_path / 'r'}"}
    with context(tmp_path, trace_steps=[0, 1], dump_steps=[0, 1]) as profiled:
        profiled.add_auto_profile_dump(tmp_path / "more", [0, 1])
        profiled.add_auto_profiling("op", asked, [0, 1])
        capsys.readouterr()
        assert model.run().shape == (1, 3)
        assert model.run("two:0") == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tfprof: ")]
    assert told == [
        f"tfprof: {tmp_path / name} cannot be written: it is a folder"
        for name in ("more/graph.pbtxt", "r", "profile_0", "profile_1")
    ]
    assert steps_of_profiler(profiled) == [0, 1]
    with pytest.raises(UsageError, match="No autoprofiler"):
        profiled.get_profiles("op")
