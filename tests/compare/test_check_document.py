"""What docs/check.md shows is what a reader gets who types it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import tfprof
from document import Document
from paths import ROOT
from pytest_runs import run_pytest
from tfprof import cli

PAGE: Final = Document("check.md")


def toml_files() -> dict[str, str]:
    """The files of the page by the names in their first lines."""
    parts = (block.partition("\n") for block in PAGE.blocks("toml"))
    return {head.removeprefix("# "): text for head, _, text in parts}


def yaml_file(name: str) -> Any:
    (text,) = (block for block in PAGE.blocks("yaml") if block.startswith(f"# {name}\n"))
    return yaml.safe_load(text)


@pytest.fixture(autouse=True)
def here(keras_fit: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in a folder with the model of the example and the files of the page."""
    shutil.copytree(keras_fit[1], tmp_path, dirs_exist_ok=True)
    for name, text in toml_files().items():
        if name.endswith(".toml"):
            (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_print_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """In the order of the page: what one writes, the next may read."""
    for command, output in PAGE.commands():
        PAGE.run(command, output, capsys, request)
    comment, _, recorded = Path("guard.lock").read_text(encoding="utf-8").partition("\n")
    assert comment.startswith("# ")
    assert recorded == toml_files()["guard.lock"]
    assert cli.run(["check", "guard.toml", "model.keras"]) == 0


def test_the_commands_of_the_workflow_work(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("model.keras", "base.keras")  # which git shows there
    steps = yaml_file(".github/workflows/budget.yml")["jobs"]["budget"]["steps"]
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    commands = [line.partition(" >>")[0] for line in lines if line.startswith("tfprof ")]
    assert [command.split()[1] for command in commands] == ["check", "diff"]
    for command in commands:
        assert cli.run(shlex.split(command)[1:]) == 0, capsys.readouterr().err


def test_the_hook_of_pre_commit_works(capsys: pytest.CaptureFixture[str]) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    ((asked,),) = (repo["hooks"] for repo in yaml_file(".pre-commit-config.yaml")["repos"])
    assert asked["id"] == hook["id"]
    assert not hook["pass_filenames"]
    program, *words = shlex.split(hook["entry"])
    assert program == "tfprof"
    assert cli.run([*words, *asked["args"]]) == 0, capsys.readouterr().err
    for name in ("budget.toml", "a/budget.lock", "model.keras", "export/saved_model.pb"):
        assert re.search(hook["files"], name), name
    for name in ("old_budget.toml", "model.py", "keras", "model.keras.md"):
        assert not re.search(hook["files"], name), name


def test_the_tests_pass(here: Path) -> None:
    (tests,) = (block for block in PAGE.blocks("python") if block.startswith("def test_"))
    program = f"def build_model():\n    return 'model.keras'\n\n\n{tests}"
    (here / "test_model.py").write_text(program, encoding="utf-8")
    ran = run_pytest(here)
    assert ran.code == 0, ran.out
    assert "2 passed" in ran.out


def test_the_program_runs() -> None:
    (program,) = (block for block in PAGE.blocks("python") if not block.startswith("def test_"))
    exec(program, {"tfprof": tfprof})  # noqa: S102 - it is ours
