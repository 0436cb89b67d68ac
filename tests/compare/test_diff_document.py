"""What docs/diff.md shows is what a reader gets who types it."""

from __future__ import annotations

import doctest
import re
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from document import Document
from profiles import DATA
from tfprof import cli
from tfprof.tables.commands import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

PAGE: Final = Document("diff.md")
FOLDERS: Final = {"old": "cnn", "new": "cnn_short", "old_log": "mlp", "log": "mlp_wide"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder with the models of the page."""
    for name, model in FOLDERS.items():
        shutil.copytree(DATA / "pairs" / model, tmp_path / name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("command", "output"), PAGE.commands())
def test_a_command_prints_what_the_page_shows(
    command: str, output: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    PAGE.run(command, output, capsys, request)


def test_the_program_of_the_page_runs() -> None:
    result = doctest.testfile(str(PAGE.path), module_relative=False)
    assert (result.attempted, result.failed) == (7, 0)


@pytest.mark.parametrize("view", COMMANDS["diff"].options["view"].choices)
def test_the_page_names_every_column(view: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["diff", "old_log", "log", f"--view={view}", "--format=csv"]) == 0
    columns = capsys.readouterr().out.splitlines()[0].split(",")
    named = re.findall(r"`(\w+)`", PAGE.text.partition("## Columns of the data")[2])
    patterns = [name.replace("METRIC", r"\w+") for name in named]
    assert not [name for name in columns if not any(re.fullmatch(p, name) for p in patterns)]
