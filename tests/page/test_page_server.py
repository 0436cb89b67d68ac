"""The server of the page: what it answers and what it refuses."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pytest

from served import PAGE, Answer, Served, received
from tfprof.cli import page_server

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as server:
        yield server


def test_the_page_and_its_data(served: Served) -> None:
    page, data = served.asked(), served.asked(f"{served.root}profile")
    assert (page.status, page.body) == (200, PAGE.html)
    assert (data.status, data.body) == (200, PAGE.data)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert data.headers["Content-Type"] == "application/octet-stream"
    assert data.headers["Content-Length"] == "256"


def test_headers_that_keep_others_out_are_on_every_answer(served: Served) -> None:
    asked = served.asked
    answers = [asked(), asked("/"), asked(method="POST"), asked(Host="")]
    assert [answer.status for answer in answers] == [200, 403, 405, 421]
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Connection"] == "close"
        assert not {"Access-Control-Allow-Origin", "Set-Cookie", "Server"} & answer.headers.keys()


def test_head_has_the_same_headers_and_no_body(served: Served) -> None:
    for target in (served.root, f"{served.root}profile", "/nothing"):
        asked, head = served.asked(target), served.asked(target, "HEAD")
        assert head.status == asked.status
        assert head.headers == asked.headers
        assert head.body == b""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost"])
def test_names_of_this_machine(served: Served, name: str) -> None:
    assert served.asked(Host=f"{name}:{served.port}").status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("", "127.0.0.1", "localhost", "evil.example", "evil.example:{port}", "127.0.0.1:1"),
        *("127.0.0.1.evil.example:{port}", "127.0.0.1:{port}.evil.example", "0.0.0.0:{port}"),
        *("[::1]:{port}", "localhost.:{port}", "127.0.0.1:{port}, evil.example", "127.1:{port}"),
        *("evil.example@127.0.0.1:{port}", "127.0.0.1:{port}\tevil"),
    ],
)
def test_a_name_that_points_here_is_no_name_of_this_server(served: Served, host: str) -> None:
    answer = served.asked(Host=host.format(port=served.port))
    assert answer.status == 421
    assert answer.body == b"This server answers only at the address that tfprof printed.\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://127.0.0.1:{port}.evil.example"}, 403),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
        ({"Sec_Fetch_Site": "same-site"}, 403),  # another port of this machine
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        # Somebody follows a link to the address, in a web terminal or a chat.
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
          "Sec_Fetch_Dest": "document"}, 200),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
          "Sec_Fetch_Dest": "iframe"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors",
          "Sec_Fetch_Dest": "script"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
          "Sec_Fetch_Dest": "document", "Origin": "http://evil.example"}, 403),
    ],
)  # fmt: skip
def test_who_asks(served: Served, headers: dict[str, str], status: int) -> None:
    values = {name: text.format(port=served.port) for name, text in headers.items()}
    for target in (served.root, f"{served.root}profile"):
        assert served.asked(target, **values).status == status


def test_a_wrong_token(served: Served) -> None:
    token = served.root.strip("/")
    other = "A" if token[-1] != "A" else "B"
    wrong = ["/", "", "*", "/profile", "//", f"/{token[:-1]}/", f"/{token[:-1]}{other}/"]
    wrong += [f"/{token.swapcase()}/", f"/?{token}", f"/{token}", f"/{token}x/", f"/{'A' * 43}/"]
    wrong += [f"/%{ord(token[0]):02x}{token[1:]}/", f"/{token}\xe9/", "/favicon.ico"]
    for target in wrong:
        answer = served.asked(target)
        assert answer.status == 403, target
        assert answer.body == b"The token is wrong; use the address that tfprof printed.\n"


def test_every_server_has_a_token_of_its_own() -> None:
    with Served() as one, Served() as other:
        assert one.root != other.root
        assert other.asked(one.root).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "PROPFIND"])
def test_other_methods(served: Served, method: str) -> None:
    answer = served.asked(method=method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.body == b"This server is read-only: it answers GET and HEAD.\n"


def test_a_body_does_not_cost_its_sender_the_answer(served: Served) -> None:
    head = f"POST {served.root} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
    assert Answer(served.sent(head.encode() + bytes(4 << 20))).status == 405


@pytest.mark.parametrize(
    "rest",
    [
        *("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc/passwd", "//etc"),
        *("profile/", "profile/..", "./profile", "profile?x", "profile#x", "profile%00", "Profile"),
        *("..\\..\\windows", "%252e%252e/", "page_server.py", "?", "index.html", ".", "\xff"),
    ],
)
def test_nothing_but_two_paths(served: Served, rest: str) -> None:
    answer = served.asked(f"{served.root}{rest}")
    assert answer.status == 404
    assert answer.body == b"There is nothing here; use the address that tfprof printed.\n"


def test_paths_outside_of_the_token(served: Served) -> None:
    port, root = served.port, served.root
    for target in (
        *("/../../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd", "etc/passwd"),
        *(f"http://127.0.0.1:{port}{root}", f"//127.0.0.1:{port}{root}", f"/.{root}", f"/{root}"),
        *("file:///etc/passwd", "http://evil.example/", f"127.0.0.1:{port}"),
    ):
        assert served.asked(target).status == 403, target


@pytest.mark.parametrize(
    "head",
    [
        *("GET {root}", "GET  {root} HTTP/1.1", "GET {root} HTTP/2.0", "GET {root} HTTP/1.1 more"),
        *("", "{root}", "GET\t{root}\tHTTP/1.1", "GET {root} HTTP/1.1\r\nno colon"),
        *("GET {root} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example",),
        *("GET {root} HTTP/1.1\r\nHost: evil.example\r\nhost: 127.0.0.1:{port}",),
        *("GET {root} HTTP/1.1\r\nHost : 127.0.0.1:{port}", "GET {root} HTTP/1.1\r\n Host: x"),
        *("GET {root} HTTP/1.1\r\nX: a\r\n folded: b", "\x16\x03\x01\x02\x00"),
    ],
)
def test_what_no_browser_sends(served: Served, head: str) -> None:
    text = head.format(root=served.root, port=served.port)
    answer = Answer(served.sent(f"{text}\r\n\r\n".encode("latin-1")))
    assert (answer.status, answer.body) == (400, b"This is not a request of a browser.\n")


def test_an_old_browser_names_its_host_too(served: Served) -> None:
    first = f"GET {served.root} HTTP/1.0\r\n"
    assert Answer(served.sent(f"{first}\r\n".encode())).status == 421
    named = f"{first}Host: 127.0.0.1:{served.port}\r\n\r\n"
    assert Answer(served.sent(named.encode())).status == 200


def test_long_requests(served: Served) -> None:
    assert served.asked(Cookie="x" * 50_000).status == 200
    for answer in (
        served.asked(Cookie="x" * 100_000),
        served.asked(f"{served.root}{'x' * 10_000_000}"),
        Answer(served.sent(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1_000_000)),
    ):
        assert answer.status == 431
        assert answer.body == b"A request has at most 65536 bytes.\n"


def test_a_request_that_stops_halfway(served: Served) -> None:
    assert served.sent(b"GET / HT") == b""
    assert served.sent(b"") == b""
    assert served.asked().status == 200


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\n\r\nmore"])
def test_slow_clients_and_those_that_do_not_close_do_not_stop_others(
    served: Served, sent: bytes
) -> None:
    """More of them than the server has room for."""
    with ExitStack() as open_until_the_end:
        for _ in range(3 * page_server._MOST_CONNECTIONS // 2):
            open_until_the_end.enter_context(served.connect()).sendall(sent)
        assert served.asked().body == PAGE.html


def test_a_slow_request_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "_IDLE_SECONDS", 0.05)
    with Served() as server, server.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        answer = Answer(received(client))
    assert (answer.status, answer.body) == (408, b"The request did not arrive in time.\n")


BIG: Final = PAGE._replace(data=os.urandom(1 << 20) * 32)


def test_a_client_that_does_not_read_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "_PIECE_SECONDS", 0.05)
    with Served(BIG) as server, server.connect() as client:
        ask(client, server)
        assert client.recv(1)
        wait_for_the_end(server)
        assert len(received(client)) < len(BIG.data)


def ask(client: socket.socket, server: Served) -> None:
    head = f"GET {server.root}profile HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    client.sendall(head.encode())


def wait_for_the_end(server: Served) -> None:
    """Until the server handles no connection any more."""

    async def others_done() -> None:
        own = {asyncio.current_task(), *server.tasks}
        if others := asyncio.all_tasks() - own:
            await asyncio.wait(others)

    asyncio.run_coroutine_threadsafe(others_done(), server.loop).result(30)


def test_two_clients_at_once_one_of_which_does_not_read() -> None:
    with Served(BIG) as server, server.connect() as first, server.connect() as second:
        for client in (first, second):
            ask(client, server)
        assert received(second).endswith(BIG.data)
        assert server.asked().body == PAGE.html
        assert received(first).endswith(BIG.data)


def test_a_browser_that_goes_away_is_no_complaint() -> None:
    """`Served` has no complaints of the loop at the end."""
    with Served(BIG) as server:
        for _ in range(20):
            with server.connect() as client:
                ask(client, server)
                client.recv(1000)
        wait_for_the_end(server)
        assert server.asked().status == 200
