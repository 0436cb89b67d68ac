"""A server of the page in a thread of this process, and requests to it byte by byte."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from typing import TYPE_CHECKING, Final

from tfprof.cli.page_server import PageServer, ServedPage

if TYPE_CHECKING:
    from typing_extensions import Self

PAGE: Final = ServedPage(b"<!doctype html><p>the page</p>", bytes(range(256)), "default-src 'none'")
ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)(/[\w-]{43}/)\s")


class Served:
    """A server in a thread of this process."""

    def __init__(self, page: ServedPage = PAGE) -> None:
        self._page, self._started = page, threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self.complaints: list[dict[str, object]] = []

    async def _run(self) -> None:
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
        server = PageServer(self._page)
        listening = server.listen()
        serving = asyncio.create_task(server.serve(listening))
        self.tasks = {asyncio.current_task(), serving}
        _, self.port, self.root = address_in(f"{server.address}\n")
        self._started.set()
        with listening:
            await self.ended.wait()
            serving.cancel()

    def __enter__(self) -> Self:
        self.thread.start()
        assert self._started.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(30)
        assert not self.complaints

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def sent(self, raw: bytes) -> bytes:
        """What the server answers to these bytes, until it closes."""
        with self.connect() as client:
            client.sendall(raw)
            client.shutdown(socket.SHUT_WR)
            return received(client)

    def asked(self, target: str | None = None, method: str = "GET", **headers: str) -> Answer:
        """The answer to a request; `Sec_Fetch_Site` is the header Sec-Fetch-Site."""
        lines = {"Host": f"127.0.0.1:{self.port}", **headers}
        fields = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in lines.items())
        first = f"{method} {self.root if target is None else target} HTTP/1.1\r\n"
        return Answer(self.sent(f"{first}{fields}\r\n".encode("latin-1")))


class Answer:
    """A response taken apart."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1])
        self.headers = dict(line.split(": ", 1) for line in lines)


def received(client: socket.socket) -> bytes:
    """Everything until the end."""
    pieces = []
    while piece := client.recv(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def address_in(text: str) -> tuple[str, int, str]:
    """(address, port, path) that *text* tells."""
    match = ADDRESS.search(text)
    assert match, text
    return match[0].strip(), int(match[1]), match[2]
