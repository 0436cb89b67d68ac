"""The profile as a ProfileProto, which TensorFlow's tfprof reads, too.

    Profile ──► nodes by id, a run of them at a time ──► steps, texts and the rest

Fields of our own, which the original skips, hold what it has no field for: the inputs that name no
node (they are left out of `inputs`, or it could not read the file; Q7), which nodes with stats are
not covered (Q32), the bodies of functions, and the layers of a Keras model. See
wire/schema/profile.proto.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.read.keras_layers import layers_as_texts
from tfprof.wire.encode import entries, field, joined, numbers, packed, taken, within
from tfprof.writers.op_log import code_defs
from tfprof.writers.saved_steps import SavedSteps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile

# Nodes written at a time, and about how many stats of them: enough to share work, few enough to
# need little memory.
_CHUNK, _LEAST = 1 << 13, 1 << 8
_STATS = 1 << 15
_SLOT = 2  # added, so that a control input, -1, is not negative
_GPU = re.compile(rb"gpu:\d+")


def saved(profile: Profile) -> Iterator[bytes]:
    """The message in pieces."""
    nodes = _Nodes(profile)
    stats = sum(step.node.size for step in profile.steps)
    chunk = min(max(_STATS * len(profile) // max(stats, 1), _LEAST), _CHUNK)
    for first in range(0, len(profile), chunk):
        yield nodes.written(first, min(first + chunk, len(profile)))
    stacks = profile.stacks
    steps = np.array([step.number for step in profile.steps], np.int64)
    flags = {2: profile.has_traces, 5: profile.misses_accelerator_stream}
    flag_fields = numbers({n: np.array([flag], np.int64) for n, flag in flags.items()})
    step_numbers = packed(3, np.zeros(steps.size, np.int64), steps, 1)
    yield joined(*flag_fields, *step_numbers)
    regions = profile.regions
    columns = {1: regions.call, 2: regions.kind, 3: regions.returns, 5: regions.prefix}
    yield joined(*field(29, *numbers(columns), *field(4, regions.function)))
    if profile.layers:
        yield joined(*field(30, Strings.of(layers_as_texts(profile.layers))))
    for number, amounts in ((31, profile.devices), (32, profile.planned)):
        column = np.array(amounts).astype(np.int64)
        yield joined(*packed(number, np.zeros(column.size, np.int64), column, 1))
    order = np.argsort(stacks.text_id)
    yield joined(*entries(4, stacks.text_id[order], stacks.text.take(order)))


class _Nodes:
    """Writes some nodes at a time; columns that all of them need are computed once."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._steps = SavedSteps(profile.steps)
        self._read_attributes = profile.attributes
        # The host of each of the profile's types that is a device.
        used = np.isin(np.arange(len(profile.types)), profile.nodes.device).tolist()
        self._host = Strings.of(
            _GPU.sub(b"cpu:0", name) if device else b""
            for name, device in zip(profile.types, used, strict=True)
        )
        # 1 for each node that has stats and is not covered.
        seen = np.zeros(len(profile), np.bool_)
        for step in profile.steps:
            seen[step.node] = True
        self._uncovered = (seen & ~profile.covered).astype(np.int64)
        # The region of each node, counted from 1; 0 for none.
        self._region = np.zeros(len(profile), np.int64)
        self._region[: profile.regions.of_node.size] = profile.regions.of_node + 1
        node, kind = profile.type_pairs
        order = np.lexsort((profile.types.rank()[kind], node))
        self._sorted_types = node[order], kind[order]
        stacks = profile.stacks
        frames = stacks.line, stacks.function_line, stacks.file, stacks.function
        self._stacks = code_defs(stacks.start, *frames, stacks.source)

    def written(self, first: int, last: int) -> bytes:
        """Nodes *first* to *last* as entries of the map of nodes."""
        profile, nodes = self._profile, self._profile.nodes
        here, number = slice(first, last), np.arange(first, last)
        device = nodes.device[here]
        node = (
            *field(1, nodes.name.take(here), empty=False),
            *field(9, profile.types.take(nodes.op[here]), empty=False),
            *field(6, taken(profile.types, device), empty=False),
            *field(7, taken(self._host, device), empty=False),
            *numbers({8: nodes.float_ops[here], 13: number, 30: self._uncovered[here]}),
            *numbers({29: self._region[here]}),
            *_dims(4, nodes.shape.take(number)),
            self._types(first, last),
            *self._inputs(first, last),
            self._output_shapes(first, last),
            self._trace(nodes.stack[here]),
            self._attributes(first, last),
            self._steps.written(first, last),
        )
        return joined(*entries(1, number, *node))

    def _types(self, first: int, last: int) -> Strings:
        node, kind = self._sorted_types
        low, high = np.searchsorted(node, [first, last])
        texts = field(5, self._profile.types.take(kind[low:high]))
        return within(node[low:high] - first, last - first, *texts)

    def _inputs(self, first: int, last: int) -> tuple[Strings, ...]:
        """The sources of the inputs, each source with its output, and the unknown names."""
        edges, count = self._profile.edges, last - first
        owner, index, here = _listed(edges.start, first, last)
        source = edges.source[here]
        known, unknown = np.flatnonzero(source >= 0), np.flatnonzero(source < 0)
        sources = field(2, *numbers({1: index[known], 2: source[known]}, zeros=True))
        pair = np.unique(owner[known] * len(self._profile) + source[known])
        consumer, source_id = np.divmod(pair, max(len(self._profile), 1))
        # parity Q1: whichever output is consumed, the first is named.
        outputs = field(14, *numbers({1: source_id, 2: source_id * 0}, zeros=True))
        names = entries(31, index[unknown], edges.unknown.take(-1 - source[unknown]))
        # Only graphs with functions are counted through their edges.
        slot = edges.slot[here] if len(self._profile.regions) else np.zeros(source.size, np.int64)
        other = np.flatnonzero(slot)
        slots = field(28, *numbers({1: index[other], 2: slot[other] + _SLOT}, zeros=True))
        return (
            within(owner[other], count, *slots),
            within(owner[known], count, *sources),
            within(consumer, count, *outputs),
            within(owner[unknown], count, *names),
        )

    def _output_shapes(self, first: int, last: int) -> Strings:
        outputs = self._profile.outputs
        owner, index, here = _listed(outputs.start, first, last)
        dims = _dims(1, outputs.shape.take(np.arange(here.start, here.stop)))
        return within(owner, last - first, *entries(15, index, *dims))

    def _trace(self, stack: I64) -> Strings:
        traced = np.flatnonzero(stack >= 0)
        return within(traced, stack.size, *field(10, self._stacks.take(stack[traced])))

    def _attributes(self, first: int, last: int) -> Strings:
        node, entry = self._read_attributes
        low, high = np.searchsorted(node, [first, last])
        attributes = field(11, entry.take(slice(low, high)))
        return within(node[low:high] - first, last - first, *attributes)


def _listed(start: I64, first: int, last: int) -> tuple[I64, I64, slice]:
    """(owner, place in its list, where they stand) of the items of owners *first* to *last*."""
    count = np.diff(start[first : last + 1])
    owner = np.repeat(np.arange(last - first), count)
    here = slice(int(start[first]), int(start[last]))
    return owner, np.arange(here.start, here.stop) - np.repeat(start[first:last], count), here


def _dims(number: int, shapes: Shapes) -> tuple[Strings, ...]:
    """The dimensions of each shape as field *number*; nothing where there are none."""
    owner = np.repeat(np.arange(len(shapes)), np.diff(shapes.start))
    return packed(number, owner, shapes.dim, len(shapes))
