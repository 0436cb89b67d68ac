"""What README.md and the index of the documentation show is what a reader gets who types it."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Final

import pytest

import supported_releases
from fleet_engine import HereEngine
from paths import DATA, ROOT
from sampling import sampled
from tfprof import cli
from tfprof.fleet.gather import gather
from tfprof.tables.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from forked import Forked
    from tfprof.cli.page_server import ServedPage


SAMPLE: Final = ROOT / "src" / "tfprof" / "sample"
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
INDEX: Final = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
SPANS: Final = re.findall(r"`([^`\n]+)`", README + INDEX)
# What a reader replaces.
PLACEHOLDERS: Final = re.compile(r"\b(COMMAND|FOLDER|LOG_FOLDER|PATH)\b|…")


def shown() -> Iterator[tuple[str, str]]:
    """The commands in README's blocks, each with the output below it, if there is any."""
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def commands() -> list[str]:
    """The commands without an output: in blocks and in the text."""
    blocks = [command for command, output in shown() if not output.strip()]
    spans = [one for one in SPANS if not PLACEHOLDERS.search(one)]
    named = {f"tfprof {name}" for name in COMMANDS}  # in a sentence about the command
    found = [one for one in [*blocks, *spans] if re.match(r"tfprof \w", one) and one not in named]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def files(
    keras_fit: tuple[str, Path],
    model_folder: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A folder with the files that the pages name: those of the example and the sample."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copy(model_folder("hdf5") / "sequential-3.h5", folder / "model.h5")
    shutil.copy(DATA / "tf2" / "control.tflite", folder / "model.tflite")
    program = DATA / "hlo" / "flax_linen.hlo.pb.gz"
    (folder / "module.hlo.pb").write_bytes(gzip.decompress(program.read_bytes()))
    shutil.copytree(model_folder("events") / "keras2", folder / "logs")
    shutil.copytree(keras_fit[1], folder, dirs_exist_ok=True)
    shutil.copy(model_folder("summary") / "conv.keras", folder / "old.keras")
    shutil.copytree(DATA / "pairs" / "mlp", folder / "old_log")
    (folder / "budget.toml").write_text('[model]\nparams = "<= 14k"\n', encoding="utf-8")
    shutil.copytree(DATA / "fleet", folder / "runs")
    gather([str(folder / "runs")], str(folder / "fleet"), engine=HereEngine())
    for file in SAMPLE.iterdir():
        shutil.copy(file, folder / file.name.removesuffix(".gz"))
    return folder


@pytest.fixture
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in that folder; a page that would be served until Ctrl-C is only made."""
    monkeypatch.chdir(files)
    monkeypatch.setattr("tfprof.cli.page_server.serve_page", _made)


def _made(page: ServedPage, **_: object) -> None:
    assert page.html.startswith(b"<!doctype html>")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("command", "output"), [pytest.param(*one, id=one[0]) for one in shown() if one[1].strip()]
)
def test_an_output_is_what_the_command_prints(
    command: str, output: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    program, *words = shlex.split(command, comments=True)
    assert program == "tfprof"
    assert cli.run(words) == 0
    printed = cut(capsys.readouterr().out, output)
    if request.config.option.update:
        page = ROOT / "README.md"
        text = page.read_text(encoding="utf-8").replace(
            f"{command}\n{output}", f"{command}\n{printed}"
        )
        page.write_text(text, encoding="utf-8")
    else:
        assert printed == output


def cut(printed: str, shown: str) -> str:
    """As many lines as are shown, if these end with a line that says that there are more."""
    if shown.endswith("…\n"):
        return "".join(printed.splitlines(keepends=True)[: shown.count("\n") - 1]) + "…\n"
    return printed.rstrip("\n") + "\n"


@pytest.mark.sampled
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", sampled(commands(), 8, "commands of the readme"))
def test_a_command_works(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(shlex.split(command, comments=True)[1:]) == 0, capsys.readouterr().err


def test_commands_of_make_exist() -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"(?:\$ |`)make ([\w-]+)", README)
    assert set(named) >= {"demo", "test", "test-all"}
    assert set(named) <= set(targets)


PRELUDE: Final = """
import os, sys
os.chdir(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import keras, numpy, tensorflow as tf, tfprof, keras_fit
model = keras_fit.build()
model.compile("sgd", "sparse_categorical_crossentropy")
one = numpy.ones([4, 28, 28, 1], "float32"), numpy.ones([4], "int32")
batches = [one] * 3
data = tf.data.Dataset.from_tensors(one).repeat(10)
train_step = tf.function(lambda batch: model(batch[0]))
"""


@pytest.mark.whole
def test_the_programs_run(files: Path, tensorflow: Forked, tmp_path: Path) -> None:
    """Blocks of Python, and lines in the tables."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    lines = [one for one in SPANS if re.match(r"(print\()?tfprof\.load\(model", one)]
    assert len(blocks) >= 3
    folder = tmp_path / "files"
    shutil.copytree(files, folder)
    parts = [
        PRELUDE,
        *blocks,
        *dict.fromkeys(lines),
        "assert tfprof.load('model.keras').summary().total['parameters'] == model.count_params()",
        "assert tfprof.load('log').steps == (0, 1, 2)",
    ]
    script = tmp_path / "program.py"
    script.write_text("\n".join(parts), encoding="utf-8")
    tensorflow.script(script, str(folder), str(ROOT / "examples"))


def test_support_is_claimed_for_what_is_tested() -> None:
    table = README.partition("## Support")[2].partition("##")[0]
    rows = dict(re.findall(r"^\| (\w+)[^|]*\| (.*) \|$", table, re.MULTILINE))
    pythons = re.findall(r"\b3\.\d+", rows["Python"])
    assert sorted(pythons) == sorted(supported_releases.VERSIONS)
    releases = re.findall(r"\b2\.\d+", rows["TensorFlow"])
    assert releases == list(supported_releases.RELEASES)
    assert "macOS and Windows are untested" in rows["system"]
