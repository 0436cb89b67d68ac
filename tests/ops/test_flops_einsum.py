"""Einsum, against sums of products written out, whose values are those that NumPy has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pytest

from counted_graphs import text_profile
from tallied import Number, Tally, Tensor, array, counted, places, total
from tfprof.ops.counting import count, multiply_adds
from tfprof.ops.shape import UnknownShape

if TYPE_CHECKING:
    from tfprof.ops.shape import Shape


# An equation, its operands, and multiply-adds: a product that is added to a sum; a product or a sum
# alone is none. Without a number, these are not asked for.
EQUATIONS: Final[list[tuple[str, list[Shape], int | None]]] = [
    ("ij,jk->ik", [(3, 4), (4, 5)], 3 * 4 * 5),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)], 2 * 3 * 4 * 6 * 5),
    ("bi,bi->bi", [(3, 4), (3, 4)], 0),
    ("bi,bi->b", [(3, 4), (3, 4)], 3 * 4),
    ("i,j->ij", [(3,), (4,)], 0),
    ("ij,jk", [(3, 4), (4, 5)], None),
    ("ij,jk->k", [(3, 4), (4, 5)], 4 * 5),  # after the sum over i
    ("ij,k->jk", [(3, 4), (5,)], 0),  # sums over i, then products
    ("ijk->ik", [(2, 3, 4)], None),
    ("bij->bj", [(2, 3, 4)], 0),
    ("ij->ji", [(2, 3)], 0),
    ("ii->i", [(3, 3)], None),
    ("ii->", [(3, 3)], None),
    ("iij,j->i", [(3, 3, 2), (2,)], None),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)], 2 * 3 * 4 * 5),
    ("...ij,...jk->...ik", [(6, 1, 3, 4), (2, 4, 5)], None),
    ("...ij,...jk->...ik", [(2, 3, 4), (1, 4, 5)], None),
    ("...ij,jk->...ik", [(2, 2, 3, 4), (4, 5)], None),
    ("...,...->...", [(2, 3), (3,)], 0),
    ("i...->...", [(3, 2)], None),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)], 2 * 3 * 4 * 2),  # and as many products
    ("i , i -> ", [(4,), (4,)], None),
]


@pytest.mark.parametrize(("equation", "shapes"), [row[:2] for row in EQUATIONS])
def test_einsum(equation: str, shapes: list[Shape]) -> None:
    tally = Tally()
    tensors = [tally.tensor(*shape) for shape in shapes]
    terms, kept = spelled_out(equation.replace(" ", ""), shapes)
    value = summed(tally, terms, kept, [*zip(tensors, shapes, strict=True)])
    values = [array(tensor, *shape) for tensor, shape in zip(tensors, shapes, strict=True)]
    expected = np.einsum(equation, *values)
    assert np.allclose(value, expected.ravel())
    assert counted("Einsum", [*shapes], [expected.shape], equation=equation) == tally.steps


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"), [row for row in EQUATIONS if row[2] is not None]
)
def test_multiply_adds(equation: str, shapes: list[Shape], expected: int) -> None:
    result = np.einsum(equation, *map(np.ones, shapes)).shape
    nodes = [
        f'node {{ name: "x{at}" op: "Placeholder" {listed(dims)} }}'
        for at, dims in enumerate(shapes)
    ]
    inputs = " ".join(f'input: "x{at}"' for at in range(len(shapes)))
    how = f'attr {{ key: "equation" value {{ s: "{equation}" }} }}'
    nodes.append(f'node {{ name: "e" op: "Einsum" {inputs} {how} {listed(result)} }}')
    profile = text_profile("\n".join(nodes))
    float_ops = count(profile).float_ops
    assert multiply_adds(profile, float_ops).tolist() == [0] * len(shapes) + [expected]


def listed(dims: Shape) -> str:
    sizes = " ".join(f"dim {{ size: {dim} }}" for dim in dims)
    return f'attr {{ key: "_output_shapes" value {{ list {{ shape {{ {sizes} }} }} }} }}'


def spelled_out(equation: str, shapes: list[Shape]) -> tuple[list[str], str]:
    """(the labels of each operand, those of the output) with letters for what dots stand for."""
    left, arrow, kept = equation.partition("->")
    if not arrow:
        kept = "".join(sorted(label for label in left if label != "," and left.count(label) == 1))
    terms = []
    for term, shape in zip(left.split(","), shapes, strict=True):
        letters = "WXYZ"[4 - (len(shape) - len(term.replace(".", ""))) :]
        terms.append(term.replace("...", letters))
    hidden = {label for term in terms for label in term if label in "WXYZ"}
    return terms, kept.replace("...", "".join(sorted(hidden)))


class Operand(NamedTuple):
    """What is left of an operand when it has summed what no one else has."""

    labels: str
    length: dict[str, int]
    values: Tensor

    def at(self, place: dict[str, int]) -> Number:
        """The value at a place; what has length 1 is stretched."""
        return self.values[tuple(place[one] if self.length[one] > 1 else 0 for one in self.labels)]


def alone(term: str, others: str, tensor: Tensor, shape: Shape) -> Operand:
    """Diagonals where a label is repeated, and sums over labels that are not in *others*."""
    labels = "".join(dict.fromkeys(label for label in term if label in others))
    groups: dict[tuple[int, ...], list[Number]] = {}
    for place, number in tensor.items():
        where: dict[str, int] = {}
        pairs = zip(term, place, strict=True)
        if all(where.setdefault(label, at) == at for label, at in pairs):
            groups.setdefault(tuple(where[label] for label in labels), []).append(number)
    values = {place: total(group) for place, group in groups.items()}
    return Operand(labels, dict(zip(term, shape, strict=True)), values)


def summed(
    tally: Tally, terms: list[str], kept: str, tensors: list[tuple[Tensor, Shape]]
) -> list[float]:
    """The sum of products for each place of the output, each sum from 0."""
    operands = [
        alone(term, kept + "".join(terms[:number] + terms[number + 1 :]), *tensors[number])
        for number, term in enumerate(terms)
    ]
    labels = dict.fromkeys(label for operand in operands for label in operand.labels)
    length = {one: max(o.length.get(one, 1) for o in operands) for one in labels}
    inner = "".join(label for label in labels if label not in kept)
    results = []
    for outer_place in places(*(length[label] for label in kept)):
        result = Number(tally, 0.0)
        for inner_place in places(*(length[label] for label in inner)):
            place = dict(zip(kept + inner, outer_place + inner_place, strict=True))
            term, *factors = (operand.at(place) for operand in operands)
            for factor in factors:
                term = term * factor
            result = result + term if inner else term
        results.append(result.value)
    return results


def test_einsum_of_a_scalar_and_of_shapes_that_do_not_fit() -> None:
    # A scalar is told as one element.
    assert counted("Einsum", [(1,), (3, 4)], [(3, 4)], equation=",ij->ij") == 12
    # Stretched from 1 to nothing.
    assert counted("Einsum", [(1, 3), (0, 3)], [(0, 3)], equation="...i,...i->...i") == 0
    with pytest.raises(UnknownShape):
        counted("Einsum", [(3, 4, 5), (4, 5)], [(3, 5)], equation="ij,jk->ik")
    with pytest.raises(UnknownShape):
        counted("Einsum", [(3, 4)], [(3, 5)], equation="ij,jk->ik")
