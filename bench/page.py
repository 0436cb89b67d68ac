"""Pages: a file in Chromium; of a graph that is too large for a file, a served page.

The other side of a row is its limit, such as 2 seconds to the first picture. The file stands beside
the converted profile that it is written from, with their sizes instead of memory.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from inputs import HERE
from plan import Often
from queries import EVERYTHING, QUERIES
from rows import Row, Turns, take_turns
from worker import Measure, Worker, environment, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from inputs import Inputs
    from plan import Plan
    from queries import Option

    Filters = Callable[[int], Mapping[str, Option]]

_ALL: Mapping[str, Option] = {"max_depth": EVERYTHING}
_REGEXES = next(case for case in QUERIES if case.name == "regexes")
# What is typed into the filters of a table, for the first, second, … time.
_FILTERS: Mapping[str, Filters] = {
    "min_micros": lambda number: {"min_micros": number + 1},
    "regexes": lambda number: {**_REGEXES.options, "min_micros": number + 1},
    "new regex": lambda number: {"show_name_regexes": (f".*conv{number}?.*",)},
}
_VIEWS = ("scope", "graph", "code")

FILE = "page: file / converted"
_FIRST = {"page: first picture": "", "page: first icicle": "#tab=icicle&view=scope"}
_ZOOM = "page: zoom"
ALWAYS_LIMITED = (*_FIRST, _ZOOM)
FILTERED = tuple(f"page: {view}, {name}" for name in _FILTERS for view in _VIEWS)


def pages(inputs: Inputs, plan: Plan) -> Iterator[Row]:
    """The rows of a size: the file, its first pictures, a zoom and filters."""
    inputs.answers.mkdir(parents=True, exist_ok=True)
    converted, page = (inputs.answers / f"page.{kind}" for kind in ("tfprof", "html"))
    yield _file(inputs, plan, converted, page)
    with _address(converted, page, is_served=plan.huge) as address, _browser() as worker:
        first, change = (5.0, 0.2) if plan.huge else (2.0, 0.1)
        for name, fragment in _FIRST.items():
            ask = partial(worker.ask, "open_page", address=f"{address}{fragment}")
            yield _limited(inputs, name, ask, first, plan.cold.ours)
        yield _limited(inputs, _ZOOM, partial(next, _zooms(worker)), change, plan.warm.ours)
        for name, filters in _FILTERS.items():
            for view in _VIEWS:
                ask = partial(next, _filtered(worker, view, filters))
                yield _limited(inputs, f"page: {view}, {name}", ask, change, plan.warm.ours)
    converted.unlink(missing_ok=True)
    page.unlink(missing_ok=True)


def _file(inputs: Inputs, plan: Plan, converted: Path, page: Path) -> Row:
    """The page beside the converted profile: seconds of a fresh command, and sizes."""
    files = inputs.files()
    runs = files["run_metas"]
    assert isinstance(runs, list)
    given = {"graph_path": files["graph"], "run_meta_path": ",".join(runs)}
    flags = [
        f"--{name}={text}" for name, text in (*given.items(), ("op_log_path", files["op_log"]))
    ]
    convert = partial(_written, ["convert", *flags], converted)
    before = take_turns(convert, convert, Often(0, 1))  # it writes what ours reads
    write = partial(_written, ["page", f"--profile_path={converted}"], page)
    ours = take_turns(write, write, plan.slow.spared())
    trouble = "; ".join(filter(None, [before.trouble, ours.trouble]))
    turns = Turns(ours.ours, before.original, trouble)
    return Row("page", FILE, inputs.size, turns, "same profile")


def _written(words: list[str], path: Path) -> Measure:
    """A fresh command that writes *path*: its seconds, and the size of the file."""
    path.unlink(missing_ok=True)
    seconds, _ = timed([sys.executable, "-m", "tfprof", *words, "-o", str(path)])
    return Measure(seconds, path.stat().st_size)


@contextmanager
def _address(converted: Path, page: Path, *, is_served: bool) -> Iterator[str]:
    """Where the page is: a file, or a server that lives as long as this."""
    if not is_served:
        yield page.as_uri()
        return
    words = ["page", f"--profile_path={converted}", "--no_open"]
    with subprocess.Popen(
        [sys.executable, "-m", "tfprof", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


@contextmanager
def _browser() -> Iterator[Worker]:
    worker = Worker(HERE / "page_worker.py")
    try:
        yield worker.fresh()
        worker.ask("close")
    finally:
        worker.stop()


def _limited(
    inputs: Inputs, name: str, ask: Callable[[], Measure], limit: float, often: int
) -> Row:
    """A row whose other side is a limit."""
    turns = take_turns(ask, lambda: Measure(limit, 0), Often(often, 1))
    return Row("page", name, inputs.size, turns, "same limit", memory=False)


def _zooms(worker: Worker) -> Iterator[Measure]:
    """Clicks on the picture; after each, all of it again."""
    while True:
        worker.ask("show", fragment="tab=icicle&view=scope")
        yield worker.ask("click", across=0.3, down=0.12)


def _filtered(worker: Worker, view: str, filters: Filters) -> Iterator[Measure]:
    """A table, filtered again and again, each time otherwise: no answer is known before."""
    worker.ask("show", fragment=_fragment(view, _ALL))
    for number in range(EVERYTHING):
        yield worker.ask("show", fragment=_fragment(view, {**_ALL, **filters(number)}))


def _fragment(view: str, options: Mapping[str, Option]) -> str:
    texts = {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in options.items()
    }
    state = {"tab": "table", "view": view, "order_by": "micros", **texts}
    return "&".join(f"{name}={quote(text)}" for name, text in state.items())
