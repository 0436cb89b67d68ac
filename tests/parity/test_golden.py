"""The recorded answers of the C++ original: random cases and the handmade model."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ours
from case import Case
from profiles import DATA, PROFILES
from recorded import case_of, with_output

VIEWS = ("scope", "graph", "op", "code")
RULER = "Model Analysis Report======================\n"
END = "\n======================End of Report"


@pytest.mark.parametrize("recorded", with_output("stdout"), ids=lambda case: case["id"])
def test_recorded_case(recorded: dict[str, Any]) -> None:
    case = case_of(recorded)
    mine = ours.ask(case)
    assert mine.report.decode() == _report(recorded["stdout"])
    assert mine.notes == recorded["load_stderr"]
    assert mine.said == recorded["stderr"]
    if recorded["coverage"] is not None:
        assert mine.coverage == recorded["coverage"]


def _handmade() -> list[dict[str, Any]]:
    index = json.loads((DATA / "handmade" / "index.json").read_text())
    return [
        {**case, "options": {**index["defaults"], **case["options"]}}
        for case in index["cases"]
        if case["cmd"] in VIEWS and case["options"].get("output", "stdout").startswith("stdout")
    ]


@pytest.mark.parametrize("recorded", _handmade(), ids=lambda case: case["name"])
def test_handmade_model(recorded: dict[str, Any]) -> None:
    options = {k: v for k, v in recorded["options"].items() if k != "dump_to_file"}
    files = PROFILES["handmade"]
    runs = tuple((step, ours.wire_of(run)) for step, run in enumerate(files.runs))
    case = Case(
        recorded["cmd"], ours.wire_of(files.graph), ours.wire_of(files.op_log), runs, options
    )
    expected = (DATA / "handmade" / f"{recorded['name']}.stdout.txt").read_text()
    assert ours.ask(case).report.decode() == _report(expected)


def _report(stdout: str) -> str:
    return stdout.split(RULER, 1)[1].rsplit(END, 1)[0]
