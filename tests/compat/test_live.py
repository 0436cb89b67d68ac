"""A script only changes its import: the calls of tf.profiler on live models, answered alike."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest

import live_models
from live_models import MODELS
from sampling import sampled
from side_by_side import Both

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VIEWS: Final = ("scope", "graph", "op", "code")
TIMES: Final = ("micros", "accelerator_micros", "cpu_micros")
MEMORY: Final = ("bytes", "peak_bytes", "residual_bytes", "output_bytes")
METRICS: Final = (*TIMES, *MEMORY, "params", "float_ops")
SHOWN: Final = (*METRICS, "occurrence", "tensor_value", "device", "op_types", "input_shapes")


class Given:
    """The arguments of a profile call: a graph, and perhaps what a step of it recorded."""

    def __init__(self, name: str, *, traced: bool) -> None:
        self.name = name
        self.live = live_models.build(name)
        self.runs = {"run_meta": self.live.step(0)} if traced else {}

    def __str__(self) -> str:
        return f"{self.name}{' with a run' if self.runs else ''}"

    def profile(self, profiler: Any, view: str, **options: Any) -> Any:
        log = self.live.op_log
        logs = {"op_log": log} if log else {}
        return profiler.profile(self.live.untouched(), cmd=view, **self.runs, **logs, **options)


TRIED: Final = sampled([*MODELS], 4, "live models", again=True)
RUNNING: Final = [name for name in TRIED if name != "nothing"]


@pytest.fixture(scope="module", params=TRIED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[False, True], ids=["static", "traced"])
def given(name: str, request: pytest.FixtureRequest) -> Given:
    return Given(name, traced=request.param)


@pytest.fixture
def same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Both:
    return Both(capfd, tmp_path)


def built(profiler: Any) -> Any:
    """A builder whose options hide nothing and show everything."""
    return profiler.ProfileOptionBuilder().with_max_depth(10000).select(list(SHOWN))


def named(**regexes: list[str]) -> Callable[[Any], Any]:
    """What shows rows of these names."""
    names = {f"{what}_name_regexes": given for what, given in regexes.items()}
    return lambda builder: builder.with_node_names(**names)


def ordered(metric: str) -> Callable[[Any], Any]:
    """What orders rows by this."""
    return lambda builder: builder.order_by(metric)


PRESETS: Final = ("trainable_variables_parameter", "float_operation", "time_and_memory")
CHANGES: Final[tuple[Callable[[Any], Any], ...]] = (
    *map(ordered, ("name", *METRICS)),
    lambda builder: builder.account_displayed_op_only(is_true=True).with_max_depth(2),
    lambda builder: builder.with_accounted_types(["MatMul", "Variable.*", ".*CPU:1.*", "mine"]),
    named(start=[".*loss.*", ".*model.*"]),
    named(show=[".*(weights|live_models).*"], hide=[".*grad.*"]),
    named(trim=[".*/loss", "Mul"]),
    lambda builder: builder.with_min_execution_time(2).with_min_memory(1, 1),
    lambda builder: builder.with_min_parameters(5).with_min_float_operations(1),
    lambda builder: builder.with_min_occurrence(2).account_displayed_op_only(is_true=True),
    lambda builder: builder.with_empty_output(),
)
DEALT: Final = 10  # a model and view gets one change in so many, the next ones the next


def dealt(given: Given, view: str) -> tuple[Callable[[Any], Any], ...]:
    """Some of CHANGES: all of them go round."""
    first = list(MODELS).index(given.name) + VIEWS.index(view) + bool(given.runs)
    return CHANGES[first % DEALT :: DEALT]


@pytest.mark.sampled
def test_presets(same: Both, given: Given) -> None:
    for view, preset in sampled([*product(VIEWS, PRESETS)], 2, f"presets {given}"):

        def call(profiler: Any, _: Path, view: str = view, preset: str = preset) -> Any:
            options = getattr(profiler.ProfileOptionBuilder, preset)()
            return given.profile(profiler, view, options=options)

        same(call, view)


@pytest.mark.sampled
def test_options(same: Both, given: Given) -> None:
    changes = [(view, change) for view in VIEWS for change in dealt(given, view)]
    for view, change in sampled(changes, 2, f"options {given}"):

        def call(
            profiler: Any, _: Path, view: str = view, change: Callable[[Any], Any] = change
        ) -> Any:
            return given.profile(profiler, view, options=change(built(profiler)).build())

        same(call, view)


@pytest.mark.sampled
def test_files(same: Both, given: Given) -> None:
    for view in sampled(VIEWS, 1, f"files {given}"):
        write(same, given, view, "file", ["micros", "bytes", "params"])


@pytest.mark.sampled
def test_pprof(same: Both, given: Given) -> None:
    for metric in sampled(["micros", "float_ops"], 1, f"pprof {given}"):
        write(same, given, "code", "pprof", [metric])


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in MODELS if name != "nothing"], indirect=True)
@pytest.mark.parametrize("given", [True], indirect=True, ids=["traced"])
def test_timelines(same: Both, given: Given) -> None:
    for view in sampled(["scope", "code"], 1, f"timeline {given}"):
        write(same, given, view, "timeline", ["micros", "bytes"])


def write(same: Both, given: Given, view: str, output: str, shown: list[str]) -> None:
    def call(profiler: Any, out: Path) -> Any:
        builder = getattr(built(profiler).select(shown), f"with_{output}_output")(str(out))
        return given.profile(profiler, view, options=builder.build())

    assert same(call, view).files
