"""Names that nodes have when they run, and the nodes of the graph that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Regions
from tfprof.read.called_functions import Calls
from tfprof.read.runtime_names import canonical, is_added, node_of
from xplane_traces import graph, recorded

if TYPE_CHECKING:
    from tfprof.model import Profile

CANONICAL = {
    # bodies, also in each other
    "loop/while/body/_7/loop/while/MatMul": "loop/while/body/loop/while/MatMul",
    "loop/while/cond/_4/Less": "loop/while/cond/Less",
    "a/cond/then/_30/x": "a/cond/then/x",
    "a/cond/else/_31/x": "a/cond/else/x",
    "a/case/branch12/_40/x": "a/case/branch12/x",
    "w/body/_1/w/c/then/_9/call/x": "w/body/w/c/then/call/x",
    # what loops and choices are made of
    "loop/while/enter/_8": "loop/while",
    "loop/while/LoopCond/_15": "loop/while",
    "loop/while/next_iteration/_26": "loop/while",
    "w/body/_1/w/inner/merge/_3": "w/body/w/inner",
    "a/cond/switch_pred/_32": "a/cond",
    "a/cond/pivot_f/_33": "a/cond",
    "a/cond/output/_37": "a/cond",
    "a/case/branch_index/_41": "a/case",
    # … by the name of what goes through them
    "loop/while/loop/while/loop_counter_switch/_16": "loop/while",
    "a/cond/loop/while/exit/_24/_36": "a/cond",
    # calls
    "Func/net/call/input/_2": "net/call",
    "Func/net/call/output_control_node/_5": "net/call",
    "Func/loop/while/body/_7/input/_294": "loop/while",
    "Func/w/body/_1/call/output/_3": "w/body/call",
    # what an optimizer makes, what is fed and fetched
    "x/y__cf__3": "x/y",
    "ConstantFolding/g/grad/ShapeN-matshapes-1": "g/grad/ShapeN",
    "ConstantFolding/x/y": "x/y",
    "_arg_x/in_0_1": "x/in",
    "_retval_fc/MatMul_0_0": "fc/MatMul",
    # what only looks like any of it
    "plain/name_1": "plain/name_1",
    "body/_scope/x": "body/_scope/x",
    "unknown/_12": "unknown/_12",
}


def test_names_of_the_runtime_are_told_from_those_of_the_graph() -> None:
    told = canonical(Strings.of(name.encode() for name in CANONICAL))
    assert dict(zip(CANONICAL, told.texts(), strict=True)) == CANONICAL


@pytest.mark.parametrize("name", ["w/merge/_3", "Func/c/input/_1", "x__cf__2", "_arg_x_0_0"])
def test_what_the_runtime_made_is_known(name: str) -> None:
    assert is_added(name.encode())
    assert not is_added(name.replace("_", "").replace("Func", "f").encode())


def test_nodes_are_found_under_any_of_their_names() -> None:
    """Also below the calls of the graph, and without the call that inlined them."""
    product = "StatefulPartitionedCall/inside/product"
    again = "repeated/while/body/repeated/while/turn/again"
    names = {
        "first/MatMul": "first/MatMul",
        "repeated/while/body/_5/repeated/while/turn/again": again,
        "repeated/while/merge/_99": "repeated/while",
        "repeated/while/any/thing_switch/_1": "repeated/while",
        product: product,
        "nowhere": "",
        "inside/product": product,
        "StatefulPartitionedCall_3/first/MatMul": "first/MatMul",
    }
    profile = graph("loop")
    rows = node_of(profile, Strings.of(name.encode() for name in [*names, "first/MatMul"])).tolist()
    found = [profile.nodes.name[row].decode() if row >= 0 else "" for row in rows]
    assert found == [*names.values(), "first/MatMul"]


def of_functions(*functions: bytes) -> Profile:
    """The graph with two calls of the same body, as if they called these functions."""
    profile = graph("kept")
    regions = replace(profile.regions, function=Strings.of(functions))
    return replace(profile, regions=regions)


def test_the_function_that_was_called_tells_nodes_of_one_name_apart() -> None:
    apart = of_functions(b"one", b"other")
    top = [apart.nodes.name[int(row)] for row in apart.regions.call]
    assert top == [b"calling/PartitionedCall", b"PartitionedCall"]
    names = Strings.of([b"inside/product"] * 2)
    rows = node_of(apart, names, Strings.of([b"one", b"other"]))
    assert [apart.nodes.name[int(row)] for row in rows] == [
        b"calling/PartitionedCall/inside/product",
        b"PartitionedCall/inside/product",
    ]


def test_of_an_unknown_function_nothing_is_taken_that_several_calls_have() -> None:
    profile = of_functions(b"__inference_one_1", b"__inference_other_2")
    names = Strings.of([b"inside/product"] * 3)
    functions = Strings.of([b"", b"__inference_other_2", b"__inference_one_1"])
    rows = node_of(profile, names, functions).tolist()
    assert rows[0] == -1
    assert [profile.nodes.name[row] for row in rows[1:]] == [
        b"PartitionedCall/inside/product",
        b"calling/PartitionedCall/inside/product",
    ]


def test_a_function_of_xla_has_its_name_in_fewer_letters() -> None:
    profile = of_functions(b"__inference_<lambda>_1", b"__inference_other_2")
    row = node_of(profile, Strings.of([b"inside/product"]), Strings.of([b"__inference__lambda__1"]))
    assert profile.nodes.name[int(row[0])] == b"calling/PartitionedCall/inside/product"


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (b"__inference_block_2_15", b"block_2"),
        (b"__forward_block_15", b"block"),
        (b"__inference___backward_block_2_15_19", b"block_2_backward"),
        (b"block_2", b""),
    ],
)
def test_a_function_without_its_number_is_called_as_in_the_program(
    function: bytes, call: bytes
) -> None:
    named = Calls([b"block", b"block_2", b"block_2_backward"], [], {}, {})
    assert named.call(function) == call


def test_without_regions_nothing_is_below_a_call() -> None:
    profile = replace(graph("loop"), regions=Regions())
    assert node_of(profile, Strings.of([b"inside/product"])).tolist() == [-1]


def test_all_nodes_that_a_trace_names_are_found_but_for_what_is_handed_over() -> None:
    events = recorded("loop").events
    rows = node_of(graph("loop"), events.name, events.function).tolist()
    lost = {name for name, row in zip(events.name, rows, strict=True) if row < 0}
    assert lost == {
        b"_eager/AddV2", b"first_matmul_readvariableop_resource", b"identity_retval_RetVal",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        b"/" * 200_000 + b"_1",
        b"a/body/_1/" * 20_000 + b"/_1",
        b"-a-1" * 50_000,
        b"_arg" + b"_1" * 99_999,
    ],
    ids=["slashes", "bodies", "folded", "fed"],
)
def test_long_names_come_to_an_end(name: bytes) -> None:
    names = Strings.of([name, b"ConstantFolding/" + name])
    assert len(canonical(names)) == 2
    assert node_of(graph("loop"), names).tolist() == [-1, -1]
