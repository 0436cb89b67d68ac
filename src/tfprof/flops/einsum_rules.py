"""Einsum: a multiply-add for each combination of the labels that take part.

    "bhqd,bhkd->bhqk"   d is summed over:       2 · b · h · q · k · d
    "bi,bi->bi"         nothing is:             b · i, products only
    "bij->bj"           one operand:            b · i · j - b · j, sums only
    "ij,jk->k"          i is in one operand:    i · j - j to sum it first, then 2 · j · k

A label repeated in an operand picks a diagonal, which takes no arithmetic. An ellipsis stands for
as many labels as dimensions are left; these are matched from the right, and stretched from 1.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from tfprof.flops.op import UnknownShape, size
from tfprof.flops.table import rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.flops.op import Op, Shape

Sizes = dict[str, int]
ELLIPSIS = "..."


@rule("Einsum", "_MklEinsum", "XlaEinsum", attributes=("equation",), contraction=True)
def einsum(op: Op) -> int:
    """Sums over what one operand has alone, then products, and sums over what is left."""
    left, arrow, right = "".join(cast("str", op.attr("equation", "")).split()).partition("->")
    terms = left.split(",")
    if len(terms) != op.inputs:
        raise UnknownShape
    operands = [labelled(term, op.input(number)) for number, term in enumerate(terms)]
    kept = set(_labels(right, _hidden(operands))) if arrow else _once(left, operands)
    work, shared = 0, Counter(label for operand in operands for label in operand)
    volume: Sizes = {}
    for operand in operands:
        needed = {
            label: length for label, length in operand.items() if label in kept or shared[label] > 1
        }
        work += max(0, _volume(operand) - _volume(needed))
        for label, length in needed.items():
            if volume.get(label, 1) == 1:
                volume[label] = length
    steps = len(operands) - 1 + any(label not in kept for label in volume)
    return work + steps * _volume(volume)


def labelled(term: str, shape: Shape) -> Sizes:
    """The size of each label of an operand, each label once; raises UnknownShape."""
    plain = term.replace(ELLIPSIS, "")
    hidden = len(shape) - len(plain) if ELLIPSIS in term else 0
    if not term:
        shape = ()  # a scalar is told as one element
    labels = _labels(term, hidden)
    if hidden < 0 or len(labels) != len(shape):
        raise UnknownShape
    return dict(zip(labels, shape, strict=True))


def _labels(term: str, hidden: int) -> list[str]:
    """The labels of a term in order; what an ellipsis hides is numbered from its right end."""
    before, dots, after = term.partition(ELLIPSIS)
    stand_ins = [f"{ELLIPSIS}{number}" for number in range(hidden, 0, -1)] if dots else []
    return [*before, *stand_ins, *after]


def _hidden(operands: Iterable[Mapping[str, int]]) -> int:
    """How many dimensions the ellipses stand for."""
    stand_ins = {label for operand in operands for label in operand if label.startswith(ELLIPSIS)}
    return len(stand_ins)


def _once(left: str, operands: Iterable[Mapping[str, int]]) -> set[str]:
    """What an equation without an arrow keeps: labels written once, and what ellipses hide."""
    written = Counter(left.replace(ELLIPSIS, ""))
    return {
        label
        for operand in operands
        for label in operand
        if label.startswith(ELLIPSIS) or written[label] == 1
    }


def _volume(sizes: Mapping[str, int]) -> int:
    return size(tuple(sizes.values()))
