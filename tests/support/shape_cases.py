"""The operations that TensorFlow and our shape rules are compared on: inputs and attributes.

    (4, 6)           an input of this shape; where a handle is wanted, a variable of this shape
    [4, 6], 3        a constant that the operation may read
    Made("Pack", …)  the output of another operation

Every operation type with a shape rule has a case, by default one whose inputs are all 4x6, or a
reason in NOT_BUILT. `variants` opens the inputs of a case; `bindings` gives them other sizes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from op_shapes import DEEP_WEIGHTS, HALF, IMAGE, MATRIX, PADDING, PLAIN, SCALAR, VOLUME, WEIGHTS
from shape_exceptions import NOT_BUILT
from tfprof.ops.table import OPS, names


class Made(NamedTuple):
    """An input that another operation returns."""

    op: str
    inputs: list[Any]
    attributes: dict[str, Any] | None = None
    output: int = 0


class Holes(NamedTuple):
    """A constant of which some numbers are unknown: None."""

    numbers: tuple[int | None, ...]
    shape: tuple[int, ...]


class Content(NamedTuple):
    """A tensor as an attribute."""

    numbers: Any


class Case(NamedTuple):
    """One operation."""

    op: str
    attributes: dict[str, Any]
    inputs: list[Any] | None  # None: those that op_shapes lists for the type


LIST: Final = Made("TensorListReserve", [[4, 6], 3])
FILLED: Final = Made("TensorListFromTensor", [(3, 4, 6), [4, 6]])
ARRAY: Final = Made("TensorArrayV3", [3])
KEYS: Final = {"key_dtype": 9, "value_dtype": 1}
TABLE: Final = Made("MutableHashTable", [], KEYS)
TABLE_V2: Final = Made("MutableHashTableV2", [], KEYS)
COUNTER: Final = Made("VarHandleOp", [], {"dtype": 9, "shape": ()})
QUEUE: Final = Made("FIFOQueueV2", [], {"component_types": [1]})
SHAPES: Final = {"output_types": [1, 3], "output_shapes": [(4, -1), None]}
ITERATOR: Final = Made("IteratorV2", [], SHAPES)
KEY: Final[list[Any]] = [(1,), (2,)]
COLOURS: Final = (2, 8, 8, 3)
CHANNELS_FIRST: Final = (2, 4, 8, 8)
MARGINS: Final = [[1, 1], [2, 0]]

# By name, as in the tables of rules; a type with several cases has several rows.
CASES: Final[list[tuple[str, dict[str, Any], list[Any] | None]]] = [
    # Shapes changed.
    ("Reshape", {}, [PLAIN, [6, -1]]),
    ("Reshape", {}, [PLAIN, [6, 4]]),
    ("Reshape", {}, [(2, 3, 4), [-1]]),
    ("Reshape", {}, [(2, 3, 4), [2, -1, 2]]),
    ("Reshape", {}, [(1,), []]),
    ("Squeeze", {"squeeze_dims": [1]}, [(4, 1, 6)]),
    ("Squeeze", {"squeeze_dims": [-2, 0]}, [(1, 1, 6)]),
    ("Squeeze", {}, [(4, 1, 6)]),
    ("ExpandDims", {}, [PLAIN, 1]),
    ("ExpandDims", {}, [PLAIN, -1]),
    ("{,Conjugate,_Mkl}Transpose", {}, [(2, 3, 4), [2, 0, 1]]),
    ("EnsureShape", {"shape": (4, 6)}, [PLAIN]),
    ("EnsureShape", {"shape": (-1, 6)}, [PLAIN]),
    ("BroadcastTo", {}, [(1, 6), [4, 6]]),
    ("Bitcast", {"T": 1, "type": 3}, [PLAIN]),
    ("Bitcast", {"T": 1, "type": 4}, [PLAIN]),
    ("Bitcast", {"T": 4, "type": 1}, [(6, 4)]),
    ("Bitcast", {"T": 19, "type": 1}, [(6, 2)]),
    ("Bitcast", {"T": 8, "type": 1}, [PLAIN]),
    # Joined and split.
    ("Pack", {}, [PLAIN, PLAIN]),
    ("Pack", {"axis": 1}, [PLAIN, PLAIN]),
    ("Pack", {"axis": -1}, [PLAIN, PLAIN]),
    ("Unpack", {"num": 4}, [PLAIN]),
    ("Unpack", {"num": 6, "axis": -1}, [PLAIN]),
    ("ConcatV2", {}, [PLAIN, PLAIN, 1]),
    ("ConcatV2", {}, [PLAIN, (5, 6), -2]),
    ("Concat", {}, [1, PLAIN, (4, 3)]),
    ("ParallelConcat", {"shape": (2, 6)}, [(1, 6), (1, 6)]),
    ("ConcatOffset", {}, [0, (2,), (2,)]),
    ("Split", {"num_split": 2}, [1, PLAIN]),
    ("Split", {"num_split": 2}, [-2, PLAIN]),
    ("SplitV", {"num_split": 2}, [PLAIN, [2, 4], 1]),
    ("SplitV", {"num_split": 2}, [PLAIN, [2, -1], 1]),
    ("Tile", {}, [PLAIN, [2, 3]]),
    # Made.
    ("Fill", {}, [[4, 6], SCALAR]),
    ("Empty", {}, [[4, 6]]),
    ("ImmutableConst", {"shape": (4, 6)}, []),
    ("{,_}HostConst Const", {"value": Content([[1.0, 2.0]])}, []),
    ("Placeholder{,V2,WithDefault}", {"shape": (-1, 6)}, [PLAIN]),
    ("Placeholder{,V2,WithDefault} Variable{,V2} TemporaryVariable FakeParam",
     {"shape": (4, 6)}, [PLAIN]),
    ("Placeholder", {"shape": None}, []),
    ("LinSpace", {}, [SCALAR, SCALAR, 5]),
    ("Range", {}, [0, 10, 3]),
    ("Range", {}, [10, 0, -4]),
    ("Range", {"Tidx": 1}, [0.0, 1.0, 0.3]),
    ("OneHot", {}, [PLAIN, 5]),
    ("OneHot", {"axis": 0}, [PLAIN, 5]),
    ("Diag", {}, [PLAIN]),
    ("DiagPart", {}, [(4, 6, 4, 6)]),
    ("MatrixDiag", {}, [PLAIN]),
    ("MatrixDiagPart", {}, [MATRIX]),
    ("MatrixDiagPart", {}, [(3, 4, 6)]),
    ("{,Parallel}DynamicStitch", {}, [[0, 2], [1, 3], (2, 6), (2, 6)]),
    ("{,Parallel}DynamicStitch", {}, [[[0, 2]], [5], (1, 2, 6), (1, 6)]),
    # Rearranged.
    ("Reverse", {}, [PLAIN, (2,)]),
    ("ReverseV2", {}, [PLAIN, [1]]),
    ("ReverseSequence", {"seq_dim": 1}, [(4, 6, 3), (4,)]),
    ("Roll", {}, [PLAIN, [1], [0]]),
    ("InvertPermutation", {}, [(5,)]),
    ("TensorStridedSliceUpdate", {}, [PLAIN, [0, 0], [2, 6], [1, 1], (2, 6)]),
    ("RandomShuffle", {}, [PLAIN]),
    ("StatelessShuffle", {}, [PLAIN, *KEY]),
    # Random.
    ("RandomUniform{,Int} RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal",
     {}, [[4, 6]]),
    ("StatelessRandomUniform{,Int,FullInt} Stateless{RandomNormal,TruncatedNormal}",
     {}, [[4, 6], (2,)]),
    ("StatelessRandomUniform{,Int,FullInt}V2 Stateless{RandomNormal,TruncatedNormal}V2",
     {}, [[4, 6], *KEY]),
    ("StatefulUniform{,Int,FullInt} StatefulStandardNormalV2 StatefulTruncatedNormal",
     {}, [(3,), SCALAR, [4, 6]]),
    ("StatelessRandomGetKeyCounter", {}, [(2,)]),
    ("{,Stateless}Multinomial", {}, [PLAIN, 3, (2,)]),
    # Looked up.
    ("LookupTableFind", {"Tin": 9, "Tout": 1}, [TABLE, PLAIN]),
    ("LookupTableFindV2", {"Tin": 9, "Tout": 1}, [TABLE_V2, PLAIN]),
    ("LookupTableSize", {}, [TABLE]),
    ("LookupTableSizeV2", {}, [TABLE_V2]),
    ("Where Size Rank Shape", {}, [PLAIN]),
    ("ShapeN", {}, [PLAIN, (5,)]),
    ("VariableShape ReadVariableOp VarIsInitializedOp", {}, [PLAIN]),
    ("Unique", {}, [(8,)]),
    ("UniqueV2", {}, [PLAIN, [1]]),
    ("UniqueV2", {}, [PLAIN, [0]]),
    ("UniqueV2", {}, [(8,), []]),
    ("InTopK", {"k": 2}, [PLAIN, (4,)]),
    ("InTopKV2", {}, [PLAIN, (4,), 2]),
    ("TopK", {"k": 3}, [PLAIN]),
    ("TopKV2", {}, [PLAIN, 3]),
    # Elementwise.
    ("{,Ref}Switch", {}, [PLAIN]),
    ("LoopCond", {}, [SCALAR]),
    ("AddV2 SelectV2", {}, [(4, 1), (6,), (4, 6)]),
    ("AddV2", {}, [(4, 1), (3, 1, 6)]),
    ("Select", {}, [PLAIN, PLAIN, PLAIN]),
    ("Select", {}, [(4,), PLAIN, PLAIN]),
    ("Select", {}, [SCALAR, PLAIN, PLAIN]),
    ("Bucketize", {"boundaries": []}, [PLAIN]),
    ("IdentityN", {"T": [1, 3]}, [PLAIN, (5,)]),
    ("Print", {"U": [1]}, [PLAIN, (5,)]),
    ("PrintV2", {}, [SCALAR]),
    ("{,Ref}Merge", {}, [PLAIN, PLAIN]),
    ("Merge", {}, [PLAIN, (4, 5)]),
    ("Merge", {}, [PLAIN, (4,)]),
    # Lists, arrays, tables, queues and datasets.
    ("TensorListScatterIntoExistingList", {}, [LIST, (3, 4, 6), (3,)]),
    ("TensorListResize", {}, [LIST, 5]),
    ("TensorListScatter{,V2}", {}, [(3, 4, 6), (3,), [4, 6]]),
    ("TensorListConcatLists", {}, [LIST, LIST]),
    ("EmptyTensorList TensorListReserve", {}, [[4, 6], 3]),
    ("TensorListFromTensor", {}, [(3, 4, 6), [4, 6]]),
    ("TensorListSetItem", {}, [LIST, SCALAR, PLAIN]),
    ("TensorListPushBack", {}, [LIST, PLAIN]),
    ("TensorListPopBack TensorListStack", {}, [LIST, [4, 6]]),
    ("TensorListStack", {"num_elements": 3}, [LIST, [-1, -1]]),
    ("TensorListGetItem", {}, [LIST, SCALAR, [4, 6]]),
    ("TensorListGather", {}, [LIST, (2,), [4, 6]]),
    ("TensorListConcat", {"element_shape": (4, 6)}, [FILLED]),
    ("TensorListConcat", {"element_shape": (-1, 6)}, [FILLED]),
    ("TensorListConcatV2", {}, [LIST, [4, 6], (0,)]),
    ("TensorListLength TensorListElementShape", {}, [LIST]),
    ("TensorListSplit", {}, [(12, 6), [4, 6], (3,)]),
    ("TensorArraySizeV3", {}, [ARRAY]),
    ("TensorArrayWriteV3", {}, [ARRAY, SCALAR, PLAIN]),
    ("TensorArrayScatterV3", {}, [ARRAY, (3,), (3, 4, 6)]),
    ("TensorArraySplitV3", {}, [ARRAY, (12, 6), (3,)]),
    ("{,Mutable}HashTable{,V2} OneShotIterator FIFOQueueV2 RandomShuffleQueueV2 Timestamp",
     {"component_types": [1], **SHAPES}, []),
    ("Iterator IteratorV2 AnonymousIteratorV3", SHAPES, []),
    ("IteratorGetNext{,Sync}", SHAPES, [ITERATOR]),
    ("DatasetToSingleElement OptionalGetValue", SHAPES, [SCALAR]),
    ("ReduceDataset", {"Tstate": [1, 3], **SHAPES}, [SCALAR, SCALAR]),
    ("{,Stateless}{While,If,Case}", {"T": [1, 3], "Tout": [1, 3], "branches": ["a_function"],
      "output_shapes": SHAPES["output_shapes"]}, [SCALAR]),
    ("QueueSizeV2", {}, [QUEUE]),
    ("ScalarSummary", {}, [SCALAR, SCALAR]),
    ("MergeSummary ShardedFilename", {}, []),
    ("HistogramSummary", {}, [SCALAR, PLAIN]),
    ("ImageSummary", {}, [SCALAR, IMAGE]),
    ("StatelessRandomGetAlg", {}, []),
    ("BroadcastGradientArgs", {}, [[4, 6], [1, 6]]),
    ("BroadcastGradientArgs", {}, [[4, 6], [4, 6]]),
    ("BroadcastArgs", {}, [[4, 1], [6]]),
    # Cut.
    ("StridedSlice", {}, [PLAIN, [0, 1], [2, 6], [1, 2]]),
    ("StridedSlice", {"begin_mask": 1, "shrink_axis_mask": 2}, [PLAIN, [2, 1], [3, 2], [1, 1]]),
    ("StridedSlice", {"end_mask": 1, "new_axis_mask": 2}, [PLAIN, [-3, 0], [0, 0], [2, 1]]),
    ("StridedSlice", {"ellipsis_mask": 1}, [(2, 3, 4), [0, 1], [0, -1], [1, 1]]),
    ("StridedSlice", {"begin_mask": 3, "end_mask": 3}, [PLAIN, [0, 0], [0, 0], [-1, 2]]),
    ("StridedSliceGrad", {}, [[4, 6], [0, 1], [2, 6], [1, 2], (2, 3)]),
    ("Slice", {}, [PLAIN, [1, 2], [2, -1]]),
    ("Slice", {}, [PLAIN, [0, 0], [-1, 3]]),
    ("GatherV2", {}, [PLAIN, (3,), 1]),
    ("GatherV2", {"batch_dims": 1}, [(4, 6, 5), (4, 3), 1]),
    ("GatherV2", {"batch_dims": -1}, [(4, 6, 5), (4, 3), 2]),
    ("Gather", {}, [PLAIN, (3,)]),
    ("ResourceGather", {}, [PLAIN, (3,)]),
    ("ResourceGather", {"batch_dims": 1}, [(4, 6, 5), (4, 3)]),
    ("{,Resource}GatherNd", {}, [PLAIN, (3, 1)]),
    ("{,Resource}GatherNd", {}, [PLAIN, (3, 2)]),
    # Images.
    ("AdjustHue AdjustSaturation RGBToHSV HSVToRGB", {}, [COLOURS]),
    ("SpaceToDepth DepthToSpace", {"block_size": 2}, [IMAGE]),
    ("SpaceToDepth DepthToSpace", {"block_size": 2, "data_format": b"NCHW"}, [CHANNELS_FIRST]),
    ("SpaceToBatch", {"block_size": 2}, [IMAGE, [[1, 1], [2, 0]]]),
    ("SpaceToBatchND", {}, [IMAGE, [2, 2], MARGINS]),
    ("SpaceToBatchND", {}, [IMAGE, [2], [[0, 2]]]),
    ("BatchToSpace", {"block_size": 2}, [(8, 4, 4, 4), MARGINS]),
    ("BatchToSpaceND", {}, [(8, 4, 4, 4), [2, 2], MARGINS]),
    ("Pad{,V2} MirrorPad", {}, [PLAIN, MARGINS]),
    ("MaxPoolV2", {}, [IMAGE, [1, 2, 2, 1], [1, 2, 2, 1]]),
    ("MaxPoolGradV2", {}, [IMAGE, HALF, HALF, [1, 2, 2, 1], [1, 2, 2, 1]]),
    ("MaxPoolGradGradV2", {}, [IMAGE, HALF, IMAGE, [1, 2, 2, 1], [1, 2, 2, 1]]),
    ("MatrixSetDiag", {}, [MATRIX, (3, 5)]),
    ("MatrixSetDiag{V2,V3}", {}, [MATRIX, (3, 5), 0]),
    ("InplaceUpdate", {}, [PLAIN, (2,), (2, 6)]),
    ("ReduceJoin", {"keep_dims": True}, [PLAIN, [1]]),
    # Other attributes and other inputs; None: the inputs that op_shapes lists.
    ("Svd", {"full_matrices": True}, None),
    ("Svd", {"compute_uv": False}, None),
    ("Svd", {}, [(2, 3, 7)]),
    ("Qr", {"full_matrices": True}, None),
    ("Qr", {}, [(2, 3, 7)]),
    ("SelfAdjointEigV2", {"compute_v": False}, None),
    ("Eig", {"compute_v": False}, None),
    ("MatrixSolveLs", {}, [(3, 6, 4), (3, 6, 2), SCALAR]),
    ("MatrixTriangularSolve", {}, [(5, 5), (3, 5, 2)]),
    ("BandedTriangularSolve", {}, [(2, 5), (3, 5, 2)]),
    ("CudnnRNN", {"direction": b"bidirectional"}, [(5, 2, 3), (2, 2, 4), (2, 2, 4), (352,)]),
    ("CudnnRNNV2", {"rnn_mode": b"gru"}, [(5, 2, 3), (1, 2, 4), SCALAR, (132,)]),
    ("CudnnRNNV3", {"rnn_mode": b"rnn_relu"}, [(5, 2, 3), (1, 2, 4), SCALAR, (132,), (2,)]),
    ("CudnnRNN", {"num_proj": 2}, [(5, 2, 3), (1, 2, 2), (1, 2, 4), (99,)]),
    ("CudnnRNNV3", {"num_proj": 2}, [(5, 2, 3), (1, 2, 2), (1, 2, 4), (99,), (2,)]),
    ("SparseTensorDenseMatMul", {"adjoint_a": True}, [(7, 2), (7,), [4, 6], (4, 3)]),
    ("SparseTensorDenseMatMul", {"adjoint_b": True}, [(7, 2), (7,), [4, 6], (3, 6)]),
    ("QuantizedMatMul", {"transpose_a": True, "transpose_b": True}, [(6, 4), (2, 6)]),
    ("QuantizedConv2D", {"strides": [1, 2, 2, 1], "padding": b"VALID"}, None),
    ("QuantizedDepthwiseConv2D", {"strides": [1, 2, 2, 1], "padding": b"VALID"}, None),
    ("QuantizedMaxPool", {"strides": [1, 3, 2, 1], "padding": b"VALID"}, None),
    ("_MklNativeAvgPool", {"strides": [1, 3, 2, 1], "padding": b"VALID"}, None),
    ("FusedPadConv2D", {"strides": [1, 2, 2, 1], "padding": b"VALID"}, None),
    ("FusedResizeAndPadConv2D", {"strides": [1, 2, 2, 1], "padding": b"VALID"}, None),
    ("DenseBincount", {}, [(3, 8), 5, (3, 8)]),
    ("QuantizedAdd", {}, [(4, 1), (3, 1, 6)]),
    ("UniformQuantizedAdd", {}, [(4, 1), (3, 1, 6)]),
    ("SegmentSumV2", {}, [(5, 2, 3), (5,), 4]),
    ("RFFT", {}, [(3, 9), [9]]),
    # Inputs whose numbers would say the shape, and are unknown.
    ("IRFFT2D", {}, [VOLUME, (2,)]),
    ("RFFT3D", {}, [VOLUME, (3,)]),
    ("CropAndResizeGradImage", {}, [(3, 5, 5, 4), (3, 4), (3,), (4,)]),
    ("AvgPoolGrad", {}, [(4,), HALF]),
    ("FractionalAvgPoolGrad", {}, [(4,), HALF, (5,), (5,)]),
    ("Conv2DBackpropInput", {}, [(4,), WEIGHTS, (2, 8, 8, 5)]),
    ("Conv2DBackpropFilter", {}, [IMAGE, (4,), (2, 8, 8, 5)]),
    ("QuantizedResizeBilinear", {}, [IMAGE, (2,)]),
    ("Bincount", {}, [(8,), SCALAR, (8,)]),
    ("HistogramFixedWidth", {}, [PLAIN, (2,), SCALAR]),
    ("SegmentMaxV2", {}, [PLAIN, (4,), SCALAR]),
    ("SparseSegmentSumWithNumSegments", {}, [PLAIN, (3,), (3,), SCALAR]),
    ("SparseSegmentMeanGrad", {}, [PLAIN, (3,), (3,), SCALAR]),
    ("XlaReduceScatter", {}, [PLAIN, (1, 2), SCALAR]),
    ("FusedResizeAndPadConv2D", {}, [IMAGE, (2,), PADDING, WEIGHTS]),
    # Dimension 0 of both factors is a batch; then 2 of the left and 1 of the right are summed over.
    (
        "XlaDotV2",
        {"dimension_numbers": b"\x0a\x01\x02\x12\x01\x01\x1a\x01\x00\x22\x01\x00"},
        [(3, 4, 6), (3, 6, 2)],
    ),
    ("XlaReduceScatter", {}, [(4, 6), (1, 3), 1]),
    ("ApplyAdam", {"use_nesterov": True}, None),
    (
        "_MklNativeFusedBatchNormGradV3",
        {"data_format": b"NCHW"},
        [(2, 4, 8, 8), (2, 4, 8, 8)] + [(4,)] * 4,
    ),
    ("Conv2D", {"data_format": b"NCHW", "strides": [1, 1, 2, 2]}, [CHANNELS_FIRST, WEIGHTS]),
    ("Conv2D", {"data_format": b"NCHW", "padding": b"VALID", "dilations": [1, 1, 2, 1]},
     [CHANNELS_FIRST, WEIGHTS]),
    ("Conv2D", {"padding": b"EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 4, 0, 0]}, None),
    ("Conv2D", {}, [(2, 8, 8, 8), (3, 3, 4, 6)]),
    ("_FusedConv2D", {"data_format": b"NCHW"}, [CHANNELS_FIRST, WEIGHTS, (5,), (5,)]),
    ("Conv3D", {"data_format": b"NCDHW", "padding": b"VALID"}, [(2, 4, 8, 8, 8), DEEP_WEIGHTS]),
    ("Conv", {"data_format": b"CHANNELS_FIRST", "strides": [1, 1, 2, 2]},
     [CHANNELS_FIRST, WEIGHTS]),
    ("Conv", {"batch_dims": 2}, [(2, 3, 8, 8, 4), WEIGHTS]),
    ("DepthwiseConv2dNative", {"data_format": b"NCHW"}, [CHANNELS_FIRST, (3, 3, 4, 2)]),
    ("Conv2DBackpropInput", {}, [[8, 8], WEIGHTS, (2, 8, 8, 5)]),
    ("Conv2DBackpropInput", {"data_format": b"NCHW"}, [[2, 4, 8, 8], WEIGHTS, (2, 5, 8, 8)]),
    ("{Avg,Max}Pool", {"data_format": b"NCHW", "ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 2],
      "padding": b"VALID"}, [CHANNELS_FIRST]),
    ("{Avg,Max}Pool3D", {"data_format": b"NCDHW", "ksize": [1, 1, 2, 2, 3],
      "strides": [1, 1, 2, 2, 2], "padding": b"VALID"}, [(2, 4, 8, 8, 8)]),
    ("MaxPool", {"padding": b"EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 1, 1, 0, 0]}, None),
    ("Dilation2D", {"padding": b"VALID", "rates": [1, 2, 1, 1]}, None),
    ("BiasAdd", {}, [IMAGE, (4,)]),
    ("BiasAdd", {"data_format": b"NCHW"}, [CHANNELS_FIRST, (4,)]),
    ("BiasAddGrad", {"data_format": b"NCHW"}, [CHANNELS_FIRST]),
    ("FusedBatchNormV3", {"data_format": b"NCHW"}, [CHANNELS_FIRST, (4,), (4,), (4,), (4,)]),
    ("MatMul", {"transpose_a": True, "transpose_b": True}, [(6, 4), (2, 6)]),
    ("BatchMatMulV2", {"adj_x": True}, [(3, 1, 6, 4), (5, 6, 2)]),
    ("Einsum", {"equation": b"...ij,jk->...ik"}, [(3, 4, 6), (6, 2)]),
    ("Einsum", {"equation": b"bhqd,bhkd->bhqk"}, [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("Sum Max Mean All", {"keep_dims": True}, [(2, 3, 4), [0, -1]]),
    ("Sum", {}, [(2, 3, 4), 1]),
    ("Sum", {}, [(2, 3, 4), []]),
    ("ArgMax", {}, [(2, 3, 4), -1]),
    ("UnsortedSegmentSum", {}, [(4, 6, 5), (4, 6), 3]),
    ("SparseDenseCwise{Add,Div,Mul}", {}, [(7, 2), (7,), [4, 6], PLAIN]),
    ("ResourceCountUpTo", {"T": 9, "limit": 3}, [COUNTER]),
]  # fmt: skip


@cache
def cases() -> list[Case]:
    """All cases: those listed, and one of each other type that has a shape rule."""
    listed = [
        Case(op, attributes, inputs) for text, attributes, inputs in CASES for op in names(text)
    ]
    there = {case.op for case in listed} - {case.op for case in listed if case.inputs is None}
    by_default = [
        op for op in sorted(OPS) if OPS[op].shape and op not in there and op not in NOT_BUILT
    ]
    return [*(Case(op, {}, None) for op in by_default), *listed]
