"""The memory that XLA plans: what JAX's memory_analysis() said of each program."""

from __future__ import annotations

import json
import pickle
from math import inf, nan, prod
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hlo_oracle
import tfprof as library
from hlo_made import computation, module, number, packed, parameter
from hlo_recorded import DATA, by_type, content, facts, loaded, path
from tfprof.columns.memory_plan import MemoryPlan
from tfprof.read.detect import detect
from tfprof.read.loading import load
from tfprof.read.source import Source
from tfprof.tables.formats import FORMATS
from tfprof.wire.scalar import encode_bytes
from tfprof.writers.saved import saved as save

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from tfprof.model import Profile

RECORDED = [
    *((name, folder, "hlo.pb") for folder in (DATA, DATA / "jax_0_4") for name in facts(folder)),
    *((name, DATA, "xplane.pb") for name in ("flax_linen", "runtime_loop", "sharded")),
]


@pytest.mark.parametrize(("name", "folder", "form"), RECORDED)
def test_a_plan_is_what_jax_says(name: str, folder: Path, form: str) -> None:
    """Of a program, and of a trace, which has its program."""
    said, file = facts(folder)[name].memory, path(name, form, folder)
    program = library.load(trace=file) if form == "xplane.pb" else library.load(file)
    plan = MemoryPlan(*program.profile.planned)
    assert (plan.arguments, plan.outputs) == (said["argument"], said["output"])
    assert (plan.temporary, plan.shared) == (said["temp"], said["alias"])


def test_instructions_that_ran_have_the_bytes_of_their_results() -> None:
    """Arrays of float32: 4 bytes per element, however often an instruction ran."""
    read = hlo_oracle.module(content("flax_linen"))
    entry = [read.instructions[number] for number in read.computations[read.entry]]
    dots = {one.name: 4 * prod(one.shape) for one in entry if one.opcode == "dot"}
    assert len(dots) > 1
    trace = library.load(trace=path("flax_linen", "xplane.pb"))
    rows = trace.scope(select=["output_bytes"], max_depth=100).rows
    said = {row.name.rpartition("/")[2]: row.own_output_bytes for row in rows}
    assert {name: said[name] for name in dots} == dots
    assert any("output_bytes is what XLA plans" in str(note) for note in trace.profile.notes)


def test_a_loop_has_its_buffers_once() -> None:
    """Its body ran seven times in a step: a product and its tanh, a counter, a comparison."""
    rows = library.load(trace=path("runtime_loop", "xplane.pb")).op(select=["output_bytes"]).rows
    size = {row.name: row.own_output_bytes for row in rows}
    assert size["fusion"] == 2 * (4 * 64 * 4) + 4 + 1


def test_the_sum() -> None:
    # Two constants of 4 bytes are more than JAX's own three numbers.
    total = loaded("flax_linen").overview().total
    assert total["planned_bytes"] == 316_556 + 304_608 + 20_548 + 2 * 4


def allocation(size: int, *flags: int) -> bytes:
    return encode_bytes(3, number(2, size) + b"".join(number(flag, 1) for flag in flags))


def program(nodes: int, *allocations: bytes) -> Profile:
    parameters = (parameter(f"p{at}", at + 1, at) for at in range(nodes))
    inside = module("m", 1, computation("main", 1, 1, *parameters))
    data = encode_bytes(1, inside) + encode_bytes(3, b"".join(allocations))
    return load(Source("made", np.frombuffer(data, np.uint8)))


def made(*allocations: bytes) -> tuple[float, ...]:
    return program(1, *allocations).planned


def test_what_is_donated_counts_once() -> None:
    """An argument whose memory holds a result, one of a thread, and one in another memory."""
    sizes = allocation(100, 5, 7), allocation(30), allocation(7, 3), allocation(9, 8)
    plan = MemoryPlan(*made(*sizes))
    assert plan == (100, 100, 100, 30, 0)
    assert plan.total == 130


@pytest.mark.parametrize("size", [2**64 - 1, 2**63 - 1])
def test_damaged_sizes(size: int) -> None:
    plan = MemoryPlan(*made(allocation(size), allocation(size)))
    assert 0 <= plan.total < 2**63


@pytest.mark.parametrize("form", ["module.pb", "txt", "before.pb"])
def test_without_an_assignment_there_is_no_plan(form: str, tfprof: Command) -> None:
    assert not loaded("flax_linen", form).profile.planned
    assert "planned_bytes" not in loaded("flax_linen", form).overview().total
    assert tfprof("overview", str(path("flax_linen", form))) == 0
    assert "Memory plan" not in tfprof.out


def test_overview_and_info_show_it(tfprof: Command) -> None:
    assert tfprof("overview", str(path("flax_linen"))) == 0
    line = "Memory plan  642 kB: 317 kB arguments, 305 kB outputs, 20.5 kB temporary"
    assert line in tfprof.out
    assert tfprof("info", str(path("flax_linen"))) == 0
    assert "memory plan in bytes: in all 641,720, arguments 316,556, outputs 304,608" in tfprof.out
    assert tfprof("overview", str(path("flax_linen")), "--format=json") == 0
    assert json.loads(tfprof.out)["total"]["planned_temporary_bytes"] == 20_548


def test_all_devices_plan_the_same() -> None:
    one = loaded("grid").overview().total["planned_bytes"]
    assert one == 1360 + 1152 + 408
    assert library.load(path("grid"), devices="all").overview().total["planned_bytes"] == 4 * one


def test_a_plan_and_devices_are_kept(tmp_path: Path) -> None:
    every = library.load(path("grid"), devices="all")
    every.convert(tmp_path / "converted")
    every.save(tmp_path / "saved")
    converted, saved = (library.load(profile=tmp_path / name) for name in ("converted", "saved"))
    again = pickle.loads(pickle.dumps(every.profile))  # noqa: S301 - our own
    for profile in (again, converted.profile):
        assert (profile.planned, profile.devices) == (every.profile.planned, (4.0,))
    for other in (converted, saved):
        ours, theirs = (by_type(each)["_TFProfRoot"] for each in (every, other))
        assert theirs.total_float_ops == ours.total_float_ops
        assert theirs.total_params == ours.total_params


@pytest.mark.parametrize("nodes", [1, 12, 35, 199])
def test_a_saved_program_is_recognised(nodes: int, tfprof: Command, tmp_path: Path) -> None:
    data = b"".join(save(program(nodes, allocation(100, 5), allocation(30))))
    assert detect(memoryview(data)) is FORMATS["profile"]
    (tmp_path / "saved").write_bytes(data)
    assert tfprof("overview", str(tmp_path / "saved"), "--format=json") == 0
    total = json.loads(tfprof.out)["total"]
    assert (total["planned_arguments_bytes"], total["planned_bytes"]) == (100, 130)


def test_a_saved_program_of_all_devices_is_recognised(tfprof: Command, tmp_path: Path) -> None:
    library.load(path("grid"), devices="all").save(tmp_path / "saved")
    assert tfprof("overview", str(tmp_path / "saved"), "--format=json") == 0
    assert json.loads(tfprof.out)["total"]["planned_bytes"] == 4 * (1360 + 1152 + 408)


@pytest.mark.parametrize(
    "amounts",
    [
        (0, 0, 5, 0, 0), (9, 4, 5, 0, 0), (4, 9, 5, 0, 0), (-1, 0, 0, 0, 0), (1, 1, 0, 0, inf),
        (1, 1, 0, nan, 0), (1, 1, 0, 0), (),
    ],
)  # fmt: skip
def test_amounts_that_are_no_plan(amounts: tuple[float, ...]) -> None:
    assert MemoryPlan.of(amounts) is None


@pytest.mark.parametrize("amounts", [(0, 0, 5, 0, 0), (0, 0, 0, 0, 0)])
def test_a_damaged_plan_shows_nothing(
    amounts: tuple[int, ...], tfprof: Command, tmp_path: Path
) -> None:
    data = b"".join(save(program(3))) + packed(32, amounts)
    (tmp_path / "saved").write_bytes(data)
    assert tfprof("overview", str(tmp_path / "saved")) == 0
    assert "Memory plan" not in tfprof.out


def test_info_of_a_trace_shows_it(tfprof: Command) -> None:
    """The same as of the dump, of which it has the program."""
    trace = str(path("flax_linen", "xplane.pb"))
    assert tfprof("info", trace) == 0
    assert "memory plan in bytes: in all 641,720, arguments 316,556, outputs 304,608" in tfprof.out
    assert tfprof("info", trace, "--format=json") == 0
    assert '"in all 641720", "arguments 316556"' in tfprof.out
