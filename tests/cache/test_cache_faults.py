"""Faults around the cache: files replaced in between, disks that fail, folders that change."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import shutil
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof.api
from profiles import PROFILES, content
from tfprof.cache import key, pending
from tfprof.cache.folder import entries
from tfprof.cache.load_cached import cached_profile
from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.foundation import after_answer
from tfprof.foundation.later import lazy_table
from tfprof.io.find_inputs import detect_file
from tfprof.io.open_files import open_source
from tfprof.read import add_run
from uncached import without_cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from cached import Asking

PACKAGE: Final = Path(tfprof.__file__).parent
CODE: Final = key._code  # Asking replaces it


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.pbtxt"
    path.write_bytes(content(PROFILES["resnet"].graph))
    return path


def write_entries() -> None:
    """What the command does after its answer."""
    for work in after_answer.take():
        work()


# --- what is stored -------------------------------------------------------------------------------


def test_labels_that_only_have_the_size_of_names_are_kept_as_they_are(
    asking: Asking, tmp_path: Path
) -> None:
    nodes = {"weights": "Const", "hidden1": "Relu", "output2": "Tanh"}
    path = tmp_path / "small.pbtxt"
    path.write_text("".join(f'node {{ name: "{n}" op: "{t}" }}\n' for n, t in nodes.items()))
    words = ("op", "--select=occurrence", str(path))
    expected = without_cache(asking, *words)
    for _ in range(3):
        assert asking.ask(*words) == expected
    assert asking.reads == 0


# --- files that are replaced ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "gzip"])
def test_a_file_that_is_replaced_once_it_is_open_is_not_kept(
    form: str, asking: Asking, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.write_bytes(graph.read_bytes().replace(b"unit_1_0", b"unit_9_9"))
    if form == "gzip":
        shutil.copy(PROFILES["resnet"].graph, graph)

    def replaced_before(*arguments: Any) -> object:
        if other.exists():
            other.replace(graph)
        return cached_profile(*arguments)

    monkeypatch.setattr(tfprof.api, "cached_profile", replaced_before)
    before = asking.ask("scope", str(graph))
    assert b"unit_1_0" in before.out  # the file that it opened
    assert asking.files() == []
    expected = without_cache(asking, "scope", str(graph))
    assert b"unit_9_9" in expected.out
    for _ in range(2):
        assert asking.ask("scope", str(graph)) == expected
    assert asking.reads == 0


def test_an_archive_that_is_replaced_while_it_is_unpacked_is_not_current(
    tmp_path: Path, model_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, other = tmp_path / "model.tar.gz", tmp_path / "other"
    with tarfile.open(archive, "w:gz") as file:
        file.add(model_folder("summary") / "conv", ".")
    shutil.copy(archive, other)
    assert detect_file(str(archive)).is_current()
    unpack = tfprof.io.open_files.tar_members

    def slow(*arguments: Any) -> object:
        members = unpack(*arguments)
        other.replace(archive)
        return members

    monkeypatch.setattr("tfprof.io.open_files.tar_members", slow)
    assert not detect_file(str(archive)).is_current()


# --- disks and processes --------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ESTALE, errno.EIO])
def test_an_entry_that_cannot_be_read_is_read_from_the_files(
    code: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = PROFILES["handmade"].flags()
    words = ("scope", "--select=micros,params", *files)
    expected = asking.ask(*words)
    read, left = os.preadv, 0

    def failing(*arguments: Any) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(code, os.strerror(code))
        return read(*arguments)

    monkeypatch.setattr(os, "preadv", failing)
    reads = 0
    for count in range(0, 60, 3):
        left = count
        assert asking.ask(*words) == expected, count
        reads += asking.reads
        left = 1000
        assert asking.ask(*words) == expected
    assert reads


def test_a_program_keeps_its_umask(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(after_answer, "_collects", False)
    with monkeypatch.context() as change:
        change.setattr(os, "umask", pytest.fail)  # it is that of all threads
        for _ in range(2):  # written, and then there is nothing to write
            loaded = tfprof.load(PROFILES["handmade"].graph)
            pending._write_all(os.getpid())
        del loaded
    assert asking.files()


def test_a_program_may_hold_many_profiles(asking: Asking, graph: Path) -> None:
    asking.keep_answers()
    for number in range(12):
        asking.ask("scope", str(graph), f"--min_params={number}")
    assert len(asking.files()) > 12
    handles = Path("/proc/self/fd")
    gc.collect()  # the profiles of these commands
    before = len(list(handles.iterdir()))
    loaded = [tfprof.load(graph) for _ in range(5)]
    assert asking.reads == 0
    assert len(list(handles.iterdir())) - before <= 2 * len(loaded)


def test_a_pipe_beside_a_large_file_is_read_once(
    asking: Asking, graph: Path, tmp_path: Path
) -> None:
    run = content(PROFILES["resnet"].runs[0])
    pipe, plain = tmp_path / "pipe", tmp_path / "run"
    plain.write_bytes(run)
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            written = pool.submit(pipe.write_bytes, run)
            said = asking.ask("op", f"--graph_path={graph}", f"--run_meta_path={pipe}")
            assert written.result(timeout=60) == len(run)
            same = asking.ask("op", f"--graph_path={graph}", f"--run_meta_path={plain}")
            assert said.out == same.out


def test_work_after_the_answer_is_collected_for_one_command_only() -> None:
    with after_answer.collect():
        assert after_answer.later(print, lambda: True)
        assert after_answer.take() == [print]
        assert after_answer.later(print, lambda: True)
    assert not after_answer.take()


# --- paths ----------------------------------------------------------------------------------------


def cached(path: Path | str) -> tfprof.Loaded:
    """The profile of a file, from the cache."""
    for _ in range(2):
        loaded = tfprof.load(path)
        write_entries()
    return loaded


@pytest.mark.parametrize("copied", [False, True])
def test_a_process_may_change_its_folder(
    *, copied: bool, asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.use("off")
    expected = tfprof.load(graph).summary().text()
    asking.use(asking.folder)
    monkeypatch.chdir(graph.parent)
    loaded = cached(graph.name)
    if copied:
        loaded = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own
    monkeypatch.chdir("/")
    assert loaded.summary().text() == expected


def test_a_path_through_a_link_names_the_file_that_it_opens(
    asking: Asking, graph: Path, tmp_path: Path
) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    (elsewhere / "folder").mkdir(parents=True)
    link.symlink_to(elsewhere / "folder")
    other = elsewhere / graph.name
    other.write_bytes(graph.read_bytes())
    words = ("scope", f"{link}/../{graph.name}")  # is in elsewhere
    asking.ask(*words)
    other.write_bytes(graph.read_bytes().replace(b"unit_1_0", b"unit_9_9"))
    assert b"unit_9_9" in asking.ask(*words).out
    asking.ask(*words)
    assert asking.reads == 0


def test_the_folder_of_a_process_may_be_gone(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(InputError, match=r"^graph.pb does not exist"):
        tfprof.load("graph.pb")
    assert asking.files() == []


def test_a_pickle_reads_the_same_file_on_another_machine(asking: Asking, graph: Path) -> None:
    loaded = cached(graph)
    data = pickle.dumps(loaded)
    expected = loaded.summary().text()
    Path(shutil.copy2(graph, graph.with_name("copy"))).replace(graph)  # another inode
    assert pickle.loads(data).summary().text() == expected  # noqa: S301 - our own
    os.utime(graph)
    with pytest.raises(InputError, match="was changed after it was read"):
        pickle.loads(data).summary()  # noqa: S301 - our own
    assert asking.files()


# --- which tfprof reads ---------------------------------------------------------------------------


def test_there_is_no_cache_in_a_zip(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "tfprof.zip"
    archive.touch()
    monkeypatch.setattr(key, "_code", CODE)
    monkeypatch.setattr(tfprof, "__file__", str(archive / "tfprof" / "__init__.py"))
    assert tfprof.load(PROFILES["handmade"].graph).steps == ()
    write_entries()
    assert asking.files() == []


def test_small_files_do_without_a_look_at_the_code(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key, "SMALLEST", 1 << 30)
    monkeypatch.setattr(key, "_code", lambda: pytest.fail("it takes a millisecond"))
    tfprof.load(PROFILES["handmade"].graph)
    assert asking.files() == []


def test_all_code_that_makes_an_entry_is_in_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "tfprof"
    shutil.copytree(PACKAGE, home, ignore=shutil.ignore_patterns("page", "sample", "__pycache__"))
    (home / "kernels" / "_core.abi3.so").touch()  # also where it is not compiled
    monkeypatch.setattr(tfprof, "__file__", str(home / "__init__.py"))
    places = "foundation/stack_files.py tables/formats.py io/archives.py cli/result_commands.py"
    seen = {CODE()}
    for count, place in enumerate((*places.split(), "kernels/_core.abi3.so", "model.py"), 1):
        os.utime(home / place, ns=(0, 1 << 62 | count))
        seen.add(CODE())
        assert len(seen) == count + 1, place


# --- columns --------------------------------------------------------------------------------------


def test_threads_share_a_lazy_table() -> None:
    class Table(Frozen):
        """Many columns, which threads read in different orders."""

    def names(part: int) -> Strings:
        return Strings.of([b"%d" % part])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(10):
                parts = [(f"part{part}", partial(names, part)) for part in range(200)]
                table = lazy_table(Table, parts)

                def read(first: int, table: Table = table) -> bool:
                    names = (f"part{(first + at) % 200}" for at in range(200))
                    return any(getattr(table, name).start.flags.writeable for name in names)

                assert not any(pool.map(read, range(0, 200, 50)))
    finally:
        sys.setswitchinterval(interval)


def test_a_cached_profile_takes_one_more_run(asking: Asking) -> None:
    files = PROFILES["resnet"]

    def grown() -> Any:
        loaded = tfprof.load(files.graph, [files.runs[0]])
        write_entries()
        return add_run(loaded.profile, 1, open_source(str(files.runs[1]), "a run"))

    expected = grown()
    asking.reads = 0
    profile = grown()
    assert asking.reads == 0
    assert len(entries(str(asking.folder))) == 1
    for step, other in zip(profile.steps, expected.steps, strict=True):
        assert np.array_equal(step.us, other.us)
        assert np.array_equal(step.node, other.node)
