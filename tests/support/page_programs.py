"""Programs that serve a page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from served import address_in

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
def serving(
    *words: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str, int, str]]:
    """A program of Python that serves; (process, address, port, path)."""
    kept = {name: text for name, text in os.environ.items() if name not in SCREENS}
    with subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**kept, **environment},
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as child:
        assert child.stdout is not None
        try:
            yield child, *address_in(child.stdout.readline())
        finally:
            child.kill()


@contextmanager
def program(
    arguments: str, before: str = "", **environment: str
) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """A process that runs *before* and then serves; (process, port, path)."""
    words = ("-c", before + SERVE.replace("ARGS", arguments))
    with serving(*words, **environment) as (child, _, port, root):
        yield child, port, root
