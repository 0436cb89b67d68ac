"""Every golden in tests/data/cases: a profile, the words of a command, and what users see.

`pytest tests/parity/test_cases.py --update` rewrites them. They are of `--era=original`. A golden
is not only what we printed once: each is also put to the C++ original, and laws that every report
obeys are checked on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldens import CASES, Golden
from invariants import assert_totals_add_up
from ours import files_loaded, wire_of
from sampling import sampled
from tfprof import cli
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.tables.eras import NOW
from tfprof.tables.options import OPTIONS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from oracle import Oracle


def stem(path: Path) -> str:
    return path.stem


@pytest.fixture(params=CASES, ids=stem)
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


def test_the_command_prints_it(
    golden: Golden, capfdbinary: pytest.CaptureFixture[bytes], request: pytest.FixtureRequest
) -> None:
    code = cli.run([*golden.words, *golden.profile.flags(), "--era=original"])
    printed = capfdbinary.readouterr().out.decode()
    assert code == 0
    if request.config.getoption("--update"):
        golden.path.write_text(golden.head + printed, encoding="utf-8")
    assert Golden(golden.path).output == printed


@pytest.mark.sampled
@pytest.mark.parametrize("golden", sampled(CASES, 3, "goldens"), indirect=True, ids=stem)
def test_the_original_prints_it(golden: Golden, oracle: Oracle) -> None:
    view, options = golden.query()
    steps = [(step, wire_of(run)) for step, run in enumerate(golden.profile.runs)]
    oracle.hold(wire_of(golden.profile.graph), wire_of(golden.profile.op_log), steps)
    defaults = {name: OPTIONS[name].default for name in NOW.block}
    asked = {name: value for name, value in options.items() if name in NOW.block}
    theirs = oracle.ask(view, {**defaults, **asked}).report.decode()
    if view == "graph":  # Q23: the original has the scope view's sentence here
        theirs = theirs.replace(VIEWS["scope"].help, VIEWS["graph"].help, 1)
    assert theirs == golden.output


def test_totals_are_own_and_children(golden: Golden) -> None:
    view, options = golden.query()
    assert_totals_add_up(answer(files_loaded(golden.profile), view, Query.of(options)))


def test_displayed_rows_are_one_tree_with_lines_in_order(golden: Golden) -> None:
    view, options = golden.query()
    report = answer(files_loaded(golden.profile), view, Query.of(options))
    report.tree.check()
    lines = golden.output.split("Profile:\n")[1].splitlines()[1:]
    names = list(report.label.texts())
    if view == "op":
        assert [line[:25].rstrip() for line in lines if _is_op_line(line)] == [
            name[:25] for name in names[1:]
        ]
        return
    assert [line.strip().split(" (")[0] for line in lines] == [
        name.removesuffix(" (gradient)") for name in names
    ]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    assert indents == (2 * (report.tree.depth - 1)).tolist()


def _is_op_line(line: str) -> bool:
    """Not a blank line, and not one of the input shapes below an operation."""
    return bool(line) and not line.startswith("input_type: ")
