"""A server for one page: for this machine only, read-only, until Ctrl-C.

    http://127.0.0.1:43210/TOKEN/           the page
    http://127.0.0.1:43210/TOKEN/profile    its data, which the page fetches

Other programs and other users reach a port of this machine, and so does every website that is open
in a browser. So a request is answered only if it

    is for 127.0.0.1 or localhost     else 421: a website's name may point to this machine
    comes from the page or a person   else 403: Origin and Sec-Fetch-Site say who asks
    has the random token              else 403
    is for one of the two paths       else 404: they are compared, never looked up in a folder
    is GET or HEAD                    else 405

One thread serves all connections. Each has limits of time and size. When a
hundred are open, or no file descriptor is free, the one that is idle for longest is closed; if none
is idle, new ones wait. Nothing is logged: a request contains the token.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from hmac import compare_digest
from http import HTTPStatus
from secrets import token_urlsafe
from select import select
from threading import Thread
from typing import Final, NamedTuple

from tfprof.console.stdio import print_error, write_stdout
from tfprof.errors import UsageError

_NAMES: Final = ("127.0.0.1", "localhost")
_LONGEST_HEAD: Final = 64 << 10  # cookies of other servers on this machine come along
_PIECE: Final = 256 << 10
_IDLE_SECONDS: Final = 10  # for a whole request, and for closing
_PIECE_SECONDS: Final = 60  # for a piece of the response
_MOST_CONNECTIONS: Final = 100
_RETRY_SECONDS: Final = 1  # when all file descriptors are taken, and by others
_GONE: Final = (OSError, EOFError, asyncio.TimeoutError)  # a client that left, or is too slow
_HEADERS: Final = """\
Allow: GET, HEAD
Connection: close
Cache-Control: no-store
X-Content-Type-Options: nosniff
Referrer-Policy: no-referrer
Cross-Origin-Resource-Policy: same-origin
Cross-Origin-Opener-Policy: same-origin
""".splitlines()


class ServedPage(NamedTuple):
    """What is served: the page, its data, and the content security policy of the page."""

    html: bytes
    data: bytes
    policy: str


class Response(NamedTuple):
    """A response: `kind` is the type of its body."""

    status: HTTPStatus
    kind: str
    body: bytes


class Refusal(Exception):  # noqa: N818 - a response, not an error
    """A request that gets a status and one sentence instead of the page."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        body = f"{sentence}\n".encode()
        self.response = Response(HTTPStatus(status), "text/plain; charset=utf-8", body)


class PageServer:
    """Serves one page to those who have its address."""

    def __init__(self, page: ServedPage) -> None:
        self._policy = f"{page.policy.rstrip('; ')}; frame-ancestors 'none'"
        self._root = f"/{token_urlsafe(32)}/"
        html = Response(HTTPStatus.OK, "text/html; charset=utf-8", page.html)
        data = Response(HTTPStatus.OK, "application/octet-stream", page.data)
        self._responses = {self._root: html, f"{self._root}profile": data}
        self._hosts: set[str] = set()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        # Those that have not asked yet or have their answer, the oldest first.
        self._idle: dict[asyncio.StreamWriter, None] = {}
        self._has_reported = False
        self.address = ""

    def listen(self, port: int = 0) -> socket.socket:
        """The socket whose clients get the page; port 0 is any free port."""
        listening = socket.create_server((_NAMES[0], port))
        listening.settimeout(0)
        port = listening.getsockname()[1]
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        self.address = f"http://{_NAMES[0]}:{port}{self._root}"
        return listening

    async def serve(self, listening: socket.socket) -> None:
        """Accept connections until this is cancelled, which drops every client."""
        try:
            while True:
                await self._accept(listening)
        finally:
            # Before Python 3.12, one that is only cancelled may miss that in `wait_for`.
            for writer in self._connections.values():
                writer.transport.abort()

    async def _accept(self, listening: socket.socket) -> None:
        """Accept one connection, or make room for it."""
        if len(self._connections) >= _MOST_CONNECTIONS:
            self._drop_one()
            await self._until_one_is_closed()
            return
        try:
            client, _ = await asyncio.get_running_loop().sock_accept(listening)
            reader, writer = await asyncio.open_connection(sock=client, limit=_LONGEST_HEAD)
        except ConnectionError:  # it is gone already
            return
        except OSError as problem:  # no file descriptor is free, whether or not a client waits
            if _is_waited_for(listening):
                self._report(problem)
                self._drop_one()
            await self._until_one_is_closed()
            return
        self._idle[writer] = None
        task = asyncio.create_task(self._connected(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    def _report(self, problem: OSError) -> None:
        if not self._has_reported:
            self._has_reported = True
            print_error(
                f"{problem.strerror}: idle connections to the page are closed and new ones wait; "
                "'ulimit -n' raises the limit"
            )

    def _drop_one(self) -> None:
        """Drop the connection idle for longest, but never the newest: its request may be coming."""
        if len(self._idle) > 1:
            writer = next(iter(self._idle))
            del self._idle[writer]
            writer.transport.abort()

    async def _until_one_is_closed(self) -> None:
        """Return when a connection is closed, or to try again."""
        if self._connections:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait(self._connections, timeout=_RETRY_SECONDS, return_when=first)
        else:
            await asyncio.sleep(_RETRY_SECONDS)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection; it is closed at the end."""
        with suppress(*_GONE):
            try:
                await self._answer(reader, writer)
            finally:
                self._idle.pop(writer, None)
                writer.transport.abort()
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method = ""
        try:
            method, target, headers = await _read_request(reader)
            response = self._response(method, target, headers)
        except Refusal as refusal:
            response = refusal.response
        self._idle.pop(writer, None)
        writer.write(self._head(response))
        body = memoryview(b"" if method == "HEAD" else response.body)
        for start in range(0, len(body) or 1, _PIECE):
            writer.write(body[start : start + _PIECE])
            await asyncio.wait_for(writer.drain(), _PIECE_SECONDS)
        writer.write_eof()
        self._idle[writer] = None
        # A client that still sends would lose what it has not read yet.
        while await asyncio.wait_for(reader.read(_PIECE), _IDLE_SECONDS):
            pass

    def _head(self, response: Response) -> bytes:
        status, kind, body = response
        first = f"HTTP/1.1 {status.value} {status.phrase}"
        own = f"Content-Type: {kind}", f"Content-Length: {len(body)}"
        lines = (first, *own, f"Content-Security-Policy: {self._policy}", *_HEADERS, "")
        return "".join(f"{line}\r\n" for line in lines).encode("latin-1")

    def _response(self, method: str, target: str, headers: dict[str, str]) -> Response:
        """What a request gets; raises Refusal."""
        if headers.get("host", "").lower() not in self._hosts:
            raise Refusal(421, "This server answers only at the address that tfprof printed.")
        origins = {"", *(f"http://{host}" for host in self._hosts)}
        if headers.get("origin", "").lower() not in origins or not _from_us(headers):
            raise Refusal(403, "Another website asked for this page.")
        if not compare_digest(target[: len(self._root)].encode(), self._root.encode()):
            raise Refusal(403, "The token is wrong; use the address that tfprof printed.")
        if target not in self._responses:
            raise Refusal(404, "There is nothing here; use the address that tfprof printed.")
        if method not in {"GET", "HEAD"}:
            raise Refusal(405, "This server is read-only: it answers GET and HEAD.")
        return self._responses[target]


def _is_waited_for(listening: socket.socket) -> bool:
    """Whether a client waits at this socket."""
    try:
        return bool(select([listening], [], [], 0)[0])
    except ValueError:  # its number is too large for this question
        return True


def _from_us(headers: dict[str, str]) -> bool:
    """Whether the page asks, or a person who typed the address or followed a link to it."""
    site = headers.get("sec-fetch-site", "none").lower()
    purpose = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return site in {"none", "same-origin"} or purpose == ("navigate", "document")


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]]:
    """The method, target and headers of a request; raises Refusal: slow, long or malformed."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _IDLE_SECONDS)
    except asyncio.TimeoutError:
        raise Refusal(408, "The request did not arrive in time.") from None
    except asyncio.LimitOverrunError:
        raise Refusal(431, f"A request has at most {_LONGEST_HEAD} bytes.") from None
    first, *lines = head.decode("latin-1")[:-4].split("\r\n")
    words = first.split(" ")
    pairs = [line.partition(":") for line in lines]
    headers = {name.lower(): value.strip(" \t") for name, _, value in pairs}
    named = all(colon and name and name.strip() == name for name, colon, _ in pairs)
    if words[2:] not in (["HTTP/1.0"], ["HTTP/1.1"]) or not named or len(headers) != len(pairs):
        raise Refusal(400, "This is not a request of a browser.")
    return words[0], words[1], headers


def serve_page(page: ServedPage, *, port: int = 0, open_browser: bool = True) -> None:
    """Print the address of *page* and serve it until a signal ends that."""
    # At the prompt, Ctrl-C ends the server and not the program; only there it has Python's handler.
    at_prompt = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    asyncio.run(_serve(PageServer(page), port, open_browser=open_browser, at_prompt=at_prompt))
    raise KeyboardInterrupt


async def _serve(server: PageServer, port: int, *, open_browser: bool, at_prompt: bool) -> None:
    try:
        listening = server.listen(port)
    except OSError as problem:
        raise UsageError(f"port {port} cannot be used: {os.strerror(problem.errno or 0)}") from None
    write_stdout([f"{server.address}\n".encode()])
    print_error("serving the page to this machine only; Ctrl-C ends")
    # In a terminal without a screen, a browser would take the terminal.
    has_screen = any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))
    if open_browser and (has_screen or sys.platform in {"darwin", "win32"}):
        with suppress(RuntimeError):  # no more threads: the address is printed
            Thread(target=_open_browser, args=(server.address,), daemon=True).start()
    serving = asyncio.create_task(server.serve(listening))
    if at_prompt:
        with suppress(NotImplementedError):  # on Windows, Ctrl-C ends asyncio.run
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, serving.cancel)
    with listening, suppress(asyncio.CancelledError):
        await serving


def _open_browser(address: str) -> None:
    import webbrowser  # noqa: PLC0415 - only here

    try:
        webbrowser.open(address)
    except Exception as problem:  # noqa: BLE001 - of commands that others configure
        print_error(f"the browser cannot be opened: {problem}; use the address above")
