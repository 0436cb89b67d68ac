"""source=off: no file that tfprof writes has source text or absolute paths of source files."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import pytest

import tfprof as api
from tfprof.foundation.stack_files import short_path, without_folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from command import Command
    from forked import Forked

HOME = "/home/ada/secret_project"
LIBRARY = f"{HOME}/.venv/lib/python3.11/site-packages/tensorflow/python/ops.py"
TEXT = "x = secret_sauce(x)"
GRAPH = 'node { name: "a" op: "NoOp" }\nnode { name: "b" op: "NoOp" }\n'
LOG = f"""
log_entries {{ name: "a" code_def {{
  traces {{ lineno: 3 file_id: 1 function_id: 2 line_id: 3 }}
  traces {{ lineno: 9 file_id: 4 function_id: 2 line_id: 3 }} }} }}
log_entries {{ name: "b" code_def {{
  traces {{ lineno: 3 file_id: 1 function_id: 2 line_id: 3 }} }} }}
id_to_string {{ key: 1 value: "{HOME}/train.py" }}
id_to_string {{ key: 2 value: "main" }}
id_to_string {{ key: 3 value: "{TEXT}" }}
id_to_string {{ key: 4 value: "{LIBRARY}" }}
"""


def contents(data: bytes) -> Iterator[bytes]:
    """The bytes, also of what is packed in them."""
    yield data
    if data[:2] == b"\x1f\x8b":
        yield from contents(gzip.decompress(data))
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from contents(archive.read(name))


def assert_without(data: bytes, *words: str) -> None:
    for content in contents(data):
        for word in words:
            assert word.encode() not in content


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    (tmp_path / "op_log.pbtxt").write_text(LOG)
    return ["graph.pbtxt", "op_log.pbtxt"]


@pytest.mark.parametrize("command", ["save", "convert"])
def test_saved_and_converted(
    tfprof: Command, tmp_path: Path, files: list[str], command: str
) -> None:
    assert tfprof("code", *files, "--select=params") == 0
    report = tfprof.out
    assert "train.py:3:main" in report
    assert tfprof(command, *files, "-o", "with") == 0
    said = "\nwith contains the paths of 2 source files and source text; "
    assert f"{said}--source=off leaves this out\n" in tfprof.err
    assert HOME.encode() in (tmp_path / "with").read_bytes()

    assert tfprof(command, *files, "-o", "without", "--source=off") == 0
    assert "contains" not in tfprof.err
    assert_without((tmp_path / "without").read_bytes(), HOME, TEXT, "secret")
    # Code view is the same, also folded: files of libraries are known by their packages.
    assert tfprof("code", "without", "--select=params") == 0
    assert tfprof.out == report
    folded = [
        str(api.load(profile=name).code(frames="fold", select=["params"]))
        for name in ("with", "without")
    ]
    assert folded[0] == folded[1] != report
    # So is everything that is written of it.
    for output in ("json", "csv", "md", "proto", "file", "pprof"):
        assert tfprof(
            "code", "without", "--select=params,occurrence", f"--output={output}:outfile=out"
        ) in (0, 2)
        if (tmp_path / "out").exists():
            assert_without((tmp_path / "out").read_bytes(), HOME, TEXT, "secret")


def test_files_without_paths_say_nothing(tfprof: Command, tmp_path: Path, files: list[str]) -> None:
    bare = LOG.replace(LIBRARY, "ops.py").replace(f"{HOME}/", "net/").replace(TEXT, "none")
    (tmp_path / files[1]).write_text(bare)
    assert tfprof("convert", *files, "-o", "out") == 0
    assert "contains" not in tfprof.err
    assert b"net/train.py" in (tmp_path / "out").read_bytes()


def test_in_python(files: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = api.load(files[0], op_log=files[1])
    for write in (loaded.save, loaded.convert):
        write(tmp_path / "with")
        assert "; source=False leaves this out" in capfd.readouterr().err
        write(tmp_path / "without", source=False)
        assert capfd.readouterr().err == ""
        assert_without((tmp_path / "without").read_bytes(), HOME, TEXT, "secret")


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("/home/ada/net/model.py", "model.py"),
        (r"C:\Users\Ada\model.py", "model.py"),
        ("~/model.py", "model.py"),
        ("net/model.py", "net/model.py"),
        ("model.py", "model.py"),
        ("/v/site-packages/tensorflow/python/ops.py", "tensorflow/python/ops.py"),
        ("/usr/lib/python3.11/threading.py", "python3.11/threading.py"),
        ("<ipython-input-3>", "<ipython-input-3>"),
        ("<layer>", "<layer>"),
    ],
)
def test_what_is_left_of_a_path(path: str, short: str) -> None:
    assert short_path(path) == short


def test_folders_inside_of_messages() -> None:
    data = b'\x0a\x12/home/ada/train.py\x12\x04name "/a b/c/d.py:12" /job:localhost/replica:0 /x/y'
    # The same length: lengths of messages stand before them.
    assert without_folders(data) == (
        b'\x0a\x12./././././train.py\x12\x04name "./././/d.py:12" /job:localhost/replica:0 /x/y'
    )


PROGRAM = """if True:
    import sys
    import tensorflow as tf, tfprof
    v1 = tf.compat.v1

    @tf.function(jit_compile=True)
    def compiled(x):
        return tf.nn.relu(x @ x)  # secret_sauce

    @tf.function
    def step(x):
        return tf.reduce_sum(compiled(x)) + 1.0  # secret_sauce

    for place, source in (("capture_with", True), ("capture", False)):
        with tfprof.capture(place, python=True, source=source) as run, run.step():
            step(tf.ones([4, 4]))
    loaded = tfprof.load("capture")
    loaded.save("saved.pb")
    loaded.convert("converted.tfprof")
    graph = tf.Graph()
    with graph.as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 2], "x")
        y = tf.matmul(x, x)  # secret_sauce
        v1.train.write_graph(graph, ".", "graph.pbtxt")
        for place, source in (("log_with", True), ("log", False)):
            tf.io.gfile.makedirs(place)
            tfprof.write_op_log(graph, place, source=source)
        with tfprof.ProfileContext("dumped", trace_steps=[0], dump_steps=[0], source=False) as one:
            session.run(y, {x: [[1.0, 2.0], [3.0, 4.0]]})
"""


def test_captures_and_op_logs_of_a_program(
    tensorflow: Forked, tfprof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "secret_project"
    home.mkdir()
    (home / "train.py").write_text(PROGRAM)
    ran = tensorflow(
        f"import os, runpy; os.chdir({str(tmp_path)!r})\n"
        f"runpy.run_path({str(home / 'train.py')!r}, run_name='__main__')"
    )
    assert ran.code == 0, ran.told
    for name in ("capture_with", "log_with/tfprof_log"):
        assert f"tfprof: {name} contains the paths of " in ran.told
    assert ran.told.count("; source=False leaves this out") == 2

    clean = ["capture", "saved.pb", "converted.tfprof", "log", "dumped"]
    written = [
        file
        for name in clean
        for file in [tmp_path / name, *(tmp_path / name).rglob("*")]
        if file.is_file()
    ]
    assert len(written) >= 7
    for file in written:
        assert_without(file.read_bytes(), str(home), "secret_project", "secret_sauce")
        assert_without(file.read_bytes(), str(tmp_path), "/site-packages/")
    (lines,) = (tmp_path / "capture_with").rglob("*debug_info.pb")
    assert str(home).encode() in lines.read_bytes()
    # The lines are there all the same, and in everything that is written of them.
    for words in (["code", "capture"], ["code", "graph.pbtxt", "log/tfprof_log"]):
        assert tfprof(*words, "--select=params") == 0
        assert "train.py:" in tfprof.out
        for output in ("json", "pprof"):
            tfprof(*words, "--select=occurrence", f"--output={output}:outfile=out")
            if (tmp_path / "out").exists():
                assert_without((tmp_path / "out").read_bytes(), str(home), "secret")
