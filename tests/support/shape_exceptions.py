"""Operation types that shapes are compared on in another way, with the reason of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.ops.table import names

if TYPE_CHECKING:
    from collections.abc import Callable

# Why TensorFlow does not build an operation type here.
NOT_BUILT: Final = {
    **dict.fromkeys(
        ("_FusedQuantizedConv2D", "_FusedQuantizedDepthwiseConv2D"),
        "the shape function reads beyond its inputs, and may crash",
    ),
    **dict.fromkeys(
        ("TensorArrayReadV3", "TensorArrayGatherV3"),
        "its handle must come from an array; test_open_functions.py has one",
    ),
}
# Their inputs have one size each: no other binding says that the rule invents nothing.
ONE_SIZE: Final = ("ParallelConcat", "StatelessRandomGetKeyCounter")
# TensorFlow infers nothing of these, or has no kernel here that rejects what its inference accepts:
# they have the rule of another type.
LIKE: Final = {
    "Enter": "Identity",
    "HostConst": "Const",
    "NcclReduce": "AddN",
    "_FusedBatchNormGradEx": "FusedBatchNormGrad",
    **{op: op.removeprefix("Batch") for op in names("Batch{,I}FFT{,2D,3D}")},
    **{
        f"_Mkl{native}{op}": op
        for native in ("", "Native")
        for op in names(
            "Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput Conv3DBackpropInputV2",
            "FusedBatchNormGrad{,V2,V3}",
        )
    },
}
# Where TensorFlow's inference is wrong: of which inputs, and why.
WRONG: Final[dict[str, tuple[Callable[[list[Any]], bool], str]]] = {
    **dict.fromkeys(
        ("MatrixDiagV2", "MatrixDiagV3"),
        (lambda _: True, "an open length counts as -1, an unknown number of rows as not given"),
    ),
    **dict.fromkeys(
        ("FractionalAvgPool", "FractionalMaxPool"),
        (lambda _: True, "kernels return one more for the cuts of rows and columns"),
    ),
    "SplitV": (lambda of: of[2] != 1, "an unknown axis counts as the last one"),
    "GatherV2": (lambda of: of[2] != 2, "an unknown axis and batch_dims below 0 make a rank"),
    "XlaReduceScatter": (lambda of: of[2] in (2, 3), "an axis beyond the last one is ignored"),
}
# TensorFlow's inference says less of these than its kernels do, or accepts what they reject: they
# run, and only what runs is evidence.
RUN: Final = set(
    names(
        """
        Batch{Cholesky,CholeskyGrad,MatrixDeterminant,MatrixInverse,MatrixSolve,MatrixSolveLs}
        Batch{MatrixTriangularSolve,SelfAdjointEig,SelfAdjointEigV2,Svd}
        Fractional{Avg,Max}Pool BroadcastGradientArgs LookupTableFind{,V2} UniqueV2
        TensorList{Stack,Concat,ConcatV2,PopBack} {Inv,Reciprocal,Rsqrt,Sigmoid,Sqrt,Tanh}Grad
        FakeQuantWithMinMaxArgsGradient FusedBatchNormGrad{,V2,V3} LSTMBlockCell
        {DepthwiseConv2dNativeBackpropInput,Conv3DBackpropInputV2}
        SparseDenseCwise{Add,Div,Mul} SparseSoftmax SparseAdd MatrixSetDiag{,V2,V3}
        """
    )
)
