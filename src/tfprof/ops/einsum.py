"""Einsum: a multiply-add per combination of the labels that take part.

    "bhqd,bhkd->bhqk"   d is summed over:       2 · b · h · q · k · d
    "bi,bi->bi"         nothing is:             b · i, products only
    "bij->bj"           one operand:            b · i · j - b · j, sums only
    "ij,jk->k"          i is in one operand:    i · j - j to sum it first, then 2 · j · k

A label repeated in an operand picks a diagonal, which takes no arithmetic. An ellipsis stands for
as many labels as dimensions are left; these are matched from the right, and broadcast.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from tfprof.ops.op import Op, size
from tfprof.ops.shape import OPEN, Shape, broadcast, require
from tfprof.ops.table import float_ops, shape

if TYPE_CHECKING:
    from collections.abc import Sequence


NAMES: Final = "Einsum _MklEinsum XlaEinsum"
ELLIPSIS: Final = "..."


class Equation(NamedTuple):
    """The labels of each operand and of the result; `...1` is the last that an ellipsis hides."""

    operands: list[list[str]]
    result: list[str]


def parse(equation: str, ranks: Sequence[int | None]) -> Equation:
    """The labels of an equation for operands of these ranks; raises UnknownShape."""
    left, arrow, right = "".join(equation.split()).partition("->")
    terms = left.split(",")
    require(len(terms) == len(ranks))
    hidden = [_hidden(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    if not arrow:
        # Without an arrow: what the ellipses hide, then the labels written once, by name.
        written = Counter(left.replace(ELLIPSIS, "").replace(",", ""))
        once = sorted(label for label, count in written.items() if count == 1)
        right = (ELLIPSIS if ELLIPSIS in left else "") + "".join(once)
    return Equation(list(map(_labels, terms, hidden)), _labels(right, max(hidden)))


def _hidden(term: str, rank: int | None) -> int:
    """How many dimensions the ellipsis of a term stands for."""
    plain = len(term.replace(ELLIPSIS, ""))
    hidden = 0 if rank is None and ELLIPSIS not in term else (rank or 0) - plain
    require(hidden == 0 or (hidden > 0 and ELLIPSIS in term))
    require(rank is not None or ELLIPSIS not in term)
    return hidden


def _labels(term: str, hidden: int) -> list[str]:
    before, dots, after = term.partition(ELLIPSIS)
    stand_ins = [f"{ELLIPSIS}{number}" for number in range(hidden, 0, -1)] if dots else []
    return [*before, *stand_ins, *after]


class Work(NamedTuple):
    """What an equation takes for operands of given shapes."""

    alone: int  # sums over what one operand has alone
    volume: int  # combinations of the labels that are left
    products: int  # for each of them
    sums: bool  # whether the products are summed


def multiply_adds(op: Op) -> int:
    """A product that is added to others; none if nothing is multiplied, or nothing summed."""
    work = _work(op)
    return work.volume if work.products and work.sums else 0


@float_ops(NAMES, attributes="equation", multiply_adds=multiply_adds)
def einsum(op: Op) -> int:
    """Sums over what one operand has alone, then products, and sums over what is left."""
    work = _work(op)
    return work.alone + (work.products + work.sums) * work.volume


def _work(op: Op) -> Work:
    text = cast("str", op.attr("equation", ""))
    terms = "".join(text.split()).partition("->")[0].split(",")
    # In columns a scalar has one dimension; a term without labels is one.
    shapes = [op.input(number) if term else () for number, term in enumerate(terms)]
    require(len(shapes) == op.inputs)
    equation = parse(text, [len(dims) for dims in shapes])
    operands = [
        dict(zip(labels, dims, strict=True))
        for labels, dims in zip(equation.operands, shapes, strict=True)
    ]
    shared = Counter(label for operand in operands for label in operand)
    alone, volume = 0, dict[str, int]()
    for operand in operands:
        needed = {
            label: length
            for label, length in operand.items()
            if label in equation.result or shared[label] > 1
        }
        alone += max(0, size(tuple(operand.values())) - size(tuple(needed.values())))
        for label, length in needed.items():
            if volume.get(label, 1) == 1:
                volume[label] = length
    sums = any(label not in equation.result for label in volume)
    return Work(alone, size(tuple(volume.values())), len(operands) - 1, sums)


@shape(NAMES)
def einsum_shape(op: Op) -> Shape:
    """The sizes of the labels right of the arrow."""
    shapes = op.shapes()
    equation = parse(op.attr("equation", ""), [None if s is None else len(s) for s in shapes])
    sizes: dict[str, int] = {}
    for labels, dims in zip(equation.operands, shapes, strict=True):
        for label, length in zip(labels, dims or (OPEN,) * len(labels), strict=True):
            known = sizes.get(label, length)
            if label.startswith(ELLIPSIS):
                (sizes[label],) = broadcast((known,), (length,))
            else:
                sizes[label] = max(known, length)
    return tuple(sizes[label] for label in equation.result)
