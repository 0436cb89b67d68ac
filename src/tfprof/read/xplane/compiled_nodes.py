"""The node of TensorFlow that each instruction of an XLA program comes from.

MatMul.8      net/d1/MatMul          by its own metadata
add_fusion    net/bn/add             of a fusion without: that of most of the work in it
reduce-window net/loss/Sum           XLA split an operation, and a part lost its name: that of
the instruction that reads it, or else that it reads
copy.16       _xla/copy              what moves data; XLA added it for no node
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import combined
from tfprof.read.hlo.modules import PARAMETER
from tfprof.read.hlo.names import rough_work

if TYPE_CHECKING:
    from tfprof.read.hlo.modules import Modules

XLA: Final = b"_xla/"
_COPY: Final = b"_xla/copy"
_MOVES: Final = (
    *(b"bitcast", b"bitcast-convert", b"broadcast", b"constant", b"copy", b"copy-done"),
    *(b"copy-start", b"get-tuple-element", b"iota", b"parameter", b"reshape", b"slice"),
    *(b"transpose", b"tuple"),
)
# What the parameters and the result of a program are named after.
_NO_NODES: Final = (b"", b"XLA_Args", b"XLA_Retvals")
# Parts of one operation are close to each other.
_STEPS: Final = 8


def sources(modules: Modules) -> tuple[I64, Strings]:
    """(the instruction that names the node of each, or -1; the name of those without one)."""
    op, first = modules.op_name.intern()
    is_node = Strings.of(_NO_NODES).find(modules.op_name.take(first)) < 0
    count = len(modules.opcode)
    source = np.where(is_node[op], np.arange(count), -1)
    moves = modules.opcodes(*_MOVES)
    fusion, inside = _fused(modules)
    named = source[inside] >= 0
    _take_most(modules, source, op, fusion[named], inside[named])
    works = np.zeros(count, np.bool_)
    works[fusion[~moves[inside]]] = True
    is_fusion = modules.opcodes(b"fusion")
    moves |= is_fusion & ~works
    wanted = ~moves
    wanted[inside] = True
    reader, read = _passed(modules, fusion, inside)
    _take_near(source, wanted, (read, reader))
    known = modules.operand >= 0
    reader, read = modules.operand_of[known], modules.operand[known]
    _take_near(source, wanted, (read, reader))
    _take_near(source, wanted, (reader, read))
    kind, first = modules.opcode.intern()
    texts = [*(XLA + opcode for opcode in modules.opcode.take(first)), _COPY]
    rest = np.where(is_fusion & moves, first.size, kind)
    return source, Strings.of(texts).take(rest)


def _fused(modules: Modules) -> tuple[I64, I64]:
    """(fusion, instruction) of all instructions in the computations of fusions."""
    fusion = modules.fusion_of()[modules.instruction.message]
    inside = np.flatnonzero(fusion >= 0)
    return fusion[inside], inside


def _take_most(modules: Modules, source: I64, op: I64, fusion: I64, inside: I64) -> None:
    """Give fusions without a name that of most of the work *inside*."""
    is_open = source[fusion] < 0
    fusion, inside = fusion[is_open], inside[is_open]
    if not fusion.size:
        return
    pair, first = combined(fusion, op[inside])
    work = np.bincount(pair, rough_work(modules)[inside], minlength=first.size)
    order = np.argsort(work, kind="stable")
    source[fusion[first[order]]] = inside[first[order]]  # the last one stays


def _passed(modules: Modules, fusion: I64, inside: I64) -> tuple[I64, I64]:
    """(reader, read) of all operands, where what a fusion reads is read by instructions in it."""
    begin = np.searchsorted(modules.operand_of, fusion)
    end = np.searchsorted(modules.operand_of, fusion, "right")
    at = begin + modules.number[inside]
    fits = modules.opcodes(PARAMETER)[inside] & (at >= begin) & (at < end)
    passed = np.arange(len(modules.opcode))
    passed[inside[fits]] = modules.operand[at[fits]]
    read = np.append(passed, -1)[modules.operand]
    known = np.flatnonzero((read >= 0) & ~modules.opcodes(b"fusion")[modules.operand_of])
    return modules.operand_of[known], read[known]


def _take_near(source: I64, wanted: Bool, edges: tuple[I64, I64]) -> None:
    """Give *wanted* instructions without a name, the first of each edge, that of the second."""
    of, near = edges
    for _ in range(_STEPS):
        rows = np.flatnonzero((source[of] < 0) & wanted[of] & (source[near] >= 0))[::-1]
        if not rows.size:
            break
        source[of[rows]] = source[near[rows]]  # the first one stays
