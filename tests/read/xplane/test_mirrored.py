"""A training on two replicas: their gradients are added up, and each updates its variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import paths
import tfprof

if TYPE_CHECKING:
    from forked import Forked

WORKER: Final = paths.MAKE / "mirrored_worker.py"
BATCH: Final = 32  # 16 samples for each replica


@pytest.fixture(scope="module")
def loaded(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> tfprof.Loaded:
    folder = tmp_path_factory.mktemp("mirrored")
    tensorflow.script(WORKER, str(folder))
    return tfprof.load(folder)


def test_reduction_and_updates_are_training(loaded: tfprof.Loaded) -> None:
    summary = loaded.summary()
    assert not [row["path"] for row in summary.rows if "adam" in row["path"]]
    assert summary.total["multiply_adds"] == BATCH * (8 * 16 + 16 * 4)
    assert summary.total["parameters"] == 8 * 16 + 16 + 16 * 4 + 4


def test_no_operation_of_the_training_is_lost(loaded: tfprof.Loaded) -> None:
    types = {row.name for row in loaded.op(select=["occurrence"], max_depth=1_000).rows}
    assert "CollectiveReduceV2" in types
    assert not any("SyncDevice" in name for name in loaded.profile.nodes.name.texts())


def test_equal_batches_have_equal_shapes(loaded: tfprof.Loaded) -> None:
    assert not loaded.profile.step_shapes
