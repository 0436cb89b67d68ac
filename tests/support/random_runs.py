"""Random runs of a model: RunMetadata with every kind of device, time and memory entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from case import RunMetadata
from random_values import amount, chance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

LOCAL: Final = "/job:localhost/replica:0/task:0"
CPUS: Final = (f"{LOCAL}/device:CPU:0", f"{LOCAL}/cpu:0", "/cpu:0", "/job:gpu_worker/task:1/cpu:10")
GPUS: Final = (f"{LOCAL}/device:GPU:0", f"{LOCAL}/gpu:1", "/gpu:0", "/job:cpu_farm/device:GPU:12")
STREAMS: Final = (
    *(f"{LOCAL}/device:GPU:0/stream:all", "/gpu:0/stream:all", "/device:GPU:1/stream:all"),
    *(f"{LOCAL}/device:GPU:0/stream:7", "/stream:7", "/gpu:0/memcpy", "/stream:all"),
)
OTHERS: Final = ("/host:CPU", "/device:TPU:0", "cpu:0", "/device:XLA_CPU:0", "", "/é/cpu:0")
ALLOCATORS: Final = ("cpu", "cpu", "GPU_0_bfc", "GPU_0_bfc", "GPU_1_bfc", "gpu_host_bfc", "")
STRANGERS: Final = (
    *("RecvTensor", "_SOURCE", "_SINK", "MEMCPYHtoD", "edge_3:MEMCPYDtoH", "x/MEMCPY_7"),
    *("run_only", "run/only", "a", "", "_SOURCE:x", ":y", "RecvTensor/b", "gradients/a_grad/run"),
)
SUFFIXES: Final = (":MatMul", ":MEMCPYHtoD", ":", ":a:b", "#id=1#:Add")


def make_steps(rng: Random, names: Sequence[str]) -> list[tuple[int, Any]]:
    """Up to four runs with their step numbers, in the order in which they are to be added."""
    count = rng.choice((0, 1, 1, 1, 2, 2, 3, 4))
    numbers = list(range(count))
    if chance(rng, 0.3):
        numbers = rng.sample((0, 1, 2, 3, 5, 7, 10, 100, 2**31, 2**40), count)
    if count > 1 and chance(rng, 0.25):
        numbers[-1] = numbers[0]
    homes = {name: rng.choice(rng.choice((CPUS[:2], CPUS, GPUS[:2], GPUS))) for name in names}
    return [(number, _run(rng, homes)) for number in numbers]


def _run(rng: Random, homes: dict[str, str]) -> Any:
    run = RunMetadata()
    if chance(rng, 0.04):
        run.cost_graph.node.add(name="only_cost")
        return run
    run.step_stats.SetInParent()
    base = rng.choice((1, 1_000, 1_500_000_000_000_000))
    devices = list(dict.fromkeys(homes.values()))
    for name, home in homes.items():
        if chance(rng, 0.2):
            continue
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            device = home if chance(rng, 0.9) else rng.choice(devices)
            _stats(rng, _device(run, device), name, base)
        if "gpu" in home.lower() and chance(rng, 0.7):
            _stats(rng, _device(run, rng.choice(STREAMS)), name, base)
        if chance(rng, 0.05):
            _stats(rng, _device(run, rng.choice(OTHERS)), name, base)
    _strangers(rng, run, base)
    return run


def _strangers(rng: Random, run: Any, base: int) -> None:
    """What no node of the graph asked for: other names, and devices on which nothing ran."""
    for name in rng.sample(STRANGERS, rng.choice((0, 0, 1, 3))):
        device = rng.choice((*CPUS, *GPUS, *STREAMS, *OTHERS))
        for _ in range(rng.choice((1, 1, 2))):
            _stats(rng, _device(run, device), name, base)
    if chance(rng, 0.15):
        run.step_stats.dev_stats.add(device=rng.choice((*CPUS, *GPUS, *STREAMS)))


def _device(run: Any, device: str) -> Any:
    for known in run.step_stats.dev_stats:
        if known.device == device:
            return known
    return run.step_stats.dev_stats.add(device=device)


def _stats(rng: Random, device: Any, name: str, base: int) -> None:
    suffix = rng.choice(SUFFIXES) if chance(rng, 0.15) else ""
    stats = device.node_stats.add(node_name=name + suffix)
    stats.all_start_micros = base + rng.randrange(5_000)
    if chance(rng, 0.06):
        stats.all_start_micros = rng.choice((0, 0, -1, -1_000))
    stats.op_end_rel_micros = 0 if chance(rng, 0.08) else amount(rng, negative=0.02)
    stats.all_end_rel_micros = stats.op_end_rel_micros + 3
    if chance(rng, 0.2):
        stats.op_start_rel_micros = rng.randrange(50)
        stats.all_start_nanos = stats.all_start_micros * 1_000 + 999
        stats.timeline_label = f"{name} = Op()"
        stats.thread_id = 3
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        _memory(rng, stats.memory.add())
    for slot in range(rng.choice((0, 0, 1, 1, 2))):
        _output(rng, stats.output.add(slot=slot if chance(rng, 0.9) else 0))
    if chance(rng, 0.3):
        stats.memory_stats.temp_memory_size = amount(rng, negative=0.01)
        stats.memory_stats.persistent_memory_size = amount(rng, negative=0.01)
        stats.memory_stats.device_temp_memory_size = amount(rng)
        stats.memory_stats.device_persistent_memory_size = amount(rng)


def _memory(rng: Random, memory: Any) -> None:
    memory.allocator_name = rng.choice(ALLOCATORS)
    memory.total_bytes = amount(rng, negative=0.01)
    memory.peak_bytes = amount(rng)
    memory.live_bytes = amount(rng, negative=0.03)
    memory.allocator_bytes_in_use = amount(rng)
    for _ in range(rng.choice((0, 0, 1, 3))):
        memory.allocation_records.add(alloc_micros=amount(rng), alloc_bytes=amount(rng, 0.4))


def _output(rng: Random, output: Any) -> None:
    if chance(rng, 0.1):
        return
    description = output.tensor_description
    description.dtype = 1
    description.shape.dim.add(size=rng.randrange(5))
    if chance(rng, 0.8):
        allocation = description.allocation_description
        allocation.requested_bytes = amount(rng, negative=0.01)
        allocation.allocated_bytes = allocation.requested_bytes + rng.choice((0, 0, 56, -3))
        allocation.allocator_name = "cpu"
        allocation.ptr = 1 << rng.randrange(64)
