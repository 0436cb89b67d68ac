"""The recorded files of models are those that their workers write."""

from __future__ import annotations

import json
import tarfile
from typing import TYPE_CHECKING

import pytest

import tfprof
from model_files import MADE_BY, RECORDED, WORDS, built, fingerprint, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked

MODELS = (".pb", ".pbtxt", ".cpb", ".keras", ".h5", ".tflite", ".meta")


@pytest.mark.parametrize("name", WORDS)
def test_the_worker_has_not_changed_since(name: str) -> None:
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        member = archive.extractfile(MADE_BY)
        assert member is not None
        assert member.read().decode() == fingerprint(name), (
            f"python tests/data/make/models.py {name} records what it writes now"
        )


def test_recorded_files_are_small_and_all_used() -> None:
    sizes = {path.name: path.stat().st_size for path in RECORDED.iterdir()}
    assert sizes.keys() == {f"{name}.tar.xz" for name in WORDS}
    assert sum(sizes.values()) < 1_250_000


def files_of(folder: Path) -> list[Path]:
    """The files that say the same each time: no traces of what ran. Names of events have times."""
    found = [path for path in sorted(folder.rglob("*")) if "plugins" not in path.parts]
    known = (*MODELS, ".json")
    return [path for path in found if path.suffix in known or ".tfevents." in path.name]


def counted(path: Path) -> list[tuple[str, int, int]] | str:
    """What each operation type of a file or folder adds up to; or why nothing is counted."""
    try:
        report = tfprof.load(path).op(select=["params", "float_ops"], max_depth=10**6)
    except tfprof.TfprofError as error:
        return type(error).__name__
    return sorted((row.name, row.own_params, row.own_float_ops) for row in report.rows)


def content(place: Path) -> object:
    """What a file says, but for names, which converters and Keras number."""
    if place.suffix == ".json":
        return without_names(json.loads(place.read_text()))
    return counted(place)


def without_names(truth: object) -> object:
    if isinstance(truth, dict):
        return {key: without_names(value) for key, value in truth.items() if key != "name"}
    if isinstance(truth, list):
        return sorted(map(without_names, truth), key=repr)
    return truth


@pytest.mark.whole
@pytest.mark.parametrize("name", WORDS)
def test_the_worker_still_writes_what_is_recorded(
    name: str, tmp_path: Path, tensorflow: Forked
) -> None:
    """With today's Keras and TensorFlow; all other tests read what is recorded."""
    recorded = unpacked(name, tmp_path / "recorded")
    (tmp_path / "written").mkdir()
    written = built(name, tmp_path / "written", tensorflow)
    files, others = files_of(recorded), files_of(written)
    assert len(files) == len(others) > 0
    for file, other in zip(files, others, strict=True):
        assert content(other) == content(file), (file, other)
