"""Traces on graphs: each execution on the node that it is of, and a row for what is on none."""

from __future__ import annotations

import json
import re

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Outputs, Profile
from tfprof.read.xplane import with_trace
from tfprof.read.xplane.node_matching import fused_node, is_fused
from tfprof.read.xplane.trace import NODE
from tfprof.results.loaded import Loaded
from tfprof.writers.timeline import timeline
from xplane_traces import (
    Event,
    counts,
    environment,
    graph,
    host,
    joined_with_graph,
    micros,
    plane,
    recorded,
    trace,
)

BODY = "repeated/while/body/repeated/while/turn"


def notes(profile: Profile) -> str:
    return "\n".join(note.text for note in profile.notes if note.ours)


def node_of(profile: Profile, name: str) -> int:
    return int(profile.nodes.name.find(Strings.of([name.encode()]))[0])


def types_of(profile: Profile, name: str) -> set[bytes]:
    node = node_of(profile, name)
    of_node, kind = profile.type_pairs
    return {profile.types[int(row)] for row in kind[of_node == node]}


def test_nodes_of_bodies_run_as_often_as_the_loop_turns() -> None:
    seen = counts(joined_with_graph("loop"), 1)
    assert seen[f"{BODY}/again"] == 5
    assert seen["repeated/while/cond/repeated/while/Less"] == 6
    assert seen["StatefulPartitionedCall/inside/product"] == 1
    assert seen["either/cond/then/either/cond/yes"] == 1
    assert "either/cond/else/either/cond/no" not in seen


def test_what_a_loop_is_made_of_is_time_of_the_loop_and_one_run() -> None:
    profile, events = joined_with_graph("loop"), recorded("loop").events
    assert counts(profile, 0)["repeated/while"] == 1
    assert counts(profile, 0)["either/cond"] == 1
    is_added = [
        name.startswith(b"repeated/while/") and b"/_5/" not in name and b"/_4/" not in name
        for name in events.name
    ]
    own = int(events.own_ps[np.array(is_added) & (events.step == 0)].sum()) / 10**6
    assert abs(micros(profile, 0)["repeated/while"] - own) <= 1


def test_no_time_is_lost_on_the_way_to_the_nodes() -> None:
    for case in ("loop", "kept", "compiled", "compiled_inside", "keras", "keras_level2"):
        events = recorded(case).events
        for row, step in enumerate(joined_with_graph(case).steps):
            told = int(events.own_ps[events.step == row].sum()) / 10**6
            assert abs(int(step.us.sum()) - told) <= 1


def test_a_scope_is_right_to_a_microsecond() -> None:
    profile, events = joined_with_graph("keras"), recorded("keras").events
    scope = b"StatefulPartitionedCall/net_1/norm_1/"
    own = sum(
        took
        for name, took in zip(events.name, events.own_ps.tolist(), strict=True)
        if name.startswith(scope)
    )
    told = sum(took for name, took in micros(profile, 1).items() if name.encode().startswith(scope))
    assert abs(told - own / 10**6) <= 1


def test_a_fit_of_keras_is_on_the_nodes_of_its_graph() -> None:
    for case in ("keras", "keras_level2"):
        events = recorded(case).events
        total = int(events.own_ps[events.kind == NODE].sum()) / 10**6
        lost = {
            name: took
            for name, took in micros(joined_with_graph(case), 1).items()
            if name.startswith("_not_in_graph/")
            and "/_eager/" not in name
            and "_tf_data" not in name
        }
        assert sum(lost.values()) < 0.05 * total


def test_what_the_graph_does_not_have_is_a_row_of_its_own_and_a_note() -> None:
    profile = joined_with_graph("keras")
    below = [name for name in micros(profile, 1) if name.startswith("_not_in_graph/")]
    assert "_not_in_graph/_eager/OptionalHasValue" in below
    assert "_not_in_graph/_tf_data/GatherV2" in below
    assert types_of(profile, "_not_in_graph/_tf_data/GatherV2") >= {b"GatherV2"}
    lost = sum(micros(profile, 1)[name] for name in below)
    total = sum(micros(profile, 1).values())
    said = r"\d+ of \d+ executions, (\d+) us \(([\d.]+) %\), are not of nodes"
    told = re.search(said, notes(profile))
    assert told is not None
    assert abs(int(told[1]) - lost) <= 1
    assert abs(float(told[2]) - 100 * lost / total) < 0.2


def test_fused_operations_are_on_what_they_fused() -> None:
    profile = joined_with_graph("keras")
    seen = counts(profile, 1)
    convolution = "StatefulPartitionedCall/net_1/conv_1/convolution"
    assert seen[convolution] == 1
    assert seen["StatefulPartitionedCall/net_1/dense_1/MatMul"] == 1
    assert "StatefulPartitionedCall/net_1/conv_1/Relu" not in seen
    assert types_of(profile, convolution) >= {b"Conv2D", b"_FusedConv2D"}
    assert "2 executions of fused operations" in notes(profile)
    assert f"_FusedConv2D for '{convolution}'" in notes(profile)


def test_operations_of_onednn_are_on_the_nodes_that_they_ran_for() -> None:
    # What TensorFlow 2.21 runs on a processor with AVX-512, where oneDNN is on.
    other = {
        b"MatMul": b"_MklMatMul",
        b"MaxPool": b"_MklNativeMaxPool",
        b"Conv2DBackpropFilter": b"_MklNativeConv2DBackpropFilterWithBias",
        b"_FusedConv2D": b"_MklNativeFusedConv2D",
        b"_FusedMatMul": b"_MklNativeFusedMatMul",
    }
    plain = recorded("keras")
    names = plain.events.names
    ops = Strings.of(other.get(op, op) for op in names.op)
    assert len(set(ops) & set(other.values())) > 2
    onednn = plain._replace(events=plain.events._replace(names=names._replace(op=ops)))
    both = [with_trace(graph("keras"), each) for each in (plain, onednn)]
    assert micros(both[0], 1) == micros(both[1], 1)
    shapes = [profile.with_run_shapes.outputs.shape for profile in both]
    assert shapes[0].dim.tolist() == shapes[1].dim.tolist()


def test_what_is_fused_is_told_by_its_type() -> None:
    profile = graph("keras")
    relu = node_of(profile, "StatefulPartitionedCall/net_1/conv_1/Relu")
    assert is_fused(b"_FusedBatchNormEx")
    assert not is_fused(b"FusedBatchNormV3")
    assert fused_node(profile, relu, b"_FusedBatchMatMulV2") == -1


def test_instructions_of_xla_are_on_their_nodes_and_a_note_says_so() -> None:
    profile = joined_with_graph("compiled")
    assert counts(profile, 0) == {
        "one/MatMul": 1, "one/Tanh": 1, "two/MatMul": 1, "two/mul": 1, "two/Sum": 1,
        "_not_in_graph/__inference_outer_25": 1,
    }  # fmt: skip
    assert "12 executions of instructions that XLA compiled" in notes(profile)
    inside = counts(joined_with_graph("compiled_inside"), 0)
    assert inside["calling/PartitionedCall/inside/MatMul"] == 1


def test_a_call_has_the_time_in_which_it_hands_over() -> None:
    profile = joined_with_graph("kept")
    assert counts(profile, 0)["calling/PartitionedCall"] == 1
    assert counts(profile, 0)["calling/PartitionedCall/inside/product"] == 1
    assert not any("/x" in name for name in micros(profile, 0))


def test_without_a_graph_every_name_is_a_node() -> None:
    profile = with_trace(Profile(), recorded("loop"))
    assert counts(profile, 0)[f"{BODY}/again"] == 5
    assert types_of(profile, f"{BODY}/again") >= {b"MatMul"}
    by_type = {row.name: row for row in Loaded(profile).op(select=["micros", "occurrence"]).rows}
    assert by_type["MatMul"].own_runs == 8
    assert "_not_in_graph" not in notes(profile)


def test_a_second_trace_without_a_graph_is_not_held_against_the_first() -> None:
    both = with_trace(with_trace(Profile(), recorded("loop")), recorded("kept"))
    assert [step.number for step in both.steps] == [0, 1, 2, 3]
    assert "are not of nodes in the graph" not in notes(both)
    assert counts(both, 3)["calling/PartitionedCall/inside/product"] == 1


def test_steps_go_on_behind_those_that_are_there() -> None:
    twice = with_trace(joined_with_graph("loop"), recorded("loop"))
    assert [step.number for step in twice.steps] == [0, 1, 2, 3, 4, 5]
    assert len(twice) == len(joined_with_graph("loop"))
    assert micros(twice, 3) == micros(twice, 0)


# --- memory -------------------------------------------------------------------------------------


def allocation(op: str, start: float, address: int, size: int, region: str) -> Event:
    stats: list[tuple[str, int | str]] = [("tf_op", op)] if op else []
    stats += [("addr", address), ("requested_bytes", size), ("region_type", region)]
    return Event("MemoryAllocation", start, 0, stats=stats)


def freed(start: float, address: int) -> Event:
    return Event("MemoryDeallocation", start, 0, stats=[("addr", address)])


def test_what_an_operation_allocates_is_added_up() -> None:
    events = [
        Event("train", 0, 20, stats=[("step_num", 0)]),
        Event("a:MatMul", 1, 8),
        allocation("a", 2, 100, 50, "temp"),
        freed(3, 100),
        allocation("a", 4, 100, 30, "temp"),
        allocation("a", 5, 200, 40, "output"),
        freed(6, 100),
        allocation("b", 10, 300, 7, "output"),
        allocation("", 11, 400, 1000, ""),
        freed(25, 200),
    ]
    columns = trace(host(*events), environment())
    profile = with_trace(Profile(), columns)
    assert list(profile.nodes.name) == [b"a", b"b"]
    told = {"bytes": 120, "peak_bytes": 70, "output_bytes": 40, "residual_bytes": 40}
    for metric, of_a in told.items():
        assert profile.values(metric, 0).tolist() == [of_a, 7], metric
    assert "1 allocation, 1,000 bytes, names no operation and is ignored" in notes(profile)


def test_memory_of_a_fit_is_that_of_its_events() -> None:
    profile = joined_with_graph("keras")
    values = {
        metric: int(profile.values(metric, 1).sum())
        for metric in ("bytes", "output_bytes", "residual_bytes", "peak_bytes")
    }
    assert values["bytes"] >= values["peak_bytes"] >= values["output_bytes"] > 0
    assert values["residual_bytes"] < values["bytes"]
    node = node_of(profile, "StatefulPartitionedCall/net_1/conv_1/convolution")
    # Eight pictures of 2x2 with eight channels in four bytes each.
    assert profile.values("output_bytes", 1)[node] == 8 * 2 * 2 * 8 * 4


def test_a_trace_without_memory_events_says_how_to_get_them() -> None:
    assert "TF_CPU_ALLOCATOR_USE_BFC=1" in notes(joined_with_graph("loop"))
    assert "TF_CPU_ALLOCATOR_USE_BFC=1" not in notes(joined_with_graph("keras"))


# --- shapes, outputs ------------------------------------------------------------------------------


def test_shapes_of_inputs_fill_what_the_graph_leaves_open() -> None:
    known = graph("loop")
    shapes = known.outputs.shape
    dims = shapes.dim.copy()
    first = shapes.start[:-1][np.diff(shapes.start) > 1]
    dims[first] = -1
    opened = replace(known, outputs=Outputs(known.outputs.start, Shapes(shapes.start, dims)))
    profile = with_trace(opened, recorded("loop"))
    before, after = opened.outputs.shape, profile.with_run_shapes.outputs.shape
    filled = np.flatnonzero(~before.are_whole() & after.are_whole())
    assert filled.size >= 5
    assert all(after[row] == shapes[row] for row in filled.tolist())
    unlike = [row for row in range(len(before)) if before[row] != after[row]]
    assert unlike == filled.tolist()


def test_a_shape_that_contradicts_the_graph_is_not_taken() -> None:
    known = graph("loop")
    product = node_of(known, "StatefulPartitionedCall/inside/product")
    row = int(known.outputs.start[product])
    shapes = known.outputs.shape
    dims = shapes.dim.copy()
    dims[int(shapes.start[row]) : int(shapes.start[row + 1])] = [-1, 63]
    other = Outputs(known.outputs.start, Shapes(shapes.start, dims))
    profile = with_trace(replace(known, outputs=other), recorded("loop"))
    assert shapes[row] == [32, 64]
    assert profile.with_run_shapes.outputs.shape[row] == [-1, 63]


def test_a_timeline_shows_what_ran() -> None:
    profile = joined_with_graph("loop")
    report = Loaded(profile).graph(select=["micros"], step=1, max_depth=100)
    events = json.loads(b"".join(timeline(report.answer).pieces()))["traceEvents"]
    shown = [event for event in events if event["ph"] == "X" and event["name"].endswith("/again")]
    assert len(shown) == 5
    again = node_of(profile, f"{BODY}/again")
    (step,) = (one for one in profile.steps if one.number == 1)
    assert [event["ts"] for event in shown] == step.start_us[step.node == again].tolist()


def test_a_plane_of_another_kind_is_no_matter() -> None:
    columns = trace(plane("/unheard/of", {"line": [Event("a:Add")]}), host(Event("b:Add")))
    assert list(columns.events.name) == [b"b"]
