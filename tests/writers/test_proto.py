"""The returned message: the original's, field by field; and how messages are put into bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

import draw
import hlo_wire
import ours
from case import VIEWS, Case, GraphDef
from profiles import DATA, PROFILES
from random_cases import agree, batches, make_case
from recorded import case_of, records
from same_proto import THEIRS, differences, mine, output
from sampling import sampled
from table_writer import varint
from tfprof.columns.strings import Strings
from tfprof.columns.tree import Tree
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.wire.encode import beside, entries, field, nested, numbers, packed, within
from tfprof.wire.schema import message
from tfprof.writers.proto import proto

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle import Oracle

DEPTH = 100_000
often = settings(deadline=None, max_examples=100)


# --- against the original ----------------------------------------------------------------------


@batches(300, 20, 20)
@pytest.mark.parametrize("view", VIEWS)
def test_random_cases_agree(oracle: Oracle, view: str, numbers: Sequence[int]) -> None:
    agree(numbers, lambda n: make_case(n, view), lambda case: differences(oracle, case))


RETURNED = [record for record in records() if record["cmd"] in VIEWS and record["result"]]


@pytest.mark.sampled
@pytest.mark.parametrize("recorded", sampled(RETURNED, 40, "returned"), ids=lambda case: case["id"])
def test_recorded_case(recorded: dict[str, Any]) -> None:
    case = case_of(recorded)
    case = replace(case, options=_without_output(dict(case.options)))
    assert mine(case) == text_format.Parse(recorded["result"], THEIRS[case.view]())


def _handmade() -> Iterator[dict[str, Any]]:
    index = json.loads((DATA / "handmade" / "index.json").read_text())
    for case in index["cases"]:
        if case["cmd"] in VIEWS:
            yield {**case, "options": {**index["defaults"], **case["options"]}}


@pytest.mark.parametrize("recorded", list(_handmade()), ids=lambda case: case["name"])
def test_handmade_model(recorded: dict[str, Any]) -> None:
    files = PROFILES["handmade"]
    case = Case(
        recorded["cmd"],
        ours.wire_of(files.graph),
        ours.wire_of(files.op_log),
        tuple((step, ours.wire_of(run)) for step, run in enumerate(files.runs)),
        _without_output(recorded["options"]),
    )
    expected = (DATA / "handmade" / f"{recorded['name']}.result.pbtxt").read_text()
    assert mine(case) == text_format.Parse(expected, THEIRS[case.view]())


def _without_output(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k not in ("output", "dump_to_file")}


# --- our own classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GraphNodeProto", "MultiGraphNodeProto", "TFProfTensorProto"])
def test_our_schema_has_every_field_of_theirs(name: str) -> None:
    def described(descriptor: Any) -> set[tuple[str, int, int]]:
        return {(one.name, one.number, one.type) for one in descriptor.fields}

    ours_: Any = message(f"tensorflow.tfprof.{name}").DESCRIPTOR
    assert described(ours_) == described(getattr(output, name).DESCRIPTOR)


def test_the_message_reads_with_our_own_classes() -> None:
    profile = draw.profile("w op=Variable params=2x3\nmul op=Mul us=40 out=2x3 < w, nowhere")
    read: Any = message("tensorflow.tfprof.GraphNodeProto")()
    read.ParseFromString(proto(answer(profile, "graph", Query())))
    (mul,) = read.children
    assert (mul.name, mul.exec_micros, mul.total_parameters) == ("mul", 40, 6)
    assert (list(mul.devices), mul.total_definition_count) == (["/cpu:0"], 2)
    assert mul.input_shapes[1].unknown_rank
    assert [child.name for child in mul.children] == ["w"]


def test_tensors_that_were_looked_up_stand_in_their_rows() -> None:
    profile = draw.profile("a params=2\nb params=1")
    report = answer(profile, "scope", Query())
    tensor: Any = message("tensorflow.tfprof.TFProfTensorProto")
    found = tensor(dtype=1, value_double=[0.5, -2.0])
    row = [*report.label].index(b"b")
    read: Any = message("tensorflow.tfprof.GraphNodeProto")()
    read.ParseFromString(proto(report, {row: found.SerializeToString(), 1: b""}))
    a, b = read.children
    assert b.tensor_value == found
    assert a.HasField("tensor_value")
    assert not a.tensor_value.dtype
    assert not read.HasField("tensor_value")


# --- deep trees --------------------------------------------------------------------------------


def children_of(data: bytes, number: int) -> Iterator[int]:
    """The length of each message on the way down a chain, read without any nesting."""
    at, end = 0, len(data)
    while at < end:
        tag, at = hlo_wire.varint(data, at)
        size, after = hlo_wire.varint(data, at)
        if tag == number << 3 | 2:
            assert after + size == end, "a child ends where its parent does"
            yield size
            at = after
        else:
            at = after + (size if tag & 7 == 2 else 0)


def test_a_chain_of_100000_nodes_is_written() -> None:
    links = ({"name": str(n), "op": "Add", "input": [str(n + 1)]} for n in range(DEPTH))
    case = Case("graph", GraphDef(node=links).SerializeToString())
    report = answer(ours.load(case), "graph", Query(max_depth=DEPTH + 1))
    data = proto(report)
    lengths = [*children_of(data, 12)]
    assert len(lengths) == DEPTH
    assert lengths == sorted(lengths, reverse=True)


def naive(tree: list[Any], number: int) -> bytes:
    """A message and its children, written the plain way."""
    own, *children = tree
    inside = [naive(child, number) for child in children]
    return bytes(own) + b"".join(varint(number << 3 | 2) + varint(len(one)) + one for one in inside)


# Lengths on both sides of where one more byte is needed to tell them.
sizes = st.sampled_from([0, 1, 2, 60, 123, 124, 125, 126, 127, 128, 16_378, 16_380, 16_383])
trees = st.recursive(
    sizes.map(lambda size: [b"x" * size]),
    lambda below: st.tuples(sizes, st.lists(below, max_size=4)).map(
        lambda pair: [b"x" * pair[0], *pair[1]]
    ),
    max_leaves=12,
)


@often
@given(trees)
def test_nested_messages_are_as_written_the_plain_way(tree: list[Any]) -> None:
    own: list[bytes] = []
    depth: list[int] = []
    waiting = [(tree, 1)]
    while waiting:
        (first, *children), at = waiting.pop()
        own.append(first)
        depth.append(at)
        waiting += [(child, at + 1) for child in reversed(children)]
    rows = Tree.from_depth(np.array(depth))
    column = Strings.of(own)
    assert beside(nested(rows, 12, column.length), column).blob.tobytes() == naive(tree, 12)


# --- columns of fields -------------------------------------------------------------------------

edges = [by + (sign << bits) for bits in range(63) for sign in (1, -1) for by in (0, -1)]
int64s = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from(edges))
# Words, what is shorter than a word, and what is too long to be copied by words.
texts = st.one_of(st.text(max_size=40), st.integers(1_020, 1_030).map(lambda size: "x" * size))


@often
@given(st.lists(st.tuples(texts, int64s, st.lists(int64s, max_size=5)), max_size=20))
def test_columns_are_read_back_by_protobuf(rows: list[tuple[str, int, list[int]]]) -> None:
    owner = np.repeat(np.arange(len(rows)), [len(listed) for _, _, listed in rows])
    listed = np.array([number for _, _, listed in rows for number in listed], np.int64)
    joined = beside(
        *field(1, Strings.of(text.encode() for text, _, _ in rows), empty=False),
        *numbers({8: np.array([number for _, number, _ in rows], np.int64)}),
        *packed(4, owner, listed, len(rows)),
        within(owner, len(rows), *entries(12, listed, *numbers({2: listed}))),
    )
    node: Any = message("tensorflow.tfprof.ProfileNode")
    for line, (text, number, some) in zip(joined, rows, strict=True):
        read = node.FromString(line)
        assert (read.name, read.float_ops, list(read.shape)) == (text, number, some)
        assert {key: value.all_start_micros for key, value in read.execs.items()} == {
            one: one for one in some
        }


def test_zero_and_nothing_are_not_written_unless_asked() -> None:
    zero, empty = np.zeros(1, np.int64), Strings.of([b""])
    assert beside(*numbers({1: zero}), *field(2, empty, empty=False))[0] == b""
    assert beside(*numbers({1: zero}, zeros=True), *field(2, empty))[0] == b"\x08\x00\x12\x00"
    assert beside(*entries(3, zero, empty))[0] == b"\x1a\x04\x08\x00\x12\x00"
