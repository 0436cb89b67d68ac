"""Files of an imaginary fleet, and the numbers that belong in its dataset.

    folder/graph.pbtxt                 the training graph that every worker runs
    folder/tfprof_log                  its trainable variables and float operations
    folder/worker_0/run_meta_0 …       RunMetadata, one per worker and step

A network of twelve dense layers, 64 units each: variables and their updates on parameter servers,
products on a GPU, the rest on the CPU of the worker. Times are `base * (1 ± noise)`, then what was
planted: a slow operation of one worker, a slow step of all, a variable that makes one server large.
`Truth` counts while the files are written; nothing in it was read back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from google.protobuf import text_format

from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

_GraphDef: Final[Any] = message("tensorflow.GraphDef")
_RunMetadata: Final[Any] = message("tensorflow.RunMetadata")
_OpLogProto: Final[Any] = message("tensorflow.tfprof.OpLogProto")

LAYERS: Final = 12
_BATCH, _UNITS, _WORDS = 32, 64, 5000
_FLOAT = 4  # bytes
_EPOCH = 1_500_000_000_000_000
_STEP = 60_000_000  # microseconds between the starts of steps
CPU, GPU, SERVER = "cpu", "gpu", "server"


class Row(NamedTuple):
    """What one node did on one device in one step of one worker."""

    worker: str
    step: int
    device: str
    name: str
    op: str
    occurrence: int = 0
    micros: int = 0
    accelerator_micros: int = 0
    cpu_micros: int = 0
    bytes: int = 0
    peak_bytes: int = 0
    residual_bytes: int = 0
    output_bytes: int = 0


@dataclass(frozen=True)
class _Node:
    """A node of the graph, where it runs and how long it takes."""

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    place: str = CPU
    server: int = 0
    micros: int = 10  # on its own device
    kernel: int = 0  # on the stream of the GPU
    shape: tuple[int, ...] = (_BATCH, _UNITS)

    @property
    def size(self) -> int:
        """The bytes of its output."""
        count = _FLOAT
        for dim in self.shape:
            count *= dim
        return count

    @property
    def params(self) -> int:
        """The parameters that it holds."""
        return self.size // _FLOAT if self.op == "VariableV2" else 0

    @property
    def float_ops(self) -> int:
        """The float operations of a run, as the op log has them."""
        if self.op == "MatMul":
            return 2 * _BATCH * _UNITS * _UNITS
        return _BATCH * _UNITS if self.op == "BiasAdd" else 0


@dataclass
class Truth:
    """What the files hold."""

    nodes: dict[str, _Node]
    rows: list[Row] = field(default_factory=list)
    spans: dict[tuple[str, int], int] = field(default_factory=dict)  # last end - first start
    servers: int = 0

    @property
    def workers(self) -> list[str]:
        """The workers, in the order of their numbers."""
        return list(dict.fromkeys(row.worker for row in self.rows))

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps."""
        return sorted({row.step for row in self.rows})

    def micros(self, worker: str, step: int) -> dict[str, int]:
        """The time of each node in one step of one worker, on all of its devices."""
        return self.total("micros", worker, step)

    def total(self, metric: str, worker: str, step: int) -> dict[str, int]:
        """A metric of each node in one step of one worker, on all of its devices."""
        sums: dict[str, int] = {}
        for row in self.rows:
            if (row.worker, row.step) == (worker, step):
                sums[row.name] = sums.get(row.name, 0) + getattr(row, metric)
        return sums

    @property
    def server_params(self) -> list[int]:
        """The parameters that each server holds."""
        held = [0] * self.servers
        for node in self.nodes.values():
            if node.params:
                held[node.server] += node.params
        return held


def write_fleet(  # noqa: PLR0913, PLR0917 - what can be planted
    folder: Path,
    workers: int = 4,
    steps: int = 3,
    seed: int = 0,
    slow: tuple[str, str, float] | None = None,
    slow_step: tuple[int, float] | None = None,
    servers: int = 2,
    skew: int | None = None,
    graph: str = "shared",
    *,
    first_step: int = 0,
    noise: float = 0.05,
) -> Truth:
    """Write the files of a fleet; further steps of the same fleet with *first_step*.

    *slow*: (worker, type or name of nodes, factor). *slow_step*: (step, factor) for all workers.
    *skew*: the server that also holds a large variable. *graph*: "shared" is one file for all,
    "each" the same graph in the folder of each worker, "different" likewise, but that of the last
    worker has one layer more.
    """
    shared = _nodes(LAYERS, servers, skew)
    more = _nodes(LAYERS + 1, servers, skew) if graph == "different" else shared
    truth = Truth({node.name: node for node in more}, servers=servers)
    folder.mkdir(parents=True, exist_ok=True)
    if graph == "shared":
        _write_graph(folder, shared)
    for number in range(workers):
        worker = f"worker_{number}"
        (folder / worker).mkdir(exist_ok=True)
        nodes = more if number == workers - 1 else shared
        if graph != "shared":
            _write_graph(folder / worker, nodes)
        for step in range(first_step, first_step + steps):
            rng = Random(f"{seed} {worker} {step}")  # noqa: S311
            times = []
            for node in nodes:
                factor = rng.uniform(1 - noise, 1 + noise)
                if slow and worker == slow[0] and slow[1] in (node.op, node.name):
                    factor *= slow[2]
                if slow_step and step == slow_step[0]:
                    factor *= slow_step[1]
                times.append((node, round(node.micros * factor), round(node.kernel * factor)))
            run = _Run(worker, number, step, truth)
            for node, micros, kernel in times:
                run.add(node, micros, kernel)
            (folder / worker / f"run_meta_{step}").write_bytes(run.finish())
    return truth


def _nodes(layers: int, servers: int, skew: int | None) -> list[_Node]:
    """The graph: forward, back, updates. Each server holds the same, but for *skew*."""
    nodes = [_Node("input", "Placeholder", micros=5)]
    back: list[_Node] = []
    updates: list[_Node] = []
    gradient = "loss"
    if skew is not None:
        nodes += _variable("embedding/weights", (_WORDS, _UNITS), skew, micros=20)
    for layer in range(layers):
        scope, server = f"layer_{layer}", layer % servers
        before = f"layer_{layer - 1}/Relu" if layer else "input"
        nodes += _variable(f"{scope}/weights", (_UNITS, _UNITS), server)
        nodes += _variable(f"{scope}/bias", (_UNITS,), server)
        nodes += [
            _Node(f"{scope}/MatMul", "MatMul", (before, f"{scope}/weights/read"), GPU, 0, 12, 400),
            _Node(
                f"{scope}/BiasAdd", "BiasAdd", (f"{scope}/MatMul", f"{scope}/bias/read"), micros=40
            ),
            _Node(f"{scope}/Relu", "Relu", (f"{scope}/BiasAdd",), micros=30),
        ]
    nodes.append(_Node("loss", "Mean", (f"layer_{layers - 1}/Relu",), micros=25, shape=()))
    for layer in reversed(range(layers)):
        scope, server = f"layer_{layer}", layer % servers
        grad = f"gradients/{scope}"
        before = f"layer_{layer - 1}/Relu" if layer else "input"
        back += [
            _Node(f"{grad}/Relu_grad", "ReluGrad", (gradient, f"{scope}/Relu"), micros=35),
            _Node(f"{grad}/BiasAdd_grad", "BiasAddGrad", (f"{grad}/Relu_grad",), shape=(_UNITS,)),
            _Node(
                f"{grad}/MatMul_grad/MatMul", "MatMul",
                (f"{grad}/Relu_grad", f"{scope}/weights/read"), GPU, 0, 12, 420,
            ),
            _Node(
                f"{grad}/MatMul_grad/MatMul_1", "MatMul",
                (before, f"{grad}/Relu_grad"), GPU, 0, 12, 410, (_UNITS, _UNITS),
            ),
        ]  # fmt: skip
        gradient = f"{grad}/MatMul_grad/MatMul"
        for variable, source in (("weights", "MatMul_grad/MatMul_1"), ("bias", "BiasAdd_grad")):
            inputs = (f"{scope}/{variable}", "train/learning_rate", f"{grad}/{source}")
            shape = (_UNITS, _UNITS) if variable == "weights" else (_UNITS,)
            name, op = f"train/update_{scope}/{variable}", "ApplyGradientDescent"
            updates.append(_Node(f"{name}/{op}", op, inputs, SERVER, server, 60, shape=shape))
    return [*nodes, *back, _Node("train/learning_rate", "Const", micros=1, shape=()), *updates]


def _variable(name: str, shape: tuple[int, ...], server: int, micros: int = 3) -> list[_Node]:
    read = _Node(f"{name}/read", "Identity", (name,), SERVER, server, 4, shape=shape)
    return [replace(read, name=name, op="VariableV2", inputs=(), micros=micros), read]


class _Run:
    """The RunMetadata of one step of one worker."""

    def __init__(self, worker: str, number: int, step: int, truth: Truth) -> None:
        self.worker, self.number, self.step, self.truth = worker, number, step, truth
        self.run = _RunMetadata()
        self.run.step_stats.SetInParent()
        self.devices: dict[str, Any] = {}
        self.first = self.clock = self.last = _EPOCH + step * _STEP

    def add(self, node: _Node, micros: int, kernel: int) -> None:
        """A node that runs when the one before has ended; its kernel starts in the middle."""
        of_server = node.place == SERVER
        job, task = ("ps", node.server) if of_server else ("worker", self.number)
        kind = "GPU" if node.place == GPU else "CPU"
        device = f"/job:{job}/replica:0/task:{task}/device:{kind}:0"
        stat = self._stat(device, node.name, self.clock, micros)
        stat.timeline_label = f"{node.name} = {node.op}({', '.join(node.inputs)})"
        held = (0, 0, 0)
        if node.op == "VariableV2":
            stat.memory_stats.persistent_memory_size = node.size
            held = (node.size, node.size, node.size)
        elif node.op in {"MatMul", "BiasAdd", "ReluGrad"}:
            held = (node.size + 1024, node.size + 512, node.size)
            stat.memory.add(
                allocator_name="GPU_0_bfc" if node.place == GPU else "cpu",
                total_bytes=held[0], peak_bytes=held[1], live_bytes=held[2],
            )  # fmt: skip
        output = stat.output.add().tensor_description
        output.allocation_description.requested_bytes = node.size
        for dim in node.shape:
            output.shape.dim.add(size=dim)
        self._row(device, node, 1, micros, 0, micros, *held, node.size)
        if kernel:
            stream = f"{device}/stream:all"
            self._stat(stream, f"{node.name}:{node.op}", self.clock + micros // 2, kernel)
            self._row(stream, node, 0, kernel, kernel)
        self.clock += max(micros, micros // 2 + kernel)

    def finish(self) -> bytes:
        """The bytes of the file, after what every run has besides the graph's nodes."""
        worker = f"/job:worker/replica:0/task:{self.number}/device:CPU:0"
        self._stat(worker, "_SOURCE", self.first, 1)
        self._stat(worker, "RecvTensor", self.first, 1)
        self.truth.spans[self.worker, self.step] = self.last - self.first
        data: bytes = self.run.SerializeToString(deterministic=True)
        return data

    def _row(self, device: str, node: _Node, *numbers: int) -> None:
        row = Row(self.worker, self.step, device.lower(), node.name, node.op, *numbers)
        self.truth.rows.append(row)

    def _stat(self, device: str, name: str, start: int, micros: int) -> Any:
        if device not in self.devices:
            self.devices[device] = self.run.step_stats.dev_stats.add(device=device)
        stat = self.devices[device].node_stats.add(node_name=name)
        stat.all_start_micros, stat.op_end_rel_micros = start, micros
        self.last = max(self.last, start + micros)
        return stat


def _write_graph(folder: Path, nodes: list[_Node]) -> None:
    graph, log = _GraphDef(), _OpLogProto()
    for node in nodes:
        drawn = graph.node.add(name=node.name, op=node.op, input=node.inputs)
        shapes = [drawn.attr["_output_shapes"].list.shape.add()]
        if node.params:
            shapes.append(drawn.attr["shape"].shape)
        for shape in shapes:
            shape.SetInParent()
            for dim in node.shape:
                shape.dim.add(size=dim)
        entry = log.log_entries.add(name=node.name, float_ops=node.float_ops)
        if node.params:
            entry.types.append("_trainable_variables")
    (folder / "graph.pbtxt").write_text(text_format.MessageToString(graph), "utf-8")
    (folder / "tfprof_log").write_bytes(log.SerializeToString(deterministic=True))
