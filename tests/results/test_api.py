"""load(), and what it gives can be asked."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import paths
import tfprof
from profiles import PROFILES, content

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE = PROFILES["handmade"]


@pytest.fixture(scope="module")
def loaded() -> tfprof.Loaded:
    return tfprof.load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log)


def test_paths_are_texts_or_paths_and_one_run_may_stand_alone() -> None:
    one = tfprof.load(str(HANDMADE.graph), str(HANDMADE.runs[0]), str(HANDMADE.op_log))
    other = tfprof.load(HANDMADE.graph, [HANDMADE.runs[0]], HANDMADE.op_log)
    assert one.scope().text() == other.scope().text()
    assert one.steps == (0,)


def test_options_are_spelled_as_on_the_command_line(loaded: tfprof.Loaded) -> None:
    both: dict[str, tuple[Any, Any]] = {
        "account_type_regexes": ("VariableV2,MatMul", ["VariableV2", "MatMul"]),
        "account_displayed_op_only": ("false", False),
        "max_depth": ("3", np.int64(3)),
        "step": ("1", 1),
        "select": ("params,micros", ("params", "micros")),
    }
    as_texts, as_values = (
        loaded.scope(**{name: pair[which] for name, pair in both.items()}) for which in (0, 1)
    )
    assert as_texts.text() == as_values.text()
    assert len(as_texts) > 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("step", None),
        ("max_depth", 3.5),
        ("max_depth", True),
        ("min_micros", math.inf),
        ("account_displayed_op_only", 2),
        ("select", 7),
        ("show_name_regexes", [b"x"]),
        ("order_by", ["name"]),
    ],
)
def test_other_kinds_of_values_are_refused(loaded: tfprof.Loaded, option: str, value: Any) -> None:
    with pytest.raises(tfprof.UsageError, match=f"{option} takes"):
        loaded.scope(**{option: value})


def test_rules_that_there_are_not_are_refused(loaded: tfprof.Loaded) -> None:
    with pytest.raises(tfprof.UsageError, match="flops has no 'tensorflo'; did you mean"):
        loaded.scope(flops="tensorflo")


def test_a_file_rewritten_under_us_is_refused_not_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    whole = PROFILES["resnet"].graph
    path.write_bytes(content(whole))
    loaded = tfprof.load(path)
    path.write_bytes(b"short")
    with pytest.raises(tfprof.InputError, match="was changed after it was read"):
        _ = loaded.profile.attributes


def test_a_saved_profile_answers_alike(loaded: tfprof.Loaded, tmp_path: Path) -> None:
    path = str(tmp_path / "profile")
    loaded.save(path)
    again = tfprof.load(profile=path)
    for view in ("scope", "graph", "op", "code"):
        asked = {"select": ["params", "micros", "float_ops"], "flops": "log"}
        expected = getattr(loaded, view)(**asked)
        assert len(expected) > 1
        assert getattr(again, view)(**asked).text() == expected.text()


def test_many_threads_may_ask_at_once() -> None:
    asked = [
        (view, {"select": ["params", "micros", "float_ops"], "order_by": order})
        for view in ("scope", "graph", "op", "code")
        for order in ("name", "micros", "params", "float_ops")
    ]
    one = tfprof.load_sample()
    expected = [getattr(one, view)(**options).text() for view, options in asked]
    fresh = tfprof.load_sample()
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda ask: getattr(fresh, ask[0])(**ask[1]).text(), asked * 2))
    assert texts == expected * 2


def test_everything_named_is_there() -> None:
    for name in tfprof.__all__:
        assert getattr(tfprof, name) is not None
    assert set(tfprof.__all__) <= set(dir(tfprof))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tfprof.nonsense


def test_all_names_come_without_tensorflow() -> None:
    script = """
import sys, tfprof
for name in tfprof.__all__:
    getattr(tfprof, name)
resnet = tfprof.load_sample()
assert resnet.op(select=["float_ops"]).flops.uncounted is not None
print([name for name in sys.modules if name.split(".")[0] == "tensorflow"])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that a test registers are gone after it."""
    monkeypatch.setattr("tfprof.ops.table._by_user", {})


def test_examples_of_the_page_on_python() -> None:
    page = paths.DOCS / "python.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0


@pytest.mark.parametrize(
    "module",
    [
        *("api", "tables.limits", "results.loaded", "results.overview_report", "results.report"),
        *("compat.option_builder", "ops.table"),
    ],
)
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(import_module(f"tfprof.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
