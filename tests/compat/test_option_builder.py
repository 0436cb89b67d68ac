"""ProfileOptionBuilder makes the dictionaries that TensorFlow's makes."""

from __future__ import annotations

import inspect
import os
from typing import Any

import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf

import tfprof
from tfprof.compat.option_builder import ProfileOptionBuilder

Theirs = tf.profiler.ProfileOptionBuilder
PRESETS = ("trainable_variables_parameter", "float_operation", "time_and_memory")


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    assert getattr(ProfileOptionBuilder, preset)() == getattr(Theirs, preset)()


def test_bounds_of_time_and_memory_are_positional() -> None:
    assert ProfileOptionBuilder.time_and_memory(1, 2, 3, 4, 5, 6, 7) == Theirs.time_and_memory(
        1, 2, 3, 4, 5, 6, 7
    )


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("with_max_depth", (7,)), ("with_min_memory", (1, 2, 3, 4)), ("with_min_memory", ()),
        ("with_min_execution_time", (1, 2, 3)), ("with_min_execution_time", ()),
        ("with_min_parameters", (5,)), ("with_min_occurrence", (6,)),
        ("with_min_float_operations", (7,)), ("with_accounted_types", (["a", "b"],)),
        ("with_node_names", (["a"], ["b"], ["c"], ["d"])), ("with_node_names", (None, ["b"])),
        ("account_displayed_op_only", (True,)), ("with_empty_output", ()),
        ("with_stdout_output", ()), ("with_file_output", ("f",)),
        ("with_timeline_output", ("t",)), ("with_pprof_output", ("p",)),
        ("order_by", ("params",)), ("select", (["params", "device"],)), ("with_step", (3,)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", [None, "float_operation", "time_and_memory"])
def test_every_method(method: str, arguments: tuple[Any, ...], start: str | None) -> None:
    ours = ProfileOptionBuilder(getattr(ProfileOptionBuilder, start)() if start else None)
    theirs = Theirs(getattr(Theirs, start)() if start else None)
    assert getattr(ours, method)(*arguments) is ours
    getattr(theirs, method)(*arguments)
    assert ours.build() == theirs.build()


def test_every_method_of_theirs_is_here_with_its_arguments() -> None:
    for name, method in inspect.getmembers(Theirs, callable):
        if not name.startswith("_"):
            names = [*inspect.signature(method).parameters]
            assert [*inspect.signature(getattr(ProfileOptionBuilder, name)).parameters] == names


def test_options_given_are_copied_on_the_way_in_and_out() -> None:
    given = {"select": ["params"]}
    builder = ProfileOptionBuilder(given)
    given["select"].append("micros")
    built = builder.build()
    assert built == {"select": ["params"]}
    built["select"].append("bytes")
    assert builder.build() == {"select": ["params"]}


def test_names_that_documents_use_and_later_versions_dropped() -> None:
    built = (
        tfprof.ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory(min_cpu_micros=3))
        .with_displaying_options(show_name_regexes=[".*rnn.*"])
        .with_min_micros(1000)
        .build()
    )
    expected = Theirs.time_and_memory(min_micros=1000, min_cpu_micros=3)
    assert built == {**expected, "show_name_regexes": [".*rnn.*"]}
