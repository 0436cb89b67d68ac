"""Custom calls of HLO count by the target that they name; figures by hand.

Targets, shapes and configurations of `lapack_…` and `TopK` are those that JAX 0.10.2 writes for
CPUs; those of attention follow its cuDNN lowering, the others XLA's documentation.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
import pytest

from counted_graphs import text_profile
from hlo_rules import Shapes, float_ops, operation
from tfprof.errors import UsageError
from tfprof.explain.explain_nodes import explain_nodes
from tfprof.ops import table
from tfprof.ops.counting import count, number_of
from tfprof.ops.hlo_custom_calls import ROUTINES
from tfprof.ops.op import size
from tfprof.ops.shape import NoRule
from tfprof.ops.table import flops_rule, rules


def call(target: str, inputs: Shapes, outputs: Shapes, config: Any = "", **attributes: Any) -> int:
    text = config if isinstance(config, str) else json.dumps(config)
    attributes |= {"custom_call_target": target, "backend_config": text}
    return float_ops("custom-call", inputs, outputs, **attributes)


def multiply_adds(target: str, inputs: Shapes, outputs: Shapes, config: Any) -> float:
    attributes = {"custom_call_target": target, "backend_config": json.dumps(config)}
    formula = rules()["custom-call"].multiply_adds
    assert formula is not None
    return formula(operation("custom-call", inputs, outputs, **attributes))


def missing(target: Any, inputs: Shapes, config: Any = "", **attributes: Any) -> str:
    """The name that the report has for a call that is not counted."""
    attributes |= {"custom_call_target": target, "backend_config": config}
    with pytest.raises(NoRule) as caught:
        number_of(rules()["custom-call"], operation("custom-call", inputs, inputs, **attributes))
    return str(caught.value)


# --- products --------------------------------------------------------------------------------

NUMBERS: Final = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"]}
SCRATCH: Final = (4_194_304,)


@pytest.mark.parametrize("target", ["__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"])
@pytest.mark.parametrize("is_nested", [True, False])
def test_a_product(target: str, is_nested: bool) -> None:  # noqa: FBT001 - a parameter of the test
    gemm = {"dot_dimension_numbers": NUMBERS, "beta": 0, "epilogue": "DEFAULT"}
    config = {"gemm_backend_config": gemm, "operation_queue_id": "0"} if is_nested else gemm
    shapes: Shapes = [(8, 128), (128, 256)]
    assert call(target, shapes, [(8, 256), SCRATCH], config) == 2 * 8 * 128 * 256
    assert multiply_adds(target, shapes, [(8, 256), SCRATCH], config) == 8 * 128 * 256


@pytest.mark.parametrize(
    ("epilogue", "beta", "steps"),
    [
        ("BIAS", 0, 1),
        ("RELU", 0, 1),
        ("BIAS_RELU", 0.0, 2),
        ("DEFAULT", 1, 1),  # a matrix is added
        ("BIAS_GELU_AUX", 0, 1 + 8),  # docs/flops.md: x · (1 + tanh(a · (x + b · x · x · x))) / 2
    ],
)
def test_what_is_fused_behind_a_product(epilogue: str, beta: float, steps: int) -> None:
    gemm = {"dot_dimension_numbers": NUMBERS, "beta": beta, "epilogue": epilogue}
    counted = call(
        "__cublas$lt$matmul", [(8, 4), (4, 6), (6,)], [(8, 6)], {"gemm_backend_config": gemm}
    )
    assert counted == 2 * 8 * 4 * 6 + steps * 8 * 6


@pytest.mark.parametrize(
    "config", ["", "{", "[" * 100_000, "[]", "7", "{}", '{"gemm_backend_config": 7}', None, 7]
)
def test_a_damaged_configuration_is_no_product(config: Any) -> None:
    assert missing("__cublas$gemm", [(8, 4), (4, 6)], config) == "__cublas$gemm"


# --- convolutions ----------------------------------------------------------------------------


def test_convolutions_of_cudnn() -> None:
    """Layouts are those of the forward convolution: b01f, oi01; 8 to 16 features, stride 2."""
    image, kernel, output = (2, 16, 16, 8), (16, 8, 3, 3), (2, 8, 8, 16)
    forward = 2 * (2 * 8 * 8 * 16) * (3 * 3 * 8)
    place = {"kernel_output_feature_dimension": 0}
    assert call("__cudnn$convForward", [image, kernel], [output, SCRATCH], **place) == forward
    back = call("__cudnn$convBackwardInput", [output, kernel], [image, SCRATCH], **place)
    assert back == forward
    back = call("__cudnn$convBackwardFilter", [image, output], [kernel, SCRATCH], **place)
    assert back == forward
    shapes: Shapes = [image, kernel, (16,)]
    for activation, steps in (("kRelu", 2), ("kNone", 1)):  # a bias, and a maximum
        config = {"cudnn_conv_backend_config": {"activation_mode": activation}}
        fused = call("__cudnn$convBiasActivationForward", shapes, [output], config, **place)
        assert fused == forward + steps * (2 * 8 * 8 * 16)


# --- attention -------------------------------------------------------------------------------

QUERY, KEY, VALUE = (2, 32, 4, 16), (2, 48, 4, 16), (2, 48, 4, 8)  # texts, words, heads, depth
OUTPUT: Final = (2, 4, 32, 8)


def bmm(left: int, right: int) -> dict[str, list[str]]:
    return {"lhs_contracting_dimensions": [str(left)], "rhs_contracting_dimensions": [str(right)]}


def test_attention_of_cudnn() -> None:
    fmha = {"bmm1_dot_dimension_numbers": bmm(3, 3), "bmm2_dot_dimension_numbers": bmm(3, 1)}
    config = {"cudnn_fmha_backend_config": fmha}
    scores, values = 2 * (2 * 4 * 32 * 48) * 16, 2 * (2 * 4 * 32 * 48) * 8
    shapes: Shapes = [QUERY, KEY, VALUE]
    counted = call("__cudnn$fmhaSoftmax", shapes, [OUTPUT, (0,)], config)
    assert counted == scores + values + 5 * (2 * 4 * 32 * 48)
    both = multiply_adds("__cudnn$fmhaSoftmax", shapes, [OUTPUT, (0,)], config)
    assert both == (scores + values) / 2


def test_attention_backward() -> None:
    """The scores once more, the gradients of query and key; of value and of the scores."""
    numbers = {"bmm1_grad_gemm2_dot_dimension_numbers": bmm(3, 1)}
    shapes: Shapes = [QUERY, KEY, VALUE, (2, 4, 32), OUTPUT, OUTPUT]
    counted = call(
        "__cudnn$fmhaSoftmaxBackward", shapes, [QUERY, KEY, VALUE],
        {"cudnn_fmha_backend_config": numbers},
    )  # fmt: skip
    assert counted == 2 * (2 * 4 * 32 * 48) * (3 * 16 + 2 * 8)


# --- kernels with an estimate ------------------------------------------------------------------


def test_kernels_count_what_their_author_estimates() -> None:
    cost = {"flops": "1000", "transcendentals": 24, "bytes_accessed": "5"}
    config = {"custom_call_config": {"body": "TUxJUg==", "cost_estimate": cost}}
    assert call("tpu_custom_call", [(8, 8)], [(8, 8)], config) == 1_024
    configs: list[Any] = [{"custom_call_config": {"body": ""}}, {}, {"custom_call_config": []}]
    for without in configs:
        assert missing("tpu_custom_call", [(8, 8)], json.dumps(without)) == "tpu_custom_call"


# --- linear algebra ----------------------------------------------------------------------------

SQUARE, TALL = (2, 6, 6), (2, 8, 5)  # two of each


@pytest.mark.parametrize(
    ("target", "inputs", "config", "expected"),
    [
        ("lapack_spotrf_ffi", [SQUARE], "{uplo = 76 : ui8}", 2 * 6**3 / 3),
        ("cusolver_potrf_ffi", [SQUARE], "", 2 * 6**3 / 3),
        ("lapack_strsm_ffi", [(6, 6), (6, 4)], "", 6**2 * 4),
        ("lapack_cgetrf_ffi", [SQUARE], "{}", 2 * 2 * 6**3 / 3),
        ("cublas_getrf_batched", [SQUARE], "", 2 * 2 * 6**3 / 3),
        ("LuDecomposition", [SQUARE], "", 2 * 2 * 6**3 / 3),
        ("lapack_sgetrf_ffi", [TALL], "{}", 2 * (8 * 5**2 - 5**3 / 3)),
        ("lapack_sgeqrf_ffi", [TALL], "{}", 2 * (2 * 8 * 5**2 - 2 * 5**3 / 3)),
        ("hipsolver_geqrf_ffi", [TALL], "{}", 2 * (2 * 8 * 5**2 - 2 * 5**3 / 3)),
        ("lapack_sorgqr_ffi", [TALL, (2, 5)], "{}", 2 * (2 * 8 * 5**2 - 2 * 5**3 / 3)),
        # All 8 columns of Q, from 5 reflections.
        ("lapack_zungqr_ffi", [(8, 8), (5,)], "{}", 4 * (8**2 * 5 - 8 * 5**2 + 5**3 / 3)),
        ("lapack_dormqr_ffi", [(8, 5), (5,), (8, 3)], "{}", 2 * 3 * 5 * (2 * 8 - 5)),
        ("lapack_sgesdd_ffi", [TALL], "{mode = 83 : ui8}", 2 * (14 * 8 * 5**2 + 8 * 5**3)),
        (
            "lapack_sgesdd_ffi", [TALL], "{mode = 65 : ui8}",
            2 * (4 * 8**2 * 5 + 8 * 8 * 5**2 + 9 * 5**3),
        ),
        ("lapack_sgesvd_ffi", [TALL], "{mode = 78 : ui8}", 2 * (4 * 8 * 5**2 - 4 * 5**3 / 3)),
        (
            "cusolver_gesvdj_ffi", [TALL], "{compute_uv = false, full_matrices = true}",
            2 * (4 * 8 * 5**2 - 4 * 5**3 / 3),
        ),
        ("lapack_ssyevd_ffi", [SQUARE], "{mode = 86 : ui8, uplo = 76 : ui8}", 2 * 9 * 6**3),
        ("lapack_cheevd_ffi", [SQUARE], "{mode = 78 : ui8, uplo = 76 : ui8}", 2 * 4 * 6**3 / 3),
        ("Eigh", [SQUARE], "", 2 * 9 * 6**3),
        (
            "lapack_sgeev_ffi", [SQUARE], "{compute_left = 78 : ui8, compute_right = 86 : ui8}",
            2 * 25 * 6**3,
        ),
        (
            "lapack_sgeev_ffi", [SQUARE], "{compute_left = 78 : ui8, compute_right = 78 : ui8}",
            2 * 10 * 6**3,
        ),
        ("lapack_sgees_ffi", [SQUARE], "{mode = 86 : ui8, sort = 78 : ui8}", 2 * 25 * 6**3),
        ("lapack_sgehrd_ffi", [SQUARE], "{high = 6 : i32, low = 1 : i32}", 2 * 10 * 6**3 / 3),
        ("lapack_ssytrd_ffi", [SQUARE], "{uplo = 76 : ui8}", 2 * 4 * 6**3 / 3),
        ("lapack_sgtsv_ffi", [(8,), (8,), (8,), (8, 2)], "{}", 3 * 8 + 5 * 8 * 2),
        # Before 2024 calls had their sizes as numbers before the matrix.
        ("lapack_sgetrf", [(1,), (1,), (1,), SQUARE], "", 2 * 2 * 6**3 / 3),
    ],
)  # fmt: skip
def test_linear_algebra(target: str, inputs: Shapes, config: str, expected: float) -> None:
    matrices = [shape for shape in inputs if len(shape) > 1]
    assert call(target, inputs, [matrices[-1]], config) == int(expected)


def test_every_routine_is_tried() -> None:
    mark = next(mark for mark in vars(test_linear_algebra)["pytestmark"] if mark.args)
    tried = " ".join(row[0] for row in mark.args[1])
    alike = {"geqp3", "unmqr", "gesvdp", "gesvda", "syevj", "syevdx", "heevdx", "hetrd", "gtsv2"}
    assert {name for name in ROUTINES if name not in tried} <= alike


def test_long_settings_are_read_fast() -> None:
    """A search from every character of a word would take minutes."""
    assert call("lapack_ssyevd_ffi", [SQUARE], [SQUARE], "a" * 100_000) == 2 * 9 * 6**3


# --- others ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "AllocateBuffer", "TopK"),
        *("annotate_device_placement", "MoveToHost", "xla.sdy.FuncResultSharding", "X64SplitLow"),
        *("cu_threefry2x32_ffi", "cu_lu_pivots_to_permutation", "__gpu$TopK", "LayoutConstraint"),
    ],
)
def test_annotations_and_searches_count_nothing(target: str) -> None:
    assert call(target, [(8, 8)], [(8, 8)]) == 0


OTHERS: Final = (
    *("xla_ffi_python_cpu_callback", "my_kernel", "__gpu$xla.gpu.triton", "mosaic_gpu_v2"),
    *("ShardingButMine", "lapack_sgesdd_of_mine", "lapack_sunknown_ffi", "cusolver_"),
    *("x" * 10_000, "_" * 10_000, "lapack_s" + "a_" * 5_000),
)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        *((target, target[:40]) for target in OTHERS),
        *((None, "custom-call"), ("", "custom-call"), (7, "7"), (["TopK"], "['TopK']")),
    ],
)
def test_any_other_target_is_reported_by_its_name(target: Any, name: str) -> None:
    assert missing(target, [(8, 8)]) == name


NODE: Final = """
    node { name: "n" op: "custom-call"
           attr { key: "custom_call_target" value { s: "my_kernel" } }
           attr { key: "_output_shapes" value { list { shape { dim { size: 6 } } } } } }
"""


def test_a_report_names_the_target() -> None:
    profile = text_profile(NODE)
    assert [*count(profile, "all").uncounted] == [("custom-call", 1, "no rule for my_kernel")]
    (node,) = explain_nodes(profile, np.array([0])).nodes
    assert node.counting.sentence == "What my_kernel computes, by its name and its configuration."
    (gap,) = node.gaps
    assert gap.what == "float operations: there is no rule for my_kernel"
    assert gap.remedy == "a rule of your own: @tfprof.flops_rule('my_kernel')"


def test_a_rule_of_the_user_counts_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_by_user", {})
    flops_rule("my_kernel")(lambda op: 7 * size(op.output()))
    profile = text_profile(NODE)
    assert count(profile, "all").float_ops.tolist() == [42]
    assert explain_nodes(profile, np.array([0])).nodes[0].counting.float_ops == 42
    flops_rule("my_kernel")(lambda _: "many")
    with pytest.raises(UsageError, match="the rule of my_kernel returned 'many'"):
        count(profile, "all")
