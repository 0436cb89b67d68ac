"""Traces of TensorFlow 2: what ran, how often, how long and in which step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tfprof.errors import InputError
from tfprof.model import Profile
from tfprof.read.detect import detect
from tfprof.read.xplane import read_trace, with_trace
from tfprof.read.xplane.trace import COMPILED, EAGER, NODE
from tfprof.tables.formats import FORMATS
from tfprof.tables.limits import raised_limits
from xplane_traces import (
    CASES,
    Event,
    content,
    environment,
    host,
    micros,
    plane,
    recorded,
    source,
    trace,
)

if TYPE_CHECKING:
    from tfprof.read.xplane import TraceColumns

BODY = b"repeated/while/body/_5/repeated/while/turn"


def ran(columns: TraceColumns) -> Counter[tuple[bytes, bytes]]:
    """How often each node ran as which operation."""
    return Counter(zip(columns.events.name, columns.events.op, strict=True))


def test_a_loop_runs_as_often_as_it_turns_and_each_step_once_more() -> None:
    seen = ran(recorded("loop"))
    steps, trips = 3, 5
    assert seen[BODY + b"/again", b"MatMul"] == steps * trips
    assert seen[BODY + b"/Tanh", b"Tanh"] == steps * trips
    assert seen[b"repeated/while/cond/_4/repeated/while/Less", b"Less"] == steps * (trips + 1)
    assert seen[b"first/MatMul", b"MatMul"] == steps
    assert seen[b"StatefulPartitionedCall/inside/product", b"MatMul"] == steps
    assert seen[b"either/cond/then/_30/either/cond/yes", b"MatMul"] == steps
    assert not any(b"either/cond/else" in name for name, _ in seen)


def test_only_operations_are_kept() -> None:
    columns = recorded("loop")
    assert not any(b":" in name or b"Executor" in name for name, _ in ran(columns))
    assert set(columns.events.function) == {b"", b"__inference_outer_101"}
    assert columns.events.kind.tolist().count(EAGER) == 1


def test_at_level_2_cheap_operations_and_shapes_are_missing_and_a_note_says_so() -> None:
    columns, full = recorded("level2"), recorded("loop")
    assert (columns.level, full.level) == (2, 3)
    assert ran(columns)[BODY + b"/again", b"MatMul"] == 15
    assert not any(op == b"Enter" for _, op in ran(columns))
    assert not any(columns.events.shapes)
    assert any("level 2" in note.text and note.ours for note in columns.notes)
    assert not any("level" in note.text for note in full.notes)


def test_inputs_have_shapes_at_level_3() -> None:
    events = recorded("loop").events
    row = list(events.name).index(b"first/MatMul")
    assert events.shapes[row] == b"(float[32,64];float[64,64])"


def test_steps_are_those_of_the_markers() -> None:
    columns = recorded("loop")
    assert columns.step_number.tolist() == [0, 1, 2]
    step = columns.events.step
    assert np.bincount(step[step >= 0]).tolist() == [144, 144, 144]


def test_what_is_in_no_step_is_left_out_and_told() -> None:
    columns = recorded("loop")
    outside = np.flatnonzero(columns.events.step < 0)
    assert [columns.events.name[row] for row in outside.tolist()] == [b"_eager/AddV2"]
    told = [note.text for note in columns.notes if "outside all steps" in note.text]
    (said,) = told
    assert said == "1 of 433 executions in the trace, 56 us, are outside all steps and are ignored"
    assert "_eager/AddV2" not in micros(with_trace(Profile(), columns))


@pytest.mark.parametrize(("case", "step"), [("keras", 1), ("kept", 0)])
def test_keras_marks_its_batches_and_without_markers_all_is_step_0(case: str, step: int) -> None:
    columns = recorded(case)
    assert columns.step_number.tolist() == [step]
    assert bool((columns.events.step == 0).all())


def test_eager_operations_are_named_after_their_type() -> None:
    names = (b"_eager/MatMul", b"MatMul"), (b"_eager/AddV2", b"AddV2")
    assert ran(recorded("eager")) == dict.fromkeys(names, 4)


def test_what_a_function_that_is_kept_runs_is_below_the_node_that_calls_it() -> None:
    seen = ran(recorded("kept"))
    assert seen[b"calling/PartitionedCall/inside/product", b"MatMul"] == 1
    assert seen[b"PartitionedCall/inside/product", b"MatMul"] == 1
    assert (b"inside/product", b"MatMul") not in seen


def test_instructions_of_xla_are_the_nodes_that_they_were_made_of() -> None:
    columns = recorded("compiled")
    compiled = columns.events.kind == COMPILED
    names = {columns.events.name[row] for row in np.flatnonzero(compiled).tolist()}
    assert names == {b"one/MatMul", b"one/Tanh", b"two/MatMul", b"two/mul", b"two/Sum"}
    # XLA splits the sum into wrapped_reduce-window, which has no name of its own, and a reduction.
    assert ran(columns)[b"two/Sum", b"Sum"] == 2 * 2
    assert ran(columns)[b"one/MatMul", b"MatMul"] == 2


def test_a_compiled_function_that_a_node_calls_is_below_that_node() -> None:
    seen = ran(recorded("compiled_inside"))
    assert seen[b"calling/PartitionedCall/inside/MatMul", b"MatMul"] == 1
    assert seen[b"MatMul", b"MatMul"] == 1


def test_the_launch_of_compiled_code_does_not_count_what_ran_in_it() -> None:
    events = recorded("compiled").events
    launches = events.kind == NODE
    inside = int(events.long_ps[~launches].sum())
    assert int(events.own_ps[launches].sum()) == int(events.long_ps[launches].sum()) - inside


@pytest.mark.parametrize("case", CASES)
def test_no_thread_is_busy_for_longer_than_the_clock_ran(case: str) -> None:
    events = recorded(case).events
    for line in np.unique(events.line).tolist():
        mine = np.flatnonzero(events.line == line)
        since = (events.start_ns[mine] - events.start_ns[mine].min()) * 1000
        assert 0 < int(events.own_ps[mine].sum()) <= int((since + events.long_ps[mine]).max())


def test_time_inside_of_an_operation_is_counted_once() -> None:
    thread = [
        *(Event("call:While", 0, 21), Event("a:MatMul", 3, 8), Event("a/b:Add", 5, 3)),
        *(Event("instant:Const", 5, 0), Event("c:Mul", 14, 5), Event("later:Mul", 21, 2)),
    ]
    columns = trace(host(*thread, other=[Event("elsewhere:Mul", 1, 20)]))
    own = dict(zip(columns.events.name, (columns.events.own_ps // 10**6).tolist(), strict=True))
    assert own == {
        b"call": 8, b"a": 5, b"a/b": 3, b"instant": 0, b"c": 5, b"later": 2, b"elsewhere": 20,
    }  # fmt: skip


def test_what_only_overlaps_is_not_counted_twice() -> None:
    columns = trace(host(Event("a:Add", 0, 10), Event("b:Add", 6, 10)))
    assert (columns.events.own_ps // 10**6).tolist() == [6, 10]


def test_small_operations_are_not_rounded_away() -> None:
    columns = trace(host(*(Event(f"n{row:04}:Add", row, 0.3) for row in range(1000))))
    profile = with_trace(Profile(), columns)
    assert profile.values("micros", 0).sum() == 300
    assert set(profile.steps[0].us.tolist()) == {0, 1}


@pytest.mark.parametrize("case", CASES)
def test_times_in_all_are_those_of_the_trace(case: str) -> None:
    columns = recorded(case)
    profile = with_trace(Profile(), columns)
    for row, step in enumerate(profile.steps):
        mine = columns.events.step == row
        assert abs(int(step.us.sum()) - int(columns.events.own_ps[mine].sum()) / 10**6) <= 1


def test_moments_are_those_of_the_clock() -> None:
    columns = trace(host(Event("a:Add", 5)), environment(start_ns=10**18))
    assert columns.events.start_ns.tolist() == [10**18 + 1000 + 5000]
    assert with_trace(Profile(), columns).steps[0].start_us.tolist() == [10**15 + 6]


def test_sends_have_no_display_name_and_count() -> None:
    sends = [Event("_send_x_0:_Send", 0, 1, ""), Event("x:Add", 1, 1, "")]
    others = [Event("Iterator::Map", 2, 1, "Map"), Event("y:Add", 3, 1, "Other")]
    columns = trace(host(*sends, *others))
    assert list(columns.events.name) == [b"_send_x_0"]


def marker(number: int, start: float, long: float) -> Event:
    return Event("train", start, long, stats=[("step_num", number)])


def test_of_markers_in_each_other_the_outermost_counts() -> None:
    columns = trace(
        host(marker(7, 0, 10), marker(1, 2, 3), Event("a:Add", 3), marker(8, 20, 5)), environment()
    )
    assert columns.step_number.tolist() == [7, 8]
    assert columns.events.step.tolist() == [0]


def test_step_numbers_that_come_twice_are_counted_anew() -> None:
    columns = trace(host(marker(3, 0, 2), marker(3, 5, 2), Event("a:Add", 6)))
    assert columns.step_number.tolist() == [0, 1]
    assert columns.events.step.tolist() == [1]
    assert any("numbered by time" in note.text for note in columns.notes)


def test_more_steps_than_the_limit_are_refused() -> None:
    many = source(host(*(marker(row, 2 * row, 1) for row in range(5))), "many.xplane.pb")
    with raised_limits(steps=4), pytest.raises(InputError, match=r"many.xplane.pb has 5 steps"):
        read_trace(many)
    assert read_trace(many).step_number.size == 5


def test_what_runs_later_is_of_the_step_that_called_it() -> None:
    run = [("id", 42)]
    python = [
        marker(0, 0, 10),
        Event("EagerExecute", 1, 5, stats=[("eager_op", "__inference_f_1"), ("is_func", 1)]),
        Event("EagerLocalExecute: __inference_f_1", 2, 3),
        Event("FunctionRun", 3, 1, stats=run),
        marker(1, 12, 10),
    ]
    later = [Event("ExecutorState::Process", 8, 10, stats=run)]
    later += [Event("a:Add", 14, 1), Event("b:Add", 19, 1)]
    columns = trace(host(*python, thread=later))
    assert columns.events.step.tolist() == [0, 1]
    assert list(columns.events.function) == [b"__inference_f_1", b""]


def test_an_accelerator_counts_its_streams_and_no_line_that_repeats_them() -> None:
    kernel = [Event("gemm", 2, 5, stats=[("tf_op", "net/MatMul:MatMul")])]
    gpu = {"Stream #13(Compute)": kernel, "Framework Ops": kernel, "XLA Ops": kernel}
    columns = trace(
        host(Event("net/MatMul:MatMul", 0, 2)),
        plane("/device:GPU:1", gpu),
        plane("/device:TPU:0", {"XLA Ops": kernel, "XLA Modules": kernel}),
    )
    assert list(columns.events.name) == [b"net/MatMul"] * 3
    profile = with_trace(Profile(), columns)
    assert profile.values("cpu_micros", 0).tolist() == [2]
    assert profile.values("accelerator_micros", 0).tolist() == [10]
    assert profile.values("occurrence", 0).tolist() == [1]
    device = profile.types[int(profile.nodes.device[0])]
    assert device.endswith((b"/device:gpu:1", b"/device:tpu:0"))


@pytest.mark.parametrize("case", CASES)
def test_traces_are_recognised(case: str) -> None:
    data = memoryview(content(case))
    assert detect(data) is FORMATS["trace"]
    assert detect(data[: len(data) // 2]) is FORMATS["trace"]


def test_a_trace_without_operations_is_one_of_an_empty_step() -> None:
    for nothing in (environment(1), host(Event("train", stats=[("step_num", 4)]))):
        columns = trace(nothing)
        profile = with_trace(Profile(), columns)
        assert [step.node.size for step in profile.steps] == [0]
        assert "the trace has no events of operations" in {note.text for note in profile.notes}


def test_graphs_are_no_traces() -> None:
    assert detect(memoryview(content("loop", "graph.pb"))) is FORMATS["graph"]


def test_an_empty_file_is_what_a_trace_over_2_gb_leaves() -> None:
    with pytest.raises(InputError, match=r"x.xplane.pb is empty; .* exceeds 2 GB"):
        read_trace(source(b"", "x.xplane.pb"))


def test_the_wait_for_devices_that_ends_a_trace_is_not_in_the_profile() -> None:
    def eagerly(op: str, start: float) -> Event:
        return Event(f"EagerLocalExecute: {op}", start, 2)

    step = Event("step", 0, 10, stats=[("tfprof_step", 0)])
    ends = [eagerly("SyncDevice", 20), eagerly("SyncDevice", 23)]
    own = [eagerly("SyncDevice", 3), eagerly("MatMul", 6)]
    made = trace(host(step, *own, *ends), environment())
    assert list(made.events.name) == [b"_eager/SyncDevice", b"_eager/MatMul"]
    assert not any("outside all steps" in note.text for note in made.notes)
    later = trace(host(step, *own, eagerly("MatMul", 15), *ends), environment())
    assert any("1 of 3 executions" in note.text for note in later.notes)
