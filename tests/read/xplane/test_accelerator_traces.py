"""Traces of GPUs and TPUs, put together by hand after real files of 2020 to 2026.

Every expected time is the sum of the durations beside it, in microseconds.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from hlo_events import notes
from tfprof.model import Profile
from tfprof.read.xplane import with_trace
from xplane_traces import Event, environment, host, micros, plane, trace

SYMBOL: Final = "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(Params)"


def read(*planes: bytes) -> Profile:
    return with_trace(Profile(), trace(*planes, environment()))


def types(profile: Profile) -> dict[str, str]:
    """The operation type of each node."""
    ops = (profile.types[int(op)].decode() for op in profile.nodes.op)
    return dict(zip(profile.nodes.name.texts(), ops, strict=True))


# --- JAX on a GPU -----------------------------------------------------------------------------


def kernel(
    start: float, long: float, op: str, module: str = "jit_loss_fn", **stats: int | str
) -> Event:
    """A kernel that XLA launched; its operation is the useless word `XlaModule:`."""
    own: list[tuple[str, Any]] = [("tf_op", "XlaModule:"), ("hlo_op", op), ("hlo_module", module)]
    symbol = SYMBOL if op.startswith("custom-call") else f"{op.replace('.', '_')}.kd"
    return Event(symbol, start, long, stats=[*own, ("program_id", 7), *stats.items()])


def jax_on_gpu() -> Profile:
    name = "jit(loss_fn)/jvp(bsd,de->bse)/dot_general"
    compute = [
        kernel(10, 20, "loop_reduce_fusion.1"),
        kernel(30, 50, "custom-call.3", name=name),
        kernel(90, 7, "loop_reduce_fusion.1"),
        kernel(100, 11, "loop_reduce_fusion.1", "jit_update"),
        Event("MemcpyD2D", 120, 3, stats=[("memcpy_details", "size:4 dest:4 async:1")]),
    ]
    launches = [kernel(1, 2, "loop_reduce_fusion.1", device_id=0), kernel(4, 2, "custom-call.3")]
    lines = {
        "Stream #13(Compute)": compute,
        "XLA Modules": [Event("jit_loss_fn(7)", 10, 87)],
        "XLA Ops": [Event("loop_reduce_fusion.1", 10, 20)],
        "Steps": [Event("1", 10, 110)],
    }
    host_lines = {"python": [], "Host Threads/12": launches}
    devices = plane("/device:GPU:0", lines), plane("/device:GPU:1", {})
    return read(*devices, plane("/host:CPU", host_lines))


def test_kernels_of_jax_are_instructions_of_their_modules() -> None:
    profile = jax_on_gpu()
    assert micros(profile) == {
        "jit_loss_fn/loop_reduce_fusion.1": 20 + 7,
        "jit_loss_fn/custom-call.3": 50,
        "jit_update/loop_reduce_fusion.1": 11,
        "MemcpyD2D": 3,
    }


def test_an_instruction_has_the_type_in_its_name() -> None:
    made = types(jax_on_gpu())
    assert made["jit_loss_fn/loop_reduce_fusion.1"] == "loop_reduce_fusion"
    assert made["jit_loss_fn/custom-call.3"] == "custom-call"


def test_all_time_of_jax_is_of_the_accelerator() -> None:
    profile = jax_on_gpu()
    assert int(profile.values("accelerator_micros", 0).sum()) == 20 + 50 + 7 + 11 + 3


def test_the_hints_of_tensorflow_are_not_for_jax() -> None:
    assert "TF_CPU_ALLOCATOR_USE_BFC" not in notes(jax_on_gpu())
    with_tensorflow = read(host(Event("net/MatMul:MatMul", 0, 5)))
    assert "TF_CPU_ALLOCATOR_USE_BFC" in notes(with_tensorflow)


def instruction(start: float, long: float, name: str, category: str, program: int = 5) -> Event:
    return Event(
        f"%{name} = (f32[8,128]{{1,0:T(8,128)}}) {category}(%param.1), metadata={{}}",
        start,
        long,
        display=name,
        stats=[("device_offset_ps", 1), ("device_duration_ps", 1)],
        kind_stats=(
            ("hlo_category", category),
            ("program_id", program),
            ("flops", 1000),
            ("tf_op", "jit(step)/jit(main)/dot_general:dot_general"),
        ),
    )


def jax_on_tpu() -> Profile:
    modules = [
        Event("jit_step(5)", 0, 100, stats=[("run_id", 1)]),
        Event("jit_step(6)", 100, 100, stats=[("run_id", 2)]),
        Event("jit_eval(9)", 200, 50, stats=[("run_id", 3)]),
    ]
    ops = [
        instruction(0, 40, "fusion.1", "convolution fusion"),
        instruction(40, 30, "fusion.2", "convolution fusion"),
        instruction(70, 10, "copy-done.2", "copy-done"),
        instruction(80, 5, "fusion.1", "convolution fusion"),
        instruction(100, 60, "fusion.1", "convolution fusion", program=6),
        instruction(200, 25, "while.3", "while", program=9),
        instruction(205, 15, "fusion.1", "loop fusion", program=9),
    ]
    in_flight = [instruction(10, 80, "copy-start.2", "copy-start")]
    lines = {
        "XLA Modules": modules, "XLA Ops": ops, "Async XLA Ops": in_flight,
        "XLA TraceMe": [Event("x", 0, 90)], "Steps": [Event("1", 0, 250)],
    }  # fmt: skip
    return read(plane("/device:TPU:0", lines), host(Event("PjitFunction(step)", 0, 9)))


def test_a_tpu_has_one_row_per_instruction_of_a_program() -> None:
    assert micros(jax_on_tpu()) == {
        "jit_step(5)/fusion.1": 40 + 5, "jit_step(5)/fusion.2": 30, "jit_step(5)/copy-done.2": 10,
        "jit_step(6)/fusion.1": 60, "jit_eval/while.3": 25 - 15, "jit_eval/fusion.1": 15,
    }  # fmt: skip


def test_the_types_of_a_tpu_are_its_categories() -> None:
    profile = jax_on_tpu()
    time, made = Counter[str](), types(profile)
    for name, us in micros(profile).items():
        time[made[name]] += us
    assert time == {
        "convolution fusion": 40 + 5 + 30 + 60, "copy-done": 10, "while": 25 - 15,
        "loop fusion": 15,
    }  # fmt: skip


# --- TensorFlow on a GPU ----------------------------------------------------------------------


def test_kernels_of_older_releases_have_an_annotation() -> None:
    def annotated(start: float, long: float, text: str) -> Event:
        return Event(SYMBOL, start, long, stats=[("annotation", text), ("level 0", "x")])

    compute = [
        annotated(0, 9, "net/dense/MatMul:MatMul#shape=(float[3,4];float[4,5])#"),
        annotated(9, 4, "net/while:While#id=1#::net/while/body/Add:AddV2#shape=(int32[3])#"),
    ]
    copies = [
        annotated(20, 6, "n/_7:_HostRecv#from=A,to=B#::#edge_name=edge_12_x#"),
        annotated(30, 1, "MakeTensorFromProto"),
    ]
    lines = {
        "Stream #134(Compute)": compute,
        "Stream #135(MemcpyH2D)": copies,
        "TensorFlow Ops": [Event("net/dense/MatMul", 0, 9, display="MatMul")],
        "TensorFlow Name Scope": [Event("net", 0, 13)],
    }
    profile = read(plane("/device:GPU:0", lines))
    assert micros(profile) == {
        "net/dense/MatMul": 9, "net/while/body/Add": 4, "n/_7": 6, "MakeTensorFromProto": 1,
    }  # fmt: skip
    assert types(profile)["net/while/body/Add"] == "AddV2"


def test_kernels_without_an_annotation_have_the_operation_that_runs() -> None:
    compute = [Event(SYMBOL, 1, 4), Event(SYMBOL, 6, 3), Event(SYMBOL, 20, 2)]
    operations = [
        Event("net/dense/MatMul", 1, 4, display="MatMul"),
        Event("net/dense/Relu", 6, 3, display="Relu"),
    ]
    lines = {"Stream #1(Compute)": compute, "TensorFlow Ops": operations}
    profile = read(plane("/device:GPU:0", lines))
    assert micros(profile) == {"net/dense/MatMul": 4, "net/dense/Relu": 3, SYMBOL: 2}
    assert types(profile)["net/dense/Relu"] == "Relu"


def test_a_device_with_operations_alone_counts_these() -> None:
    operations = [Event("net/dense/MatMul", 1, 4, display="MatMul")]
    scopes = [Event("net", 1, 4)]
    lines = {"TensorFlow Ops": operations, "TensorFlow Name Scope": scopes}
    assert micros(read(plane("/device:GPU:0", lines))) == {"net/dense/MatMul": 4}


def test_what_xla_compiled_for_tensorflow_is_of_its_node() -> None:
    module = ("hlo_module", "a_inference_step_12__XlaMustCompile_true_config_proto_3__.45")
    fused = [("tf_op", "net/dense/Relu:Relu"), ("hlo_op", "fusion.2"), module]
    added = [("hlo_op", "copy.4"), module]
    compute = [Event("fusion_2", 0, 9, stats=fused), Event("copy_4", 9, 2, stats=added)]
    profile = read(plane("/device:GPU:0", {"Stream #1(Compute)": compute}))
    assert micros(profile) == {"net/dense/Relu": 9, "__inference_step_12/copy.4": 2}
