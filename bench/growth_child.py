"""One shape at one size, asked everything: CPU time, memory and length of each answer.

python bench/growth_child.py SHAPE SIZE        a line of JSON a task; `growth.py` reads them
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from growth_shapes import SHAPES, Shape
from tfprof import read
from tfprof.checkers import advise
from tfprof.errors import UsageError
from tfprof.io.gunzip import MAGIC
from tfprof.model import Profile
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.tables.limits import LIMITS, raised_limits
from tfprof.writers.advice import text
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.results.report import Report

Task: TypeAlias = Callable[[], Iterable[bytes]]

_DEEP = 1 << 30
_REGEXES = (".*[13579]", "p1/.*|net.*")
_VIEWS = ("scope", "graph", "op", "code")
_MINIMA = ("bytes", "micros", "params", "float_ops", "occurrence")
_ORDERS = ("name", "micros", "bytes", "params", "depth")


class Measure(NamedTuple):
    """What a task took: CPU seconds, bytes of memory beyond what there was, bytes written.

    What is written as gzip counts unpacked: the names of deep rows pack a thousandfold.
    """

    seconds: float
    memory: int
    written: int


def _queries(view: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each option by itself."""
    yield "everything", {}
    yield "depth 5", {"max_depth": 5}
    for metric in _MINIMA:
        yield f"min_{metric}", {f"min_{metric}": 1 << 40}
    for name in ("start", "trim", "show", "hide"):
        yield f"{name}_name_regexes", {f"{name}_name_regexes": _REGEXES, "max_depth": 3}
    yield "account_type_regexes", {"account_type_regexes": _REGEXES, "max_depth": 3}
    yield "device_regexes", {"device_regexes": _REGEXES, "max_depth": 3}
    for order in (*_ORDERS, *(["occurrence"] if view in ("op", "code") else [])):
        yield f"order_by {order}", {"order_by": order, "max_depth": 3}
    yield "displayed only", {"account_displayed_op_only": True, "max_depth": 3}
    yield "flops", {"flops": "all", "select": ("float_ops",), "max_depth": 3}
    every = ("micros", "bytes", "params", "device", "op_types", "occurrence", "input_shapes")
    yield "all fields", {"select": every}
    yield "hidden", {"select": ("micros", "num_hidden_ops"), "trim_name_regexes": _REGEXES}


class Child:
    """A profile, and all that is asked of it."""

    def __init__(self, shape: Shape, size: int) -> None:
        self._shape = shape
        self.count = size // shape.part
        files = shape.build(self.count)
        self._graph, self._runs, self._log = files.graph, files.runs, files.log
        self.read = len(self._graph) + sum(map(len, self._runs)) + len(self._log)
        self._loaded = Loaded(Profile())

    def tasks(self) -> Iterator[tuple[str, Task]]:
        """What is measured, by name."""
        yield "load", self._load
        for view in _VIEWS:
            yield f"{view}: draw", partial(self._ask, view, {"max_depth": 2})
            for name, options in _queries(view):
                if not self._too_long(view, options):
                    yield f"{view}: {name}", partial(self._ask, view, options)
            for form in ("json", "csv", "md", "pprof", "proto", "timeline"):
                if not (form == "timeline" and view == "op") and not self._too_long(view, {}):
                    yield f"{view}: {form}", partial(self._form, view, form)
        yield "save", self._save
        yield "advise", self._advise

    def _too_long(self, view: str, options: dict[str, Any]) -> bool:
        """Whether the names or indents of all rows are more than anyone writes or matches."""
        deep = self.count > self._shape.most and view in self._shape.slow_views
        return deep and ("max_depth" not in options or any("name_reg" in one for one in options))

    def _load(self) -> Iterable[bytes]:
        def source(name: str, data: bytes) -> read.Source:
            return read.Source(name, np.frombuffer(data, np.uint8))

        runs = [source("run", run) for run in self._runs]
        self._loaded = Loaded(
            read.load(source("graph", self._graph), runs, source("log", self._log))
        )
        return ()

    def _report(self, view: str, options: dict[str, Any]) -> Report:
        return self._loaded.report(view, Query.of({"max_depth": _DEEP, **options}))

    def _ask(self, view: str, options: dict[str, Any]) -> Iterable[bytes]:
        return self._report(view, options).pieces("text")

    def _form(self, view: str, form: str) -> Iterable[bytes]:
        if form != "timeline":
            return self._report(view, {}).pieces(form)
        report = self._report(view, {"step": 0} if view == "graph" else {})
        return timeline(report.answer).pieces()

    def _save(self) -> Iterable[bytes]:
        return saved(self._loaded.profile)

    def _advise(self) -> Iterable[bytes]:
        return text(advise(self._loaded.profile))


def _measured(task: Task) -> Measure:
    """Run a task and drop what it writes."""
    before = _reset_peak()
    start = time.process_time()
    written, packed = 0, b""
    try:
        for piece in task():
            written += len(piece)
            if packed or piece[:2] == MAGIC:
                packed += piece
    except UsageError:  # too deep for this form, which it says
        written, packed = 0, b""
    seconds, memory = time.process_time() - start, max(_memory("VmHWM") - before, 0)
    return Measure(seconds, memory, len(gzip.decompress(packed)) if packed else written)


def _reset_peak() -> int:
    """The memory in use; the peak is counted anew from here."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def main() -> None:
    """Measure all tasks of the shape and size that are named; a line of JSON each."""
    name, size = sys.argv[1:]
    shape = next(shape for shape in SHAPES if shape.name == name)
    made = Child(shape, int(size))
    print(json.dumps(["", made.count, made.read, 0]))
    # Limits reject these shapes early; growth is measured beyond them.
    with raised_limits(**dict.fromkeys(LIMITS, 1 << 40)):
        for name, task in made.tasks():
            # Once: what is asked again finds drawings and regexes made.
            print(json.dumps([name, *_measured(task)]), flush=True)


if __name__ == "__main__":
    main()
