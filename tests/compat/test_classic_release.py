"""The classic calls return what the profiler of the installed TensorFlow returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from profiled_sessions import TIMES, Model, tensorflow

if TYPE_CHECKING:
    from pathlib import Path


def traced_run(model: Model) -> Any:
    v1 = tensorflow().compat.v1
    run_meta = v1.RunMetadata()
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    model.run(model.z, options=options, run_metadata=run_meta)
    return run_meta


@pytest.mark.parametrize("cmd", ["scope", "graph", "op", "code"])
def test_profile(model: Model, cmd: str) -> None:
    run_meta, theirs = traced_run(model), tensorflow().compat.v1.profiler
    original = theirs.profile(model.graph, run_meta, cmd=cmd, options=TIMES)
    ours = tfprof.profile(model.graph, run_meta, cmd=cmd, options=TIMES)
    assert str(ours) == str(original)
    assert str(ours)


def test_profiler(model: Model) -> None:
    run_meta, theirs = traced_run(model), tensorflow().compat.v1.profiler
    profilers = [theirs.Profiler(model.graph), tfprof.Profiler(model.graph)]
    for profiler in profilers:
        profiler.add_step(3, run_meta)
    original, ours = (str(one.profile_operations({**TIMES, "step": 3})) for one in profilers)
    assert ours == original
    assert "MatMul" in ours


def test_op_log(model: Model, tmp_path: Path) -> None:
    theirs = tensorflow().compat.v1.profiler
    for write, folder in ((theirs.write_op_log, "theirs"), (tfprof.write_op_log, "ours")):
        (tmp_path / folder).mkdir()
        write(model.graph, str(tmp_path / folder), add_trace=False)
    original, ours = ((tmp_path / one / "tfprof_log").read_bytes() for one in ("theirs", "ours"))
    message = tfprof.tfprof_log_pb2.OpLogProto.FromString
    assert message(ours) == message(original)
    assert message(ours).log_entries
