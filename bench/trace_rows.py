"""Traces of TensorFlow 2 against XProf, the tool that people use for them: op view of one file.

Both are asked twice: in a fresh process that has imported what it needs, from the file to the
answer, and from the start of a process to its exit. XProf keeps what it computed beside the trace;
that is removed before each run. The answers have different columns, so the self time of each
operation type is compared. XProf lists no operations outside functions, and lists iterators of
tf.data and idle time besides.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from inputs import HERE, Inputs, digest
from plan import plan
from rows import Row, Size, take_turns
from worker import Worker, WorkerError, timed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plan import Often

XPROF = "xprof==2.24.2"
OP, OP_LEVEL_3 = "trace: op / XProf", "trace of level 3: op / XProf"
_COLD = "cold {}, imports included"
_GENERATOR = ("encode.py", "traces.py")
_FILE = "host.xplane.pb"
# Times are microseconds, ours whole ones: sums of thousands of executions differ by less.
_MOST_SHARE, _MOST_MICROS = 0.01, 20


class Case(NamedTuple):
    """A recorded trace that is repeated in time."""

    row: str
    recorded: str
    executions: tuple[int, ...]


_LEVEL_2 = "keras_level2"  # level 2 is what everybody gets; not imported: this process stays small
CASES = (Case(OP, _LEVEL_2, (50_000, 500_000)), Case(OP_LEVEL_3, "keras", (50_000, 500_000)))
FULL = (Case(OP, _LEVEL_2, (5_000_000,)),)


def traces(out: Path, cases: tuple[Case, ...], repeat: int) -> Iterator[Row]:
    """The rows of these cases; their size is the number of executions."""
    python = _xprof(out)
    for case in cases:
        for executions in case.executions:
            inputs = _inputs(out, case, executions)
            yield from _rows(case, inputs, plan(executions // 10, repeat).load, python)


def _rows(case: Case, inputs: Inputs, often: Often, python: str) -> Iterator[Row]:
    path, (ours, theirs) = inputs.path(_FILE), inputs.outs(case.row)
    pair = Worker(HERE / "our_side.py"), Worker(HERE / "xprof_worker.py", python)
    try:
        turns = take_turns(
            lambda: pair[0].fresh().ask("trace_op", path=path, out=str(ours)),
            lambda: pair[1].fresh().ask("op", path=path, out=str(theirs)),
            often,
        )
    finally:
        for worker in pair:
            worker.stop()
    answer = _compared(ours, theirs)
    yield Row("trace", case.row, inputs.size, turns, answer)
    report = inputs.outs(f"cold {case.row}")[0]
    our_flags = [f"--trace_path={path}", f"--output=file:outfile={report}"]
    command = [sys.executable, "-m", "tfprof", "op", *our_flags]
    other = [python, str(HERE / "xprof_worker.py"), "cold", path]
    turns = take_turns(partial(timed, command), partial(timed, other), often)
    yield Row("trace", _COLD.format(case.row), inputs.size, turns, answer)


def _compared(ours: Path, theirs: Path) -> str:
    if not (ours.exists() and theirs.exists()):
        return "MISMATCH: no file"
    mine, other = (json.loads(file.read_text()) for file in (ours, theirs))
    for kind in sorted({*mine, *other}):
        one, two = mine.get(kind, 0), other.get(kind, 0)
        if abs(one - two) > max(_MOST_SHARE * two, _MOST_MICROS):
            return f"MISMATCH {kind}: {one} us, {two} us"
    return "same self time of every type"


def _inputs(out: Path, case: Case, executions: int) -> Inputs:
    """The trace, generated if need be. It is alone in its folder: XProf's cache is removed."""
    size = Size(executions)
    name = f"{case.recorded}_{size.label}"
    inputs = Inputs(size, out / "data" / "traces" / name, out / "answers" / name)
    stamp = inputs.folder.with_suffix(".made_by")
    made_by = digest(HERE / part for part in _GENERATOR)
    if not stamp.exists() or stamp.read_text() != made_by:
        sys.stderr.write(f"generating {name}\n")
        inputs.folder.mkdir(parents=True, exist_ok=True)
        script, recorded = str(HERE / "traces.py"), f"--case={case.recorded}"
        timed([sys.executable, script, inputs.path(_FILE), str(executions), recorded])
        stamp.write_text(made_by)
    return inputs


def _xprof(out: Path) -> str:
    """The Python of an environment with XProf, which is made if need be."""
    folder = out / XPROF.replace("==", "-")
    python = str(folder / "bin" / "python")
    stamp = folder / "installed"
    if not stamp.exists():
        sys.stderr.write(f"installing {XPROF}\n")
        for command in ([sys.executable, "-m", "venv", str(folder)],
                        [python, "-m", "pip", "install", "--quiet", XPROF]):  # fmt: skip
            if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
                raise WorkerError(f"cannot install {XPROF}")
        stamp.touch()
    return python
