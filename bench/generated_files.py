"""Files of a large fleet that exist only while they are read: an fsspec file system.

    generated://NODES/WORKERS/STEPS/worker_00007/run_meta_3
    python bench/generated_files.py FOLDER NODES WORKERS STEPS      the same files on disk

One step of the imaginary network is spelled once per process. A file is this step with other times
and starts (the same number of bytes, so that nothing moves) and with the devices of its worker;
variables live on four parameter servers. Worker 7 takes three times as long for `Conv2D`.
"""

from __future__ import annotations

import re
import sys
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import fsspec
import numpy as np
from fsspec.spec import AbstractFileSystem

from encode import block, varint
from model import model
from steps import DEVICES, Run
from tfprof.fleet.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROTOCOL = "generated"
STRAGGLER = 7
SLOW_OP = b"Conv2D"
_SLOWER = 3
_SERVERS = 4
_NOISE = 0.05
_AFTER_START = b"\x18\x01"  # the field between the start of an execution and its time
_TIME = _AFTER_START + b"\x20"
_START_BYTES = 8  # of a varint: microseconds since 1970
_MORE = 128  # the bit of a varint's byte that says that another byte follows
_TWO_BYTES = (_MORE, _MORE * _MORE - 1)
_LOCAL = b"/job:localhost/replica:0/task:0"
_WORKER = b"/job:worker/replica:0/task:00000"
_DIGITS = 5


class Template:
    """The file of one step, and where its times of one or two bytes and its worker's number are."""

    def __init__(self, nodes: int) -> None:
        run, network = Run(0), model(nodes)
        stats: list[list[tuple[bytes, bool]]] = [[] for _ in range(len(DEVICES) + _SERVERS)]
        for device, stat in run.noise():
            stats[device].append((stat, False))
        for node in network.nodes():
            server = len(DEVICES) + crc32(node.name) % _SERVERS
            for device, stat in run.stats(node):
                place = server if node.op == b"VariableV2" else device
                stats[place].append((stat, node.op == SLOW_OP))
        names = [name.replace(_LOCAL, _WORKER) for name in DEVICES]
        names += [b"/job:ps/replica:0/task:%d/device:CPU:0" % each for each in range(_SERVERS)]
        pieces = []
        for name, of_device in zip(names, stats, strict=True):
            body = [block(b"\x0a", name), *(stat for stat, _ in of_device)]
            pieces += [b"\x0a" + varint(sum(map(len, body))), *body]
        content = block(b"\x0a", b"".join(pieces))
        self.content = np.frombuffer(content, np.uint8)
        self.number = np.array([found.end() - _DIGITS for found in re.finditer(_WORKER, content)])
        # The pieces once more, for where the time of each stat is.
        is_slow = {stat: slow for of_device in stats for stat, slow in of_device}
        ends = len(content) - sum(map(len, pieces)) + np.cumsum([len(piece) for piece in pieces])
        places: list[int] = []
        slow: list[bool] = []
        starts: list[int] = []
        for piece, end in zip(pieces, ends.tolist(), strict=True):
            if piece in is_slow:
                starts.append(end - len(piece) + piece.index(_AFTER_START) - _START_BYTES)
            at = piece.find(_TIME)
            if at >= 0:
                places.append(end - len(piece) + at + len(_TIME))
                slow.append(is_slow[piece])
        self.start_place = np.array(starts)
        self.start_us: Any = sum(
            (self.content[self.start_place + byte].astype(np.int64) % _MORE) << (7 * byte)
            for byte in range(_START_BYTES)
        )
        first, second = (self.content[np.array(places) + byte].astype(np.int64) for byte in (0, 1))
        self.times = [
            _Times(np.array(places)[of], micros[of], np.array(slow)[of], *limits)
            for of, micros, limits in (
                (first < _MORE, first, (1, _MORE - 1)),
                ((first >= _MORE) & (second < _MORE), first - _MORE + second * _MORE, _TWO_BYTES),
            )
        ]

    def run(self, worker: int, step: int) -> bytes:
        """The file of a worker's step."""
        random = np.random.default_rng((worker, step))
        content = self.content.copy()
        factor = _SLOWER if worker == STRAGGLER else 1
        short, long = (times.scaled(random, factor) for times in self.times)
        total = sum(times.micros.sum() for times in self.times)
        self._move_starts(content, (short.sum() + long.sum()) / total)
        content[self.times[0].place] = short
        content[self.times[1].place] = long % _MORE + _MORE
        content[self.times[1].place + 1] = long // _MORE
        for place, digit in enumerate(b"%0*d" % (_DIGITS, worker)):
            content[self.number + place] = digit
        return content.tobytes()

    def _move_starts(self, content: Any, scale: float) -> None:
        """Let the step take *scale* times as long."""
        first = self.start_us.min()
        start = first + ((self.start_us - first) * scale).astype(np.int64)
        for byte in range(_START_BYTES):
            more = _MORE if byte < _START_BYTES - 1 else 0
            content[self.start_place + byte] = (start >> (7 * byte)) % _MORE + more


class _Times(NamedTuple):
    """The times that take one number of bytes."""

    place: Any
    micros: Any
    is_slow: Any
    least: int
    most: int

    def scaled(self, random: np.random.Generator, factor: int) -> Any:
        """Other times of the same number of bytes."""
        scale = random.uniform(1 - _NOISE, 1 + _NOISE, self.micros.size)
        scaled = self.micros * np.where(self.is_slow, factor, 1) * scale
        return np.clip(np.rint(scaled), self.least, self.most).astype(np.int64)


@cache
def template(nodes: int) -> Template:
    """The step of a network of that many nodes, made once per process."""
    return Template(nodes)


@cache
def _size(nodes: int) -> int:
    return len(template(nodes).run(0, 0))


class GeneratedFiles(AbstractFileSystem):  # type: ignore[misc]
    """Folders of workers with a file per step."""

    protocol = PROTOCOL
    cachable = False

    def ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:  # noqa: FBT001, FBT002
        """The files of a worker, or the folders of the workers."""
        home = self._strip_protocol(path).strip("/")
        nodes, workers, steps, *inside = home.split("/")
        if len(inside) > 1:
            entries = [self._file(home, int(nodes))]
        elif inside:
            names = (f"{home}/run_meta_{step}" for step in range(int(steps)))
            entries = [self._file(name, int(nodes)) for name in names]
        else:
            names = (f"{home}/worker_{worker:0{_DIGITS}}" for worker in range(int(workers)))
            entries = [{"name": name, "size": 0, "type": "directory"} for name in names]
        return entries if detail else [entry["name"] for entry in entries]

    def info(self, path: str, **_: object) -> dict[str, object]:
        """A file or a folder."""
        home = self._strip_protocol(path).strip("/")
        if "run_meta_" in home:
            return self._file(home, int(home.split("/")[0]))
        return {"name": home, "size": 0, "type": "directory"}

    @staticmethod
    def _file(name: str, nodes: int) -> dict[str, object]:
        return {"name": name, "size": _size(nodes), "type": "file", "mtime": 0}

    def _open(self, path: str, mode: str = "rb", **_: object) -> BytesIO:
        assert mode == "rb"
        nodes, _workers, _steps, worker, step = self._strip_protocol(path).strip("/").split("/")
        numbers = int(worker.rpartition("_")[2]), int(step.rpartition("_")[2])
        return BytesIO(template(int(nodes)).run(*numbers))


def register() -> None:
    """Let fsspec open such addresses in this process."""
    fsspec.register_implementation(PROTOCOL, GeneratedFiles, clobber=True)


def _registered(function: Callable[[Any], Any], task: Any) -> Any:
    register()
    return function(task)


class GeneratingEngine(Engine):
    """An engine whose processes know generated files."""

    def run(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], *more: Any, **named: Any
    ) -> Iterator[Any]:
        """The same, with the file system registered where the function runs."""
        yield from super().run(partial(_registered, function), tasks, *more, **named)


def write_files(folder: Path, nodes: int, workers: int, steps: int) -> None:
    """The same files on disk."""
    for worker in range(workers):
        home = folder / f"worker_{worker:0{_DIGITS}}"
        home.mkdir(parents=True, exist_ok=True)
        for step in range(steps):
            (home / f"run_meta_{step}").write_bytes(template(nodes).run(worker, step))


if __name__ == "__main__":
    write_files(Path(sys.argv[1]), *map(int, sys.argv[2:]))
