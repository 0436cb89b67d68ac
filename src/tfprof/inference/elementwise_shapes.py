"""Elementwise operations: the shape of the input, or what several inputs stretch to."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from tfprof.inference.shape import broadcast, merged
from tfprof.inference.table import shape_rule

if TYPE_CHECKING:
    from tfprof.inference.operation import Operation
    from tfprof.inference.shape import Maybe, Shape


@shape_rule(
    """
    Add AddV2 Sub Mul Div RealDiv FloorDiv TruncateDiv DivNoNan MulNoNan Mod FloorMod TruncateMod
    Maximum Minimum Pow SquaredDifference Atan2 Xdivy Xlogy Xlog1py NextAfter Complex
    Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr
    BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift
    Igamma Igammac IgammaGradA Zeta Polygamma Betainc SelectV2
    """
)
def stretched(op: Operation) -> Shape:
    """What all inputs stretch to."""
    return reduce(broadcast, (op.known(number) for number in range(op.inputs)))


@shape_rule(
    """
    Abs Acos Acosh Angle Asin Asinh Atan Atanh Ceil ComplexAbs Conj Cos Cosh Digamma Erf Erfc Erfinv
    Exp Expint Expm1 Floor Imag Inv Invert IsFinite IsInf IsNan Lgamma Log Log1p LogicalNot Ndtri
    Neg PopulationCount Real Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh
    BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e
    BesselY0 BesselY1 Dawsn FresnelCos FresnelSin Spence
    Relu Relu6 Elu Selu LeakyRelu Softplus Softsign Softmax LogSoftmax
    Cast Identity StopGradient PreventGradient Snapshot CheckNumerics CheckNumericsV2 Bitcast
    ZerosLike OnesLike GuaranteeConst DeepCopy Copy CopyHost DebugIdentity DebugIdentityV2
    Cumsum Cumprod CumulativeLogsumexp Reverse ReverseV2 ReverseSequence Roll RandomShuffle
    StatelessShuffle InvertPermutation ClipByValue FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2
    QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 MatrixBandPart MatrixInverse MatrixSetDiag
    MatrixSetDiagV2 MatrixSetDiagV3 MatrixExponential MatrixLogarithm MatrixSquareRoot Cholesky
    FFT FFT2D FFT3D IFFT IFFT2D IFFT3D AdjustContrastv2 AdjustHue AdjustSaturation RGBToHSV HSVToRGB
    TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin
    TensorStridedSliceUpdate InplaceUpdate InplaceAdd InplaceSub LRNGrad Bucketize
    AsString StringLower StringUpper StringStrip StringLength StringToNumber StringToHashBucketFast
    StringToHashBucket StringToHashBucketStrong RefIdentity Enter Exit NextIteration RefEnter
    RefExit RefNextIteration LoopCond Print PrintV2
    _UnaryOpsComposition
    """
)
def first_input(op: Operation) -> Maybe:
    """The shape of the first input."""
    return op.shape(0)


@shape_rule(
    """
    AddN AccumulateNV2 ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad SoftplusGrad SoftsignGrad
    SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ApproximateEqual Cross
    FakeQuantWithMinMaxArgsGradient
    Assign AssignAdd AssignSub ApplyGradientDescent ApplyMomentum ApplyAdam ApplyAdagrad
    ApplyRMSProp ApplyFtrl
    """
)
def all_inputs_alike(op: Operation) -> Maybe:
    """What the inputs tell together, each of them having the same shape."""
    count = op.inputs if op.type in ("AddN", "AccumulateNV2") else min(op.inputs, 2)
    return reduce(merged, (op.shape(number) for number in range(count)), None)


@shape_rule("Select")
def selected(op: Operation) -> Maybe:
    """The shape of both alternatives; the condition may be a list of rows, or a single truth."""
    shape, condition = merged(op.shape(1), op.shape(2)), op.shape(0)
    rows = shape is None or (condition is not None and len(condition) != len(shape))
    return shape if rows else merged(shape, condition)


@shape_rule("IdentityN")
def each_input(op: Operation) -> list[Maybe]:
    """An output for each input, as it is."""
    return [op.shape(number) for number in range(op.inputs)]
