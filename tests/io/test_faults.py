"""Whatever stops a command, the old file or the new file is there, whole, and nothing beside it."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from socket import AF_UNIX, socket
from typing import TYPE_CHECKING, Any, Final

import pytest

from forked import Forked, Ran
from output_words import OUTPUTS
from profiles import PROFILES
from sampling import amount, is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAPH: Final = b"\n\x08\n\x01a\x12\x03Neg"
OLD: Final = b"the old one\n"
SEED: Final = 20_260_711
MOMENTS: Final = amount(120, 8)
TOLD_TO_END: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

PROGRAM: Final = """
import sys
import tfprof
try:
    {}
except tfprof.OutputError as problem:
    sys.exit(f"tfprof: {{problem}}")
"""


class Writer:
    """Something that writes files into a folder, where it finds old ones."""

    def __init__(self, run: Forked, name: str, profile: Path, folder: Path) -> None:
        self._run, self.name, self.folder = run, name, folder
        how, target = OUTPUTS[name], folder / "target"
        self.is_command = not isinstance(how, str)
        if isinstance(how, str):
            call = how.format(
                profile=str(profile),
                graph=str(PROFILES["handmade"].graph),
                op_log=str(PROFILES["handmade"].op_log),
                target=str(target),
                folder=str(folder),
            )
            self.how: Sequence[str] | str = PROGRAM.format(call)
        else:
            command, *words = how
            self.how = [command, f"--profile_path={profile}", *(w.format(target) for w in words)]
        folder.mkdir()
        ran = run(self.how)
        assert ran.code == 0, ran.told
        self.new = self.files()
        self.seconds = ran.seconds
        self.old = dict.fromkeys(self.new, OLD)
        assert self.new
        assert OLD not in self.new.values()

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def put_old(self) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        for name in self.old:
            (self.folder / name).write_bytes(OLD)

    def stopped(self, choice: random.Random, number: int, **like: object) -> tuple[int, str]:
        """Run it over old files and send a signal at some moment; how it ended, what it told."""
        self.put_old()
        if choice.random() < 0.5:
            like, after = {**like, "once_writing_in": str(self.folder)}, choice.expovariate(300)
        else:
            after = choice.uniform(0, self.seconds)
        ran = self._run(self.how, number, after, **like)
        return ran.code, ran.told

    def whole(self) -> str:
        """Which files are there, the old or the new; of several, some may be new already."""
        now = {name: data for name, data in self.files().items() if name in self.old}
        assert now.keys() == self.old.keys()
        new = 0
        for name, data in now.items():
            assert data in (OLD, self.new[name]), f"{self.name}: half a file of {len(data)} bytes"
            new += data != OLD
        return "new" if new == len(now) else "some new" if new else "old"

    def beside(self) -> dict[str, bytes]:
        return {name: data for name, data in self.files().items() if name not in self.old}


@pytest.fixture(scope="module")
def profile(forked: Forked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile that is read in no time, so that most of the time is for writing."""
    path = tmp_path_factory.mktemp("profile") / "resnet"
    ran = forked(["convert", *PROFILES["resnet"].flags(), "-o", str(path)])
    assert ran.code == 0, ran.told
    return path


@pytest.fixture(scope="module")
def writers(
    forked: Forked, profile: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[Writer]:
    folder = tmp_path_factory.mktemp("written")
    return [Writer(forked, name, profile, folder / name) for name in OUTPUTS]


def has_unnamed_files(folder: Path) -> bool:
    """Whether the system under *folder* has files without a name; some networks' have none."""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE))
    except OSError:
        return False
    return True


@pytest.mark.sampled
def test_killed_at_any_moment(writers: list[Writer], tmp_path: Path) -> None:
    """Where files without a name are to be had, not even half a file is left behind."""
    choice, seen = random.Random(SEED), Counter[str]()  # noqa: S311 - any moment will do
    unnamed = has_unnamed_files(tmp_path)
    for attempt in range(MOMENTS):
        writer = writers[attempt % len(writers)]
        code, _ = writer.stopped(choice, signal.SIGKILL)
        assert code in (0, -signal.SIGKILL)
        seen[writer.whole()] += 1
        # Between getting a name and being moved there is a moment; then it is whole.
        for name, left in writer.beside().items():
            assert left in writer.new.values() or not unnamed, writer.name
            assert name.startswith(".tfprof-") or left in writer.new.values(), writer.name
    assert not is_whole() or min(seen["old"], seen["new"]) > 0, seen  # a few may all be early


@pytest.mark.sampled
@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
def test_told_to_end_at_any_moment(
    named: bool,  # noqa: FBT001 - a row of a table
    writers: list[Writer],
) -> None:
    """Also where there are no files without a name, which make it easy."""
    commands = [writer for writer in writers if writer.is_command]
    choice, seen = random.Random(SEED + named), Counter[str]()  # noqa: S311 - as above
    for attempt in range(max(MOMENTS // 3, 8) if named else MOMENTS):
        writer, number = commands[attempt % len(commands)], choice.choice(TOLD_TO_END)
        code, told = writer.stopped(choice, number, named=named)
        # Before the command is under way, and after it, Python itself ends.
        assert code in (0, 128 + number, -number), told
        assert "Traceback" not in told
        assert "ignored" not in told
        state = writer.whole()
        assert code or state == "new"
        assert not writer.beside(), writer.name
        seen[state] += 1
    assert not is_whole() or min(seen["old"], seen["new"]) > 0, seen  # a few may all be early


# --- no room, no right ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_file_grows_no_further(name: str, writers: list[Writer], forked: Forked) -> None:
    """As on a full disk: the system takes half of it."""
    writer = next(one for one in writers if one.name == name)
    writer.put_old()
    ran = forked(writer.how, most_bytes=max(len(data) for data in writer.new.values()) // 2)
    assert ran.code == (4 if writer.is_command else 1)
    assert ran.told.endswith(" cannot be written: File too large\n")
    assert ran.told.count("tfprof: ") == 1
    assert "Traceback" not in ran.told
    assert "ignored" not in ran.told
    assert writer.files() == writer.old


def test_a_full_disk(forked: Forked, profile: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    mounted = subprocess.run(mount, check=False, capture_output=True)
    # Who may not mount has no full disk, but this device is as full as one.
    target = disk / "target" if mounted.returncode == 0 else Path("/dev/full")
    try:
        if mounted.returncode == 0:
            target.write_bytes(OLD)
        words = ["scope", f"--profile_path={profile}", f"--output=json:outfile={target}"]
        ran = forked(words)
        assert ran.code == 4
        assert ran.told.endswith(f"tfprof: {target} cannot be written: No space left on device\n")
        if mounted.returncode == 0:
            assert {path.name: path.read_bytes() for path in disk.iterdir()} == {"target": OLD}
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", disk], check=True)  # noqa: S607 - as mount


def test_a_folder_that_is_not_ours(forked: Forked, tmp_path: Path) -> None:
    """Root may write everywhere; the command may not, whoever runs it."""
    graph, locked = tmp_path / "graph.pb", tmp_path / "locked"
    graph.write_bytes(GRAPH)
    locked.mkdir()
    (locked / "target").write_bytes(OLD)
    (locked / "target").chmod(0o666)
    locked.chmod(0o555)
    for target in (locked / "target", locked / "new"):
        words = ["scope", f"--graph_path={graph}", f"--output=file:outfile={target}"]
        ran = forked(words, obeys_modes=True)
        assert ran.code == 4
        assert ran.told == f"tfprof: {target} cannot be written: Permission denied\n"
    assert {path.name: path.read_bytes() for path in locked.iterdir()} == {"target": OLD}


# --- what is no plain file ------------------------------------------------------------------------


@pytest.fixture
def report(forked: Forked, tmp_path: Path) -> Report:
    """Writes the report of a small graph, tmp_path/graph.pb, to a path."""
    graph = tmp_path / "graph.pb"
    graph.write_bytes(GRAPH)

    def write(target: Path, **like: Any) -> Ran:
        line = ["scope", f"--graph_path={graph}", "--select=micros"]
        return forked([*line, f"--output=file:outfile={target}"], **like)

    return write


Report = Callable[..., Ran]


def test_links_stay_links(report: Report, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    far = tmp_path / "elsewhere" / "report"
    link, chained = tmp_path / "link", tmp_path / "chained"
    link.symlink_to("elsewhere/report")
    chained.symlink_to(link)
    for target, path in ((far, far), (link, far), (chained, far)):
        far.write_bytes(OLD)
        assert report(target).code == 0
        assert path.read_bytes().startswith(b"\nDoc:")
    far.unlink()
    assert report(chained).code == 0  # a link to nothing yet says where it is to be
    assert far.read_bytes().startswith(b"\nDoc:")
    assert link.is_symlink()
    assert chained.is_symlink()
    assert [path.name for path in far.parent.iterdir()] == ["report"]


def _written(path: Path) -> tuple[int, ...]:
    """What writing changes; the time of access is not part of it, as following a link sets it."""
    state = path.lstat()
    return (state.st_mode, state.st_ino, state.st_nlink, state.st_size, state.st_mtime_ns)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to(path.parent / "no" / "where"), "No such file or directory"),
        (Path.mkdir, "it is a folder"),
        (lambda path: socket(AF_UNIX).bind(str(path)), "it is a socket"),
    ],
    ids=["a circle", "a link into no folder", "a folder", "a socket"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_cannot_be_written_is_told(
    make: Callable[[Path], object], why: str, report: Report, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    make(target)
    before = _written(target)
    ran = report(target)
    assert (ran.code, ran.told) == (4, f"tfprof: {target} cannot be written: {why}\n")
    assert _written(target) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.pb", "target"]


def test_devices_are_written_to(report: Report) -> None:
    assert report(Path(os.devnull)).code == 0
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    full = report(Path("/dev/full"))
    assert full.code == 4
    assert full.told == "tfprof: /dev/full cannot be written: No space left on device\n"


def test_a_pipe_with_a_reader(report: Report, tmp_path: Path) -> None:
    """Also one who comes a little later, as in `tfprof … -output file:outfile=pipe & cat pipe`."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        ["sh", "-c", f"sleep 1; cat {pipe}"],  # noqa: S607 - any shell will do
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        ran = report(pipe)
        out, _ = reader.communicate(timeout=60)
    assert ran.code == 0
    assert out.startswith("\nDoc:")
    assert out.endswith("  a (0us/0us, 0us/0us, 0us/0us)\n")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_that_nobody_reads_from(report: Report, tmp_path: Path) -> None:
    """Nobody waits for ever; how long is bounded here by the test's own patience."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ran = report(pipe, patience=0.3)
    told = f"tfprof: {pipe} cannot be written: it is a pipe that nobody reads from\n"
    assert (ran.code, ran.told) == (4, told)
    assert ran.seconds < 30


def test_a_reader_who_leaves(report: Report, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; open(sys.argv[1]).close()", pipe]
    ) as reader:
        ran = report(pipe)
        reader.wait(timeout=60)
    assert (ran.code, ran.told) in (
        (4, f"tfprof: {pipe} cannot be written: Broken pipe\n"),
        (0, f"tfprof: wrote {pipe}\n"),  # the pipe held it all before the reader was gone
    )
