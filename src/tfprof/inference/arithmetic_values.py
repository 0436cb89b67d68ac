"""Arithmetic on small tensors; a hole in a whole number makes a hole in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.inference.shape import Unknown
from tfprof.inference.table import value_rule
from tfprof.inference.value import HOLE, has_holes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.inference.operation import Operation
    from tfprof.inference.value import Value

_BINARY: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "FloorDiv": np.floor_divide,
    "FloorMod": np.mod,
    "RealDiv": np.true_divide,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}
_TOWARDS_ZERO: Final = ("Div", "TruncateDiv", "TruncateMod", "Mod")
_UNARY: Final[dict[str, Callable[..., Any]]] = {
    "Neg": np.negative,
    "Abs": np.absolute,
    "Square": np.square,
    "LogicalNot": np.logical_not,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Rint": np.rint,
}
_REDUCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "Prod": np.prod,
    "Sum": np.sum,
    "Max": np.max,
    "Min": np.min,
    "All": np.all,
    "Any": np.any,
}
_DIVISIONS: Final = ("FloorDiv", "FloorMod", "Div", "TruncateDiv", "TruncateMod", "Mod")
# DT_ numbers of floats and of truths.
_FLOATS: Final = (1, 2, 14, 19)
_BOOL: Final = 10


@value_rule(*_BINARY, *_TOWARDS_ZERO)
def binary(op: Operation) -> Value:
    """Element by element."""
    first, second = op.given(0), op.given(1)
    if op.type in _DIVISIONS and not np.all(second):
        raise Unknown
    function = _BINARY.get(op.type) or _towards_zero(op.type, first)
    result = np.asarray(function(first, second))
    if not (has_holes(first) or has_holes(second)):
        return result
    if result.dtype.kind != "i":
        raise Unknown
    holes = np.logical_or(first == HOLE, second == HOLE)
    return np.where(holes, HOLE, result)


def _towards_zero(kind: str, first: Value) -> Callable[..., Any]:
    """The quotient or the rest of numbers that are cut, not rounded down."""
    if first.dtype.kind != "i":
        return np.fmod if kind in ("TruncateMod", "Mod") else np.true_divide
    if kind in ("TruncateMod", "Mod"):
        return np.fmod
    return lambda a, b: (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b)


@value_rule(*_UNARY)
def unary(op: Operation) -> Value:
    """Element by element."""
    given = op.full(0)
    return np.asarray(_UNARY[op.type](given))


@value_rule(*_REDUCTIONS)
def reduced(op: Operation) -> Value:
    """Over the axes that the second input names."""
    given, axes = op.given(0), tuple(op.numbers(1))
    keep = bool(op.attr("keep_dims"))
    function = _REDUCTIONS[op.type]
    result = np.asarray(function(given, axis=axes, keepdims=keep))
    if not has_holes(given):
        return result
    holes = np.any(given == HOLE, axis=axes, keepdims=keep)
    return np.where(holes, HOLE, result)


@value_rule("Cast")
def cast(op: Operation) -> Value:
    """Numbers of another type, in 64 bits."""
    given = op.given(0)
    to = op.attr("DstT", 0)
    if to in _FLOATS or to == _BOOL:
        if has_holes(given):
            raise Unknown
        return given.astype(np.float64 if to in _FLOATS else np.bool_)
    if given.dtype.kind == "f" and not np.all(np.isfinite(given)):
        raise Unknown
    return given.astype(np.int64)


@value_rule("Select SelectV2")
def selected(op: Operation) -> Value:
    """One of two, as the first says; only where all are of one shape or single numbers."""
    return np.where(op.full(0), op.given(1), op.given(2))
