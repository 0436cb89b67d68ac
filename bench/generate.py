"""Write realistic profiler inputs of any size.

    python bench/generate.py OUT_DIR N [--steps S] [--text]

    OUT_DIR/graph.pb                GraphDef, N nodes
    OUT_DIR/run_meta_0 …            RunMetadata, one a step, about two stats a node
    OUT_DIR/tfprof_log              OpLogProto: types, float operations, call stacks
    OUT_DIR/graph.pbtxt             with --text: the same graph as protobuf prints it
    OUT_DIR/graph_line.pbtxt        and again on one line, as protobuf prints it where asked to

The bytes are spelled directly, in canonical field order, record by record: no protobuf, no
TensorFlow, memory that does not grow with N, and the same files every time.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

from encode import block, varint
from model import CPU, Model, model
from ops import OPS, attributes, elements
from stacks import Stacks
from steps import DEVICES, Run

if TYPE_CHECKING:
    from model import Node

_CHUNK = 1 << 20
_PRODUCER = 27  # the graph version TensorFlow 1.12 wrote
_PLACES = {CPU: b"/device:CPU:0"}


def _device(node: Node) -> bytes:
    return _PLACES.get(node.device, b"/device:GPU:0")


def write_graph(path: Path, network: Model) -> None:
    """The graph in binary."""
    with path.open("wb", buffering=_CHUNK) as out:
        for node in network.nodes():
            fields = [b"\x0a" + varint(len(node.name)) + node.name, block(b"\x12", node.op)]
            fields += [block(b"\x1a", each) for each in node.inputs]
            fields.append(block(b"\x22", _device(node)))
            fields.append(attributes(node.op, node.shape, node.variable).wire)
            out.write(block(b"\x0a", b"".join(fields)))
        out.write(block(b"\x22", b"\x08" + varint(_PRODUCER)))


def write_text(path: Path, network: Model) -> None:
    """The graph in text."""
    with path.open("wb", buffering=_CHUNK) as out:
        for node in network.nodes():
            out.write(b'node {\n  name: "%s"\n  op: "%s"\n' % (node.name, node.op))
            out.write(b"".join(b'  input: "%s"\n' % each for each in node.inputs))
            out.write(b'  device: "%s"\n' % _device(node))
            out.write(attributes(node.op, node.shape, node.variable).text)
            out.write(b"}\n")
        out.write(b"versions {\n  producer: %d\n}\n" % _PRODUCER)


def write_line(path: Path, printed: Path) -> None:
    """A text graph on one line. Strings hold no line breaks: those are spelled out in text."""
    with printed.open("rb") as lines, path.open("wb", buffering=_CHUNK) as out:
        out.writelines(line.strip() + b" " for line in lines)


def write_run(path: Path, network: Model, step: int) -> None:
    """One step. Lengths stand before contents, so each device is gathered in a file of its own."""
    run = Run(step)
    with ExitStack() as files:
        parts: list[IO[bytes]] = [
            files.enter_context(tempfile.TemporaryFile(dir=path.parent, buffering=_CHUNK))
            for _ in DEVICES
        ]
        for device, stat in run.noise():
            parts[device].write(stat)
        for node in network.nodes():
            for device, stat in run.stats(node):
                parts[device].write(stat)
        names = [block(b"\x0a", name) for name in DEVICES]
        sizes = [len(name) + part.tell() for name, part in zip(names, parts, strict=True)]
        total = sum(1 + len(varint(size)) + size for size in sizes)
        with path.open("wb", buffering=_CHUNK) as out:
            out.write(b"\x0a" + varint(total))
            for name, size, part in zip(names, sizes, parts, strict=True):
                out.write(b"\x0a" + varint(size) + name)
                part.seek(0)
                shutil.copyfileobj(part, out, _CHUNK)


def write_log(path: Path, network: Model) -> None:
    """The op log: an entry a node, then the strings."""
    stacks = Stacks()
    with path.open("wb", buffering=_CHUNK) as out:
        for node in network.nodes():
            entry = block(b"\x0a", node.name)
            flops = OPS[node.op].flops * abs(elements(node.shape))
            if flops:
                entry += b"\x10" + varint(flops)
            if node.trained:
                entry += block(b"\x1a", b"_trainable_variables")
            out.write(block(b"\x0a", entry + block(b"\x22", stacks.code(node))))
        for string, number in stacks.strings.items():
            out.write(block(b"\x12", b"\x08" + varint(number) + block(b"\x12", string.encode())))


def generate(folder: Path, nodes: int, steps: int = 1, *, text: bool = False) -> None:
    """All files of a profile of that many nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    network = model(nodes)
    write_graph(folder / "graph.pb", network)
    write_log(folder / "tfprof_log", network)
    for step in range(steps):
        write_run(folder / f"run_meta_{step}", network, step)
    if text:
        printed = folder / "graph.pbtxt"
        write_text(printed, network)
        write_line(folder / "graph_line.pbtxt", printed)


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Write realistic profiler inputs.")
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("nodes", type=int)
    parser.add_argument("--steps", type=int, default=1, help="how many RunMetadata files")
    parser.add_argument("--text", action="store_true", help="also write the graph as text")
    given = parser.parse_args()
    generate(given.out_dir, given.nodes, given.steps, text=given.text)


if __name__ == "__main__":
    main()
