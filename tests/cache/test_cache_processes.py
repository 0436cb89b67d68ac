"""Real processes and one cache: many at once, killed, without room, without permission."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from cache_programs import BEGIN, END
from interrupted import wait_until
from profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS: Final = ("scope", "--select=micros,params", "--max_depth=6", *PROFILES["resnet"].flags())
SECONDS: Final = 60.0
Answer = tuple[int, bytes, bytes]  # exit code, standard output, standard error


class Child:
    """Commands in processes of their own, with one cache."""

    def __init__(self, folder: Path) -> None:
        self.cache, self._reads = folder / "cache", folder / "reads"
        self._work = folder / "reads.work"

    def start(
        self, *words: str, before: str = "", cache: str | None = None,
        setup: Callable[[], None] | None = None,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-c", BEGIN + before + END, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(str(self.cache) if cache is None else cache),
            preexec_fn=setup,  # noqa: PLW1509 - no threads here
        )

    def environment(self, cache: str) -> dict[str, str]:
        home = str(Path(tfprof.__file__).parents[1])
        own = {"TFPROF_CACHE": cache, "READS": str(self._reads), "PYTHONPATH": home}
        return {**os.environ, **own}

    def ask(self, *words: str, **how: object) -> Answer:
        child = self.start(*words, **how)  # type: ignore[arg-type]
        out, err = child.communicate(timeout=SECONDS)
        return child.returncode, out, err

    def reads(self) -> int:
        """How many processes read the files since the last call."""
        count = len(self._reads.read_text().splitlines()) if self._reads.exists() else 0
        self._reads.unlink(missing_ok=True)
        return count

    def files(self) -> list[Path]:
        return sorted(self.cache.iterdir()) if self.cache.exists() else []

    def wait_for_work(self) -> None:
        """Entries are written when the command has ended."""

        def words() -> list[str]:
            return self._work.read_text().split() if self._work.exists() else []

        wait_until(lambda: words().count("begun") == words().count("ended"))

    def wait_for_entry(self) -> None:
        self.wait_for_work()
        assert len(self.files()) >= 2


@pytest.fixture
def child(tmp_path: Path) -> Child:
    return Child(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """The answer without a cache."""
    without = Child(tmp_path_factory.mktemp("without"))
    answer = without.ask(*WORDS, cache="off")
    assert answer[0] == 0
    assert without.reads() == 1
    assert without.files() == []
    return answer


def test_a_second_process_reads_no_file(child: Child, expected: Answer) -> None:
    assert child.ask(*WORDS) == expected
    child.wait_for_entry()
    assert child.reads() == 1
    assert child.ask(*WORDS) == expected
    assert child.reads() == 0


def test_many_at_once(child: Child, expected: Answer) -> None:
    for _ in range(2):
        running = [child.start(*WORDS) for _ in range(6)]
        for each in running:
            out, err = each.communicate(timeout=SECONDS)
            assert (each.returncode, out, err) == expected
        child.wait_for_entry()
    child.reads()
    assert child.ask(*WORDS) == expected
    assert child.reads() == 0
    assert child.ask("cache", "--clear")[0] == 0
    assert child.files() == []


def test_the_command_ends_before_its_entry_is_written(child: Child, tmp_path: Path) -> None:
    writer = tmp_path / "writer"
    slow = f"""
import time
from tfprof.cache import write_entry
def slow(*_):
    open({str(writer)!r} + ".new", "w").write(str(os.getpid()))
    os.rename({str(writer)!r} + ".new", {str(writer)!r})
    time.sleep(1000)
write_entry.write_entry = slow
"""
    code, out, _ = child.ask(*WORDS, before=slow)  # both pipes are closed, too
    assert code == 0
    assert out
    wait_until(writer.exists)
    process = int(writer.read_text())
    assert os.getsid(process) == process  # Ctrl-C at the terminal does not reach it
    os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("pieces", [0, 1, 5, 40])
def test_a_writer_that_is_killed_leaves_nothing(
    pieces: int, child: Child, expected: Answer, tmp_path: Path
) -> None:
    ended = tmp_path / "ended"
    killed = f"""
import signal
from tfprof.io import write_files
def killed(_, pieces):
    if {str(child.cache)!r} not in _:
        yield from pieces
        return
    for number, piece in enumerate(pieces):
        if number == {pieces}:
            open({str(ended)!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        yield piece
write_files.with_progress = killed
"""
    assert child.ask(*WORDS, before=killed) == expected
    wait_until(ended.exists)
    assert child.files() == []
    assert child.ask(*WORDS) == expected


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("without", ["", "del os.fork"])
def test_a_full_disk_is_no_error(without: str, child: Child, expected: Answer) -> None:
    assert child.ask(*WORDS, setup=small_files, before=without) == expected
    child.wait_for_work()
    assert child.files() == []


@pytest.mark.parametrize(
    "folder", ["/dev/null/cache", "/proc/self/cache", "/sys/cache", "/dev/full"]
)
def test_a_folder_that_cannot_be_made_is_no_error(
    folder: str, child: Child, expected: Answer
) -> None:
    for without in ("", "del os.fork"):
        assert child.ask(*WORDS, cache=folder, before=without) == expected


def test_no_home_is_no_error(child: Child, expected: Answer) -> None:
    homeless = 'os.environ["HOME"] = "/nonexistent/home"\nos.environ.pop("XDG_CACHE_HOME", None)'
    assert child.ask(*WORDS, cache="", before=homeless) == expected


def test_where_there_are_no_processes_it_is_written_at_once(child: Child, expected: Answer) -> None:
    assert child.ask(*WORDS, before="del os.fork") == expected
    assert len(child.files()) >= 2


def test_ctrl_c_while_an_entry_is_written_is_quiet(child: Child, expected: Answer) -> None:
    interrupted = """
import signal
from tfprof.cache import write_entry
def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)
    raise AssertionError("it goes on")
write_entry.write_entry = interrupted
del os.fork
"""
    assert child.ask(*WORDS, before=interrupted) == expected


PROGRAM: Final = """
import tfprof.api, sys
loaded = tfprof.api.load(*sys.argv[1:2], sys.argv[2:4], sys.argv[4])
print(loaded.scope(select=["params"]).text())
"""


def test_a_program_writes_what_it_holds_at_its_end(child: Child) -> None:
    files = PROFILES["resnet"]
    words = [*map(str, (files.graph, *files.runs, files.op_log))]

    def run(cache: str) -> bytes:
        command = [sys.executable, "-c", BEGIN + PROGRAM, *words]
        return subprocess.check_output(command, env=child.environment(cache), timeout=SECONDS)

    expected = run("off")
    assert run(str(child.cache)) == expected
    assert len(child.files()) >= 2
    child.reads()
    assert run(str(child.cache)) == expected
    assert child.reads() == 0
