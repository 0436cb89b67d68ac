"""A dataset with a missing or damaged file is mended; an unfinished one can be finished."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import tfprof
from fleet_engine import HereEngine
from fleet_files import write_fleet
from folders import contents
from tfprof.errors import InputError, OutputError
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather
from tfprof.fleet.gathered import said
from tfprof.fleet.listing import Skip

if TYPE_CHECKING:
    from command import Command
    from tfprof.fleet.gathered import Gathered


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_fleet(folder, workers=2, steps=2)
    return folder


@pytest.fixture(autouse=True)
def _here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    gathered()


def gathered(*sources: str, resume: bool = False) -> Gathered:
    return gather(sources or ["logs"], "fleet", engine=HereEngine(), resume=resume)


@pytest.mark.parametrize("damage", ["gone", "bits"])
@pytest.mark.parametrize("folder", ["rows", "steps", "graphs"])
def test_a_broken_file_is_made_again(folder: str, damage: str) -> None:
    before = contents("fleet")
    file = min(Path("fleet", folder).iterdir())
    data = file.read_bytes()
    file.unlink()
    if damage == "bits":
        file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    result = gathered()
    assert (result.files, result.unchanged) == ((4, 0) if folder == "graphs" else (1, 3))
    assert f"made again, as missing or damaged: {file}" in result.notes
    assert contents("fleet") == before


def test_a_broken_dataset_whose_sources_are_gone_stays_as_it_is() -> None:
    parts = Dataset.open("fleet").manifest.parts
    key = next(key for key, part in parts.items() if part["steps"] == [["worker_0", [1]]])
    broken = Path("fleet/rows", f"{key}.parquet")
    broken.unlink()
    before = contents("fleet")
    reason = (
        f"{broken} is missing or damaged, and no source has step 1 of worker_0: gather from all "
        "sources, or name a new folder"
    )
    with pytest.raises(InputError, match=re.escape(reason)):
        gathered("logs/worker_1")
    assert contents("fleet") == before
    assert gathered().files == 1


# --- unfinished -----------------------------------------------------------------------------------


def test_an_unfinished_fleet_is_said(command: Command) -> None:
    Path("fleet/manifest.json").unlink()
    reason = "fleet is an unfinished fleet; to finish it, gather again with --resume"
    for name in ("workers", "op", "info"):
        assert command(name, "fleet") == 3
        assert reason in command.err
    assert command("./fleet") == 3
    assert f"./{reason}" in command.err
    with pytest.raises(InputError, match=reason):
        tfprof.fleet("fleet")
    result = gathered(resume=True)
    assert (result.decoded, result.reused) == (0, 4)
    assert str(result).endswith("rows; 4 files added, 4 of them decoded before")
    assert command("workers", "fleet") == 0


# --- what is said ---------------------------------------------------------------------------------


def test_notes_are_one_line_per_kind() -> None:
    skips = [Skip(f"w{each}/run", f"w{each}/run is empty", "damaged") for each in range(5)]
    skips += [Skip("w1/run", "w1/run: step 7 is there", "repeated", "w1", 7)]
    notes = [f"w{each}/trace: {each} bytes are ignored" for each in range(3)]
    assert said(notes, skips, "fleet") == [
        "w0/trace: 0 bytes are ignored (2 more files have notes like this)",
        "5 files are skipped as damaged: w0/run, w1/run, w2/run and 2 more",
        "1 file is skipped as repeated: w1/run: step 7 is there",
        "'tfprof info fleet' has all reasons and notes",
    ]
    assert said(["a note"], [], "fleet") == ["a note"]


def test_a_name_that_is_too_long_is_no_fleet(command: Command) -> None:
    assert command("info", "x" * 300) == 3
    assert "steps" not in command.err


def test_commands_that_take_no_fleet_say_that_first(command: Command) -> None:
    for name in ("save", "convert"):
        assert command(name, "fleet") == 2
        assert f"{name} takes no fleet" in command.err


@pytest.mark.parametrize(
    ("flag", "reason"), [(os.ST_RDONLY, "Read-only file system"), (0, "Permission denied")]
)
def test_why_a_folder_cannot_be_written_to(
    flag: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flag))
    with pytest.raises(OutputError, match=f"the folder fleet/? cannot be written to: {reason}"):
        gathered()
