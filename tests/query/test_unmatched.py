"""A filter that matches nothing says so, and what would match."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import draw
from profiles import PROFILES
from tfprof import cli
from tfprof.columns import matching
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from tfprof.model import Profile

MODEL = """
net/unit_1/w         op=VariableV2 params=2x3 on=/job:a/device:CPU:0
net/unit_1/IsThere   op=IsVariableInitialized
net/unit_1/Conv2D    op=Conv2D on=/job:a/device:GPU:1 us=4
Net/other            op=Relu types=_trainable_variables
"""
WHOLE = "(a regex matches the whole name)"


@pytest.fixture(scope="module")
def model() -> Profile:
    return draw.profile(MODEL)


def remarks(profile: Profile, view: str = "scope", **options: Any) -> list[str]:
    report = getattr(Loaded(profile), view)(**{"select": [], **options})
    return [note.text for note in report.own_notes]


@pytest.mark.parametrize("option", ["start", "trim", "show", "hide"])
def test_a_name_that_no_row_has(model: Profile, option: str) -> None:
    name = f"{option}_name_regexes"
    expected = [f"no name matches 'unit_1' {WHOLE}: try '.*unit_1.*'"]
    assert remarks(model, "scope", **{name: ["unit_1"]}) == expected
    for known in (["net/unit_1"], ["unit_1", "net"], [".*"], ["_TFProfRoot"]):
        assert remarks(model, "scope", **{name: known}) == []


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("^unit_1$", f" {WHOLE}: try '.*unit_1.*'"),
        ("unit_1|zzz", f" {WHOLE}: try '.*(unit_1|zzz).*'"),
        ("UNIT", f" {WHOLE}: try '(?i).*UNIT.*'"),
        ("net/unit_1/Conf2D", "; did you mean 'net/unit_1/Conv2D'?"),
        ("(((", None),
        ("qqqqq", ""),
        (".*qqqqq.*", ""),
        ("TFProfRoot", ""),
        ("", ""),
    ],
)
def test_what_would_match(model: Profile, pattern: str, hint: str | None) -> None:
    if hint is None:
        with pytest.raises(Exception, match="is not a valid regex"):
            remarks(model, show_name_regexes=[pattern])
        return
    assert remarks(model, show_name_regexes=[pattern]) == [f"no name matches {pattern!r}{hint}"]


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("Variable", "; there is 'VariableV2'"),
        ("variablev2", "; there is 'VariableV2'"),
        ("Rely", "; did you mean 'Relu'?"),
        ("trainable_variables", "; there is '_trainable_variables'"),
        ("2D", "; there is 'Conv2D'"),
        ("zzz", ""),
    ],
)
def test_a_type_that_no_node_has(model: Profile, pattern: str, hint: str) -> None:
    expected = [f"no node has the type {pattern!r}{hint}"]
    assert remarks(model, account_type_regexes=[pattern]) == expected
    assert remarks(model, account_type_regexes=[pattern, "Relu"]) == []
    assert remarks(model, "op", account_type_regexes=[pattern]) == expected


def test_a_device_that_no_node_has(model: Profile) -> None:
    (remark,) = remarks(model, device_regexes=["gpu:1"])
    assert remark == f"no device matches 'gpu:1' {WHOLE}: try '.*gpu:1.*'"
    assert remarks(model, device_regexes=[".*gpu:1"]) == []


def test_each_filter_speaks_for_itself(model: Profile) -> None:
    assert remarks(model, show_name_regexes=["qq", "kk"], account_type_regexes=["zz"]) == [
        "no node has the type 'zz'",
        "no name matches 'qq'",
        "no name matches 'kk'",
    ]
    many = [f"name{i}" for i in range(9)]
    assert len(remarks(model, show_name_regexes=many)) == 5


def test_a_match_is_looked_for_once(model: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """What matches something costs no second look at the names."""
    looks = 0

    def counted(*arguments: Any) -> Any:
        nonlocal looks
        looks += 1
        return matching.matches(*arguments)

    monkeypatch.setattr("tfprof.views.drawing.matches", counted)
    monkeypatch.setattr("tfprof.query.unmatched.matches", counted)
    assert remarks(model, show_name_regexes=["net/unit_.*"]) == []
    assert looks == 1


def test_the_command_the_shell_and_json(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = f"--graph_path={PROFILES['resnet'].graph}"
    names = f"no name matches 'unit_1' {WHOLE}: try '.*unit_1.*'"
    assert cli.run(["scope", graph, "--show_name_regexes=unit_1", "--select=params"]) == 0
    assert f"{names}\n" in capfd.readouterr().err
    line = "scope -account_type_regexes Variable -select params\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(line.encode())))
    assert cli.run([graph]) == 0
    types = "no node has the type 'Variable'; there is 'VariableV2'"
    assert f"{types}\n" in capfd.readouterr().err
    words = ["--show_name_regexes=unit_1", "--account_type_regexes=Variable", "--select=params"]
    assert cli.run(["scope", graph, *words, "--format=json"]) == 0
    assert {names, types} <= {note["text"] for note in json.loads(capfd.readouterr().out)["notes"]}
    assert cli.run(["scope", graph, *words, "--era=original"]) == 0
    assert "no n" not in capfd.readouterr().err


def test_explain_says_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    graph = f"--graph_path={PROFILES['resnet'].graph}"
    assert cli.run(["explain", graph, "--name=unit_1"]) == 2
    assert f"no name matches 'unit_1' {WHOLE}: try '.*unit_1.*'\n" in capfd.readouterr().err
    assert cli.run(["explain", graph, "--op=Variable"]) == 2
    assert "no node has the type 'Variable'; there is 'VariableV2'\n" in capfd.readouterr().err


def test_names_of_files_are_escaped() -> None:
    profile = draw.profile("red\x1b[31mtext op=Red\x1b[31m")
    (remark,) = remarks(profile, show_name_regexes=["red.[[]31mtexx"])
    assert remark.endswith(r"; did you mean 'red\x1b[31mtext'?")
    (remark,) = remarks(profile, account_type_regexes=["Red"])
    assert remark.endswith(r"; there is 'Red\x1b[31m'")
