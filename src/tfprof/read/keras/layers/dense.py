"""Dense layers and embeddings, also quantized and with LoRA."""

from __future__ import annotations

from typing import Final

from tfprof.read.keras.graph import BOOL, INT32, Call, Tensor, known, layer
from tfprof.read.keras.layers.activation import activated
from tfprof.read.keras.weight_rules import einsum_lengths

_MATRIX: Final = 2


def kernel(call: Call, name: str, *dims: int) -> Tensor:
    """A weight of these dimensions: unpacked from int4, with the product of LoRA's matrices."""
    weight = call.weight(name)
    if call.has("g_idx"):
        block = call.weight("g_idx")
        parts = (call.weight(f"{name}_{part}") for part in ("scale", "zero"))
        scale, zero = (call.op("GatherV2", part, block, 0) for part in parts)
        weight = call.op("Mul", call.op("Sub", _unpacked(call, weight, scale), zero), scale)
        weight = call.op("Reshape", weight, dims)
    if call.has(f"lora_{name}_a"):
        left, right = call.weight(f"lora_{name}_a"), call.weight(f"lora_{name}_b")
        kind = "MatMul" if len(dims) == _MATRIX else "BatchMatMulV2"
        weight = call.op("AddV2", weight, call.op("Mul", call.op(kind, left, right), 1.0))
    return weight


def _unpacked(call: Call, halves: Tensor, like: Tensor) -> Tensor:
    """Numbers of which two share a byte, as many as another tensor has."""
    both = call.joined(halves, halves, axis=-1, dtype=None)
    shape = call.shape_of(like)
    return call.op("Slice", both, call.op("ZerosLike", shape, dtype=INT32), shape)


def product(call: Call, x: Tensor, weight: Tensor, rank: int) -> Tensor:
    """Rows times a matrix."""
    return call.op("MatMul" if rank == _MATRIX else "BatchMatMulV2", x, weight)


def _scaled_input(call: Call) -> tuple[Tensor, Tensor]:
    """(the input as int8, the scale of each row)."""
    most = call.reduced("Max", call.op("Abs", call.x), [-1])
    scale = call.op("RealDiv", 1.0, call.op("AddV2", most, 1.0))
    whole = call.op("Round", call.op("Mul", call.x, scale))
    for kind in ("Maximum", "Minimum"):
        whole = call.op(kind, whole, 1.0)
    return whole, scale


@layer("Dense")
def dense(call: Call) -> Tensor:
    """Rows times the kernel, a bias and an activation."""
    if call.has("kernel_scale") and not call.has("g_idx"):
        x, scale = _scaled_input(call)
        y = product(call, x, call.weight("kernel"), call.rank)
        y = call.op("RealDiv", y, call.op("Mul", scale, call.weight("kernel_scale")))
        if call.has("lora_kernel_a"):
            part = product(call, call.x, call.weight("lora_kernel_a"), call.rank)
            part = product(call, part, call.weight("lora_kernel_b"), call.rank)
            y = call.op("AddV2", y, call.op("Mul", part, 1.0))
    else:
        dims = int(call.sides[-1] or 0), int(call.config["units"])
        y = product(call, call.x, kernel(call, "kernel", *dims), call.rank)
    return activated(call, call.biased(y))


@layer("EinsumDense")
def einsum_dense(call: Call) -> Tensor:
    """A sum of products, a bias and an activation."""
    equation, x = str(call.config["equation"]), call.x
    lengths = einsum_lengths(call.config, call.sides)
    labels = equation.replace(" ", "").partition("->")[0].split(",")[1]
    weight = kernel(call, "kernel", *(int(lengths[label] or 0) for label in labels))
    if not call.has("kernel_scale") or call.has("g_idx"):
        return activated(call, projected(call, x, equation, weight))
    x, scale = _scaled_input(call)
    y = call.op("Einsum", x, weight, equation=equation, N=2)
    y = call.op("RealDiv", y, call.op("Mul", scale, call.weight("kernel_scale")))
    return activated(call, call.biased(y, "AddV2"))


def projected(call: Call, x: Tensor, equation: str, weight: Tensor, bias: str = "bias") -> Tensor:
    """An einsum of a tensor with a kernel, and a bias."""
    y = call.op("Einsum", x, weight, equation=equation, N=2)
    return call.op("AddV2", y, call.weight(bias)) if call.has(bias) else y


@layer("Embedding ReversibleEmbedding")
def embedding(call: Call) -> Tensor:
    """Rows of a table; or back: products with all of its rows."""
    if call.options.get("kwargs", {}).get("reverse"):
        name = "reverse_embeddings" if call.has("reverse_embeddings") else "embeddings"
        tied = name == "embeddings"
        return call.op("BatchMatMulV2", call.x, call.weight(name), adj_y=tied)
    known(call.x)
    below = call.op("Less", call.x, 0, dtype=BOOL)
    rows = call.op("SelectV2", below, call.op("AddV2", call.x, 0, dtype=INT32), call.x)
    table = call.weight("embeddings") if call.has("g_idx") else kernel(call, "embeddings", 0, 0)
    found = call.op("GatherV2", table, rows, 0)
    if call.has("g_idx"):
        parts = (call.weight(f"embeddings_{part}") for part in ("scale", "zero"))
        picked = (call.op("GatherV2", part, rows, 0) for part in parts)
        scale, zero = (call.op("GatherV2", each, call.weight("g_idx"), -1) for each in picked)
        return call.op("Mul", call.op("Sub", _unpacked(call, found, scale), zero), scale)
    if call.has("embeddings_scale"):
        scale = call.op("GatherV2", call.weight("embeddings_scale"), rows, 0)
        found = call.op("RealDiv", found, call.expanded(scale, -1))
    return found
