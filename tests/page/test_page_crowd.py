"""The server of the page among many clients, and when no file descriptor is free."""

from __future__ import annotations

import signal
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from page_programs import program
from served import Answer, received
from tfprof.cli import page_server

if TYPE_CHECKING:
    import subprocess

QUIET: Final = "{'open_browser': False}"
SERVING: Final = "tfprof: serving the page to this machine only; Ctrl-C ends\n"
NO_ROOM: Final = (
    "tfprof: Too many open files: idle connections to the page are closed and new ones wait; "
    "'ulimit -n' raises the limit\n"
)
BATCH: Final = 100  # as many as wait at a socket until its owner accepts them

# Room for so many files besides those that a server has open that serves nobody.
ROOM: Final = """
import os, resource
import asyncio, tfprof.cli.page_server
own = len(os.listdir("/proc/self/fd")) - 1
of_asyncio, listening = 3, 1
most = own + of_asyncio + listening + {more}
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
"""

# SIGUSR1 takes every file descriptor that is free, SIGUSR2 gives them back.
TAKING: Final = """
import os, signal
taken = []

def take(*_):
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        os.write(1, b"taken\\n")

def give(*_):
    while taken:
        os.close(taken.pop())

signal.signal(signal.SIGUSR1, take)
signal.signal(signal.SIGUSR2, give)
"""


def page_from(port: int, root: str) -> bytes:
    """What a new client gets."""
    with connected(port) as client:
        client.sendall(request(port, root))
        return Answer(received(client)).body


def request(port: int, root: str) -> bytes:
    return f"GET {root} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def ended(child: subprocess.Popen[str]) -> str:
    """What it said on stderr until Ctrl-C."""
    child.send_signal(signal.SIGINT)
    return child.communicate(timeout=30)[1]


def test_connections_in_batches_pass_the_limit_at_no_moment() -> None:
    """There is no file descriptor for one more, so it would be heard of."""
    before = ROOM.format(more=page_server._MOST_CONNECTIONS)
    with program(QUIET, before) as (child, port, root), ExitStack() as until_the_end:
        for _ in range(4):
            child.send_signal(signal.SIGSTOP)
            for _ in range(BATCH):
                until_the_end.enter_context(connected(port))
            child.send_signal(signal.SIGCONT)
            assert page_from(port, root) == b"page"
        assert ended(child) == f"{SERVING}tfprof: interrupted\n"


def test_idle_connections_take_no_file_descriptor_from_a_new_one() -> None:
    with program(QUIET, ROOM.format(more=8)) as (child, port, root), ExitStack() as until_the_end:
        for _ in range(3):
            for _ in range(BATCH):
                until_the_end.enter_context(connected(port))
            assert page_from(port, root) == b"page"
        assert ended(child) == f"{SERVING}{NO_ROOM}tfprof: interrupted\n"


def test_one_file_descriptor_is_enough_for_one_client_after_the_other() -> None:
    with program(QUIET, ROOM.format(more=1)) as (child, port, root), ExitStack() as until_the_end:
        assert page_from(port, root) == b"page"
        child.send_signal(signal.SIGSTOP)
        clients = [until_the_end.enter_context(connected(port)) for _ in range(3)]
        for client in clients:
            client.sendall(request(port, root))
        child.send_signal(signal.SIGCONT)
        for client in clients:
            assert Answer(received(client)).body == b"page"
            client.close()


def test_file_descriptors_that_others_take_are_waited_for() -> None:
    with program(QUIET, ROOM.format(more=8) + TAKING) as (child, port, root):
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stderr.readline() == SERVING
        for said in (NO_ROOM, ""):  # it is said once
            child.send_signal(signal.SIGUSR1)
            assert child.stdout.readline() == "taken\n"
            with connected(port) as client:
                client.sendall(request(port, root))
                assert said == "" or child.stderr.readline() == said
                child.send_signal(signal.SIGUSR2)
                assert Answer(received(client)).body == b"page"
        assert ended(child) == "tfprof: interrupted\n"
