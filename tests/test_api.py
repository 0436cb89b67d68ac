"""The Python API: what it takes, and what it refuses."""

from __future__ import annotations

import doctest
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
import tfprof.api
from profiles import PROFILES, content

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE = PROFILES["handmade"]


@pytest.fixture(scope="module")
def profile() -> tfprof.Profile:
    return tfprof.load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log)


def test_paths_are_texts_or_paths_and_one_run_may_stand_alone() -> None:
    one = tfprof.load(str(HANDMADE.graph), str(HANDMADE.runs[0]), str(HANDMADE.op_log))
    other = tfprof.load(HANDMADE.graph, [HANDMADE.runs[0]], HANDMADE.op_log)
    assert tfprof.to_text(tfprof.ask(one)) == tfprof.to_text(tfprof.ask(other))
    assert [step.number for step in one.steps] == [0]


def test_options_are_spelled_as_on_the_command_line(profile: tfprof.Profile) -> None:
    as_texts = tfprof.ask(
        profile,
        account_type_regexes="VariableV2,MatMul",
        account_displayed_op_only="false",
        max_depth="3",
        step="1",
        select="params,micros",
    )
    as_values = tfprof.ask(
        profile,
        account_type_regexes=["VariableV2", "MatMul"],
        account_displayed_op_only=False,
        max_depth=np.int64(3),
        step=1,
        select=("params", "micros"),
    )
    assert tfprof.to_text(as_texts) == tfprof.to_text(as_values)
    assert len(as_texts) > 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("step", None),
        ("max_depth", 3.5),
        ("max_depth", True),
        ("min_micros", math.inf),
        ("account_displayed_op_only", 1),
        ("select", 7),
        ("show_name_regexes", [b"x"]),
        ("order_by", ["name"]),
    ],
)
def test_other_kinds_of_values_are_refused(
    profile: tfprof.Profile, option: str, value: Any
) -> None:
    with pytest.raises(tfprof.UsageError, match=f"{option} takes"):
        tfprof.ask(profile, **{option: value})


def test_a_report_goes_nowhere_by_itself(profile: tfprof.Profile) -> None:
    with pytest.raises(tfprof.UsageError, match="to_text"):
        tfprof.ask(profile, output="file:outfile=x")


def test_a_file_rewritten_under_us_is_refused_not_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    whole = PROFILES["resnet"].graph
    path.write_bytes(content(whole))
    loaded = tfprof.load(path)
    path.write_bytes(b"short")
    with pytest.raises(tfprof.InputError, match="was changed after it was read"):
        _ = loaded.attributes


def test_everything_named_is_there() -> None:
    for name in tfprof.__all__:
        assert getattr(tfprof, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tfprof.nonsense


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(tfprof.api) == (0, 5)
