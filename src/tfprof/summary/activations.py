"""The memory that what a model computes takes: the outputs of its nodes, each once a run.

Counted are nodes that make a tensor of their own. Not counted are variables, constants, inputs,
and what hands on a tensor as it is or tells its shape; nor calls of functions, whose bodies are
counted. It is all that is made, not what is held at once: a run frees what nobody needs any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.ops.classes import of_class
from tfprof.ops.output_dtypes import element_sizes

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile


def computing(profile: Profile) -> Bool:
    """Which nodes make a tensor of their own."""
    holds = ("variable handle", "reference variable", "variable read", "constant", "placeholder")
    hands_on = of_class(profile, *holds, "alias") & ~of_class(profile, "out of a list")
    hands_on |= of_class(profile, "call in a graph", "saves", "reports")
    hands_on[profile.regions.call] = True
    return ~hands_on


def activation_bytes(shaped: Profile, among: Bool, kind: I64) -> tuple[I64, I64]:
    """(bytes, outputs of unknown size) of each node *among* those that compute; 0 elsewhere.

    *kind* is the DataType of each node's outputs, 0 where it is not known.
    """
    outputs, each = shaped.outputs, np.diff(shaped.outputs.start)
    owner = np.repeat(np.arange(len(shaped)), each)
    elements = outputs.shape.elements()
    whole = outputs.shape.are_whole() & (kind[owner] > 0)
    size = element_sizes(kind)
    sums = np.zeros(len(shaped), np.int64)
    np.add.at(sums, owner, np.where(whole, elements, 0))
    unknown = np.bincount(owner[~whole], minlength=len(shaped))
    unknown[each == 0] = 1
    # A handle or a text has no size that a graph tells, and is no tensor that counts.
    counts = among & ((size > 0) | (kind == 0))
    return np.where(counts, sums * size, 0), np.where(counts, unknown, 0)
