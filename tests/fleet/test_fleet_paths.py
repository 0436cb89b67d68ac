"""Which files a fleet has, and the worker, the step and the graph of each, by their paths."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import fsspec
import pytest

from fleet_files import write_fleet
from profiles import PROFILES, content
from tfprof.errors import InputError, UsageError
from tfprof.fleet.listing import Skip
from tfprof.fleet.path_pattern import PathPattern, Place, default_place
from tfprof.fleet.sources import find_files
from tfprof.fleet.tasks import FileToRead, InputPath, ModelFiles, make_tasks, split

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("logs/run_meta_3", Place("logs", 3)),
        ("logs/run_meta.pb", Place("logs")),
        ("logs/worker_2/run_meta_10.gz", Place("worker_2", 10)),
        ("logs/job/worker_2/step-7.pbtxt", Place("job/worker_2", 7)),
        ("logs/worker_2/v2_step7_run", Place("worker_2", 7)),
        ("logs/host-1.xplane.pb", Place("host-1")),
        ("logs/plugins/profile/2026_11_17/host-1.xplane.pb.gz", Place("host-1")),
        ("logs/job_2/plugins/profile/2026/host-1.xplane.pb", Place("job_2/host-1")),
        ("logs/worker_2/events.out.tfevents.1611.host", Place("worker_2")),
        ("logs/worker_2/profile_4.tfprof", Place("worker_2", None, 4)),
        ("logs/worker_2/run_meta_1700000000123456789", Place("worker_2", 1700000000123456789)),
    ],
)
def test_places_without_a_pattern(path: str, place: Place) -> None:
    assert default_place(path.split("/")) == place


@pytest.mark.parametrize(
    ("pattern", "path", "place"),
    [
        ("{worker}/run_meta_{step}", "/a/logs/worker_3/run_meta_20", Place("worker_3", 20)),
        ("{worker}/run_meta_{step}", "/a/logs/worker_3/run_meta_20.gz", Place("worker_3", 20)),
        ("{worker}/run_meta_{step}", "/a/logs/worker_3/run_meta_20.txt", None),
        ("{worker}/run_meta_{step}", "/a/logs/worker_3/x_run_meta_20", None),
        ("{worker}-{step}.pb", "/a/logs/host-1-20.pb", Place("host-1", 20)),
        ("{worker}/**/s{step}", "/a/host-1/2026/05/s7", Place("05", 7)),
        ("a/{worker}/**/s{step}", "/a/host-1/2026/05/s7", Place("host-1", 7)),
        ("/logs/{worker}/**/s{step}", "/a/logs/host-1/s7", Place("host-1", 7)),
        ("{worker}/*.xplane.pb", "/a/w1/any.xplane.pb", Place("w1")),
        ("run_{step}", "/a/logs/w/run_7", Place("w", 7)),
        ("step({step})+", "/a/logs/w/step(7)+", Place("w", 7)),
        ("{step}", "/a/logs/w/" + "1" * 19, Place("w", 1111111111111111111)),
    ],
)
def test_places_by_a_pattern(pattern: str, path: str, place: Place | None) -> None:
    below = ["logs", "w", path.rpartition("/")[2]]
    assert PathPattern(pattern).place(path, below) == place


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("{host}/{step}", "--paths has no '{host}': it takes {worker}, {step}"),
        ("{worker", "--paths has no '{'"),
        ("{step}/{step}", "--paths takes {step} once, not 2 times"),
    ],
)
def test_a_pattern_that_means_nothing(pattern: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason.replace("{", r"\{").replace("(", r"\(")):
        PathPattern(pattern)


# --- sources --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    write_fleet(folder, workers=2, steps=2)
    return folder


@pytest.fixture(autouse=True)
def logs(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet of two workers with two steps each, in the working folder."""
    shutil.copytree(written, tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "logs"


def test_folders_of_several_sources_are_told_apart(logs: Path) -> None:
    logs.rename("a")
    write_fleet(logs.with_name("b"), workers=1, steps=1)
    workers = dict.fromkeys(worker for _, worker, _ in places("a", "b"))
    assert [*workers] == ["a/worker_0", "a/worker_1", "b/worker_0"]


def places(*sources: str, **options: Any) -> list[tuple[str, str, int | None]]:
    found = find_files(sources, "fleet", **options)
    assert not found.skipped
    return [(file.name, file.worker, file.step) for file in found.files]


ALL = [
    (f"logs/worker_{worker}/run_meta_{step}", f"worker_{worker}", step)
    for worker in range(2)
    for step in range(2)
]
NAMES = [name for name, _, _ in ALL]


@pytest.mark.parametrize(
    "sources",
    [
        ["logs"],
        ["logs/worker_0", "logs/worker_1"],
        ["logs/*/run_meta_*"],
        ["logs/worker_?"],
        ["logs/worker_1", "logs", "logs/worker_0/run_meta_0"],
        NAMES,
        ["@list.txt"],
    ],
    ids=str,
)
def test_sources(sources: list[str], tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\n".join(NAMES) + "\n\n")
    assert places(*sources) == ALL
    graphs = {file.model.graph for file in find_files(sources, "fleet").files}
    # The graph is in the folder above those of the workers.
    assert [graph.name for graph in graphs if graph] == ["logs/graph.pbtxt"]
    assert len(graphs) == 1


def test_files_at_a_url(logs: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.rm("/bucket", recursive=True) if memory.exists("/bucket") else None
    for file in filter(os.path.isfile, logs.rglob("*")):
        memory.pipe_file(f"/bucket/{file.relative_to(logs.parent)}", file.read_bytes())
    for way in ("", "/*/run_meta_*", "/worker_*"):
        source = f"memory://bucket/logs{way}"
        found = places(source)
        assert found == [(f"memory:///bucket/{name}", worker, step) for name, worker, step in ALL]
    (model,) = {file.model for file in find_files(["memory://bucket/logs"], "fleet").files}
    assert model.graph is not None
    assert model.graph.path == "memory:///bucket/logs/graph.pbtxt"
    memory.rm("/bucket", recursive=True)


def test_hidden_files_and_datasets_are_left_out(logs: Path) -> None:
    run = (logs / "worker_0" / "run_meta_0").read_bytes()
    for place in (".cache/run_meta_7", "worker_0/.run_meta_7", "old/rows/run_meta_7"):
        (logs / place).parent.mkdir(parents=True, exist_ok=True)
        (logs / place).write_bytes(run)
    (logs / "old" / "manifest.json").write_text('{"format": "tfprof fleet", "version": 1}')
    assert places("logs") == ALL
    assert len(find_files(["logs"], "logs/worker_1").files) == 2


def test_a_pattern_selects(logs: Path) -> None:
    (logs / "worker_0" / "README").write_text("nothing")
    assert places("logs", paths="{worker}/run_meta_{step}") == ALL
    second = [(f"logs/worker_{worker}/run_meta_1", worker, None) for worker in "01"]
    assert places("logs", paths="worker_{worker}/run_meta_1") == second
    with pytest.raises(InputError, match="no file with a path like x_\\{step\\} is a run in logs"):
        find_files(["logs"], "fleet", "x_{step}")


def test_what_is_missing_is_said(logs: Path) -> None:
    (logs / "worker_0" / "README").write_text("nothing")
    found = find_files(["logs", "gone", "logs/*.gone"], "fleet")
    assert [(skip.path, skip.reason, skip.kind) for skip in found.skipped] == [
        ("gone", "gone does not exist", "missing"),
        ("logs/*.gone", "logs/*.gone does not exist", "missing"),
    ]
    assert found.notes == ["1 other file is none that tfprof reads: logs/worker_0/README"]
    with pytest.raises(InputError, match="gone does not exist"):
        find_files(["gone"], "fleet")
    with pytest.raises(InputError, match=r"list cannot be read \(No such file"):
        find_files(["@list"], "fleet")


def test_each_line_of_a_list_counts_on_its_own(tmp_path: Path) -> None:
    lines = [ALL[0][0], "gone_1", ALL[1][0], "gone_2", "logs/worker_1"]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    found = find_files(["@list.txt"], "fleet")
    assert [file.name for file in found.files] == NAMES
    missing = [("gone_1", "missing"), ("gone_2", "missing")]
    assert [(skip.path, skip.kind) for skip in found.skipped] == missing


@pytest.mark.usefixtures("logs")
def test_a_line_with_a_very_deep_pattern_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("logs\n" + "*/" * 5_000)
    (skip,) = find_files(["@list.txt"], "fleet").skipped
    assert skip.reason.endswith("has too many folders for a pattern")
    assert len(skip.reason) < 200


@pytest.mark.parametrize("paths", ["", "{worker}/run_meta_{step}"])
def test_a_step_that_is_no_int64_is_skipped(paths: str, logs: Path) -> None:
    run = (logs / "worker_1" / "run_meta_1").read_bytes()
    largest = (1 << 63) - 1
    for step in (largest, largest + 1):
        (logs / "worker_1" / f"run_meta_{step}").write_bytes(run)
    found = find_files(["logs"], "fleet", paths)
    assert [file.step for file in found.files if file.worker == "worker_1"] == [0, 1, largest]
    name = f"logs/worker_1/run_meta_{largest + 1}"
    reason = f"{name}: step {largest + 1} is above {largest}"
    assert found.skipped == [Skip(name, reason, "damaged", "worker_1")]


def test_a_list_takes_no_lists(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("logs\n@list.txt\n")
    with pytest.raises(InputError, match=r"^list\.txt names @list\.txt: a list takes no lists$"):
        find_files(["@list.txt"], "fleet")


def test_links_to_folders_are_followed_once(logs: Path, tmp_path: Path) -> None:
    (logs / "worker_1").rename(tmp_path / "elsewhere")
    (logs / "worker_1").symlink_to(tmp_path / "elsewhere")
    # Another name of a folder that is there, which sorts first, and a circle.
    (logs / "latest").symlink_to("worker_0")
    (logs / "worker_0" / "up").symlink_to("..")
    assert places("logs") == ALL
    (tmp_path / "linked").symlink_to("logs")
    linked = [(worker, step) for _, worker, step in places("linked")]
    assert linked == [(worker, step) for _, worker, step in ALL]


def test_every_folder_that_cannot_be_read_is_said(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith(("bad_1", "bad_2")):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    for name in ("bad_1", "bad_2"):
        (logs / name).mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    found = find_files(["logs"], "fleet")
    assert len(found.files) == 4
    assert [tuple(skip[:3]) for skip in found.skipped] == [
        (f"logs/{name}", f"logs/{name} cannot be read (Permission denied)", "unreadable")
        for name in ("bad_1", "bad_2")
    ]


@pytest.mark.parametrize("source", ["logs", "logs/*", "logs/**", "logs/**/*"])
def test_a_dataset_is_no_source_of_itself(source: str, logs: Path) -> None:
    """Also what a killed run left there, without a manifest, and other datasets."""
    run = (logs / "worker_0" / "run_meta_0").read_bytes()
    for fleet in ("own", "other"):
        (logs / fleet / "graphs").mkdir(parents=True)
        (logs / fleet / "graphs" / "run_meta_7").write_bytes(run)
    (logs / "other" / "manifest.json").write_text('{"format": "tfprof fleet", "version": 1}')
    (logs / "link").symlink_to("own")
    assert [file.name for file in find_files([source], "logs/own").files] == NAMES


def test_a_dataset_at_a_url_is_no_source_of_itself() -> None:
    memory = fsspec.filesystem("memory")
    run = content(PROFILES["handmade"].runs[0])
    for name in ("w/run_meta_0", "own/graphs/run_meta_7"):
        memory.pipe_file(f"/itself/{name}", run)
    try:
        found = find_files(["memory://itself"], "memory://itself/own/")
        assert [file.worker for file in found.files] == ["w"]
    finally:
        memory.rm("/itself", recursive=True)


# --- graphs ---------------------------------------------------------------------------------------


def models(*sources: str, model: ModelFiles | None = None) -> dict[str, str]:
    found = find_files(sources, "fleet", model=model)
    return {f.worker: f.model.graph.name if f.model.graph else "" for f in found.files}


def test_the_nearest_graph_counts(logs: Path) -> None:
    shared = logs / "graph.pbtxt"
    assert models("logs") == dict.fromkeys(["worker_0", "worker_1"], "logs/graph.pbtxt")
    (logs / "worker_1" / "mine.pbtxt").write_bytes(shared.read_bytes())
    nearest = {"worker_0": "logs/graph.pbtxt", "worker_1": "logs/worker_1/mine.pbtxt"}
    assert models("logs") == nearest
    other = find_files(["logs"], "fleet").files[0].model
    assert models("logs/worker_0", model=other) == {"worker_0": "logs/graph.pbtxt"}
    assert models("logs/worker_0", "logs/graph.pbtxt") == {"worker_0": "logs/graph.pbtxt"}
    # Of the folder above a SOURCE, what is called a graph, unless there is another one.
    os.chdir("logs/worker_0")
    assert models(".") == {"worker_0": "../graph.pbtxt"}
    assert models("../worker_1") == {"worker_1": "../worker_1/mine.pbtxt"}
    os.chdir("../..")
    assert models("logs/worker_0") == {"worker_0": "logs/graph.pbtxt"}
    given = ModelFiles(InputPath("/given", "given", "1-1"))
    assert models("logs/worker_0", model=given) == {"worker_0": "given"}
    shared.rename(logs / "other.pbtxt")
    (note,) = find_files(["logs/worker_0"], "fleet").notes
    what = "2 runs have no graph near, so names of nodes are all that is known of them: "
    assert note.startswith(f"{what}logs/worker_0/")
    (logs / "other.pbtxt").rename(shared)
    (logs / "second.pbtxt").write_bytes(shared.read_bytes())
    found = find_files(["logs"], "fleet")
    assert models("logs")["worker_0"] == "logs/graph.pbtxt"
    both = "logs/graph.pbtxt and logs/second.pbtxt are each a graph: the first is used"
    assert found.notes == [both]


def test_a_damaged_run_is_a_run_by_its_name_or_by_others(logs: Path) -> None:
    (logs / "worker_0" / "run_meta_0").write_bytes(b"")
    assert places("logs") == ALL
    for _, name, step in ALL:
        (logs / name / f"run_meta_{step}").rename(logs / name / f"trace_of_step_{step}")
    names = [name for name, _, _ in places("logs")]
    assert names[0] == "logs/worker_0/trace_of_step_0"
    assert len(names) == 4


def test_an_op_log_near_a_run_belongs_to_it(logs: Path) -> None:
    (model,) = {file.model for file in find_files(["logs"], "fleet").files}
    assert model.op_log is not None
    assert model.op_log.name == "logs/tfprof_log"
    (logs / "worker_0" / "tfprof_log").write_bytes(content(PROFILES["handmade"].op_log))
    logs_of = {f.worker: f.model.op_log for f in find_files(["logs"], "fleet").files}
    names = [log.name for log in logs_of.values() if log]
    assert names == ["logs/worker_0/tfprof_log", "logs/tfprof_log"]


# --- tasks ----------------------------------------------------------------------------------------


def file_of(worker: str, step: int | None, name: str = "", size: int = 1) -> FileToRead:
    name = name or f"{worker}/run_meta_{step}"
    return FileToRead(f"/{name}", name, "1-1", size, worker, step)


def groups(*files: FileToRead) -> list[list[str]]:
    return [[file.name for file in task.files] for task in make_tasks(files, {})]


def test_tasks_are_in_natural_order_whatever_the_order_of_the_files() -> None:
    files = [file_of(f"w{worker}", step) for worker in (10, 9) for step in (11, 2)]
    expected = [[f"w{worker}/run_meta_{step}"] for worker in (9, 10) for step in (2, 11)]
    assert groups(*files) == groups(*reversed(files)) == expected
    keys = [task.key for task in make_tasks(files, {})]
    assert keys == [task.key for task in make_tasks([*reversed(files)], {})]
    assert len({*keys}) == 4
    assert keys != [task.key for task in make_tasks(files, {"notes": 7})]


def test_tasks_hold_files_by_number_and_size() -> None:
    many = [file_of(f"w{worker}", step) for worker in range(64) for step in range(3)]
    assert [len(task.files) for task in make_tasks(many, {})] == [3] * 64
    more = [file_of(f"w{worker}", step) for worker in range(100) for step in range(64)]
    assert [len(task.files) for task in make_tasks(more, {})] == [32] * 200
    large = [file_of("w", step, size=100 << 20) for step in range(128)]
    assert [len(task.files) for task in make_tasks(large, {})] == [2] * 64


def test_what_belongs_together_stays_together() -> None:
    same = [file_of("a", 1, "a/run_1"), file_of("a", 1, "a/run_1.gz")]
    without = [file_of("b", None, "b/x"), file_of("b", None, "b/y"), file_of("b", 4, "b/run_4")]
    together = [["a/run_1", "a/run_1.gz"], ["b/x", "b/y", "b/run_4"]]
    assert groups(*without, *same) == together
    (task,) = make_tasks(same, {})
    assert split(task) == [task]
