"""Help comes from the tables, is true, and its examples can be pasted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import paths
from profiles import PROFILES
from sampling import sampled
from tfprof import cli
from tfprof.api import load
from tfprof.cli.help import fitted, help_text, limits_help, page
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.tables.command_options import LIMIT_OPTIONS, SAMPLE_OPTIONS
from tfprof.tables.commands import COMMANDS
from tfprof.tables.fields import METRICS
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.limits import LIMITS
from tfprof.tables.options import OPTIONS
from tfprof.views import VIEWS
from tfprof.writers.classic_text import text
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfprof.model import Profile
    from tfprof.tables.options import Option

HANDMADE = PROFILES["handmade"]
each_view = pytest.mark.parametrize("view", VIEWS)
each_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log).profile


def takes(command: str) -> Mapping[str, Option]:
    return COMMANDS[command].options


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.run(words) == 0
    return capsys.readouterr().out


def test_rows_says_what_each_command_does_with_it() -> None:
    assert "how many rows to show; 0: all" in page("summary")
    assert "how many rows per list; without it, what fits the screen" in page("overview")


# --- which help comes --------------------------------------------------------------------------


def test_without_a_command_all_of_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["help"], ["--help"], ["-h"], ["help", "--help"], ["--help", "--step=3"]):
        assert told(capsys, *words) == help_text()


@each_command
def test_with_a_command_its_own_comes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "help", command) == page(command)
    for words in ([command, "--help"], ["--help", command], [command, "-h"], [command, "-h", "x"]):
        if command != "help":
            assert told(capsys, *words) == page(command)


def test_limits_have_a_page_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "help", "limits").splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  --")]
    assert named == [limit.flag for limit in LIMITS.values()]
    for limit in LIMITS.values():
        assert any(f"{limit.flag} " in line and limit.help in line for line in lines)


@pytest.mark.parametrize("words", [["help", "scoep"], ["scoep", "--help"]])
def test_of_what_is_no_command_there_is_none(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    assert "there is no command 'scoep'; did you mean 'scope'?" in capsys.readouterr().err


# --- what it says ------------------------------------------------------------------------------


@each_command
def test_a_command_says_what_it_does_and_takes(command: str) -> None:
    lines = page(command).splitlines()
    assert lines[0] == f"tfprof {command}: {COMMANDS[command].summary}"
    assert f"  {command:<10} {COMMANDS[command].summary}" in help_text().splitlines()
    named = [line.split()[0][2:] for line in lines if line.startswith("  --")]
    listed = [name for name in takes(command) if name not in LIMIT_OPTIONS]
    assert named == [*listed, *(["limit_*"] if len(listed) < len(takes(command)) else [])]
    for name in listed:
        assert any(f"--{name} " in line and takes(command)[name].help in line for line in lines)


@each_view
def test_a_view_says_what_it_shows_and_what_own_and_total_are(view: str) -> None:
    lines = page(view).splitlines()
    assert VIEWS[view].help in lines
    assert any(line.startswith("own is ") and "total adds " in line for line in lines)
    assert ("Rows show own/total" in page(view)) == (not VIEWS[view].chain)


def test_outputs_are_listed_as_the_table_lists_them() -> None:
    every = OPTIONS["output"].help
    assert takes("scope")["output"].help == every.replace(", junit, github", "") != every
    assert takes("check")["output"].help.endswith("table, junit, github")
    assert "timeline" not in takes("op")["output"].help
    assert takes("save")["output"].help == "KIND:outfile=PATH; KIND: file"


@each_view
def test_demo_shows_the_defaults_that_it_has(view: str, capfd: pytest.CaptureFixture[str]) -> None:
    (shown,) = [line for line in page("demo").splitlines() if line.split()[:1] == [view]]
    flags = shown.split()[1:]
    assert flags
    assert cli.run(["demo", view]) == 0
    said = capfd.readouterr().err
    assert f"tfprof: running: tfprof {view} {' '.join(flags)} --" in said.splitlines()[0]
    assert cli.run(["demo", view, *flags]) == 0
    report = capfd.readouterr().out
    assert cli.run(["demo", view, *flags, "--max_depth=1"]) == 0
    rows = report.count("\n") - capfd.readouterr().out.count("\n")
    assert 8 <= rows <= 300


each_text = pytest.mark.parametrize("text", [help_text(), limits_help(), *map(page, COMMANDS)])


@each_text
def test_no_line_has_space_behind_it_and_no_two_blank_ones_meet(text: str) -> None:
    assert text.endswith("\n")
    assert "\n\n\n" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


@each_text
@pytest.mark.parametrize("columns", [30, 60, 80, 300])
def test_a_terminal_gets_lines_that_fit_broken_between_words(text: str, columns: int) -> None:
    lines = fitted(text, columns).splitlines()
    examples = [line for line in text.splitlines() if line.startswith("  tfprof ")]
    assert set(examples) <= set(lines)
    assert "\n".join(lines).split() == text.split()
    for line in lines:
        assert len(line) <= columns or line in examples or len(line.split()) == 1


def test_what_follows_an_option_stays_beside_it() -> None:
    lines = "  --step         the step whose stats to use\n\nusage: tfprof scope FILES\n"
    broken = lines.replace(" to use", f" to\n{17 * ' '}use")
    assert fitted(lines, 40) == broken
    assert fitted(lines, 100) == lines


# --- what is left out says nothing there, and what is not does ---------------------------------


@each_view
@pytest.mark.parametrize("order", OPTIONS["order_by"].choices)
def test_orders_are_those_the_view_has(view: str, order: str, profile: Profile) -> None:
    if order in takes(view)["order_by"].choices:
        answer(profile, view, Query.of({"order_by": order}))
    else:
        with pytest.raises(UsageError, match="cannot order by occurrence"):
            answer(profile, view, Query.of({"order_by": order}))


@each_view
@pytest.mark.parametrize("field", OPTIONS["select"].choices)
def test_fields_are_those_the_view_shows(view: str, field: str, profile: Profile) -> None:
    report = answer(profile, view, Query.of({"select": [field]}))
    refuses = f"{field} N/A in {view} view" in b"".join(text(report)).decode()
    # Groups have no value of their own, and nothing between them that could be hidden.
    values_in_groups = field in ("tensor_value", "num_hidden_ops") and VIEWS[view].groups
    assert (field in takes(view)["select"].choices) == (not refuses and not values_in_groups)


@each_view
def test_bounds_and_recounting_are_there_where_they_mean_something(view: str) -> None:
    taken = takes(view)
    others = {"format", *GRAPH_PARTS, *SAMPLE_OPTIONS, *LIMIT_OPTIONS}
    assert set(taken) - others <= {*INPUTS, *OPTIONS}
    assert ("account_displayed_op_only" in taken) == VIEWS[view].recounts
    assert ("min_occurrence" in taken) == VIEWS[view].bounds_occurrence
    assert {f"min_{one}" for one in METRICS if one != "occurrence"} <= set(taken)


@each_view
def test_there_is_a_timeline_where_the_view_has_one(view: str, profile: Profile) -> None:
    report = answer(profile, view, Query.of({"step": 0}))
    if "timeline" in takes(view)["output"].choices:
        timeline(report)
    else:
        with pytest.raises(UsageError, match="timeline"):
            timeline(report)


@pytest.mark.parametrize("view", [name for name, view in VIEWS.items() if view.groups])
def test_where_bounds_look_at_totals_it_is_said(view: str, profile: Profile) -> None:
    assert "min_params and min_float_ops are compared with the total" in page(view)
    report = answer(profile, view, Query.of({"min_params": 1, "select": ["params"]}))
    assert (report.own("params") == 0).any()
    assert (report.total("params") >= 1).all()


# --- the examples ------------------------------------------------------------------------------


EXAMPLES = [(command, which) for command in COMMANDS for which in (0, 1)]


@pytest.mark.sampled
@pytest.mark.parametrize(("command", "which"), sampled(EXAMPLES, 8, "examples"))
def test_an_example_can_be_pasted(command: str, which: int, tmp_path: Path) -> None:
    example = COMMANDS[command].examples[which]
    assert f"  tfprof {example}\n" in page(command)
    shutil.copy(HANDMADE.graph, tmp_path / "graph.pbtxt")
    shutil.copy(HANDMADE.runs[0], tmp_path / "run_meta_0")
    shutil.copy(HANDMADE.op_log, tmp_path / "tfprof_log")
    if COMMANDS[command].usage.startswith("FLEET"):
        shutil.copytree(paths.DATA / "fleet_v1", tmp_path / "fleet")
    if COMMANDS[command].usage.startswith("BUDGET"):
        (tmp_path / "budget.toml").write_text('[model]\nparams = "< 1M"\n')
    before = set(tmp_path.iterdir())
    ran = subprocess.run(
        ["bash", "-c", f'tfprof() {{ "$PYTHON" -m tfprof "$@"; }}; tfprof {example}'],  # noqa: S607
        env={**os.environ, "PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout or set(tmp_path.iterdir()) > before
