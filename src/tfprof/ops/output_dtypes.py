"""The dtype of each node's outputs, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.ops.attributes import damaged, entries
from tfprof.ops.dtypes import DTYPES, KEYS, REFERENCE, dtype_rule
from tfprof.wire.decode import VARINT, WireError, scan

if TYPE_CHECKING:
    from tfprof.model import Profile

_KEYS: Final = Strings.of(key.encode() for key in KEYS)
_TYPE: Final = 6  # AttrValue.type


def output_dtypes(profile: Profile) -> I64:
    """The DataType of each node's outputs; 0 where unknown. Raises InputError."""
    dtypes = np.zeros(len(profile), np.int64)
    node, key, dtype = _named_dtypes(profile)
    if not node.size:  # an older tfprof saved graphs in text format without them
        return dtypes
    rules = [dtype_rule(op) for op in profile.types.texts()]
    keys = [KEYS.index(rule.own_key) if rule.own_key else -1 for rule in rules]
    columns = [rule.fixed for rule in rules], keys, [rule.default for rule in rules]
    fixed, own, default = (np.array(column, np.int64)[profile.nodes.op] for column in columns)
    only_own = np.array([rule.asks_own_key_only for rule in rules])[profile.nodes.op[node]]
    # The later keys go before the earlier ones, and the own one before all.
    for at in (*((key == place) & ~only_own for place in range(len(KEYS))), key == own[node]):
        dtypes[node[at]] = dtype[at]
    return np.where(fixed > 0, fixed, np.where(dtypes == 0, default, dtypes))


def _named_dtypes(profile: Profile) -> tuple[I64, I64, I64]:
    """(node, place in KEYS, DataType) of every attribute that names a dtype."""
    batches = [np.empty((3, 0), np.int64)]
    for node, name, value in entries(profile):
        key = _KEYS.find(name)
        wanted = np.flatnonzero(key >= 0)
        start, end = value.start[wanted], (value.start + value.length)[wanted]
        try:
            dtype = scan(value.blob, start, end, {_TYPE: VARINT})[_TYPE].last(wanted.size)
        except WireError as problem:
            raise damaged(profile.graph_names, problem) from None
        dtype = np.where(dtype > REFERENCE, dtype - REFERENCE, dtype)
        named = np.flatnonzero(dtype > 0)
        batches.append(np.stack([node[wanted[named]], key[wanted[named]], dtype[named]]))
    node, key, dtype = np.concatenate(batches, axis=1)
    return node, key, dtype


def element_sizes(dtype: I64) -> I64:
    """The bytes per element of each dtype; 0 for handles, text and unknown dtypes."""
    table = np.array([DTYPES[n].size if n in DTYPES else 0 for n in range(REFERENCE)], np.int64)
    return table[np.where((dtype > 0) & (dtype < REFERENCE), dtype, 0)]


def weight_bytes(dtype: I64, elements: I64) -> I64:
    """The bytes of this many elements of each dtype; small ones share bytes."""
    table = np.ones(REFERENCE, np.int64)
    table[[*DTYPES]] = [row.per_byte for row in DTYPES.values()]
    return element_sizes(dtype) * -(-elements // table[np.minimum(dtype, REFERENCE - 1)])


def is_of_weights(dtype: I64) -> Bool:
    """Which dtypes are those that weights have."""
    return np.isin(dtype, [row.number for row in DTYPES.values() if row.is_of_weights])
