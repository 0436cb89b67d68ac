"""How people lay out the files of workers and steps: which worker and step each file is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import paths
from fleet_engine import HereEngine
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.gather import gather
from tfprof.fleet.path_pattern import Place, default_place

if TYPE_CHECKING:
    from tfprof.fleet.gathered import Gathered

TRACES = paths.DATA / "xplane"
# Steps 0, 1 and 2; step 1.
LONG, SHORT = TRACES / "level2", TRACES / "keras_level2"
FIRST, LAST = "2024_01_01", "2024_01_10"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("logs/step_7/worker_1.pb", Place("worker_1", 7)),
        ("logs/global_step_7/worker-1", Place("worker-1", 7)),
        ("logs/job/ckpt-100/host_3.pb.gz", Place("job/host_3", 100)),
        ("logs/worker_1/step_7/run_meta", Place("worker_1", 7)),
        ("logs/worker_1/step_7/run_meta.pb", Place("worker_1", 7)),
        ("logs/step_7/worker_1/run_meta_0", Place("worker_1", 7)),
        ("logs/step_7/run_meta", Place("logs", 7)),
        ("step_7/worker_1.pb", Place("worker_1", 7)),
        ("step_7/worker_1/run_meta_20", Place("worker_1", 20)),
        ("logs/run_meta.worker3.1", Place("worker3", 1)),
        ("logs/worker3_run_meta_1", Place("worker3", 1)),
        ("logs/run_meta_worker3_step1", Place("worker3", 1)),
        ("logs/step1_worker3.pb", Place("worker3", 1)),
        ("logs/run_meta_worker_3_1.gz", Place("worker_3", 1)),
        ("logs/chief_run_meta_4", Place("chief", 4)),
        ("logs/ps_0.run_meta_4", Place("ps_0", 4)),
        ("logs/job/rank2.run_meta.5", Place("job/rank2", 5)),
        ("logs/worker3.pb", Place("worker3")),
        ("logs/worker_2/worker_2_run_meta", Place("worker_2")),
        ("logs/worker_2/run_meta_task_7", Place("worker_2", 7)),
        ("logs/worker_2/step_7_v2.pb", Place("worker_2", 7)),
        ("logs/steps/run_meta_7", Place("steps", 7)),
        ("logs/maps_2_run_meta_1", Place("logs", 1)),
        ("logs/worker3_4.tfprof", Place("worker3", None, 4)),
    ],
)
def test_names_say_what_they_are(path: str, place: Place) -> None:
    assert default_place(path.split("/")) == place


# --- sessions of the profiler ---------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(trace: Path, host: str, session: str, folder: str = "logs") -> str:
    file = Path(folder, "plugins", "profile", session, f"{host}.xplane.pb.gz")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(trace / "trace.xplane.pb.gz", file)
    return str(file)


def gathered(*sources: str, **options: Any) -> Gathered:
    return gather(sources, "fleet", engine=HereEngine(), **options)


def steps() -> dict[str, set[int]]:
    return Dataset.open("fleet").manifest.steps


def sources_of_steps() -> set[str]:
    sources = Dataset.open("fleet").steps(["source"])["source"].to_pylist()
    return {os.path.relpath(source) for source in sources}


def test_sessions_are_not_mixed() -> None:
    old, new = put(LONG, "host-1", FIRST), put(SHORT, "host-1", LAST)
    other = put(LONG, "host-2", FIRST)
    result = gathered("logs")
    assert steps() == {"host-1": {1}, "host-2": {0, 1, 2}}
    assert sources_of_steps() == {new, other}
    (skip,) = result.skipped
    assert (skip.path, skip.kind, skip.worker, skip.step) == (old, "other session", "host-1", None)
    assert f"session {LAST} of host-1 counts" in skip.reason
    # What the reason recommends.
    shutil.rmtree("fleet")
    gathered(*(f"logs/plugins/profile/{session}" for session in (FIRST, LAST)))
    assert sorted(steps().values(), key=len) == [{1}, {0, 1, 2}, {0, 1, 2}]


def test_a_later_session_is_not_added_to_an_earlier_one() -> None:
    old = put(SHORT, "host-1", FIRST)
    gathered("logs")
    new = put(LONG, "host-1", LAST)
    result = gathered("logs")
    assert (steps(), sources_of_steps()) == ({"host-1": {1}}, {old})
    assert [(skip.path, skip.kind) for skip in result.skipped] == [(new, "other session")]
    assert result.unchanged == 1


def test_the_folder_of_logs_is_part_of_the_name_where_there_are_several() -> None:
    put(SHORT, "host-1", FIRST, "runs/a")
    gathered("runs")
    assert [*steps()] == ["host-1"]
    shutil.rmtree("fleet")
    put(SHORT, "host-1", LAST, "runs/b")
    gathered("runs")
    assert [*steps()] == ["a/host-1", "b/host-1"]
