"""What we read of a trace is what the message classes of the wheel read of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tf_wheel import piece
from tfprof.read.xplane.trace import NODE
from xplane_traces import content, recorded


def parsed(case: str) -> Any:
    messages = piece("tensorflow.tsl.profiler.protobuf.xplane_pb2")
    return messages.XSpace.FromString(content(case))


def stats(plane: Any, said_of: Any) -> dict[str, Any]:
    """What is said of an event, or of the plane itself, texts that are referred to in place."""
    told = {}
    for stat in said_of.stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        if kind == "ref_value":
            value = plane.stat_metadata[value].name
        told[plane.stat_metadata[stat.metadata_id].name] = value
    return told


@pytest.mark.parametrize("case", ["loop", "level2", "keras"])
def test_executions_and_their_times_are_those_of_the_messages(case: str) -> None:
    count: Counter[tuple[str, str]] = Counter()
    took: Counter[tuple[str, str]] = Counter()
    for plane in parsed(case).planes:
        for line in plane.lines:
            for event in line.events:
                kind = plane.event_metadata[event.metadata_id]
                node, _, op = kind.name.rpartition(":")
                if op and op == kind.display_name:
                    count[node, op] += 1
                    took[node, op] += event.duration_ps
    events = recorded(case).events
    ours: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    for row in range(len(events.name)):
        name = events.name[row].decode().removeprefix("_tf_data/")
        if not name.startswith("_eager/"):
            ours[name, events.op[row].decode()] += 1
            times[name, events.op[row].decode()] += int(events.long_ps[row])
    assert ours == count
    assert times == took
    assert bool((events.own_ps <= events.long_ps).all())


def test_shapes_and_moments_are_those_of_the_messages() -> None:
    planes = {plane.name: plane for plane in parsed("loop").planes}
    environment, plane = planes["Task Environment"], planes["/host:CPU"]
    begin = stats(environment, environment)["profile_start_time"]
    told = sorted(
        (
            begin + line.timestamp_ns + event.offset_ps // 1000,
            plane.event_metadata[event.metadata_id].name,
            stats(plane, event).get("shape", ""),
        )
        for line in plane.lines
        for event in line.events
        if plane.event_metadata[event.metadata_id].display_name
    )
    events = recorded("loop").events
    ours = sorted(
        (int(start), f"{name.decode()}:{op.decode()}", shape.decode())
        for start, name, op, shape, kind in zip(
            events.start_ns, events.name, events.op, events.shapes, events.kind, strict=True
        )
        if kind == NODE
    )
    assert ours == told


def test_allocations_are_those_of_the_messages() -> None:
    requested = output = 0
    for plane in parsed("keras").planes:
        for line in plane.lines:
            for event in line.events:
                if plane.event_metadata[event.metadata_id].name == "MemoryAllocation":
                    told = stats(plane, event)
                    if "tf_op" in told:
                        requested += told["requested_bytes"]
                        is_output = told["region_type"] == "output"
                        output += told["requested_bytes"] if is_output else 0
    memory = recorded("keras").memory
    assert int(memory.requested.sum()) == requested
    assert int(memory.output.sum()) == output
    assert int(memory.temporary.sum()) == requested - output
