"""CLASSES of operation types (moves data, state, random, call …), for counting and summaries.

moves               tensors as they are: Const, Reshape, Gather, Transpose, Cast     ┐
state               variables, tables, queues, lists, iterators, datasets            │ no
describes           shapes, summaries, checks, text                                  │ arithmetic
random, order       the work depends on the numbers: 0 by convention                 │
HLO                 opcodes of XLA that do one of these                              ┘
function call       the work is in a function or program that it calls
variable read, …    what a summary of a model needs to know

A class is a list of names and of patterns: new versions of TensorFlow add operations to families
that exist, and rarely a family.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Strings

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool
    from tfprof.model import Profile

_LONGEST: Final = 200
_EXACTLY: Final = "exactly"


class OpClass:
    """Operation types by name and by pattern, which matches names up to their version.

    Where the first word is `exactly`, patterns match whole names.
    """

    def __init__(self, *texts: str) -> None:
        words = " ".join(texts).split()
        versions = "" if words[0] == _EXACTLY else "(?:V[0-9]+)?"
        # Opcodes of HLO have hyphens.
        names = {word for word in words if word.replace("-", "_").isidentifier()}
        self._names = frozenset(names) - {_EXACTLY}
        patterns = "|".join(word for word in words if word not in names)
        self._text = f"(?:{patterns}){versions}" if patterns else ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._text)

    def __contains__(self, op: str) -> bool:
        if op in self._names:
            return True
        # No operation has such a long name, and patterns could take long.
        short = len(op) <= _LONGEST
        return bool(self._text) and short and self._pattern.fullmatch(op) is not None


MOVES: Final = r"""
    AllToAll AssignVariableXlaConcatND Bitcast BroadcastTo Cast Complex Concat ConcatV2
    CompositeTensorVariantFromComponents CompositeTensorVariantToComponents CompressElement Conj
    ConjugateTranspose Copy CopyHost CopyToMesh CopyToMeshGrad DataFormatDimMap DataFormatVecPermute
    DeepCopy DepthToSpace Diag DiagPart DynamicPartition DynamicStitch EnsureShape ExpandDims Fill
    GetElementAtIndex GuaranteeConst Identity IdentityN Imag InplaceUpdate InvertPermutation
    LinSpace MaxPoolGradGradWithArgmax MirrorPad OneHot OnesLike Pack Pad PadV2 ParallelConcat
    ParallelDynamicStitch PreventGradient QuantizedConcat QuantizedConcatV2 QuantizedReshape Range
    ReadVariableXlaSplitND Real Recv Relayout RelayoutLike Reshape ResizeNearestNeighbor Roll Select
    SelectV2 Send Slice Snapshot Split SplitV Squeeze StopGradient Tile ToBool Transpose UnbatchGrad
    UncompressElement Unpack UnravelIndex Where XlaBroadcastHelper XlaConcatND XlaDynamicSlice
    XlaDynamicUpdateSlice XlaGather XlaOptimizationBarrier XlaPad XlaRecv XlaReducePrecision XlaSend
    XlaSharding XlaSplitND ZerosLike Batch Unbatch (Batch)?Matrix(BandPart|Diag|DiagPart|SetDiag)
    (BatchToSpace|SpaceToBatch)(ND)? SpaceToDepth(V2)?
    Collective(AllToAll|Bcast\w*|Gather|Permute|AssignGroup|InitializeCommunicator)
    CudnnRNN(CanonicalToParams|ParamsToCanonical|ParamsSize) Extract(Image|Volume)Patches
    ExtractGlimpse(V2)? (Resource)?Gather(Nd)? (Resource|Tensor)?Scatter(Nd)?Update
    (Resource|Tensor)?StridedSlice(Assign|Grad|Update)? Reverse(Sequence)?
    Ragged(Cross|FillEmptyRows|Gather|Range|TensorFromVariant|TensorToSparse)
    RaggedTensorTo(Tensor|Variant|VariantGradient)
    Sparse(AddGrad|Concat|Cross|CrossHashed|FillEmptyRows|Reorder|Reshape|Slice|SliceGrad)
    Sparse(Split|ToDense) (In|Out)feed\w+ Prelinearize(Tuple)? HostConst(V2)? _EagerConst(V2)?
    Xla(Recv|Send)(From|To)Host XlaSpmd\w+ Xla(Set|Remove)\w*(Bound|DynamicDimensionSize)
    (Nccl|_Nccl)Broadcast\w* _NcclReduce(Recv|Send) TPU(Partitioned|Replicated)(In|Out)put
    TPU(Copy|Annotate)\w+ TPUDummyInput(V2)? _Mkl(Quantized)?Concat _Mkl(Conjugate)?Transpose
    _(ArrayToList|ListToArray|HostCast|HostRecv|HostSend|Recv|Send|SwitchN) _(Device)?(Arg|Retval)
    _ParallelConcat\w+ _ScopedAllocator\w*
    _Xla(RecvAtHost|SendFromHost|Merge|CompileMlirPlaceholderProgramKey)
"""
STATE: Final = r"""
    Assign AssignVariableOp BroadcastArgs BroadcastGradientArgs ComputeBatchSize ConcatOffset Const
    ControlTrigger ConsumeMutexLock DestroyResourceOp DestroyTemporaryVariable DeviceIndex
    DisableCopyOnRead Empty FakeParam FakeQueue GetOptions GlobalIterId ImmutableConst
    IsTensorFloat32Enabled IsResourceHandleRefCounting IsVariableInitialized LoopCond
    MakeWeakResourceHandle NoOp Rank ReadVariableOp RefSelect Shape ShapeN Size StubResourceHandleOp
    TemporaryVariable Timestamp VarHandleOp VarIsInitializedOp Variable VariableShape VariableV2
    XlaClusterOutput XlaReplicaId GraphDefVersion SyncDevice TPUReplicateMetadata TPURoundRobin
    TPUOrdinalSelector TPUCompilationResult TPUCompileSucceededAssert TPUReshardVariables
    DataServiceDataset DataServiceDatasetV2 SnapshotDataset CheckPinned _ReadVariablesOp
    _VarHandlesOp _XlaAotOnlyVarHandleOp (Ref)?(Enter|Exit|Merge|NextIteration|Switch)
    RefIdentity(V2)? Placeholder(WithDefault)?
    (?!OneShot)\w*(Barrier\w*|Iterator\w*|MemoryCache|SeedGenerator|IterationCounter)
    (TensorArray|TensorList|TensorMap|EmptyTensor|Optional)\w*
    (Ordered)?Map(Clear|IncompleteSize|Peek|Size|Stage|Unstage|UnstageNoKey) Stack(Close|Pop|Push)?
    Stage(Clear|Peek|Size)? Unstage(V2)? RecordInput(V2)? Mutex(Lock)?
    Queue(Close|(De|En)queue(Many|UpTo)?|IsClosed|Size) \w*(FIFO|Priority|RandomShuffle)Queue
    LookupTable\w+ InitializeTable\w* \w*HashTable(OfTensors)?
    (Resource|Sparse)?(ConditionalAccumulator|Accumulator(NumAccumulated|SetGlobalStep))
    GetSession(Handle|Tensor) DeleteSessionTensor(V2)? (Add|Take)(Many)?Sparse(To|From)TensorsMap
    Rpc(CheckStatus|Client|GetValue|Server|ServerStart) DeleteRpcFutureResource(V2)?
    (_|)(Configure|Initialize|Shutdown|Wait|Disconnect)\w*TPU\w* _SetGlobalTPUArray(V2)?
    GetDeadline(V2)? GetTpuTaskId(V2)? UpdateTaskIdAndGlobalCoreArray(V2)? TpuHandleToProtoKey(V2)?
    WorkerHeartbeat(V2)? FileSystemSetConfiguration(V2)?
    (Experimental)?(Assert(Next|Prev|Cardinality)|AutoShard|BytesProducedStats|CSV)Dataset
    (Experimental)?(Cache|ChooseFastest|Concatenate|DenseToSparseBatch)Dataset
    (Experimental)?(DirectedInterleave|FilterByLastComponent|Finalize|FixedLengthRecord)Dataset
    (Experimental)?(GlobalShuffle|IgnoreErrors|LMDB|LatencyStats|List|ListSnapshotChunks)Dataset
    (Experimental)?(MatchingFiles|MaxIntraOpParallelism|Model|NonSerializable)Dataset
    (Experimental)?(Optimize|Options|(Padded|Parallel)?Batch|ParseExample|Prefetch)Dataset
    (Experimental)?(PrivateThreadPool|Random|Range|Rebatch|Repeat|Rewrite|Sampling)Dataset
    (Experimental)?(SetStatsAggregator|Shard|Shuffle|ShuffleAndRepeat|Skip|Sleep)Dataset
    (Experimental)?(SlidingWindow|SnapshotChunk|SparseTensorSlice|Sql|TFRecord|Take)Dataset
    (Experimental)?(Tensor|TensorSlice|TextLine|ThreadPool|Unbatch|Unique|Window|Zip)Dataset
    WeightedFlatMapDataset(V2)?
    (Experimental)?Dataset(Cardinality|Fingerprint|FromGraph|ToGraph|ToSingleElement|ToTFRecord)
    (Register|Window)(Dataset|Op) (Unw|W)rapDatasetVariant Snapshot(Nested)?DatasetReader
    (Experimental)?(StatsAggregator\w+|ThreadPoolHandle)
"""
DESCRIBES: Final = r"""
    Abort AsString Assert CalibrationStatisticsSaver DrawBoundingBoxes DrawBoundingBoxesV2
    DumpTensor EditDistance Fingerprint GenerateVocabRemapping ImportEvent LoadAndRemapMatrix Print
    PrintV2 ReadFile ReduceJoin Substr UnsortedSegmentJoin WriteFile _TensorToHashBucketFast
    SdcaFprint DistributedSave MatchingFiles MergeV2Checkpoints CheckNumerics(V2)? Debug\w+
    (Audio|Histogram|Image|Merge|Scalar|Tensor)Summary (Close|Flush)?SummaryWriter
    CreateSummary(Db|File)Writer Write(Audio|Graph|Histogram|Image|RawProto|Scalar)?Summary
    (Save|Restore)(Slices?)? Sharded(Filename|Filespec) DTensorRestore(V2)? (Static)?Regex\w+
    String\w+ Unicode\w+
    (Decode|Encode|Parse)(Base64|CSV|Compressed|JSONExample|PaddedRaw|Proto|Raw|Tensor)
    Parse(Single)?(Sequence)?Example (Des|S)erialize(Iterator|ManySparse|Sparse|Tensor)
    ExtractJpegShape(V2)? (\w*Reader|Reader\w+)
"""
RANDOM: Final = r"""
    Multinomial NonDeterministicInts ParameterizedTruncatedNormal Skipgram SobolSample
    StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessShuffle
    StatelessTruncatedNormal StatelessTruncatedNormalV2 StochasticCastToInt TruncatedNormal
    XlaRngBitGenerator \w*CandidateSampler ComputeAccidentalHits(V2)?
    (Stateful|Stateless)?Random(Binomial|Crop|Gamma(Grad)?|GetAlg|GetKeyCounter(Alg)?)
    (Stateless)?Random(IndexShuffle|Normal|Poisson|Shuffle|StandardNormal|Uniform\w*)
    Stateful(StandardNormal|TruncatedNormal|Uniform\w*) Rng(ReadAndSkip|Skip)
    (Stateless)?SampleDistortedBoundingBox
"""
ORDER: Final = """
    ApproxTopK Bucketize DenseCountSparseOutput InTopK InTopKV2 KthOrderStatistic ListDiff
    LowerBound MakeUnique NthElement RaggedCountSparseOutput SetSize SparseCountSparseOutput TopK
    TopKUnique TopKV2 TopKWithUnique UpperBound XlaKeyValueSort XlaSort Unique(WithCounts)?
    (Dense|Sparse)To(Dense|Sparse)SetOperation
"""
# Opcodes of HLO, all in lower case; sort and topk are of the class order, rng of random.
HLO: Final = """
    add-dependency after-all all-gather all-gather-done all-gather-start all-reduce-done all-to-all
    async-done async-update bitcast bitcast-convert broadcast collective-broadcast
    collective-permute collective-permute-done collective-permute-start complex concatenate constant
    convert copy copy-done copy-start domain dynamic-reshape dynamic-slice dynamic-update-slice
    gather get-dimension-size get-tuple-element imag infeed iota opt-barrier outfeed pad parameter
    partition-id ragged-all-to-all real recv recv-done reduce-precision replica-id reshape reverse
    rng rng-bit-generator rng-get-and-update-state select send send-done set-dimension-size shuffle
    slice sort stochastic-convert topk transpose tuple
"""
HLO_CALLS: Final = "async-start call conditional fusion scan while"

CLASSES: Final = {
    "no arithmetic": OpClass(MOVES, STATE, DESCRIBES, RANDOM, ORDER, HLO),
    # Functions whose bodies are part of the graph count by their bodies; the others are gaps.
    "function call": OpClass(HLO_CALLS, r"""
        BatchFunction EagerPyFunc For MapDefun OneShotIterator PyFunc PyFuncStateless RemoteCall
        RiscCondition RiscWhile RpcCall RpcServerRegister SymbolicGradient TPUExecute
        TPUExecuteAndUpdateVariables XlaCallModule XlaHostCompute XlaReduce XlaReduceWindow
        XlaScatter XlaSelectAndScatter XlaSparseDenseMatmulGradWithCsrInput XlaVariadicSort
        _TPUCompileMlir _TPUReplicate _XlaCompile _XlaHostComputeMlir _XlaRun TPUCompile
        DataServiceDatasetV3 DataServiceDatasetV4 LoadDataset SaveDataset SaveDatasetV2
        SnapshotDatasetV2 (Stateful|TPU)?PartitionedCall (Stateless|Xla|_)?(Case|If|While)
        XlaLaunch(V2)? XlaCustomCall(V2)? XlaVariadicReduce(V2)?
        XlaSparseDenseMatmulCustomCombiner\w+
        (Experimental|Legacy|Parallel|Index|LegacyParallel)?(Flat)?(Map|Interleave|Filter)Dataset
        ExperimentalParallelInterleaveDataset(V2)?
        (Experimental)?(MapAndBatch|GroupByReducer|GroupByWindow|Scan|TakeWhile)Dataset
        (ChooseFastestBranch|Generator|Reduce)Dataset
    """),
    # --- for summaries of models ---
    "variable handle": OpClass("VarHandleOp _VarHandlesOp"),
    "reference variable": OpClass("Variable VariableV2"),
    "variable read": OpClass("ReadVariableOp _ReadVariablesOp"),
    "constant": OpClass("Const HostConst ImmutableConst constant"),
    "placeholder": OpClass("exactly Placeholder(V2|WithDefault)? _(Device)?Arg _Retval parameter"),
    # They pass a tensor on, or describe it: no memory of their own.
    "alias": OpClass(r"""
        exactly Identity(N)? RefIdentity Reshape Squeeze ExpandDims StopGradient PreventGradient
        Bitcast EnsureShape Snapshot Shape(N)? Size Rank VariableShape NoOp _?(Send|Recv)
        (Ref)?(Enter|Exit|Merge|NextIteration|Switch) LoopCond ControlTrigger GuaranteeConst
        TensorList\w* EmptyTensorList TensorArray\w* Stack(Push|Pop|Close)?(V2)? Assert Print(V2)?
        DisableCopyOnRead IteratorGetNext\w* Optional(HasValue|GetValue) BroadcastGradientArgs
        add-dependency after-all all-gather-done all-reduce-done async-done async-update bitcast
        bitcast-convert collective-permute-done copy-done domain get-dimension-size
        get-tuple-element opt-barrier recv recv-done reshape send send-done set-dimension-size tuple
    """),
    # What they take out of a list was not a tensor before.
    "out of a list": OpClass(r"""
        exactly TensorList(Stack|Concat(V2)?|Gather|GetItem|PopBack)
        TensorArray(Gather|Concat|Read)(V\d)? StackPop(V2)?
    """),
    # They initialise, save, restore or train.
    "saves": OpClass(r"""
        exactly (Merge)?Save(V2|Slices)? SaveSlices Restore(V2|Slice)? MergeV2Checkpoints
        ShardedFilename Assign\w* \w*Apply[A-Z]\w* Initialize\w* (Resource)?Scatter\w*
        VarIsInitializedOp IsVariableInitialized DestroyResourceOp MakeIterator WriteFile
        LookupTableImport\w* DisableCopyOnRead
    """),
    # They change a variable, as training does.
    "changes a variable": OpClass(r"""
        exactly Assign\w* \w*Apply[A-Z]\w* (Resource)?Scatter(Nd)?(Add|Sub|Update)
    """),
    "no outputs": OpClass("exactly Save(V2|Slices)? MergeV2Checkpoints NoOp"),
    "reports": OpClass(r"exactly \w*Summary(V2)? NoOp Assert Print(V2)? MergeSummary"),
    "call in a graph": OpClass("exactly", HLO_CALLS, r"""
        (Stateful)?PartitionedCall (Stateless)?(While|If|Case) RemoteCall SymbolicGradient
    """),
    "call of XLA": OpClass("exactly", HLO_CALLS),
    "fusion": OpClass("fusion"),
    "sort": OpClass("sort"),
    "reduce": OpClass("reduce reduce-window"),
    "convolution": OpClass("convolution"),
    "dot": OpClass("dot ragged-dot scaled-dot"),
    "identity": OpClass("Identity"),
    "sum of tensors": OpClass("AddN"),
    "next iteration": OpClass("NextIteration RefNextIteration"),
    "passes a loop variable": OpClass("exactly (Ref)?(Identity|Switch|NextIteration)"),
    "cast": OpClass("Cast convert"),
    "list or constant": OpClass("EmptyTensorList Const"),
    # --- for inference and advice ---
    "graph input": OpClass("Placeholder PlaceholderV2 PlaceholderWithDefault _Arg"),
    "loop condition": OpClass("LoopCond"),
    "loop entry": OpClass("exactly (Ref)?Enter"),
    "loop exit": OpClass("exactly (Ref)?Exit"),
    "fused batch normalization": OpClass("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3"),
}  # fmt: skip


def of_class(profile: Profile, *kinds: str, among: Bool | None = None) -> Bool:
    """Which nodes, of those *among*, have an operation type in one of these classes."""
    op = profile.nodes.op
    is_asked = np.zeros(len(profile.types) + 1, np.bool_)
    is_asked[op if among is None else op[among]] = True
    asked = np.flatnonzero(is_asked)
    classes = [CLASSES[kind] for kind in kinds]
    names = profile.types.take(asked).texts()
    is_asked[asked] = [any(name in words for words in classes) for name in names]
    fits: Bool = is_asked[op]
    return fits if among is None else fits & among


def with_type(profile: Profile, kind: bytes) -> Bool:
    """Which nodes have this additional type."""
    has_type = np.zeros(len(profile), np.bool_)
    if len(profile.types):
        row = int(profile.types.find(Strings.of([kind]))[0])
        has_type[profile.typed_node[profile.typed_as == row]] = True
    return has_type
