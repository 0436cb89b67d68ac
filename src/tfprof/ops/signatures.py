"""Signatures: operations that are the same to every formula are counted once.

    a signature   rule, data inputs, control inputs, outputs,       one number each
                  shape of each data input, of each output,         numbers of distinct shapes
                  key and value of each attribute asked for         numbers of distinct texts

Signatures stand end to end in one column of int64, and are interned as byte strings. A model of a
million operations has a few thousand signatures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.attributes import AskedAttributes, asked_attributes
from tfprof.ops.numbered_shapes import NumberedShapes, numbered_shapes
from tfprof.ops.op import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.model import Profile
    from tfprof.ops.shape import Shape
    from tfprof.ops.table import FloatOps

_HEAD = 4


@dataclass(frozen=True, eq=False)
class Signatures:
    """The distinct signatures of some nodes."""

    of_node: I64  # the signature of each of the nodes
    rules: Sequence[FloatOps]
    _start: I64  # of each signature
    _words: I64
    _shapes: NumberedShapes
    _attributes: AskedAttributes

    def __len__(self) -> int:
        return self._start.size

    def op(self, signature: int) -> tuple[FloatOps, Op]:
        """The rule that counts a signature, and the operation that it describes."""
        start = int(self._start[signature])
        number, inputs, controls, outputs = self._words[start : start + _HEAD].tolist()
        rule, at = self.rules[number], start + _HEAD
        ends = self._words[at : at + inputs + outputs].tolist()
        at += inputs + outputs
        pairs = self._words[at + 1 : at + 1 + 2 * int(self._words[at])].tolist()
        shapes: list[Shape | None] = [self._shapes.shape(end) for end in ends]
        return rule, Op(
            rule.op,
            shapes[:inputs],
            shapes[inputs:],
            controls=controls,
            attributes=dict(
                self._attributes.pair(*pair) for pair in zip(pairs[::2], pairs[1::2], strict=True)
            ),
            declared=rule.attributes,
        )


def signatures(profile: Profile, node: I64, rule: I64, rules: Sequence[FloatOps]) -> Signatures:
    """The signatures of the nodes *node*, ascending; *rule* is the number of each one's rule."""
    shapes = numbered_shapes(profile)
    attributes = asked_attributes(profile, node, rule, rules)
    edges = profile.edges
    owner, edge = runs(edges.start[node], edges.start[node + 1] - edges.start[node])
    slot = edges.slot[edge]
    data = np.flatnonzero(slot >= 0)
    inputs = np.bincount(owner[data], minlength=node.size)
    controls = edges.start[node + 1] - edges.start[node] - inputs
    outputs = shapes.count[node]
    _, output = runs(shapes.first[node], outputs)
    asked = np.bincount(attributes.owner, minlength=node.size)

    length = _HEAD + inputs + outputs + 1 + 2 * asked
    start = np.cumsum(length) - length
    words = np.empty(int(length.sum()), np.int64)
    for place, column in enumerate((rule, inputs, controls, outputs)):
        words[start + place] = column
    at = start + _HEAD
    words[runs(at, inputs)[1]] = shapes.of_outputs(edges.source[edge[data]], slot[data])
    at = at + inputs
    words[runs(at, outputs)[1]] = shapes.number[output]
    at = at + outputs
    words[at] = asked
    pair = runs(at + 1, 2 * asked)[1]
    words[pair[::2]], words[pair[1::2]] = attributes.key, attributes.value

    texts = Strings(words.view(np.uint8), start * words.itemsize, length * words.itemsize)
    of_node, first = texts.intern()
    return Signatures(of_node, rules, start[first], words, shapes, attributes)


def runs(start: I64, length: I64) -> tuple[I64, I64]:
    """(run, number) of all numbers of the runs start, start + 1, … of these lengths."""
    owner = np.repeat(np.arange(start.size), length)
    before = np.cumsum(length) - length
    return owner, np.arange(owner.size) + np.repeat(start - before, length)
