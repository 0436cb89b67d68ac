"""Traces of JAX on GPUs and TPUs, put together by hand around real programs of data/hlo.

Their layout is that of real files of 2024 to 2026. The HLO is that of a CPU, since no accelerator
is at hand; what a trace says of it does not depend on that. Each instruction takes as many
microseconds as its place in the program, from 1; so no two take the same time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import hlo_oracle
from hlo_recorded import content
from xplane_traces import Event, environment, plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hlo_oracle import Instruction, Module
    from xplane_traces import Stat

PROGRAM: Final = 7
"""The number of the program in a trace."""
OTHER: Final = 8
"""That of another, which has no HLO in the trace and an instruction of the same name."""
PEAK: Final = {"teraflops": 197.0, "gigabytes": 819.0}
"""What a TPU can do in a second, as its plane has it."""

# They take no time.
_FREE: Final = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}


class JaxTrace(NamedTuple):
    """The bytes of a trace, and what must be found in them."""

    data: bytes
    module: str
    micros: dict[str, int]  # of each instruction, in all steps
    other: dict[str, int]  # of what the program does not have
    steps: int


def metadata(name: str) -> bytes:
    """The plane that holds the program."""
    stats: tuple[tuple[str, Stat], ...] = (("Hlo Proto", content(name)), ("program_id", PROGRAM))
    return plane("/host:metadata", {}, [Event(f"jit_{name}({PROGRAM})", kind_stats=stats)])


def executed(module: Module, computation: int) -> list[Instruction]:
    """The instructions of a computation that take time."""
    every = (module.instructions[number] for number in module.computations[computation])
    return [one for one in every if one.opcode not in _FREE]


def _annotations(steps: list[Event]) -> list[Event]:
    """What StepTraceAnnotation leaves on the host while these steps run."""
    return [
        Event("train", step.start, step.long, stats=[("step_num", int(step.name)), ("_r", 1)])
        for step in steps
    ]


# --- GPU --------------------------------------------------------------------------------------


def on_gpu(name: str = "flax_nnx", steps: int = 2) -> JaxTrace:
    """Kernels on a stream, copies on another, and lines that repeat the time of both."""
    module = hlo_oracle.module(content(name))
    kernels, ops, modules, markers, launches = ([] for _ in range(5))
    micros: dict[str, int] = {}
    instructions = executed(module, module.entry)
    now = 10
    for step in range(steps):
        start = now
        for long, one in enumerate(instructions, 1):
            kernels.append(_kernel(one, now, long, f"jit_{name}", PROGRAM))
            ops.append(Event(one.name, now, long))
            launches.append(_kernel(one, now - 8, 1, f"jit_{name}", PROGRAM, device_id=0))
            micros[one.name] = micros.get(one.name, 0) + long
            now += long + 1
        modules.append(Event(f"jit_{name}({PROGRAM})", start, now - start))
        kernels.append(_kernel(instructions[0], now, 5, "jit_update", OTHER))
        markers.append(Event(str(step), start, now + 6 - start))
        now += 10
    copy = Event("MemcpyH2D", 4, 3, stats=[("memcpy_details", "size:4 dest:4 async:1")])
    lines = {
        "Stream #13(Compute)": kernels,
        "Stream #14(MemcpyH2D)": [copy],
        "Steps": markers,
        "XLA Modules": modules,
        "XLA Ops": ops,
        "Framework Ops": ops,
        "Source code": ops,
    }
    device = plane(
        "/device:GPU:0", lines, device_vendor="Nvidia", compute_cap_major=8, core_count=108,
        memory_bandwidth=1_555_000_000_000,
    )  # fmt: skip
    threads = {"python": _annotations(markers), "Host Threads/12": launches}
    others = plane("/device:GPU:1", {}) + plane("/host:CPU", threads) + environment()
    return JaxTrace(
        metadata(name) + device + others,
        f"jit_{name}",
        micros,
        {instructions[0].name: 5 * steps},
        steps,
    )


def _kernel(
    one: Instruction, start: float, long: float, module: str, program: int, **more: int
) -> Event:
    """A kernel: its name is a symbol, and every second has JAX's name stack."""
    stats: list[tuple[str, int | str]] = [
        ("correlation_id", int(start)),
        ("kernel_details", "regs:38 shm:0 grid:160,1,1 block:1024,1,1"),
        ("tf_op", "XlaModule:"),
        ("hlo_op", one.name),
        ("hlo_module", module),
        ("program_id", program),
    ]
    if one.scope and int(long) % 2:
        stats.append(("name", one.scope))
    return Event(
        one.name.replace(".", "_").replace("-", "_"), start, long, stats=[*stats, *more.items()]
    )


# --- TPU --------------------------------------------------------------------------------------


def on_tpu(name: str = "scanned", steps: int = 2) -> JaxTrace:
    """Instructions on one line; that of a loop lasts as long as all that runs in it.

    The time of an instruction is what it takes less what others take inside of it.
    """
    module = hlo_oracle.module(content(name))
    texts = _texts(name)
    micros: dict[str, int] = {}
    ops, modules, markers = [], [], []
    now = 0
    for step in range(steps):
        start = now
        for one, begin, long, own in _timeline(module, module.entry, now):
            ops.append(_instruction(one, texts[one.name], begin, long))
            micros[one.name] = micros.get(one.name, 0) + own
            now = max(now, begin + long)
        modules.append(
            Event(f"jit_{name}({PROGRAM})", start, now - start, stats=[("run_id", step)])
        )
        markers.append(Event(str(step), start, now - start))
        now += 10
    in_flight = Event(
        "%copy-start.99 = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%p)",
        *(1, 50, "copy-start.99"),
        kind_stats=(("hlo_category", "copy-start"), ("program_id", PROGRAM)),
    )
    lines = {
        "XLA Modules": modules,
        "XLA Ops": ops,
        "Async XLA Ops": [in_flight],
        "XLA TraceMe": [Event("x", 0, 90)],
        "Steps": markers,
    }
    device = plane(
        "/device:TPU:0", lines, device_type_string="TPU v5 lite",
        peak_teraflops_per_second=PEAK["teraflops"],
        peak_hbm_bw_gigabytes_per_second=PEAK["gigabytes"],
    )  # fmt: skip
    others = plane("/host:CPU", {"python": _annotations(markers)}) + environment()
    return JaxTrace(metadata(name) + device + others, f"jit_{name}", micros, {}, steps)


def _timeline(
    module: Module, computation: int, now: int
) -> Iterator[tuple[Instruction, int, int, int]]:
    """Each run of an instruction: when, how long, and how much of it is its own."""
    for own, one in enumerate(executed(module, computation), 1):
        inside: list[tuple[Instruction, int, int, int]] = []
        end = now + own
        if one.opcode == "while":
            for _ in range(one.trips or 1):
                for called in one.calls:
                    inside += _timeline(module, called, end)
                    end = max([end, *(begin + long for _, begin, long, _ in inside)])
        yield one, now, end - now, own
        yield from inside
        now = end


def _instruction(one: Instruction, text: str, start: int, long: int) -> Event:
    stats: tuple[tuple[str, Stat], ...] = (
        ("hlo_category", "loop fusion" if one.opcode == "fusion" else one.opcode),
        ("program_id", PROGRAM),
        ("symbol_id", sum(map(ord, one.name))),
        ("flops", 1000),
        ("bytes_accessed", 4096),
        ("source", "hlo_models.py:12"),
        ("tf_op", f"{one.scope}:{one.scope.rpartition('/')[2]}"),
    )
    own: list[tuple[str, int | str]] = [("device_offset_ps", start), ("device_duration_ps", 1)]
    return Event(text, start, long, one.name, own, stats)


@cache
def _texts(name: str) -> dict[str, str]:
    """The line of each instruction in the program's text, as a TPU's events are named."""
    text = content(name, "txt").decode()
    lines = re.findall(r"(?m)^\s+(?:ROOT )?(%(\S+) = .*?)(?:, metadata=.*)?$", text)
    return {name: line for line, name in lines}
