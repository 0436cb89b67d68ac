"""What docs/diff.md shows is what a reader gets who types it."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from profiles import DATA
from tfprof import cli
from tfprof.tables.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = Path(__file__).parents[1] / "docs" / "diff.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
FOLDERS: Final = {"old": "cnn", "new": "cnn_short", "old_log": "mlp", "log": "mlp_wide"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder with the models of the page."""
    for name, model in FOLDERS.items():
        shutil.copytree(DATA / "pairs" / model, tmp_path / name)
    monkeypatch.chdir(tmp_path)


def shown() -> Iterator[tuple[str, str]]:
    """The commands in the blocks, each with the output below it, if there is any."""
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.strip("\n")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("command", "output"), [pytest.param(*one, id=one[0]) for one in shown()])
def test_a_command_prints_what_the_page_shows(
    command: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    program, *words = shlex.split(command)
    assert (program, cli.run(words)) == ("tfprof", 0)
    printed = capsys.readouterr().out.strip("\n")
    if output and request.config.option.update:
        text = PAGE.read_text(encoding="utf-8").replace(
            f"{command}\n{output}\n", f"{command}\n{printed}\n"
        )
        PAGE.write_text(text, encoding="utf-8")
    else:
        assert printed == (output or printed) != ""


@pytest.mark.usefixtures("here")
def test_the_program_of_the_page_runs() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert (result.attempted, result.failed) == (7, 0)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("view", COMMANDS["diff"].options["view"].choices)
def test_the_page_names_every_column(view: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["diff", "old_log", "log", f"--view={view}", "--format=csv"]) == 0
    columns = capsys.readouterr().out.splitlines()[0].split(",")
    named = re.findall(r"`(\w+)`", TEXT.partition("## Columns of the data")[2])
    patterns = [name.replace("METRIC", r"\w+") for name in named]
    assert not [name for name in columns if not any(re.fullmatch(p, name) for p in patterns)]
