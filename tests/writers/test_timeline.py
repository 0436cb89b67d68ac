"""Timelines, ours against the C++ original: every file and all of stdout, byte for byte."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

import draw
import ours
from case import Case, GraphDef, RunMetadata
from oracle import UNRESTRICTED
from profiles import DATA, PROFILES
from random_cases import agree, batches, make_case
from random_values import chance
from recorded import case_of, with_output
from same_timeline import TIMELINE, Written, asking_for_a_timeline, differences, written
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.writers.timeline import Timeline, timeline
from tfprof.writers.timeline_memory import Bitset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle import Oracle


@batches(200, 25, 25)
@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_random_timelines_agree(oracle: Oracle, view: str, numbers: Sequence[int]) -> None:
    def make(number: int) -> Case:
        return asking_for_a_timeline(make_case(number, view))

    agree(numbers, make, lambda case: differences(oracle, case))


@batches(200, 50, 25)
def test_busy_accelerators_agree(oracle: Oracle, numbers: Sequence[int]) -> None:
    agree(numbers, busy_case, lambda case: differences(oracle, case))


LOCAL: Final = "/job:localhost/replica:0/task:0"
DEVICES: Final = (
    *(f"{LOCAL}/device:GPU:0", f"{LOCAL}/device:GPU:0", f"{LOCAL}/device:GPU:1"),
    *(f"{LOCAL}/device:CPU:0", "/job:cpu_farm/device:GPU:12", "/Stream:all/gpu:3", "/é/gpu:0"),
)
STREAMS: Final = (
    *(f"{LOCAL}/device:GPU:0/stream:all", f"{LOCAL}/device:GPU:0/stream:all"),
    *("/device:GPU:1/stream:all", "/stream:7", "/gpu:0/memcpy", "/stream:all", "/tpu:0"),
)
PIECES: Final = (
    *("a", "b", "c", "w", "conv", "\x7f", "\\u007f", '"', "\\", "\b\f\n\r\t", "\x00", "\x1f"),
    *("/", "é", "日本", "😀", "\u2028", "</x>", "_flow", "\ud7ff\ue000"),
)


def busy_case(seed: int) -> Case:
    """A model on several devices whose nodes start together, overlap, repeat and allocate."""
    rng = random.Random(f"busy {seed}")  # noqa: S311  repeatable, not secret
    count = rng.choice((0, 1, 5, 10, 20, 30, 80))
    names = ["".join(rng.choices(PIECES, k=rng.randrange(1, 4))) for _ in range(count)]
    names = list(dict.fromkeys(names))
    graph = GraphDef()
    for at, name in enumerate(names):
        node = graph.node.add(name=name, op=rng.choice(("MatMul", "Add", "VariableV2")))
        node.input.extend(rng.choices(names[: at + 1], k=rng.choice((0, 1, 2, 2, 5))))
    span = rng.choice((3, 40, 40, 2_000, 20_000))
    devices = DEVICES[: rng.randrange(1, len(DEVICES) + 1)]
    homes = {name: rng.choice(devices) for name in names}
    steps = [(number, busy_run(rng, homes, span)) for number in range(rng.choice((1, 1, 1, 3)))]
    options: dict[str, Any] = {"output": TIMELINE, "step": rng.choice((-1, 0, 0))}
    if chance(rng, 0.2):
        options["account_type_regexes"] = [rng.choice(("MatMul", "Add", ".*gpu.*", ".*r.*"))]
    if chance(rng, 0.2):
        options["order_by"] = rng.choice(("micros", "bytes", "params", ""))
    if chance(rng, 0.2):
        options["hide_name_regexes"] = [rng.choice(("a.*", ".*b", ".*w.*"))]
    return Case("graph", graph.SerializeToString(), b"", tuple(steps), options)


def busy_run(rng: random.Random, homes: Mapping[str, str], span: int) -> bytes:
    run = RunMetadata()
    run.step_stats.SetInParent()
    devices: dict[str, Any] = {}
    begin = rng.choice((1, 99, 1_500_000_000_000_000))
    stats = [(name, home) for name, home in homes.items() for _ in range(rng.choice((0, 1, 1, 4)))]
    stats += [(rng.choice(list(homes)), rng.choice(STREAMS)) for _ in range(30) if homes]
    rng.shuffle(stats)
    for name, where in stats:
        if where not in devices:
            devices[where] = run.step_stats.dev_stats.add(device=where)
        stat = devices[where].node_stats.add(node_name=name)
        stat.all_start_micros = 0 if chance(rng, 0.03) else begin + rng.randrange(span)
        stat.op_end_rel_micros = rng.choice((0, 1, 1, 2, 5, 50, 300, rng.randrange(span), -3))
        for _ in range(rng.choice((0, 1, 1, 2))):
            memory = stat.memory.add(allocator_name=rng.choice(("GPU_0_bfc", "GPU_0_bfc", "cpu")))
            memory.allocator_bytes_in_use = rng.choice((0, 10**6, rng.randrange(10**8), 10**9))
            for _ in range(rng.choice((0, 1, 3))):
                record = memory.allocation_records.add()
                record.alloc_micros = rng.choice((0, -5, begin + rng.randrange(2 * span)))
                record.alloc_bytes = rng.choice(
                    (10, 10, -10, 10**6, rng.randrange(-(10**6), 10**7))
                )
        if chance(rng, 0.3):
            stat.memory_stats.persistent_memory_size = rng.choice((10, 10, 10**6, 1_234_567))
    data: bytes = run.SerializeToString()
    return data


@pytest.mark.parametrize("recorded", with_output("timeline"), ids=lambda case: case["id"])
def test_recorded_timeline(recorded: dict[str, Any]) -> None:
    case = case_of(recorded)
    mine = written(case)
    assert {name: data.decode() for name, data in mine.files.items()} == recorded["files"]
    assert mine.stdout == recorded["stdout"]


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_handmade_timeline(view: str) -> None:
    folder = DATA / "handmade"
    index = json.loads((folder / "index.json").read_text())
    (recorded,) = [case for case in index["cases"] if case["name"] == f"{view}_timeline"]
    options = {**index["defaults"], **recorded["options"]}
    del options["dump_to_file"]
    mine = Written()
    mine.add(ours.files_loaded(PROFILES["handmade"]), view, options)
    ((name, data),) = mine.files.items()
    assert data == (folder / f"{view}_timeline.{name}.json").read_bytes()
    assert mine.stdout == (folder / f"{view}_timeline.stdout.txt").read_text()


def drawn(drawing: str, view: str, **options: Any) -> Timeline:
    query = Query.of({**UNRESTRICTED, **options})
    return timeline(answer(draw.profile(drawing), view, query))


def test_op_view_has_no_timeline() -> None:
    with pytest.raises(UsageError, match="op view doesn't support timeline yet"):
        drawn("a us=5", "op")


def test_a_timeline_can_be_read_twice_and_comes_in_pieces() -> None:
    line = drawn("\n".join(f"n{at} us=1" for at in range(20_000)), "scope")
    assert list(line.pieces()) == list(line.pieces())
    assert max(map(len, line.pieces())) < 2_000_000
    assert len(json.loads(b"".join(line.pieces()))["traceEvents"]) == 20_003


def test_a_deep_chain_is_no_special_case() -> None:
    chain = "n0 us=1\n" + "\n".join(f"n{at} us=1 < n{at - 1}" for at in range(1, 5_000))
    line = drawn(chain, "graph", step=0)
    events = json.loads(b"".join(line.pieces()))["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 5_000
    assert {event["tid"] for event in events if event["ph"] == "X"} == {0}


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 5_000])
def test_members_are_found_from_anywhere(size: int) -> None:
    rng = random.Random(size)  # noqa: S311  repeatable, not secret
    members, plain = Bitset(size), set[int]()
    for _ in range(500 if size else 1):
        for number in rng.sample(range(size), min(size, 3)):
            (members.remove if number in plain else members.add)(number)
            plain ^= {number}
        at = rng.randrange(size + 2)
        assert members.at_or_after(at) == min((n for n in plain if n >= at), default=-1)


def test_more_inputs_may_name_no_node_than_there_are_nodes() -> None:
    line = drawn("a us=5 on=/gpu:0\nb us=7 < a, lost, gone, nowhere, never", "graph", step=0)
    events = json.loads(b"".join(line.pieces()))["traceEvents"]
    assert sorted(one["name"] for one in events if one["ph"] == "X") == ["a", "b"]
    assert sum(one["ph"] in ("s", "t") for one in events) == 2
