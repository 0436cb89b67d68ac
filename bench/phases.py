"""The measurements: each phase asks both programs the same, in turns, and yields rows.

A row counts only if the two answers are the same bytes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from queries import COLD, QUERIES, flags
from worker import Measure, Worker, WorkerError, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

HERE = Path(__file__).parent
_SLOW = 100_000  # from here on, warm queries and text parsing are repeated less
_CHUNK = 1 << 20
# Our graph view names itself; the original prints the sentence of the scope view there.
_SCOPE_DOC = (
    b"\nscope: The nodes in the model graph are organized by their names,"
    b" which is hierarchical like filesystem.\n"
)
_GRAPH_DOC = (
    b"\ngraph: The nodes in the model graph are organized by their operation input and output.\n"
)


@dataclass(frozen=True)
class Turns(Generic[T]):
    """What both sides measured; `trouble` is why ours stopped, if it did."""

    ours: list[T]
    original: list[T]
    trouble: str

    def each(self, pick: Callable[[T], Measure]) -> Turns[Measure]:
        """One of several things measured in each turn."""
        return Turns([*map(pick, self.ours)], [*map(pick, self.original)], self.trouble)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    nodes: int
    turns: Turns[Measure]
    same: bool
    memory: bool = True


@dataclass(frozen=True)
class Inputs:
    """The files of one size, and the folder for answers."""

    nodes: int
    folder: Path
    answers: Path

    def path(self, name: str) -> str:
        """One of the files."""
        return str(self.folder / name)

    def outs(self, name: str) -> tuple[Path, Path]:
        """Where the two answers to a question go; answers of an earlier run are removed."""
        self.answers.mkdir(parents=True, exist_ok=True)
        stem = name.replace(":", "").replace(" ", "_")
        pair = (self.answers / f"{stem}.ours", self.answers / f"{stem}.original")
        for path in pair:
            path.unlink(missing_ok=True)
        return pair


def take_turns(ours: Callable[[], T], original: Callable[[], T], repeat: int) -> Turns[T]:
    """Ours, the original, ours, … A failure ends our turns; one of the original ends all."""
    turns: tuple[list[T], list[T]] = ([], [])
    trouble = ""
    for _ in range(repeat):
        if not trouble:
            try:
                turns[0].append(ours())
            except WorkerError as error:
                trouble = str(error)
        turns[1].append(original())
    return Turns(*turns, trouble)


def same_answer(ours: Path, original: Path, view: str) -> bool:
    """Whether two reports are the same bytes, the graph view's own sentence apart."""
    if not (ours.exists() and original.exists()):
        return False
    with ours.open("rb") as left, original.open("rb") as right:
        head = right.read(_CHUNK)
        if view == "graph":
            head = head.replace(_SCOPE_DOC, _GRAPH_DOC, 1)
        while head:
            if left.read(len(head)) != head:
                return False
            head = right.read(_CHUNK)
        return not left.read(1)


def cold(inputs: Inputs, repeat: int) -> Iterator[Row]:
    """A fresh process of each, from start to exit."""
    ours, original = inputs.outs("cold")
    files = {
        "graph_path": inputs.path("graph.pb"),
        "run_meta_path": inputs.path("run_meta_0"),
        "op_log_path": inputs.path("tfprof_log"),
    }
    command = [sys.executable, "-m", "tfprof", "scope"]
    command += flags({**files, **COLD, "output": f"file:outfile={ours}"})
    script = str(HERE / "original_worker.py")
    other = [sys.executable, script, "cold", *files.values(), str(original)]
    turns = take_turns(partial(timed, command), partial(timed, other), repeat)
    yield Row("cold one-shot", inputs.nodes, turns, same_answer(ours, original, "scope"))


def _workers() -> tuple[Worker, Worker]:
    return Worker(HERE / "our_side.py"), Worker(HERE / "original_worker.py")


def _load(worker: Worker, files: Mapping[str, object], out: Path) -> tuple[Measure, Measure]:
    """Into a fresh process: the load, and the first answer, for which the view is drawn."""
    loaded = worker.fresh().ask("load", **files)
    asked = {"view": "scope", "options": QUERIES[0].asked, "out": str(out)}
    return loaded, worker.ask("query", **asked)


def loads_and_queries(inputs: Inputs, repeat: int, only: set[str]) -> Iterator[Row]:
    """Loading into fresh processes; then warm questions to the last pair of them."""
    files = {
        "graph": inputs.path("graph.pb"),
        "run_metas": [inputs.path("run_meta_0")],
        "op_log": inputs.path("tfprof_log"),
    }
    pair, outs = _workers(), inputs.outs("load")
    loads = [partial(_load, worker, files, out) for worker, out in zip(pair, outs, strict=True)]
    try:
        turns = take_turns(loads[0], loads[1], repeat if "load" in only else 1)
        same = same_answer(*outs, "scope")
        if "load" in only:
            yield Row("load", inputs.nodes, turns.each(lambda turn: turn[0]), same)
            first = turns.each(lambda turn: turn[1])
            yield Row("scope: first answer", inputs.nodes, first, same, memory=False)
        if "query" in only:
            yield from _queries(inputs, pair, repeat)
    finally:
        for worker in pair:
            worker.stop()


def _queries(inputs: Inputs, pair: tuple[Worker, Worker], repeat: int) -> Iterator[Row]:
    often = repeat if inputs.nodes >= _SLOW else 3 * repeat
    for case in QUERIES:
        for view in case.views:
            name = f"{view}: {case.name}"
            outs = inputs.outs(name)
            asked = {"view": view, "options": case.asked}
            calls = [
                partial(worker.ask, "query", **asked, out=str(out))
                for worker, out in zip(pair, outs, strict=True)
            ]
            take_turns(calls[0], calls[1], 1)  # the first question to a view draws it
            turns = take_turns(calls[0], calls[1], often)
            same = same_answer(*outs, view)
            yield Row(name, inputs.nodes, turns, same, memory=False)


def texts(inputs: Inputs, repeat: int) -> Iterator[Row]:
    """A text graph: ours against protobuf's Python parser, and against the native one."""
    ours, original = pair = _workers()
    path, outs = inputs.path("graph.pbtxt"), inputs.outs("text")
    files: dict[str, object] = {"graph": path, "run_metas": [], "op_log": ""}
    often = 1 if inputs.nodes >= _SLOW else repeat
    try:
        parsed = take_turns(
            lambda: ours.fresh().ask("load", **files),
            lambda: original.fresh().ask("parse", graph=path),
            often,
        )
        loads = [partial(_load, worker, files, out) for worker, out in zip(pair, outs, strict=True)]
        loaded = take_turns(loads[0], loads[1], often).each(lambda turn: turn[0])
        same = same_answer(*outs, "scope")
        yield Row("text load / text_format", inputs.nodes, parsed, same)
        yield Row("text load / native parser", inputs.nodes, loaded, same)
    finally:
        for worker in pair:
            worker.stop()
