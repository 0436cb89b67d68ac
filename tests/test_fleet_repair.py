"""A dataset with a missing or damaged file is mended; an unfinished one can be finished."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fleet_engine import HereEngine
from fleet_files import write_fleet
from tfprof.errors import InputError
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather

if TYPE_CHECKING:
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


def gathered(*sources: str, **options: bool) -> Gathered:
    return gather(sources or ["logs"], "fleet", engine=HereEngine(), **options)


def content() -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in Path("fleet").rglob("*") if file.is_file()}


@pytest.mark.parametrize("damage", ["gone", "bits"])
@pytest.mark.parametrize("folder", ["rows", "steps", "graphs"])
def test_a_broken_file_is_made_again(folder: str, damage: str) -> None:
    before = content()
    file = min(Path("fleet", folder).iterdir())
    data = file.read_bytes()
    file.unlink()
    if damage == "bits":
        file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    result = gathered()
    assert (result.files, result.unchanged) == ((4, 0) if folder == "graphs" else (1, 3))
    assert f"made again, as missing or damaged: {file}" in result.notes
    assert content() == before


def test_a_broken_dataset_whose_sources_are_gone_stays_as_it_is() -> None:
    parts = Dataset.open("fleet").manifest.parts
    key = next(key for key, part in parts.items() if part["steps"] == [["worker_0", [1]]])
    broken = Path("fleet/rows", f"{key}.parquet")
    broken.unlink()
    before = content()
    reason = (
        f"{broken} is missing or damaged, and no source has step 1 of worker_0: gather from all "
        "sources, or name a new folder"
    )
    with pytest.raises(InputError, match=re.escape(reason)):
        gathered("logs/worker_1")
    assert content() == before
    assert gathered().files == 1
