"""Pages: a file in Chromium, and a server's page of a graph that is too large for a file.

The other side of a row is its limit: 2 seconds to the first picture, a tenth of a second for a
filter. The file stands beside the converted profile that it is written from, with their sizes.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from inputs import HERE
from plan import Often
from queries import EVERYTHING, QUERIES
from rows import Row, take_turns
from worker import Measure, Worker, environment, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from inputs import Inputs
    from plan import Plan
    from queries import Option

    Filters = Callable[[int], Mapping[str, Option]]

FILE = "page: file / converted"
_ALL: Mapping[str, Option] = {"max_depth": EVERYTHING}
_REGEXES = next(case for case in QUERIES if case.name == "regexes")

# What is typed into the filters of a table, for the first, second, … time.
FILTERS: Mapping[str, Filters] = {
    "min_micros": lambda number: {"min_micros": number + 1},
    "regexes": lambda number: {**_REGEXES.options, "min_micros": number + 1},
    "new regexes": lambda number: {"show_name_regexes": (f".*conv{number}?.*", ".*[Gg]rad.*")},
}


class Limits:
    """What a page may take at a size, in seconds."""

    def __init__(self, *, is_served: bool) -> None:
        self.first, self.change = (5.0, 0.2) if is_served else (2.0, 0.1)


def pages(inputs: Inputs, plan: Plan) -> Iterator[Row]:
    """The rows of a size: the file, its first pictures, filters and a zoom."""
    converted, page = (inputs.answers / f"page.{kind}" for kind in ("tfprof", "html"))
    inputs.answers.mkdir(parents=True, exist_ok=True)
    files = inputs.files()
    runs = files["run_metas"]
    assert isinstance(runs, list)
    flags = [f"--graph_path={files['graph']}", f"--run_meta_path={','.join(runs)}"]
    flags += [f"--op_log_path={files['op_log']}"]
    turns = take_turns(
        partial(_written, ["page", f"--profile_path={converted}"], page),
        partial(_written, ["convert", *flags], converted),
        Often(0, 1),
    )
    if not turns.trouble:
        more = take_turns(
            partial(_written, ["page", f"--profile_path={converted}"], page),
            lambda: turns.original[0],
            Often(plan.slow.ours, 1),
        )
        yield Row("page", FILE, inputs.size, more, "same profile")
    limits = Limits(is_served=plan.huge)
    with _address(converted, page, is_served=plan.huge) as address, _browser() as worker:
        yield from _shown(inputs, plan, worker, address, limits)


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


def _shown(
    inputs: Inputs, plan: Plan, worker: Worker, address: str, limits: Limits
) -> Iterator[Row]:
    """What a reader waits for; filters are different ones each time, so that none is kept."""
    often = Often(plan.cold.ours, 1)

    def row(name: str, ask: partial[Measure], limit: float) -> Row:
        turns = take_turns(ask, lambda: Measure(limit, 0), often)
        return Row("page", name, inputs.size, turns, "same limit", memory=False)

    first = f"{address}#tab=icicle&view=scope"
    yield row("page: first picture", partial(worker.ask, "open_page", address=address), limits.first)
    yield row("page: first icicle", partial(worker.ask, "open_page", address=first), limits.first)
    zooms = _alternately(worker)
    yield row("page: zoom", partial(next, zooms), limits.change)
    often = Often(plan.warm.ours, 1)
    for name, filters in FILTERS.items():
        for view in ("scope", "graph", "code"):
            asks = _filters(worker, view, filters)
            yield row(f"page: {view}, {name}", partial(next, asks), limits.change)


def _alternately(worker: Worker) -> Iterator[Measure]:
    """Zooms by clicks on the picture; after each, all of it again."""
    while True:
        worker.ask("show", fragment="tab=icicle&view=scope")
        yield worker.ask("click", across=0.3, down=0.12)


def _filters(worker: Worker, view: str, filters: Filters) -> Iterator[Measure]:
    """A table, filtered again and again, each time otherwise."""
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
