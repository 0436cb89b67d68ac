"""`tfprof page` and `loaded.page()`: files, options, notes and errors."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np
import pytest

import tfprof as package
from page_files import PageFile
from profiles import PROFILES
from tfprof.cli.argv import read_words
from tfprof.errors import OutputError, UsageError
from tfprof.foundation.arguments import magnitude
from tfprof.tables.commands import known_options
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

HANDMADE: Final = PROFILES["handmade"]
GraphDef: Final[Any] = message("tensorflow.GraphDef")
OpLogProto: Final[Any] = message("tensorflow.tfprof.OpLogProto")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A graph of one input, in a folder whose name is nobody's business."""
    folder = tmp_path / "secret"
    folder.mkdir()
    graph = GraphDef()
    placeholder = graph.node.add(name="a", op="Placeholder")
    placeholder.attr["dtype"].type = 1
    for size in (-1, 4):
        placeholder.attr["shape"].shape.dim.add(size=size)
    path = folder / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def log_of(graph: Path) -> Path:
    """An op log beside *graph* that has a path and source text."""
    log = OpLogProto()
    for number, text in ((1, "/home/ada/net.py"), (2, "build"), (3, "x = conv(x)")):
        log.id_to_string[number] = text
    entry = log.log_entries.add(name="a")
    entry.code_def.traces.add(file_id=1, lineno=7, function_id=2, line_id=3)
    path = graph.with_name("op_log")
    path.write_bytes(log.SerializeToString())
    return path


def read(path: Path) -> PageFile:
    return PageFile(path.read_text(encoding="utf-8"))


# --- files ---------------------------------------------------------------------------------------


def test_it_writes_one_file_and_says_so(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert tfprof("page", *HANDMADE.flags(), "-o", str(path)) == 0
    assert tfprof.out == ""
    assert tfprof.err.endswith(f"tfprof: wrote {path}\n")
    assert "run graph coverage: " in tfprof.err
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes().startswith(b"<!doctype html>\n")
    meta = read(path).meta
    assert meta["title"] == "graph.pbtxt, run_meta_0.pbtxt, run_meta_1.pbtxt and 1 more"
    assert meta["command"] == ["tfprof"]
    assert meta["files"] == HANDMADE.flags()


def test_the_same_files_give_the_same_bytes(graph: Path, tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.html"
        words = ["page", str(graph), str(log_of(graph)), "--dim=batch=2", "-o", str(path)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ran = [sys.executable, "-m", "tfprof", *words]
        subprocess.run(ran, check=True, env=environment, capture_output=True)
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]


def test_what_the_page_says_about_the_machine_is_said(
    tfprof: Command, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    words = ["page", str(graph), str(log_of(graph)), "-o", str(path)]
    assert tfprof(*words) == 0
    what = "the paths of 2 inputs, the paths of 1 source file and source text"
    assert f"{path} contains {what}; --source=off leaves this out" in tfprof.err
    assert tfprof(*words, "--source=off") == 0
    assert "contains" not in tfprof.err
    monkeypatch.chdir(graph.parent)
    assert tfprof("page", f"--graph_path={graph}", "-o", str(path)) == 0
    assert f"{path} contains the paths of 1 input; --source=off leaves this out" in tfprof.err
    assert tfprof("page", "graph.pb", "-o", str(path)) == 0
    assert "contains" not in tfprof.err


@pytest.mark.parametrize("flags", [False, True])
def test_without_source_no_folder_of_the_machine_is_left(
    tfprof: Command, graph: Path, tmp_path: Path, *, flags: bool
) -> None:
    path, log = tmp_path / "page.html", log_of(graph)
    words = [f"--graph_path={graph}", f"--op_log_path={log}"] if flags else [str(graph), str(log)]
    for source, found in (("on", True), ("off", False)):
        assert tfprof("page", *words, f"--source={source}", "-o", str(path)) == 0
        page = read(path)
        text = path.read_text() + str(page.meta) + page.plain
        assert [word in text for word in ("secret", "/home/ada", "x = conv(x)")] == [found] * 3
    names = ["--graph_path=graph.pb", "--op_log_path=op_log"] if flags else ["graph.pb", "op_log"]
    assert page.meta["files"] == names


def test_without_source_notes_name_files_without_folders(tfprof: Command, tmp_path: Path) -> None:
    folder, path = tmp_path / "secret", tmp_path / "page.html"
    folder.mkdir()
    weights = folder / "m.weights.h5"
    with h5py.File(weights, "w") as file:
        file["layers/dense/vars/0"] = np.zeros((2, 3), "float32")
    for source, name in (("on", str(weights)), ("off", weights.name)):
        assert tfprof("page", str(weights), f"--source={source}", "-o", str(path)) == 0
        said = str(read(path).meta)
        assert f"'{name} holds weights only" in said
        assert ("secret" in said) == (source == "on")


def test_an_input_is_not_overwritten(tfprof: Command, graph: Path, tmp_path: Path) -> None:
    before = graph.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(graph)
    for target in (graph, link):
        assert tfprof("page", str(graph), "-o", str(target)) == 4
        assert "is an input of this result and is not overwritten" in tfprof.err
    assert graph.read_bytes() == before
    assert tfprof("page", str(graph), "-o", str(tmp_path / "no" / "x.html")) == 4
    assert tfprof("page", str(graph.with_name("none")), "-o", str(tmp_path / "x.html")) != 0
    assert sorted(tmp_path.iterdir()) == [link, graph.parent]


# --- options ---------------------------------------------------------------------------------


def test_the_peaks_of_the_machine_and_sizes_are_on_the_page(
    tfprof: Command, graph: Path, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    words = ["--peak_flops=312T", "--peak-bandwidth", "2.0t", "--dim=batch=8"]
    assert tfprof("page", str(graph), *words, "-o", str(path)) == 0
    meta = read(path).meta
    assert meta["peaks"] == {"flops": 312e12, "bandwidth": 2e12}
    assert meta["dims"] == ["batch=8"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("1.5k", 1.5e3), ("2M", 2e6), ("3g", 3e9), ("4T", 4e12), ("5P", 5e15),
     ("6E", 6e18), ("7e12", 7e12), ("8e2k", 8e5), ("0.5", 0.5)],
)  # fmt: skip
def test_numbers_with_units(text: str, number: float) -> None:
    assert magnitude("x", text) == number


@pytest.mark.parametrize(
    "text", ["x", "0", "-3T", "312 T", "312TB", "T", "1e999", "nan", "inf", "1_0", "٣", "1e-400"]
)
def test_a_peak_that_is_no_number_gets_a_sentence(
    tfprof: Command, graph: Path, tmp_path: Path, text: str
) -> None:
    page = tmp_path / "x.html"
    # Before any file is read: this one is not there.
    assert tfprof("page", f"{graph}", f"--peak_flops={text}", "-o", str(page)) == 2
    said = r"tfprof: --peak_flops takes a positive number, such as 312T or 1.5e12, not "
    assert re.search(said, tfprof.err)
    assert not page.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--source=maybe"], "source has no 'maybe'"),
        (["-o", ""], "page needs a path behind -o"),
        (["--select=params"], "page takes no --select"),
        (["--format=json"], "page takes no --format"),
        (["--output=file:outfile=x"], "page takes no --output"),
        (["--dim=batch"], "dim takes NAME=SIZE"),
        (["--no-open=perhaps"], "--no_open takes true or false, not 'perhaps'"),
        (["--port=80"], "--port takes 0 or a number from 1024 to 65535, not 80"),
        (["--peak_bandwidth"], "--peak_bandwidth needs a value"),
        (["--nopen"], "there is no option --nopen"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    tfprof: Command, graph: Path, words: list[str], sentence: str
) -> None:
    assert tfprof("page", str(graph), *words) == 2
    assert sentence in tfprof.err
    assert tfprof.out == ""


def test_no_open_has_two_spellings() -> None:
    for word in ("--no_open", "--no-open", "-no_open"):
        assert read_words(["page", word], known_options()).options == {"no_open": True}


def test_a_profile_of_nothing_has_no_page(tfprof: Command, tmp_path: Path) -> None:
    empty, graph, log = (tmp_path / name for name in ("run", "graph", "log"))
    empty.write_bytes(message("tensorflow.RunMetadata")(step_stats={}).SerializeToString())
    graph.write_bytes(b"\x22\x02\x08\x01")  # its version alone
    log.write_bytes(OpLogProto(id_to_string={1: "a"}).SerializeToString())
    page = tmp_path / "x.html"
    for flag in (f"--run_meta_path={empty}", f"--graph_path={graph}", f"--op_log_path={log}"):
        assert tfprof("page", flag, "-o", str(page)) == 3
        said = "there is nothing to show: the files have no graph nodes; add a graph or a run"
        assert said in tfprof.err
    assert not page.exists()


# --- the demo and the shell --------------------------------------------------------------------


def test_the_demo_has_a_page(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert tfprof("demo", "page", "--peak_flops=1T", "-o", str(path)) == 0
    meta = read(path).meta
    assert (meta["command"], meta["files"]) == (["tfprof", "demo"], [])
    assert meta["peaks"] == {"flops": 1e12}
    assert tfprof("demo", "op", "--peak_flops=1T") == 2
    assert "op takes no --peak_flops (page does)" in tfprof.err


def test_the_shell_writes_pages_too(tfprof: Command, graph: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "page.html", tmp_path / "other.html"
    lines = f"page -o {path}\npage -o {graph}\npage -peak_flops x\npage {graph} -o {other}\nscope\n"
    words = [sys.executable, "-m", "tfprof", f"--graph_path={graph}"]
    ran = subprocess.run(words, input=lines, capture_output=True, check=True, text=True)
    assert f"tfprof: wrote {path}\n" in ran.stderr
    assert "is an input of this result and is not overwritten" in ran.stderr
    assert "--peak_flops takes a positive number" in ran.stderr
    assert "_TFProfRoot" in ran.stdout
    assert not other.exists()
    assert tfprof("page", str(graph), "-o", str(other)) == 0
    assert path.read_bytes() == other.read_bytes()


# --- Python ------------------------------------------------------------------------------------


def test_from_python_it_is_the_same_file(
    tfprof: Command, graph: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    theirs, ours = tmp_path / "theirs.html", tmp_path / "ours.html"
    words = [str(graph), str(log_of(graph)), "--dim=batch=8", "--peak_flops=2T"]
    assert tfprof("page", *words, "-o", str(theirs)) == 0
    loaded = package.load(graph=graph, op_log=log_of(graph))
    report = loaded.page(ours, dims={"batch": 8}, peak_flops=2e12)
    assert "; source=False leaves this out" in capfd.readouterr().err
    assert ours.read_bytes() == theirs.read_bytes() == b"".join(report.pieces("page"))
    assert report.text().encode() == ours.read_bytes()
    assert repr(report) == "<PageReport: graph.pb, op_log>"
    again = pickle.loads(pickle.dumps(report))  # noqa: S301 - our own
    assert again.text() == report.text()
    loaded.page(str(ours), source=False)
    assert capfd.readouterr().err == ""
    assert "secret" not in read(ours).plain


def test_numbers_of_numpy_are_peaks_too(graph: Path) -> None:
    numbers: list[Any] = [np.float32(2), np.int64(3)]
    report = package.load(graph=graph).page(peak_flops=numbers[0], peak_bandwidth=numbers[1])
    assert report.peaks == {"flops": 2.0, "bandwidth": 3.0}


def test_arguments_are_checked(graph: Path) -> None:
    loaded = package.load(graph=graph)
    for wrong in ("x", True, -1, [3], 0):
        with pytest.raises(UsageError, match="peak_bandwidth takes a positive number, such as"):
            loaded.page(peak_bandwidth=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"path takes a string or a pathlib\.Path, not 3"):
        loaded.page(3)  # type: ignore[arg-type]
    wrong_source: Any = "off"
    for write in (loaded.page, loaded.save, loaded.convert):
        with pytest.raises(UsageError, match="source takes True or False, not 'off'"):
            write(graph.with_name("new"), source=wrong_source)
        assert not graph.with_name("new").exists()
    with pytest.raises(OutputError, match="is an input"):
        loaded.page(graph)
    with pytest.raises(UsageError, match="a page has no json"):
        loaded.page().pieces("json")
