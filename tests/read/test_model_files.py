"""The recorded files of models are those that their workers write."""

from __future__ import annotations

import io
import json
import tarfile
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from model_files import MADE_BY, RECORDED, WORDS, built, fingerprint, unpacked
from tfprof import cli

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


def said(words: list[str]) -> str:
    """What a command prints, and how it ends."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = cli.run(words)
        out.flush()
    return f"{code}\n{out.buffer.getvalue().decode()}"


def answers(file: Path) -> dict[str, object]:
    """What a file says: its JSON, or what tfprof answers about it."""
    if file.suffix == ".json":
        return {"content": json.loads(file.read_text())}
    if file.suffix in MODELS and file.name != "fingerprint.pb":
        of_views = {view: said([view, str(file), "--format=json"]) for view in ("summary", "op")}
        return {view: text.replace(str(file), file.name) for view, text in of_views.items()}
    return {}


@pytest.mark.whole
@pytest.mark.parametrize("name", WORDS)
def test_the_worker_still_writes_what_is_recorded(
    name: str, tmp_path: Path, tensorflow: Forked
) -> None:
    """With today's Keras and TensorFlow; all other tests read what is recorded."""
    recorded = unpacked(name, tmp_path / "recorded")
    written = built(name, tmp_path / "written", tensorflow)
    for file in sorted(recorded.rglob("*")):
        if file.is_file() and file.name != MADE_BY and ".tfevents." not in file.name:
            place = file.relative_to(recorded)
            assert answers(written / place) == answers(file), place
