"""Which step the work of an XLA program belongs to: the last that had begun at its launch.

JAX returns before the work is done. A marker then only covers the launch, in microseconds:

    python     train 0 ├─┤ train 1 ├─┤
    thread           f ├──────────────┤├──────────────┤
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import hlo_events
from hlo_events import marker, notes
from xplane_traces import Event, environment, micros, plane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.model import Profile


def called(function: str, start: float, long: float = 2) -> list[Event]:
    """JAX records each call twice, one event in the other."""
    name = f"PjitFunction({function})"
    return [Event(name, start, long, ""), Event(name, start, long - 0.5, "")]


def ran(run: int, start: float, long: float, module: str = "jit_f", **more: int) -> Event:
    """An instruction on a thread; GPUs have no *run*: 0."""
    run_id = {"run_id": run} if run else {}
    return hlo_events.ran(7, module, "dot.1", start, long, **run_id, **more)


def read(python: Sequence[Event], *events: Event) -> Profile:
    lines = {"python": python, "tf_XLAPjRtCpuClient/1": events}
    return hlo_events.read(plane("/host:CPU", lines) + environment())


def took(profile: Profile, *steps: int) -> list[dict[str, int]]:
    """The times in these steps, those of the product by its short name."""
    return [
        {name.removeprefix("jit_f/"): us for name, us in micros(profile, step).items()}
        for step in steps
    ]


def test_work_after_its_marker_is_of_the_step_that_launched_it() -> None:
    python = [
        *(marker(5, 10, 3), *called("f", 10)),
        *(marker(6, 20, 3), *called("f", 20)),
        *(marker(7, 30, 3), *called("f", 30)),
    ]
    # All run after the last marker has begun.
    profile = read(python, ran(101, 40, 100), ran(102, 150, 200), ran(103, 360, 400))
    assert took(profile, 5, 6, 7) == [{"dot.1": 100}, {"dot.1": 200}, {"dot.1": 400}]
    assert "outside all steps" not in notes(profile)


@pytest.mark.parametrize(
    ("function", "module"),
    [("<lambda>", "jit__lambda"), ("jit(step)", "jit_step"), ("train_step", "jit_train_step")],
)
def test_calls_are_those_of_the_module(function: str, module: str) -> None:
    python = [
        *(marker(0, 10, 6), *called(function, 10), *called("other", 13)),
        *(marker(1, 20, 6), *called(function, 20), *called("other", 23)),
    ]
    profile = read(python, ran(101, 40, 100, module), ran(103, 150, 200, module))
    name = f"{module}/dot.1"
    assert took(profile, 0, 1) == [{name: 100}, {name: 200}]


def test_work_of_an_unknown_launch_is_of_the_last_marker_before_it() -> None:
    python = [marker(0, 10, 3), marker(1, 100, 3)]
    profile = read(python, ran(0, 40, 10), ran(0, 90, 20), ran(0, 150, 40), ran(0, 200, 80))
    assert took(profile, 0, 1) == [{"dot.1": 10 + 20}, {"dot.1": 40 + 80}]


@pytest.mark.parametrize("calls", [1, 3])
def test_calls_that_are_not_the_runs_say_nothing(calls: int) -> None:
    """A run of a call before the trace began, or a call whose run it does not have."""
    python = [marker(0, 10, 6), marker(1, 100, 3)]
    for call in range(calls):
        python += called("f", 10 + 2 * call, 1)
    profile = read(python, ran(101, 40, 10), ran(102, 150, 40))
    assert took(profile, 0, 1) == [{"dot.1": 10}, {"dot.1": 40}]


def test_a_run_before_its_call_is_not_of_that_call() -> None:
    python = [marker(0, 10, 6), marker(1, 100, 3), *called("f", 100), *called("f", 103)]
    profile = read(python, ran(101, 40, 10), ran(102, 150, 40))
    assert took(profile, 0, 1) == [{"dot.1": 10}, {"dot.1": 40}]


def test_work_before_the_first_marker_is_said_to_be_outside() -> None:
    profile = read([marker(0, 50, 3)], ran(0, 10, 5), ran(0, 60, 7))
    assert micros(profile) == {"jit_f/dot.1": 7}
    assert "1 of 2 executions in the trace, 5 us, are outside all steps" in notes(profile)


def test_markers_without_any_work_are_no_steps() -> None:
    profile = read([marker(4, 50, 3), marker(5, 60, 3)], ran(0, 10, 5), ran(0, 20, 7))
    assert [step.number for step in profile.steps] == [0]
    assert micros(profile, 0) == {"jit_f/dot.1": 12}
    assert "markers" in notes(profile)


def test_kernels_of_an_accelerator_are_of_the_last_marker_before_them() -> None:
    """Copies as well, which are no instructions."""
    stream = [ran(0, 30, 5), Event("MemcpyD2H", 40, 3), ran(0, 130, 7), Event("MemcpyD2H", 140, 2)]
    device = plane("/device:GPU:0", {"Stream #13(Compute)": stream})
    host = plane("/host:CPU", {"python": [marker(0, 10, 3), marker(1, 100, 3)]})
    profile = hlo_events.read(device + host + environment())
    first, second = {"dot.1": 5, "MemcpyD2H": 3}, {"dot.1": 7, "MemcpyD2H": 2}
    assert took(profile, 0, 1) == [first, second]


def kernel(correlation: int, start: float, long: float) -> Event:
    return ran(0, start, long, correlation_id=correlation)


def test_kernels_are_of_the_step_that_launched_them() -> None:
    """The kernels of a CUDA graph have one launch; that of the last kernel is not recorded."""
    launches = [kernel(31, 11, 1), Event("cuGraphLaunch", 21, 1, "", [("correlation_id", 32)])]
    stream = [kernel(31, 40, 5), kernel(32, 50, 7), kernel(32, 60, 11), kernel(99, 80, 20)]
    python = [marker(0, 10, 3), marker(1, 20, 3), marker(2, 30, 3)]
    host = {"python": python, "Host Threads/12": launches}
    data = plane("/device:GPU:0", {"Stream #13(Compute)": stream}) + plane("/host:CPU", host)
    profile = hlo_events.read(data + environment())
    assert took(profile, 0, 1, 2) == [{"dot.1": 5}, {"dot.1": 7 + 11}, {"dot.1": 20}]


def test_a_kernel_before_its_launch_is_of_its_own_time() -> None:
    """Numbers of launches may repeat."""
    host = {"python": [marker(0, 10, 3), marker(1, 50, 3)], "Host Threads/12": [kernel(31, 51, 1)]}
    data = plane("/device:GPU:0", {"Stream #1": [kernel(31, 20, 5)]}) + plane("/host:CPU", host)
    profile = hlo_events.read(data + environment())
    assert took(profile, 0, 1) == [{"dot.1": 5}, {}]


def test_work_of_tensorflow_after_a_marker_is_outside() -> None:
    profile = read([marker(0, 10, 3)], ran(0, 11, 1, "cluster_0"), ran(0, 60, 7, "cluster_0"))
    assert sum(micros(profile).values()) == 1
    assert "7 us, are outside all steps" in notes(profile)
