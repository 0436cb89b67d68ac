"""Scopes of products and convolutions without one: the layer of the weight that each reads.

    dot.4 ◄ x, transpose.2 ◄ first/kernel     first/dot.4
    dot.9 (the gradient of the weight)         first/dot.9: its call stack is that of dot.4

A weight is found through instructions that only move it and through arguments of fusions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import unique_inverse
from tfprof.read.hlo.modules import PARAMETER
from tfprof.read.hlo.weights import WEIGHT

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.hlo.modules import Modules
    from tfprof.read.hlo.parameters import EntryParameters

CONTRACTIONS: Final = (b"dot", b"convolution")
_MOVES: Final = (b"bitcast", b"transpose", b"copy", b"convert", b"reshape")
_PASSES: Final = 6  # each doubles the length of what is followed


def with_weight_scopes(
    modules: Modules, scope: I64, scopes: list[bytes], parameters: EntryParameters, stack: I64
) -> tuple[I64, list[bytes]]:
    """(scope of each instruction, all scopes), also of contractions that have none.

    *stack* is the call stack of each instruction; -1: none.
    """
    rows = np.flatnonzero(modules.opcodes(*CONTRACTIONS) & (scope == 0))
    layer = [
        name.rpartition(b"/")[0] if kind == WEIGHT else b""
        for name, kind in zip(parameters.name, parameters.kind.tolist(), strict=True)
    ]
    if not rows.size or not any(layer):
        return scope, scopes
    number = {text: at for at, text in enumerate(scopes)}
    of_row = np.zeros(scope.size, np.int64)
    of_row[parameters.row] = [number.setdefault(text, len(number)) for text in layer]
    scope = scope.copy()
    read = of_row[_origins(modules)[modules.operand]]
    scope[rows] = _only(modules.operand_of, read, modules.operand >= 0, scope.size)[rows]
    left = rows[(scope[rows] == 0) & (stack[rows] >= 0)]
    named = rows[(scope[rows] > 0) & (stack[rows] >= 0)]
    if left.size and named.size:
        _, place = unique_inverse(np.append(stack[named], stack[left]))
        of_stack, place = place[: named.size], place[named.size :]
        every = np.ones(named.size, np.bool_)
        scope[left] = _only(
            of_stack, scope[named], every, int(place.max(initial=0)) + 1 + named.size
        )[place]
    return scope, list(number)


def _only(owner: I64, value: I64, wanted: np.ndarray, count: int) -> I64:
    """The only value above 0 of each of *count* owners; 0: none, or several."""
    edge = np.flatnonzero(wanted & (value > 0))
    most = np.zeros(count, np.int64)
    least = np.full(count, np.iinfo(np.int64).max)
    np.maximum.at(most, owner[edge], value[edge])
    np.minimum.at(least, owner[edge], value[edge])
    return np.where(least == most, most, 0)


def _origins(modules: Modules) -> I64:
    """The instruction whose value each has, moved: itself for those that compute."""
    count = len(modules.opcode)
    origin = np.arange(count)
    first = np.append(0, np.cumsum(np.bincount(modules.operand_of, minlength=count)))
    moves = np.flatnonzero(modules.opcodes(*_MOVES) & (np.diff(first) == 1))
    origin[moves] = _known(modules.operand[first[moves]], moves)
    fusion = _fusions(modules)
    calls = np.flatnonzero(fusion >= 0)
    origin[fusion[calls]] = _known(modules.root[calls], fusion[calls])
    inside = np.flatnonzero(modules.opcodes(PARAMETER))
    caller = fusion[modules.instruction.message[inside]]
    place = modules.number[inside]
    fits = (caller >= 0) & (place >= 0) & (place < np.diff(first)[caller])
    inside, at = inside[fits], first[caller[fits]] + place[fits]
    origin[inside] = _known(modules.operand[at], inside)
    for _ in range(_PASSES):
        origin = origin[origin]
    return origin


def _known(row: I64, otherwise: I64) -> I64:
    return np.where(row >= 0, row, otherwise)


def _fusions(modules: Modules) -> I64:
    """The fusion that calls each computation; -1: none, or several calls."""
    often = np.bincount(modules.fusions()[1], minlength=modules.computation_module.size)
    return np.where(often == 1, modules.fusion_of(), -1)
