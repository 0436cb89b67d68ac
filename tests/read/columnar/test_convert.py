"""Converted profiles: each answers as the files it was made from, to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

import draw
import ours
import sampling
from case import VIEWS
from converted import answers, columns, convert, known, reread, source
from forged import put_together, taken_apart
from profiles import PROFILES, content
from random_cases import make_case
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace as another
from tfprof.model import Profile
from tfprof.read import load
from tfprof.wire.schema import message

CASES = 40  # a view
HANDMADE = PROFILES["handmade"]
GraphDef: Final[Any] = message("tensorflow.GraphDef")
RunMetadata: Final[Any] = message("tensorflow.RunMetadata")


@pytest.mark.parametrize("name", PROFILES)
def test_real_profiles_are_the_same_afterwards(name: str) -> None:
    before = ours.files_loaded(PROFILES[name])
    after = reread(convert(before))
    assert len(before) > 5
    assert known(after) == known(before)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampling.sampled([*PROFILES], 1, "converted"))
def test_real_profiles_give_the_same_answers(name: str) -> None:
    before = ours.files_loaded(PROFILES[name])
    after = reread(convert(before))
    options = {} if name == "handmade" else {"max_depth": 6, "min_micros": 1}
    expected = answers(before, options)
    assert len(expected["scope all"][0]) > 500
    assert answers(after, options) == expected


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_random_profiles_are_the_same_afterwards(view: str) -> None:
    for number in sampling.numbers(CASES, CASES // 8):
        before = ours.load(make_case(number, view))
        data = convert(before)
        after = reread(data)
        assert known(after) == known(before), number
        assert convert(after) == data, number


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_random_profiles_give_the_same_answers(view: str) -> None:
    for number in sampling.numbers(CASES // 8, 2):
        before = ours.load(make_case(number, view))
        assert answers(reread(convert(before))) == answers(before), number


def test_numbers_of_every_size_survive() -> None:
    """Those at the ends of 64 bits, and those that rise or fall too much for a narrow column."""
    drawn = draw.profile("\n".join(f"n{i} op=A us={i + 1}" for i in range(300)))
    ends = np.array([0, -(2**63), 2**63 - 1, 1, -1, 2**31, -(2**31), 2**32, 255, 256] * 30)
    far = np.arange(300) * 200 + 10**15
    up_and_down = np.where(np.arange(300) % 2, 100, -100) + 10**17
    for numbers in (ends, far, -far, up_and_down, far * 10**6, np.sort(ends), ends[::-1].copy()):
        before = another(drawn, nodes=another(drawn.nodes, float_ops=numbers))
        after = reread(convert(before))
        assert after.nodes.float_ops.tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([10**15, 10**15 + 255, 10**15] * 100, "u1"), ([-1, 254, 3] * 100, "u1"),
        ([-1, 255, 3] * 100, "u2"), (list(range(0, 300 * 255, 255)), "+u1"),
        (list(range(300 * 128, 0, -128)), "+i1"), (list(range(300 * 129, 0, -129)), "u2"),
        ([0, 2**32 - 1, 5] * 100, "u4"), ([0, 2**32, 5] * 100, "i8"),
    ],
)  # fmt: skip
def test_a_column_takes_as_few_bytes_as_it_can(numbers: list[int], kind: str) -> None:
    drawn = draw.profile("\n".join(f"n{i} op=A" for i in range(300)))
    nodes = another(drawn.nodes, float_ops=np.array(numbers))
    stored = taken_apart(convert(another(drawn, nodes=nodes)))["nodes.float_ops"]
    assert stored.kind == kind
    assert stored.numbers == numbers


def test_a_profile_of_nothing_survives() -> None:
    assert known(reread(convert(Profile()))) == known(Profile())


def test_the_file_is_smaller_than_half_of_the_others() -> None:
    """Of the binary ones alone: the graphs of these samples are text, which is larger still."""
    for name in ("resnet", "seq2seq"):
        files = PROFILES[name]
        before = sum(len(content(file)) for file in (*files.runs, files.op_log))
        assert len(convert(ours.files_loaded(files))) < before / 2


def test_equal_attributes_are_stored_once_and_long_ones_each() -> None:
    graph = GraphDef()
    for number in range(50):
        node = graph.node.add(name=f"n{number}", op="Const")
        node.attr["note"].s = b"short"
        node.attr["value"].s = b"long" * 100
    before = load(source(graph.SerializeToString(deterministic=True)))
    data = convert(before)
    assert data.count(b"short") == 1
    assert data.count(b"long" * 100) == 50
    assert known(reread(data))["attributes"] == known(before)["attributes"]
    assert len(known(before)["attributes"]) == 100


def test_shapes_that_only_a_run_tells_and_their_notes_are_kept() -> None:
    graph, run = GraphDef(), RunMetadata()
    device = run.step_stats.dev_stats.add(device="/cpu:0")
    for name, dims in (("open", (-1, 3)), ("odd", (-1, 4))):
        shape = graph.node.add(name=name, op="Relu").attr["_output_shapes"].list.shape.add()
        stat = device.node_stats.add(node_name=name, all_start_micros=1)
        told = stat.output.add().tensor_description.shape
        for dim, size in zip(dims, (2, 3), strict=True):
            shape.dim.add(size=dim)
            told.dim.add(size=size)
    before = load(source(graph.SerializeToString()), [source(run.SerializeToString())])
    after = reread(convert(before))
    assert after.outputs.shape[0] == [-1, 3]
    assert after.with_run_shapes.outputs.shape[0] == [2, 3]
    (note,) = after.with_run_shapes.notes
    said = "incompatible shapes: Shapes (None, 4) and (2, 3) are not compatible."
    assert note.text == f"Node odd {said}"
    assert known(after) == known(before)


def test_the_columns_of_format_3() -> None:
    """Where this list changes, FORMAT in read/columnar/coding.py has to be raised."""
    stored = taken_apart(convert(draw.profile("a op=A us=1 types=t flops=1")))
    step = (
        "number node device devices.text devices.length start_us us counts_as memory_node "
        "memory_us requested peak residual output in_use on_host temporary persistent "
        "allocation_node allocation_us allocation_bytes output_row output_slot output_bytes "
        "output_pointer"
    )
    outputs, notes = "start shape.start shape.dim", "text.text text.length times ours"
    tables = {
        "nodes": "name.text name.length op device float_ops stack shape.start shape.dim",
        "edges": "start source slot unknown.text unknown.length",
        "outputs": outputs,
        "regions": "of_node call kind returns function.text function.length prefix",
        "stacks": "start file line function function_line source text_id text.text text.length",
        "steps.0": step,
        "notes": notes,
        "attributes": "described node text texts.text texts.length",
        "run_shapes.outputs": outputs,
        "run_shapes.notes": notes,
    }
    listed = {f"{table}.{name}" for table, names in tables.items() for name in names.split()}
    alone = "types.text types.length typed_node typed_as has_traces steps covered times"
    assert set(stored) == {*listed, *alone.split(), "misses_accelerator_stream"}
    assert convert(draw.profile("a op=A"))[8:12] == b"\3\0\0\0"


def test_every_column_of_the_model_is_in_the_file() -> None:
    """One that is changed is found changed: nothing is made up by who reads."""
    profile = ours.files_loaded(HANDMADE)
    data = convert(profile)
    stored = taken_apart(data)
    ignored = []
    for name, column in stored.items():
        if not column.stored or name.startswith(("attributes", "run_shapes")):
            continue
        wrong = bytearray(column.stored)
        wrong[-1] ^= 1
        try:
            after = reread(put_together({**stored, name: replace(column, stored=bytes(wrong))}))
        except InputError:
            continue
        if dict(columns(after)) == dict(columns(profile)):
            ignored.append(name)
    assert not ignored


def test_the_same_files_give_the_same_bytes() -> None:
    made = set()
    for seed in ("1", "2"):
        program = (
            "import sys, tfprof; from tfprof.writers.columnar import columnar\n"
            "sys.stdout.buffer.write(b''.join(columnar(tfprof.load_sample().profile)))"
        )
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ran = [sys.executable, "-c", program]
        made.add(subprocess.run(ran, env=environment, check=True, capture_output=True).stdout)
    (data,) = made
    assert data == convert(ours.files_loaded(PROFILES["resnet"]))
