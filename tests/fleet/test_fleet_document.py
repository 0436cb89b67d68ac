"""What docs/fleet.md shows is what a reader gets who types it."""

from __future__ import annotations

import doctest
import re
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from document import Document
from fleet_engine import HereEngine
from paths import DATA
from tfprof import cli
from tfprof.fleet.gather import gather
from tfprof.fleet.schema import NODES, ROWS, STEPS
from tfprof.tables.command_options import OUTFILE
from tfprof.tables.commands import COMMANDS, options_shown
from tfprof.tables.formats import GRAPH, OP_LOG

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAGE: Final = Document("fleet.md")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of a real fleet, and what the first command makes of them."""
    folder = tmp_path_factory.mktemp("fleet")
    shutil.copytree(DATA / "fleet", folder / "runs")
    gather([str(folder / "runs")], str(folder / "fleet"), engine=HereEngine())
    return folder


@pytest.fixture(autouse=True)
def _here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in that folder, and gather in this process."""
    monkeypatch.chdir(files)
    monkeypatch.setattr("tfprof.cli.fleet.Engine", lambda *_: HereEngine())


@pytest.mark.parametrize(("command", "output"), PAGE.commands())
def test_a_command_prints_what_the_page_shows(
    command: str, output: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    PAGE.run(command, output, capsys, request)


def test_a_fleet_without_a_command_is_workers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["workers", "fleet/", "--rows=2"]) == 0
    expected = capsys.readouterr().out
    assert cli.run(["fleet/", "--rows=2"]) == 0
    assert capsys.readouterr().out == expected != ""
    assert cli.run(["fleet/", "runs/graph.pbtxt.gz"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tfprof: fleet/ is a fleet")
    assert error.count("\n") == 1


def test_questions_in_sql_have_the_answers_of_the_page() -> None:
    result = doctest.testfile(str(PAGE.path), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0


@pytest.mark.parametrize(("table", "columns"), [("rows", ROWS), ("steps", STEPS), ("nodes", NODES)])
def test_the_page_says_what_every_column_means(table: str, columns: Mapping[str, str]) -> None:
    section = PAGE.text.partition(f"| `{table}` | |\n|---|---|\n")[2].partition("\n\n")[0]
    named = [name for line in section.splitlines() for name in re.findall(r"`(\w+)`", line[:150])]
    assert set(columns) <= set(named)


def test_the_page_lists_the_options_of_the_command() -> None:
    section = PAGE.text.partition("| option | meaning |")[2].partition("###")[0]
    own = {option.name for option in options_shown(COMMANDS["fleet"])} - {OUTFILE.name}
    listed = set(re.findall(r"--(\w+)", section))
    assert listed == own | {GRAPH.name, OP_LOG.name}
