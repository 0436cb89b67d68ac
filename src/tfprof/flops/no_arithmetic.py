"""Operations that count nothing: they do no arithmetic, or it is 0 by convention.

make, move, pick     tensors as they are: Const, Reshape, Gather, Transpose, Select, Cast
keep                 variables, tables, queues, lists, iterators
tell                 shapes, summaries, checks, text
random, order        what these take depends on the numbers drawn or compared: by convention 0
"""

from __future__ import annotations

from typing import Final

from tfprof.flops.families import Family

MOVES: Final = Family(
    """
    AllToAll AssignVariableXlaConcatND Bitcast BroadcastTo Cast Complex Concat ConcatV2
    CompositeTensorVariantFromComponents CompositeTensorVariantToComponents CompressElement Conj
    ConjugateTranspose Copy CopyHost CopyToMesh CopyToMeshGrad DataFormatDimMap
    DataFormatVecPermute DeepCopy DepthToSpace Diag DiagPart DynamicPartition DynamicStitch
    EnsureShape ExpandDims Fill GetElementAtIndex GuaranteeConst Identity IdentityN Imag
    InplaceUpdate InvertPermutation LinSpace MaxPoolGradGradWithArgmax MirrorPad OneHot OnesLike
    Pack Pad PadV2 ParallelConcat ParallelDynamicStitch PreventGradient QuantizedConcat
    QuantizedConcatV2 QuantizedReshape Range ReadVariableXlaSplitND Real Recv Relayout RelayoutLike
    Reshape ResizeNearestNeighbor Roll Select SelectV2 Send Slice Snapshot Split SplitV Squeeze
    StopGradient Tile ToBool Transpose UnbatchGrad UncompressElement Unpack UnravelIndex Where
    XlaBroadcastHelper XlaConcatND XlaDynamicSlice XlaDynamicUpdateSlice XlaGather
    XlaOptimizationBarrier XlaPad XlaRecv XlaReducePrecision XlaSend XlaSharding XlaSplitND
    ZerosLike Batch Unbatch
    """,
    [
        r"(Batch)?Matrix(BandPart|Diag|DiagPart|SetDiag)",
        r"(BatchToSpace|SpaceToBatch)(ND)?|SpaceToDepth",
        r"Collective(AllToAll|Bcast\w*|Gather|Permute|AssignGroup|InitializeCommunicator)",
        r"CudnnRNN(CanonicalToParams|ParamsToCanonical|ParamsSize)",
        r"Extract(Image|Volume)Patches|ExtractGlimpse",
        r"(Resource)?Gather(Nd)?",
        r"(Resource|Tensor)?Scatter(Nd)?Update",
        r"(Resource|Tensor)?StridedSlice(Assign|Grad|Update)?",
        r"Reverse(Sequence)?",
        r"Ragged(Cross|FillEmptyRows|Gather|Range|TensorFromVariant|TensorToSparse)",
        r"RaggedTensorTo(Tensor|Variant|VariantGradient)",
        r"Sparse(AddGrad|Concat|Cross|CrossHashed|FillEmptyRows|Reorder|Reshape|Slice|SliceGrad)",
        r"Sparse(Split|ToDense)",
        r"(In|Out)feed\w+|Prelinearize(Tuple)?|HostConst|_EagerConst",
        r"Xla(Recv|Send)(From|To)Host|XlaSpmd\w+|Xla(Set|Remove)\w*(Bound|DynamicDimensionSize)",
        r"(Nccl|_Nccl)Broadcast\w*|_NcclReduce(Recv|Send)",
        r"TPU(Partitioned|Replicated)(In|Out)put|TPU(Copy|Annotate)\w+|TPUDummyInput",
        r"_Mkl(Quantized)?Concat|_Mkl(Conjugate)?Transpose",
        r"_(ArrayToList|ListToArray|HostCast|HostRecv|HostSend|Recv|Send|SwitchN)",
        r"_(Device)?(Arg|Retval)|_ParallelConcat\w+|_ScopedAllocator\w*",
        r"_Xla(RecvAtHost|SendFromHost|Merge|CompileMlirPlaceholderProgramKey)",
    ],
)
KEEPS: Final = Family(
    """
    Assign AssignVariableOp BroadcastArgs BroadcastGradientArgs ComputeBatchSize ConcatOffset Const
    ControlTrigger ConsumeMutexLock DestroyResourceOp DestroyTemporaryVariable DeviceIndex
    DisableCopyOnRead Empty FakeParam FakeQueue GetOptions GlobalIterId ImmutableConst
    IsTensorFloat32Enabled IsResourceHandleRefCounting IsVariableInitialized LoopCond
    MakeWeakResourceHandle NoOp Rank ReadVariableOp RefSelect Shape ShapeN Size StubResourceHandleOp
    TemporaryVariable Timestamp VarHandleOp VarIsInitializedOp Variable VariableShape VariableV2
    XlaClusterOutput XlaReplicaId GraphDefVersion SyncDevice TPUReplicateMetadata TPURoundRobin
    TPUOrdinalSelector TPUCompilationResult TPUCompileSucceededAssert TPUReshardVariables
    DataServiceDataset DataServiceDatasetV2 SnapshotDataset CheckPinned _ReadVariablesOp
    _VarHandlesOp _XlaAotOnlyVarHandleOp
    """,
    [
        r"(Ref)?(Enter|Exit|Merge|NextIteration|Switch)|RefIdentity",
        r"Placeholder(WithDefault)?",
        r"(?!OneShot)\w*(Barrier\w*|Iterator\w*|MemoryCache|SeedGenerator|IterationCounter)",
        r"(TensorArray|TensorList|TensorMap|EmptyTensor|Optional)\w*",
        r"(Ordered)?Map(Clear|IncompleteSize|Peek|Size|Stage|Unstage|UnstageNoKey)",
        r"Stack(Close|Pop|Push)?|Stage(Clear|Peek|Size)?|Unstage|RecordInput|Mutex(Lock)?",
        r"Queue(Close|(De|En)queue(Many|UpTo)?|IsClosed|Size)|\w*(FIFO|Priority|RandomShuffle)Queue",
        r"LookupTable\w+|InitializeTable\w*|\w*HashTable(OfTensors)?",
        r"(Resource|Sparse)?(ConditionalAccumulator|Accumulator(NumAccumulated|SetGlobalStep))",
        r"GetSession(Handle|Tensor)|DeleteSessionTensor",
        r"(Add|Take)(Many)?Sparse(To|From)TensorsMap",
        r"Rpc(CheckStatus|Client|GetValue|Server|ServerStart)|DeleteRpcFutureResource",
        r"(_|)(Configure|Initialize|Shutdown|Wait|Disconnect)\w*TPU\w*|_SetGlobalTPUArray",
        r"GetDeadline|GetTpuTaskId|UpdateTaskIdAndGlobalCoreArray|TpuHandleToProtoKey",
        r"WorkerHeartbeat|FileSystemSetConfiguration",
        # Datasets that call no function.
        r"(Experimental)?(Assert(Next|Prev|Cardinality)|AutoShard|BytesProducedStats|CSV)Dataset",
        r"(Experimental)?(Cache|ChooseFastest|Concatenate|DenseToSparseBatch)Dataset",
        r"(Experimental)?(DirectedInterleave|FilterByLastComponent|Finalize|FixedLengthRecord)Dataset",
        r"(Experimental)?(GlobalShuffle|IgnoreErrors|LMDB|LatencyStats|List|ListSnapshotChunks)Dataset",
        r"(Experimental)?(MatchingFiles|MaxIntraOpParallelism|Model|NonSerializable)Dataset",
        r"(Experimental)?(Optimize|Options|(Padded|Parallel)?Batch|ParseExample|Prefetch)Dataset",
        r"(Experimental)?(PrivateThreadPool|Random|Range|Rebatch|Repeat|Rewrite|Sampling)Dataset",
        r"(Experimental)?(SetStatsAggregator|Shard|Shuffle|ShuffleAndRepeat|Skip|Sleep)Dataset",
        r"(Experimental)?(SlidingWindow|SnapshotChunk|SparseTensorSlice|Sql|TFRecord|Take)Dataset",
        r"(Experimental)?(Tensor|TensorSlice|TextLine|ThreadPool|Unbatch|Unique|Window|Zip)Dataset",
        r"WeightedFlatMapDataset",
        r"(Experimental)?Dataset(Cardinality|Fingerprint|FromGraph|ToGraph|ToSingleElement|ToTFRecord)",
        r"(Register|Window)(Dataset|Op)|(Unw|W)rapDatasetVariant|Snapshot(Nested)?DatasetReader",
        r"(Experimental)?(StatsAggregator\w+|ThreadPoolHandle)",
    ],
)
TELLS: Final = Family(
    """
    Abort AsString Assert CalibrationStatisticsSaver DrawBoundingBoxes DrawBoundingBoxesV2
    DumpTensor EditDistance Fingerprint GenerateVocabRemapping ImportEvent LoadAndRemapMatrix Print
    PrintV2 ReadFile ReduceJoin Substr UnsortedSegmentJoin WriteFile _TensorToHashBucketFast
    SdcaFprint DistributedSave MatchingFiles MergeV2Checkpoints
    """,
    [
        r"CheckNumerics|Debug\w+",
        r"(Audio|Histogram|Image|Merge|Scalar|Tensor)Summary",
        r"(Close|Flush)?SummaryWriter|CreateSummary(Db|File)Writer",
        r"Write(Audio|Graph|Histogram|Image|RawProto|Scalar)?Summary",
        r"(Save|Restore)(Slices?)?|Sharded(Filename|Filespec)|DTensorRestore",
        r"(Static)?Regex\w+|String\w+|Unicode\w+",
        r"(Decode|Encode|Parse)(Base64|CSV|Compressed|JSONExample|PaddedRaw|Proto|Raw|Tensor)",
        r"Parse(Single)?(Sequence)?Example",
        r"(Des|S)erialize(Iterator|ManySparse|Sparse|Tensor)|ExtractJpegShape",
        r"(\w*Reader|Reader\w+)",
    ],
)
RANDOM: Final = Family(
    """
    Multinomial NonDeterministicInts ParameterizedTruncatedNormal Skipgram SobolSample
    StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessShuffle
    StatelessTruncatedNormal StatelessTruncatedNormalV2 StochasticCastToInt TruncatedNormal
    XlaRngBitGenerator
    """,
    [
        r"\w*CandidateSampler|ComputeAccidentalHits",
        r"(Stateful|Stateless)?Random(Binomial|Crop|Gamma(Grad)?|GetAlg|GetKeyCounter(Alg)?)",
        r"(Stateless)?Random(IndexShuffle|Normal|Poisson|Shuffle|StandardNormal|Uniform\w*)",
        r"Stateful(StandardNormal|TruncatedNormal|Uniform\w*)",
        r"Rng(ReadAndSkip|Skip)|(Stateless)?SampleDistortedBoundingBox",
    ],
)
ORDER: Final = Family(
    """
    ApproxTopK Bucketize DenseCountSparseOutput InTopK InTopKV2 KthOrderStatistic ListDiff
    LowerBound MakeUnique NthElement RaggedCountSparseOutput SetSize SparseCountSparseOutput TopK
    TopKUnique TopKV2 TopKWithUnique UpperBound XlaKeyValueSort XlaSort
    """,
    [r"Unique(WithCounts)?", r"(Dense|Sparse)To(Dense|Sparse)SetOperation"],
)


class _Any:
    """What is in one of several families."""

    def __init__(self, *families: Family) -> None:
        self._families = families

    def __contains__(self, op: object) -> bool:
        return any(op in family for family in self._families)


NO_ARITHMETIC: Final = _Any(MOVES, KEEPS, TELLS, RANDOM, ORDER)
