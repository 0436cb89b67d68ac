"""Every operation of TensorFlow has its place: a rule, none needed, a function, or a known gap.

And every rule counts an operation that TensorFlow itself built, and is documented.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pytest

import every_op
import paths
from tfprof.ops import counting
from tfprof.ops.counting import count
from tfprof.ops.table import OPS, rules
from tfprof.read import Source, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forked import Forked
    from tfprof.model import Profile
    from tfprof.ops.table import Which

WHICH: Final[tuple[Which, ...]] = ("tensorflow", "all")
DOCUMENT: Final = paths.DOCS / "flops.md"

# What has no rule, by kind.
GAPS: Final = {
    "the window is a tensor": r"MaxPool(Grad){0,2}V2",
    "depends on labels": r"CTC(Loss|LossV2|BeamSearchDecoder|GreedyDecoder)",
    "depends on boxes": r"\w*NonMaxSuppression\w*|GenerateBoundingBoxProposals"
    r"|CropAndResizeGradBoxes",
    "iterates": r"Matrix(Exponential|Logarithm)|IsotonicRegression|K(MC2|means)\w+"
    r"|NearestNeighbors",
    "colours and projections": r"Adjust(Hue|Saturation)|RGBToHSV|HSVToRGB|ImageProjective\w+"
    r"|ScaleAndTranslate(Grad)?",
    "images and sound": r"(De|En)code(AndCrop)?(Bmp|Gif|Image|Jpeg|Jxl|Png|Wav|WebP)\w*"
    r"|Audio(Microfrontend|Spectrogram)|Mfcc",
    "trees and linear models": r"(Is)?BoostedTrees\w+|Sdca(Optimizer|OptimizerV2|ShrinkL1)"
    r"|NegTrain",
    "CSR matrices": r"\w*CSRSparseMatrix\w*|(_MklNative)?SparseMatrix\w+",
    "embeddings of TPUs": r"\w*TPUEmbedding\w*|\w*SparseCore\w*|XlaSparse\w+|\w*Dedup\w*"
    r"|ConvertToCoo\w+|GetMinibatch\w+|StoreMinibatch\w+",
    "meshes": r"DTensor\w+",
    "experiments": r"Risc\w+|UniformQuantizedConvolution(Hybrid)?|CustomAggregator"
    r"|MlirPassthroughOp",
}
# What the wheel registers to test itself.
TESTS: Final = re.compile(
    r"[AB]|Attr\w*|Binary|Unary|(Complex|Mixed|Simple)Struct|ConstructionFails|CopyOp|DefaultAttrs"
    r"|DevicePlacementOp|DtypeWithDefaultOp|Fact|FiveFloatOutputs|(Float|Int|Int64)(Input|Output)\w*"
    r"|Foo\d|Func(List)?Attr|InPolymorphicTwice|IntAttr|KernelLabel(Required)?|List(Input|Output)"
    r"|N(In|Ints|Polymorphic)\w+|(Namespace>)?TestStringOutput|None|Old|OpWith\w+|Out(T|Type\w+)"
    r"|Polymorphic\w*|Ref(In|Out)\w*|RequiresOlderGraphVersion|Reserved(Attr|Input)"
    r"|Resource(CreateOp|InitializedOp|UsingOp)|Restrict|Simple|Sleep(Identity)?Op|StringListAttr"
    r"|TestAttr|Two(Float|Int|Refs)\w+|TypeList\w*"
)
# TensorFlow infers no shape that these could be counted from; a run may tell it.
NO_SHAPE: Final = {
    "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient",
    "TileGrad", "XlaConv", "XlaConvV2", "XlaDequantize",
}  # fmt: skip


class Built(NamedTuple):
    ops: list[str]  # all that are registered
    built: Profile  # a graph of those with a rule


@pytest.fixture(scope="module")
def wheel(tensorflow: Forked) -> Built:
    made = every_op.wheel(tensorflow)
    return Built(made.ops, load(Source("built", np.frombuffer(made.bound, np.uint8))))


def test_every_operation_has_one_place(wheel: Built) -> None:
    assert len(wheel.ops) > 1_500
    gap = re.compile("|".join(GAPS.values()))
    table = rules("all")
    places = {
        op: [
            name
            for name, is_there in (
                ("rule", op in table),
                ("no arithmetic", OPS[op].is_a("no arithmetic")),
                ("function", OPS[op].is_a("function call")),
            )
            if is_there
        ]
        or ["gap"] * bool(gap.fullmatch(op))
        for op in wheel.ops
        if not TESTS.fullmatch(op)
    }
    assert {op: found for op, found in places.items() if len(found) != 1} == {}


def test_no_gap_and_no_rule_is_of_what_tensorflow_has_not(wheel: Built) -> None:
    assert every_op.ruled() <= set(wheel.ops)
    for kind, pattern in GAPS.items():
        assert any(re.fullmatch(pattern, op) for op in wheel.ops), kind


def values(wheel: Built) -> dict[str, int]:
    """What is counted for the operation of each type."""
    types = [*wheel.built.types.texts()]
    float_ops = count(wheel.built, "all").float_ops.tolist()
    rows = zip(wheel.built.nodes.name.texts(), wheel.built.nodes.op, float_ops, strict=True)
    return {types[int(kind)]: value for name, kind, value in rows if name.endswith("/it")}


def test_every_rule_counts_what_tensorflow_built(wheel: Built) -> None:
    missing = {(kind.op, kind.why) for kind in count(wheel.built, "all").uncounted}
    assert missing == {(op, "unknown shape") for op in NO_SHAPE}
    found = values(wheel)
    assert set(found) == every_op.ruled() - every_op.NOT_BUILT
    assert {op for op, value in found.items() if value <= 0} == NO_SHAPE


def test_no_formula_fails_at_what_tensorflow_built(
    wheel: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "NOT_MADE_FOR", ())
    for which in WHICH:
        assert count(wheel.built, which).counted > 40


def test_mkl_forms_count_what_they_are_a_form_of(wheel: Built) -> None:
    found = values(wheel)
    compared = 0
    for op, value in found.items():
        name = re.sub(r"^_Mkl(Native)?", "", op)
        plain = next((one for one in (name, f"_{name}") if one in found), None)
        # Of these TensorFlow infers another shape, with channels as if not depthwise.
        if name != op and plain is not None and "QuantizedDepthwise" not in op:
            compared += 1
            assert value == found[plain], op
    assert compared > 80


def test_variables_known_by_handle_count_their_gradient(wheel: Built) -> None:
    """The handle is a scalar; the gradient has 4 times 6 elements, a sparse one 2 times 6."""
    value = values(wheel)
    assert value["ResourceApplyAdam"] == value["ApplyAdam"] == 12 * 24
    assert value["ResourceSparseApplyMomentum"] == 4 * 12
    assert value["AssignAddVariableOp"] == 24


@pytest.mark.parametrize(
    "op", ["MyStackedLSTM", "StackedAttention", "FlashAttention", "QueueingModel", "RandomForest"]
)
def test_operations_of_others_are_not_taken_for_harmless(op: str) -> None:
    assert not OPS[op].is_a("no arithmetic")
    assert not OPS[op].is_a("function call")


def expanded(text: str) -> Iterator[str]:
    """The names that braces stand for: `Svd{,V2}` is Svd and SvdV2."""
    parts = re.split(r"\{([^}]*)\}", text)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return map("".join, product(*choices))


def test_document_names_exactly_the_operations_that_have_a_rule() -> None:
    text = DOCUMENT.read_text()
    section = text[text.index("## The rules") : text.index("## What has no rule")]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    named = [
        one for cell in cells for name in re.findall(r"`([^`]+)`", cell) for one in expanded(name)
    ]
    assert sorted(set(named)) == sorted(named), "an operation is in two rows"
    with_rule = {op for op in rules("all") if "Mkl" not in op}
    assert set(named) - with_rule == set()
    assert with_rule - set(named) == set()
