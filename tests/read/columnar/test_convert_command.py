"""Converting by the command and from Python: what is written, read, refused, imported."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

import ours
import tfprof as package
from case import VIEWS
from converted import convert, reread, source
from profiles import DATA, PROFILES
from tfprof.errors import InputError, OutputError, UsageError
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import load
from tfprof.read.detect import detect
from tfprof.tables.formats import FORMATS
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

HANDMADE = PROFILES["handmade"]
GraphDef: Final[Any] = message("tensorflow.GraphDef")
RunMetadata: Final[Any] = message("tensorflow.RunMetadata")


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handmade profile, converted."""
    path = tmp_path_factory.mktemp("converted") / "handmade.tfprof"
    files = ours.files_loaded(HANDMADE)
    path.write_bytes(convert(files))
    return path


# --- the command -------------------------------------------------------------------------------


def test_the_command_writes_what_every_command_reads(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "profile.tfprof"
    assert tfprof("convert", *HANDMADE.flags(), "-o", str(path)) == 0
    assert tfprof.out == ""
    assert tfprof.err.endswith(f"tfprof: wrote {path}\n")
    assert [*tmp_path.iterdir()] == [path]
    for words in (*([view] for view in VIEWS), ["advise"], ["scope", "--flops=all"]):
        select = [] if words == ["advise"] else ["--select=float_ops,micros,bytes"]
        assert tfprof(*words, *select, *HANDMADE.flags()) == 0
        printed, said = tfprof.out, tfprof.err
        assert printed
        assert tfprof(*words, *select, f"--profile_path={path}") == 0
        assert (tfprof.out, tfprof.err) == (printed, said)
        assert tfprof(*words, *select, str(path)) == 0
        assert tfprof.out == printed


def test_saving_and_converting_either_way_gives_the_same(tfprof: Command, tmp_path: Path) -> None:
    saved, converted, again = (str(tmp_path / name) for name in ("saved", "converted", "again"))
    assert tfprof("save", *HANDMADE.flags(), f"--output=file:outfile={saved}") == 0
    assert tfprof("convert", saved, "-o", converted) == 0
    assert tfprof("save", converted, "-o", again) == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "saved").read_bytes()
    assert tfprof("convert", converted, f"--output=file:outfile={again}") == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "converted").read_bytes()


def test_the_shell_answers_alike(converted: Path) -> None:
    lines = "set -select micros,params\nscope\ngraph -max_depth 3\nop\ncode\nadvise\n"
    command = [sys.executable, "-m", "tfprof"]
    said = [
        subprocess.run([*command, *words], input=lines, capture_output=True, check=True, text=True)
        for words in (HANDMADE.flags(), [f"--profile_path={converted}"])
    ]
    assert said[0].stdout.count("Profile:") == 4
    assert (said[1].stdout, said[1].stderr) == (said[0].stdout, said[0].stderr)


def test_what_it_is_is_told_by_its_content(tfprof: Command, converted: Path) -> None:
    assert detect(memoryview(converted.read_bytes())) is FORMATS["converted"]
    assert tfprof("info", str(converted)) == 0
    lines = tfprof.out.splitlines()
    assert lines[0] == f"{converted}: a converted profile (tfprof convert)"
    assert any("executions in 2 steps" in line for line in lines)
    assert tfprof("scope", f"--graph_path={converted}") == 3
    assert "is a converted profile (tfprof convert); expected a GraphDef" in tfprof.err


def test_the_words_of_the_command(tfprof: Command, converted: Path, tmp_path: Path) -> None:
    assert tfprof("convert", str(converted)) == 2
    assert "convert needs -o PATH or --output=file:outfile=PATH" in tfprof.err
    assert tfprof("convert", str(converted), "-o") == 2
    assert tfprof("convert", str(converted), "-o", "") == 2
    assert tfprof("convert", "-o", str(tmp_path / "x")) == 2
    assert "no input" in tfprof.err
    for words in (["scope"], ["info"], ["demo", "scope"], []):
        named = str(converted) if words else f"--profile_path={converted}"
        files = [named] if words[:1] != ["demo"] else []
        assert tfprof(*words, *files, "-o", str(tmp_path / "x")) == 2
        assert "takes no --outfile (save, convert, page and fleet do)" in tfprof.err
    assert not list(tmp_path.iterdir())
    with_comma = tmp_path / "a,b=c"
    assert tfprof("convert", str(converted), f"--outfile={with_comma}") == 0
    assert with_comma.read_bytes() == converted.read_bytes()


def test_an_input_is_not_overwritten(tfprof: Command, converted: Path, tmp_path: Path) -> None:
    before = converted.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(converted)
    for target in (converted, link):
        assert tfprof("convert", str(converted), "-o", str(target)) == 4
        assert "is an input of this result and is not overwritten" in tfprof.err
    assert converted.read_bytes() == before
    assert tfprof("convert", str(converted), "-o", str(tmp_path / "no" / "x")) == 4


def test_a_profile_of_nothing_is_not_converted(tfprof: Command, tmp_path: Path) -> None:
    empty = tmp_path / "run"
    empty.write_bytes(RunMetadata(step_stats={}).SerializeToString())
    assert tfprof("convert", f"--run_meta_path={empty}", "-o", str(tmp_path / "x")) == 2
    assert "there is nothing to write" in tfprof.err


def test_damage_that_no_view_saw_is_found_and_nothing_is_written(
    tfprof: Command, tmp_path: Path
) -> None:
    graph, run = GraphDef(), RunMetadata()
    graph.node.add(name="a", op="A")
    stat = run.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="a")
    stat.output.add().tensor_description.shape.dim.add(size=5)
    files = tmp_path / "graph", tmp_path / "run"
    files[0].write_bytes(graph.SerializeToString())
    files[1].write_bytes(run.SerializeToString().replace(b"\x08\x05", b"\x08\x85"))
    assert tfprof("scope", *map(str, files)) == 0
    assert tfprof("convert", *map(str, files), "-o", str(tmp_path / "x")) == 3
    assert f"tfprof: {files[1]} is damaged" in tfprof.err
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_a_damaged_attribute_stays_as_damaged_as_it_is() -> None:
    graph = GraphDef()
    node = graph.node.add(name="a", op="MatMul")
    node.attr["transpose_a"].b = True
    data = graph.SerializeToString().replace(b"\x28\x01", b"\x28\x81")
    before = load(source(data))
    said = []
    for profile in (before, reread(convert(before))):
        with pytest.raises(InputError) as refusal:
            with_float_ops(profile, "all")
        said.append(str(refusal.value))
    assert said[0] == said[1]
    assert "an attribute of the graph is damaged" in said[0]


# --- beside it: a checkpoint, gzip, Python -------------------------------------------------------


def test_a_checkpoint_gives_its_type_to_the_file_and_its_values_beside_it(
    tfprof: Command, tmp_path: Path
) -> None:
    graph = f"--graph_path={DATA / 'checkpoints' / 'golden' / 'graph.pb'}"
    checkpoint = f"--checkpoint_path={DATA / 'checkpoints' / 'golden' / 'ck'}"
    path = tmp_path / "x"
    words = ["--account_type_regexes=_checkpoint_variables", "--select=params,tensor_value"]
    assert tfprof("scope", graph, checkpoint, *words) == 0
    expected = tfprof.out
    for files in ([graph], [graph, checkpoint]):
        assert tfprof("convert", *files, "-o", str(path)) == 0
        assert tfprof("scope", f"--profile_path={path}", checkpoint, *words) == 0
        assert tfprof.out == expected
    params = [words[0], "--select=params"]
    assert tfprof("scope", graph, checkpoint, *params) == 0
    expected = tfprof.out
    assert tfprof("scope", f"--profile_path={path}", *params) == 0
    assert tfprof.out == expected


def test_a_compressed_one_is_read_too(tfprof: Command, converted: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(converted.read_bytes()))
    assert tfprof("scope", str(converted)) == 0
    printed = tfprof.out
    assert tfprof("scope", str(packed)) == 0
    assert tfprof.out == printed


def test_from_python(tmp_path: Path) -> None:
    path = tmp_path / "resnet.tfprof"
    resnet = package.load_sample()
    resnet.convert(path)
    again = package.load(profile=path)
    assert repr(again) == repr(resnet) == "<Loaded: 5,175 graph nodes, 2 steps>"
    assert again.op(select=["float_ops"]).text() == resnet.op(select=["float_ops"]).text()
    with pytest.raises(OutputError, match="not overwritten"):
        again.convert(path)
    with pytest.raises(UsageError, match="path takes a string or a pathlib"):
        again.convert(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--profile_path is set"):
        package.load(str(HANDMADE.graph), profile=path)


def test_attributes_of_a_file_that_was_changed_since_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    data = convert(ours.files_loaded(HANDMADE))
    path.write_bytes(data)
    loaded = package.load(profile=path)
    assert loaded.scope(flops="log").text()
    with path.open("r+b") as file:
        file.seek(len(data) - 100)
        file.write(bytes(100))
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="was changed after it was read; load it again"):
        _ = loaded.profile.attributes
    with pytest.raises(InputError, match="was changed after it was read; load it again"):
        loaded.op(select=["float_ops"], flops="all")


@pytest.mark.parametrize(
    ("form", "unneeded"),
    [
        ("converted", "^google|^tfprof.read.saved|^tfprof.read.text|^tfprof.ops"),
        ("graph", "columnar"),
    ],
)
def test_what_reads_other_files_is_not_imported(converted: Path, form: str, unneeded: str) -> None:
    path = {"converted": converted, "graph": HANDMADE.graph}[form]
    program = (
        f"from tfprof import cli; assert cli.run(['scope', {str(path)!r}]) == 0\n"
        f"import re, sys; print([name for name in sys.modules if re.search({unneeded!r}, name)])"
    )
    words = [sys.executable, "-c", program]
    ran = subprocess.run(words, check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]"
