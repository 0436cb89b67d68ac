"""Manifests of a fleet from strangers: one sentence each, and no file outside of the folder."""

from __future__ import annotations

import builtins
import json
import os
import re
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from fleet_parts import GRAPH, SKIPPED, store
from sampling import is_whole
from tfprof import InputError
from tfprof.fleet.dataset import Dataset
from tfprof.fleet.manifest import FOLDERS, read_manifest
from tfprof.fleet.schema import ROWS, STEPS
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY: Final = f"{1:016x}"
DIGITS: Final = "0" * 64
FILE: Final = {"bytes": 1, "sha256": DIGITS}


def small() -> dict[str, Any]:
    """A manifest whose files need not be there."""
    return deepcopy(MANIFEST)


MANIFEST: Final[dict[str, Any]] = {
    "format": "tfprof fleet", "version": 1, "tfprof": "1", "workers": 1, "steps": 2, "rows": 3,
    "graphs": {
        GRAPH: {
            "nodes": 2,
            "files": {f"graphs/{GRAPH}.tfprof": FILE, f"graphs/{GRAPH}.parquet": FILE},
        },
    },
    "parts": {
        KEY: {
            "rows": 3, "graphs": {GRAPH: 3}, "steps": [["w1", [0, 5]]],
            "files": {f"rows/{KEY}.parquet": FILE, f"steps/{KEY}.parquet": FILE},
        },
    },
    "skipped": [dict(SKIPPED)],
    "notes": ["a note"],
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in *value*."""
    yield path
    items: Any = value.items() if isinstance(value, dict) else ()
    for name, inner in enumerate(value) if isinstance(value, list) else items:
        yield from places(inner, (*path, name))


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """The small manifest with another value at *path*."""
    if not path:
        return value
    *way, last = path
    manifest = inner = small()
    for name in way:
        inner = inner[name]
    inner[last] = value
    return manifest


def without(path: tuple[Any, ...]) -> Any:
    *way, last = path
    manifest = inner = small()
    for name in way:
        inner = inner[name]
    del inner[last]
    return manifest


def problem(content: Any) -> str:
    """The sentence about a manifest; empty where there is nothing wrong."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    sentence = ""
    try:
        read_manifest(data, "x/manifest.json")
    except InputError as error:
        sentence = str(error)
    assert not sentence or re.fullmatch(r"x/manifest\.json [^\n]{,400}", sentence)
    return sentence


def test_the_small_manifest_is_right() -> None:
    assert problem(small()) == ""
    assert problem({**small(), "of a later version": [1]}) == ""


WRONG: Final[tuple[Any, ...]] = (
    None, True, -1, 2**63, 10**30, 1.5, "", "../../etc/passwd", "/etc/passwd", "\ud800", [], {},
    [[]], {"": 1}, [None], "x" * 100_000,
)  # fmt: skip


def may_be(path: tuple[Any, ...], value: Any) -> bool:
    """Whether *value* is right at *path*, although it is one of WRONG."""
    match path:
        case ("tfprof",) | ("notes", _) | ("parts", _, "steps", _, 0):
            return isinstance(value, str) and value != "\ud800"
        case ("skipped", _, "path" | "worker" | "reason" | "kind"):
            return isinstance(value, str) and value != "\ud800"
        case ("skipped", _, "step"):
            return value is None or value == -1
        case ("parts", _, "steps", _, 1, _):
            return bool(value == -1)
        case ("skipped" | "notes",):
            return bool(value == [])
    return False


@pytest.mark.parametrize("path", list(places(small())), ids=str)
def test_a_wrong_value_is_one_sentence(path: tuple[Any, ...]) -> None:
    for value in WRONG:
        assert bool(problem(changed(path, value))) != may_be(path, value), value


@pytest.mark.parametrize("path", [path for path in places(small()) if path], ids=str)
def test_a_missing_value_is_one_sentence(path: tuple[Any, ...]) -> None:
    optional = path in {("skipped", 0), ("notes", 0)}
    assert bool(problem(without(path))) != optional


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"null", b"[]", b"\xff\xfe", b"\x00" * 9, b"[" * 100_000, b'{"a":' * 100_000,
        b'{"format": "tfprof fleet", "version": ' + b"9" * 10_000 + b"}",
        b'{"format": "tfprof fleet", "version": NaN}',
        b'{"format": "tfprof fleet", "version": Infinity}',
        json.dumps(small()).encode("utf-16"), json.dumps(small()).encode()[:-5],
    ],
    ids=lambda data: data[:20],
)  # fmt: skip
def test_what_is_no_json_is_one_sentence(data: bytes) -> None:
    utf_16 = data.startswith(b"\xff\xfe{")  # which JSON may be in
    assert bool(problem(data)) != utf_16


CONTRADICTIONS: Final = {
    "another key": changed(("parts", KEY, "files"), {f"rows/{2:016x}.parquet": FILE}),
    "a file twice": changed(("parts", KEY, "files"), {f"rows/{KEY}.parquet": FILE}),
    "a file too many": changed(
        ("parts", KEY, "files", f"graphs/{GRAPH}.tfprof"), FILE
    ),
    "a step twice": changed(("parts", KEY, "steps"), [["w1", [0]], ["w1", [0]]]),
    "a worker more": changed(("workers",), 2),
    "a step more": changed(("steps",), 3),
    "a row more": changed(("rows",), 4),
    "rows of no graph": changed(("parts", KEY, "graphs"), {GRAPH: 2}),
    "an unknown graph": changed(("parts", KEY, "graphs"), {f"{7:016x}": 3}),
    "a key with a path": changed(("parts", "../../../../00"), small()["parts"][KEY]),
    "a file with a path": changed(("parts", KEY, "files", "rows/../../x.parquet"), FILE),
    "a key with a line end": changed(("graphs", f"{GRAPH}\n"), small()["graphs"][GRAPH]),
}  # fmt: skip


@pytest.mark.parametrize("content", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_contradiction_is_one_sentence(content: Any) -> None:
    assert problem(content)


JSON: Final = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.sampled
@settings(max_examples=1000 if is_whole() else 12, suppress_health_check=[HealthCheck.too_slow])
@given(some.sampled_from([path for path in places(small()) if path]), JSON)
@example(
    ("version",), [{"\x1f\U00018cd6" * 4 + str(at) + key: None for key in "abc"} for at in "123"]
)
def test_any_value_anywhere_is_read_or_one_sentence(path: tuple[Any, ...], value: Any) -> None:
    problem(changed(path, value))


def test_a_dataset_opens_no_file_outside_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(tmp_path / "fleet", w1={0: [1]})
    opened: list[str] = []
    before = builtins.open

    def watched(path: Any, *arguments: Any, **options: Any) -> Any:
        opened.append(os.path.realpath(path))
        return before(path, *arguments, **options)

    monkeypatch.setattr(builtins, "open", watched)
    monkeypatch.setattr(Path, "open", watched)
    dataset = Dataset.open(str(tmp_path / "fleet"))
    dataset.graph(GRAPH)
    dataset.steps(list(STEPS))
    [*dataset.scan(list(ROWS))]
    assert len(opened) == 4
    inside = f"{os.path.realpath(tmp_path / 'fleet')}/"
    assert all(path.startswith(inside) for path in opened)
    for name in Writer.at(str(tmp_path / "fleet")).commit([], []).files:
        folder, _, file = name.partition("/")
        assert FOLDERS[folder].fullmatch(file)
