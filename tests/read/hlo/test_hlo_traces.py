"""Times of programs of XLA: each event of an instruction is a run of its node.

Expected times are sums of the events in the file, by a second reader (`xplane_oracle`), or put
together by hand (`jax_traces`), where each instruction takes as long as its place says.
"""

from __future__ import annotations

import pickle
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

import hlo_oracle
import jax_traces
import tfprof
from hlo_events import held, notes, ran, read, with_programs
from hlo_recorded import content, elements, facts, path
from page_files import PageFile
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import add_trace, load
from tfprof.read.xplane import with_trace
from tfprof.writers.saved import saved
from xplane_oracle import instruction_runs
from xplane_traces import counts, micros, plane, source, trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jax_traces import JaxTrace
    from tfprof.model import Profile

RECORDED: Final = {"flax_linen": 3, "runtime_loop": 2, "sharded": 2}
"""The programs of which there is a trace, and the steps in it."""
NOT_IN_GRAPH: Final = "_not_in_graph/"
ON_DEVICES: Final = {"gpu": jax_traces.on_gpu, "tpu": jax_traces.on_tpu}


def recorded(name: str) -> Profile:
    return read(content(name, "xplane.pb"))


def with_file(name: str, form: str = "hlo.pb") -> Profile:
    file, ran_by_it = content(name, form), content(name, "xplane.pb")
    return load(graph=source(file, "program"), traces=[source(ran_by_it)])


def last(name: str) -> str:
    """The instruction that a node is."""
    return name.rpartition("/")[2]


def all_steps(profile: Profile, values: Callable[[Profile, int], dict[str, int]]) -> Counter[str]:
    """The sums over all steps by instruction."""
    total: Counter[str] = Counter()
    for step in profile.steps:
        for name, value in values(profile, step.number).items():
            total[name if name.startswith(NOT_IN_GRAPH) else last(name)] += value
    return total


def float_ops(profile: Profile, step: int | None, opcode: str) -> int:
    counted, _ = with_float_ops(profile, "all", {})
    is_one = profile.types.find(Strings.of([opcode.encode()]))[0] == profile.nodes.op
    return int(counted.values("float_ops", step)[is_one].sum())


# --- recorded on a CPU ------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECORDED)
def test_every_event_is_a_run_of_its_instruction(name: str) -> None:
    events = instruction_runs(content(name, "xplane.pb"))
    profile = recorded(name)
    assert len(profile.steps) == RECORDED[name]
    assert all_steps(profile, counts) == Counter(event.op for event in events)
    assert NOT_IN_GRAPH not in notes(profile)


@pytest.mark.parametrize("name", RECORDED)
def test_times_are_those_of_the_events(name: str) -> None:
    profile, sums = recorded(name), Counter[str]()
    for event in instruction_runs(content(name, "xplane.pb")):
        sums[event.op] += event.own
    took = all_steps(profile, micros)
    assert set(took) <= set(sums)
    # A sum over nodes in order of their names is right to a microsecond per step; so is each node.
    for instruction, ps in sums.items():
        assert abs(took[instruction] - ps / 1e6) <= RECORDED[name], instruction
    assert abs(sum(took.values()) - sum(sums.values()) / 1e6) <= RECORDED[name]


@pytest.mark.parametrize("name", RECORDED)
def test_only_the_programs_that_ran_are_the_graph(name: str) -> None:
    # The trace may hold dozens of programs, such as those that made the arguments.
    file = load(graph=source(content(name), "program"))
    assert [*recorded(name).nodes.name.texts()] == [*file.nodes.name.texts()]


@pytest.mark.parametrize("form", ["hlo.pb", "module.pb", "txt"])
@pytest.mark.parametrize("name", RECORDED)
def test_a_file_of_the_program_takes_the_same_times(name: str, form: str) -> None:
    alone, joined = recorded(name), with_file(name, form)
    assert all_steps(joined, counts) == all_steps(alone, counts)
    # Rounding goes by names; a text says less of the scopes of fusions.
    one, other = all_steps(joined, micros), all_steps(alone, micros)
    assert max(abs(one[each] - other[each]) for each in one | other) <= RECORDED[name]
    assert NOT_IN_GRAPH not in notes(joined)


def test_a_file_of_another_program_takes_no_times() -> None:
    trace = source(content("runtime_loop", "xplane.pb"))
    profile = load(graph=source(content("plain"), "program"), traces=[trace])
    assert set(micros(profile)) == {
        f"{NOT_IN_GRAPH}jit_runtime_loop/{event.op}"
        for event in instruction_runs(content("runtime_loop", "xplane.pb"))
    }
    assert "(100.0 %), are not of nodes in the graph" in notes(profile)


def test_a_second_trace_of_the_program_adds_steps() -> None:
    data = content("runtime_loop", "xplane.pb")
    profile = add_trace(read(data), source(data, "again"))
    assert [step.number for step in profile.steps] == [0, 1, 2, 3]
    assert counts(profile, 2) == counts(profile, 0)


def test_the_scopes_weights_and_stacks_of_the_program_are_there() -> None:
    profile = recorded("flax_linen")
    took = micros(profile)
    assert any(name.startswith("Net/Conv_0/conv_general_dilated") for name in took)
    said = facts()["flax_linen"]
    held = elements(said.params) + elements(said.optimizer)
    assert int(profile.values("params", None).sum()) == held
    assert (profile.nodes.stack[profile.values("micros", None) > 0] >= 0).mean() > 0.8


def test_such_a_profile_pickles() -> None:
    profile = recorded("runtime_loop")
    again = pickle.loads(pickle.dumps(profile))  # noqa: S301 - our own
    assert micros(again) == micros(profile)
    assert float_ops(again, 0, "dot") == float_ops(profile, 0, "dot")


# --- float operations -------------------------------------------------------------------------


def test_a_loop_without_a_bound_counts_what_it_ran() -> None:
    # 7 products of 4 × 64 and 64 × 64; the body ran 7 times, its condition 8 times.
    profile = recorded("runtime_loop")
    for step in (0, 1, None):
        assert float_ops(profile, step, "dot") == 7 * 2 * 4 * 64 * 64 == 229_376
        assert float_ops(profile, step, "tanh") == 7 * 4 * 64
        assert float_ops(profile, step, "compare") == 8


def test_a_program_on_several_devices_counts_each() -> None:
    one = float_ops(load(graph=source(content("sharded"), "program")), None, "dot")
    profile = recorded("sharded")
    assert float_ops(profile, 0, "dot") == 4 * one
    assert "times and float operations of runs are sums over" in notes(profile)


@pytest.mark.parametrize("device", ON_DEVICES)
def test_accelerators_run_what_the_program_has(device: str) -> None:
    name = {"gpu": "flax_nnx", "tpu": "scanned"}[device]
    made = ON_DEVICES[device](name)
    static = float_ops(load(graph=source(content(name), "program")), None, "dot")
    assert float_ops(read(made.data), 0, "dot") == static


# --- accelerators, by hand --------------------------------------------------------------------


@pytest.mark.parametrize("device", ON_DEVICES)
def test_times_of_accelerators_are_those_of_their_instructions(device: str) -> None:
    made: JaxTrace = ON_DEVICES[device]()
    profile = read(made.data)
    took = all_steps(profile, micros)
    inside = {name: us for name, us in took.items() if not name.startswith(NOT_IN_GRAPH)}
    outside = {last(name): us for name, us in took.items() if name.startswith(NOT_IN_GRAPH)}
    assert inside == made.micros
    assert outside == made.other
    assert len(profile.steps) == made.steps
    every = sum(int(profile.values("accelerator_micros", step).sum()) for step in range(made.steps))
    assert every == sum(made.micros.values()) + sum(made.other.values())


def test_time_outside_the_programs_is_said() -> None:
    made = jax_traces.on_gpu()
    other, every = sum(made.other.values()), sum(made.micros.values())
    share = 100 * other / (other + every)
    said = f"{other} us ({share:.1f} %), are not of nodes in the graph"
    assert said in notes(read(made.data))


@pytest.mark.parametrize("device", ON_DEVICES)
def test_a_file_of_the_program_takes_the_times_of_accelerators(device: str) -> None:
    name = {"gpu": "flax_nnx", "tpu": "scanned"}[device]
    made = ON_DEVICES[device](name)
    joined = load(graph=source(content(name), "program"), traces=[source(made.data)])
    assert micros(joined) == micros(read(made.data))


def test_runs_on_accelerators_are_saved() -> None:
    profile = read(jax_traces.on_tpu().data)
    again = load(saved=source(b"".join(saved(profile)), "saved"))
    for metric in ("occurrence", "accelerator_micros", "micros"):
        assert again.values(metric, 0).sum() == profile.values(metric, 0).sum() > 0


# --- peaks ------------------------------------------------------------------------------------


def test_a_tpu_says_what_it_can_do() -> None:
    profile = read(jax_traces.on_tpu().data)
    peak = jax_traces.PEAK
    assert profile.peaks == (peak["teraflops"] * 1e12, peak["gigabytes"] * 1e9)


def test_other_devices_say_less() -> None:
    """A GPU what its memory can do, a host nothing."""
    assert read(jax_traces.on_gpu().data).peaks == (0, 1_555_000_000_000)
    assert recorded("runtime_loop").peaks == ()


def on_tpu(folder: Path) -> tfprof.Loaded:
    (folder / "t.xplane.pb").write_bytes(jax_traces.on_tpu().data)
    return tfprof.load(trace=[folder / "t.xplane.pb"])


def test_an_overview_has_the_share_of_the_peak(tmp_path: Path) -> None:
    """197 TFLOP/s for one TPU; the rate is float operations by the time of a step."""
    report = on_tpu(tmp_path).overview()
    assert report.total["peak_float_ops_per_second"] == 197 * 10**12
    float_ops, wall = report.total["float_ops"] or 0, report.total["wall_micros"] or 0
    rate = float_ops * 1_000_000 // wall
    assert report.total["float_ops_per_second"] == rate
    assert rate / 197e12 < 0.0005
    assert "<0.1% of the 197 TFLOP/s peak" in str(report)
    host = tfprof.load(trace=path("flax_linen", "xplane.pb")).overview()
    assert "peak" not in str(host)


def test_a_page_has_the_peaks_of_the_trace_unless_the_user_says_others(tmp_path: Path) -> None:
    loaded = on_tpu(tmp_path)
    assert loaded.page().machine == {"flops": 197e12, "bandwidth": 819e9}
    assert loaded.page(peak_flops="312T").machine == {"flops": 312e12, "bandwidth": 819e9}
    loaded.page(tmp_path / "page.html")
    meta = PageFile((tmp_path / "page.html").read_text(encoding="utf-8")).meta
    assert meta["peaks"] == {"flops": 197e12, "bandwidth": 819e9}


@pytest.mark.parametrize("teraflops", [jax_traces.PEAK["teraflops"], 287.53919999999994])
def test_a_converted_profile_keeps_peaks(
    teraflops: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jax_traces.PEAK, "teraflops", teraflops)
    loaded = on_tpu(tmp_path)
    loaded.convert(tmp_path / "t.tfprof")
    assert tfprof.load(profile=tmp_path / "t.tfprof").profile.peaks == loaded.profile.peaks


# --- two programs, and odd ones ---------------------------------------------------------------


def test_equal_names_of_two_programs_are_two_nodes() -> None:
    protos = [held(3, "jit_plain", content("plain")), held(4, "jit_nested", content("nested"))]
    modules = [hlo_oracle.module(content(name)) for name in ("plain", "nested")]
    one, two = (jax_traces.executed(module, module.entry)[0].name for module in modules)
    events = [ran(3, "jit_plain", one, 0, 5), ran(4, "jit_nested", two, 10, 7)]
    took = micros(read(with_programs(protos, events)))
    assert {(name.partition("/")[0], last(name)): us for name, us in took.items()} == {
        ("jit_plain", one): 5,
        ("jit_nested", two): 7,
    }


def test_a_trace_without_programs_has_instructions_below_their_modules() -> None:
    events = [ran(3, "jit_f", "fusion.1", 0, 5), ran(4, "jit_g", "fusion.1", 10, 7)]
    profile = read(with_programs([], events))
    assert micros(profile) == {"jit_f/fusion.1": 5, "jit_g/fusion.1": 7}
    assert {profile.types[int(op)] for op in profile.nodes.op} == {b"fusion"}


def test_a_damaged_program_is_one_sentence() -> None:
    proto = content("plain")
    cut = held(3, "jit_plain", proto[: len(proto) // 2])
    data = with_programs([cut], [ran(3, "jit_plain", "dot.1", 0, 5)])
    with pytest.raises(InputError, match="damaged or cut off"):
        read(data)


def test_columns_without_a_file_have_no_programs() -> None:
    columns = trace(plane("/host:CPU", {"python": [ran(3, "jit_f", "a.1", 0, 5)]}))
    assert micros(with_trace(load(), columns._replace(source=None))) == {"jit_f/a.1": 5}
