"""Inputs that grow in one way each: where a program is quadratic, one of these shows it.

    deep names      few nodes, each a thousand scopes down       wide scope     one with all nodes
    input chain     each node the input of the next              hub            an input of all
    executions      nodes that ran so often                      devices        a node on each

A shape is a function of a size to the files of a profile, in wire format and in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from encode import block, varint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DEPTH = 1_000
_CPU, _GPU = b"/job:w/replica:0/task:0/device:CPU:0", b"/job:w/replica:0/task:0/device:GPU:0"
_STREAM = b"/device:GPU:0/stream:all"
_FLOAT_2X3 = b"\x0a\x05shape" + block(b"\x12", b"\x3a\x08\x12\x02\x08\x02\x12\x02\x08\x03")
_OUTPUT_2X3 = b"\x0a\x0e_output_shapes" + block(
    b"\x12", b"\x0a\x0a\x3a\x08\x12\x02\x08\x02\x12\x02\x08\x03"
)
_ATTRIBUTES = block(b"\x2a", _FLOAT_2X3) + block(b"\x2a", _OUTPUT_2X3)
_START_US = 1_000_000


@dataclass
class Files:
    """The files of a profile as they are made."""

    nodes: list[bytes] = field(default_factory=list)
    entries: list[bytes] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    stats: list[dict[bytes, list[bytes]]] = field(default_factory=lambda: [{}])

    def node(self, name: bytes, inputs: Iterable[bytes] = (), op: bytes = b"MatMul") -> None:
        """A graph node."""
        sources = b"".join(block(b"\x1a", each) for each in inputs)
        head = block(b"\x0a", name) + block(b"\x12", op)
        self.nodes.append(block(b"\x0a", head + sources + _ATTRIBUTES))

    def ran(self, name: bytes, start: int, device: bytes = _CPU, step: int = 0) -> None:
        """An execution of a node, with an allocator on its device."""
        memory = block(b"\x0a", b"GPU_0_bfc") + b"\x10\x80\x08\x18\x80\x04\x28\x80\x10"
        memory += block(b"\x32", b"\x08" + varint(_START_US + start) + b"\x10\x80\x08")
        stat = block(b"\x0a", name) + b"\x10" + varint(_START_US + start) + b"\x20\x07"
        self.stats[step].setdefault(device, []).append(
            block(b"\x12", stat + block(b"\x32", memory))
        )

    def logged(self, name: bytes, frames: Iterable[int] = (), types: Iterable[bytes] = ()) -> None:
        """An entry of the op log; a frame is a line of one file."""
        code = b"".join(
            block(b"\x0a", b"\x10" + varint(line) + b"\x30\x01\x38\x02\x40\x03") for line in frames
        )
        listed = b"".join(block(b"\x1a", each) for each in types)
        entry = block(b"\x0a", name) + listed + (block(b"\x22", code) if code else b"")
        self.entries.append(block(b"\x0a", entry))

    def plain(self, name: bytes, at: int, inputs: Iterable[bytes] = ()) -> None:
        """A node that ran once and was made on one of a few lines."""
        self.node(name, inputs)
        self.ran(name, 10 * at)
        self.logged(name, (1, 2, at % 50 + 3))

    @property
    def graph(self) -> bytes:
        """The GraphDef."""
        return b"".join(self.nodes)

    @property
    def runs(self) -> list[bytes]:
        """The RunMetadatas."""
        return [_run(devices) for devices in self.stats]

    @property
    def log(self) -> bytes:
        """The OpLogProto."""
        texts = [b"model.py", b"build", b"y = layer(x)", *self.texts]
        named = (
            block(b"\x12", b"\x08" + varint(number) + block(b"\x12", text))
            for number, text in enumerate(texts, 1)
        )
        return b"".join((*self.entries, *named))


def _run(devices: dict[bytes, list[bytes]]) -> bytes:
    listed = (
        block(b"\x0a", block(b"\x0a", device) + b"".join(stats))
        for device, stats in devices.items()
    )
    return block(b"\x0a", b"".join(listed))


class Shape(NamedTuple):
    """A way to grow: what a size means, and how much longer than its rows its text is."""

    name: str
    build: Callable[[int], Files]
    part: int = 1  # of a size: how many of what grows are made
    most: int = 1 << 62  # beyond this many, what a view writes is quadratic by its nature
    slow_views: Sequence[str] = ()  # those it is so in


def deep_shared(count: int) -> Files:
    """Names a thousand scopes down, all in the same scopes."""
    files, scope = Files(), b"/".join(b"p%d" % part for part in range(DEPTH))
    for at in range(count):
        files.plain(b"%b/x%d" % (scope, at), at)
    return files


def deep_distinct(count: int) -> Files:
    """Names a thousand scopes down, each in its own."""
    files = Files()
    for at in range(count):
        files.plain(b"/".join(b"s%d" % (at if part else at + 1) for part in range(DEPTH)), at)
    return files


def wide_scope(count: int) -> Files:
    """One scope that holds all nodes."""
    files = Files()
    for at in range(count):
        files.plain(b"net/x%d" % at, at)
    return files


def input_chain(count: int) -> Files:
    """Each node the input of the next."""
    files = Files()
    for at in range(count):
        files.plain(b"x%d" % at, at, [b"x%d" % (at - 1)] if at else [])
    return files


def nested_scope(count: int) -> Files:
    """One name of so many parts."""
    files = Files()
    files.plain(b"/".join([b"a"] * count), 0)
    return files


def op_types(count: int) -> Files:
    """Every node an operation of its own, with an input."""
    files = Files()
    for at in range(count):
        name = b"x%d" % at
        files.node(name, [b"x%d" % (at // 2)] if at else [], b"Op%d" % at)
        files.ran(name, 10 * at)
        files.logged(name, (1, at % 9 + 2))
    return files


def call_stacks(count: int) -> Files:
    """A call stack of its own for every node."""
    files = Files()
    for at in range(count):
        files.node(b"x%d" % at)
        files.ran(b"x%d" % at, 10 * at)
        files.logged(b"x%d" % at, (*(at % (part + 1) for part in range(14)), at))
    return files


def deep_stacks(count: int) -> Files:
    """Call stacks of a thousand frames, apart from the second on."""
    files = Files()
    for at in range(count):
        files.node(b"x%d" % at)
        files.ran(b"x%d" % at, 10 * at)
        files.logged(b"x%d" % at, (1, *(at + part for part in range(DEPTH))))
    return files


def devices(count: int) -> Files:
    """A node on each of so many devices."""
    files = Files()
    for at in range(count):
        name = b"x%d" % at
        files.node(name, [b"x%d" % (at // 2)] if at else [])
        files.ran(name, 10 * at, b"/job:w/replica:0/task:%d/device:GPU:0" % at)
        files.logged(name, (1, 2))
    return files


def many_inputs(count: int) -> Files:
    """One node that takes all others."""
    files = Files()
    for at in range(count):
        files.plain(b"x%d" % at, at)
    files.plain(b"sum", count, (b"x%d" % at for at in range(count)))
    return files


def wide_messages(count: int) -> Files:
    """A few nodes that share so many inputs."""
    files = Files()
    for at in range(20):
        files.plain(b"x%d" % at, at, (b"x%d" % (at % 7) for _ in range(count // 20)))
    return files


def executions(count: int) -> Files:
    """Two nodes, one the input of the other, that run over and over on a device and a stream."""
    files = Files()
    files.node(b"x")
    files.node(b"y", [b"x"])
    for at in range(count // 2):
        for place, name in enumerate((b"x", b"y")):
            files.ran(name, 20 * at + 9 * place)
            files.ran(name, 20 * at + 9 * place, _STREAM)
    files.logged(b"x", (1, 2))
    return files


def node_types(count: int) -> Files:
    """One node of so many types."""
    files = Files()
    files.plain(b"x", 0)
    files.logged(b"x", (), (b"type%d" % at for at in range(count)))
    return files


def hub(count: int) -> Files:
    """One node that all others take."""
    files = Files()
    files.plain(b"x", 0)
    for at in range(count):
        files.plain(b"y%d" % at, at + 1, [b"x"])
    return files


def steps(count: int) -> Files:
    """A small graph that was run so often, each time a step of its own."""
    files = Files()
    files.stats = [{} for _ in range(count)]
    for at in range(100):
        files.node(b"x%d" % at)
        files.logged(b"x%d" % at, (1, at % 5 + 2))
    for step in range(count):
        files.ran(b"x%d" % (step % 100), 10 * step, step=step)
        files.ran(b"x%d" % (step % 100), 10 * step, _GPU, step=step)
    return files


SHAPES = (
    Shape("names of 1000 parts in one scope", deep_shared, 100),
    Shape("names of 1000 parts in own scopes", deep_distinct, 1_000),
    Shape("one scope of all", wide_scope),
    Shape("chain of inputs", input_chain, 1, 10_000, ("graph",)),
    Shape("one name of so many parts", nested_scope, 10, 10_000, ("scope",)),
    Shape("an operation type each", op_types),
    Shape("a call stack each", call_stacks),
    Shape("call stacks of 1000 frames", deep_stacks, 100),
    Shape("a device each", devices, 10),
    Shape("one node takes all", many_inputs),
    Shape("few nodes take many", wide_messages),
    Shape("executions of two nodes", executions),
    Shape("types of one node", node_types),
    Shape("all take one node", hub),
    Shape("a step each", steps, 100),
)
