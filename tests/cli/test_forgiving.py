"""What people type and keep in files by habit: it works, or one sentence says what does."""

from __future__ import annotations

import io
import re
import shutil
from typing import TYPE_CHECKING

import pytest

import tfprof as api
from profiles import PROFILES
from tfprof.foundation.units import plural
from tfprof.tables.formats import INPUTS
from tfprof.tables.outputs import OUTPUTS

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

HANDMADE = PROFILES["handmade"]
GRAPH = str(HANDMADE.graph)
MARK = b"\xef\xbb\xbf"


# --- missing files --------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", INPUTS)
@pytest.mark.parametrize("command", [["scope"], ["summary"], ["advise"], ["save"], ["convert"], []])
def test_a_missing_file_behind_a_flag(
    tfprof: Command, tmp_path: Path, command: list[str], flag: str
) -> None:
    missing = f"--{flag}={tmp_path / 'missing'}"
    outfile = ["-o", str(tmp_path / "out")] if command in (["save"], ["convert"]) else []
    graph = [] if flag in ("graph_path", "profile_path") else [f"--graph_path={GRAPH}"]
    assert tfprof(*command, *graph, missing, *outfile) == 3
    assert str(tmp_path / "missing") in tfprof.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["scope"], ["summary"], ["save", "-o", "out"], ["info"]])
def test_a_missing_file_without_a_flag(
    tfprof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tfprof(*words, "missing") == 3
    assert tfprof.err.startswith("tfprof: missing does not exist; expected a graph, ")
    assert len(tfprof.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_beside_others(tfprof: Command, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert tfprof("scope", GRAPH, missing) == 3
    assert tfprof.out == ""
    # What is there is described all the same.
    assert tfprof("info", GRAPH, missing) == 3
    assert tfprof.out.startswith(f"{GRAPH}: a GraphDef")
    assert f"tfprof: {missing} does not exist" in tfprof.err


def test_a_missing_file_with_another_name_beside_it(tfprof: Command, tmp_path: Path) -> None:
    # profile_time names the file `op_log`; TensorFlow's own tools write `tfprof_log`.
    shutil.copy(HANDMADE.op_log, tmp_path / "tfprof_log")
    missing = tmp_path / "op_log"
    assert tfprof("scope", f"--graph_path={GRAPH}", f"--op_log_path={missing}") == 3
    hint = "; did you mean 'tfprof_log'?"
    expected = f"{missing} does not exist; expected an op log (--op_log_path)"
    assert tfprof.err == f"tfprof: {expected}{hint}\n"
    assert tfprof("scope", GRAPH, str(missing)) == 3
    assert tfprof.err.endswith(f"{hint}\n")
    shutil.copy(HANDMADE.graph, tmp_path / "graph.pbtxt")
    with pytest.raises(api.InputError, match=r"; did you mean 'graph\.pbtxt'\?"):
        api.load(tmp_path / "graph.pbtx")
    with pytest.raises(api.InputError) as problem:
        api.load(tmp_path / "resnet")
    assert "did you mean" not in str(problem.value)


# --- a byte order mark ----------------------------------------------------------------------------


def test_a_mark_at_the_start_of_texts(tfprof: Command, tmp_path: Path) -> None:
    words = ["--select=params,float_ops,micros", "--max_depth=3"]
    assert tfprof("scope", *HANDMADE.flags(), *words) == 0
    expected = tfprof.out
    marked = {}
    for path in (HANDMADE.graph, HANDMADE.op_log, *HANDMADE.runs):
        marked[path] = tmp_path / path.name
        marked[path].write_bytes(MARK + path.read_bytes())
    runs = ",".join(str(marked[run]) for run in HANDMADE.runs)
    flags = [f"--graph_path={marked[HANDMADE.graph]}", f"--run_meta_path={runs}"]
    assert tfprof("scope", *flags, f"--op_log_path={marked[HANDMADE.op_log]}", *words) == 0
    assert tfprof.out == expected
    assert tfprof("scope", str(tmp_path), *words) == 0
    assert tfprof.out == expected
    # Line and column of a mistake count what an editor shows.
    bad = tmp_path / "bad.pbtxt"
    bad.write_bytes(MARK + b"node { name: 5x }")
    assert tfprof("scope", f"--graph_path={bad}") == 3
    assert f"{bad}:1:14: " in tfprof.err


def test_a_marked_graph_has_its_attributes(tmp_path: Path) -> None:
    marked = tmp_path / "graph.pbtxt"
    marked.write_bytes(MARK + HANDMADE.graph.read_bytes())
    with_mark, without = (api.load(path).scope(select=["float_ops"]) for path in (marked, GRAPH))
    assert str(with_mark) == str(without)


# --- outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *((word, "file") for word in ("foo.txt", "out/foo", "foo.none")),
        *(("foo.json", "json"), ("rows.CSV", "csv"), ("a.b.md", "md"), ("code.pprof", "pprof")),
    ],
)
def test_a_file_name_as_output(tfprof: Command, word: str, kind: str) -> None:
    assert kind in OUTPUTS
    assert tfprof("scope", GRAPH, f"--output={word}") == 2
    hint = f"unknown output type {word!r}; to write this file: --output={kind}:outfile={word}"
    assert hint in tfprof.err


def test_a_misspelled_output(tfprof: Command) -> None:
    assert tfprof("scope", GRAPH, "--output=jsn") == 2
    assert "did you mean 'json'?" in tfprof.err


# --- the home folder ------------------------------------------------------------------------------


def test_the_home_folder_in_flags(
    tfprof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for place, path in {"g": HANDMADE.graph, "a": HANDMADE.runs[0], "b": HANDMADE.runs[1]}.items():
        shutil.copy(path, tmp_path / place)
    inputs = ["--graph_path=~/g", "--run_meta_path=~/a, ~/b"]
    assert tfprof("scope", *inputs, "--output=csv:outfile=~/rows.csv") == 0
    assert (tmp_path / "rows.csv").read_text().startswith("row,parent,depth,name,")
    assert tfprof("scope", *inputs, "--dump_to_file=~/rows.txt") == 0
    assert (tmp_path / "rows.txt").exists()
    assert tfprof("convert", *inputs, "-o", "~/all.tfprof") == 0
    assert api.load(profile=tmp_path / "all.tfprof").steps == (0, 1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"info ~/g\n")))
    assert tfprof("--graph_path=~/g") == 0
    assert tfprof.out.startswith(f"{tmp_path}/g: a GraphDef")
    # A tilde elsewhere is part of a name, and so is that of a user who does not exist.
    assert tfprof("scope", "--graph_path=~nobody-of-this-name/g") == 3
    assert "~nobody-of-this-name/g does not exist" in tfprof.err


# --- blanks in lists ------------------------------------------------------------------------------


def test_blanks_in_lists(tfprof: Command) -> None:
    a, b = HANDMADE.runs
    files = f"--graph_path={GRAPH}", f"--op_log_path={HANDMADE.op_log}"
    plain = "--select=params,micros", "--hide_name_regexes=w1,w2"
    assert tfprof("scope", *files, f"--run_meta_path={a},{b}", *plain) == 0
    expected = tfprof.out
    blanks = "--select=params, micros", "--hide_name_regexes=w1 , w2"
    assert tfprof("scope", *files, f"--run_meta_path={a}, {b}", *blanks) == 0
    assert tfprof.out == expected


def test_blanks_that_belong_to_a_regex(tfprof: Command, tmp_path: Path) -> None:
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: " a" op: "NoOp" }\nnode { name: "b" op: "NoOp" }\n')
    scope = "scope", str(graph), "--select=params"
    # One regex is kept as it is, an escaped blank is, and so are all of them in other eras.
    for words in (
        ["--show_name_regexes= a"],
        [r"--show_name_regexes=x,[ ]a"],
        ["--show_name_regexes=x, a", "--era=original"],
    ):
        assert tfprof(*scope, *words) == 0
        assert " a (" in tfprof.out
        assert "b (" not in tfprof.out
    assert tfprof(*scope, "--show_name_regexes=x, b") == 0
    assert "b (" in tfprof.out
    listed = api.load(graph).scope(show_name_regexes=["x", " a"], select=["params"])
    assert [row.name for row in listed.rows[1:]] == [" a"]


# --- one of a thing -------------------------------------------------------------------------------


def test_plurals() -> None:
    assert plural(0, "row") == "0 rows"
    assert plural(1, "row") == "1 row"
    assert plural(1200, "batch", "batches") == "1,200 batches"


def test_a_graph_with_one_of_everything(tfprof: Command, tmp_path: Path) -> None:
    graph = tmp_path / "graph.pbtxt"
    shape = 'attr { key: "shape" value { shape { dim { size: 1 } } } }'
    graph.write_text(f'node {{ name: "w" op: "VariableV2" {shape} }}\n')
    one = re.compile(r"(?<![\d.,])1 (\w+ )?\w+s\b(?! is)")
    for words in (["info"], ["summary"]):
        for form in ("text", "md"):
            assert tfprof(*words, str(graph), f"--format={form}") == 0
            assert not one.findall(tfprof.out), tfprof.out
    assert tfprof("info", str(graph)) == 0
    assert "1 variable with 1 parameter\n" in tfprof.out
    assert tfprof("scope", str(graph), "--select=params", "--max_depth=1", "--format=md") == 0
    assert "1 row is not shown (" in tfprof.out
    loaded = api.load(graph)
    assert repr(loaded) == "<Loaded: 1 graph node, 0 steps>"
    assert ": 1 row of " in repr(loaded.scope(select=["params"], max_depth=1))
