"""Which weights of several programs are the same: by path and shape.

    train    state.params['a']['kernel']   state.params['b']['kernel']
    eval     params['a']['kernel']                                          the same as in train

A collection with another path is the same if the other has all of its weights, by their paths in
it, shapes and types: that of an actor is not that of its critic, whose last layer differs. Two
collections of one program are never the same.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tfprof.read.hlo.weights import COLLECTION, STATISTICS, path_keys

Key = tuple[object, ...]
_COLLECTIONS: Final = (COLLECTION, STATISTICS)
_MOST_TREES: Final = 256  # so that comparing all pairs is quick


class Weight(NamedTuple):
    """A weight of a program."""

    module: int
    path: bytes  # may be empty
    shape: tuple[int, ...]
    dtype: int


class _Tree(NamedTuple):
    """A collection of a program."""

    module: int
    path: tuple[bytes, ...]


def weight_keys(weights: list[Weight]) -> list[Key]:
    """For each weight, what is the same for equal ones of different programs only."""
    places = [_place(weight) for weight in weights]
    held: dict[_Tree, set[Key]] = {}
    for weight, (tree, inner) in zip(weights, places, strict=True):
        if tree is not None:
            held.setdefault(tree, set()).add((inner, weight.shape, weight.dtype))
    same = _same_trees(held)
    return [
        # Those without a path are of one program.
        (weight.path or weight.module, weight.shape)
        if tree is None
        else (same[tree].path, inner, weight.shape)
        for weight, (tree, inner) in zip(weights, places, strict=True)
    ]


def _place(weight: Weight) -> tuple[_Tree | None, tuple[bytes, ...]]:
    """(the collection of a weight, its path in there)."""
    keys = path_keys(weight.path)
    first = next((at for at, key in enumerate(keys[:-1]) if key in _COLLECTIONS), None)
    if first is None:
        return None, ()
    return _Tree(weight.module, tuple(keys[: first + 1])), tuple(keys[first + 1 :])


def _same_trees(held: dict[_Tree, set[Key]]) -> dict[_Tree, _Tree]:
    """For each collection, the one that it is a part of; itself if it is of none."""
    if len(held) > _MOST_TREES:
        return {tree: tree for tree in held}
    result: dict[_Tree, _Tree] = {}
    for tree in sorted(held, key=lambda tree: (-len(held[tree]), tree)):
        taken = {result[other].path for other in result if other.module == tree.module}
        taken |= {other.path for other in held if other.module == tree.module} - {tree.path}
        result[tree] = next(
            (
                result[other]
                for other in result
                if other.path[-1] == tree.path[-1]
                and result[other].path not in taken
                and held[tree] <= held[other]
            ),
            tree,
        )
    return result
