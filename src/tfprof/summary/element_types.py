"""How many bytes an element of a node's outputs takes, told from the attributes of its type.

    Conv2D T=DT_HALF           2        most operations: T, or dtype
    Cast DstT=DT_INT8          1        those that change it name another one
    Less T=DT_FLOAT            1        a comparison gives a bool, and no attribute says so
    MaxPool                    4        what has its default value may have been left out

All outputs of a node are taken to be of the first one's type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.summary.kinds import of_kind
from tfprof.wire.decode import BYTES, VARINT, WireError, scan

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool
    from tfprof.model import Profile

FLOAT, INT32, UINT8, STRING, COMPLEX64, INT64, BOOL = 1, 3, 4, 7, 8, 9, 10
RESOURCE, VARIANT, UINT64 = 20, 21, 23
_QINT8, _QUINT8, _QINT32 = 11, 12, 13
_REFERENCE: Final = 100  # added to the type of a variable of old
# Bytes an element of each DataType; what is not here is a handle or text, and has no size.
SIZES: Final = {
    1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 8: 8, 9: 8, 10: 1, 11: 1, 12: 1, 13: 4, 14: 2, 15: 2,
    16: 2, 17: 2, 18: 16, 19: 2, 22: 4, 23: 8, 24: 1, 25: 1, 26: 1, 27: 1, 28: 1,
}  # fmt: skip
# Types that weights have: floating point, complex, and whole numbers of 8 bits.
OF_WEIGHTS: Final = frozenset({1, 2, 4, 6, 8, 11, 12, 13, 14, 18, 19, 24, 25, 26, 27, 28})

# The later ones go before the earlier ones.
_KEYS: Final = (
    b"Tidx", b"Tparams", b"Toutput", b"Treal", b"Tcomplex", b"T", b"dtype", b"output_type",
    b"output_dtype", b"out_type", b"DstT", b"Tout", b"element_dtype",
)  # fmt: skip
# Operations that have several of them, of which the one that counts is not the last.
_OWN_KEY: Final = {
    b"T": re.compile(r"Quantize\w*|Quantized\w*|Requantize\w*|_?(FusedBatchNorm\w*)|OneHot|Fill"),
    b"Treal": re.compile(r"IRFFT\w*"),
}
# What operations give whatever their attributes are.
_FIXED: Final = {
    BOOL: re.compile(
        r"(Not)?Equal|(Greater|Less)(Equal)?|Logical\w+|Is(Nan|Inf|Finite)|All|Any|ToBool"
        r"|ApproximateEqual|InTopK(V2)?|IsVariableInitialized|VarIsInitializedOp"
        r"|(Static)?RegexFullMatch"
    ),
    FLOAT: re.compile(
        r"Resize(Bilinear|Bicubic|Area)|CropAndResize(GradBoxes)?|ScaleAndTranslate|FakeQuant\w+"
        r"|AdjustContrast|ExtractGlimpse(V2)?|EditDistance|SparseMatMul|CTCLossV2|Mfcc"
        r"|AudioSpectrogram|DecodeWav|CombinedNonMaxSuppression|TopK(With)?Unique"
    ),
    COMPLEX64: re.compile(r"BatchI?FFT([23]D)?"),
    INT32: re.compile(r"NonMaxSuppression(V\d|WithOverlaps)?|Bucketize|SetSize|StringLength"),
    INT64: re.compile(
        r"Where|StringToHashBucket\w*|\w+CandidateSampler|StringSplit(V2)?|SparseReorder"
        r"|SparseFillEmptyRows|SparseConcat|SparseSlice|SparseSplit|SparseReshape|SparseAdd"
        r"|CTC(Greedy|BeamSearch)Decoder|LookupTableSize(V2)?|ParseExample(V2)?"
    ),
    UINT8: re.compile(r"Decode(AndCrop)?(Jpeg|Bmp|Gif)|PopulationCount|Fingerprint"),
    UINT64: re.compile(r"StatelessRandomGetKeyCounter(Alg)?"),
    STRING: re.compile(
        r"String(Upper|Lower|Join|Strip|NGrams|Format)|AsString|(Static)?RegexReplace|ReadFile"
        r"|Substr|ReduceJoin|(En|De)codeBase64|Encode(Jpeg|Png)\w*|SerializeTensor|Unicode\w*code"
    ),
    RESOURCE: re.compile(
        r"\w*HashTable\w*|\w*Queue(V2)?|\w*Iterator(V\d)?|\w*Reader(V2)?|Mutex(V2)|StackV2"
        r"|\w*MemoryCache|\w*SeedGenerator|\w*ResourceHandle\w*|\w*ConditionalAccumulator"
    ),
    VARIANT: re.compile(
        r"\w+Dataset(V\d)?|Optional(FromValue|None)|EmptyTensorMap|TensorMap(Insert|Erase)"
        r"|RaggedTensorToVariant|CompositeTensorVariantFromComponents|MutexLock"
    ),
}
# What they give where the attribute is not there: a writer leaves out what is the default.
_DEFAULT: Final = {
    FLOAT: re.compile(
        r"MaxPool(V2|3D)?(Grad(V2)?)?|LRN(Grad)?|LeakyRelu(Grad)?|AdjustHue|AdjustSaturation"
        r"|AdjustContrastv2|HSVToRGB|RGBToHSV|DrawBoundingBoxes(V2)?|NextAfter|CTCLoss"
        r"|ComplexAbs|Real|Imag|Angle|Dequantize|IRFFT\w*|IsotonicRegression|SobolSample"
        r"|Stateless(Random|Truncated)(Normal|Uniform)(V2)?|StringToNumber"
        r"|Stateful(Uniform|(Standard|Truncated)Normal(V2)?)"
    ),
    COMPLEX64: re.compile(r"(I|R)?FFT([23]|N)?D?|Complex|Conj"),
    INT32: re.compile(
        r"Range|UnravelIndex|Size|Shape(N)?|VariableShape|(Upper|Lower)Bound|InvertPermutation"
        r"|DataFormat(VecPermute|DimMap)|BroadcastArgs|ConcatOffset|HistogramFixedWidth"
        r"|ExtractJpegShape|StatelessRandomGetAlg"
    ),
    INT64: re.compile(
        r"ArgMax|ArgMin|(Stateless)?Multinomial|RandomPoissonV2|State(ful|less)RandomBinomial"
        r"|StatefulUniformInt|NonDeterministicInts|Ragged(Range|Gather|TensorFromVariant)"
    ),
    UINT8: re.compile(r"Decode(Png|WebP|Image|Jxl)"),
    UINT64: re.compile(r"State(ful|less)(Random)?UniformFullInt(V2)?"),
    _QINT8: re.compile(r"QuantizedConv2D(WithBias)?AndRequantize"),
    _QUINT8: re.compile(r"QuantizedRelu\w*|Quantized\w+Requantize|RequantizePerChannel"),
    _QINT32: re.compile(r"Quantized(Mul|Add|MatMul|Conv2D|DepthwiseConv2D)\w*"),
}


def element_types(profile: Profile) -> I64:
    """The DataType of each node's outputs; 0 where it is not told. Raises InputError."""
    try:
        found = _element_types(profile)
    except WireError as problem:  # loading leaves attributes it does not need unopened
        raise InputError(
            f"{profile.graph_names}: an attribute of the graph is damaged: {problem}"
        ) from None
    return found


def element_sizes(kind: I64) -> I64:
    """The bytes an element of each type takes; 0 for a handle, a text or an unknown one."""
    table = np.zeros(_REFERENCE, np.int64)
    table[list(SIZES)] = list(SIZES.values())
    inside: I64 = np.where((kind > 0) & (kind < _REFERENCE), kind, 0)
    return table[inside]


def is_of_weights(kind: I64) -> Bool:
    """Which types are those that weights have."""
    return np.isin(kind, list(OF_WEIGHTS))


def _element_types(profile: Profile) -> I64:
    node, key, kind = _types(profile)
    found = np.zeros(len(profile), np.int64)
    if not node.size:  # as in a graph in text format, of which types are not read
        return found
    for place in range(len(_KEYS)):
        at = key == place
        found[node[at]] = kind[at]
    for name, fits in _OWN_KEY.items():
        at = np.flatnonzero(key == _KEYS.index(name))
        at = at[of_kind(profile, fits.fullmatch)[node[at]]]
        found[node[at]] = kind[at]
    for given, fits in _DEFAULT.items():
        found[of_kind(profile, fits.fullmatch) & (found == 0)] = given
    for given, fits in _FIXED.items():
        found[of_kind(profile, fits.fullmatch)] = given
    return found


def _types(profile: Profile) -> tuple[I64, I64, I64]:
    """(node, place of the key, DataType) of every attribute of a wanted key that is a type."""
    node, entry = profile.attributes
    part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
    key = Strings.of(_KEYS).find(Strings(entry.blob, *part[1].last_slice(len(entry))))
    wanted = np.flatnonzero(key >= 0)
    start, length = (column[wanted] for column in part[2].last_slice(len(entry)))
    kind = scan(entry.blob, start, start + length, {6: VARINT})[6].last(wanted.size)
    kind = np.where(kind > _REFERENCE, kind - _REFERENCE, kind)
    told = np.flatnonzero(kind > 0)
    return node[wanted[told]], key[wanted[told]], kind[told]
