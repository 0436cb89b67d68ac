"""A profile from a drawing, and a report back to a drawing, so that tests read like the docs.

    net/fc   op=MatMul params=2x3 us=40,40+90 bytes=100 flops=48 on=/gpu:0 types=x,y   < w, net/in

A line draws a graph node: its name, what is known of it in any order, and its inputs.

    op       NoOp where not told             params   the shape of a variable: 2x3, 1, ?x3
    on       /cpu:0 where not told           out      the shapes of its outputs, as in 2x3,1
    types    further types, by commas        flops    float operations of a run
    us       time on its device: the runs of a step by commas, the steps by +; - is no run
    gpu      time on the collected stream of its device, written likewise
    bytes    requested in each step, by +; likewise peak, residual and output
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import tfprof
from oracle import UNRESTRICTED
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.read import Source, load
from tfprof.wire.schema import message
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tfprof.model import Profile
    from tfprof.results.loaded import Loaded

_GraphDef: Final[Any] = message("tensorflow.GraphDef")
_RunMetadata: Final[Any] = message("tensorflow.RunMetadata")
_OpLogProto: Final[Any] = message("tensorflow.tfprof.OpLogProto")

_WORDS: Final = frozenset(
    "op on types params out flops us gpu bytes peak residual output".split()  # noqa: SIM905
)
_MEMORY: Final = {"bytes": "total_bytes", "peak": "peak_bytes", "residual": "live_bytes"}


@dataclass(frozen=True)
class Inputs:
    """The files that a drawing stands for; the runs are steps 0, 1, 2 and so on."""

    graph: bytes
    op_log: bytes
    runs: tuple[bytes, ...]


@dataclass(frozen=True)
class _Line:
    """A node as drawn."""

    name: str
    words: dict[str, str]
    inputs: Sequence[str]

    @classmethod
    def of(cls, line: str) -> _Line:
        drawn, _, inputs = line.partition(" < ")
        name, *words = drawn.split()
        told = dict(word.split("=", 1) for word in words)
        assert told.keys() <= _WORDS, f"no node has {sorted(told.keys() - _WORDS)}"
        return cls(name, told, [one.strip() for one in inputs.split(",") if inputs.strip()])

    def runs(self, word: str, step: int) -> list[int]:
        """The microseconds of each run in a step."""
        steps = self.words.get(word, "-").split("+")
        return [int(us) for us in steps[step].split(",") if us != "-"] if step < len(steps) else []

    def held(self, word: str, step: int) -> int:
        """The bytes of a kind in a step."""
        steps = self.words.get(word, "0").split("+")
        return int(steps[step]) if step < len(steps) else 0


def inputs(drawing: str) -> Inputs:
    """The files of the model and the runs that are drawn, in wire format."""
    lines = [_Line.of(line) for line in drawing.splitlines() if line.strip()]
    steps = max((line.words.get(w, "").count("+") + 1 for line in lines for w in ("us", "gpu")
                 if w in line.words), default=0)  # fmt: skip
    return Inputs(_graph(lines), _op_log(lines), tuple(_run(lines, step) for step in range(steps)))


def profile(drawing: str) -> Profile:
    """The profile that is drawn, read from its files."""
    files = inputs(drawing)
    return load(
        _source("the graph", files.graph) if files.graph else None,
        [_source(f"run {step}", run) for step, run in enumerate(files.runs)],
        _source("the op log", files.op_log) if files.op_log else None,
    )


def loaded(drawing: str, folder: Path) -> Loaded:
    """The profile from files in *folder*: graph, run_0 and so on, and op_log."""
    files = inputs(drawing)
    runs = {f"run_{step}": run for step, run in enumerate(files.runs)}
    for name, content in {"graph": files.graph, "op_log": files.op_log, **runs}.items():
        (folder / name).write_bytes(content)
    op_log = folder / "op_log" if files.op_log else None
    return tfprof.load(folder / "graph", [folder / name for name in runs], op_log)


def report(of: Profile, view: str = "scope", **options: Any) -> bytes:
    """The text report of a profile; options that are not named hide nothing."""
    return b"".join(text(answer(of, view, Query.of({**UNRESTRICTED, **options}))))


def rows(report: bytes) -> str:
    """A report back to a drawing: its lines, without what explains them."""
    _, _, body = report.decode().rpartition("\nProfile:\n")
    return "\n".join(body.splitlines()[1:])


def _source(name: str, data: bytes) -> Source:
    return Source(name, np.frombuffer(data, np.uint8))


def _graph(lines: Sequence[_Line]) -> bytes:
    graph = _GraphDef()
    for line in lines:
        node = graph.node.add(name=line.name, op=line.words.get("op", "NoOp"), input=line.inputs)
        if "params" in line.words:
            _draw_shape(node.attr["shape"].shape, line.words["params"])
        if "out" in line.words:
            for dims in line.words["out"].split(","):
                _draw_shape(node.attr["_output_shapes"].list.shape.add(), dims)
    return _binary(graph)


def _draw_shape(shape: Any, dims: str) -> None:
    shape.SetInParent()
    for size in dims.split("x"):
        shape.dim.add(size=-1 if size == "?" else int(size))


def _op_log(lines: Sequence[_Line]) -> bytes:
    log = _OpLogProto()
    for line in lines:
        if line.words.keys() & {"flops", "types"}:
            entry = log.log_entries.add(name=line.name, float_ops=int(line.words.get("flops", "0")))
            entry.types.extend(filter(None, line.words.get("types", "").split(",")))
    return _binary(log)


def _run(lines: Sequence[_Line], step: int) -> bytes:
    run = _RunMetadata()
    run.step_stats.SetInParent()
    devices: dict[str, Any] = {}
    clock = 1
    for line in lines:
        device = line.words.get("on", "/cpu:0")
        ran = []
        for word, place in (("us", device), ("gpu", f"{device}/stream:all")):
            for us in line.runs(word, step):
                if place not in devices:
                    devices[place] = run.step_stats.dev_stats.add(device=place)
                ran.append(devices[place].node_stats.add(node_name=line.name))
                ran[-1].all_start_micros, ran[-1].op_end_rel_micros = clock, us
                clock += us
        _draw_memory(line, step, ran)
    return _binary(run)


def _draw_memory(line: _Line, step: int, ran: Sequence[Any]) -> None:
    """Tell the first run of a step what the node held in it."""
    held = {field: line.held(word, step) for word, field in _MEMORY.items()}
    output = line.held("output", step)
    assert line.runs("us", step) or not (any(held.values()) or output), "memory is held by a run"
    if any(held.values()):
        ran[0].memory.add(allocator_name="cpu", **held)
    if output:
        ran[0].output.add().tensor_description.allocation_description.requested_bytes = output


def _binary(drawn: Any) -> bytes:
    data: bytes = drawn.SerializeToString(deterministic=True)
    return data
