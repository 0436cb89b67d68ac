"""The operations whose values TensorFlow computes and our rules follow: constants and attributes.

As in `shape_cases.py`; all inputs are constants. `FLOATS` and `INTEGERS` are dtypes of inputs.
"""

from __future__ import annotations

from typing import Any, Final

from shape_cases import Case
from tfprof.ops.table import names

FLOATS: Final = {"T": 1}
INTEGERS: Final = {"T": 3}
BOTH: Final = (FLOATS, INTEGERS)
ROWS: Final = [[1, -2, 3], [4, 5, -6]]
VECTOR: Final = [7, -3, 2, 5]
DIVISORS: Final = [2, 2, -3, 4]
BITS: Final = [True, False, True, False]

_CASES: Final[list[tuple[str, tuple[dict[str, Any], ...], list[Any]]]] = [
    ("Reshape", BOTH, [ROWS, [3, 2]]),
    ("Reshape", BOTH, [ROWS, [-1]]),
    ("Squeeze", ({"squeeze_dims": [0]}, {"T": 3}), [[[7, 8]]]),
    ("ExpandDims", BOTH, [VECTOR, -1]),
    ("Transpose", BOTH, [ROWS, [1, 0]]),
    ("Pack", (*BOTH, {"axis": 1, "T": 3}), [VECTOR, DIVISORS]),
    ("Unpack", ({"num": 2, "T": 3}, {"num": 3, "axis": -1}), [ROWS]),
    ("ConcatV2", BOTH, [VECTOR, DIVISORS, 0]),
    ("ConcatV2", BOTH, [ROWS, ROWS, 1]),
    ("Concat", BOTH, [0, VECTOR, [9]]),
    ("Split", ({"num_split": 2, "T": 3}, {"num_split": 2}), [0, VECTOR]),
    ("SplitV", ({"num_split": 2, "T": 3, "Tlen": 3},), [VECTOR, [1, -1], 0]),
    ("Tile", BOTH, [ROWS, [2, 1]]),
    ("EnsureShape", ({"shape": (-1,), "T": 3},), [VECTOR]),
    ("Fill", BOTH, [[2, 3], 7]),
    ("BroadcastTo", BOTH, [[1, 2], [3, 2]]),
    ("InvertPermutation", ({},), [[2, 0, 1]]),
    ("Range", ({"Tidx": 3},), [1, 10, 3]),
    ("Range", ({"Tidx": 3},), [10, 0, -4]),
    ("Range", ({"Tidx": 1},), [0.0, 1.0, 0.25]),
    ("{,Parallel}DynamicStitch", (INTEGERS,), [[0, 2], [1], [5, 6], [7]]),
    ("{,Parallel}DynamicStitch", (FLOATS,), [[0, 2], [1], [0.5, 6.25], [-0.75]]),
    ("{,Parallel}DynamicStitch", (INTEGERS,), [[0, 1], [1], [5, 6], [7]]),
    ("Identity StopGradient PreventGradient Snapshot GuaranteeConst", BOTH, [VECTOR]),
    ("IdentityN", ({"T": [3, 1]},), [VECTOR, [0.5]]),
    ("ZerosLike OnesLike", BOTH, [ROWS]),
    ("Abs Square Neg", BOTH, [VECTOR]),
    ("Ceil Floor Rint", (FLOATS,), [[1.5, -1.5, 2.5, 0.25]]),
    ("LogicalNot", ({},), [[True, False]]),
    ("LogicalAnd LogicalOr", ({},), [BITS, [True, True, False, False]]),
    ("Add AddV2 Sub Mul Maximum Minimum", BOTH, [VECTOR, DIVISORS]),
    ("Add{,V2} Mul", (INTEGERS,), [ROWS, [10, 20, 30]]),
    ("Greater{,Equal} Less{,Equal} Equal NotEqual", BOTH, [VECTOR, [7, 1, 1, 9]]),
    ("FloorDiv FloorMod Div", BOTH, [VECTOR, DIVISORS]),
    ("Mod TruncateDiv TruncateMod", (INTEGERS,), [VECTOR, DIVISORS]),
    ("RealDiv", (FLOATS,), [VECTOR, DIVISORS]),
    ("SelectV2 Select", BOTH, [BITS, VECTOR, DIVISORS]),
    ("Cast", ({"SrcT": 1, "DstT": 3}, {"SrcT": 1, "DstT": 10}), [[1.75, -1.75, 0.0]]),
    ("Cast", ({"SrcT": 3, "DstT": 1}, {"SrcT": 3, "DstT": 9}), [VECTOR]),
    ("Cast", ({"SrcT": 10, "DstT": 3}, {"SrcT": 10, "DstT": 1}), [BITS]),
    ("Sum Max Min Prod", (*BOTH, {"keep_dims": True, "T": 3}), [ROWS, [1]]),
    ("Sum Max Min Prod", BOTH, [ROWS, [0, 1]]),
    ("All Any", ({}, {"keep_dims": True}), [[BITS, [True, True, True, True]], [1]]),
    ("Size Rank Shape", ({},), [ROWS]),
    ("ShapeN", ({},), [ROWS, VECTOR]),
    ("BroadcastGradientArgs", ({},), [[4, 6], [1, 6]]),
    ("BroadcastGradientArgs", ({},), [[4, 1, 6], [5, 1]]),
    ("BroadcastArgs", ({},), [[4, 1], [6]]),
    ("StridedSlice", ({"shrink_axis_mask": 1, "T": 3}, {}), [ROWS, [1, 0], [2, 3], [1, 2]]),
    ("StridedSlice", ({"begin_mask": 1, "end_mask": 1, "T": 3},), [VECTOR, [0], [0], [-1]]),
    ("StridedSlice", ({"T": 3, "new_axis_mask": 1},), [VECTOR, [0, -2], [0, 4], [1, 1]]),
    ("Slice", BOTH, [ROWS, [0, 1], [-1, 2]]),
    ("GatherV2", BOTH, [ROWS, [2, 0], 1]),
    ("Gather", BOTH, [VECTOR, [2, 0]]),
]
# Values that are not of constants: what other tests cover, and loops.
ELSEWHERE: Final = set(
    names(
        """
        Const {,_}HostConst Enter Exit VariableShape
        TensorList{PopBack,Length,ElementShape} TensorArraySizeV3
        SparseCross{,V2,Hashed} StringSplit{,V2}
        """
    )
)


def value_cases() -> list[Case]:
    """All cases."""
    return [
        Case(op, {**attributes, "Tparams": attributes.get("T", 1)}, inputs)
        for text, several, inputs in _CASES
        for attributes in several
        for op in names(text)
    ]
