"""Saved profiles: ours and the original's say the same, and each reads what the other wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from google.protobuf import text_format

import draw
import ours
from case import VIEWS, Case, GraphDef
from converted import source
from random_cases import agree, batches, make_case
from same_saved import ProfileProto, differences, lost_on_the_way, shown
from saved_profiles import reread, save
from tfprof.checkers import advise
from tfprof.errors import InputError, UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import load
from tfprof.wire.schema import message
from tfprof.writers import advice
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle import Oracle
    from tfprof.model import Profile


OurProfileProto: Final[Any] = message("tensorflow.tfprof.ProfileProto")


# --- random cases ------------------------------------------------------------------------------


@batches(100, 8, 25)
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_lost_on_the_way(view: str, numbers: Sequence[int]) -> None:
    agree(numbers, lambda n: make_case(n, view), lost_on_the_way)


@batches(100, 10, 25)
@pytest.mark.parametrize("view", VIEWS)
def test_each_reads_what_the_other_wrote(oracle: Oracle, view: str, numbers: Sequence[int]) -> None:
    agree(numbers, lambda n: make_case(n, view), lambda case: differences(oracle, case))


@pytest.mark.parametrize("number", range(40))
def test_timelines_and_advice_are_the_same_afterwards(number: int) -> None:
    before = ours.load(make_case(number, "graph"))
    after = reread(save(before))
    assert [*advice.text(advise(after))] == [*advice.text(advise(before))]
    for step in before.steps:
        query = Query(step=step.number)
        charts = [timeline(answer(one, "graph", query)) for one in (before, after)]
        assert b"".join(charts[1].pieces()) == b"".join(charts[0].pieces())


# --- what stands in the file -------------------------------------------------------------------

TWO_STEPS = """
    w     op=Variable params=2x3 out=2x3
    mul   op=Mul us=40,40+90 bytes=100+0 flops=6 on=/job:a/gpu:3 types=x < w, nowhere, w
"""


def test_an_input_that_names_no_node_is_left_out_and_remembered() -> None:
    profile = draw.profile(TWO_STEPS)
    (mul,) = [n for n in OurProfileProto.FromString(save(profile)).nodes.values() if n.id == 1]
    assert dict(mul.inputs) == {0: 0, 2: 0}
    assert dict(mul.unknown_inputs) == {1: "nowhere"}
    assert dict(mul.src_output_index) == {0: 0}


def test_the_host_of_a_gpu_is_the_first_cpu() -> None:
    nodes = OurProfileProto.FromString(save(draw.profile(TWO_STEPS))).nodes
    assert (nodes[1].canonical_device, nodes[1].host_device) == ("/job:a/gpu:3", "/job:a/cpu:0")


def test_our_schema_has_every_field_of_theirs() -> None:
    def described(descriptor: Any, met: set[str]) -> set[tuple[str, int, int]]:
        fields = set()
        for one in descriptor.fields:
            fields.add((one.full_name, one.number, one.type))
            below = one.message_type
            # AttrValue is TensorFlow's own and large; of it we declare what we read.
            if below and below.full_name not in met | {"tensorflow.AttrValue"}:
                fields |= described(below, met | {below.full_name})
        return fields

    extra = {"uncovered", "unknown_inputs", "UnknownInputsEntry", "region", "regions", "Region"}
    extra |= {"layers", "all_devices", "planned"}
    extra |= {"input_slots", "InputSlotsEntry"}
    mine = described(OurProfileProto.DESCRIPTOR, set())
    assert described(ProfileProto.DESCRIPTOR, set()) == {
        one for one in mine if not extra & set(one[0].split("."))
    }


def test_many_nodes_are_written_in_pieces() -> None:
    graph = GraphDef()
    for number in range(20_000):
        graph.node.add(name=str(number), op="Add", input=[str(number // 2)])
    profile = ours.load(Case("scope", graph.SerializeToString()))
    pieces = [*saved(profile)]
    assert len(pieces) > 3
    again = reread(b"".join(pieces))
    assert [*again.nodes.name] == [*profile.nodes.name]
    assert again.edges.source.tolist() == profile.edges.source.tolist()


def test_a_profile_of_nothing_is_saved_and_read() -> None:
    assert len(reread(save(draw.profile("")))) == 0


def test_attributes_are_kept_as_they_were() -> None:
    graph = GraphDef()
    node = graph.node.add(name="a", op="Add")
    node.attr["data_format"].s = b"\xff\x00"
    node.attr["value"].tensor.string_val.append(b"x" * 3_000)
    data = save(ours.load(Case("scope", graph.SerializeToString())))
    assert ProfileProto.FromString(data).nodes[0].attrs == node.attr
    assert save(reread(data)) == data


# --- files that others wrote -------------------------------------------------------------------


def from_text(profile: str) -> Profile:
    return reread(text_format.Parse(profile, ProfileProto()).SerializeToString())


def entry(key: int, node: Any) -> bytes:
    """A node as it stands in the map of nodes, which may stand anywhere."""
    alone = ProfileProto()
    alone.nodes[key].CopyFrom(node)
    return bytes(alone.SerializeToString())


def test_nodes_stand_by_id_whatever_their_order_in_the_file() -> None:
    profile = draw.profile(TWO_STEPS)
    proto = ProfileProto.FromString(save(profile))
    w, mul = proto.nodes[0], proto.nodes[1]
    w.id, mul.id = 70, 2**40
    for index in mul.inputs:
        mul.inputs[index] = 70
    proto.ClearField("nodes")
    data = entry(mul.id, mul) + proto.SerializeToString() + entry(w.id, w)
    again = reread(data)
    assert [*again.nodes.name] == [b"w", b"mul"]
    for view in ("scope", "graph", "op"):
        case = Case(view, options={"select": ["micros", "params", "float_ops", "input_shapes"]})
        assert shown(again, case) == shown(profile, case)


def test_of_equal_ids_the_last_counts_and_of_equal_names_the_first() -> None:
    node = ProfileProto().nodes[0]
    node.name, node.op = "a", "Old"
    data = entry(5, node)
    node.op = "New"
    data += entry(5, node)
    node.op = "Other"
    data += entry(7, node)
    node.name = "b"
    node.inputs[0] = 7
    again = reread(data + entry(6, node))
    assert [*again.nodes.name] == [b"a", b"b"]
    assert again.types[int(again.nodes.op[0])] == b"New"
    assert again.edges.source.tolist() == [0]


def test_an_input_of_no_known_id_is_noted() -> None:
    profile = from_text('nodes { key: 0 value { name: "a" inputs { key: 0 value: 9 } } }')
    (note,) = profile.notes
    assert str(note) == "1 inputs name nodes that the saved profile does not have"
    assert not profile.edges.source.size


def test_numbers_that_are_not_packed_are_read() -> None:
    # id 0: name "a", shape 2 and 3, each a field of its own, then 4, packed.
    data = bytes.fromhex("0a0e 0800 120a 0a0161 2002 2003 220104")
    assert sorted(reread(data).nodes.shape[0]) == [2, 3, 4]


def test_a_record_of_nothing_is_still_a_record() -> None:
    profile = from_text('nodes { value { name: "a" float_ops: 6 execs { key: 3 value { } } } }')
    assert [step.number for step in profile.steps] == [3]
    # Q3: a node with a record counts what it ran.
    assert profile.values("float_ops", None).tolist() == [0]
    assert profile.coverage == pytest.approx(1)


def test_what_began_before_and_ended_after_what_counts_is_kept() -> None:
    record = """
      nodes { value { name: "a" execs { key: 0 value {
        run_count: 1 all_start_micros: 5 latest_end_micros: 90 devices: "/cpu:0" %s
        cpu_execs { key: "/cpu:0" value { times { int64_values: [10, 7] } } }
      } } } }
    """
    for further in ("", 'devices: "/gpu:0/memcpy"'):
        again = ProfileProto.FromString(save(from_text(record % further)))
        kept = again.nodes[0].execs[0]
        assert (kept.run_count, kept.all_start_micros, kept.latest_end_micros) == (1, 5, 90)


def test_memory_of_host_and_accelerator_goes_back_where_it_was() -> None:
    memory = """
      nodes { value { name: "a" execs { key: 0 value { devices: "/cpu:0"
        memory_execs { memory_micros: 9 host_temp_bytes: 1 host_persistent_bytes: 2 }
        memory_execs {
          memory_micros: 9 accelerator_persistent_bytes: 3
          output_memory { key: 1 value { bytes: 7 ptr: 18446744073709551615 } }
        }
      } } } }
    """
    given = text_format.Parse(memory, ProfileProto())
    again = ProfileProto.FromString(save(reread(given.SerializeToString())))
    assert again.nodes[0].execs[0] == given.nodes[0].execs[0]


# --- the door ----------------------------------------------------------------------------------


def test_a_saved_profile_is_loaded_by_itself() -> None:
    profile = draw.profile(TWO_STEPS)
    told: list[str] = []
    again = load(saved=source(save(profile)), progress=told.append)
    assert told == ["reading it"]
    case = Case("scope")
    assert shown(again, case) == shown(profile, case)
    with pytest.raises(UsageError, match="do not set --graph_path"):
        load(saved=source(save(profile)), graph=source(b"x"))


def test_what_is_no_saved_profile_is_refused_by_its_kind() -> None:
    graph = GraphDef()
    graph.node.add(name="a", op="Add")
    with pytest.raises(InputError, match="it is a GraphDef; expected a saved profile"):
        load(saved=source(graph.SerializeToString()))
    with pytest.raises(InputError, match="it is empty; expected a saved profile"):
        load(saved=source(b""))
    with pytest.raises(InputError, match=r"it is a saved profile \(ProfileProto\); expected a Gra"):
        load(graph=source(save(draw.profile(TWO_STEPS))))
