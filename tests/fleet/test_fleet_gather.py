"""gather(): bad files, appending, resuming, repeated files, the same bytes from every engine."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import fsspec
import pytest

import tfprof
from fleet_engine import HereEngine
from fleet_files import write_fleet
from folders import contents
from profiles import PROFILES, content
from sampling import sampled
from tfprof.errors import InputError, OutputError, UsageError
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.engine import Engine, Failure
from tfprof.fleet.gather import gather
from tfprof.fleet.gathered import Remarks, after
from tfprof.fleet.manifest import Manifest
from tfprof.fleet.sources import _aside
from tfprof.fleet.tasks import FileToRead, InputPath, ModelFiles, Task, keyed
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.tables.fields import METRICS
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from command import Command
    from fleet_files import Truth
    from tfprof.fleet.gathered import Gathered
    from tfprof.model import Profile

    Answers = Iterator[tuple[int, Any]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    folder = tmp_path_factory.mktemp("written")
    return folder, write_fleet(folder, workers=3, steps=2)


@pytest.fixture(autouse=True)
def truth(written: tuple[Path, Truth], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Truth:
    """What is in `logs`, a fleet of three workers with two steps each, in the working folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written[0], "logs")
    return written[1]


@pytest.fixture
def _no_logs() -> None:
    """The working folder is empty."""
    shutil.rmtree("logs")


def gathered(*sources: str, engine: Engine | None = None, **options: Any) -> Gathered:
    return gather(sources or ["logs"], "fleet", engine=engine or HereEngine(), **options)


def rows(
    target: str = "fleet",
    columns: Sequence[str] = ("worker", "step", "device", "name", "op", *METRICS),
) -> list[tuple[Any, ...]]:
    return [
        tuple(row[name] for name in columns)
        for batch in Dataset.open(target).scan(columns)
        for row in batch.table.to_pylist()
    ]


def steps(target: str = "fleet") -> list[tuple[str, int]]:
    found = Dataset.open(target).manifest.steps
    return sorted((worker, step) for worker, numbers in found.items() for step in numbers)


def skipped(target: str = "fleet") -> list[tuple[str, str]]:
    return [(row["path"], row["kind"]) for row in Dataset.open(target).manifest.skipped]


GRAPH: Final = Path("logs/graph.pbtxt")
OTHER: Final = PROFILES["model_analyzer"].runs[0]
EVERY = [(f"worker_{worker}", step) for worker in range(3) for step in range(2)]


# --- the same bytes -------------------------------------------------------------------------------


def test_processes_give_the_same_bytes() -> None:
    gathered()
    here = contents("fleet")
    shutil.rmtree("fleet")
    with Engine(processes=2) as engine:
        result = gathered(engine=engine)
    assert contents("fleet") == here
    assert result.decoded == 6
    counts = f"3 workers, 2 steps (6 worker steps), 1 graph, {len(rows()):,} rows"
    assert str(result) == f"fleet: {counts}; 6 files added"


def test_urls_as_source_and_target() -> None:
    memory = fsspec.filesystem("memory")
    for file in filter(Path.is_file, Path("logs").rglob("*")):
        packed = file.parent.name == "worker_1"
        data = gzip.compress(file.read_bytes()) if packed else file.read_bytes()
        memory.pipe_file(f"/gathered/{file}{'.gz' * packed}", data)
    memory.pipe_file("/gathered/logs/worker_2/run_meta_1", b"")
    target = "memory://gathered/fleet"
    try:
        result = gather(["memory://gathered/logs"], target, engine=HereEngine())
        assert skipped(target) == [("memory:///gathered/logs/worker_2/run_meta_1", "damaged")]
        assert (result.files, result.decoded) == (5, 6)
        gathered()
        assert rows(target) == [row for row in rows() if row[:2] != ("worker_2", 1)]
        # The dataset is inside the source.
        again = gather(["memory://gathered"], target, paths="{worker}/run_meta_{step}",
                       engine=HereEngine())  # fmt: skip
        assert (again.files, again.unchanged) == (0, 5)
    finally:
        memory.rm("/gathered", recursive=True)


# --- bad files ------------------------------------------------------------------------------------


def halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


# What a file then holds (None: it is gone), how it is skipped, and why.
BAD: Final[dict[str, tuple[Callable[[bytes], bytes] | None, str, str]]] = {
    "truncated": (halved, "damaged", "damaged or cut off"),
    "empty": (lambda _: b"", "damaged", "is empty; expected a RunMetadata"),
    "noise": (lambda _: b"\xff" * 400, "damaged", "logs/worker_1/run_meta_0"),
    "gzip": (lambda data: gzip.compress(data)[:200], "damaged", "gzip"),
    "graph": (
        lambda _: GRAPH.read_bytes(),
        "damaged",
        "is a GraphDef in text format; expected a run",
    ),
    "other graph": (lambda _: content(OTHER), "other graph", f"nodes that ran are in {GRAPH}"),
    "no steps": (lambda _: b"\x0a\x00", "no steps", "has no step with an execution"),
    "gone": (None, "missing", "logs/worker_1/run_meta_0 does not exist"),
}


def damage(path: Path, how: str = "truncated") -> None:
    change = BAD[how][0]
    if change:
        path.write_bytes(change(path.read_bytes()))
    else:
        path.unlink()
        path.symlink_to("nowhere")


@pytest.mark.sampled
@pytest.mark.parametrize("how", sampled([*BAD], 3, "bad files of a fleet"))
def test_a_bad_file_is_a_row_of_the_manifest(how: str, truth: Truth) -> None:
    damage(Path("logs/worker_1/run_meta_0"), how)
    result = gathered()
    _, kind, reason = BAD[how]
    (row,) = Dataset.open("fleet").manifest.skipped
    assert (row["path"], row["kind"]) == ("logs/worker_1/run_meta_0", kind)
    assert (row["worker"], row["step"]) == ("worker_1", 0)
    assert reason in row["reason"]
    assert os.getcwd() not in row["reason"]  # noqa: PTH109 - a text
    assert str(result).endswith(f"5 files added, 1 file skipped (1 {kind})")
    assert any(f" skipped as {kind}: " in note for note in result.notes)
    assert steps() == [place for place in EVERY if place != ("worker_1", 0)]
    columns = truth.rows[0]._fields
    kept = [row for row in truth.rows if (row.worker, row.step) != ("worker_1", 0)]
    assert sorted(rows(columns=columns)) == sorted(map(tuple, kept))
    with pytest.raises(InputError):
        gather(["logs"], "strict", engine=HereEngine(), strict=True)
    assert not contents("strict")


def test_strict_leaves_everything_as_it_was() -> None:
    gathered("logs/worker_0")
    before = contents("fleet")
    damage(Path("logs/worker_2/run_meta_1"))
    with pytest.raises(InputError, match=r"logs/worker_2/run_meta_1 is damaged or cut off"):
        gathered(strict=True, engine=HereEngine())
    with pytest.raises(InputError, match="gone does not exist"):
        gathered("logs/worker_1", "gone", strict=True)
    assert contents("fleet") == before


def test_a_bad_file_that_is_mended_is_added() -> None:
    path = Path("logs/worker_1/run_meta_0")
    data = path.read_bytes()
    damage(path)
    gathered("logs", "gone")
    assert skipped() == [("gone", "missing"), ("logs/worker_1/run_meta_0", "damaged")]
    path.write_bytes(data)
    result = gathered()
    assert (result.files, result.unchanged, result.decoded) == (1, 5, 1)
    assert skipped() == [("gone", "missing")]
    assert steps() == EVERY


def test_nothing_to_use_is_an_error() -> None:
    for path in Path("logs").glob("worker_*/run_meta_*"):
        damage(path)
    with pytest.raises(InputError, match=r"^no file could be used: .* and 5 more$"):
        gathered()
    with pytest.raises(InputError, match=r"^nothing\.pb does not exist$"):
        gathered(graph="nothing.pb")
    with pytest.raises(InputError, match=r"^logs is a folder; expected a file$"):
        gathered(graph="logs")
    assert not Path("fleet").exists()


def test_a_folder_with_other_things_is_not_touched() -> None:
    Path("fleet").mkdir()
    Path("fleet/precious").write_text("mine")
    with pytest.raises(OutputError, match="fleet has other files, such as precious"):
        gathered()
    assert contents("fleet") == {"precious": b"mine"}


@pytest.mark.parametrize(("source", "target"), [("logs", "logs/"), ("fleet", "./fleet")])
def test_a_source_is_no_target(source: str, target: str) -> None:
    gathered()
    before = contents(".")
    with pytest.raises(UsageError, match=f"^{source} is a source: the dataset needs a folder of"):
        gather([source], target, engine=HereEngine())
    with pytest.raises(OutputError, match=r"^logs has other files, such as graph\.pbtxt"):
        gather(["logs/worker_0"], "logs", engine=HereEngine())
    assert contents(".") == before


class RemovingEngine(HereEngine):
    """Removes the runs before the graphs are read."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Answers:
        if function.__name__ == "decode_graphs":
            shutil.rmtree("logs")
        yield from super().run(function, tasks)


def test_files_that_are_removed_before_their_graph_is_read() -> None:
    reason = r"^logs/worker_0/run_meta_0 was removed or changed meanwhile; gather again$"
    with pytest.raises(InputError, match=reason):
        gathered(engine=RemovingEngine())
    assert not Path("fleet").exists()


# --- tasks that fail ------------------------------------------------------------------------------


class FailingEngine(HereEngine):
    """Every task with a certain file fails."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__()
        self._name, self._kind = name, kind

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Answers:
        good = [
            number
            for number, task in enumerate(tasks)
            if all(file.name != self._name for file in getattr(task, "files", ()))
        ]
        for number, result in super().run(function, [tasks[each] for each in good]):
            yield good[number], result
        for number in {*range(len(tasks))} - {*good}:
            yield number, Failure("no answer within 7 seconds", self._kind)


def test_files_of_a_task_that_fails_are_tried_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.fleet.tasks._FEWEST_TASKS", 2)  # so three files per task
    bad = "logs/worker_1/run_meta_1"
    engine = FailingEngine(bad, "timeout")
    result = gathered(engine=engine)
    assert skipped() == [(bad, "timeout")]
    assert result.skipped[0].reason == f"{bad}: no answer within 7 seconds"
    assert steps() == [place for place in EVERY if place != ("worker_1", 1)]
    assert engine.ran == ["decode"] * 3 + ["decode_graphs"]  # three files, then two alone
    with pytest.raises(InputError, match="no answer within 7 seconds"):
        gather(["logs"], "other", engine=FailingEngine(bad, "timeout"), strict=True)


# --- appending ------------------------------------------------------------------------------------


def test_later_steps_are_added(tmp_path: Path, truth: Truth) -> None:
    later = [*Path("logs").glob("worker_*/run_meta_1"), Path("logs/worker_2/run_meta_0")]
    for path in later:
        path.rename(tmp_path / str(path).replace("/", "-"))
    first = gathered()
    assert (first.files, first.decoded) == (2, 2)
    for path in later:
        (tmp_path / str(path).replace("/", "-")).rename(path)
    before = contents("fleet")
    second = gathered()
    assert (second.files, second.unchanged, second.decoded) == (4, 2, 4)
    after = contents("fleet")
    assert before.items() - after.items() == {("manifest.json", before["manifest.json"])}
    assert steps() == EVERY
    assert len(rows()) == len(truth.rows)
    third = gathered()
    assert (third.files, third.unchanged, third.decoded) == (0, 6, 0)
    assert contents("fleet") == after
    assert str(third).endswith("rows; 0 files added, 6 there already")


def test_a_file_is_the_same_from_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered()
    monkeypatch.chdir("logs")
    result = gather(["."], "../fleet", engine=HereEngine())
    assert (result.files, result.unchanged, result.skipped) == (0, 6, ())


def test_a_second_source_does_not_count_the_first_again() -> None:
    shutil.copytree("logs", "more")
    for path in Path("more").rglob("run_meta_*"):
        os.utime(path, ns=(7, 7))
    gathered()
    (name, later) = "logs/worker_0/run_meta_2", "logs/worker_3/run_meta_0"
    Path(later).parent.mkdir()
    for new in (name, later):
        shutil.copy("logs/worker_0/run_meta_0", new)
    result = gathered("logs", "more")
    assert (result.files, result.unchanged, result.skipped) == (8, 6, ())
    more = [(f"more/{worker}", step) for worker, step in EVERY]
    assert steps() == sorted([*EVERY, ("worker_0", 2), ("worker_3", 0), *more])
    for sources in (["logs"], ["more"], ["more", "logs"], ["logs/worker_*", "more/worker_1"]):
        again = gathered(*sources)
        assert (again.files, again.skipped) == (0, ())
    # A source keeps the names that it has, also if its old files are gone.
    for path in Path("more").rglob("run_meta_*"):
        path.rename(str(path).replace("meta_", "meta_10"))
    gathered("more")
    assert steps() == sorted(
        [*EVERY, ("worker_0", 2), ("worker_3", 0), *more, *((w, 100 + s) for w, s in more)]
    )


def test_later_steps_may_come_from_another_folder() -> None:
    gathered()
    shutil.copytree("logs", "day_2")
    for path in Path("day_2").rglob("run_meta_*"):
        path.rename(str(path).replace("meta_", "meta_10"))
    gathered("day_2")
    assert steps() == sorted([*EVERY, *((worker, 100 + step) for worker, step in EVERY)])


def test_sources_of_the_same_name() -> None:
    for folder in ("x", "y"):
        shutil.copytree("logs/worker_0", f"{folder}/logs/worker_0")
    gathered("x/logs", "y/logs")
    workers = ["x/logs/worker_0", "y/logs/worker_0"]
    assert steps() == [(worker, step) for worker in workers for step in range(2)]


def test_a_folder_that_was_moved_is_the_same() -> None:
    gathered()
    Path("elsewhere").mkdir()
    Path("logs").rename("elsewhere/logs")
    result = gathered("elsewhere/logs")
    assert (result.files, result.unchanged, result.skipped) == (0, 6, ())


@pytest.mark.parametrize("paths", ["{worker}/step_{step}/run_meta", ""])
def test_steps_whose_files_are_called_the_same(paths: str) -> None:
    for step in (1, 2):
        folder = Path(f"by_step/worker/step_{step}")
        folder.mkdir(parents=True)
        shutil.copy("logs/worker_0/run_meta_0", folder / "run_meta")
        os.utime(folder / "run_meta", ns=(7, 7))
        assert gathered("by_step", paths=paths).files == 1
    assert steps() == [("worker", 1), ("worker", 2)]


def test_a_changed_file_without_a_number_is_repeated() -> None:
    run = Path("plain/worker/run_meta.pb")
    run.parent.mkdir(parents=True)
    shutil.copy("logs/worker_0/run_meta_0", run)
    gathered("plain")
    before = rows()
    shutil.copy("logs/worker_1/run_meta_1", run)
    gathered("plain")
    assert skipped() == [(str(run), "repeated")]
    assert rows() == before


def handmade() -> Profile:
    files = PROFILES["handmade"]
    return tfprof.load(files.graph, [*files.runs], files.op_log).profile


@pytest.mark.usefixtures("_no_logs")
def test_a_file_that_has_grown_adds_its_new_steps() -> None:
    profile = handmade()
    path = Path("logs/worker/profile.pb")
    path.parent.mkdir(parents=True)
    for count in (1, 2):
        grown = replace(profile, steps=profile.steps[:count], step_shapes=())
        path.write_bytes(b"".join(saved(grown)))
        result = gathered(strict=True)
        assert (result.files, result.skipped) == (1, ())
        assert steps() == [("worker", step) for step in range(count)]
    assert (gathered(strict=True).files, gathered().unchanged) == (0, 1)
    # It has changed, but has no new step.
    path.write_bytes(b"".join(saved(replace(profile, notes=()))) + b"")
    os.utime(path, ns=(7, 7))
    gathered()
    assert skipped() == [(str(path), "repeated")]


@pytest.mark.usefixtures("_no_logs")
def test_event_files_that_have_grown(model_folder: Callable[[str], Path]) -> None:
    (source,) = (model_folder("events") / "writer").rglob("*.tfevents.*")
    first, second = (Path(f"logs/w/events.out.tfevents.{time}.host") for time in (1, 2))
    first.parent.mkdir(parents=True)
    shutil.copy(source, first)
    assert gathered(strict=True).files == 1
    before = steps()
    os.utime(first, ns=(7, 7))  # as if scalars had been added
    assert (gathered(strict=True).skipped, steps()) == ((), before)
    data = source.read_bytes()
    second.write_bytes(data[: 16 + int.from_bytes(data[:8], "little")])  # nothing but its version
    assert (gathered(strict=True).skipped, steps()) == ((), before)
    shutil.rmtree("fleet")
    assert (gathered(strict=True).files, steps()) == (2, before)
    again = gathered(strict=True)
    assert (again.unchanged, again.decoded) == (2, 0)


def test_reasons_of_a_list_are_said_once() -> None:
    Path("list").write_text("logs\ngone\n")
    gathered("@list")
    gathered("@list")
    assert skipped() == [("gone", "missing")]


def test_names_that_are_not_unicode() -> None:
    os.rename(b"logs/worker_1", b"logs/worker_\xff")  # noqa: PTH104 - bytes
    Path("logs/worker_2/run_meta_0").unlink()
    Path(os.fsdecode(b"logs/worker_\xff/run_meta_1")).write_bytes(b"")
    gathered("logs", os.fsdecode(b"gone\xff"))
    assert steps() == [("worker_0", 0), ("worker_0", 1), ("worker_2", 1), ("worker_\\xff", 0)]
    assert skipped() == [("gone\\xff", "missing"), ("logs/worker_\\xff/run_meta_1", "damaged")]
    assert (gathered().files, gathered().unchanged) == (0, 4)


def test_a_changed_file_does_not_change_what_is_there() -> None:
    gathered()
    before = rows()
    shutil.copy("logs/worker_0/run_meta_1", "logs/worker_0/run_meta_0")
    result = gathered()
    assert skipped() == [("logs/worker_0/run_meta_0", "repeated")]
    assert result.decoded == 0
    (note,) = result.notes
    assert note.startswith(
        "1 file is skipped as repeated: logs/worker_0/run_meta_0: step 0 of worker_0 is there"
    )
    assert rows() == before


def test_of_two_files_of_a_step_the_first_that_can_be_read_counts() -> None:
    first, second = Path("logs/worker_0/run_meta_0"), Path("logs/worker_0/run_meta_0.gz")
    second.write_bytes(gzip.compress(first.read_bytes()))
    gathered()
    assert skipped() == [(str(second), "repeated")]
    expected = rows()
    damage(first)
    shutil.rmtree("fleet")
    gathered()
    assert skipped() == [(str(first), "damaged")]
    assert rows() == expected


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.usefixtures("_no_logs")
def test_profiles_with_the_same_steps(*, at_once: bool) -> None:
    Path("logs/worker").mkdir(parents=True)
    for number in (3, 4):
        Path(f"logs/worker/saved_{number}.pb").write_bytes(b"".join(saved(handmade())))
        if number == 4 or not at_once:
            gathered()
    assert steps() == [("worker", 0), ("worker", 1)]
    assert skipped() == [("logs/worker/saved_4.pb", "repeated")] * 2
    # A pattern that names the step of each file counts on from there.
    gather(["logs/worker/saved_4.pb"], "exact", paths="saved_{step}.pb", engine=HereEngine())
    assert steps("exact") == [("worker", 4), ("worker", 5)]


@pytest.mark.parametrize("graph", ["each", "different"])
@pytest.mark.usefixtures("_no_logs")
def test_workers_with_graphs_of_their_own(graph: str) -> None:
    truth = write_fleet(Path("logs"), workers=3, steps=1, graph=graph)
    result = gathered()
    assert not result.skipped
    assert len(result.manifest.graphs) == (2 if graph == "different" else 1)
    assert len(rows()) == len(truth.rows)


# --- resuming -------------------------------------------------------------------------------------


class InterruptedEngine(HereEngine):
    """Ends after a few tasks."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Answers:
        for result in super().run(function, tasks):
            if len(self.ran) > self._after:
                raise KeyboardInterrupt
            yield result


@pytest.mark.sampled
@pytest.mark.parametrize(("there", "after"), sampled([(0, 4), (0, 6), (4, 1)], 1, "killed"))
def test_a_run_that_ended_early_goes_on(there: int, after: int) -> None:
    gathered()
    complete = contents("fleet")
    shutil.rmtree("fleet")
    if there:
        assert gathered("logs/worker_[01]").files == there
    before = contents("fleet")
    with pytest.raises(KeyboardInterrupt):
        gathered(engine=InterruptedEngine(after))
    assert {name: contents("fleet")[name] for name in before} == before
    assert Path("fleet/manifest.json").exists() == (there > 0)
    engine = HereEngine()
    result = gathered(engine=engine, resume=True)
    assert engine.ran.count("decode") == result.decoded == 6 - there - after
    assert result.files == 6 - there
    assert contents("fleet") == complete
    assert steps() == EVERY


def test_without_resume_everything_is_decoded_again() -> None:
    with pytest.raises(KeyboardInterrupt):
        gathered(engine=InterruptedEngine(3))
    assert not Path("fleet/manifest.json").exists()
    assert gathered().decoded == 6


def test_a_part_of_a_killed_run_that_is_damaged_is_decoded_again() -> None:
    with pytest.raises(KeyboardInterrupt):
        gathered(engine=InterruptedEngine(3))
    first = min(Path("fleet/rows").iterdir())
    first.write_bytes(first.read_bytes()[:-9])
    assert gathered(resume=True).decoded == 4
    assert steps() == EVERY


def test_parts_of_another_version_or_model_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = tmp_path / "saved_model.pb"
    graph.write_bytes(b"")
    run = FileToRead("/run", "run", "1-1", 1, "w", 0)

    def key() -> str:
        of_graph = InputPath(str(graph), "saved_model.pb", "1-1")
        model = ModelFiles(of_graph, None, _aside(of_graph))
        return keyed(Task("", (replace(run, model=model),))).key

    keys = [key(), key()]
    assert keys[0] == keys[1]
    for name in ("keras_metadata.pb", "debug/saved_model_debug_info.pb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"7")
        keys.append(key())
    monkeypatch.setattr("tfprof.fleet.tasks.__version__", "0.0.1")
    keys.append(key())
    assert len({*keys}) == 4


# --- remarks --------------------------------------------------------------------------------------


def test_the_manifest_has_few_notes() -> None:
    old = Manifest(notes=(*(f"note {number}" for number in range(20)), "… 7 more notes"))
    remarks = after(old, Remarks([], ["note 3", "another"]), set())
    assert remarks.notes == [*(f"note {number}" for number in range(20)), "… 1 more note"]


# --- the command ----------------------------------------------------------------------------------


def test_the_command(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.cli.fleet.Engine", lambda *_: HereEngine())
    damage(Path("logs/worker_1/run_meta_0"))
    line = ["fleet", "logs", "-o", "fleet", "--processes=1"]
    assert command(*line) == 0
    first, last = command.out.splitlines()
    assert first.startswith("fleet: 3 workers, 2 steps (5 worker steps), 1 graph, ")
    assert first.endswith(" rows; 5 files added, 1 file skipped (1 damaged)")
    assert last == "next: tfprof workers fleet"
    assert command.err.startswith(
        "tfprof: 1 file is skipped as damaged: logs/worker_1/run_meta_0 is damaged"
    )
    assert command(*line, "--strict") == 3
    assert command.err.startswith("tfprof: logs/worker_1/run_meta_0 is damaged")
    for words, said in (
        (["logs"], "fleet needs a folder to write"),
        (["-o", "fleet"], "fleet needs sources"),
        (["logs", "-o", "fleet", "--paths={x}"], "--paths has no '{x}'"),
    ):
        assert command("fleet", *words) == 2
        assert said in command.err


def test_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.fleet.gather.Engine", lambda *_: HereEngine())
    stages: list[str] = []
    result = tfprof.gather_fleet(
        Path("logs"), Path("fleet"), paths="{worker}/run_meta_{step}", processes=1,
        progress=stages.append,
    )  # fmt: skip
    assert (result.files, len(result.manifest.steps)) == (6, 3)
    assert "looking for files" in stages
    assert any("run_meta_0 (6 of 6 parts)" in stage for stage in stages)
    with pytest.raises(UsageError, match=r"sources takes a string or a pathlib\.Path, not 7"):
        tfprof.gather_fleet([7], "fleet")  # type: ignore[list-item]
