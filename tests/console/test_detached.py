"""Work after the answer: no zombies, no process without work, and no profile kept at the prompt."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
import tfprof.cache.pending
from cache_programs import BEGIN, END
from interrupted import wait_until
from profiles import DATA
from tfprof.cache.folder import entries
from tfprof.foundation import after_answer
from tfprof.shell.prompt import Shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from cached import Asking

OWN, MLP, WIDE = (
    str(DATA / "pairs" / name / "graph.pb.gz") for name in ("mlp_renamed", "mlp", "mlp_wide")
)
# Two processes write to one pipe: a line that is written at once stays whole, one of print does not
# where Python holds nothing back.
DETACH = """
import os, sys, time
from tfprof.console.detached import run_detached

def work():
    os.write(out, b"%d\\n" % os.getpid())
    time.sleep(1000)

out = os.dup(1)
run_detached([work] * int(sys.argv[1]), caller_stays=sys.argv[2] == "stays")
try:
    children = [os.waitpid(-1, os.WNOHANG)]
except ChildProcessError:
    children = []
os.write(out, b"children %d\\n" % len(children))
"""


def detached(*words: str) -> tuple[int, int]:
    """(children of the caller once `run_detached` is back, processes that work)."""
    # The worker holds the pipe until it is killed, so lines are counted.
    with subprocess.Popen([sys.executable, "-c", DETACH, *words], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        lines = [caller.stdout.readline() for _ in range(1 + int(words[0]))]
        assert caller.wait(60) == 0
    workers = [int(line) for line in lines if line.strip().isdigit()]
    for worker in workers:
        assert os.getsid(worker) == worker  # Ctrl-C at the terminal does not reach it
        os.kill(worker, signal.SIGKILL)
    (children,) = (line for line in lines if line.startswith(b"children"))
    return int(children.split()[1]), len(workers)


def test_a_caller_that_stays_has_no_child_that_could_become_a_zombie() -> None:
    assert detached("1", "stays") == (0, 1)
    assert detached("1", "ends") == (1, 1)  # it waits for nobody


@pytest.mark.parametrize("caller", ["stays", "ends"])
def test_without_work_there_is_no_process(caller: str) -> None:
    assert detached("0", caller) == (0, 0)


def test_a_page_that_is_served_has_no_zombie(tmp_path: Path) -> None:
    words = [sys.executable, "-c", BEGIN + END, "page", OWN, "--no-open"]
    environment = {
        **os.environ, "TFPROF_CACHE": str(tmp_path / "cache"), "READS": str(tmp_path / "reads"),
    }  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(b"http://")
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
        server.kill()
    assert children == ""
    wait_until(lambda: len(entries(str(tmp_path / "cache"))) == 1)  # somebody wrote it


def test_the_prompt_keeps_no_profile_that_a_command_loaded(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[weakref.ref[Any]] = []
    write_later = tfprof.cache.pending.write_later

    def noted(profile: Any, entry: Any) -> None:
        loaded.append(weakref.ref(profile))
        write_later(profile, entry)

    def run_now(work: list[Callable[[], None]], *, caller_stays: bool) -> None:
        assert caller_stays
        for each in work:
            each()

    monkeypatch.setattr(tfprof.cache.pending, "write_later", noted)
    monkeypatch.setattr("tfprof.shell.prompt.run_detached", run_now)
    shell = Shell(tfprof.load(OWN), {})
    assert shell.run(f"diff {MLP} {WIDE}")
    assert shell.run(f"diff -base {WIDE}")
    gc.collect()
    alive = [reference() is not None for reference in loaded]
    assert alive == [True, False, False, False]  # the first is the shell's own
    assert len(entries(str(asking.folder))) == 2
    (work,) = after_answer.take()  # at the end, with all that was worked out until then
    work()
    assert len(entries(str(asking.folder))) == 3
