"""Float operations of HLO's opcodes, against figures by hand and XLA's own where that is right."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tfprof
from hlo_made import computation, instruction, module, number, packed, parameter, proto
from hlo_recorded import by_type
from hlo_rules import Shapes, float_ops, operation
from tfprof.ops.classes import CLASSES
from tfprof.ops.counting import UNKNOWN_SHAPE, number_of
from tfprof.ops.dtypes import DtypeRule, dtype_rule
from tfprof.ops.hlo import TWINS
from tfprof.ops.kinds import kind_of
from tfprof.ops.shape import NoRule, UnknownShape
from tfprof.ops.table import OPS, names, rules
from tfprof.read.hlo.attributes import HloAttributes
from tfprof.read.source import Source
from tfprof.wire.scalar import encode_bytes

if TYPE_CHECKING:
    from pathlib import Path

# XLA's list of opcodes (hlo_opcode.h, in 2026).
OPCODES: Final = names("""
abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce
all-reduce-done all-reduce-start all-to-all and asin asinh async-done async-start async-update atan
atan2 atanh batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert
broadcast call cbrt ceil cholesky clamp count-leading-zeros collective-broadcast collective-permute
collective-permute-done collective-permute-start collective-reduce compare complex concatenate
conditional constant convert convolution copy copy-done copy-start cosine cosh custom-call divide
domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf exponential exponential-minus-one
fft floor fusion gather get-dimension-size get-tuple-element imag infeed iota is-finite log
log-plus-one logistic map maximum minimum mulhi multiply negate not opt-barrier or outfeed pad
parameter partition-id popcnt power ragged-all-to-all ragged-dot real recv recv-done reduce
reduce-precision reduce-scatter reduce-window remainder replica-id reshape reverse rng
rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt scaled-dot
scan scatter select select-and-scatter send send-done set-dimension-size shift-left
shift-right-arithmetic shift-right-logical shuffle sign sine sinh slice sort sqrt stochastic-convert
subtract tan tanh topk transpose triangular-solve tuple while xor
""")


# --- every opcode ----------------------------------------------------------------------------


def test_every_opcode_has_one_place() -> None:
    for opcode in OPCODES:
        places = opcode in rules(), *(OPS[opcode].is_a(kind) for kind in PLACES)
        assert sum(places) == 1, opcode
    named = {op for op in rules() if OPS[op].declares_shapes}
    assert named <= set(OPCODES)


PLACES: Final = ("no arithmetic", "function call")


def test_no_opcode_is_taken_for_an_operation_of_tensorflow() -> None:
    """The dtype is the attribute of that name; no opcode reads, saves or changes a variable."""
    others = "variable handle", "variable read", "saves", "changes a variable", "loop entry"
    for opcode in OPCODES:
        assert dtype_rule(opcode) == DtypeRule(0, "", 0), opcode
        assert not any(opcode in CLASSES[name] for name in others), opcode
        assert OPS[opcode].shape is None


def test_classes_that_summaries_ask_for() -> None:
    assert OPS["constant"].is_a("constant")
    assert OPS["parameter"].is_a("placeholder")
    assert OPS["convert"].is_a("cast")
    for opcode in ("get-tuple-element", "tuple", "bitcast", "reshape", "copy-done"):
        assert OPS[opcode].is_a("alias"), opcode
    for opcode in ("copy", "transpose", "slice", "fusion", "add"):
        assert not OPS[opcode].is_a("alias"), opcode


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("dot", "matrix product"), ("convolution", "convolution"),
        ("reduce-window", "pooling and reduction"), ("all-reduce", "pooling and reduction"),
        ("batch-norm-grad", "normalization"), ("tanh", "activation"), ("multiply", "elementwise"),
        ("transpose", "data movement"), ("custom-call", "other"), ("while", "other"),
    ],
)  # fmt: skip
def test_kinds(opcode: str, kind: str) -> None:
    assert kind_of(opcode) == kind


# --- elementwise -----------------------------------------------------------------------------

TWO: Final = ("rsqrt", "clamp")  # square root and reciprocal; maximum and minimum
FOUR: Final = ("logistic",)  # negative, exponential, sum, quotient


@pytest.mark.parametrize("opcode", TWINS)
def test_elementwise(opcode: str) -> None:
    steps = 2 if opcode in TWO else 4 if opcode in FOUR else 1
    assert float_ops(opcode, [(3, 5)] * 3, [(3, 5)]) == steps * 15


@pytest.mark.parametrize(
    ("opcode", "twin"),
    [
        ("select", "SelectV2"), ("convert", "Cast"), ("complex", "Complex"), ("real", "Real"),
        ("imag", "Imag"), ("sort", "XlaSort"), ("topk", "TopKV2"), ("gather", "GatherV2"),
        ("rng-bit-generator", "XlaRngBitGenerator"), ("reduce-precision", "XlaReducePrecision"),
        ("stochastic-convert", "StochasticCastToInt"),
    ],
)  # fmt: skip
def test_what_counts_nothing_in_tensorflow_counts_nothing_here(opcode: str, twin: str) -> None:
    assert OPS[twin].is_a("no arithmetic")
    assert OPS[opcode].is_a("no arithmetic")


# --- figures by hand ---------------------------------------------------------------------------

ADD: Final = ["parameter", "parameter", "add"]
MAX: Final = ["parameter", "parameter", "maximum"]
GREATER: Final = ["parameter", "parameter", "compare"]
LATER: Final = ["parameter", "parameter"]  # returns its second argument
LARGEST: Final = [
    *["parameter"] * 4, "compare", "compare", "or", "compare", "and", "select", "select",
]  # fmt: skip
SEVERAL: Final = ["parameter", "parameter", "logistic", "fusion", "add", "convert"]
NORMAL, IMAGE, POOLED, WINDOW = (2, 3, 5), (2, 8, 8, 3), (2, 4, 4, 3), [1, 2, 2, 1]

# fmt: off
BY_HAND: Final[list[tuple[str, Shapes, Shapes, dict[str, Any], float]]] = [
    # Bounds may be scalars.
    ("clamp", [(1,), (3, 5), (1,)], [(3, 5)], {}, 2 * 15),
    # As docs/flops.md has FusedBatchNorm: 30 elements, 5 channels.
    ("batch-norm-training", [NORMAL, (5,), (5,)], [NORMAL, (5,), (5,)], {}, 6 * 30 + 6 * 5),
    ("batch-norm-inference", [NORMAL, *[(5,)] * 4], [NORMAL], {}, 2 * 30 + 6 * 5),
    ("batch-norm-grad", [NORMAL, *[(5,)] * 3, NORMAL], [NORMAL, (5,), (5,)], {}, 9 * 30 + 4 * 5),
    # XLA has 1,584 for the first (lowered), 1,500 for the second; jaxlib 0.10.2.
    ("reduce", [(16, 100), (1,)], [(16,)], {"applied": ADD}, 1_584),
    ("reduce", [(16, 100), (1,)], [(100,)], {"applied": MAX}, 1_500),
    ("reduce", [(0, 4), (1,)], [(4,)], {"applied": ADD}, 0),
    # The largest and its place: five comparisons and logical operations; choosing is none.
    ("reduce", [(16, 100), (16, 100), (1,), (1,)], [(16,), (16,)], {"applied": LARGEST}, 1_584 * 5),
    ("reduce", [(7,), (1,)], [(1,)], {"applied": SEVERAL}, 6 * (4 + 1)),
    ("map", [(7,)], [(7,)], {"applied": ["parameter", "rsqrt", "negate"]}, 7 * 3),
    # XLA has 288 and 384 (lowered); jaxlib 0.10.2.
    ("reduce-window", [IMAGE, (1,)], [POOLED],
     {"applied": ADD, "window_size": WINDOW}, (2 * 4 * 4 * 3) * 3),
    ("select-and-scatter", [IMAGE, POOLED, (1,)], [IMAGE],
     {"applied": ADD, "select": GREATER, "window_size": WINDOW}, (2 * 4 * 4 * 3) * (3 + 1)),
    ("scatter", [(10, 4), (3, 1), (3, 4)], [(10, 4)], {"applied": ADD}, 12),
    ("scatter", [(10, 4), (3, 1), (3, 4)], [(10, 4)], {"applied": LATER}, 0),
    # Collectives count what one device adds.
    *((opcode, [(6, 4), (5,)], [(6, 4), (5,)], {"applied": ADD}, 24 + 5)
      for opcode in ("all-reduce", "all-reduce-start", "collective-reduce")),
    ("reduce-scatter", [(8, 4)], [(2, 4)], {"applied": ADD}, 32),
    # 5·N·log₂N for each transform; half of it if one side is real.
    ("fft", [(3, 32)], [(3, 32)], {"fft_type": "FFT", "fft_length": [32]}, 3 * 5 * 32 * 5),
    ("fft", [(3, 8, 4)], [(3, 8, 4)], {"fft_type": "IFFT", "fft_length": [8, 4]}, 3 * 5 * 32 * 5),
    ("fft", [(8, 16)], [(8, 9)], {"fft_type": "RFFT", "fft_length": [16]}, 8 * 160),
    ("fft", [(8, 9)], [(8, 16)], {"fft_type": "IRFFT", "fft_length": [16]}, 8 * 160),
    ("cholesky", [(2, 6, 6)], [(2, 6, 6)], {}, 2 * 6**3 // 3),
    ("triangular-solve", [(6, 6), (6, 4)], [(6, 4)], {}, 6**2 * 4),
    ("triangular-solve", [(6, 6), (4, 6)], [(4, 6)], {}, 6**2 * 4),  # on the right
]
# fmt: on


@pytest.mark.parametrize(
    ("opcode", "inputs", "outputs", "attributes", "expected"),
    BY_HAND,
    ids=[f"{opcode} of {inputs}" for opcode, inputs, *_ in BY_HAND],
)
def test_by_hand(
    opcode: str, inputs: Shapes, outputs: Shapes, attributes: dict[str, Any], expected: float
) -> None:
    assert float_ops(opcode, inputs, outputs, **attributes) == expected


@pytest.mark.parametrize("opcode", ["while", "dot", "custom-call", "of-somebody-else", "x" * 999])
def test_a_step_without_a_rule_is_named(opcode: str) -> None:
    op = operation("reduce", [(7,), (1,)], [(1,)], applied=[*ADD, opcode])
    with pytest.raises(NoRule, match=f"^{opcode[:40]}$"):
        number_of(rules()["reduce"], op)


@pytest.mark.parametrize("applied", [None, 7, "add", [7]])
def test_a_missing_computation_is_not_counted(applied: Any) -> None:
    op = operation("reduce", [(7,), (1,)], [(1,)], applied=applied)
    with pytest.raises(UnknownShape):
        number_of(rules()["reduce"], op)


# --- dimensions in files ---------------------------------------------------------------------


def ragged(folder: Path, *numbers: bytes) -> tfprof.Loaded:
    """[64,9]·[2,9,8], groups of rows; *numbers* are the dimensions of a dot."""
    operands = [
        instruction(f"p{at}", "parameter", at, (), number(9, at), dims=dims)
        for at, dims in enumerate([(64, 9), (2, 9, 8), (2,)])
    ]
    dimensions = encode_bytes(90, b"".join((*numbers, packed(2, [0]), packed(3, [0]))))
    product = instruction("d", "ragged-dot", 3, [0, 1, 2], dimensions, dims=(64, 8))
    file = folder / "m.pb"
    file.write_bytes(proto(module("m", 1, computation("main", 1, 3, *operands, product))))
    return tfprof.load(graph=file)


def test_a_ragged_product_in_a_file(tmp_path: Path) -> None:
    loaded = ragged(tmp_path, encode_bytes(1, packed(1, [1]) + packed(2, [1])))
    assert by_type(loaded)["ragged-dot"].own_float_ops == 2 * 64 * 9 * 8 == 9_216


def test_a_ragged_product_without_dimensions_is_not_counted(tmp_path: Path) -> None:
    counted = ragged(tmp_path).op(select=["float_ops"]).flops
    assert counted is not None
    assert [(gap.op, gap.why) for gap in counted.uncounted] == [("ragged-dot", UNKNOWN_SHAPE)]


def test_equal_entries_are_stored_once() -> None:
    """1,000 reductions apply the same 500 operations."""
    body = [instruction("m", "multiply", 5000 + at, dims=()) for at in range(500)]
    reduces = [instruction("r", "reduce", at, [1, 1], calls=[2]) for at in range(2, 1002)]
    main = computation("main", 1, 2, parameter("x", 1), *reduces)
    content = np.frombuffer(module("m", 1, main, computation("b", 2, 5499, *body)), np.uint8)
    whole = np.array([0]), np.array([content.size])
    owner, entries = HloAttributes(Source("m", content), *whole)()
    named = [entry for at, entry in zip(owner, entries, strict=True) if at and b"applied" in entry]
    assert len(named) == 1_000
    assert entries.blob.size < content.size


# --- damaged files -----------------------------------------------------------------------------

ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 2**70, 1.5, "", "FFT", "[" * 9_999, "__cublas$gemm", "lapack_sgetrf"),
    *([], [0], [-1], [7], [2**70], ["add"], ["x"], [[1]], [None], [0, 1, 2, 3, 4, 5]),
)
RIGHT: Final[dict[str, Any]] = {
    "applied": ADD, "select": ADD, "lhs_contracting_dimensions": [1], "lhs_batch_dimensions": [1],
    "window_size": [2], "window_stride": [1], "base_dilation": [2], "window_dilation": [1],
    "padding_low": [-1], "padding_high": [-1], "output_spatial_dimensions": [1],
    "feature_group_count": 1, "batch_group_count": 1, "kernel_input_feature_dimension": 0,
    "kernel_output_feature_dimension": 0, "fft_length": [2],
    "fft_type": "RFFT",
    "custom_call_target": "lapack_sorgqr_ffi",
    "backend_config": "{mode = 86 : ui8}",
}  # fmt: skip
ODD_SHAPES: Final[list[Shapes]] = [[], [()], [(0,)], [(3,)] * 3, [(2, 3)] * 2, [(2**62,) * 4] * 4]


@pytest.mark.parametrize("opcode", sorted(op for op in rules() if OPS[op].declares_shapes))
def test_whatever_a_file_holds_is_a_number_or_unknown(opcode: str) -> None:
    rule = rules()[opcode]
    assert rule.attributes is not None
    right = {name: RIGHT[name] for name in rule.attributes}
    # Strides over a dilated base count otherwise.
    rights = [right, right | {"window_stride": [2]}] if opcode == "convolution" else [right]
    cases = [each | {name: value} for each in rights for name in rule.attributes for value in ODD]
    cases = cases or [right]
    for attributes, inputs, outputs in product(cases, ODD_SHAPES, ODD_SHAPES):
        with suppress(UnknownShape):
            assert number_of(rule, operation(opcode, inputs, outputs, **attributes)) >= 0
