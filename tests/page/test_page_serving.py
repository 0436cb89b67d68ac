"""The server of the page as a program: its address, its port, the browser, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from page_programs import SERVE, program, serving
from profiles import PROFILES
from screens import Screen
from served import Answer, Served, address_in, received
from tfprof.cli import run
from tfprof.cli.page_server import ServedPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from page_browser import Pages


def quiet(**arguments: int) -> tuple[str, str]:
    """The words of a program that opens no browser."""
    return "-c", SERVE.replace("ARGS", str({**arguments, "open_browser": False}))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(number: signal.Signals) -> None:
    with serving(*quiet()) as (child, _, port, root), ExitStack() as until_the_end:
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
    with serving(*quiet()) as (child, _, port, _):
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
    words = ("-c", SERVE.replace("ARGS", "{}"))
    with serving(*words, BROWSER=f"{script} %s") as (_, _, port, root), told.open() as opened:
        assert address_in(opened.read())[1:] == (port, root)


def test_a_browser_that_cannot_be_opened_is_one_sentence() -> None:
    with program("{}", BROWSER="a 'quote %s") as (child, _, _):
        assert child.stderr is not None
        assert child.stderr.readline().endswith("Ctrl-C ends\n")
        says = "tfprof: the browser cannot be opened: No closing quotation; use the address above\n"
        assert child.stderr.readline() == says


def test_a_port_of_ones_own() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = [sys.executable, *quiet(port=port)]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == f"tfprof: port {port} cannot be used: Address already in use\n"
    with serving(*quiet(port=port)) as (_, _, served_at, _):
        assert served_at == port


@pytest.mark.parametrize("port", [-1, 80, 65536])
def test_ports_that_it_does_not_take(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so before it reads a file."""
    assert run(["page", "--graph_path=there_is_none.pb", f"--port={port}"]) == 2
    assert capsys.readouterr().err.startswith("tfprof: --port takes ")


def served(*words: str) -> AbstractContextManager[tuple[object, str, int, str]]:
    """`tfprof page`, as long as this lasts."""
    return serving("-m", "tfprof", "page", *words, "--no_open")


def test_chromium_shows_the_served_page_as_it_shows_the_file(
    open_page: Pages, tmp_path: Path
) -> None:
    """Every tab in words; the fixture fails on errors and violations of the policy."""
    flags, path = PROFILES["handmade"].flags(), tmp_path / "page.html"
    assert run(["page", *flags, "-o", str(path)]) == 0
    from_file = open_page(path)
    with served(*flags) as (_, address, *_):
        from_server = open_page(address)
        for tab in from_file.get_by_role("tab").all():
            name = tab.inner_text()
            texts = []
            for page in (from_file, from_server):
                page.get_by_role("tab", name=name).click()
                texts.append(page.get_by_role("tabpanel").inner_text())
            assert texts[0] == texts[1]
        assert from_server.evaluate("performance.getEntriesByType('resource').length") == 1
        with_csp = from_server.request.get(address).headers["content-security-policy"]
        assert "connect-src 'self'" in with_csp


def test_a_served_page_is_not_folded(tmp_path: Path) -> None:
    """A file with so few nodes would be, and says so."""
    words = ["page", *PROFILES["handmade"].flags(), "--limit_page_nodes=5"]
    said = {}
    for where in ("--no_open", f"-o={tmp_path / 'page.html'}"):
        with subprocess.Popen(
            [sys.executable, "-m", "tfprof", *words, where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            child.terminate()
            said[where] = child.communicate(timeout=30)[1]
    assert [" folded" in text for text in said.values()] == [False, True]


def test_a_website_cannot_look_at_it(browser: Browser) -> None:
    """Not in a frame, as a script, an image or by fetch, even if it knew the token."""
    with served(*PROFILES["handmade"].flags()) as (_, address, *_), Served(SPY) as website:
        page = browser.new_page()
        page.goto(f"http://localhost:{website.port}{website.root}")
        seen = page.evaluate(_LOOK, address)
        page.close()
    assert seen == {"fetch": "failed", "opaque": "failed", "img": "error", "script": "error",
                    "frame": ""}  # fmt: skip


SPY: Final = ServedPage(b"<!doctype html><title>spy</title>", b"", "default-src * 'unsafe-inline'")
_LOOK: Final = """async (address) => {
  const seen = {};
  const tried = (promise) => promise.then((it) => `${it.type} ${it.status}`, () => "failed");
  seen.fetch = await tried(fetch(address));
  seen.opaque = await tried(fetch(`${address}profile`, { mode: "no-cors" }));
  for (const kind of ["img", "script"]) {
    const element = document.createElement(kind);
    seen[kind] = await new Promise((resolve) => {
      element.onload = element.onerror = (event) => resolve(event.type);
      element.src = `${address}profile`;
      document.body.append(element);
    });
  }
  const frame = document.createElement("iframe");
  await new Promise((resolve) => {
    frame.onload = resolve;
    frame.src = address;
    document.body.append(frame);
  });
  seen.frame = frame.contentDocument ? "open" : "";
  return seen;
}"""


def test_in_the_shell_ctrl_c_brings_the_prompt_back() -> None:
    screen = Screen(PROFILES["handmade"].flags(), size=(24, 200)).sees("tfprof>")
    screen.types("page -no_open\r").sees("http://127.0.0.1:", "Ctrl-C ends")
    screen.types("\x03").sees("interrupted", "tfprof>").types("op -max_depth 1\r")
    code, _ = screen.sees("Doc:", "tfprof>").types("exit\r").ends()
    assert code == 0


def test_on_a_terminal_ctrl_c_ends_it() -> None:
    screen = Screen(["page", *PROFILES["handmade"].flags(), "--no_open"], size=(24, 200))
    code, shown = screen.sees("http://127.0.0.1:", "Ctrl-C ends").types("\x03").ends()
    assert code == 130
    assert shown.endswith("tfprof: interrupted\n")


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
    words = ("-X", "dev", "-c", AT_THE_PROMPT)
    with serving(*words) as (child, _, port, root), ExitStack() as until_the_end:
        for request in ("", f"GET {root}profile HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"):
            client = socket.create_connection(("127.0.0.1", port), timeout=30)
            until_the_end.enter_context(client).sendall(request.encode())
        assert client.recv(4) == b"HTTP"
        child.send_signal(signal.SIGINT)
        assert child.stdout is not None
        assert child.stdout.readline() == "the prompt\n"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=30)
        _, stderr = child.communicate("\n", timeout=30)
    assert child.returncode == 0
    assert stderr == "tfprof: serving the page to this machine only; Ctrl-C ends\n"
