"""The same command about the same files again: its answer is in the cache, and nothing is drawn."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
import tfprof.query.answer
import tfprof.results.loaded
from profiles import DATA, PROFILES, content
from tfprof.cache import write_entry
from tfprof.cache.folder import parts_of
from tfprof.errors import OutputError
from tfprof.ops import table
from uncached import without_cache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cached import Asking

RUN: Final = PROFILES["resnet"].runs[0]
# Each is answered by another path: text, rows of a table, what rules count, what checkers find.
COMMANDS: Final = (
    ("scope", "--max_depth=4"),
    ("graph", "--era=original", "--select=micros,bytes", "--order_by=micros"),
    ("op", "--select=float_ops,occurrence"),
    ("code", "--format=json", "--max_depth=3"),
    ("scope", "--format=table", "--max_depth=2"),
    ("summary", "--depth=1"),
    ("explain", "--op=MatMul", "--most=1"),
    ("advise",),
    ("scope", "--format=md", "--max_depth=3"),
    ("op", "--format=csv"),
    ("graph", "--format=html", "--max_depth=3"),
    ("summary", "--training", "--format=json"),
)


@pytest.fixture
def files(tmp_path: Path, asking: Asking) -> list[str]:
    asking.keep_answers()
    graph = tmp_path / "graph.pbtxt"
    graph.write_bytes(content(PROFILES["resnet"].graph))
    log = PROFILES["resnet"].op_log
    return [f"--graph_path={graph}", f"--run_meta_path={RUN}", f"--op_log_path={log}"]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The views that are answered from now on."""
    seen: list[str] = []
    answer = tfprof.query.answer.answer

    def watched(profile: object, view: str, *others: object) -> object:
        seen.append(view)
        return answer(profile, view, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(tfprof.results.loaded, "answer", watched)
    return seen


# --- the same answer ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_it_is_what_a_command_without_a_cache_says(
    words: tuple[str, ...], asking: Asking, files: list[str]
) -> None:
    expected = without_cache(asking, *words, *files)
    assert expected.code == 0, expected.err
    for _ in range(3):
        assert asking.ask(*words, *files) == expected
    assert asking.reads == 0


def test_it_is_not_worked_out_again(asking: Asking, files: list[str], answers: list[str]) -> None:
    first = asking.ask("scope", *files)
    assert answers == ["scope"]
    assert asking.ask("scope", *files) == first
    assert answers == ["scope"]


def test_a_file_is_written_again(
    asking: Asking, files: list[str], tmp_path: Path, answers: list[str]
) -> None:
    out = tmp_path / "report.txt"
    words = ("scope", *files, f"--output=file:outfile={out}")
    first = asking.ask(*words)
    text = out.read_bytes()
    assert text
    out.unlink()
    assert asking.ask(*words) == first
    assert out.read_bytes() == text
    assert answers == ["scope"]


def test_an_input_is_not_overwritten(asking: Asking, files: list[str], tmp_path: Path) -> None:
    """The answer is known, and its file has become one of the inputs."""
    graph, out = tmp_path / "graph.pbtxt", tmp_path / "report.txt"
    words = ("scope", *files, f"--output=file:outfile={out}")
    assert asking.ask(*words).code == 0
    out.unlink()
    out.symlink_to(graph)
    said = asking.ask(*words)
    assert said.code != 0
    assert b"is an input of this result and is not overwritten" in said.err
    assert graph.read_bytes() == content(PROFILES["resnet"].graph)


def test_a_file_that_cannot_be_written_has_the_same_notes(
    asking: Asking, files: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    words = ("scope", *files, f"--output=file:outfile={folder / 'report.txt'}")
    assert asking.ask(*words).code == 0
    shutil.rmtree(folder)
    said = asking.ask(*words)
    assert said == without_cache(asking, *words)
    assert b"run graph coverage" in said.err
    assert b"there is no folder" in said.err


# --- another answer -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        ("scope", "--max_depth=3"),
        ("scope", "--max_depth=4", "--select=params"),
        ("graph", "--max_depth=4"),
        ("scope", "--max_depth=4", "--format=csv"),
        ("scope", "--max_depth=4", "--era=original"),
    ],
    ids=" ".join,
)
def test_another_question_has_an_answer_of_its_own(
    other: tuple[str, ...], asking: Asking, files: list[str]
) -> None:
    question = ("scope", "--max_depth=4")
    expected = {words: without_cache(asking, *words, *files) for words in (question, other)}
    assert expected[question].out != expected[other].out
    for words in (question, other, question, other):
        assert asking.ask(*words, *files) == expected[words]


def test_a_file_that_changed_has_another_answer(
    asking: Asking, files: list[str], tmp_path: Path
) -> None:
    graph = tmp_path / "graph.pbtxt"
    first = asking.ask("scope", *files)
    graph.write_bytes(graph.read_bytes().replace(b"unit_1_0", b"unit_9_9"))
    said = asking.ask("scope", *files)
    assert asking.reads == 1
    assert said == without_cache(asking, "scope", *files)
    assert said.out != first.out


def test_a_run_more_has_another_answer(asking: Asking, files: list[str]) -> None:
    first = asking.ask("scope", *files)
    both = [files[0], f"--run_meta_path={RUN},{PROFILES['resnet'].runs[1]}", files[2]]
    expected = without_cache(asking, "scope", *both)
    assert asking.ask("scope", *both) == expected != first


# --- answers that are not kept --------------------------------------------------------------------


def test_a_long_answer_is_not_kept(asking: Asking, files: list[str], answers: list[str]) -> None:
    first = asking.ask("scope", *files)
    asking.ask("cache", "--clear")
    asking.keep_answers(len(first.out) - 1)
    for count in (2, 3):
        assert asking.ask("scope", *files) == first
        assert answers == ["scope"] * count


def test_an_answer_that_was_not_written_whole_is_not_kept(
    asking: Asking, files: list[str], answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(name: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        yield next(iter(pieces))
        raise OutputError(f"{name}: no space is left")

    expected = without_cache(asking, "scope", *files)
    with monkeypatch.context() as patched:
        patched.setattr("tfprof.console.outcome.bounded", cut_off)
        assert asking.ask("scope", *files).code != 0
    answers.clear()
    assert asking.ask("scope", *files) == expected
    assert answers == ["scope"]


def test_tensors_of_a_checkpoint_are_read_each_time(asking: Asking, answers: list[str]) -> None:
    asking.keep_answers()
    folder = DATA / "checkpoints" / "golden"
    given = (f"--graph_path={folder / 'graph.pb'}", f"--checkpoint_path={folder / 'ck'}")
    for count in (1, 2):
        assert asking.ask("scope", "--select=tensor_value", *given).code == 0
        assert answers == ["scope"] * count


def test_rules_of_a_program_are_its_own(
    asking: Asking, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("scope", "--select=float_ops", "--max_depth=1", *files[:2])  # no op log
    expected = asking.ask(*words)
    with monkeypatch.context() as patched:
        patched.setattr(table, "_by_user", {})
        tfprof.flops_rule("Conv2D", "MatMul")(lambda _: 7)
        assert table.has_own_rules()
        own = without_cache(asking, *words)
        assert own.out != expected.out
        asking.ask("cache", "--clear")
        for _ in range(2):
            assert asking.ask(*words) == own
    assert asking.ask(*words) == expected


def test_a_damaged_answer_is_worked_out_again(
    asking: Asking, files: list[str], answers: list[str]
) -> None:
    first = asking.ask("scope", *files)
    damaged = 0
    for file in asking.files():
        data = file.read_bytes()
        if (at := data.find(first.out)) >= 0:
            file.write_bytes(data[: at + 9] + b"?" + data[at + 10 :])
            damaged += 1
    assert damaged == 1
    assert asking.ask("scope", *files) == first
    assert answers == ["scope"] * 2
    assert asking.ask("scope", *files) == first  # its file was removed, and is written anew
    assert asking.ask("scope", *files) == first
    assert answers == ["scope"] * 3


def test_the_oldest_answers_go_first(
    asking: Asking, files: list[str], answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_entry, "_MOST", 3)
    depths = (2, 3, 4, 5, 6)
    for second, depth in enumerate(depths):
        before = {*asking.files()}
        asking.ask("scope", f"--max_depth={depth}", *files)
        for file in {*asking.files()} - before:
            os.utime(file, (second, second))
    (entry,) = {file.name.partition(".")[0] for file in asking.files()}
    assert len(parts_of(str(asking.folder), entry)) == 3
    answers.clear()
    for depth in depths[2:]:
        asking.ask("scope", f"--max_depth={depth}", *files)
    assert answers == []
    asking.ask("scope", f"--max_depth={depths[0]}", *files)
    assert answers == ["scope"]


def test_answers_about_one_model_leave_room_for_others(
    asking: Asking, files: list[str], tmp_path: Path, answers: list[str]
) -> None:
    """A cache of which one entry may have a quarter: old answers go, other entries stay."""
    other = tmp_path / "other.pbtxt"
    other.write_bytes(content(PROFILES["handmade"].graph))
    first = asking.ask("scope", f"--graph_path={other}")
    asking.ask("scope", *files)
    size = sum(file.stat().st_size for file in asking.files())
    words = ("scope", f"--limit_cache_bytes={2 * size}", *files)
    for depth in range(3, 12):
        asking.ask(*words, f"--max_depth={depth}")
    assert sum(file.stat().st_size for file in asking.files()) <= 2 * size
    answers.clear()
    assert asking.ask("scope", f"--graph_path={other}") == first
    assert asking.ask(*words, "--max_depth=11").code == 0
    assert answers == []
