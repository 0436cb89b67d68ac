"""Merging layers, and the operators of keras.ops between tensors."""

from __future__ import annotations

from functools import partial
from typing import Final

from tfprof.read.keras.graph import Call, Tensor, Unexpandable, known
from tfprof.read.keras.layers.normalization import unit
from tfprof.read.keras.table import layer, operation

_KINDS: Final = {
    "Add": "AddV2", "Subtract": "Sub", "Multiply": "Mul", "Maximum": "Maximum",
    "Minimum": "Minimum",
}  # fmt: skip
_OPERATORS: Final = {
    **_KINDS, "Divide": "RealDiv", "TrueDivide": "RealDiv", "Power": "Pow",
    "FloorDivide": "FloorDiv", "Mod": "FloorMod", "SquaredDifference": "SquaredDifference",
    "Matmul": "BatchMatMulV2",
}  # fmt: skip
_LETTERS: Final = "abcdefghij"


def _merged(call: Call, kind: str) -> Tensor:
    """One input after the other; those of lower rank get dimensions after the batch."""
    rank = max(len(known(each)) for each in call.inputs)
    result: Tensor | None = None
    for each in call.inputs:
        x = each
        for _ in range(rank - len(known(each))):
            x = call.expanded(x, 1)
        result = x if result is None else call.op(kind, result, x)
    if result is None:
        raise Unexpandable
    return result


for _name, _kind in _KINDS.items():
    layer(_name)(partial(_merged, kind=_kind))
layer("Average")(lambda call: call.op("RealDiv", _merged(call, "AddV2"), 1.0))
layer("Concatenate")(
    lambda call: call.joined(*call.inputs, axis=int(call.config.get("axis", -1)), dtype=None)
)


@layer("Dot")
def dot(call: Call) -> Tensor:
    """The products of two tensors, summed over an axis of each."""
    left, right = call.inputs
    axes = call.config["axes"]
    first, second = axes if isinstance(axes, list) else (axes, axes)
    first, second = first % len(known(left)), second % len(known(right))
    if call.config.get("normalize"):
        left, right = unit(call, left, first), unit(call, right, second)
    names = [_LETTERS[: len(known(call.inputs[0]))]]
    names.append("a" + "klmnopqrst"[: len(known(call.inputs[1])) - 1])
    names[1] = names[1][:second] + names[0][first] + names[1][second + 1 :]
    rest = [name.replace(names[0][first], "") for name in names]
    equation = f"{names[0]},{names[1]}->{rest[0]}{rest[1][1:]}"
    result = call.op("Einsum", left, right, equation=equation, N=2)
    return result if len(rest[0]) + len(rest[1]) > 2 else call.expanded(result, 1)  # noqa: PLR2004 - the batch, twice


def _operator(call: Call, kind: str) -> Tensor:
    """An operator between two tensors, or a tensor and a number, which may be the first."""
    numbers = call.options["args"] + list(call.options["kwargs"].values())
    others = [each for each in numbers if isinstance(each, (int, float))]
    both: list[Tensor | float] = [*call.inputs, *map(float, others)]
    if len(both) != 2:  # noqa: PLR2004 - an operator has two
        raise Unexpandable
    return call.op(kind, *both)


for _name, _kind in _OPERATORS.items():
    operation(_name)(partial(_operator, kind=_kind))
