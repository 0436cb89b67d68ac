"""When an entry is used, and when it is not: files that changed, entries that are damaged."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from cached import Asking, Said, rewritten
from profiles import PROFILES, content
from sampling import is_whole, sampled
from sweeps import flipped
from tfprof.cache import key
from tfprof.cache.folder import cache_folder, cache_off, entries
from tfprof.cache.joined_columns import open_columns
from tfprof.writers.columnar import columns_file
from uncached import without_cache

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE: Final = Path(tfprof.__file__).parent
QUESTION: Final = ("scope", "--select=micros,params", "--max_depth=5", "--order_by=micros")
RUN: Final = PROFILES["resnet"].runs[0]
OTHER: Final = ("op", "--select=float_ops,occurrence")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.pbtxt"
    path.write_bytes(content(PROFILES["resnet"].graph))
    return path


def line(path: Path | str) -> tuple[str, ...]:
    return (*QUESTION, f"--graph_path={path}", f"--run_meta_path={RUN}")


def ask(asking: Asking, path: Path | str) -> Said:
    return asking.ask(*line(path))


def changed(path: Path) -> bytes:
    """Other content of the same size: two layers have each other's names."""
    data = path.read_bytes()
    other = data.replace(b"unit_1_0", b"unit_9_9")
    assert len(other) == len(data)
    assert other != data
    return other


def replaced(path: Path) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(changed(path))
    shutil.copystat(path, beside)
    beside.replace(path)


CHANGES: Final[dict[str, Callable[[Path], object]]] = {
    "replaced": replaced,
    "written again": lambda path: path.write_bytes(changed(path)),
    "rewritten in place": lambda path: rewritten(path, changed(path)),
    "touched": os.utime,
    "its mode": lambda path: path.chmod(0o600),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_is_read_again(change: str, asking: Asking, graph: Path) -> None:
    graph.chmod(0o644)
    ask(asking, graph)
    ask(asking, graph)
    assert asking.reads == 0
    CHANGES[change](graph)
    expected = without_cache(asking, *line(graph))
    assert ask(asking, graph) == expected
    assert asking.reads == 1
    assert ask(asking, graph) == expected
    assert asking.reads == 0


def test_another_path_is_another_entry(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    moved = graph.rename(graph.with_name("moved.pbtxt"))
    expected = without_cache(asking, *line(moved))
    assert ask(asking, moved) == expected
    assert asking.reads == 1


def test_a_relative_path_is_not_that_of_another_folder(
    asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = graph.parent / "other"
    other.mkdir()
    (other / graph.name).write_bytes(changed(graph))
    for folder in (graph.parent, other):
        monkeypatch.chdir(folder)
        expected = without_cache(asking, *line(graph.name))
        assert ask(asking, graph.name) == expected
        assert asking.reads == 1


def test_a_file_that_appears_beside_a_graph_is_read(
    asking: Asking, tmp_path: Path, model_folder: Callable[[str], Path]
) -> None:
    model = tmp_path / "model"
    shutil.copytree(model_folder("saved_model_forms") / "keras2", model)
    stacks = model / "debug" / "saved_model_debug_info.pb"
    aside = stacks.rename(tmp_path / "aside")
    asking.ask("code", str(model))
    aside.rename(stacks)
    expected = without_cache(asking, "code", str(model))
    assert asking.ask("code", str(model)) == expected
    assert asking.reads == 1


def test_a_file_that_was_just_written_is_not_kept(
    asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key, "_TICK_NS", 3_600_000_000_000)
    ask(asking, graph)
    assert asking.files() == []


def test_a_file_that_changes_before_its_entry_is_written_has_none(
    asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = tfprof.api._read_files

    def changing(*arguments: object) -> object:
        profile = read(*arguments)  # type: ignore[arg-type]
        os.utime(graph)
        return profile

    monkeypatch.setattr(tfprof.api, "_read_files", changing)
    ask(asking, graph)
    assert asking.files() == []


def test_another_version_has_other_entries(
    asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(asking, graph)
    for module, name, value in (
        (tfprof, "__version__", "9.9.9"), (key, "FORMAT", 99), (key, "_code", lambda: (1, 1))
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
        ask(asking, graph)
        assert asking.reads == 1
    assert len(entries(str(asking.folder))) == 4


def test_a_checkout_that_changes_has_other_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "tfprof"
    shutil.copytree(PACKAGE, home, ignore=shutil.ignore_patterns("page", "sample", "__pycache__"))
    monkeypatch.setattr(tfprof, "__file__", str(home / "__init__.py"))
    before = key._code()
    assert key._code() == before
    os.utime(home / "read" / "xplane" / "__init__.py")
    assert key._code() != before


# --- entries that cannot be used ------------------------------------------------------------------


# Of each profile: bytes at the head of its files that are all damaged, places further on, a sample.
# After damage, the files of a real model take several times longer to read again.
DAMAGED: Final = {"handmade": (32, 40, 50), "resnet": (0, 15, 8)}


@pytest.mark.sampled
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_entries_never_show(name: str, asking: Asking) -> None:
    """Cut off and flipped everywhere: the answer is right, and files are read if need be."""
    head, count, few = DAMAGED[name]
    given = PROFILES[name].flags()
    expected = {words: asking.ask(*words, *given) for words in (QUESTION, OTHER)}
    whole = {file: file.read_bytes() for file in asking.files()}
    assert len(whole) > 2
    reads = 0
    places = [
        (file, at, bit)
        for file, data in whole.items()
        for at in (*range(head), *range(head, len(data), max(1, len(data) // count)))
        for bit in (None, at % 8)
    ]
    for file, at, bit in sampled(places, few, f"damaged entries of {name}"):
        for each, data in whole.items():
            each.write_bytes(data)
            each.chmod(0o600)
        data = whole[file]
        file.write_bytes(data[:at] if bit is None else flipped(data, at, bit).data)
        for words in (QUESTION, OTHER):
            assert asking.ask(*words, *given) == expected[words], (file, at, bit)
            reads += asking.reads
    assert reads


def a_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


def of_version_99(entry: Path) -> None:
    data = entry.read_bytes()
    entry.write_bytes(data[:8] + b"\x63" + data[9:])


NOT_OURS: Final[dict[str, Callable[[Path], object]]] = {
    "link": lambda entry: entry.symlink_to(entry.rename(entry.parents[1] / "elsewhere")),
    "folder": a_folder,
    "writable": lambda entry: entry.chmod(0o666),
    "version": of_version_99,
    "empty": lambda entry: entry.write_bytes(b""),
}


@pytest.mark.parametrize("what", NOT_OURS)
def test_a_file_that_is_not_ours_to_trust_is_not_used(
    what: str, asking: Asking, graph: Path
) -> None:
    expected = ask(asking, graph)
    NOT_OURS[what](asking.entry())
    assert ask(asking, graph) == expected
    assert asking.reads == 1


def test_entries_of_others_are_not_used(
    asking: Asking, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ask(asking, graph)
    before = asking.files()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert ask(asking, graph) == expected
    assert asking.reads == 1
    assert asking.files() == before


def test_a_folder_that_others_can_write_to_is_not_used(asking: Asking, graph: Path) -> None:
    asking.folder.mkdir()
    asking.folder.chmod(0o777)
    ask(asking, graph)
    assert asking.files() == []


def test_entries_are_for_the_user_alone(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    assert stat.S_IMODE(asking.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in asking.files()} == {0o600}


def test_entries_are_for_the_user_alone_whatever_the_umask(asking: Asking, graph: Path) -> None:
    asking.use(asking.folder / "deeper" / "cache")
    mask = os.umask(0)
    try:
        ask(asking, graph)
    finally:
        os.umask(mask)
    for folder, _, files in os.walk(asking.folder):
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert {stat.S_IMODE(Path(folder, file).stat().st_mode) for file in files} <= {0o600}
    assert files


# --- the folder -----------------------------------------------------------------------------------


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("TFPROF_CACHE", raising=False)
    assert cache_folder() == str(tmp_path / ".cache" / "tfprof")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == str(tmp_path / ".cache" / "tfprof")
    with monkeypatch.context() as another:
        another.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert cache_folder() is None  # root leaves no folder in the home of a user
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == str(tmp_path / "tfprof")
    with cache_off():
        assert cache_folder() is None
    monkeypatch.setenv("TFPROF_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == str(tmp_path / "mine")
    monkeypatch.setenv("TFPROF_CACHE", "~/mine")  # from a file that no shell reads
    assert cache_folder() == str(tmp_path / "mine")
    for on in ("on", "1", "TRUE", " "):
        monkeypatch.setenv("TFPROF_CACHE", on)
        assert cache_folder() == str(tmp_path / "tfprof")
    for off in ("off", "OFF", "0"):
        monkeypatch.setenv("TFPROF_CACHE", off)
        assert cache_folder() is None


@pytest.mark.parametrize("folder", ["cache", "cache/deeper", "."])
def test_root_leaves_no_folder_among_the_files_of_a_user(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    if not os.geteuid():
        os.chown(tmp_path / "theirs", 1, 1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs" / folder))  # as sudo -E has it
    monkeypatch.delenv("TFPROF_CACHE", raising=False)
    assert cache_folder() is None
    monkeypatch.setattr(os, "geteuid", lambda: 2)  # who may share it
    assert cache_folder()


def test_without_a_home_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "TFPROF_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _: (_ for _ in ()).throw(KeyError))
    assert cache_folder() is None
    monkeypatch.setenv("HOME", "/nonexistent/home")
    assert cache_folder() is None


def test_the_oldest_go_first(asking: Asking, graph: Path, tmp_path: Path) -> None:
    paths = [shutil.copy(graph, tmp_path / f"{number}.pbtxt") for number in range(3)]
    sizes = []
    for number, path in enumerate(paths):
        ask(asking, path)
        newest = entries(str(asking.folder))[0]
        sizes.append(newest.size)
        for file in newest.files:
            os.utime(file, (1000 + number, 1000 + number))
    ask(asking, paths[0])  # used: now the second is the oldest
    assert asking.reads == 0
    most = sum(sizes) + sizes[0] // 2
    last = shutil.copy(graph, tmp_path / "last.pbtxt")
    asking.ask(*line(last), f"--limit_cache_bytes={most}")
    assert sum(entry.size for entry in entries(str(asking.folder))) <= most
    reads = []
    for path in (paths[0], paths[2], last, paths[1]):
        ask(asking, path)
        reads.append(asking.reads)
    assert reads == [0, 0, 0, 1]


def test_what_is_larger_than_the_cache_is_not_kept(asking: Asking, graph: Path) -> None:
    asking.ask(*QUESTION, f"--graph_path={graph}", "--limit_cache_bytes=1000")
    assert asking.files() == []


def test_only_files_of_the_cache_are_removed(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    mine = asking.folder / "notes.txt"
    mine.write_text("mine")
    said = asking.ask("cache", "--clear")
    assert said.code == 0
    assert b"Removed 1 entry" in said.out
    assert asking.files() == [mine]


def test_the_command_shows_entries(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    said = asking.ask("cache")
    assert said.code == 0
    assert said.err == b""
    assert f"{graph}, {RUN}" in said.out.decode()
    assert f"{asking.folder}: 1 entry" in said.out.decode()
    assert asking.ask("cache", "--no-cache").out.startswith(b"The cache is off: --no-cache or")
    asking.use("off")
    assert asking.ask("cache").out.startswith(b"The cache is off")
    said = asking.ask("cache", "clear")
    assert said.code == 2
    assert b"'tfprof cache --clear' removes them" in said.err


def test_the_command_says_why_a_folder_is_not_used(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.folder.mkdir()
    asking.folder.chmod(0o775)
    said = asking.ask("cache").out.decode()
    assert f"{asking.folder} is not used: other users can write to it; 'chmod go-w" in said
    asking.folder.chmod(0o700)
    assert "is not used" not in asking.ask("cache").out.decode()
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert "is not used: it belongs to another user" in asking.ask("cache").out.decode()


def test_only_what_is_gone_counts_as_removed(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    stuck = asking.folder / f"{'0' * 32}.profile"
    stuck.mkdir()  # nothing removes a folder
    said = asking.ask("cache", "--clear").out.decode()
    assert "Removed 1 entry" in said
    assert "1 entry cannot be removed" in said
    assert asking.files() == [stuck]


def forged(path: Path, name: str, value: int) -> None:
    """The same file with another first number in a column, and checksums that fit."""
    columns = open_columns(str(path))
    assert columns is not None
    parts: list[tuple[str, Any]] = []
    for each in columns:
        stored, _ = columns.raw(each)
        is_text = each.endswith((".text", "filler")) and stored.kind == "u1" and not stored.base
        column = columns.text(each) if is_text else columns.numbers(each)
        if each == name:
            column = column.copy()
            column[0] = value
        parts.append((each, column))
    path.write_bytes(b"".join(columns_file(parts)))


INDICES: Final = (
    *("nodes.op", "nodes.device", "nodes.stack", "nodes.shape.start", "edges.source"),
    *("edges.start", "outputs.start", "stacks.start", "typed_as", "typed_node"),
    *("steps.0.node", "steps.0.device", "steps.0.counts_as", "steps.0.memory_node"),
)


# Only in a real model does a stack that is not there change an answer.
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("profile", "names"),
    [("handmade", INDICES), ("resnet", INDICES if is_whole() else ("nodes.stack",))],
)
def test_an_entry_with_indices_out_of_range_is_read_from_the_files(
    profile: str, names: tuple[str, ...], asking: Asking
) -> None:
    files = PROFILES[profile].flags()
    questions = [("op", "--select=micros,params"), ("graph", "--max_depth=3"), ("code",)]
    expected = [without_cache(asking, *words, *files) for words in questions]
    asking.ask("scope", "--max_depth=1", *files)
    entry = asking.entry()
    sound = entry.read_bytes()
    for name in names:
        for value in (-7, 1 << 40):
            for file in asking.files():
                file.unlink()
            entry.write_bytes(sound)
            entry.chmod(0o600)
            forged(entry, name, value)
            said = [asking.ask(*words, *files) for words in questions]
            assert said == expected, (name, value)


def test_the_command_as_data(asking: Asking, graph: Path) -> None:
    ask(asking, graph)
    document = json.loads(asking.ask("cache", "--format=json").out)
    assert document["schema"] == "tfprof.cache/1"
    assert document["folder"] == str(asking.folder)
    (row,) = document["rows"]
    assert row["files"] == f"{graph}, {RUN}"
    assert row["bytes"] == sum(file.stat().st_size for file in asking.files())
