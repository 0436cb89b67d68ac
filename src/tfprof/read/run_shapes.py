"""Fills in output shapes that the graph leaves unknown with those that runs and traces record.

    graph   split   ?x3, ?x3         a stat applies to the node with exactly its name and as many
    run     split   2x3, 2x4         outputs; an unknown shape becomes the first recorded one that
    result  split   2x3, ?x3         fits; one that does not fit gives a note

A node without output shapes in the graph gets those of its first stat that has all of them.

    graph   x ?x64 ─► MatMul ◄─ w 64x8          a trace records the shapes of inputs
    trace   MatMul (float[32,64];float[64,8])   so x is 32x64

Only executions of exactly the node count, if they have as many inputs as the graph has edges. An
output gets the first recorded shape that is compatible with its known dimensions.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.unique import unique
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.units import plural
from tfprof.model import Note, Outputs, Profile, own_notes
from tfprof.read import run_metadata
from tfprof.read.merge import data_inputs
from tfprof.read.read_files import read_wire
from tfprof.tables.formats import RUN
from tfprof.wire.decode import BYTES, VARINT, Field, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64, U8, Bool, Strings
    from tfprof.read.columns import RunColumns
    from tfprof.read.source import Source

_INPUT = re.compile(r"[a-z]\w*\[((?:\d{1,18}(?:,\d{1,18})*)?)\]")  # ignores impossibly large ones
_MOST_DIMS = 254
# So many different sets of shapes are kept apart.
_MOST_GROUPS = 16


class _RunOutputs(NamedTuple):
    """The recorded outputs whose shape is unknown in the graph, in file order."""

    stat: I64
    node: I64
    output: I64  # the row of the profile's outputs; -1 if the graph has none for the node
    rank: I64  # 0 for a scalar
    shape: Shapes  # [1] for a scalar
    is_whole: Bool  # no dimension is negative; the original skips a shape with a negative one
    is_plain: Bool  # whole, not absent, and numbered in order


def with_run_shapes(profile: Profile, source: Source, run: RunColumns | None = None) -> Profile:
    """*profile* with the shapes that this RunMetadata records; raises InputError.

    *run* are its columns, if whoever asks has them: its stats are not looked for again.
    """
    source.check()
    recorded = read_wire(source, RUN, lambda data: _run_outputs(profile, data, run))
    if not recorded.node.size:
        return profile
    fits = _fits(profile, recorded)
    filling = _first_of_each(recorded.output, np.flatnonzero(fits & (recorded.output >= 0)))
    added = _first_complete(recorded)
    old, count = profile.outputs, len(profile.outputs.shape)
    # The row of each output's shape: among the old shapes, or after them among the recorded ones.
    row = np.arange(count)
    row[recorded.output[filling]] = count + filling
    listed = np.repeat(np.arange(old.start.size - 1), np.diff(old.start))
    owner = np.concatenate([listed, recorded.node[added]])
    row = np.concatenate([row, count + added])[np.argsort(owner, kind="stable")]
    ends = np.cumsum(np.bincount(owner, minlength=len(profile)))
    return replace(
        profile,
        outputs=Outputs(np.append(0, ends), old.shape.joined(recorded.shape).take(row)),
        notes=(*profile.notes, *_notes(profile, recorded, fits, filling)),
    )


# --- reading -------------------------------------------------------------------------------


def _run_outputs(profile: Profile, buffer: U8, run: RunColumns | None) -> _RunOutputs:
    """The recorded outputs that can fill in shapes; raises WireError."""
    name, recorded = run_metadata.outputs(buffer) if run is None else (run.name, run.output)
    node = profile.nodes.name.find(name)
    node[~np.append(profile.in_graph, False)[node]] = -1
    stat_of = recorded.message
    number = np.arange(stat_of.size) - np.searchsorted(stat_of, stat_of)
    outputs = np.bincount(stat_of, minlength=len(name))[stat_of]

    node = node[stat_of]
    listed = np.append(np.diff(profile.outputs.start), 0)[node]
    output = np.where(listed == outputs, profile.outputs.start[node] + number, -1)
    is_open = np.append(~profile.outputs.shape.are_whole(), False)[output]
    wanted = np.flatnonzero((node >= 0) & (is_open | (listed == 0)))
    open_outputs = Field(*(column[wanted] for column in recorded))
    shape, rank, slot = _shapes(buffer, open_outputs)
    is_whole = shape.are_whole()
    is_plain = is_whole & (slot == number[wanted])
    return _RunOutputs(
        stat_of[wanted], node[wanted], output[wanted], rank, shape, is_whole, is_plain
    )


def _shapes(buffer: U8, output: Field) -> tuple[Shapes, I64, I64]:
    """(shape, rank, slot) of each NodeOutput; the slot is -1 if it has no shape."""
    # A missing shape counts as a scalar, and so does an unknown rank.
    count = output.start.size
    part = scan(buffer, output.start, output.end, {1: VARINT, 3: BYTES})
    start, length = part[3].last_slice(count)
    shape = scan(buffer, start, start + length, {2: BYTES})[2]
    slot = np.full(count, -1, np.int64)
    slot[shape.message] = part[1].last(count)[shape.message]
    start, length = shape.last_slice(count)
    entry = scan(buffer, start, start + length, {2: BYTES})[2]
    dim = scan(buffer, entry.start, entry.end, {1: VARINT})[1].last(entry.start.size)
    shapes = Shapes.of(count, entry.message, dim, np.zeros(count, np.bool_))
    return shapes, np.bincount(entry.message, minlength=count), slot


# --- choosing ------------------------------------------------------------------------------


def _fits(profile: Profile, recorded: _RunOutputs) -> Bool:
    """Whether each recorded shape is whole and compatible with the graph's shape."""
    known = profile.outputs.shape.take(recorded.output)
    known_rank = np.diff(known.start)
    fits: Bool = known_rank == 0
    same = np.flatnonzero((known_rank == recorded.rank) & ~fits)
    graph, run = known.take(same), recorded.shape.take(same)
    unlike = np.append(0, np.cumsum((graph.dim >= 0) & (graph.dim != run.dim)))
    fits[same] = unlike[graph.start[1:]] == unlike[graph.start[:-1]]
    return fits & recorded.is_whole


def _first_of_each(key: I64, rows: I64) -> I64:
    return rows[np.unique(key[rows], return_index=True)[1]]


def _first_complete(recorded: _RunOutputs) -> I64:
    """For each node without outputs in the graph: the rows of its first complete stat."""
    unlisted = np.flatnonzero(recorded.output < 0)
    incomplete = recorded.stat[unlisted[~recorded.is_plain[unlisted]]]
    chosen = unlisted[~np.isin(recorded.stat[unlisted], incomplete)]
    first = _first_of_each(recorded.node, chosen)
    return chosen[np.isin(recorded.stat[chosen], recorded.stat[first])]


def _notes(profile: Profile, recorded: _RunOutputs, fits: Bool, filling: I64) -> Iterator[Note]:
    """Notes on shapes that did not fit an output before another one filled it."""
    filled_at = np.full(len(profile.outputs.shape) + 1, len(fits))
    filled_at[recorded.output[filling]] = filling
    misfit = np.flatnonzero(
        recorded.is_whole & ~fits & (np.arange(len(fits)) < filled_at[recorded.output])
    )
    texts: Counter[str] = Counter()
    for row in misfit.tolist():
        known = profile.outputs.shape[int(recorded.output[row])]
        run = recorded.shape[row] if recorded.rank[row] else []
        name = profile.nodes.name[int(recorded.node[row])].decode("utf-8", "surrogateescape")
        texts[
            f"Node {name} incompatible shapes: Shapes {_shape_text(known)} and {_shape_text(run)} "
            "are not compatible."
        ] += 1
    return (Note(text, times) for text, times in texts.items())


def _shape_text(dims: list[int]) -> str:
    """The shape as TensorFlow prints it: (None, 3)."""
    return str(tuple(dim if dim >= 0 else None for dim in dims))


# --- traces --------------------------------------------------------------------------------


class RecordedInputs(NamedTuple):
    """The shapes of inputs that a trace recorded, one row per execution."""

    node: I64  # -1: none
    shapes: Strings
    step: I64  # the number of its step


def with_shape_source(profile: Profile, recorded: RecordedInputs) -> Profile:
    """*profile*, to be completed on demand with the shapes of inputs, also those of each step."""
    # An execution without inputs has "()".
    rows = np.flatnonzero((recorded.node >= 0) & (recorded.shapes.length > len("()")))
    if not rows.size:
        return profile
    ids, first = recorded.shapes.take(rows).intern()
    pair = recorded.node[rows] * first.size + ids
    texts = recorded.shapes.take(rows[first]).compact()

    def source(pairs: I64) -> Callable[[Profile], Profile]:
        pairs = unique(pairs)
        return partial(_with_shapes, pairs // first.size, texts, pairs % first.size)

    groups = _alike(recorded.step[rows], recorded.node[rows], pair)
    notes, own = profile.notes, profile.step_shapes
    if len(groups) > 1:
        counted = groups[:_MOST_GROUPS]
        for steps in counted:
            shapes = source(pair[np.isin(recorded.step[rows], steps)])
            own = (*own, (tuple(steps), partial(_with_shapes_of_steps, shapes)))
        notes = (*notes, *own_notes(_shape_notes(groups)))
    sources = (*profile.shape_sources, source(pair))
    return replace(profile, shape_sources=sources, step_shapes=own, notes=notes)


def _alike(step: I64, node: I64, pair: I64) -> list[list[int]]:
    """The steps, grouped by what their nodes ran with: *pair* is a node and its shapes."""
    # A node that always ran with the same shapes may be missing from a step.
    _, first = np.unique(pair, return_index=True)
    varies = (np.bincount(node[first]) > 1)[node]
    numbers = unique(step)
    order = np.lexsort((pair, step))
    order = order[varies[order]]
    bounds = np.searchsorted(step[order], numbers, "right")[:-1]
    groups: dict[bytes, list[int]] = {}
    for number, pairs in zip(numbers.tolist(), np.split(pair[order], bounds), strict=True):
        groups.setdefault(unique(pairs).tobytes(), []).append(number)
    return list(groups.values())


def _shape_notes(groups: list[list[int]]) -> Iterator[str]:
    yield (
        "steps ran with different shapes: each counts with its own, a summary with those of step "
        f"{min(map(min, groups))}"
    )
    if rest := sum(map(len, groups[_MOST_GROUPS:])):
        steps = plural(rest, "step")
        yield f"the shapes of {steps} differ from all others: counted as the first step"


def _with_shapes_of_steps(shapes: Callable[[Profile], Profile], profile: Profile) -> Profile:
    """*profile* with these shapes, and with those of other steps where these leave any open."""
    return shapes(profile).with_run_shapes


def _input_dims(text: str) -> list[list[int] | None]:
    """The dimensions of each input, None if unknown."""
    shapes: list[list[int] | None] = []
    for match in map(_INPUT.fullmatch, text[1:-1].split(";")):
        dims = match[1].split(",") if match and match[1] else []
        # A scalar has one element, as in `columns.shapes`.
        known = match and len(dims) <= _MOST_DIMS
        shapes.append([int(dim) for dim in dims] or [1] if known else None)
    return shapes


def _with_shapes(nodes: I64, lines: Strings, which: I64, profile: Profile) -> Profile:
    """*profile* with the shapes in these lines; *which* is the line of each node."""
    texts = [_input_dims(text) for text in lines.texts()]
    outputs = profile.outputs
    is_open = ~outputs.shape.are_whole()
    filled: dict[int, list[int]] = {}
    calls = set(profile.regions.call.tolist())
    for node, text in zip(nodes.tolist(), which.tolist(), strict=True):
        inputs = data_inputs(profile.edges, node)
        if node in calls or len(inputs) != len(texts[text]):
            continue
        for (source, slot), dims in zip(inputs, texts[text], strict=True):
            if source < 0 or dims is None:
                continue
            output = int(outputs.start[source]) + slot
            listed = output < int(outputs.start[source + 1])
            if listed and is_open[output] and output not in filled:
                known = outputs.shape[output]
                pairs = zip(known, dims, strict=False)
                fits = len(known) == len(dims) and all(dim in (-1, other) for dim, other in pairs)
                if not known or fits:
                    filled[output] = dims
    return _with_outputs(profile, filled) if filled else profile


def _with_outputs(profile: Profile, filled: dict[int, list[int]]) -> Profile:
    old, count = profile.outputs, len(profile.outputs.shape)
    ends = np.cumsum([0, *map(len, filled.values())])
    added = Shapes(ends, np.array([*chain.from_iterable(filled.values())], np.int64))
    row = np.arange(count)
    row[list(filled)] = count + np.arange(len(filled))
    return replace(profile, outputs=Outputs(old.start, old.shape.joined(added).take(row)))
