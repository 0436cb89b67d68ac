"""Custom calls of HLO: float operations by the target that they name.

    __cublas$gemm            a dot; its dimensions are in the configuration
    __cudnn$convForward      a convolution
    __cudnn$fmhaSoftmax      attention: two products and a softmax
    lapack_sgetrf_ffi        linear algebra by routine, as TensorFlow's operations count
    tpu_custom_call          what the author of the kernel estimates
    Sharding, TopK           nothing
    any other                a rule of the user by that name; else reported by name

The configuration is JSON, in which numbers may be texts, or attributes as MLIR prints them.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.ops.activation import FUSED
from tfprof.ops.counting import number_of
from tfprof.ops.hlo import counts, summed, twin_ops, weights_seen
from tfprof.ops.linalg import reflections
from tfprof.ops.op import Op, size
from tfprof.ops.shape import NoRule, Shape, require
from tfprof.ops.table import rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LONGEST_NAME: Final = 40
_LONGEST: Final = 4_000  # characters of a configuration of single settings
_MATRIX: Final = 2
_NO, _ALL, _VECTORS = 78, 65, 86  # the letters N, A and V, as LAPACK names its jobs
_EPILOGUE: Final = {"BIAS": "BiasAdd", "RELU": "Relu", "GELU": "GeluApproximate"}


class Work(NamedTuple):
    """The float operations of a call."""

    products: float = 0  # two per multiply-add
    others: float = 0


def _no_rule(op: Op) -> NoRule:
    return NoRule(str(op.attr("custom_call_target") or op.type)[:_LONGEST_NAME])


# --- configurations ---


def _config(op: Op, key: str) -> Mapping[str, Any]:
    """A part of the configuration; older ones have nothing else in them. Raises NoRule."""
    text = op.attr("backend_config")
    try:
        config = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        config = None
    if isinstance(config, dict):
        config = config.get(key, config)
    if not isinstance(config, dict):
        raise _no_rule(op)
    return config


def _axes(op: Op, config: Mapping[str, Any], product: str, side: str) -> list[int]:
    """The dimensions of one factor that a product sums over; raises NoRule."""
    numbers = config.get(product)
    if not isinstance(numbers, dict):
        raise _no_rule(op)
    return [int(axis) for axis in numbers.get(f"{side}_contracting_dimensions", ())]


def _settings(op: Op) -> dict[str, str]:
    """The attributes of a call as MLIR prints them: `{mode = 86 : ui8, full = true}`."""
    text = op.attr("backend_config")
    return dict(re.findall(r"\b(\w+) *= *(\w+)", text[:_LONGEST])) if isinstance(text, str) else {}


def _asks_for_none(op: Op, *names: str) -> bool:
    """Whether all of these settings that a call has say no."""
    settings = _settings(op)
    values = [settings[name] for name in names if name in settings]
    return bool(values) and all(value in ("false", str(_NO)) for value in values)


# --- products ---


def _gemm(op: Op) -> Work:
    """A product, and what is fused behind it; other outputs are scratch memory."""
    config = _config(op, "gemm_backend_config")
    output = size(op.output(0))
    axes = _axes(op, config, "dot_dimension_numbers", "lhs")
    behind = str(config.get("epilogue", "")).split("_")
    steps = sum(FUSED[_EPILOGUE[word]] for word in behind if word in _EPILOGUE)
    adds = float(config.get("beta", 0)) != 0  # another matrix
    return Work(2 * output * summed(op.input(0), axes), (steps + adds) * output)


def _convolution(op: Op) -> Work:
    """A multiply-add per element of the forward output and weight that it sees.

    Dimensions are those of the forward convolution, also where the call computes a gradient.
    """
    target = op.attr("custom_call_target")
    if "BackwardFilter" in target:
        image, weights = op.input(1), op.output(0)
    else:
        image, weights = op.input(0) if "BackwardInput" in target else op.output(0), op.input(1)
    activates = '"kNone"' not in str(op.attr("backend_config"))
    steps = 1 + activates if "BiasActivation" in target else 0
    return Work(2 * size(image) * weights_seen(op, weights), steps * size(image))


def _attention(op: Op) -> Work:
    """Two products with the keys and the values, and a softmax; backward five products."""
    config = _config(op, "cudnn_fmha_backend_config")
    query = size(op.input(0))
    if "Backward" in op.attr("custom_call_target"):
        # Once more the scores, then the gradients of query, key, value and scores.
        length = summed(
            op.input(1), _axes(op, config, "bmm1_grad_gemm2_dot_dimension_numbers", "rhs")
        )
        return Work(2 * length * (3 * query + 2 * size(op.input(4))))
    length = summed(op.input(2), _axes(op, config, "bmm2_dot_dimension_numbers", "rhs"))
    depth = summed(op.input(0), _axes(op, config, "bmm1_dot_dimension_numbers", "lhs"))
    require(depth > 0)
    softmax = twin_ops("Softmax", [(query // depth, length)])
    return Work(2 * length * (query + size(op.output(0))), softmax)


def _estimate(op: Op) -> Work:
    """The estimate of the author, functions included; raises NoRule where there is none."""
    estimate = _config(op, "custom_call_config").get("cost_estimate")
    if not isinstance(estimate, dict) or "flops" not in estimate:
        raise _no_rule(op)
    amounts = [int(estimate.get(name, 0)) for name in ("flops", "transcendentals")]
    require(min(amounts) >= 0)
    return Work(others=sum(amounts))


# --- linear algebra ---


def _matrices(op: Op) -> list[Shape]:
    """The inputs that are matrices, or batches of them; older calls have numbers before them."""
    shapes = [op.input(number) for number in range(op.inputs)]
    found = [shape for shape in shapes if len(shape) >= _MATRIX]
    require(found)
    return found


def _rectangle(op: Op) -> tuple[int, int, int]:
    """(number of matrices, rows, columns)."""
    *batch, rows, columns = _matrices(op)[0]
    return size(tuple(batch)), rows, columns


def _like(twin: str) -> Callable[[Op], float]:
    return lambda op: twin_ops(twin, _matrices(op), [op.output(0)])


def _lu(op: Op) -> float:
    """2n³/3, of a rectangle mn² - n³/3 with n the shorter side."""
    many, *sides = _rectangle(op)
    n, m = min(sides), max(sides)
    return many * (m * n**2 - n**3 / 3)


def _triangle(op: Op) -> float:
    many, *sides = _rectangle(op)
    return many * reflections(max(sides), min(sides))


def _columns(op: Op) -> float:
    """The columns of Q that reflections stand for, of which there are as many as the last input."""
    many, m, n = _rectangle(op)
    k = op.input(op.inputs - 1)[-1]
    require(k <= n <= m)
    return many * (4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 / 3)


def _apply_q(op: Op) -> float:
    """Reflections of the other matrix."""
    many, m, n = _rectangle(op)
    require(n <= m)
    return many * 2 * _matrices(op)[-1][-1] * n * (2 * m - n)


def _svd(op: Op) -> float:
    settings = _settings(op)
    full = settings.get("mode") == str(_ALL) or settings.get("full_matrices") == "true"
    vectors = not _asks_for_none(op, "mode", "compute_uv")
    return twin_ops("Svd", _matrices(op), compute_uv=vectors, full_matrices=full)


def _symmetric_eig(op: Op) -> float:
    vectors = not _asks_for_none(op, "mode", "compute_v")
    return twin_ops("SelfAdjointEigV2", _matrices(op), compute_v=vectors)


def _eig(op: Op) -> float:
    names = "compute_left", "compute_right", "left", "right"
    return twin_ops("Eig", _matrices(op), compute_v=not _asks_for_none(op, *names))


def _cubes(op: Op, thirds: int) -> float:
    many, _, n = _rectangle(op)
    return many * thirds * n**3 / 3


# By the names that LAPACK and its like give them, without the letter for the dtype.
ROUTINES: Final[dict[str, Callable[[Op], float]]] = {
    "potrf": _like("Cholesky"),
    "trsm": _like("MatrixTriangularSolve"),
    "getrf": _lu,
    "geqrf": _triangle,
    "geqp3": _triangle,
    **dict.fromkeys(("orgqr", "ungqr"), _columns),
    **dict.fromkeys(("ormqr", "unmqr"), _apply_q),
    **dict.fromkeys(("gesdd", "gesvd", "gesvdj", "gesvdp", "gesvda"), _svd),
    **dict.fromkeys(("syevd", "heevd", "syevj", "syevdx", "heevdx"), _symmetric_eig),
    "geev": _eig,
    "gees": lambda op: _cubes(
        op, 30 if _asks_for_none(op, "mode") else 75
    ),  # 10n³, with vectors 25n³
    "gehrd": lambda op: _cubes(op, 10),
    **dict.fromkeys(("sytrd", "hetrd"), lambda op: _cubes(op, 4)),
    **dict.fromkeys(
        ("gtsv", "gtsv2"), lambda op: twin_ops("TridiagonalSolve", [None, _matrices(op)[-1]])
    ),
}
# What XLA calls them on TPUs.
_OF_TPUS: Final = {
    "LuDecomposition": "getrf", "Qr": "geqrf", "Eigh": "syevd",
    "ProductOfElementaryHouseholderReflectors": "orgqr",
}  # fmt: skip
_ROUTINE: Final = (
    r"(?:(?:lapack|blas)_[sdcz]|(?:cu|hip|roc)(?:solver|blas|sparse)_|magma_)"
    r"([a-z0-9]+?)(?:_batched)?(?:_ffi)?"
)


def _routine(op: Op) -> Work:
    """A routine of linear algebra, or of XLA's own."""
    target = str(op.attr("custom_call_target"))
    named = re.fullmatch(_ROUTINE, target)
    rule = ROUTINES.get(_OF_TPUS.get(target) or (named[1] if named else ""))
    if rule is None:
        raise _no_rule(op)
    return Work(others=rule(op))


# --- by target ---

# Annotations, memory, random numbers and searching.
_NO_ARITHMETIC: Final = r"""
Sharding SPMD\w+ xla\.sdy\.\w+ inspect_sharding annotate_device_placement LayoutConstraint
AllocateBuffer CreateBuffer (Unp|P)in\w* MoveTo\w+ X64\w+ PadToStatic SliceToDynamic SetBound
AssumeGatherIndicesInBound \w*lu_pivots_to_permutation\w* \w*threefry2x32\w*
TopK mhlo\.topk __gpu\$TopK ApproxTopK PartialReduce __cub\$\w*Sort\w* __cudnn\$convReorder\w+
"""
_RULES: Final[dict[str, Callable[[Op], Work]]] = {
    "|".join(_NO_ARITHMETIC.split()): lambda _: Work(),
    r"__cublas\$gemm|__cublas\$lt\$matmul.*": _gemm,
    r"__cudnn\$conv(Forward\w*|BiasActivationForward\w*|BackwardInput\w*|BackwardFilter\w*)":
        _convolution,
    r"__cudnn\$fmha\w+": _attention,
    r"tpu_custom_call": _estimate,
    rf"{_ROUTINE}|{'|'.join(_OF_TPUS)}": _routine,
}  # fmt: skip
_ATTRIBUTES: Final = "custom_call_target backend_config kernel_output_feature_dimension"


@cache
def _patterns() -> list[tuple[re.Pattern[str], Callable[[Op], Work]]]:
    return [(re.compile(text), rule) for text, rule in _RULES.items()]


def work_of(op: Op) -> Work:
    """The float operations of a custom call; raises NoRule for unknown targets."""
    target = op.attr("custom_call_target")
    own = rules().get(target) if isinstance(target, str) else None
    if own is not None and own.origin == "user":
        return Work(others=number_of(own, op))
    short = isinstance(target, str) and len(target) <= 200  # noqa: PLR2004 - patterns could take long
    for pattern, rule in _patterns() if short else ():
        if pattern.fullmatch(target):
            return rule(op)
    raise _no_rule(op)


@counts("custom-call", attributes=_ATTRIBUTES, multiply_adds=lambda op: work_of(op).products / 2)
def custom_call(op: Op) -> float:
    """What {custom_call_target} computes, by its name and its configuration."""
    products, others = work_of(op)
    return products + others
