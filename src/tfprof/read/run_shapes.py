"""Shapes that a run tells of outputs whose shape the graph leaves open.

    graph   split   ?x3, ?x3         a stat counts for a node of exactly its name that has as many
    run     split   2x3, 2x4         outputs as the stat, and fills in what is not known in full:
    now     split   2x3, ?x3         the first that fits an output; one that does not is a note

A node whose outputs the graph does not list at all has those of its first stat that tells them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note, Outputs
from tfprof.read.from_text import read_wire
from tfprof.tables.formats import RUN
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.model import Profile
    from tfprof.read.source import Source


class _Told(NamedTuple):
    """What the stats tell of outputs that are open or not listed, a row each, in their order."""

    stat: I64
    node: I64
    output: I64  # the row of the profile's outputs; -1 where the graph does not list them
    rank: I64  # of a scalar 0
    shape: Shapes  # of a scalar [1]
    is_whole: Bool  # no dimension is negative; the original gives up where one is
    is_plain: Bool  # nor is the shape left out, and its number is that of its place


def with_run_shapes(profile: Profile, source: Source) -> Profile:
    """*profile* with the shapes that this RunMetadata tells; raises InputError."""
    source.check()
    told = read_wire(source, RUN, lambda data: _told(profile, data))
    if not told.node.size:
        return profile
    fits = _fits(profile, told)
    filling = _first_of_each(told.output, np.flatnonzero(fits & (told.output >= 0)))
    added = _first_tellings(told)
    old, count = profile.outputs, len(profile.outputs.shape)
    # Where the shape of each output stands: among the old ones, or behind them among the told.
    row = np.arange(count)
    row[told.output[filling]] = count + filling
    owner = np.concatenate([_owners(old.start), told.node[added]])
    row = np.concatenate([row, count + added])[np.argsort(owner, kind="stable")]
    ends = np.cumsum(np.bincount(owner, minlength=len(profile)))
    return replace(
        profile,
        outputs=Outputs(np.append(0, ends), old.shape.joined(told.shape).take(row)),
        notes=(*profile.notes, *_notes(profile, told, fits, filling)),
    )


# --- reading -------------------------------------------------------------------------------


def _told(profile: Profile, buffer: U8) -> _Told:
    """What the stats of a RunMetadata tell; raises WireError."""
    step_stats = scan(buffer, *whole(buffer), {1: BYTES})[1]
    device = scan(buffer, step_stats.start, step_stats.end, {1: BYTES})[1]
    stat = scan(buffer, device.start, device.end, {2: BYTES})[2]
    part = scan(buffer, stat.start, stat.end, {1: BYTES, 7: BYTES})
    name = Strings(buffer, *part[1].last_slice(stat.start.size))
    node = profile.nodes.name.find(name)
    node[~np.append(profile.in_graph, False)[node]] = -1
    telling = part[7].message
    number = np.arange(telling.size) - np.searchsorted(telling, telling)
    outputs = np.bincount(telling, minlength=stat.start.size)[telling]

    node = node[telling]
    listed = np.append(np.diff(profile.outputs.start), 0)[node]
    output = np.where(listed == outputs, profile.outputs.start[node] + number, -1)
    is_open = np.append(~profile.outputs.shape.are_whole(), False)[output]
    kept = np.flatnonzero((node >= 0) & (is_open | (listed == 0)))
    said = Field(*(column[kept] for column in part[7]))
    shape, rank, slot = _shapes(buffer, said)
    is_whole = shape.are_whole()
    is_plain = is_whole & (slot == number[kept])
    return _Told(telling[kept], node[kept], output[kept], rank, shape, is_whole, is_plain)


def _shapes(buffer: U8, output: Field) -> tuple[Shapes, I64, I64]:
    """(shape, rank, slot) of each NodeOutput; the slot is -1 where no shape is given.

    What is not given counts as a scalar, and so does an unknown rank.
    """
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


def _fits(profile: Profile, told: _Told) -> Bool:
    """Which shapes are whole and do not contradict what the graph knows of their output."""
    known = profile.outputs.shape.take(told.output)
    known_rank = np.diff(known.start)
    fits: Bool = known_rank == 0
    same = np.flatnonzero((known_rank == told.rank) & ~fits)
    one, other = known.take(same), told.shape.take(same)
    unlike = np.append(0, np.cumsum((one.dim >= 0) & (one.dim != other.dim)))
    fits[same] = unlike[one.start[1:]] == unlike[one.start[:-1]]
    return fits & told.is_whole


def _first_of_each(key: I64, rows: I64) -> I64:
    """The first of *rows* for each key there is."""
    return rows[np.unique(key[rows], return_index=True)[1]]


def _first_tellings(told: _Told) -> I64:
    """The rows of the first stat of each unlisted node that tells all its outputs in order."""
    unlisted = np.flatnonzero(told.output < 0)
    odd = told.stat[unlisted[~told.is_plain[unlisted]]]
    chosen = unlisted[~np.isin(told.stat[unlisted], odd)]
    first = _first_of_each(told.node, chosen)
    return chosen[np.isin(told.stat[chosen], told.stat[first])]


def _owners(start: I64) -> I64:
    return np.repeat(np.arange(start.size - 1), np.diff(start))


def _notes(profile: Profile, told: _Told, fits: Bool, filling: I64) -> Iterator[Note]:
    """What did not fit an output before it was filled."""
    filled_at = np.full(len(profile.outputs.shape) + 1, len(fits))
    filled_at[told.output[filling]] = filling
    misfit = np.flatnonzero(told.is_whole & ~fits & (np.arange(len(fits)) < filled_at[told.output]))
    texts: Counter[str] = Counter()
    for row in misfit.tolist():
        known = profile.outputs.shape[int(told.output[row])]
        run = told.shape[row] if told.rank[row] else []
        texts[
            f"Node {profile.nodes.name[int(told.node[row])].decode('utf-8', 'surrogateescape')} "
            f"incompatible shapes: Shapes {_shape_text(known)} and {_shape_text(run)} "
            "are not compatible."
        ] += 1
    return (Note(text, times) for text, times in texts.items())


def _shape_text(dims: list[int]) -> str:
    """As TensorFlow shows it: (None, 3)."""
    return str(tuple(dim if dim >= 0 else None for dim in dims))
