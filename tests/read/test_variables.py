"""Variables without a model around them: checkpoints alone, and variables that no output needs.

What TensorFlow and Keras count is recorded in data/variables/expected.json.
"""

from __future__ import annotations

import json
import pickle
import re
import shutil
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from checkpoint_data import Opener
from hostile_parts import number
from profiles import DATA, PROFILES, SAMPLE
from table_writer import checksum, table
from tfprof import cli
from tfprof.errors import InputError, TfprofError
from tfprof.read.checkpoint import Checkpoint
from tfprof.read.checkpoint.object_graph import tracked_tensors
from tfprof.read.checkpoint.variables import variables
from tfprof.wire.scalar import encode_bytes, encode_varint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER: Final = DATA / "variables"
EXPECTED: Final = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
CHECKPOINTS: Final = {name: row for name, row in EXPECTED.items() if "tensors" in row}
OBJECTS: Final = {name for name in CHECKPOINTS if "keras" in name}
GRAPHS: Final = [name for name in EXPECTED if name.endswith(".gz")]
_OBJECT_GRAPH: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
DATA_FILE: Final = "data-00000-of-00001"
_ASIDE: Final = re.compile(r"(\d+) variables? of [a-z ]+ with ([\d,]+) values?")
_UNREAD: Final = re.compile(r"Not counted as parameters: \d+ variables? with ([\d,]+) values?")
_INTEGERS: Final = re.compile(r"Not counted as parameters: (\d+) integer")

Run = tuple[int, str, str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def ran(*words: object) -> Run:
        code = cli.run([*map(str, words)])
        return (code, *capfd.readouterr())

    return ran


def prefix(name: str) -> Path:
    """The checkpoint of the test data."""
    return FOLDER / name / str(CHECKPOINTS[name]["prefix"])


def numbers(pattern: re.Pattern[str], text: str, group: int = 1) -> int:
    """The sum of what *pattern* finds."""
    return sum(int(found[group].replace(",", "")) for found in pattern.finditer(text))


# --- a checkpoint alone ----------------------------------------------------------------------


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_parameters_are_those_of_the_model(name: str) -> None:
    expected = CHECKPOINTS[name]
    report = tfprof.load(checkpoint=prefix(name)).summary(depth=9)
    assert report.total["parameters"] == expected["parameters"]
    assert report.total["parameter_bytes"] == 4 * expected["parameters"]
    leaves = [row for row in report.rows if row["output_shape"] is not None]
    assert {row["type"] for row in leaves} == {"float"}
    assert sum(prod(row["output_shape"]) for row in leaves) == expected["parameters"]
    # Every tensor is somewhere, and none twice.
    said = " ".join(report.sentences)
    shapes = [shape for name, shape in expected["tensors"].items() if name != _OBJECT_GRAPH]
    counters = numbers(_INTEGERS, said)
    assert len(leaves) + numbers(_ASIDE, said) + counters == len(shapes)
    values = sum(map(prod, shapes))
    assert expected["parameters"] + numbers(_ASIDE, said, 2) + counters == values


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_what_is_trainable_is_known_if_an_optimizer_lists_it(name: str) -> None:
    report = tfprof.load(checkpoint=prefix(name)).summary()
    if name == "tf_keras_sgd":  # it has no slots
        assert "Trainable: unknown. This file does not record it." in report.sentences
        assert "trainable" not in report.total
    else:
        assert report.total["trainable"] == CHECKPOINTS[name]["trainable"]
        assert any(text.startswith("Trainable: the variables that") for text in report.sentences)


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("tf_keras", ("model/layer_with_weights-0/kernel", "optimizer/_momentums/0",
                      "optimizer/_iterations", "save_counter")),
        ("tf_keras_weights", ("layer_with_weights-1/gamma", "optimizer/_velocities/5")),
        ("tf_keras_legacy", ("model/layer_with_weights-0/kernel", "optimizer/iter",
                             "optimizer/m/model/layer_with_weights-0/kernel")),
        # The model's weights have the keys optimizer/_trainable_variables/… in the file.
        ("keras3", ("model/_functional/_operations/1/_kernel", "optimizer/_momentums/0",
                    "model/_functional/_operations/2/moving_mean")),
        ("adam_V1", ("net/w", "embedding", "optimizer/train/net/w/Adam", "global_step",
                     "optimizer/train/beta1_power",
                     "moving_averages/net/w/ExponentialMovingAverage")),
        ("momentum_V2", ("net/b", "optimizer/net/b/Momentum")),
    ],
)  # fmt: skip
def test_names(name: str, paths: tuple[str, ...]) -> None:
    loaded = tfprof.load(checkpoint=prefix(name))
    assert {*paths} <= {*loaded.profile.nodes.name.texts()}
    # The total of the scope view is that of all tensors.
    tensors = CHECKPOINTS[name]["tensors"]
    values = sum(prod(shape) for key, shape in tensors.items() if key != _OBJECT_GRAPH)
    assert loaded.scope(select=["params"]).rows[0].total_params == values


def test_values_have_the_names_of_the_nodes() -> None:
    loaded = tfprof.load(checkpoint=prefix("tf_keras"))
    loaded = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - of our own
    assert loaded.checkpoint is not None
    step = loaded.checkpoint.tensor(b"optimizer/_iterations")
    assert (step.shape, list(step.values)) == ((), [1])
    text = loaded.scope(select=["params", "tensor_value"], max_depth=9).text()
    assert "optimizer/_iterations (1, 1/1 params)\n[1 ]," in text


def test_without_its_data_the_keys_are_the_names(tmp_path: Path) -> None:
    for name in ("keras3", "tf_keras_legacy"):
        folder = tmp_path / name
        shutil.copytree(FOLDER / name, folder)
        next(folder.glob("*.data-*")).unlink()
        report = tfprof.load(checkpoint=folder / "ckpt-1").summary()
        assert report.total["parameters"] == CHECKPOINTS[name]["parameters"]
        assert any("Names are keys of the checkpoint" in text for text in report.sentences)


def test_the_sample() -> None:
    """253 variables: 157 of the model, of which two per normalization are statistics."""
    loaded = tfprof.load(checkpoint=SAMPLE / "model.ckpt")
    report = loaded.summary()
    names = [*tfprof.load(SAMPLE / "graph.pbtxt.gz").profile.nodes.name.texts()]
    slots = sum(name.endswith("/Momentum") for name in names)
    said = " ".join(report.sentences)
    assert f"{slots} variables of optimizers with 464,154 values" in said
    assert report.total["parameters"] == 930_581 - 464_154 - 1
    assert numbers(_INTEGERS, said) == 1


@pytest.mark.parametrize("name", ["tf_keras", "adam_V1"])
def test_every_command(name: str, run: Callable[..., Run], tmp_path: Path) -> None:
    file, parameters = prefix(name), CHECKPOINTS[name]["parameters"]
    code, out, _ = run("info", file)
    assert code == 0
    aside = numbers(_ASIDE, out, 2)
    tensors = CHECKPOINTS[name]["tensors"].items()
    every = sum(prod(shape) for key, shape in tensors if key != _OBJECT_GRAPH)
    assert f"with {every - aside} parameters" in out
    assert f"next\n  tfprof summary {file}\n" in out
    assert "no graph: a checkpoint holds variables" in out
    assert run(file)[:2] == run("summary", file)[:2]
    _, out, err = run("summary", file)
    assert "Not parameters of the model" not in err  # it is below the table
    assert f"Parameters        {parameters}" in out
    out = run("overview", file)[1]
    assert out.startswith(f"Checkpoint of {len(tensors) - (name in OBJECTS)} variables\n")
    assert "Float ops" not in out
    assert run("convert", file, f"--outfile={tmp_path / 'it'}")[0] == 0
    assert run("summary", tmp_path / "it")[1] == run("summary", file)[1]
    for command in ("op", "graph", "advise", "explain --name=.*"):
        assert run(*command.split(), file)[0] == 0
    assert run("code", file)[0] != 0


def test_the_original_has_no_such_graph(run: Callable[..., Run]) -> None:
    out = run("scope", prefix("adam_V1"), "--era=original", "--select=params")[1]
    assert "net" not in out


# --- the text file `checkpoint` --------------------------------------------------------------


@pytest.mark.parametrize("command", ["info", "summary", ""])
@pytest.mark.parametrize("name", ["tf_keras", "adam_V1"])  # relative; moved away
def test_the_file_checkpoint_is_followed(
    name: str, command: str, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [command] if command else []
    expected = run(*words, prefix(name))[1].replace(": a checkpoint\n", "")
    for file in (FOLDER / name / "checkpoint", FOLDER / name):
        out = run(*words, file)[1]
        assert out.replace(": a checkpoint, named by a checkpoint file\n", "") == expected
    if command == "summary":
        assert run(command, f"--checkpoint_path={FOLDER / name / 'checkpoint'}")[1] == expected
    monkeypatch.chdir(FOLDER / name)
    assert run(*words, "checkpoint")[0] == 0


def test_the_latest_of_several(run: Callable[..., Run], tmp_path: Path) -> None:
    for at in (1, 2, 10):
        for file in (FOLDER / "tf_keras").glob("ckpt-1.*"):
            shutil.copy(file, tmp_path / file.name.replace("ckpt-1", f"ckpt-{at}"))
    assert run("summary", tmp_path)[0] != 0  # nobody says which
    state = tmp_path / "checkpoint"
    cases = {
        '# by hand\nmodel_checkpoint_path: "ckpt-2"\n': "ckpt-2",
        'all_model_checkpoint_paths: "ckpt-1"\nmodel_checkpoint_path: "ckpt-10"\n': "ckpt-10",
        f'model_checkpoint_path: "{tmp_path}/ckpt-1"': "ckpt-1",
        r'model_checkpoint_path: "C:\\Users\\me\\ckpt-2"': "ckpt-2",
        "model_checkpoint_path: '\\143kpt-1'": "ckpt-1",
    }
    for text, name in cases.items():
        state.write_text(text, encoding="utf-8")
        code, _, err = run("summary", tmp_path)
        assert (code, f"--checkpoint_path={tmp_path / name}\n" in err) == (0, True), (text, err)
    code, out, _ = run("info", tmp_path)
    assert (code, out.count("14 variables of optimizers")) == (0, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'model_checkpoint_path: "gone"', "checkpoints; the latest, 'gone', does not exist"),
        (b'model_checkpoint_path: ""', "names no checkpoint"),
        (b"model_checkpoint_path: {", "names no checkpoint"),
        (b'model_checkpoint_path: "\\xq"', "does not exist"),
        (b'model_checkpoint_path: "a\\000b"', "does not exist"),
        (b'model_checkpoint_path: "\xff\xfe"', "does not exist"),
        (b'model_checkpoint_path: "../../../etc/passwd\\n"', "does not exist"),
        (b'model_checkpoint_path: "' + b"../" * 5000 + b'"', "does not exist"),
        (b'model_checkpoint_path: "' + b"\\" * 50_000, "names no checkpoint"),
        (b"model_checkpoint_path:" + b" " * (1 << 21), "names no checkpoint"),
    ],
)  # fmt: skip
def test_a_file_checkpoint_that_names_none(
    text: bytes, says: str, run: Callable[..., Run], tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint"
    file.write_bytes(text)
    for words in (["summary", file], ["info", file], ["scope", f"--checkpoint_path={file}"]):
        code, out, err = run(*words)
        assert (code, out) == (InputError.exit_code, "")
        assert says in err
        assert err.count("\n") <= 2
    code, _, err = run("summary", tmp_path)
    assert code == InputError.exit_code
    assert ("the latest, " in err) == ("does not exist" in says)


@pytest.mark.parametrize("command", ["summary", "overview"])
def test_an_op_log_alone_holds_no_model(command: str, run: Callable[..., Run]) -> None:
    log, runs = PROFILES["handmade"].op_log, PROFILES["handmade"].runs
    code, out, err = run(command, log)
    assert (code, out) == (InputError.exit_code, "")
    assert "an op log alone holds no model to summarize" in err
    rest = run("summary", runs[0])[2].rpartition(" alone ")[2].partition(" (with")[0]
    assert rest in err


# --- variables that no output needs ----------------------------------------------------------


@pytest.mark.parametrize("name", GRAPHS)
def test_info_scope_and_summary_agree_or_say_why_not(name: str, run: Callable[..., Run]) -> None:
    expected, file = EXPECTED[name], FOLDER / name
    out = run("info", file)[1]
    held = "variable" if expected["variables"] == 1 else "variables"
    assert f"{expected['variables']} {held} with {expected['values']} parameters" in out
    report = tfprof.load(file).summary()
    said = " ".join(report.sentences)
    # Statistics that nothing reads count as parameters, too.
    assert report.total["trainable"] == expected["trainable"]
    aside = numbers(_UNREAD, said) + numbers(_INTEGERS, said)
    assert report.total["parameters"] + aside == expected["values"]
    total = tfprof.load(file).overview().total
    assert {name: total[name] for name in ("parameters", "trainable")} == {
        name: report.total[name] for name in ("parameters", "trainable")
    }
    _, out, err = run("scope", file, "--max_depth=0")
    others = re.search(r"params counts (\d+) values? of nodes that are not variables", err)
    scope = expected["values"] + (int(others[1]) if others else 0)
    assert f"--/{scope} params" in out or f"--/{scope / 1000:.2f}k params" in out
    explicit = run("scope", file, "--select=params", "--max_depth=0")
    assert "are not variables" not in explicit[2]


def test_a_named_output_needs_what_it_needs() -> None:
    report = tfprof.load(FOLDER / "partly_used.meta.gz").summary(outputs=["y"])
    assert report.total["parameters"] == 8 * 4
    assert any("2 variables with 807 values that the model" in text for text in report.sentences)


def test_a_saved_model_says_what_its_signatures_leave_out(run: Callable[..., Run]) -> None:
    file, values = FOLDER / "two_signatures", EXPECTED["two_signatures"]["values"]
    both = 8 * 4 + 4 * 3
    said = f"Left out: 1 variable with {values - both} values that the signatures do not need."
    assert said in run("info", file)[1]
    assert f"2 variables with {both} parameters" in run("info", file)[1]
    assert said in run("scope", file)[2]
    code, out, err = run("summary", file)
    assert (code, out.count(said), said in err) == (0, 1, False)
    one = run("summary", file, "--signature=encode")[1]
    assert f"2 variables with {values - 32} values that signature encode does not need." in one
    report = tfprof.load(FOLDER / "no_signatures").summary()
    assert report.total["parameters"] == values
    assert "Trainable: unknown. This file does not record it." in report.sentences


# --- object graphs ---------------------------------------------------------------------------


def child(node: int, name: bytes) -> bytes:
    return encode_bytes(1, number(1, node) + encode_bytes(2, name))


def value(key: bytes) -> bytes:
    return encode_bytes(2, encode_bytes(1, b"VARIABLE_VALUE") + encode_bytes(3, key))


def graph(*objects: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(b"".join(encode_bytes(1, each) for each in objects), np.uint8)


def paths(*objects: bytes) -> list[bytes]:
    return [tensor.path for tensor in tracked_tensors(graph(*objects))]


def test_paths_of_objects() -> None:
    assert paths() == []
    assert paths(value(b"k")) == [b""]
    # A cycle; the shortest path; a path outside of an optimizer before a shorter one inside.
    assert paths(child(0, b"root") + child(1, b"a"), child(0, b"up") + value(b"k")) == [b"a"]
    optimizer = child(3, b"_variables") + child(4, b"_iterations") + child(5, b"of_model")
    objects = (
        child(1, b"model") + child(2, b"sgd"),
        child(6, b"long"),
        optimizer,
        child(4, b"0"),
        value(b"step"),
        value(b"w"),
        child(5, b"way"),
    )
    found = {each.key: (each.path, each.role) for each in tracked_tensors(graph(*objects))}
    assert found == {b"step": (b"sgd/_iterations", "optimizer"), b"w": (b"model/long/way", "model")}


def test_an_object_graph_may_be_damaged() -> None:
    for broken in (child(9, b"a"), encode_bytes(3, number(1, 7)), b"\x0a\xff"):
        opener = bundle(graph(broken).tobytes())
        found, sentences = variables(Checkpoint.open("it", opener))
        assert [each.name for each in found] == [b"w"]
        assert sentences[0].startswith("Names are keys of the checkpoint: ")


def bundle(objects: bytes) -> Opener:
    """A checkpoint of one variable and an object graph."""

    def entry(dtype: int, offset: int, data: bytes, crc: bytes) -> bytes:
        place = number(4, offset) + number(5, len(data))
        return number(1, dtype) + encode_bytes(2, b"") + place + b"\x35" + crc

    length = encode_varint(len(objects))
    fixed = len(objects).to_bytes(4, "little")
    text = length + checksum(fixed) + objects
    rows = [
        (b"", number(1, 1)),
        (_OBJECT_GRAPH.encode(), entry(7, 4, text, checksum(fixed + text[len(length) :]))),
        (b"w/.ATTRIBUTES/VARIABLE_VALUE", entry(1, 0, bytes(4), checksum(bytes(4)))),
    ]
    return Opener({"it.index": table(rows), f"it.{DATA_FILE}": bytes(4) + text})


def test_paths_are_bounded() -> None:
    """A megabyte of a name above 10,000 variables is no 10 GB of paths."""
    many = b"".join(child(at, b"v%d" % at) for at in range(2, 10_000))
    objects = graph(child(1, b"n" * 1_000_000), many, *[value(b"k")] * 9_998).tobytes()
    found, sentences = variables(Checkpoint.open("it", bundle(objects)))
    assert len(found) == 1
    assert "paths far longer than the objects" in sentences[0]
    chain = graph(*(child(at + 1, b"c") + value(b"k") for at in range(30_000)), b"").tobytes()
    assert variables(Checkpoint.open("it", bundle(chain)))[1]


def test_damaged_object_graphs_raise_nothing_else() -> None:
    folder = FOLDER / "tf_keras"
    files = {f"it.{of}": (folder / f"ckpt-1.{of}").read_bytes() for of in ("index", DATA_FILE)}
    stored = Checkpoint.open("it", Opener(files)).tensor(_OBJECT_GRAPH.encode()).values
    objects = bytes(stored[0])
    for at in range(0, len(objects), 97):
        broken = objects[:at] + bytes([objects[at] ^ 1 << at % 8]) + objects[at + 1 :]
        for each in (broken, objects[:at]):
            with suppress(TfprofError):
                variables(Checkpoint.open("it", bundle(each)))
