"""What is no regular file is not opened, wherever it is: a pipe would wait for ever.

A file that the user names with a flag may be a pipe (test_limits.py). Nothing else may.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from socket import AF_UNIX, socket
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from checkpoint_data import FOLDER as CHECKPOINTS
from fleet_files import write_fleet
from paths import DATA
from sampling import sampled
from tfprof import cli
from tfprof.io.open_files import mapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from forked import Forked

ENDLESS: Final = 120  # seconds: whatever takes as long, hangs
A_PIPE: Final = r"cannot be read \(it is a named pipe\)|cannot be read: it is a named pipe"
HISTORY: Final = """
import os
os.environ["XDG_STATE_HOME"] = "."
from tfprof.shell import editor
print(list(editor._history().load_history_strings()))
"""
LINE: Final = """
from tfprof.capture.call_stacks import source_line
print(repr(source_line("program.py", 1)))
"""
PLUGIN: Final = """
from pathlib import Path
import pytest
from tfprof.pytest_plugin import Budget
with pytest.raises(pytest.fail.Exception, match="there is no budget file"):
    Budget(Path("budget.toml")).check("model")
"""
CACHED: Final = """
import os
from tfprof.cache.folder import open_file
os.chmod(".", 0o700)
print(open_file(os.path.abspath("entry")))
"""


SWAPPED: Final = """
import os
from tfprof.io.regular_files import regular
before = os.stat("list")
os.stat = lambda _: before
try:
    regular("list", os.O_RDONLY)
    regular("pipe", os.O_RDONLY)
except OSError as problem:
    print(problem)
"""
NO_CHECKPOINT: Final = """
import threading
from pathlib import Path
from tfprof import cli
from tfprof.io.open_files import mapped
threading.Thread(target=Path("pipe").write_text, args=["text"]).start()
cli.main(["scope", "--checkpoint_path=pipe"])
"""
CAPTURE: Final = """
import os
import warnings
import tensorflow as tf
import tfprof
os.makedirs("log/plugins/profile/then")
os.mkfifo("log/saved_model.pb")
os.mkfifo("log/plugins/profile/then/host.xplane.pb")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with tfprof.capture("log", source=False):
        tf.function(lambda x: x + 1.0)(tf.ones([2]))
print(*[warning.message for warning in told])
"""
SQL: Final = """
from tfprof.api import open_fleet
from tfprof.errors import TfprofError
try:
    open_fleet("fleet").sql("select count(*) from rows")
except TfprofError as problem:
    print(problem)
"""


class Place(NamedTuple):
    """Where a pipe is, what is run, how that ends and what it says."""

    path: str
    run: str
    code: int = 0
    says: str = ""


PLACES: Final = (
    Place("model/other.pb", "scope model"),
    Place("model/other.pb", "info model", says=r"other\.pb"),
    Place("model/saved_model.pb", "scope model", 3, "no file that tfprof reads"),
    Place("model/debug/saved_model_debug_info.pb", "op model"),
    Place("model/debug/saved_model_debug_info.pb", "info model/saved_model.pb"),
    Place("model/keras_metadata.pb", "scope model"),
    Place("model/tfprof_notes.txt", "scope model/saved_model.pb"),
    Place("model/tfprof_notes.txt", "info model/saved_model.pb"),
    Place("model/plugins/profile/2026/host.xplane.pb", "scope model"),
    Place("model/train/events.out.tfevents.1.host", "scope model"),
    Place("ck/one.index", "scope --checkpoint_path=ck/one", 3, A_PIPE),
    Place("ck/one.index", "scope ck/one", 3, "does not exist"),
    Place("ck/one.index", "scope ck/one.data-00000-of-00001", 3),
    Place("ck/one.index", "scope ck", 3),
    Place(
        "ck/one.data-00000-of-00001",
        "scope --checkpoint_path=ck/one --select=tensor_value",
        3,
        A_PIPE,
    ),
    Place("ck/checkpoint", "scope ck"),
    Place("budget.lock", "check budget.toml model/saved_model.pb", 3, A_PIPE),
    Place("runs/worker_0/run_meta_0", "fleet runs -o new --processes=1", 0, "1 unreadable"),
    Place("runs/worker_0/run_meta_0", "fleet runs -o new --strict", 3, A_PIPE),
    Place("runs/worker_0/a_pipe", "fleet runs -o new --processes=1"),
    Place("runs/worker_0/graph.pbtxt", "fleet runs -o new --processes=1"),
    Place("runs/manifest.json", "fleet runs -o new --processes=1"),
    Place("runs/worker_0/run_meta_0", "fleet @list -o new --processes=1", 0, "1 unreadable"),
    Place("runs/worker_0/a_pipe", "fleet runs/worker_0/a_pipe -o new", 3, A_PIPE),
    Place("runs/worker_0/a_pipe", "fleet runs/worker_0/a_p* -o new", 3),
    Place("a_graph", "fleet alone --graph_path=a_graph -o new --processes=1", 3, A_PIPE),
    Place("fleet/manifest.json", "workers fleet", 3, A_PIPE),
    Place("fleet/manifest.json", "op fleet", 3),
    Place("fleet/manifest.json", "fleet runs -o fleet", 3, A_PIPE),
    Place("fleet/rows/*", "op fleet", 3, A_PIPE),
    Place("fleet/rows/*", SQL, 0, A_PIPE),
    Place("fleet/steps/*", "workers fleet", 3, A_PIPE),
    Place("fleet/graphs/*.tfprof", "op fleet", 3, A_PIPE),
    Place("fleet/rows/*", "fleet runs -o fleet", 3, A_PIPE),
    Place("tfprof/history", HISTORY),
    Place("program.py", LINE, 0, "''"),
    Place("budget.toml", PLUGIN),
    Place("entry", CACHED, 0, "None"),
    Place("pipe", SWAPPED, 0, "it is a named pipe"),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SavedModel, a checkpoint, a budget, runs, and a fleet of them."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "model").mkdir()
    packed = DATA / "pairs" / "release_2.21" / "saved_model.pb.gz"
    (folder / "model" / "saved_model.pb").write_bytes(gzip.decompress(packed.read_bytes()))
    (folder / "ck").mkdir()
    for file in CHECKPOINTS.glob("one.*"):
        shutil.copy(file, folder / "ck")
    (folder / "budget.toml").write_text("[model]\nparams = '== base'\n")
    write_fleet(folder / "runs", workers=2, steps=2)
    (folder / "list").write_text("runs/worker_0\nruns/worker_1\n")
    shutil.copytree(folder / "runs" / "worker_0", folder / "alone" / "worker_0")
    assert cli.run(["fleet", str(folder / "runs"), "-o", str(folder / "fleet")]) == 0
    return folder


@pytest.fixture
def copied(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "files"
    shutil.copytree(files, folder)
    monkeypatch.chdir(folder)
    return folder


def put(folder: Path, path: str, make: Callable[[Path], object]) -> None:
    """Have something else than a file at *path*, which may be a pattern."""
    for place in [*folder.glob(path)] or [folder / path]:
        place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        make(place)


def ran(forked: Forked, run: str, folder: Path) -> tuple[int, str]:
    """The exit code of a command or a program in *folder*, and all that it says."""
    if "\n" not in run:
        run = f"from tfprof import cli\ncli.main({run.split()!r})"
    program = f"import os, signal\nos.chdir({str(folder)!r})\nsignal.alarm({ENDLESS})\n{run}"
    ended = forked(program)
    return ended.code, ended.out.decode() + ended.told


@pytest.mark.sampled
@pytest.mark.parametrize(
    "place", sampled(PLACES, 14, "pipes"), ids=lambda place: f"{place.path}: {place.run[:40]}"
)
def test_a_pipe_is_not_opened(place: Place, forked: Forked, copied: Path) -> None:
    put(copied, place.path, os.mkfifo)
    code, said = ran(forked, place.run, copied)
    assert code == place.code, said
    assert re.search(place.says, said), said
    assert "Traceback" not in said


def bound(path: Path) -> None:
    """The name of a socket is short, so it is relative."""
    os.chdir(path.parent)
    with socket(AF_UNIX) as one:
        one.bind(path.name)


KINDS: Final[dict[str, Callable[[Path], object]]] = {
    "a socket": bound,
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a circle of links": lambda path: path.symlink_to(path.name),
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_nor_is_anything_else(kind: str, forked: Forked, copied: Path) -> None:
    for place in sampled(PLACES, 2, kind):
        folder = copied.parent / "other"
        shutil.copytree(copied, folder)
        put(folder, place.path, KINDS[kind])
        code, said = ran(forked, place.run, folder)
        assert code in {0, 2, 3, 4}, said
        assert "Traceback" not in said
        shutil.rmtree(folder)


def test_a_part_that_is_a_link_to_nothing_is_decoded_again(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(copied, "fleet/rows/*", KINDS["a link to nothing"])
    assert cli.run(["fleet", "runs", "-o", "fleet"]) == 0
    assert "made again, as missing or damaged: fleet/rows/" in capsys.readouterr().err
    assert cli.run(["op", "fleet"]) == 0


def test_a_capture_does_not_wait_for_a_pipe(tensorflow: Forked, tmp_path: Path) -> None:
    code, said = ran(tensorflow, CAPTURE, tmp_path)
    assert code == 0, said
    assert "saved_model.pb cannot be read (it is a named pipe)" in said
    assert (tmp_path / "log" / "saved_model.pb").is_fifo()


def test_a_pipe_that_the_user_names_is_read_once(forked: Forked, copied: Path) -> None:
    os.mkfifo(copied / "pipe")
    code, said = ran(forked, NO_CHECKPOINT, copied)
    assert (code, said.count("\n")) == (3, 1), said
    assert "pipe is cut off or not a checkpoint" in said


def test_a_list_may_be_a_pipe(forked: Forked, copied: Path) -> None:
    """As in `tfprof fleet @<(find …)`."""
    os.mkfifo(copied / "pipe")
    program = """
import threading
from pathlib import Path
from tfprof import cli
from tfprof.io.open_files import mapped
threading.Thread(target=Path("pipe").write_text, args=["runs/worker_0"]).start()
cli.main(["fleet", "@pipe", "-o", "new", "--processes=1"])
"""
    code, said = ran(forked, program, copied)
    assert code == 0, said
    assert "1 worker, 2 steps" in said


LEASE: Final = """
import fcntl, os, signal, sys
file = os.open(sys.argv[1], os.O_RDWR)
signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK))
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lease_of_another_process_is_waited_for(tmp_path: Path) -> None:
    """As a file server holds it: it is given up when somebody else opens the file."""
    file = tmp_path / "graph.pb"
    file.write_bytes(b"content")
    words = [sys.executable, "-c", LEASE, str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert mapped(str(file)).tobytes() == b"content"
        holder.communicate("", timeout=60)
    assert holder.returncode == 0
