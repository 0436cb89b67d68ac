"""Operations whose work is in a function or a program that they call.

Of those whose bodies are part of the graph, the bodies count; the others are not entered.
"""

from __future__ import annotations

from typing import Final

from tfprof.flops.families import Family

FUNCTION_CALLS: Final = Family(
    """
    BatchFunction EagerPyFunc For MapDefun OneShotIterator PyFunc PyFuncStateless RemoteCall
    RiscCondition RiscWhile RpcCall RpcServerRegister SymbolicGradient
    TPUExecute TPUExecuteAndUpdateVariables XlaCallModule XlaHostCompute
    XlaReduce XlaReduceWindow XlaScatter XlaSelectAndScatter XlaSparseDenseMatmulGradWithCsrInput
    XlaVariadicSort _TPUCompileMlir _TPUReplicate _XlaCompile _XlaHostComputeMlir
    _XlaRun TPUCompile DataServiceDatasetV3 DataServiceDatasetV4 LoadDataset SaveDataset
    SaveDatasetV2 SnapshotDatasetV2
    """,
    [
        r"(Stateful|TPU)?PartitionedCall",
        r"(Stateless|Xla|_)?(Case|If|While)",
        r"XlaLaunch",
        r"XlaCustomCall",
        r"XlaVariadicReduce",
        r"XlaSparseDenseMatmulCustomCombiner\w+",
        # What a dataset does with its elements.
        r"(Experimental|Legacy|Parallel|Index|LegacyParallel)?(Flat)?(Map|Interleave|Filter)Dataset",
        r"ExperimentalParallelInterleaveDataset",
        r"(Experimental)?(MapAndBatch|GroupByReducer|GroupByWindow|Scan|TakeWhile)Dataset",
        r"(ChooseFastestBranch|Generator|Reduce)Dataset",
    ],
)
