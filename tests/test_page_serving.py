"""The server of the page as a program: its address, its port, the browser, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from served import Answer, address_in, received
from tfprof.cli import run

if TYPE_CHECKING:
    from collections.abc import Iterator

SCREENS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
SERVE: Final = """
import sys
from tfprof import cli
from tfprof.cli import page_server

def outcome(plain, options):
    page_server.serve_page(page_server.ServedPage(b"page", b"data", "default-src 'none'"), **ARGS)

cli._outcome = outcome
cli.main(["page"])
"""


@contextmanager
def program(arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """A process that serves; (process, port, path)."""
    kept = {name: text for name, text in os.environ.items() if name not in SCREENS}
    with subprocess.Popen(
        [sys.executable, "-c", SERVE.replace("ARGS", arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**kept, **environment},
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as child:
        assert child.stdout is not None
        try:
            _, port, root = address_in(child.stdout.readline())
            yield child, port, root
        finally:
            child.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(number: signal.Signals) -> None:
    with program("{'open_browser': False}") as (child, port, root), ExitStack() as until_the_end:
        here = ("127.0.0.1", port)
        until_the_end.enter_context(socket.create_connection(here, timeout=30))
        with socket.create_connection(here, timeout=30) as client:
            request = f"GET {root}profile HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
            client.sendall(request.encode())
            assert Answer(received(client)).body == b"data"
        child.send_signal(number)
        stdout, stderr = child.communicate(timeout=30)
    assert child.returncode == 128 + number
    assert stdout == ""
    says = "tfprof: serving the page to this machine only; Ctrl-C ends\n"
    assert stderr == says + ("tfprof: interrupted\n" if number == signal.SIGINT else "")


def test_it_listens_on_loopback_alone() -> None:
    with program("{'open_browser': False}") as (child, port, _):
        sockets = Path(f"/proc/{child.pid}/net/tcp").read_text().splitlines()[1:]
        sockets += Path(f"/proc/{child.pid}/net/tcp6").read_text().splitlines()[1:]
        listening = [line.split()[1] for line in sockets if line.split()[3] == "0A"]
        here = [address for address in listening if address.endswith(f":{port:04X}")]
        assert here == [f"0100007F:{port:04X}"]


def test_the_browser_is_opened_with_the_address(tmp_path: Path) -> None:
    script, told = tmp_path / "browser", tmp_path / "told"
    os.mkfifo(told)
    script.write_text(f"#!/bin/sh\necho \"$1 \" > '{told}'\n")
    script.chmod(0o755)
    # Opening the pipe waits for the browser.
    with program("{}", BROWSER=f"{script} %s") as (_, port, root), told.open() as opened:
        assert address_in(opened.read())[1:] == (port, root)


def test_a_port_of_ones_own() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = [sys.executable, "-c", SERVE.replace("ARGS", f"{{'port': {port}}}")]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == f"tfprof: port {port} cannot be used: Address already in use\n"
    with program(f"{{'port': {port}, 'open_browser': False}}") as (_, served_at, _):
        assert served_at == port


@pytest.mark.parametrize("port", [-1, 80, 65536])
def test_ports_that_it_does_not_take(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so before it reads a file."""
    assert run(["page", "--graph_path=there_is_none.pb", f"--port={port}"]) == 2
    assert capsys.readouterr().err.startswith("tfprof: --port takes ")


AT_THE_PROMPT: Final = """
from tfprof.cli.page_server import ServedPage, serve_page
from tfprof.console.signals import interruptible

try:
    with interruptible():
        serve_page(ServedPage(b"page", bytes(50_000_000), "default-src 'none'"), open_browser=False)
except KeyboardInterrupt:
    print("the prompt", flush=True)
input()
"""


def test_at_the_prompt_ctrl_c_ends_the_server_and_no_more() -> None:
    """Also while one client is silent, and another takes its time to read."""
    with (
        subprocess.Popen(
            [sys.executable, "-X", "dev", "-c", AT_THE_PROMPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child,
        ExitStack() as until_the_end,
    ):
        assert child.stdout is not None
        _, port, root = address_in(child.stdout.readline())
        for request in ("", f"GET {root}profile HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"):
            client = socket.create_connection(("127.0.0.1", port), timeout=30)
            until_the_end.enter_context(client).sendall(request.encode())
        assert client.recv(4) == b"HTTP"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "the prompt\n"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=30)
        _, stderr = child.communicate("\n", timeout=30)
    assert child.returncode == 0
    assert stderr == "tfprof: serving the page to this machine only; Ctrl-C ends\n"
