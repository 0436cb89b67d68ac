"""A saved profile (ProfileProto) in wire format → Profile.

    ProfileProto ─┬─ nodes* ─► id, ProfileNode ─┬─ name, op, device, shape, types*, trace, attrs*
                  │                             ├─ inputs*         number of the input → id
                  │                             ├─ output_shapes*  number of the output → shape
                  │                             └─ execs*          step → what the node did in it
                  ├─ steps*, has_trace, miss_accelerator_stream
                  └─ id_to_string*     the strings that the traces refer to by id

Nodes are in any order in the file; here they are sorted by id, without gaps. Some fields are our
own (see schema/profile.proto). Files of the original do not have them; then every node with stats
counts as covered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof import model
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Strings
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.columns import StoredAttributes
from tfprof.read.keras_layers import layers_from_texts
from tfprof.read.op_log import read_stacks
from tfprof.read.saved_steps import steps
from tfprof.wire import maps
from tfprof.wire.decode import BYTES, VARINT, Field, scan, whole

if TYPE_CHECKING:
    from tfprof.read.source import Source
    from tfprof.wire.maps import Messages

_TOP = {2: VARINT, 5: VARINT, **dict.fromkeys((1, 3, 4, 29, 30, 31, 32), BYTES)}
_NAME, _INPUTS, _SHAPE, _TYPES, _DEVICE, _FLOAT_OPS, _OP, _TRACE = 1, 2, 4, 5, 6, 8, 9, 10
_ATTRS, _EXECS, _OUTPUT_SHAPES, _SLOTS = 11, 12, 15, 28
_REGION, _UNCOVERED, _UNKNOWN_INPUTS = 29, 30, 31
_LOST = "inputs name nodes that the saved profile does not have"
# No node has as many inputs, or an output with this number.
_INPUTS_MOST, _NO_OUTPUT, _SLOT = 1 << 31, 10**9, 2
_NODE = {
    **dict.fromkeys((_NAME, _INPUTS, _TYPES, _DEVICE, _OP, _TRACE, _ATTRS), BYTES),
    **dict.fromkeys((_EXECS, _OUTPUT_SHAPES, _UNKNOWN_INPUTS, _SLOTS), BYTES),
    **dict.fromkeys((_FLOAT_OPS, _UNCOVERED, _REGION), VARINT),
}


def profile(source: Source) -> model.Profile:
    """The saved profile in *source*; raises WireError, or InputError if it exceeds a limit."""
    buffer, name = source.data, source.name
    top = scan(buffer, *whole(buffer), _TOP)
    table = _table(buffer, maps.messages(buffer, top[1]))
    count = len(table.name)
    field = table.field
    types, op, device, typed_node, typed_as = _types(buffer, field, count)
    stack, start, frames = read_stacks(buffer, field[_TRACE], count)
    text = maps.messages(buffer, top[4])
    texts = Strings(buffer, text.start, text.end - text.start).compact()
    edges, lost = _edges(buffer, table)
    _, listed = maps.packed(buffer, top[3])
    records = maps.messages(buffer, field[_EXECS])
    covered = np.zeros(count, np.bool_)
    covered[records.owner] = True
    covered &= field[_UNCOVERED].last(count) == 0
    attributes = StoredAttributes.of(buffer, field[_ATTRS]).within(source)
    return model.Profile(
        nodes=model.Nodes(
            table.name, op, device, field[_FLOAT_OPS].last(count), stack, _shapes(buffer, table)
        ),
        types=types,
        typed_node=typed_node,
        typed_as=typed_as,
        edges=edges,
        outputs=_outputs(buffer, table),
        attribute_sources=(model.AttributeSource(np.arange(count), attributes, name),),
        regions=_regions(buffer, table, top[29]),
        layers=layers_from_texts(top[30].strings(buffer)),
        devices=_amounts(buffer, top[31]),
        planned=_amounts(buffer, top[32]),
        stacks=model.Stacks(start, **frames, text_id=text.key, text=texts),
        has_traces=bool(top[2].last(1)[0]),
        steps=steps(buffer, listed, records, name),
        covered=covered,
        misses_accelerator_stream=bool(top[5].last(1)[0]),
        notes=(model.Note(f"{lost} {_LOST}"),) if lost else (),
    )


def _amounts(buffer: U8, field: Field) -> tuple[float, ...]:
    return tuple(map(float, maps.packed(buffer, field)[1].tolist()))


@dataclass(frozen=True, eq=False)
class _Table:
    """The nodes by id: their distinct names and their fields."""

    name: Strings
    start: I64
    end: I64
    field: dict[int, Field]
    ids: I64  # all ids in the file, ascending
    row: I64  # the node of each id


def _table(buffer: U8, listed: Messages) -> _Table:
    """The nodes of the map; nodes with the same name become the first of them."""
    start, end = listed.start, listed.end
    field = scan(buffer, start, end, _NODE)
    row, first = Strings(buffer, *field[_NAME].last_slice(start.size)).intern()
    if first.size < start.size:
        start, end = start[first], end[first]
        field = scan(buffer, start, end, _NODE)
    name = Strings(buffer, *field[_NAME].last_slice(start.size)).compact()
    return _Table(name, start, end, field, listed.key, row)


def _types(buffer: U8, field: dict[int, Field], count: int) -> tuple[Strings, I64, I64, I64, I64]:
    """(types, op, device, typed_node, typed_as) of a Profile."""
    op_start, op_length = field[_OP].last_slice(count)
    device_start, device_length = field[_DEVICE].last_slice(count)
    placed = np.flatnonzero(device_length)
    listed = field[_TYPES]
    texts = Strings(
        buffer,
        np.concatenate([op_start, device_start[placed], listed.start]),
        np.concatenate([op_length, device_length[placed], listed.value]),
    )
    ids, first = texts.intern()
    op, placed_on, typed_as = np.split(ids, [count, count + placed.size])
    device = np.full(count, -1, np.int64)
    device[placed] = placed_on
    node = listed.message
    more = np.flatnonzero((typed_as != op[node]) & (typed_as != device[node]))
    return texts.take(first).compact(), op, device, node[more], typed_as[more]


def _shapes(buffer: U8, table: _Table) -> Shapes:
    node, dim = maps.repeated(buffer, table.start, table.end, _SHAPE)
    return Shapes(np.searchsorted(node, np.arange(len(table.name) + 1)), dim)


def _outputs(buffer: U8, table: _Table) -> model.Outputs:
    """The output shapes; those after a gap are dropped, since no writer leaves a gap."""
    listed = maps.messages(buffer, table.field[_OUTPUT_SHAPES])
    rows = np.flatnonzero(listed.key >= 0)
    owner, number = listed.owner[rows], listed.key[rows]
    rows = rows[number == np.arange(rows.size) - np.searchsorted(owner, owner)]
    shape, dim = maps.repeated(buffer, listed.start[rows], listed.end[rows], 1)
    return model.Outputs(
        np.searchsorted(listed.owner[rows], np.arange(len(table.name) + 1)),
        Shapes(np.searchsorted(shape, np.arange(rows.size + 1)), dim),
    )


def _edges(buffer: U8, table: _Table) -> tuple[model.Edges, int]:
    """(the inputs in order, how many of their ids belong to no node)."""
    known = maps.numbers(buffer, table.field[_INPUTS])
    at = np.searchsorted(table.ids, known.value)
    is_node = np.append(table.ids, 0)[at] == known.value
    is_node &= at < table.ids.size
    unknown = maps.messages(buffer, table.field[_UNKNOWN_INPUTS])
    names = Strings(buffer, unknown.start, unknown.end - unknown.start)
    ids, first = names.intern()
    names = names.take(first).compact()
    owner = np.append(known.owner[is_node], unknown.owner)
    number = np.append(known.key[is_node], unknown.key)
    source = np.append(table.row[at[is_node]], -1 - ids)
    order = np.lexsort((number, owner))
    start = np.searchsorted(owner[order], np.arange(len(table.name) + 1))
    slot = _slots(buffer, table, owner[order], number[order])
    return model.Edges(start, source[order], slot, names), int((~is_node).sum())


def _slots(buffer: U8, table: _Table, owner: I64, number: I64) -> I64:
    """Which output of its source each input is; 0 if the file does not record it."""
    # The original's files never do.
    slot = np.zeros(owner.size, np.int64)
    saved = maps.numbers(buffer, table.field[_SLOTS])
    if saved.owner.size:
        key, wanted = (column[0] * _INPUTS_MOST + column[1] for column in (saved, (owner, number)))
        fits = (saved.key >= 0) & (saved.key < _INPUTS_MOST) & (saved.value > 0)
        order = np.argsort(key[fits], kind="stable")
        known, value = key[fits][order], saved.value[fits][order] - _SLOT
        at = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
        same = known[at] == wanted if known.size else np.zeros(owner.size, np.bool_)
        slot[same] = np.clip(value[at[same]], -1, _NO_OUTPUT)
    return slot


def _regions(buffer: U8, table: _Table, region: Field) -> model.Regions:
    """The bodies of functions; none if the file's data on them is inconsistent."""
    count = region.start.size
    if not count:
        return model.NO_REGIONS
    part = scan(buffer, region.start, region.end, {4: BYTES, **dict.fromkeys((1, 2, 3, 5), VARINT)})
    at = np.searchsorted(table.ids, part[1].last(count))
    call = np.append(table.row, -1)[at]
    of_node = table.field[_REGION].last(len(table.name)) - 1
    kind, prefix = part[2].last(count), part[5].last(count)
    fits = (
        (call >= 0).all()
        and ((kind >= 0) & (kind <= model.BRANCH) & (prefix >= 0)).all()
        and of_node.min(initial=-1) >= -1
        and of_node.max(initial=-1) < count
        and (of_node[call] < np.arange(count)).all()
        and (np.append(prefix, 0)[of_node] <= table.name.length).all()
    )
    if not fits:
        return model.NO_REGIONS
    function = Strings(buffer, *part[4].last_slice(count)).compact()
    return model.Regions(of_node, call, kind, part[3].last(count), function, prefix)
