"""Every input file is opened, unpacked and detected once, however the user names it."""

from __future__ import annotations

import builtins
import gzip
import shutil
import weakref
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from profiles import DATA, PROFILES, SAMPLE
from tfprof import cli
from tfprof.io.find_inputs import choose_inputs
from tfprof.read import Source, detect
from tfprof.read.text import TextSource
from tfprof.tables.formats import load_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

HANDMADE = PROFILES["handmade"]
PACKED = ("graph.pbtxt.gz", "run_meta_0.gz", "run_meta_1.gz", "tfprof_log.gz")


class Counts:
    """How often files are opened by name, gzip files unpacked, and contents detected."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: Counter[str] = Counter()
        self.unpacked = self.detected = 0
        open_file, unpacker, detect_format = builtins.open, zlib.decompressobj, detect.detect

        def count_open(path: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(path, str):
                self.opened[Path(path).name] += "rb" in arguments
            return open_file(path, *arguments, **named)

        def count_unpack(*arguments: Any) -> Any:
            self.unpacked += 1
            return unpacker(*arguments)

        def count_detect(data: memoryview) -> Any:
            self.detected += 1
            return detect_format(data)

        monkeypatch.setattr(builtins, "open", count_open)
        monkeypatch.setattr(zlib, "decompressobj", count_unpack)
        monkeypatch.setattr(detect, "detect", count_detect)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four gzip files of the sample and one that tfprof does not read."""
    for name in PACKED:
        shutil.copy(SAMPLE / name, tmp_path)
    (tmp_path / "notes.gz").write_bytes(gzip.compress(b"nothing that tfprof reads"))
    return tmp_path


def words(folder: Path) -> list[str]:
    return [str(folder / name) for name in PACKED]


def flags(folder: Path) -> list[str]:
    graph, run_0, run_1, log = words(folder)
    return [f"--graph_path={graph}", f"--run_meta_path={run_0},{run_1}", f"--op_log_path={log}"]


def mixed(folder: Path) -> list[str]:
    return [*flags(folder)[:1], *words(folder)[1:]]


@pytest.mark.parametrize("command", ["scope", "info"])
@pytest.mark.parametrize("named", [words, flags, mixed], ids=lambda way: way.__name__)
def test_four_gzip_files(
    counts: Counts, folder: Path, command: str, named: Callable[[Path], list[str]]
) -> None:
    assert cli.run([command, *named(folder)]) == 0
    assert counts.unpacked == 4
    assert counts.detected == 4
    assert {name: counts.opened[name] for name in PACKED} == dict.fromkeys(PACKED, 1)


@pytest.mark.parametrize("command", ["scope", "info"])
def test_a_folder(counts: Counts, folder: Path, command: str) -> None:
    assert cli.run([command, str(folder)]) == 0
    every = (*PACKED, "notes.gz")
    assert (counts.unpacked, counts.detected) == (5, 5)
    assert {name: counts.opened[name] for name in every} == dict.fromkeys(every, 1)


def test_a_folder_by_python(counts: Counts, folder: Path) -> None:
    assert tfprof.load(folder).steps == (0, 1)
    assert (counts.unpacked, counts.detected) == (5, 5)


@pytest.mark.parametrize(
    ("named", "opened"),
    [
        *((f"one{suffix}", "one.index") for suffix in ("", ".index", ".data-00000-of-00001")),
        ("first", "first"),  # a checkpoint in one file
    ],
)
@pytest.mark.parametrize("command", ["scope", "info"])
def test_a_checkpoint(counts: Counts, named: str, opened: str, command: str) -> None:
    assert cli.run([command, str(HANDMADE.graph), str(DATA / "checkpoints" / named)]) == 0
    assert counts.opened[opened] == 1


@pytest.mark.parametrize("command", ["scope", "info"])
def test_files_that_no_one_needs_are_freed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A flag names the run, so scope uses none of the folder's; info looks at one after another."""
    alive: list[weakref.ref[Source]] = []
    most = 0
    make = Source.__init__

    def track(source: Source, *arguments: Any) -> None:
        nonlocal most
        make(source, *arguments)
        if isinstance(source, TextSource):  # the wire bytes of a file, not a file
            return
        alive.append(weakref.ref(source))
        most = max(most, sum(one() is not None for one in alive))

    monkeypatch.setattr(Source, "__init__", track)
    for number in range(2, 8):
        shutil.copy(folder / "run_meta_0.gz", folder / f"run_meta_{number}.gz")
    for name in ("graph.pbtxt.gz", "tfprof_log.gz"):
        (folder / name).unlink()
    flag = f"--run_meta_path={HANDMADE.runs[0]}"
    assert cli.run([command, flag, str(folder)]) == 0
    assert len(alive) == 10
    # The next file is open before the loop lets go of the last.
    assert most <= 2


def test_what_is_read_is_freed(folder: Path) -> None:
    """The paths that stand for open files keep none of them open once they are loaded."""
    options = choose_inputs([str(folder)], {})
    loaded = tfprof.load(**load_arguments(options))
    files = [options["graph_path"], *options["run_meta_path"], options["op_log_path"]]
    assert all(file.take() is None for file in files)
    assert {type(path) for path in loaded.inputs} == {str}


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_a_run_that_is_cut_off_is_named_whatever_its_size(
    folder: Path, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder / "run_meta_1.gz"
    data = run.read_bytes()
    assert len(data) > size
    run.write_bytes(data[:size])
    assert cli.run(["scope", str(folder)]) == 3
    assert f"{run} is a damaged gzip file: it is cut off" in capsys.readouterr().err
