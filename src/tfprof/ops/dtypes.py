"""DTYPES: one row per DataType; and how the dtype of an operation's outputs is known.

    Conv2D T=DT_HALF           half     most operations: attribute T, or dtype
    Cast DstT=DT_INT8          int8     those that change it name another one
    Less T=DT_FLOAT            bool     always bool, whatever the attributes are
    MaxPool                    float    the default: a writer may leave out such an attribute

All outputs of a node count as being of the first one's dtype.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Dtype(NamedTuple):
    """One DataType of TensorFlow."""

    number: int
    name: str
    size: int = 0  # bytes per element; 0: a handle or text
    numpy: str = ""  # as NumPy stores it; empty: not decoded
    is_float: bool = False
    is_of_weights: bool = False  # variables of other dtypes are counters or seeds
    per_byte: int = 1  # elements that share a byte


DTYPES: Final = {
    row.number: row
    for row in (
        Dtype(0, "invalid"),
        Dtype(1, "float", 4, "<f4", is_float=True, is_of_weights=True),
        Dtype(2, "double", 8, "<f8", is_float=True, is_of_weights=True),
        Dtype(3, "int32", 4, "<i4"),
        Dtype(4, "uint8", 1, "<u1", is_of_weights=True),
        Dtype(5, "int16", 2, "<i2"),
        Dtype(6, "int8", 1, "<i1", is_of_weights=True),
        Dtype(7, "string"),
        Dtype(8, "complex64", 8, is_of_weights=True),
        Dtype(9, "int64", 8, "<i8"),
        Dtype(10, "bool", 1, "?"),
        Dtype(11, "qint8", 1, is_of_weights=True),
        Dtype(12, "quint8", 1, is_of_weights=True),
        Dtype(13, "qint32", 4, is_of_weights=True),
        Dtype(14, "bfloat16", 2, is_float=True, is_of_weights=True),
        Dtype(15, "qint16", 2, is_of_weights=True),
        Dtype(16, "quint16", 2),
        Dtype(17, "uint16", 2, "<u2"),
        Dtype(18, "complex128", 16, is_of_weights=True),
        Dtype(19, "half", 2, is_float=True, is_of_weights=True),
        Dtype(20, "resource"),
        Dtype(21, "variant"),
        Dtype(22, "uint32", 4, "<u4"),
        Dtype(23, "uint64", 8, "<u8"),
        Dtype(24, "float8_e5m2", 1, is_of_weights=True),
        Dtype(25, "float8_e4m3fn", 1, is_of_weights=True),
        Dtype(26, "float8_e4m3fnuz", 1, is_of_weights=True),
        Dtype(27, "float8_e4m3b11fnuz", 1, is_of_weights=True),
        Dtype(28, "float8_e5m2fnuz", 1, is_of_weights=True),
        Dtype(29, "int4", 1, is_of_weights=True, per_byte=2),
        Dtype(30, "uint4", 1, is_of_weights=True, per_byte=2),
        Dtype(31, "int2", 1, is_of_weights=True, per_byte=4),
        Dtype(32, "uint2", 1, is_of_weights=True, per_byte=4),
        Dtype(33, "float4_e2m1fn", 1, is_of_weights=True, per_byte=2),
        # Of XLA alone.
        Dtype(94, "uint1", 1, is_of_weights=True, per_byte=8),
        Dtype(95, "int1", 1, is_of_weights=True, per_byte=8),
        Dtype(96, "float8_e3m4", 1, is_of_weights=True),
        Dtype(97, "float8_e4m3", 1, is_of_weights=True),
        Dtype(98, "float8_e8m0fnu", 1, is_of_weights=True),
        Dtype(99, "qint64", 8, is_of_weights=True),  # of TensorFlow Lite alone
    )
}
_NUMBER: Final = {row.name: row.number for row in DTYPES.values()}
FLOAT, BOOL, RESOURCE = (_NUMBER[name] for name in ("float", "bool", "resource"))
REFERENCE: Final = 100  # added to the dtype of a reference variable

# Attributes that name the dtype of the outputs; of several the last one counts.
KEYS: Final = (
    "Tidx", "Tparams", "Toutput", "Treal", "Tcomplex", "T", "dtype", "output_type",
    "output_dtype", "out_type", "DstT", "Tout", "element_dtype",
)  # fmt: skip
# Operations with several of these attributes, where another one counts.
_OWN_KEY: Final = {
    "T": r"Quantize\w*|Quantized\w*|Requantize\w*|_?(FusedBatchNorm\w*)|OneHot|Fill",
    "Treal": r"IRFFT\w*",
    "output_type": r"ArgMax|ArgMin",
    "output_dtype": r"(Stateless)?Multinomial",
    "Tout": r"ComplexAbs|Real|Imag|Angle",
}
# Operations that return this dtype whatever their attributes are.
_FIXED: Final = {
    "bool":
        r"(Not)?Equal|(Greater|Less)(Equal)?|Logical\w+|Is(Nan|Inf|Finite)|All|Any|ToBool"
        r"|ApproximateEqual|InTopK(V2)?|IsVariableInitialized|VarIsInitializedOp"
        r"|(Static)?RegexFullMatch",
    "float":
        r"Resize(Bilinear|Bicubic|Area)|CropAndResize(GradBoxes)?|ScaleAndTranslate|FakeQuant\w+"
        r"|AdjustContrast|ExtractGlimpse(V2)?|EditDistance|SparseMatMul|CTCLossV2|Mfcc"
        r"|AudioSpectrogram|DecodeWav|CombinedNonMaxSuppression|TopK(With)?Unique",
    "complex64": r"BatchI?FFT([23]D)?",
    "int32": r"NonMaxSuppression(V\d|WithOverlaps)?|Bucketize|SetSize|StringLength",
    "int64":
        r"Where|StringToHashBucket\w*|\w+CandidateSampler|StringSplit(V2)?|SparseReorder"
        r"|SparseFillEmptyRows|SparseConcat|SparseSlice|SparseSplit|SparseReshape|SparseAdd"
        r"|CTC(Greedy|BeamSearch)Decoder|LookupTableSize(V2)?|ParseExample(V2)?",
    "uint8": r"Decode(AndCrop)?(Jpeg|Bmp|Gif)|PopulationCount|Fingerprint",
    "uint64": r"StatelessRandomGetKeyCounter(Alg)?",
    "string":
        r"String(Upper|Lower|Join|Strip|NGrams|Format)|AsString|(Static)?RegexReplace|ReadFile"
        r"|Substr|ReduceJoin|(En|De)codeBase64|Encode(Jpeg|Png)\w*|SerializeTensor|Unicode\w*code",
    "resource":
        r"\w*HashTable\w*|\w*Queue(V2)?|\w*Iterator(V\d)?|\w*Reader(V2)?|Mutex(V2)|StackV2"
        r"|\w*MemoryCache|\w*SeedGenerator|\w*ResourceHandle\w*|\w*ConditionalAccumulator",
    "variant":
        r"\w+Dataset(V\d)?|Optional(FromValue|None)|EmptyTensorMap|TensorMap(Insert|Erase)"
        r"|RaggedTensorToVariant|CompositeTensorVariantFromComponents|MutexLock",
}  # fmt: skip
# What they return where the attribute is missing.
_DEFAULT: Final = {
    "float":
        r"MaxPool(V2|3D)?(Grad(V2)?)?|LRN(Grad)?|LeakyRelu(Grad)?|AdjustHue|AdjustSaturation"
        r"|AdjustContrastv2|HSVToRGB|RGBToHSV|DrawBoundingBoxes(V2)?|NextAfter|CTCLoss"
        r"|ComplexAbs|Real|Imag|Angle|Dequantize|IRFFT\w*|IsotonicRegression|SobolSample"
        r"|Stateless(Random|Truncated)(Normal|Uniform)(V2)?|StringToNumber"
        r"|Stateful(Uniform|(Standard|Truncated)Normal(V2)?)",
    "complex64": r"(I|R)?FFT([23]|N)?D?|Complex|Conj",
    "int32":
        r"Range|UnravelIndex|Size|Shape(N)?|VariableShape|(Upper|Lower)Bound|InvertPermutation"
        r"|DataFormat(VecPermute|DimMap)|BroadcastArgs|ConcatOffset|HistogramFixedWidth"
        r"|ExtractJpegShape|StatelessRandomGetAlg",
    "int64":
        r"ArgMax|ArgMin|(Stateless)?Multinomial|RandomPoissonV2|State(ful|less)RandomBinomial"
        r"|StatefulUniformInt|NonDeterministicInts|Ragged(Range|Gather|TensorFromVariant)",
    "uint8": r"Decode(Png|WebP|Image|Jxl)",
    "uint64": r"State(ful|less)(Random)?UniformFullInt(V2)?",
    "qint8": r"QuantizedConv2D(WithBias)?AndRequantize",
    "quint8": r"QuantizedRelu\w*|Quantized\w+Requantize|RequantizePerChannel",
    "qint32": r"Quantized(Mul|Add|MatMul|Conv2D|DepthwiseConv2D)\w*",
}  # fmt: skip


class DtypeRule(NamedTuple):
    """Three ways to know an output dtype; 0 or an empty key marks a way that does not apply."""

    fixed: int
    own_key: str
    default: int

    @property
    def asks_own_key_only(self) -> bool:
        """Whether a missing own key stands for its default: a writer leaves out such attributes."""
        return self.own_key not in ("", "T") and self.default > 0


@cache
def _patterns() -> list[list[tuple[str, re.Pattern[str]]]]:
    tables = (_FIXED, _OWN_KEY, _DEFAULT)
    return [[(name, re.compile(text)) for name, text in table.items()] for table in tables]


def dtype_rule(op: str) -> DtypeRule:
    """The rule of an operation type."""
    fixed, own_key, default = (
        [name for name, pattern in table if pattern.fullmatch(op)] for table in _patterns()
    )
    # The first default and the last fixed dtype count.
    return DtypeRule(
        _NUMBER[fixed[-1]] if fixed else 0,
        own_key[-1] if own_key else "",
        _NUMBER[default[0]] if default else 0,
    )


def output_dtype(op: str, attr: Callable[[str], Any]) -> int:
    """The DataType of the outputs of an operation with these attributes; 0 where unknown."""
    rule = dtype_rule(op)
    others = () if rule.asks_own_key_only else reversed(KEYS)
    keys = (*([rule.own_key] if rule.own_key else []), *others)
    named = (number for key in keys if isinstance(number := attr(key), int) and number > 0)
    return rule.fixed or next(named, 0) % REFERENCE or rule.default
