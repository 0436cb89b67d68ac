"""A disk that fills up during a capture: the program goes on, and what is whole is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from tfprof import cli

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked

PROGRAM: Final = """
import resource, sys, warnings
import tensorflow as tf
import tfprof
weight = tf.Variable(tf.ones([3, 4]))
product = tf.function(lambda x: tf.matmul(x, weight))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with tfprof.capture({folder!r}, source={source}) as run:
        for _ in range(40):
            with run.step():
                result = product(tf.ones([2, 3]))
        resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, -1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
print(*[warning.message for warning in told], sep="\\n", file=sys.stderr)
print(result.numpy().sum())
"""
COMMANDS: Final = ("scope", "op", "graph", "code", "summary", "advise", "info")
# The functions take 1,200 bytes and the lines 700; forty steps take 40,000.
LESS_THAN_A_TRACE: Final = 8_000


def captured(run: Forked, folder: Path, most: int = -1, *, source: bool = True) -> str:
    """Capture a program into *folder*, where files grow no further; returns what it is told."""
    ran = run(PROGRAM.format(folder=str(folder), source=source, most=most))
    assert ran.code == 0, ran.told
    assert ran.out == b"24.0\n"
    return ran.told


def traces(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*.xplane.pb")}


def ask(folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, tuple[str, str]]:
    """What each command answers, and what it says besides."""
    answers = {}
    for command in COMMANDS:
        code = cli.run([command, str(folder)])
        said = capfd.readouterr()
        assert code == 0, said.err
        answers[command] = said.out, said.err
    return answers


@pytest.mark.parametrize("source", [True, False], ids=["source", "no source"])
def test_what_is_whole_is_read(
    source: bool,  # noqa: FBT001 - a row of a table
    tensorflow: Forked,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "log"
    told = captured(tensorflow, folder, LESS_THAN_A_TRACE, source=source)
    assert f"the capture in {folder} is incomplete: the trace is missing: " in told
    assert "File too large" in told
    assert traces(folder) == {}
    for command, (out, err) in ask(folder, capfd).items():
        assert "the capture is incomplete: the trace is missing: " in out + err, command
        assert "MatMul" in out or command not in {"scope", "op", "graph"}
    assert tfprof.load(folder).op(select=["occurrence"]).rows


def test_earlier_captures_stay(
    tensorflow: Forked, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "log"
    captured(tensorflow, folder)
    before = traces(folder)
    assert len(before) == 1
    assert min(map(len, before.values())) > LESS_THAN_A_TRACE
    # The folder of a session is named by the second in which it began.
    (session,) = (folder / "plugins" / "profile").iterdir()
    session.rename(session.with_name("2020_01_01_00_00_00"))
    before = traces(folder)
    assert "the trace is missing" in captured(tensorflow, folder, LESS_THAN_A_TRACE)
    assert traces(folder) == before
    ask(folder, capfd)
    # The functions of one capture have no times of another.
    assert tfprof.load(folder).steps == ()


def test_a_disk_without_any_room(tensorflow: Forked, tmp_path: Path) -> None:
    """Not even the note can be written, and the warning says so."""
    folder = tmp_path / "log"
    told = captured(tensorflow, folder, 0)
    for what in ("the trace is", "the functions are", "the lines of the program are"):
        assert f"{what} missing: " in told
    assert "the notes are not in the folder: " in told
    assert told.count("tfprof: the capture") == 1
    assert [path for path in folder.rglob("*") if path.is_file()] == []
