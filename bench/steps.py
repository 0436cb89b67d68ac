"""What a run of the imaginary network leaves behind: the execution stats of one step.

A node on the accelerator is seen once by its device and, for each kernel it launches, once by
`stream:all` and once by its own stream; a node on the host is seen once; initialisers do not run.
Times come from a checksum of the name and the step, so they are the same in every generation.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from encode import block, varint, wire
from model import CPU, IDLE
from ops import OPS, dims, elements, output_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model import Node
    from ops import Shape

_TASK = b"/job:localhost/replica:0/task:0/device:"
HOST, DEVICE, ALL, STREAM = range(4)
DEVICES = (
    _TASK + b"CPU:0",
    _TASK + b"GPU:0",
    _TASK + b"GPU:0/stream:all",
    _TASK + b"GPU:0/stream:14",
)
_EPOCH = 1_500_000_000_000_000
_STEP = 60_000_000
_ALLOCATORS = {CPU: b"cpu"}


@cache
def _float_tensor(shape: Shape) -> bytes:
    """The head of a TensorDescription."""
    return b"\x08\x01" + block(b"\x12", wire(dims(shape)))


class Run:
    """One step, as its devices saw it."""

    def __init__(self, step: int) -> None:
        """Start at the step's time, with nothing run."""
        self.step = step
        self.now = _EPOCH + step * _STEP
        self.count = 0
        self.in_use = 0

    def noise(self) -> Iterator[tuple[int, bytes]]:
        """What every run contains beside the graph's nodes."""
        for device in (HOST, DEVICE):
            yield device, self._stat(b"_SOURCE", 1, b"")
        yield HOST, self._stat(b"RecvTensor", 17, b"")
        for device in (ALL, STREAM):
            yield device, self._stat(b"edge_12_input_pipeline/split:MEMCPYHtoD", 210, b"")

    def stats(self, node: Node) -> Iterator[tuple[int, bytes]]:
        """The (device, NodeExecStats) pairs of a node."""
        if node.device == IDLE:
            return
        op = OPS[node.op]
        chance = crc32(node.name, self.step)
        # Mostly between one and three times the usual time, now and then much more, sometimes 0.
        micros = op.micros * (32 + chance % 64) // 32 if chance % 61 else op.micros * 17
        if op.micros == 1:
            micros = chance >> 8 & 1
        device = HOST if node.device == CPU else DEVICE
        launch = micros if not op.kernels else 3 + chance % 29
        yield device, self._stat(node.name, launch, self._details(node, launch))
        name = b"%s:%s" % (node.name, node.op)
        for kernel in range(op.kernels):
            label = b"%s regs:%d shm:%d grid:%d,1,1 block:256,1,1" % (
                name, 32 + kernel * 16, chance % 49152, 1 + chance % 511,
            )  # fmt: skip
            stat = self._stat(name, micros // op.kernels, block(b"\x42", label))
            yield ALL, stat
            yield STREAM, stat

    def _stat(self, name: bytes, micros: int, details: bytes) -> bytes:
        start = self.now
        self.now += 1 + micros // 4  # executions overlap
        return block(
            b"\x12",
            block(b"\x0a", name)
            + b"\x10" + varint(start)
            + b"\x18\x01"
            + (b"\x20" + varint(micros) if micros else b"")
            + b"\x28" + varint(micros + 2)
            + details,
        )  # fmt: skip

    def _details(self, node: Node, micros: int) -> bytes:
        """Memory, outputs, label and the rest: everything after the times."""
        self.count += 1
        size = 4 * elements(node.shape)
        allocator = _ALLOCATORS.get(node.device, b"GPU_0_bfc")
        kernels, outputs = OPS[node.op].kernels, output_shapes(node.op, node.shape)
        memory = stats = b""
        if kernels:
            self.in_use = (self.in_use + size) % 11_000_000_000
            memory = self._memory(allocator, size, micros)
            stats = block(b"\x62", b"\x08" + varint(256 + size % 8192 // 256 * 256))
        elif node.op == b"VariableV2":
            stats = block(b"\x62", b"\x18" + varint(size))
        label = b"%s = %s(%s)" % (node.name, node.op, b", ".join(node.inputs[:2]))
        return b"".join(
            (
                memory,
                *(self._output(slot, shape, allocator) for slot, shape in enumerate(outputs)),
                block(b"\x42", label),
                b"\x48" + varint(self.now - 5),
                b"\x50" + varint(1000 + self.count % 7),
                stats,
            )
        )

    def _memory(self, allocator: bytes, size: int, micros: int) -> bytes:
        freed = varint(-size) if size else b"\x00"
        return block(
            b"\x32",
            block(b"\x0a", allocator)
            + b"\x10" + varint(size + 1024)
            + b"\x18" + varint(size + 512)
            + b"\x20" + varint(size)
            + b"\x28" + varint(self.in_use)
            + block(b"\x32", b"\x08" + varint(self.now) + b"\x10" + varint(size))
            + block(b"\x32", b"\x08" + varint(self.now + micros) + b"\x10" + freed),
        )  # fmt: skip

    def _output(self, slot: int, shape: Shape, allocator: bytes) -> bytes:
        size = 4 * elements(shape)
        allocation = (
            b"\x08" + varint(size)
            + b"\x10" + varint(-(-size // 256) * 256)
            + block(b"\x1a", allocator)
            + b"\x20" + varint(self.count)
            + b"\x28\x01"
            + b"\x30" + varint(0x7F00_0000_0000 + self.count * 256 + slot)
        )  # fmt: skip
        tensor = _float_tensor(shape) + block(b"\x22", allocation)
        return block(b"\x3a", (b"\x08" + varint(slot) if slot else b"") + block(b"\x1a", tensor))
