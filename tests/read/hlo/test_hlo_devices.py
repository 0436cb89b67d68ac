"""--devices=all: programs on several devices, held to the figures of the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof as library
from hlo_made import computation, instruction, module, number, packed, parameter
from hlo_recorded import DATA, FORMS, by_type, contracted, elements, facts, path
from tfprof.errors import UsageError
from tfprof.read.loading import load
from tfprof.read.source import Source
from tfprof.results.loaded import Loaded
from tfprof.wire.scalar import encode_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command


# The products of matrices of the whole batch: rows, inner dimension, columns.
PRODUCTS: Final = {
    "sharded": [(16, 32, 24), (16, 24, 8), (24, 16, 8), (16, 8, 24), (32, 16, 24)],
    "mapped": [(6, 32, 12)],
    "grid": [(8, 16, 12), (8, 12, 6), (12, 8, 6), (8, 6, 12), (16, 8, 12)],
}


def of_all(name: str, form: str = "hlo.pb", folder: Path = DATA, **options: Any) -> Loaded:
    weights = "w" if name == "mapped" else None
    return library.load(path(name, form, folder), devices="all", weights=weights, **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_all_devices_do_the_work_of_the_whole_program(name: str, form: str) -> None:
    whole = sum(2 * rows * inner * columns for rows, inner, columns in PRODUCTS[name])
    assert contracted(of_all(name, form)) == whole
    assert contracted(library.load(path(name, form))) * 4 == whole


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_weights_are_whole_and_copies_count_once(name: str, form: str) -> None:
    said = facts()[name]
    loaded = of_all(name, form)
    assert loaded.summary().total["parameters"] == elements(said.params)
    # Momentum is divided as the weights are.
    total = by_type(loaded)["_TFProfRoot"].total_params
    assert total == elements(said.params) + elements(said.optimizer)


def test_programs_of_jax_0_4() -> None:
    loaded = of_all("sharded", folder=DATA / "jax_0_4")
    assert contracted(loaded) == sum(2 * a * b * c for a, b, c in PRODUCTS["sharded"])


def test_the_note_says_what_is_counted() -> None:
    (note,) = of_all("sharded").profile.notes
    assert str(note).startswith("figures are those of all 4 devices")
    (note,) = library.load(path("sharded")).profile.notes
    assert "one device (--devices=all: of all)" in str(note)


@pytest.mark.parametrize("devices", ["one", "all"])
def test_a_program_that_is_not_yet_divided_is_whole(devices: str) -> None:
    """Before optimizations, shardings stand beside the shapes of the whole program."""
    loaded = library.load(path("grid", "before.pb"), devices=devices)
    assert contracted(loaded) == sum(2 * a * b * c for a, b, c in PRODUCTS["grid"])
    assert loaded.summary().total["parameters"] == elements(facts()["grid"].params)
    assert not loaded.profile.notes


def test_runs_have_all_devices_already() -> None:
    """A trace records the runs of each device: they are not multiplied again."""
    trace = DATA / "sharded.xplane.pb.gz"
    one, every = (
        library.load(path("sharded"), trace=trace, devices=devices) for devices in ("one", "all")
    )
    ran = by_type(one)["dot"].total_float_ops
    assert by_type(every)["dot"].total_float_ops == ran
    assert contracted(every) == sum(2 * a * b * c for a, b, c in PRODUCTS["sharded"])


def test_programs_of_a_trace_alone() -> None:
    """The rows of `x`, here called a weight, are divided: [4, 32] on each of four devices."""
    trace = DATA / "sharded.xplane.pb.gz"
    one, every = (
        library.load(trace=trace, weights="x", devices=devices) for devices in ("one", "all")
    )
    assert one.summary().total["parameters"] == 4 * 32
    assert every.summary().total["parameters"] == 16 * 32
    assert contracted(every) == sum(2 * a * b * c for a, b, c in PRODUCTS["sharded"])


def divided(sharding: bytes, *, assignment: bytes = b"", own: bool = False) -> bytes:
    """A negation of a weight of [2, 3] with this sharding, its *own* or in the list of all."""
    weight = parameter("p", 1, op_name="params['w']")
    weight += encode_bytes(40, sharding) if own else b""
    entry = computation("main_spmd", 1, 2, weight, instruction("n", "negate", 2, [1]))
    listed = encode_bytes(2, b"main_spmd") if own else encode_bytes(14, sharding)
    given = encode_bytes(15, assignment) if assignment else b""
    return module("m", 1, entry, more=listed + given)


def test_without_an_assignment_tiles_say_how_many_devices() -> None:
    # Two tiles by three, on two devices each.
    loaded = loaded_of(divided(number(1, 3) + packed(3, [2, 3, 2])))
    rows = by_type(loaded)
    assert rows["_TFProfRoot"].total_params == (2 * 2) * (3 * 3)
    assert rows["negate"].total_float_ops == 2 * 3 * 12


def test_a_sharding_of_the_parameter_itself() -> None:
    tiles = number(1, 3) + packed(3, [2, 1])
    data = divided(tiles, assignment=number(1, 1) + number(2, 2), own=True)
    assert by_type(loaded_of(data))["_TFProfRoot"].total_params == (2 * 2) * 3


def test_replicas_run_the_same_program() -> None:
    assignment = number(1, 5) + number(2, 2)
    rows = by_type(loaded_of(divided(number(1, 0), assignment=assignment)))
    assert rows["_TFProfRoot"].total_params == 2 * 3
    assert rows["negate"].total_float_ops == 2 * 3 * 10


@pytest.mark.parametrize("tiles", [[2**63 - 1, 2**40], [0, 0], [2**31, 2**31, 2**31], [7] * 40])
def test_damaged_shardings(tiles: list[int]) -> None:
    rows = by_type(loaded_of(divided(number(1, 3) + packed(3, tiles))))
    assert rows["_TFProfRoot"].total_params >= 6
    assert rows["negate"].total_float_ops >= 6


def loaded_of(data: bytes) -> Loaded:
    return Loaded(load(Source("made", np.frombuffer(data, np.uint8)), devices="all"))


def test_what_the_option_takes(tfprof: Command, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="devices takes one or all, not 'two'"):
        library.load(path("sharded"), devices="two")
    assert tfprof("op", str(path("sharded")), "--devices=two") == 2
    assert tfprof("op", str(path("grid")), "--devices=all") == 0
    assert "all 4 devices" in tfprof.out + tfprof.err
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "a" op: "NoOp" }')
    assert tfprof("op", str(graph), "--devices=one") == 0
    assert tfprof("op", str(graph), "--devices=all") == 2
    assert "graph.pbtxt has no devices of a program; --devices=all is for" in tfprof.err


def test_explain_counts_devices() -> None:
    nodes = of_all("sharded").explain(op="dot").explanation.nodes
    assert {node.runs.times for node in nodes} == {4}
    assert all("on each of 4 devices" in node.runs.why for node in nodes)
