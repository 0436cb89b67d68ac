"""The recorded files of models are those that their workers write."""

from __future__ import annotations

import tarfile

import pytest

from model_files import MADE_BY, RECORDED, WORDS, fingerprint


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
